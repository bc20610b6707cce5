/// \file
/// The objects of C++ classes by the address of their content, so that one address is one object; and the objects that
/// others keep alive.
#include <anyffi/c_api.h>
#include <anyffi/inline.h>

#include <mutex>
#include <unordered_map>

#include "core/errors.h"
#include "core/memory.h"
#include "core/types.h"

namespace anyffi::runtime {
namespace {

struct Instances {
  using Entry = std::pair<const void* const, AnyffiInstance*>;
  std::mutex mutex;
  std::unordered_multimap<const void*, AnyffiInstance*, std::hash<const void*>, std::equal_to<>, Allocator<Entry>>
      entries;
};

/// Never destroyed: objects may be released while the process exits.
Instances& instances() {
  static auto* made = new Instances();
  return *made;
}

/// A new reference to an object of this content and type, or of one that derives from it. The caller holds the mutex,
/// without which no object that is found can be freed.
AnyffiInstance* find_locked(const Instances& all, const void* content, int32_t type_code) {
  auto [first, last] = all.entries.equal_range(content);
  for (; first != last; ++first) {
    AnyffiObject* object = &first->second->header;
    if (!anyffi_type_is_a(object->type_code, type_code)) continue;
    if (anyffi_instance_get_content(object, type_code) != content) continue;
    if (anyffi_object_lock_weak(object) != 0) return first->second;
  }
  return nullptr;
}

/// What an object keeps alive.
struct Nurse {
  void (*deleter)(AnyffiObject* self, int32_t what) = nullptr; /* its own */
  Vector<AnyffiObject*> patients;
};

struct Nurses {
  using Entry = std::pair<AnyffiObject* const, Nurse>;
  std::mutex mutex;
  std::unordered_map<AnyffiObject*, Nurse, std::hash<AnyffiObject*>, std::equal_to<>, Allocator<Entry>> entries;
};

Nurses& nurses() {
  static auto* made = new Nurses();
  return *made;
}

/// The deleter of an object that keeps others alive.
void delete_nurse(AnyffiObject* self, int32_t what) {
  Nurses& all = nurses();
  Nurse nurse;
  {
    std::lock_guard<std::mutex> lock(all.mutex);
    auto found = all.entries.find(self);
    nurse = std::move(found->second);
    all.entries.erase(found);
  }
  self->deleter = nurse.deleter;
  nurse.deleter(self, what);
  for (AnyffiObject* patient : nurse.patients) anyffi_release(patient);
}

void add_patient(AnyffiObject* nurse, AnyffiObject* patient) {
  Nurses& all = nurses();
  std::lock_guard<std::mutex> lock(all.mutex);
  Nurse& entry = all.entries[nurse];
  if (entry.deleter == nullptr) {
    entry.deleter = nurse->deleter;
    nurse->deleter = &delete_nurse;
  }
  for (AnyffiObject* known : entry.patients) {
    if (known == patient) return;
  }
  entry.patients.push_back(patient);
  anyffi_retain(patient);
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

AnyffiInstance* anyffi_instance_find(const void* content, int32_t type_code) {
  Instances& all = instances();
  std::lock_guard<std::mutex> lock(all.mutex);
  return find_locked(all, content, type_code);
}

int anyffi_instance_enroll(AnyffiInstance* instance, AnyffiInstance** out_former) {
  if (out_former != nullptr) *out_former = nullptr;
  return guard([&] {
    Instances& all = instances();
    std::lock_guard<std::mutex> lock(all.mutex);
    if (out_former != nullptr) {
      *out_former = find_locked(all, instance->content, instance->header.type_code);
      if (*out_former != nullptr) return 0;
    }
    all.entries.emplace(instance->content, instance);
    __atomic_fetch_or(&instance->header.weak_count, ANYFFI_WAS_WEAK, __ATOMIC_RELAXED);
    return 0;
  });
}

void anyffi_instance_withdraw(AnyffiInstance* instance) {
  Instances& all = instances();
  std::lock_guard<std::mutex> lock(all.mutex);
  auto [first, last] = all.entries.equal_range(instance->content);
  for (; first != last; ++first) {
    if (first->second != instance) continue;
    all.entries.erase(first);
    return;
  }
}

int anyffi_object_keep_alive(AnyffiObject* nurse, const AnyffiValue* patient) {
  if (patient->type_code <= 0 || patient->as_object == nurse) return 0;
  return guard([&] {
    add_patient(nurse, patient->as_object);
    return 0;
  });
}
