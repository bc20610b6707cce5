/// \file
/// Reference counts, weak references, and destruction without recursion.
#include "core/object.h"

#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <utility>

#include "core/compiler.h"
#include "core/instances.h"

namespace {

/// How many deleters may be active at once on a thread. Objects beyond that are put on a list, which the outermost
/// deleter call destroys.
constexpr int32_t kMaxActive = 16;

constexpr uint32_t kWasWeak = ANYFFI_WAS_WEAK;
constexpr uint32_t kIsEnrolled = ANYFFI_IS_ENROLLED;

ANYFFI_THREAD_LOCAL int32_t active_deleters = 0;
/// Dead objects to be destroyed, linked through their wrapper word: a dead object has no wrapper.
ANYFFI_THREAD_LOCAL AnyffiObject* pending = nullptr;

__attribute__((noinline)) void run_deleter_with_weak(AnyffiObject* object) {
  object->deleter(object, ANYFFI_DELETE_CONTENTS);
  anyffi_object_release_weak(object);
}

void run_deleter(AnyffiObject* object) {
  uint32_t weak_count = __atomic_load_n(&object->weak_count, __ATOMIC_ACQUIRE);
  if (__builtin_expect(weak_count & kIsEnrolled, 0)) {
    anyffi_instance_withdraw(reinterpret_cast<AnyffiInstance*>(object));
    weak_count = __atomic_load_n(&object->weak_count, __ATOMIC_ACQUIRE);
  }
  // Without weak references no other thread can reach the object, so that its weak count is stable.
  if ((weak_count & ~uint32_t{ANYFFI_WEAK_MARKS}) == 1) {
    object->deleter(object, ANYFFI_DELETE_CONTENTS | ANYFFI_DELETE_MEMORY);
  } else {
    run_deleter_with_weak(object);
  }
}

/// Destroys the objects on this thread's list. Out of line, so that the fast path of `anyffi_object_destroy` saves half
/// as many registers.
__attribute__((noinline)) void run_pending() {
  while (pending != nullptr) {
    AnyffiObject* next = pending;
    pending = static_cast<AnyffiObject*>(next->wrapper);
    next->wrapper = nullptr;
    run_deleter(next);
  }
}

}  // namespace

void anyffi_object_retain(AnyffiObject* object) { anyffi_retain(object); }

void anyffi_object_release(AnyffiObject* object) { anyffi_release(object); }

void anyffi_object_destroy(AnyffiObject* object) {
  if (active_deleters >= kMaxActive) {
    // A thread that finds an object by its content reads the wrapper first, then the count.
    __atomic_store_n(&object->wrapper, pending, __ATOMIC_RELEASE);
    pending = object;
    return;
  }
  ++active_deleters;
  run_deleter(object);
  if (pending != nullptr && active_deleters == 1) run_pending();
  --active_deleters;
}

void anyffi_object_release_last(AnyffiObject* object) {
  bool is_enrolled = __atomic_load_n(&object->weak_count, __ATOMIC_ACQUIRE) == (kIsEnrolled | 1);
  if (is_enrolled && anyffi::runtime::withdraw_last(reinterpret_cast<AnyffiInstance*>(object))) {
    anyffi_object_destroy(object);
  } else if (__atomic_fetch_sub(&object->strong_count, 1, __ATOMIC_ACQ_REL) == 1) {
    anyffi_object_destroy(object);
  }
}

void anyffi_object_retain_weak(AnyffiObject* object) {
  __atomic_fetch_or(&object->weak_count, kWasWeak, __ATOMIC_RELAXED);
  __atomic_fetch_add(&object->weak_count, 1, __ATOMIC_RELAXED);
}

void anyffi_object_release_weak(AnyffiObject* object) {
  uint32_t former = __atomic_fetch_sub(&object->weak_count, 1, __ATOMIC_ACQ_REL);
  if ((former & ~uint32_t{ANYFFI_WEAK_MARKS}) == 1) {
    object->deleter(object, ANYFFI_DELETE_MEMORY);
  }
}

int32_t anyffi_object_lock_weak(AnyffiObject* object) {
  uint64_t count = __atomic_load_n(&object->strong_count, __ATOMIC_RELAXED);
  while (count != 0) {
    if (__atomic_compare_exchange_n(&object->strong_count, &count, count + 1, true, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
      return 1;
    }
  }
  return 0;
}

int32_t anyffi_object_compare_exchange_wrapper(AnyffiObject* object, void* expected, void* desired) {
  return __atomic_compare_exchange_n(&object->wrapper, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void anyffi_wrapper_attach(AnyffiWrapperRef* ref, AnyffiObject* object, void* wrapper) {
  anyffi_object_retain(object);
  *ref = AnyffiWrapperRef{object, wrapper};
}

int32_t anyffi_wrapper_claim(AnyffiWrapperHold* hold, AnyffiValue* owner) {
  AnyffiObject* object = hold->value.as_object;
  if (anyffi_object_compare_exchange_wrapper(object, nullptr, hold->ref.wrapper) == 0) return 0;
  if (owner == nullptr) {
    anyffi_object_retain(object);
  } else {
    *owner = anyffi_make_none();
  }
  hold->ref.object = object;
  return 1;
}

void anyffi_wrapper_detach(AnyffiWrapperRef* ref) {
  // Cleared first: the release may free the memory of `ref`.
  AnyffiObject* object = std::exchange(ref->object, nullptr);
  if (object == nullptr) return;
  anyffi_object_compare_exchange_wrapper(object, ref->wrapper, nullptr);
  anyffi_object_release(object);
}
