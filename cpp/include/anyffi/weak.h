/// \file
/// Weak<T>: a reference that does not keep its object alive.
#ifndef ANYFFI_WEAK_H_
#define ANYFFI_WEAK_H_

#include <anyffi/optional.h>

namespace anyffi {

/// The weak counterpart of a reference class T: `Weak<Ref<Node>>`, `Weak<List<int64_t>>`, `Weak<ObjectRef>`. Breaks
/// cycles, such as a child's reference to its parent.
///
/// An object that ever had a weak reference is never frozen, thawed or reused in place. Its contents are destroyed with
/// the last strong reference, its memory is freed with the last weak one.
template <class T>
class Weak {
 public:
  /// Empty.
  Weak() noexcept = default;
  Weak(const T& object) noexcept : object_(object.get()) { retain(); }  // NOLINT: implicit on purpose
  Weak(const Weak& other) noexcept : object_(other.object_) { retain(); }
  Weak(Weak&& other) noexcept : object_(other.object_) { other.object_ = nullptr; }
  Weak& operator=(Weak other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Weak() {
    if (object_) anyffi_object_release_weak(object_);
  }

  /// A strong reference if the object is still alive. Safe while other threads release it.
  Optional<T> lock() const {
    if (!object_ || !anyffi_object_lock_weak(object_)) return nullptr;
    return Optional<T>(detail::Adopt{}, Traits<T>::store(T(detail::Adopt{}, object_)));
  }

 private:
  void retain() noexcept {
    if (object_) anyffi_object_retain_weak(object_);
  }
  AnyffiObject* object_ = nullptr;
};

}  // namespace anyffi

#endif  // ANYFFI_WEAK_H_
