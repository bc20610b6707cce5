/// \file
/// Objects that keep others alive, as the patients of a nurse (`anyffi_object_keep_alive`).
#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "core/errors.h"
#include "core/host.h"
#include "core/immortal.h"
#include "core/instances.h"
#include "core/memory.h"
#include "core/mutex.h"
#include "core/owned.h"
#include "core/types.h"

namespace anyffi::runtime {
namespace {

/// An object that keeps others alive, and those that it keeps.
struct Nurse {
  void (*deleter)(AnyffiObject* self, int32_t what) = nullptr; /* the nurse's original deleter */
  Vector<AnyffiObject*> patients;                              /* or their host parts */

  bool has(AnyffiObject* patient) const {
    const void* handle = handle_of(anyffi_make_object(patient));
    return std::any_of(patients.begin(), patients.end(), [&](AnyffiObject* known) {
      return known == patient || (handle != nullptr && handle_of(anyffi_make_object(known)) == handle);
    });
  }
};

struct Nurses {
  using Entry = std::pair<AnyffiObject* const, Nurse>;
  using Entries = std::unordered_map<AnyffiObject*, Nurse, std::hash<AnyffiObject*>, std::equal_to<>, Allocator<Entry>>;
  RecursiveMutex mutex; /* recursive: releasing a patient may destroy another nurse */
  Entries entries;
};

Nurses& nurses() {
  static Immortal<Nurses> made;
  return *made;
}

/// The deleter of every nurse.
void delete_nurse(AnyffiObject* self, int32_t what) {
  Nurses& all = nurses();
  Nurse nurse;
  {
    std::lock_guard<RecursiveMutex> lock(all.mutex);
    auto found = all.entries.find(self);
    nurse = std::move(found->second);
    all.entries.erase(found);
    // Frees the table's memory while nothing is kept alive.
    if (all.entries.empty()) Nurses::Entries().swap(all.entries);
  }
  self->deleter = nurse.deleter;
  nurse.deleter(self, what);
  for (AnyffiObject* patient : nurse.patients) anyffi_release(patient);
}

/// The value to hold so that an object stays alive: the object itself, or its host part if its class derives in the
/// host.
int keep(const AnyffiValue& patient, Owned* out) {
  if (patient.type_code >= ANYFFI_FIRST_DYNAMIC_TYPE) {
    uint8_t flags = __atomic_load_n(anyffi_type_get_instance_flags(patient.type_code), __ATOMIC_RELAXED);
    const AnyffiValue plain = anyffi_make_object(patient.as_object);
    bool may_derive = (flags & ANYFFI_HOST_DERIVES) != 0;
    if (may_derive && anyffi_value_create_host(ANYFFI_AS_KEPT, &plain, out->out()) != 0) return -1;
  }
  if ((*out)->type_code <= 0) {
    anyffi_retain(patient.as_object);
    *out->out() = anyffi_make_object(patient.as_object);
  } else {
    __atomic_fetch_or(&patient.as_object->weak_count, uint32_t{ANYFFI_WAS_KEPT}, __ATOMIC_RELAXED);
  }
  return 0;
}

/// Returns whether this is the nurse's first patient.
bool add_patient(AnyffiObject* nurse, Owned* patient) {
  Nurses& all = nurses();
  std::lock_guard<RecursiveMutex> lock(all.mutex);
  Nurse& entry = all.entries[nurse];
  bool is_first = entry.deleter == nullptr;
  if (is_first) {
    entry.deleter = nurse->deleter;
    nurse->deleter = &delete_nurse;
  }
  if (entry.has((*patient)->as_object)) return is_first;
  entry.patients.push_back((*patient)->as_object);
  patient->take();
  return is_first;
}

/// Starts tracking the nurse's wrapper, if it has one, in the host's garbage collector.
void note_nurse(AnyffiObject* nurse) noexcept {
  if (__atomic_load_n(&nurse->wrapper, __ATOMIC_RELAXED) == nullptr) return;
  HostLock lock;
  const AnyffiHost* hooks = host();
  if (hooks == nullptr || hooks->wrapper_track == nullptr) return;
  // Read again with the lock held: the nurse may have lost its wrapper before.
  if (void* wrapper = __atomic_load_n(&nurse->wrapper, __ATOMIC_RELAXED)) hooks->wrapper_track(wrapper);
}

/// Called with the lock held.
bool keeps(const AnyffiObject* keeper, const AnyffiObject* object) {
  const void* handle = handle_of(anyffi_make_object(const_cast<AnyffiObject*>(object)));
  Vector<const AnyffiObject*> pending{keeper};
  std::unordered_set<const AnyffiObject*, std::hash<const AnyffiObject*>, std::equal_to<>,
                     Allocator<const AnyffiObject*>>
      seen;
  while (!pending.empty()) {
    keeper = pending.back();
    pending.pop_back();
    if (keeper == object) return true;
    if (keeper->type_code < ANYFFI_FIRST_DYNAMIC_TYPE) {
      if (handle != nullptr && handle_of(anyffi_make_object(const_cast<AnyffiObject*>(keeper))) == handle) return true;
      continue;
    }
    if (!seen.insert(keeper).second) continue;
    if (is_instance(keeper)) {
      const AnyffiObject* owner = reinterpret_cast<const AnyffiInstance*>(keeper)->owner;
      if (owner != nullptr) pending.push_back(owner);
    }
    if (is_nurse(keeper)) {
      const auto& patients = nurses().entries.find(const_cast<AnyffiObject*>(keeper))->second.patients;
      pending.insert(pending.end(), patients.begin(), patients.end());
    }
  }
  return false;
}

}  // namespace

bool is_nurse(const AnyffiObject* object) noexcept { return object->deleter == &delete_nurse; }

int visit_patients(const AnyffiObject* nurse, AnyffiVisit visit, void* context) {
  if (!is_nurse(nurse)) return 0;
  Nurses& all = nurses();
  std::lock_guard<RecursiveMutex> lock(all.mutex);
  for (AnyffiObject* patient : all.entries.find(const_cast<AnyffiObject*>(nurse))->second.patients) {
    AnyffiValue value = anyffi_make_object(patient);
    if (int status = visit(&value, context)) return status;
  }
  return 0;
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_object_keep_alive(AnyffiObject* nurse, const AnyffiValue* patient) {
  if (patient->type_code <= 0 || patient->as_object == nurse) return 0;
  return guard([&] {
    // Releases a duplicate after the lock is released.
    Owned kept;
    if (keep(*patient, &kept) != 0) return -1;
    if (add_patient(nurse, &kept)) note_nurse(nurse);
    return 0;
  });
}

int anyffi_object_keeps_alive(const AnyffiObject* keeper, const AnyffiObject* object, int32_t* out) {
  return guard([&] {
    std::lock_guard<RecursiveMutex> lock(nurses().mutex);
    *out = keeps(keeper, object) ? 1 : 0;
    return 0;
  });
}

int32_t anyffi_object_replace_deleter(AnyffiObject* object, void (*former)(AnyffiObject* self, int32_t what),
                                      void (*deleter)(AnyffiObject* self, int32_t what)) {
  Nurses& all = nurses();
  std::lock_guard<RecursiveMutex> lock(all.mutex);
  auto** place = &object->deleter;
  if (*place == &delete_nurse) place = &all.entries.find(object)->second.deleter;
  if (*place != former) return 0;
  *place = deleter;
  return 1;
}

AnyffiDeleter anyffi_object_nurse_deleter(void) { return &delete_nurse; }
