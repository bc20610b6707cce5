/// \file
/// Conversions of std::function: C++ and Python callables.
#ifndef ANYFFI_STL_FUNCTION_H_
#define ANYFFI_STL_FUNCTION_H_

#include <anyffi/function.h>
#include <anyffi/pointer.h>

#include <functional>

namespace anyffi {

namespace detail {

/// The target of a std::function made from a Function, so that it converts back to that Function.
template <class R, class... A>
struct FunctionCall {
  static_assert(!kIsView<R>,
                "anyffi: what a callback returns is released before the view is used: return a std::string or another "
                "owner");
  static_assert(
      !kHoldsPointer<R>,
      "anyffi: the object that a callback returns is released before the pointer is used: return a value or a "
      "std::shared_ptr");
  Function function;
  R operator()(A... args) const { return function.template call<R>(as_argument<A>(args)...); }
};

/// The annotations of a type: as passed to C++, and as coming from C++ (an argument or a result).
template <class T>
constexpr auto passed_name() {
  if constexpr (std::is_void_v<T>) {
    return FixedText("None");
  } else if constexpr (kIsConvertible<T>) {
    return FixedText(Traits<ConvertedType<T>>::name);
  } else {
    return FixedText("Any");
  }
}
template <class T>
constexpr auto made_name() {
  if constexpr (std::is_void_v<T>) {
    return FixedText("None");
  } else if constexpr (std::is_lvalue_reference_v<T> && kIsObjectClass<Bare<T>>) {
    return kTypeKeyOf<Bare<T>>;
  } else if constexpr (HasTraits<Bare<T>>::value) {
    return kResultName<Bare<T>>;
  } else {
    return FixedText("Any");
  }
}
template <class... Names>
constexpr auto list_names(const Names&... names) {
  if constexpr (sizeof...(Names) == 0) {
    return FixedText("");
  } else {
    auto list = [](const auto& first, const auto&... others) { return (first + ... + (", " + others)); };
    return list(names...);
  }
}

/// The annotations of a std::function: of one that C++ calls, and of one that it returns.
template <class R, class... A>
ANYFFI_HIDDEN_ inline constexpr auto kCalledName =
    "Callable[[" + list_names(made_name<A>()...) + "], " + passed_name<R>() + "]";
template <class R, class... A>
ANYFFI_HIDDEN_ inline constexpr auto kCallableName =
    "Callable[[" + list_names(passed_name<A>()...) + "], " + made_name<R>() + "]";

}  // namespace detail

/// An empty std::function is returned as None, and None empties a field. Parameters accept None only with `arg("f") =
/// nullptr`, or with type std::optional<std::function<...>>.
template <class R, class... A>
struct Traits<std::function<R(A...)>> {
  ANYFFI_HIDDEN_ static constexpr auto name = detail::kCalledName<R, A...>;
  ANYFFI_HIDDEN_ static constexpr auto result_name = detail::kCallableName<R, A...>;
  static constexpr uint64_t type_mask = detail::type_bits(ANYFFI_FUNCTION);
  static constexpr bool kBorrows = false;
  using Call = detail::FunctionCall<R, A...>;
  using Holder = AnyValue;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    if (Traits<Function>::load(value, holder, why)) return true;
    why.expected = name;
    return false;
  }
  static std::function<R(A...)> take(Holder& holder) { return Call{Traits<Function>::take(holder)}; }
  static AnyffiValue store(std::function<R(A...)> function) {
    if (!function) return AnyffiValue{};
    if (Call* call = function.template target<Call>()) return Traits<Function>::store(call->function);
    return Traits<Function>::store(Function::from(std::move(function)));
  }
};

namespace detail {
/// The references of a std::function, which owns one if it was made from a Function.
template <class R, class... A>
struct References<std::function<R(A...)>> {
  static constexpr bool kHasAny = true;
  static int visit(const std::function<R(A...)>& function, AnyffiVisit visit, void* context) {
    auto* call = function.template target<FunctionCall<R, A...>>();
    return call ? References<Function>::visit(call->function, visit, context) : 0;
  }
};

template <class R, class... A>
inline constexpr bool kNoneEmpties<std::function<R(A...)>> = true;
template <class R, class... A>
inline constexpr bool kHasNull<std::function<R(A...)>> = true;

template <class T>
inline constexpr bool kIncludes<Missing::kFunction, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_FUNCTION_H_
