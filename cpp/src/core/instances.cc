/// \file
/// Finds the objects of C++ classes by the address of their content, so that one address is one object. Also
/// ends what others may do with an object that C++ lent for a call.
#include "core/instances.h"

#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <algorithm>
#include <atomic>

#include "core/biased_lock.h"
#include "core/compiler.h"
#include "core/errors.h"
#include "core/immortal.h"
#include "core/memory.h"
#include "core/owned.h"
#include "core/types.h"

namespace anyffi::runtime {
namespace {

/// An object and its owner.
struct Part {
  const AnyffiObject* owner;
  AnyffiInstance* instance;
};

/// A hash table of objects by content address, with linear probing. Several objects may have the same content address:
/// an object's first member lies at the object's address, and a dying object stays in the table until it is withdrawn.
class Instances {
 public:
  BiasedLock lock;

  /// Makes room for one more object.
  void reserve() {
    if (2 * size_ >= mask_) grow();
  }
  void add(AnyffiInstance* instance) {
    reserve();
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
  /// An object with this content whose type is `type_code`, or else derives from it. Returns a new reference, or a
  /// borrowed one if ANYFFI_BORROWED is set and a wrapper keeps the object alive. No object that is found can be freed
  /// while the lock is held.
  AnyffiInstance* find(const void* content, int32_t type_code, uint32_t* flags) const noexcept {
    if (size_ == 0) return nullptr;
    AnyffiInstance* found = find_of(content, type_code, true, flags);
    return found != nullptr ? found : find_of(content, type_code, false, flags);
  }
  /// The fast path of `find`: sets `*out` to an object of exactly this type that a wrapper keeps alive, or to NULL if
  /// there is no object with this content. Returns false for others.
  bool find_wrapped(const void* content, int32_t type_code, AnyffiInstance** out) const noexcept {
    bool is_known = false;
    *out = nullptr;
    if (size_ == 0) return true;
    for (size_t i = start_of(content); slots_[i] != nullptr; i = next(i)) {
      AnyffiObject* object = &slots_[i]->header;
      if (slots_[i]->content != content) continue;
      if (object->type_code == type_code && is_wrapped(object)) return (*out = slots_[i]) != nullptr;
      is_known = true;
    }
    return !is_known;
  }
  /// Lists the objects that are parts of `whole` or of objects that have not expired.
  void list_parts(const AnyffiObject* whole, Vector<Part>* out) const {
    for (AnyffiInstance* instance : slots_) {
      const AnyffiObject* owner = instance == nullptr ? nullptr : instance->owner;
      if (owner == nullptr) continue;
      if (owner == whole || owner->type_code >= ANYFFI_FIRST_DYNAMIC_TYPE) out->push_back({owner, instance});
    }
  }

 private:
  /// Finds an object of exactly this type, or one of a derived type.
  AnyffiInstance* find_of(const void* content, int32_t type_code, bool is_exact, uint32_t* flags) const noexcept {
    for (size_t i = start_of(content); slots_[i] != nullptr; i = next(i)) {
      AnyffiObject* object = &slots_[i]->header;
      if (slots_[i]->content != content || (object->type_code == type_code) != is_exact) continue;
      if (!is_exact && !has_base_at_start(object->type_code, type_code)) continue;
      if ((*flags & ANYFFI_BORROWED) != 0 && is_wrapped(object)) return slots_[i];
      if (anyffi_object_lock_weak(object) == 0) continue;
      *flags &= ~uint32_t{ANYFFI_BORROWED};
      return slots_[i];
    }
    return nullptr;
  }
  /// Checks the count because a dead object's wrapper word may link it into the list of objects to destroy.
  static bool is_wrapped(const AnyffiObject* object) noexcept {
    return __atomic_load_n(&object->wrapper, __ATOMIC_ACQUIRE) != nullptr &&
           __atomic_load_n(&object->strong_count, __ATOMIC_RELAXED) != 0;
  }
  /// Whether a base begins where its class does. To find a virtual base, the content would have to be read, which C++
  /// may have destroyed, if the object only refers to it.
  static bool has_base_at_start(int32_t type_code, int32_t base) noexcept {
    if (!anyffi_type_is_a(type_code, base)) return false;
    int64_t offset = 0;
    for (const AnyffiTypeInfo* info; type_code != base; type_code = info->parent) {
      info = anyffi_type_get_info(type_code);
      if (info->get_parent != nullptr) return false;
      offset += info->parent_offset;
    }
    return offset == 0;
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

/// A loan of an object, or several at once. They are few, and end in about the reverse order.
struct Loan {
  AnyffiInstance* instance;
  int64_t count;
};

struct Loans : Vector<Loan> {
  iterator find(const AnyffiInstance* instance) noexcept {
    auto found = std::find_if(rbegin(), rend(), [=](const Loan& loan) { return loan.instance == instance; });
    return found == rend() ? end() : found.base() - 1;
  }
};

/// The table once it exists. A fast path must not call what would make it, since it would have to save registers.
std::atomic<Instances*> existing_instances{nullptr};

__attribute__((cold, noinline)) Instances& make_instances() {
  static Immortal<Instances> made;
  existing_instances.store(&*made, std::memory_order_release);
  return *made;
}
Instances& instances() {
  Instances* existing = existing_instances.load(std::memory_order_acquire);
  return __builtin_expect(existing != nullptr, 1) ? *existing : make_instances();
}

/// Guarded by the lock of the instances.
Loans& loans() {
  static Immortal<Loans> made;
  return *made;
}

/// Begins another loan of an object that is lent; false for others.
bool lend_again(AnyffiInstance* instance) noexcept {
  if (!is_lent(&instance->header)) return false;
  ++loans().find(instance)->count;
  return true;
}

/// Lists the objects that are parts of one, at any depth, with new references to them.
void find_parts(const AnyffiObject* whole, Vector<AnyffiInstance*>* out) {
  Vector<Part> parts;
  BiasedLock::Section section(instances().lock);
  instances().list_parts(whole, &parts);
  auto is_less = [](const Part& a, const Part& b) { return std::less<>()(a.owner, b.owner); };
  std::sort(parts.begin(), parts.end(), is_less);
  out->reserve(parts.size());
  size_t next = 0;
  for (;;) {
    auto found = std::equal_range(parts.begin(), parts.end(), Part{whole, nullptr}, is_less);
    for (auto part = found.first; part != found.second; ++part) {
      if (anyffi_object_lock_weak(&part->instance->header) != 0) out->push_back(part->instance);
    }
    if (next == out->size()) return;
    whole = &(*out)[next++]->header;
  }
}

/// Makes an object one of no class of C++.
void expire(AnyffiInstance* instance) noexcept {
  anyffi_instance_withdraw(instance);
  __atomic_store_n(&instance->header.type_code, static_cast<int32_t>(ANYFFI_OBJECT), __ATOMIC_RELAXED);
  anyffi_object_empty_wrapper(&instance->header);
}

__attribute__((noinline)) AnyffiValue find_any(const void* content, int32_t type_code, uint32_t flags) noexcept {
  Instances& all = instances();
  BiasedLock::Section section(all.lock);
  AnyffiInstance* found = all.find(content, type_code, &flags);
  if (found == nullptr) return anyffi_make_none();
  AnyffiValue value = anyffi_make_object(&found->header);
  value.aux = flags & ANYFFI_BORROWED;
  if ((flags & ANYFFI_LEND) != 0 && lend_again(found)) value.aux = ANYFFI_LEND;
  return value;
}

ANYFFI_THREAD_LOCAL AnyffiGuardedCall guarded_call = {nullptr, nullptr};

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

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

AnyffiValue anyffi_instance_find(const void* content, int32_t type_code, uint32_t flags) {
  Instances* all = existing_instances.load(std::memory_order_acquire);
  if (__builtin_expect(flags == ANYFFI_BORROWED && all != nullptr, 1)) {
    BiasedLock::OwnerSection section(all->lock);
    AnyffiInstance* found;
    if (section && all->find_wrapped(content, type_code, &found)) {
      if (found == nullptr) return anyffi_make_none();
      AnyffiValue value = anyffi_make_object(&found->header);
      value.aux = ANYFFI_BORROWED;
      return value;
    }
  }
  return find_any(content, type_code, flags);
}

int anyffi_instance_lend(AnyffiInstance* instance, AnyffiValue* out) {
  *out = anyffi_make_none();
  return guard([&] {
    Instances& all = instances();
    BiasedLock::Section section(all.lock);
    uint32_t flags = 0;
    AnyffiInstance* found = all.find(instance->content, instance->header.type_code, &flags);
    bool is_lent = found == nullptr || lend_again(found);
    if (found == nullptr) {
      found = instance;
      all.reserve();
      loans().push_back(Loan{instance, 1});
      all.add(instance);
      instance->header.weak_count |= ANYFFI_IS_ENROLLED | ANYFFI_IS_LENT;
    }
    *out = anyffi_make_object(&found->header);
    out->aux = is_lent ? ANYFFI_LEND : 0;
    return 0;
  });
}

void anyffi_instance_end_loan(AnyffiInstance* instance) {
  AnyffiObject* object = &instance->header;
  {
    BiasedLock::Section section(instances().lock);
    auto loan = loans().find(instance);
    if (--loan->count != 0) return;
    loans().erase(loan);
    if (!is_lent(object)) return;
    __atomic_fetch_and(&object->weak_count, ~uint32_t{ANYFFI_IS_LENT | ANYFFI_IS_ENROLLED}, __ATOMIC_RELAXED);
    instances().remove(instance);
    bool was_weak = (__atomic_load_n(&object->weak_count, __ATOMIC_RELAXED) & ANYFFI_WAS_WEAK) != 0;
    if (!was_weak && __atomic_load_n(&object->strong_count, __ATOMIC_ACQUIRE) == 1) return;
  }
  // The call may be ending by an error.
  Owned raised, ignored;
  anyffi_error_take_raised(raised.out());
  expire(instance);
  // A part refers to the whole. Without memory to find them, the parts stay as they are.
  if (__atomic_load_n(&object->strong_count, __ATOMIC_ACQUIRE) != 1) {
    Vector<AnyffiInstance*> parts;
    guard([&] {
      find_parts(object, &parts);
      return 0;
    });
    for (AnyffiInstance* part : parts) expire(part);
    for (AnyffiInstance* part : parts) anyffi_release(&part->header);
  }
  anyffi_error_take_raised(ignored.out());
  if (raised->type_code > 0) anyffi_error_set_raised(raised.take().as_object);
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

AnyffiGuardedCall* anyffi_guarded_call(void) { return &guarded_call; }
