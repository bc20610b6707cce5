/// \file
/// Arguments: named by `arg("x")`, read through Args, sent through ArgPack.
#ifndef ANYFFI_ARGS_H_
#define ANYFFI_ARGS_H_

#include <anyffi/string.h>

namespace anyffi {

/// Name and default of a parameter.
struct DefaultArg {
  const char* name;
  AnyValue value;
};

/// Name of a parameter, and of one with a default: `arg("by") = 2.0`.
struct Arg {
  const char* name;

  template <class T>
  DefaultArg operator=(T&& value) && {  // NOLINT: reads as the declaration of a default does
    return DefaultArg{name, AnyValue(std::forward<T>(value))};
  }
};

/// Names a parameter; `name` must live for ever, as a literal does.
inline Arg arg(const char* name) { return Arg{name}; }

/// The arguments of a packed function: borrowed for the call. Reading past them throws IndexError.
class Args {
 public:
  Args(const AnyffiValue* values, int32_t size) : values_(values), size_(size) {}
  int32_t size() const noexcept { return size_; }
  AnyView operator[](int64_t index) const {
    if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(size_)) {
      throw Error("IndexError", "argument index out of range");
    }
    return AnyView(values_[index]);
  }
  const AnyffiValue* data() const noexcept { return values_; }

 private:
  const AnyffiValue* values_;
  int32_t size_;
};

namespace detail {

/// Arguments on their way into a call: borrowed where the caller keeps them, owned where they were made for it.
template <int N>
class ArgPack {
 public:
  template <class... A>
  explicit ArgPack(A&&... args) {
    (add(std::forward<A>(args)), ...);
  }
  ArgPack(const ArgPack&) = delete;
  ArgPack& operator=(const ArgPack&) = delete;
  ~ArgPack() {
    for (int i = 0; i < size_; ++i) {
      if (owned_[i]) anyffi_value_release(&values_[i]);
    }
  }
  AnyffiValue* values() { return values_; }

 private:
  template <class A>
  void add(A&& value) {
    using Way = Traits<Bare<A>>;
    bool borrows = false;
    // What a view points to outlives the call, whoever made the view.
    if constexpr (Way::kBorrows && (std::is_lvalue_reference_v<A> || std::is_same_v<Bare<A>, TensorView>)) {
      values_[size_] = Way::borrow(value);
      borrows = true;
    } else {
      values_[size_] = Way::store(std::forward<A>(value));
      // Nobody else holds what was made here, so the callee may have it.
      if (values_[size_].type_code > 0) values_[size_].aux = ANYFFI_MOVABLE;
    }
    owned_[size_++] = !borrows;
  }
  AnyffiValue values_[N > 0 ? N : 1];
  bool owned_[N > 0 ? N : 1];
  int size_ = 0;
};

template <class... A>
AnyValue call_value(const AnyffiValue& function, A&&... args) {
  ArgPack<sizeof...(A)> pack(std::forward<A>(args)...);
  AnyValue result;
  check(anyffi_function_call(&function, pack.values(), sizeof...(A), result.out()));
  return result;
}

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_ARGS_H_
