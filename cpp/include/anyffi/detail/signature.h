/// \file
/// Parameters and result of a callable, and how each parameter is passed.
#ifndef ANYFFI_DETAIL_SIGNATURE_H_
#define ANYFFI_DETAIL_SIGNATURE_H_

#include <anyffi/pointer.h>

namespace anyffi {
namespace detail {

/// The referent of a parameter of type T&, valid during the call.
template <class T>
struct Lvalue {
  T value;
  operator T&() { return value; }
};

/// A parameter type W with the reference kind of A, because the function's result may refer to the argument.
template <class A, class W>
using PassedLike = std::conditional_t<std::is_lvalue_reference_v<A>, const W&,
                                      std::conditional_t<std::is_rvalue_reference_v<A>, W&&, W>>;

/// Whether a parameter of type A has a conversion.
template <class A>
inline constexpr bool kIsConvertible =
    HasTraits<Bare<A>>::value || (std::is_lvalue_reference_v<A> && kIsObjectClass<Bare<A>>);

/// The type whose traits convert an argument for a parameter of type A.
template <class A, class = void>
struct Converted {
  using Type = Bare<A>;
};
template <class A>
struct Converted<A&, std::enable_if_t<kIsObjectClass<Bare<A>>>> {
  using Type = std::conditional_t<kHasFromValue<Bare<A>>, Ref<Bare<A>>, ObjectArg<Bare<A>>>;
};
template <class A>
struct Converted<const A&, std::enable_if_t<kIsPassedBorrowed<A>>> {
  using Type = BorrowedText<A>;
};
template <class A>
struct Converted<const A&, std::enable_if_t<kBorrowsObject<A>>> {
  using Type = BorrowedRef<A>;
};
template <class A>
using ConvertedType = typename Converted<A>::Type;

/// Whether A is a non-const reference to a converted copy, so that writes to it would be lost.
template <class A>
inline constexpr bool kLosesWrites = std::is_lvalue_reference_v<A> && !std::is_const_v<std::remove_reference_t<A>> &&
                                     !std::is_base_of_v<ObjectRef, Bare<A>> && !kIsObjectClass<Bare<A>>;

template <class F, class R, class... A>
struct TypedCall;

/// Result and parameters of a callable.
template <class F, class = void>
struct SignatureOf {
  static constexpr bool kIsKnown = false;
};
template <class R, class... A>
struct SignatureOf<R(A...)> {
  template <class F>
  using Typed = TypedCall<F, R, A...>;
  template <template <class, class...> class Template>
  using Apply = Template<R, A...>;
  static constexpr bool kIsKnown = true;
  static constexpr int kSize = sizeof...(A);
};
template <class R, class... A>
struct SignatureOf<R (*)(A...)> : SignatureOf<R(A...)> {};
template <class R, class... A>
struct SignatureOf<R (*)(A...) noexcept> : SignatureOf<R(A...)> {};

/// A member function as a callable whose first parameter is the object: by reference for an object class, else a
/// converted copy.
template <class M, class C, class R, class... A>
struct Method {
  using Self = std::conditional_t<kIsObjectClass<C>, C&, const C&>;
  M member;
  R operator()(Self self, A... args) const { return (self.*member)(std::forward<A>(args)...); }
};

/// The same for an object class T that has or inherits the member function.
template <class T, class M, class R, class... A>
struct MethodOf {
  M member;
  R operator()(T& self, A... args) const { return (self.*member)(std::forward<A>(args)...); }
};

/// The signature of a member function: `Call` for a functor's call operator, `AsFunction` for a member function that is
/// itself the callable, `AsMethod` for a method of an object class.
template <class C, class R, class... A>
struct MemberSignature {
  using Call = R(A...);
  template <class M>
  using AsFunction = Method<M, C, R, A...>;
  template <class M, class T>
  using AsMethod = MethodOf<T, M, R, A...>;
};
template <class M>
struct MemberOf;
template <class C, class R, class... A>
struct MemberOf<R (C::*)(A...)> : MemberSignature<C, R, A...> {};
template <class C, class R, class... A>
struct MemberOf<R (C::*)(A...) const> : MemberSignature<C, R, A...> {};
template <class C, class R, class... A>
struct MemberOf<R (C::*)(A...) &> : MemberSignature<C, R, A...> {};
template <class C, class R, class... A>
struct MemberOf<R (C::*)(A...) const&> : MemberSignature<C, R, A...> {};
template <class C, class R, class... A>
struct MemberOf<R (C::*)(A...) noexcept> : MemberSignature<C, R, A...> {};
template <class C, class R, class... A>
struct MemberOf<R (C::*)(A...) const noexcept> : MemberSignature<C, R, A...> {};
template <class C, class R, class... A>
struct MemberOf<R (C::*)(A...) & noexcept> : MemberSignature<C, R, A...> {};
template <class C, class R, class... A>
struct MemberOf<R (C::*)(A...) const & noexcept> : MemberSignature<C, R, A...> {};

/// Whether a member function's parameters are known: false for &&-qualified, variadic and volatile ones.
template <class M, class = void>
inline constexpr bool kIsKnownMember = false;
template <class M>
inline constexpr bool kIsKnownMember<M, std::void_t<typename MemberOf<M>::Call>> = true;

template <class F>
struct SignatureOf<F, std::void_t<decltype(&F::operator())>>
    : SignatureOf<typename MemberOf<decltype(&F::operator())>::Call> {};

/// A member function as a function that takes the object first; other callables unchanged.
template <class F>
decltype(auto) as_function(F& f) {
  if constexpr (kIsKnownMember<F>) {
    return typename MemberOf<F>::template AsFunction<F>{f};
  } else {
    return static_cast<F&>(f);
  }
}
template <class F>
using CallableOf = Bare<decltype(as_function(std::declval<F&>()))>;

}  // namespace detail

/// A member function that T inherits from a class without a kTypeKey, as a member of T: `method<T>(&T::inherited)`. The
/// type of `&T::inherited` does not name T.
template <class T, class Base, class Member>
Member T::* method(Member Base::* inherited) {
  static_assert(std::is_member_function_pointer_v<Member Base::*>, "anyffi: method<T> takes a member function");
  constexpr bool kIsInherited = std::is_convertible_v<Member Base::*, Member T::*>;
  static_assert(kIsInherited,
                "anyffi: the member function is of a class from which T does not derive publicly, or virtually: bind "
                "[](T& object) { return object.f(); }");
  if constexpr (kIsInherited) return inherited;
  return nullptr;
}

}  // namespace anyffi

#endif  // ANYFFI_DETAIL_SIGNATURE_H_
