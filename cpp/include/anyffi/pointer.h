/// \file
/// Pointers and references to objects of classes, as parameters and results.
#ifndef ANYFFI_POINTER_H_
#define ANYFFI_POINTER_H_

#include <anyffi/object.h>

namespace anyffi {

/// Whether a function that returns a T& may return a copy. Specialise it as false for a class whose copy constructor
/// does not compile, such as one with a std::vector of std::unique_ptr.
template <class T>
inline constexpr bool kIsCopyable = std::is_copy_constructible_v<T> && detail::kIsObjectValue<T>;

namespace detail ANYFFI_HIDDEN_ {

template <class T>
inline constexpr bool kIsObjectPointer = false;
template <class T>
inline constexpr bool kIsObjectPointer<T*> = kIsObjectClass<std::remove_cv_t<T>>;

/// Parameters that take over the content of an object: no other argument of the call may be the same object.
template <class T>
inline constexpr bool kTakesObject = false;
/// Containers of such pointers, at any depth. They cannot be copied, although their types may declare a copy
/// constructor.
template <class T>
inline constexpr bool kHoldsTaken = false;
template <template <class...> class C, class... Ts>
inline constexpr bool kHoldsTaken<C<Ts...>> =
    !kIsObjectClass<C<Ts...>> && !kIsObjectPointer<C<Ts...>> && ((kTakesObject<Ts> || kHoldsTaken<Ts>) || ...);
/// Whether a parameter that is a standard container takes over the objects of its argument; or would have to, and
/// cannot.
template <class T>
inline constexpr bool kTakesHeld = kTakesObject<T>;
template <class T>
inline constexpr bool kCannotTake = false;
/// Whether the traits have `verify(const Holder&)`, called once all arguments of a call are converted, before any is
/// taken over.
template <class T, class = void>
inline constexpr bool kIsVerified = false;
template <class T>
inline constexpr bool kIsVerified<T, std::void_t<decltype(&Traits<T>::verify)>> = true;
[[noreturn]] __attribute__((cold, noinline)) inline void refuse_same() {
  throw Error("ValueError", "an object that is moved to C++ is also another argument of the call");
}
inline void check_distinct(const AnyffiValue* args, int32_t size) {
  for (int32_t i = 0; i < size; ++i) {
    for (int32_t j = 0; j < i && args[i].type_code > 0; ++j) {
      if (args[j].type_code > 0 && args[j].as_object == args[i].as_object) refuse_same();
    }
  }
}

/// Smart pointers that keep the argument's object alive, whoever owns its content.
template <class T>
inline constexpr bool kSharesObject = false;

/// Smart pointers that own a T.
template <class T, class P>
inline constexpr bool kIsOwner = false;

/// The type of a smart pointer to an Alias, which derives from T, as a smart pointer to a T.
template <class T, class Alias, class P>
struct OwnerAs {
  using Type = P;
};

/// Whether a type is a pointer to an object, or a container of such.
template <class T>
struct HoldsPointer : std::bool_constant<kIsObjectPointer<T>> {};
template <template <class...> class C, class... Ts>
struct HoldsPointer<C<Ts...>> : std::bool_constant<(HoldsPointer<Ts>::value || ...)> {};
template <class T>
inline constexpr bool kHoldsPointer = HoldsPointer<T>::value;

/// Results for which the declaration must say who owns the object. Not a T&, which may be one of the arguments.
template <class R>
inline constexpr bool kNeedsReturns = kHoldsPointer<Bare<R>>;

/// How pointers in a result are stored.
struct ReturnContext {
  Returns returns;
  AnyffiObject* first;  // the first argument, if that is an object
};
inline AnyffiObject* first_object(const AnyffiValue* args, int32_t size) noexcept {
  return size > 0 && args[0].type_code > 0 ? args[0].as_object : nullptr;
}
/// The context of the result being stored, for pointers inside of containers.
ANYFFI_HIDDEN_ inline thread_local const ReturnContext* return_context = nullptr;

class ReturnScope {
 public:
  explicit ReturnScope(const ReturnContext& context) noexcept : former_(return_context) { return_context = &context; }
  ~ReturnScope() { return_context = former_; }
  ReturnScope(const ReturnScope&) = delete;
  ReturnScope& operator=(const ReturnScope&) = delete;

 private:
  const ReturnContext* former_;
};

/// Throws the error for a pointer whose object has no known owner.
[[noreturn]] __attribute__((cold, noinline)) inline void refuse_pointer(Returns returns) {
  const char* reason = "a pointer is returned by copy or move: bind a lambda that returns the object";
  if (returns == Returns::kTakeOwnership) {
    reason = "a result cannot be owned: the destructor or operator delete of its class is not public";
  } else if (returns == Returns::kReferenceInternal) {
    reason = "a result refers to what the first argument owns, which is no object";
  } else if (returns == Returns::kUnspecified) {
    reason =
        "the result refers to an object that cannot be copied, and nothing says who owns it: add "
        ".returns(anyffi::Returns::...) to the declaration of the function";
  }
  throw Error("TypeError", reason);
}

/// `flags`: 0, or ANYFFI_BORROWED if the result may be borrowed.
template <class T>
AnyffiValue store_pointer(T* pointer, const ReturnContext& context, uint32_t flags) {
  if (!pointer) return AnyffiValue{};
  if (__builtin_expect(context.returns == Returns::kReference, 1)) return refer_to_borrowed(pointer, nullptr, flags);
  if constexpr (kIsDeletable<T>) {
    if (context.returns == Returns::kTakeOwnership) return refer_to_owned(pointer);
  }
  if (context.returns != Returns::kReferenceInternal || !context.first) refuse_pointer(context.returns);
  return refer_to_borrowed(pointer, context.first, flags);
}

/// A pointer that is not a result, such as an argument of a callback, refers to an object that stays alive during the
/// call.
template <class T>
AnyffiValue store_pointer(T* pointer) {
  const ReturnContext reference{Returns::kReference, nullptr};
  return store_pointer(pointer, return_context ? *return_context : reference, 0);
}

/// An argument of a callback that is passed by reference.
class PassedReference {
 public:
  /// `owned`: with the flag ANYFFI_LEND if a loan began, which ends with this.
  explicit PassedReference(AnyffiValue owned) noexcept : is_lent_(owned.aux == ANYFFI_LEND) {
    if (is_lent_) owned.aux = 0;
    *value_.out() = owned;
  }
  PassedReference(const PassedReference&) = delete;
  PassedReference& operator=(const PassedReference&) = delete;
  ~PassedReference() {
    if (is_lent_) anyffi_instance_end_loan(reinterpret_cast<AnyffiInstance*>(value_.raw().as_object));
  }
  const AnyValue& value() const noexcept { return value_; }

 private:
  AnyValue value_;
  bool is_lent_;
};

/// For an argument of a callback that is passed by reference: the object for its address, or a copy if Python does not
/// know one. An object that cannot be copied is lent for the call.
template <class T>
PassedReference pass_reference(T& object) {
  using Class = std::remove_cv_t<T>;
  auto* pointer = const_cast<Class*>(__builtin_addressof(object));
  if constexpr (!std::is_const_v<T> || !kIsCopyable<Class>) (void)&kIsFlagged<Class, ANYFFI_ENROLLED>;
  Found found = find_dynamic(pointer);
  AnyffiValue passed = anyffi_instance_find(found.content, found.type_code, ANYFFI_LEND);
  if (passed.type_code != ANYFFI_NONE) return PassedReference(passed);
  if constexpr (kIsCopyable<Class>) {
    passed = Traits<Class>::store(object);
  } else if constexpr (std::is_const_v<T> && std::is_polymorphic_v<Class>) {
    passed = copy_derived<false>(object);
  }
  return PassedReference(passed.type_code != ANYFFI_NONE ? passed : lend(found));
}

/// The argument that Python's function gets for a parameter of type A of a callback or an overridden function.
template <class A, class X>
decltype(auto) as_argument(X&& x) {
  if constexpr (std::is_lvalue_reference_v<A> && kIsObjectClass<Bare<A>>) {
    return pass_reference(x);
  } else {
    return std::forward<A>(x);
  }
}

}  // namespace detail ANYFFI_HIDDEN_

template <>
struct Traits<detail::PassedReference> {
  ANYFFI_HIDDEN_ static constexpr auto name = FixedText("Any");
  static constexpr bool kBorrows = false;
  static AnyffiValue store(const detail::PassedReference& passed) { return AnyValue(passed.value()).release(); }
};

/// A pointer to an object of an object class, or NULL, which is None. A parameter borrows the object from the caller.
template <class P>
struct Traits<P*, std::enable_if_t<detail::kIsObjectPointer<P*>>> {
  using T = std::remove_cv_t<P>;
  ANYFFI_HIDDEN_ static constexpr auto name = detail::kTypeKeyOf<T> + " | None";
  static constexpr uint64_t type_mask = detail::type_bits(ANYFFI_NONE);
  static constexpr bool kIsSteady = true;
  static constexpr bool kBorrows = false;
  static constexpr bool kLoadsObjects = true;
  using Holder = detail::BorrowedPointer<P>;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    if (value.type_code == ANYFFI_NONE) return true;
    if (!detail::is_instance<T>(value)) return detail::refuse(why, value, name);
    holder.content = detail::content_of<T>(value.as_object);
    holder.in_use.begin(value.as_object);
    return true;
  }
  static P* take(Holder& holder) { return holder.content; }
  static AnyffiValue store(P* pointer) {
    (void)&detail::kIsFlagged<T, ANYFFI_ENROLLED>;
    return detail::store_pointer(const_cast<T*>(pointer));
  }
  static AnyffiValue store_in(const detail::ReturnContext& context, P* pointer, uint32_t flags) {
    (void)&detail::kIsFlagged<T, ANYFFI_ENROLLED>;
    return detail::store_pointer(const_cast<T*>(pointer), context, flags);
  }
};

}  // namespace anyffi

#endif  // ANYFFI_POINTER_H_
