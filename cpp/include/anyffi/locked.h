/// \file
/// ReleasedGil: a scope without the host's lock. Locked<C>: a mutable container as a parameter of a function that runs
/// without it.
#ifndef ANYFFI_LOCKED_H_
#define ANYFFI_LOCKED_H_

#include <anyffi/traits.h>

namespace anyffi {

/// Releases the host's lock, such as the GIL of CPython, until the end of the scope, on any thread. For functions
/// `release_gil()` is shorter; this is for destructors, deleters, and parts of a function. Objects of the runtime that
/// the scope uses must be kept alive by references of its own.
class ReleasedGil {
 public:
  // A thread that does not hold the lock acquires it first, since CPython lets only its holder release it.
  ReleasedGil() : locked_(anyffi_host_lock()), suspended_(anyffi_host_suspend()) {}
  ~ReleasedGil() {
    anyffi_host_resume(suspended_);
    anyffi_host_unlock(locked_);
  }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  int32_t locked_;
  void* suspended_;
};

/// A container that other threads may change, as a parameter of a function with `release_gil()`. It can only be
/// accessed inside of `with`, which holds the lock.
///
///     [](anyffi::Locked<anyffi::List<int64_t>> xs) {
///       int64_t sum = expensive();
///       xs.with([&](anyffi::List<int64_t>& list) { list.push_back(sum); });
///     }
template <class C>
class Locked {
 public:
  explicit Locked(C container) : container_(std::move(container)) {}

  /// Calls `f` with the container while this thread holds the host's lock, and returns its result by value.
  template <class F>
  auto with(F&& f) {
    Lock lock;
    return std::forward<F>(f)(container_);
  }

 private:
  class Lock {
   public:
    Lock() : state_(anyffi_host_lock()) {}
    ~Lock() { anyffi_host_unlock(state_); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    int32_t state_;
  };
  C container_;
};

template <class C>
struct Traits<Locked<C>> {
  ANYFFI_HIDDEN_ static constexpr auto name = Traits<C>::name;
  static constexpr uint64_t type_mask = Traits<C>::type_mask;
  static constexpr bool kBorrows = false;
  static constexpr bool kOutlivesHolder = true;
  using Holder = typename Traits<C>::Holder;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    return Traits<C>::load(value, holder, why);
  }
  static Locked<C> take(Holder& holder) { return Locked<C>(Traits<C>::take(holder)); }
  static AnyffiValue store(Locked<C> locked) {
    return locked.with([](C& container) { return Traits<C>::store(std::move(container)); });
  }
};

}  // namespace anyffi

#endif  // ANYFFI_LOCKED_H_
