/// \file
/// Arguments: named by `arg("x")`, read by Args, passed by ArgPack.
#ifndef ANYFFI_ARGS_H_
#define ANYFFI_ARGS_H_

#include <anyffi/detail/deferred.h>
#include <anyffi/string.h>

namespace anyffi {

namespace detail {
template <class...>
inline constexpr bool kIsNever = false;

/// Converts a default. A default of an enumeration type is stored as a number: the library may still be loading.
template <class T>
AnyValue make_default(T&& value) {
  if constexpr (std::is_enum_v<Bare<T>>) {
    return AnyValue(static_cast<typename NumberOf<std::underlying_type_t<Bare<T>>>::type>(value));
  } else {
    return AnyValue(std::forward<T>(value));
  }
}
}  // namespace detail

#define ANYFFI_CONVERT_OR_NOT_NONE_ \
  "anyffi: .convert() is for arrays, .not_none() for pointers to objects: no parameter has both"

/// Name and default of a parameter.
struct DefaultArg {
  const char* name;
  AnyValue value;
};

/// The same for a parameter whose default is `nullptr`.
struct NullDefaultArg : DefaultArg {};

/// The same for a parameter with `.convert()`.
struct ConvertedDefaultArg : DefaultArg {};

/// The same for a parameter with `.not_none()`.
struct NotNoneDefaultArg : DefaultArg {};

/// Name of a parameter with `.not_none()`.
struct NotNoneArg {
  const char* name;

  template <class T>
  NotNoneDefaultArg operator=(T&& value) && {  // NOLINT: looks like a default argument
    static_assert(!std::is_same_v<Bare<T>, std::nullptr_t>,
                  "anyffi: the default nullptr is None, which .not_none() refuses: drop one of them");
    return NotNoneDefaultArg{{name, detail::make_default(std::forward<T>(value))}};
  }
  template <class... B>
  NotNoneArg convert() && {
    static_assert(detail::kIsNever<B...>, ANYFFI_CONVERT_OR_NOT_NONE_);
    return *this;
  }
};

/// Name of a parameter with `.convert()`.
struct ConvertedArg {
  const char* name;

  template <class... B>
  NotNoneArg not_none() && {
    static_assert(detail::kIsNever<B...>, ANYFFI_CONVERT_OR_NOT_NONE_);
    return NotNoneArg{name};
  }

  template <class T>
  ConvertedDefaultArg operator=(T&& value) && {  // NOLINT: looks like a default argument
    return ConvertedDefaultArg{{name, detail::make_default(std::forward<T>(value))}};
  }
};

/// The name of a parameter; with a default: `arg("by") = 2.0`.
struct Arg {
  const char* name;

  /// Also accepts values that become a typed tensor by a copy, which lives during the call: `arg("x").convert()`.
  ConvertedArg convert() && { return ConvertedArg{name}; }

  /// Makes a pointer parameter refuse None, as NotNull does: `arg("x").not_none()`.
  NotNoneArg not_none() && { return NotNoneArg{name}; }
  template <class... B>
  NotNoneArg none(B...) && {
    static_assert(detail::kIsNever<B...>,
                  "anyffi: there is no .none(): a pointer to an object takes None unless it has .not_none(), a const "
                  "char* or std::function with the default nullptr, and others as an anyffi::Optional<T>");
    return NotNoneArg{name};
  }

  /// Makes a `const char*` or `std::function` accept None, as a null pointer or an empty function.
  NullDefaultArg operator=(std::nullptr_t) && {  // NOLINT: looks like a default argument
    return NullDefaultArg{{name, AnyValue()}};
  }
  template <class T>
  DefaultArg operator=(T&& value) && {  // NOLINT: looks like a default argument
    return DefaultArg{name, detail::make_default(std::forward<T>(value))};
  }
};

/// Names a parameter. `name` must never be freed, as a literal.
inline Arg arg(const char* name) { return Arg{name}; }

/// Parameters after it are keyword-only: `arg("x"), kw_only(), arg("y")`.
struct KeywordOnly {
  static constexpr const char* name = nullptr;
};
constexpr KeywordOnly kw_only() { return {}; }

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

/// The arguments of a call from C++: borrowed from lvalues, owned otherwise.
///
/// The values are not members: the callee gets their address, so after the call the compiler would have to reload the
/// other members too. This way an argument that needs no release costs the two instructions that store it.
///
/// @tparam kDefers Whether arguments may be deferred, as in `call_deferring`.
template <bool kDefers, class... A>
class ArgPack {
  static_assert((HasTraits<Bare<A>>::value && ...),
                "anyffi: an argument for Python, such as that of an override, has a type without a conversion: include "
                "its header of anyffi/stl/, bind its class by ANYFFI_CLASS before this, and pass numbers behind a "
                "pointer as a std::vector or an anyffi::Tensor");

  // A temporary tensor view may be borrowed too: its memory outlives the call.
  template <class T>
  static constexpr bool kIsBorrowed =
      Traits<Bare<T>>::kBorrows && (std::is_lvalue_reference_v<T> || kIsTensorView<Bare<T>>);
  template <class T>
  static constexpr bool kIsDeferred = kDefers && kIsWritten<Bare<T>> && !kIsBorrowed<T> && !kIsPassedAsView<Bare<T>>;

 public:
  static constexpr int32_t kSize = sizeof...(A);
  /// The number of deferred arguments.
  static constexpr int kNumDeferred = (0 + ... + static_cast<int>(kIsDeferred<A>));

  explicit ArgPack(AnyffiValue* values) : values_(values) {}
  ArgPack(const ArgPack&) = delete;
  ArgPack& operator=(const ArgPack&) = delete;
  ~ArgPack() { release(std::index_sequence_for<A...>()); }

  void fill(A&&... args) { (add<A>(std::forward<A>(args)), ...); }

 private:
  /// Whether an argument may become an object that must be released.
  template <class T>
  static constexpr bool kIsOwned =
      !kIsBorrowed<T> && !(std::is_arithmetic_v<Bare<T>> && !(std::is_unsigned_v<Bare<T>> && sizeof(Bare<T>) == 8));

  template <class T>
  void add(T&& value) {
    using Conversion = Traits<Bare<T>>;
    if constexpr (kIsDeferred<T>) {
      AnyffiDeferred& deferred = deferred_[num_deferred_++];
      deferred = {&make_deferred<Bare<T>>, &value};
      assign(values_[size_++], anyffi_make_deferred(&deferred));
      return;
    } else if constexpr (kIsBorrowed<T>) {
      assign(values_[size_], Conversion::borrow(value));
    } else if constexpr (kIsPassedAsView<Bare<T>>) {
      assign(values_[size_], Conversion::view(value));
    } else {
      assign(values_[size_], Conversion::store(std::forward<T>(value)));
    }
    // Created for this call: the callee may steal it.
    if (kIsOwned<T> && values_[size_].type_code > 0) values_[size_].aux |= ANYFFI_MOVABLE;
    ++size_;
  }
  /// Releases only the arguments before the one that threw.
  template <size_t... I>
  void release(std::index_sequence<I...>) {
    ((kIsOwned<A> && static_cast<int>(I) < size_ ? anyffi_value_drop(&values_[I]) : void()), ...);
  }

  AnyffiValue* values_;
  int size_ = 0;
  int num_deferred_ = 0;
  AnyffiDeferred deferred_[kNumDeferred > 0 ? kNumDeferred : 1];
};

template <class... A>
AnyValue call_value(const AnyffiValue& function, A&&... args) {
  AnyffiValue values[sizeof...(A) + 1];
  ArgPack<false, A...> pack(values);
  pack.fill(std::forward<A>(args)...);
  AnyffiValue result{};
  check(anyffi_function_call(&function, values, pack.kSize, &result));
  settle(result);
  return AnyValue(Adopt{}, result);
}

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_ARGS_H_
