/// \file
/// Operators for `Class::op`: those that C++ has, with defaults, and the names of all others.
#ifndef ANYFFI_OPS_H_
#define ANYFFI_OPS_H_

#include <anyffi/object.h>

namespace anyffi {

namespace detail {
/// The kind of an operator: unary; binary; binary with the object on the right; or known by name only.
enum class OpForm { kUnary, kBinary, kReflected, kNamed };
}  // namespace detail

namespace ops {

/// X(name in C++, name in Python, operator).
#define ANYFFI_BINARY_OPERATORS(X) \
  X(add, "__add__", +)             \
  X(sub, "__sub__", -)             \
  X(mul, "__mul__", *)             \
  X(truediv, "__truediv__", /)     \
  X(mod, "__mod__", %)             \
  X(lshift, "__lshift__", <<)      \
  X(rshift, "__rshift__", >>)      \
  X(and_, "__and__", &)            \
  X(or_, "__or__", |)              \
  X(xor_, "__xor__", ^)            \
  X(eq, "__eq__", ==)              \
  X(ne, "__ne__", !=)              \
  X(lt, "__lt__", <)               \
  X(le, "__le__", <=)              \
  X(gt, "__gt__", >)               \
  X(ge, "__ge__", >=)
#define ANYFFI_IN_PLACE_OPERATORS(X) \
  X(iadd, "__iadd__", +=)            \
  X(isub, "__isub__", -=)            \
  X(imul, "__imul__", *=)            \
  X(itruediv, "__itruediv__", /=)    \
  X(imod, "__imod__", %=)            \
  X(ilshift, "__ilshift__", <<=)     \
  X(irshift, "__irshift__", >>=)     \
  X(iand, "__iand__", &=)            \
  X(ior, "__ior__", |=)              \
  X(ixor, "__ixor__", ^=)
#define ANYFFI_UNARY_OPERATORS(X) \
  X(neg, "__neg__", -)            \
  X(pos, "__pos__", +)            \
  X(invert, "__invert__", ~)
/// X(name in C++, name in Python, expression of an `a`). Conversions may be explicit.
#define ANYFFI_EXPRESSIONS(X)                    \
  X(bool_, "__bool__", static_cast<bool>(a))     \
  X(int_, "__int__", static_cast<int64_t>(a))    \
  X(float_, "__float__", static_cast<double>(a)) \
  X(hash, "__hash__", std::hash<T>()(a))         \
  X(len, "__len__", a.size())
/// For an object on the right: `op<double>(anyffi::ops::rmul)` is `double() * object`.
#define ANYFFI_REFLECTED_OPERATORS(X) \
  X(radd, "__radd__", +)              \
  X(rsub, "__rsub__", -)              \
  X(rmul, "__rmul__", *)              \
  X(rtruediv, "__rtruediv__", /)      \
  X(rmod, "__rmod__", %)              \
  X(rlshift, "__rlshift__", <<)       \
  X(rrshift, "__rrshift__", >>)       \
  X(rand_, "__rand__", &)             \
  X(ror_, "__ror__", |)               \
  X(rxor_, "__rxor__", ^)
/// Operators without a default function: `op(anyffi::ops::getitem, &T::at)`.
#define ANYFFI_OTHER_OPERATORS(X) \
  X(floordiv, "__floordiv__")     \
  X(rfloordiv, "__rfloordiv__")   \
  X(ifloordiv, "__ifloordiv__")   \
  X(pow, "__pow__")               \
  X(rpow, "__rpow__")             \
  X(ipow, "__ipow__")             \
  X(matmul, "__matmul__")         \
  X(rmatmul, "__rmatmul__")       \
  X(imatmul, "__imatmul__")       \
  X(divmod, "__divmod__")         \
  X(rdivmod, "__rdivmod__")       \
  X(getitem, "__getitem__")       \
  X(setitem, "__setitem__")       \
  X(delitem, "__delitem__")       \
  X(contains, "__contains__")     \
  X(call, "__call__")             \
  X(str, "__str__")               \
  X(repr, "__repr__")             \
  X(index, "__index__")           \
  X(iter, "__iter__")             \
  X(next, "__next__")             \
  X(enter, "__enter__")           \
  X(exit, "__exit__")             \
  X(abs_, "__abs__")              \
  X(round, "__round__")           \
  X(floor, "__floor__")           \
  X(ceil, "__ceil__")             \
  X(trunc, "__trunc__")           \
  X(complex_, "__complex__")      \
  X(bytes, "__bytes__")           \
  X(format, "__format__")         \
  X(fspath, "__fspath__")         \
  X(array, "__array__")           \
  X(reversed, "__reversed__")     \
  X(getattr, "__getattr__")       \
  X(setattr, "__setattr__")       \
  X(delattr, "__delattr__")       \
  X(dir, "__dir__")

// `U` is the type of the other operand.
#define ANYFFI_BINARY_(name, method, sign)                                           \
  struct Op_##name {                                                                 \
    static constexpr const char* kName = method;                                     \
    static constexpr auto kForm = detail::OpForm::kBinary;                           \
    template <class T, class U>                                                      \
    using Result = decltype(std::declval<const T&>() sign std::declval<const U&>()); \
    template <class T, class U>                                                      \
    static constexpr auto kCall = [](const T& a, const U& b) { return a sign b; };   \
  };                                                                                 \
  inline constexpr Op_##name name{};
#define ANYFFI_REFLECTED_(name, method, sign)                                        \
  struct Op_##name {                                                                 \
    static constexpr const char* kName = method;                                     \
    static constexpr auto kForm = detail::OpForm::kReflected;                        \
    template <class T, class U>                                                      \
    using Result = decltype(std::declval<const U&>() sign std::declval<const T&>()); \
    template <class T, class U>                                                      \
    static constexpr auto kCall = [](const T& a, const U& b) { return b sign a; };   \
  };                                                                                 \
  inline constexpr Op_##name name{};
#define ANYFFI_IN_PLACE_(name, method, sign)                                   \
  struct Op_##name {                                                           \
    static constexpr const char* kName = method;                               \
    static constexpr auto kForm = detail::OpForm::kBinary;                     \
    template <class T, class U>                                                \
    using Result = decltype(std::declval<T&>() sign std::declval<const U&>()); \
    template <class T, class U>                                                \
    static constexpr auto kCall = [](const Ref<T>& a, const U& b) {            \
      *a sign b;                                                               \
      return a;                                                                \
    };                                                                         \
  };                                                                           \
  inline constexpr Op_##name name{};
#define ANYFFI_UNARY_(name, method, sign)                            \
  struct Op_##name {                                                 \
    static constexpr const char* kName = method;                     \
    static constexpr auto kForm = detail::OpForm::kUnary;            \
    template <class T>                                               \
    using Result = decltype(sign std::declval<const T&>());          \
    template <class T>                                               \
    static constexpr auto kCall = [](const T& a) { return sign a; }; \
  };                                                                 \
  inline constexpr Op_##name name{};
#define ANYFFI_EXPRESSION_(name, method, expression)                     \
  struct Op_##name {                                                     \
    static constexpr const char* kName = method;                         \
    static constexpr auto kForm = detail::OpForm::kUnary;                \
    template <class T>                                                   \
    static auto evaluate(const T& a) -> decltype(expression);            \
    template <class T>                                                   \
    using Result = decltype(evaluate(std::declval<const T&>()));         \
    template <class T>                                                   \
    static constexpr auto kCall = [](const T& a) { return expression; }; \
  };                                                                     \
  inline constexpr Op_##name name{};
#define ANYFFI_OTHER_(name, method)                       \
  struct Op_##name {                                      \
    static constexpr const char* kName = method;          \
    static constexpr auto kForm = detail::OpForm::kNamed; \
  };                                                      \
  inline constexpr Op_##name name{};

ANYFFI_BINARY_OPERATORS(ANYFFI_BINARY_)
ANYFFI_REFLECTED_OPERATORS(ANYFFI_REFLECTED_)
ANYFFI_IN_PLACE_OPERATORS(ANYFFI_IN_PLACE_)
ANYFFI_UNARY_OPERATORS(ANYFFI_UNARY_)
ANYFFI_EXPRESSIONS(ANYFFI_EXPRESSION_)
ANYFFI_OTHER_OPERATORS(ANYFFI_OTHER_)

#undef ANYFFI_BINARY_
#undef ANYFFI_REFLECTED_
#undef ANYFFI_IN_PLACE_
#undef ANYFFI_UNARY_
#undef ANYFFI_EXPRESSION_
#undef ANYFFI_OTHER_

}  // namespace ops

namespace detail ANYFFI_HIDDEN_ {
/// Whether C++ has the operator for operands of these types.
template <class Op, class T, class U, class = void>
inline constexpr bool kIsDefined = false;
template <class Op, class T, class U>
inline constexpr bool kIsDefined<Op, T, U, std::void_t<typename Op::template Result<T, U>>> = true;
/// The same for one operand.
template <class Op, class T, class = void>
inline constexpr bool kIsDefinedAlone = false;
template <class Op, class T>
inline constexpr bool kIsDefinedAlone<Op, T, std::void_t<typename Op::template Result<T>>> = true;
}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

#endif  // ANYFFI_OPS_H_
