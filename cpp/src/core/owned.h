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
  Owned() noexcept : value_(anyffi_make_none()) {}
  /// Steals the value's reference.
  explicit Owned(const AnyffiValue& value) noexcept : value_(value) {}
  /// Steals a strong reference.
  explicit Owned(AnyffiObject* object) noexcept : value_(anyffi_make_object(object)) {}
  Owned(Owned&& other) noexcept : value_(other.take()) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      AnyffiValue former = take();
      value_ = other.take();
      anyffi_value_drop(&former);
    }
    return *this;
  }
  ~Owned() { anyffi_value_drop(&value_); }

  const AnyffiValue* get() const noexcept { return &value_; }
  const AnyffiValue* operator->() const noexcept { return &value_; }
  /// For functions that write an owned value; releases the former one.
  AnyffiValue* out() noexcept {
    AnyffiValue former = take();
    anyffi_value_drop(&former);
    return &value_;
  }
  AnyffiValue take() noexcept {
    // By words: what was just written as two of them would stall a copy of all 16 bytes.
    AnyffiValue taken = anyffi_read_value(&value_);
    value_ = anyffi_make_none();
    return taken;
  }

 private:
  AnyffiValue value_;
};

/// Returns a new reference to a borrowed value.
inline Owned retained(const AnyffiValue& value) noexcept { return Owned(anyffi_own_element(&value)); }

/// Sets `out` to None and returns -1, for the ends of failing functions.
inline int fail(AnyffiValue* out) noexcept {
  *out = anyffi_make_none();
  return -1;
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_OWNED_H_
