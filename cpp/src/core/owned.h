/// \file
/// Owned values.
#ifndef ANYFFI_SRC_CORE_OWNED_H_
#define ANYFFI_SRC_CORE_OWNED_H_

#include <anyffi/c_api.h>
#include <anyffi/inline.h>

#include <utility>

namespace anyffi::runtime {

/// Owns one value.
class Owned {
 public:
  Owned() noexcept : value_(anyffi_none_inline()) {}
  /// Steals the value's reference.
  explicit Owned(const AnyffiValue& value) noexcept : value_(value) {}
  /// Steals a strong reference.
  explicit Owned(AnyffiObject* object) noexcept : value_(anyffi_object_inline(object)) {}
  Owned(Owned&& other) noexcept : value_(other.take()) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      AnyffiValue former = std::exchange(value_, other.take());
      anyffi_value_drop_inline(&former);
    }
    return *this;
  }
  ~Owned() { anyffi_value_drop_inline(&value_); }

  const AnyffiValue* get() const noexcept { return &value_; }
  const AnyffiValue* operator->() const noexcept { return &value_; }
  /// For functions that write an owned value; releases the former one.
  AnyffiValue* out() noexcept {
    AnyffiValue former = take();
    anyffi_value_drop_inline(&former);
    return &value_;
  }
  AnyffiValue take() noexcept { return std::exchange(value_, anyffi_none_inline()); }

 private:
  AnyffiValue value_;
};

/// Returns a new reference to a borrowed value.
inline Owned retained(const AnyffiValue& value) noexcept {
  anyffi_value_retain_inline(&value);
  return Owned(value);
}

/// Sets `out` to None and returns -1, for the ends of failing functions.
inline int fail(AnyffiValue* out) noexcept {
  *out = anyffi_none_inline();
  return -1;
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_OWNED_H_
