/// \file
/// Finds the objects of C++ classes by the address of their content, so that one address is one object. Also keeps
/// objects alive for other objects (`anyffi_object_keep_alive`).
#include "core/instances.h"

#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "core/biased_lock.h"
#include "core/compiler.h"
#include "core/errors.h"
#include "core/host.h"
#include "core/immortal.h"
#include "core/memory.h"
#include "core/mutex.h"
#include "core/owned.h"
#include "core/types.h"

namespace anyffi::runtime {
namespace {

/// A hash table of objects by content address, with linear probing. Several objects may have the same content address:
/// an object's first member lies at the object's address, and a dying object stays in the table until it is withdrawn.
class Instances {
 public:
  BiasedLock lock;

  void add(AnyffiInstance* instance) {
    if (2 * size_ >= mask_) grow();
    place(instance);
    ++size_;
  }
  void remove(const AnyffiInstance* instance) noexcept {
    if (size_ == 0) return;
    size_t i = start_of(instance->content);
    while (slots_[i] != instance) {
      if (slots_[i] == nullptr) return;
      i = next(i);
    }
    // Moves back entries that the removed one displaced.
    for (size_t j = next(i); slots_[j] != nullptr; j = next(j)) {
      size_t distance = (j - start_of(slots_[j]->content)) & mask_;
      if (distance < ((j - i) & mask_)) continue;
      slots_[i] = slots_[j];
      i = j;
    }
    slots_[i] = nullptr;
    --size_;
  }
  /// An object with this content whose type is `type_code` or derives from it. Returns a new reference, or a borrowed
  /// one if ANYFFI_BORROWED is set and a wrapper keeps the object alive. No object that is found can be freed while the
  /// lock is held.
  AnyffiInstance* find(const void* content, int32_t type_code, uint32_t* flags) const noexcept {
    if (size_ == 0) return nullptr;
    for (size_t i = start_of(content); slots_[i] != nullptr; i = next(i)) {
      AnyffiObject* object = &slots_[i]->header;
      if (slots_[i]->content != content) continue;
      if (object->type_code != type_code && !anyffi_type_is_a(object->type_code, type_code)) continue;
      if (object->type_code != type_code && anyffi_instance_get_content(object, type_code) != content) continue;
      if (*flags != 0 && is_wrapped(object)) return slots_[i];
      if (anyffi_object_lock_weak(object) == 0) continue;
      *flags = 0;
      return slots_[i];
    }
    return nullptr;
  }

 private:
  /// Checks the count because a dead object's wrapper word may link it into the list of objects to destroy.
  static bool is_wrapped(const AnyffiObject* object) noexcept {
    return __atomic_load_n(&object->wrapper, __ATOMIC_ACQUIRE) != nullptr &&
           __atomic_load_n(&object->strong_count, __ATOMIC_RELAXED) != 0;
  }
  size_t next(size_t i) const noexcept { return (i + 1) & mask_; }
  size_t start_of(const void* content) const noexcept {
    uint64_t mixed = (reinterpret_cast<uintptr_t>(content) >> 3) * 0x9E3779B97F4A7C15u;
    return static_cast<size_t>(mixed >> 32) & mask_;
  }
  void place(AnyffiInstance* instance) noexcept {
    size_t i = start_of(instance->content);
    while (slots_[i] != nullptr) i = next(i);
    slots_[i] = instance;
  }
  void grow() {
    Vector<AnyffiInstance*> former(slots_.empty() ? 64 : 2 * slots_.size());
    former.swap(slots_);
    mask_ = slots_.size() - 1;
    for (AnyffiInstance* instance : former) {
      if (instance != nullptr) place(instance);
    }
  }

  Vector<AnyffiInstance*> slots_; /* a power of two of them, at least half of them NULL */
  size_t mask_ = 0;               /* their number less one */
  size_t size_ = 0;
};

Instances& instances() {
  static Immortal<Instances> made;
  return *made;
}

ANYFFI_THREAD_LOCAL AnyffiGuardedCall guarded_call = {nullptr, nullptr};

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

bool withdraw_last(AnyffiInstance* instance) noexcept {
  AnyffiObject* object = &instance->header;
  Instances& all = instances();
  BiasedLock::Section section(all.lock);
  // No other thread can get a reference while the lock is held. A released one may still have left weak references.
  if (__atomic_load_n(&object->strong_count, __ATOMIC_ACQUIRE) != 1) return false;
  if (__atomic_load_n(&object->weak_count, __ATOMIC_ACQUIRE) != (uint32_t{ANYFFI_IS_ENROLLED} | 1)) return false;
  object->strong_count = 0;
  object->weak_count = 1;
  all.remove(instance);
  return true;
}

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

AnyffiValue anyffi_instance_find(const void* content, int32_t type_code, uint32_t flags) {
  Instances& all = instances();
  BiasedLock::Section section(all.lock);
  AnyffiInstance* found = all.find(content, type_code, &flags);
  if (found == nullptr) return anyffi_make_none();
  AnyffiValue value = anyffi_make_object(&found->header);
  value.aux = flags;
  return value;
}

int anyffi_instance_enroll(AnyffiInstance* instance, AnyffiInstance** out_former) {
  if (out_former != nullptr) *out_former = nullptr;
  return guard([&] {
    Instances& all = instances();
    BiasedLock::Section section(all.lock);
    if (out_former != nullptr) {
      uint32_t flags = 0;
      *out_former = all.find(instance->content, instance->header.type_code, &flags);
      if (*out_former != nullptr) return 0;
    }
    all.add(instance);
    // The object is not shared yet, so no atomic instruction is needed.
    instance->header.weak_count |= ANYFFI_IS_ENROLLED;
    return 0;
  });
}

void anyffi_instance_withdraw(AnyffiInstance* instance) {
  uint32_t is_enrolled = ANYFFI_IS_ENROLLED;
  if ((__atomic_fetch_and(&instance->header.weak_count, ~is_enrolled, __ATOMIC_RELAXED) & is_enrolled) == 0) return;
  Instances& all = instances();
  BiasedLock::Section section(all.lock);
  all.remove(instance);
}

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

AnyffiGuardedCall* anyffi_guarded_call(void) { return &guarded_call; }
