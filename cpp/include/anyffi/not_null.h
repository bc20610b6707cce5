/// \file
/// NotNull<P>: pointers to objects that are never null, so that annotations have no `| None`.
///
///     .method("find", anyffi::never_null(&Shelf::find), arg("name"))
///     .method("put", [](Shelf& shelf, anyffi::NotNull<std::shared_ptr<Item>> item) { ... }, arg("item"))
#ifndef ANYFFI_NOT_NULL_H_
#define ANYFFI_NOT_NULL_H_

#include <anyffi/detail/signature.h>
#include <anyffi/error.h>

namespace anyffi {

namespace detail ANYFFI_HIDDEN_ {

[[noreturn]] __attribute__((cold, noinline)) inline void refuse_null() {
  throw Error("ValueError", "a pointer is null that is declared as one that never is");
}

/// Raw and smart pointers to objects; their traits have the class as `T`.
template <class P>
inline constexpr bool kMayBeNull = kIsObjectPointer<P>;
/// The same, including smart pointers that are converted through one of the standard library (stl/memory.h).
template <class P, class Enable = void>
inline constexpr bool kCanBeNotNull = kMayBeNull<P>;

}  // namespace detail ANYFFI_HIDDEN_

/// A raw or smart pointer to an object of an object class, which is not null. ValueError if it is constructed from a
/// null pointer; a parameter refuses None.
template <class P>
class NotNull {
 public:
  NotNull(P pointer) : pointer_(std::move(pointer)) {  // NOLINT: implicit on purpose
    if (__builtin_expect(!pointer_, 0)) detail::refuse_null();
  }

  const P& get() const& noexcept { return pointer_; }
  P get() && noexcept { return std::move(pointer_); }
  operator const P&() const& noexcept { return pointer_; }  // NOLINT: implicit on purpose
  operator P() && noexcept { return std::move(pointer_); }  // NOLINT: implicit on purpose
  decltype(auto) operator*() const { return *pointer_; }
  auto* operator->() const { return __builtin_addressof(*pointer_); }

 private:
  P pointer_;
};

namespace detail ANYFFI_HIDDEN_ {

/// Wraps a callable whose result is never null.
template <class F>
struct NeverNull {
  template <class R, class... A>
  struct Of {
    static_assert(kCanBeNotNull<R>,
                  "anyffi: never_null() is for functions that return a pointer to an object of a bound class");
    F function;
    NotNull<R> operator()(A... args) { return function(std::forward<A>(args)...); }
  };
};

/// The pointer type inside of a NotNull; other types unchanged.
template <class P>
struct Nullable {
  using Type = P;
};
template <class P>
struct Nullable<NotNull<P>> {
  using Type = P;
};

/// The argument for a parameter of type A, from one of type PassedLike<A, NotNull<Bare<A>>>.
template <class A>
A&& pass_nullable(const NotNull<Bare<A>>& pointer) {
  return static_cast<A&&>(const_cast<Bare<A>&>(pointer.get()));
}

template <class P>
inline constexpr bool kTakesObject<NotNull<P>> = kTakesObject<P>;
template <class P>
inline constexpr bool kSharesObject<NotNull<P>> = kSharesObject<P>;

}  // namespace detail ANYFFI_HIDDEN_

/// Declares that a function never returns a null pointer: its result is annotated without None. ValueError if it is
/// null after all.
template <class F>
auto never_null(F f) {
  using Callable = detail::CallableOf<F>;
  using Checked = typename detail::SignatureOf<Callable>::template Apply<detail::NeverNull<Callable>::template Of>;
  return Checked{detail::as_function(f)};
}

template <class P>
struct Traits<NotNull<P>, std::enable_if_t<detail::kMayBeNull<P>>> {
  using Inner = Traits<P>;
  ANYFFI_HIDDEN_ static constexpr auto name = detail::kTypeKeyOf<typename Inner::T>;
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kIsSteady = detail::kIsSteady<P>;
  static constexpr bool kBorrows = false;
  static constexpr bool kOutlivesHolder = detail::kOutlivesHolder<P>;
  using Holder = typename Inner::Holder;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    return (value.type_code != ANYFFI_NONE && Inner::load(value, holder, why)) || refuse(value, why);
  }
  static bool load_held(AnyffiValue& value, Holder& holder, AnyffiMismatch& why, uint64_t num_references) {
    return (value.type_code != ANYFFI_NONE && Inner::load_held(value, holder, why, num_references)) ||
           refuse(value, why);
  }
  static void verify([[maybe_unused]] const Holder& holder) {
    if constexpr (detail::kIsVerified<P>) Inner::verify(holder);
  }
  static NotNull<P> take(Holder& holder) { return Inner::take(holder); }
  static AnyffiValue refer_inside(const NotNull<P>& pointer, AnyffiObject* owner) {
    return Inner::refer_inside(pointer.get(), owner);
  }
  static AnyffiValue store(const NotNull<P>& pointer) { return Inner::store(pointer.get()); }
  static AnyffiValue store(NotNull<P>&& pointer) { return Inner::store(std::move(pointer).get()); }

 private:
  static bool refuse(const AnyffiValue& value, AnyffiMismatch& why) {
    if (value.type_code == ANYFFI_NONE) return detail::refuse(why, value, name);
    if (why.reason == ANYFFI_MISMATCH_TYPE) why.expected = name;
    return false;
  }
};

}  // namespace anyffi

#endif  // ANYFFI_NOT_NULL_H_
