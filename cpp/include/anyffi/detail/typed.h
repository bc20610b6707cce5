/// \file
/// The code generated for each signature and callable. It is kept small, since a library may have a thousand of them.
#ifndef ANYFFI_DETAIL_TYPED_H_
#define ANYFFI_DETAIL_TYPED_H_

#include <anyffi/detail/converting.h>
#include <anyffi/detail/native.h>

namespace anyffi {
namespace detail ANYFFI_HIDDEN_ {

/// Converted numbers, which the compiler keeps in registers; all other arguments are in the frame.
template <size_t I, class T, bool = kIsNumber<T>>
struct NumberLeaf {};
template <size_t I, class T>
struct NumberLeaf<I, T, true> {
  typename Traits<T>::Holder number;
};
template <class Indices, class... A>
struct Numbers;
template <size_t... I, class... A>
struct Numbers<std::index_sequence<I...>, A...> : NumberLeaf<I, Bare<A>>... {
  template <size_t K, class T>
  NumberLeaf<K, T>& leaf() {
    return *this;
  }
};

template <class A>
inline constexpr bool kIsVariable = std::is_lvalue_reference_v<A> && !std::is_const_v<std::remove_reference_t<A>>;
/// Whether destroying the converted argument runs no foreign code.
template <class A, class T = ConvertedType<A>>
inline constexpr bool kIsQuietArg = kIsObjectArg<T> || (kSharesObject<T> && !kIsVariable<A>) ||
                                    std::is_trivially_destructible_v<typename Slot<T>::Kept>;

/// The parameters of a method.
template <class... A>
struct MethodParams {
  static constexpr bool kIsPlain = false;
  static constexpr bool kHasObject = false;
  using Object = void;
};
template <class O, class... A>
struct MethodParams<O, A...> {
  static constexpr bool kHasObject = kIsObjectArg<ConvertedType<O>>;
  static constexpr bool kIsPlain = kHasObject && (kIsNumber<Bare<A>> && ...);
  using Self = Bare<O>;
  /// The class of the object that `call_body` converts.
  using Object = std::conditional_t<kHasObject, Self, void>;

  /// A MethodBody for one callable.
  template <class F, class R>
  static bool call(AnyffiNativeFunction& native, Self& object, const AnyffiValue* args, AnyffiValue* result) {
    return call<F, R>(native, object, args, result, std::index_sequence_for<A...>());
  }

 private:
  template <class F, class R, size_t... I>
  __attribute__((always_inline)) static bool call(AnyffiNativeFunction& native, Self& object,
                                                  [[maybe_unused]] const AnyffiValue* args, AnyffiValue* result,
                                                  std::index_sequence<I...>) {
    Numbers<std::index_sequence<I...>, A...> numbers;
    bool are_plain = (Traits<Bare<A>>::load_plain(args[I], numbers.template leaf<I, Bare<A>>().number) && ...);
    if (__builtin_expect(!are_plain, 0)) return false;
    auto& function = callable_of<F>(&native);
    auto call = [&]() -> R {
      return function(static_cast<O>(object), Traits<Bare<A>>::take(numbers.template leaf<I, Bare<A>>().number)...);
    };
    if constexpr (std::is_void_v<R>) {
      call();
    } else {
      assign(*result, Traits<Bare<R>>::store(call()));
    }
    return true;
  }
};

template <class F, class R, class... A>
struct ANYFFI_HIDDEN_ TypedCall {
  static constexpr int kSize = sizeof...(A);
  using Indices = std::index_sequence_for<A...>;
  using NumberPack = Numbers<Indices, A...>;
  using Result = Bare<R>;
  static constexpr bool kReturnsNumber = std::is_void_v<R> || kIsNumber<Result>;
  static constexpr bool kReturnsObject = !kReturnsNumber && !std::is_reference_v<R> && !kIsRef<Result>;
  /// Whether a borrowed result is still alive after the converted arguments are destroyed.
  static constexpr bool kIsQuiet = (kIsQuietArg<A> && ...);
  /// Needs no frame, which saves a third of a short function's call.
  static constexpr bool kIsPlain = (kIsNumber<Bare<A>> && ...) && kReturnsNumber;
  /// A method of an object and numbers, as most are, needs only a small frame.
  using Params = MethodParams<A...>;
  static constexpr bool kIsMethod = Params::kIsPlain && kReturnsNumber;
  using Memory = Slots<std::conditional_t<kReturnsObject, Result, char>, ConvertedType<A>...>;

  /// `AnyffiFunction.call`.
  static int call(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
    if constexpr (kIsPlain) {
      auto& native = *static_cast<AnyffiNativeFunction*>(self);
      if (__builtin_expect(num_args == native.plain_size, 1)) return call_plain(native, args, result, Indices());
      return anyffi_native_call(&native, args, num_args, result);
    } else if constexpr (kIsMethod) {
      return call_method<typename Params::Self>(self, args, num_args, result, &Params::template call<F, R>);
    } else {
      constexpr size_t kAlignment = alignof(Memory) > 16 ? alignof(Memory) : 16;
      constexpr size_t kSlotsSize = sizeof(Memory) + (kHoldsArguments ? kSize * sizeof(AnyffiObject*) : 0);
      constexpr size_t kBytes = slots_size(kSlotsSize);
      return call_body<typename Params::Object, kBytes, kAlignment>(self, args, num_args, result, &call_in_slots);
    }
  }

 private:
  template <size_t... I>
  static int call_plain(AnyffiNativeFunction& native, [[maybe_unused]] AnyffiValue* args, AnyffiValue* result,
                        std::index_sequence<I...>) {
    NumberPack numbers;
    bool are_plain = (Traits<Bare<A>>::load_plain(args[I], numbers.template leaf<I, Bare<A>>().number) && ...);
    if (__builtin_expect(!are_plain, 0)) return anyffi_native_call(&native, args, kSize, result);
    return catch_all([&] {
      auto& function = callable_of<F>(&native);
      if constexpr (std::is_void_v<R>) {
        function(Traits<Bare<A>>::take(numbers.template leaf<I, Bare<A>>().number)...);
      } else {
        assign(*result,
               Traits<Result>::store(function(Traits<Bare<A>>::take(numbers.template leaf<I, Bare<A>>().number)...)));
      }
      return 0;
    });
  }

  static bool call_in_slots(AnyffiNativeFunction& native, AnyffiValue* args, AnyffiValue* result, SlotFrame& frame,
                            char* slots) {
    return call_in_slots(native, args, result, frame, slots, Indices());
  }
  template <size_t... I>
  __attribute__((always_inline)) static bool call_in_slots(AnyffiNativeFunction& native,
                                                           [[maybe_unused]] AnyffiValue* args, AnyffiValue* result,
                                                           SlotFrame& frame, [[maybe_unused]] char* memory,
                                                           std::index_sequence<I...>) {
    // Has no destructor, which would be inlined twice: the shared functions destroy the slots after an error.
    NumberPack numbers;
    if constexpr ((kTakesObject<Bare<A>> || ...)) check_distinct(args, kSize);
    if constexpr (kHoldsArguments) {
      bool runs_code = ((kMayRunCode<A> && args[I].type_code > 0) || ...);
      auto* objects = reinterpret_cast<AnyffiObject**>(memory + sizeof(Memory));
      if (__builtin_expect(runs_code, 0)) frame.in_use.begin(args, objects, kSize);
    }
    if (!(load<I, A>(args[I], frame, memory, numbers) && ...)) return false;
    if constexpr (kHoldsArguments) frame.in_use.end();
    frame.num_loaded = kSize;
    (verify<I, A>(memory), ...);
    if (__builtin_expect(native.releases_lock != 0, 0)) anyffi_native_release_lock(&frame.lock, args, kSize);
    auto& function = callable_of<F>(&native);
    if constexpr (std::is_void_v<R>) {
      function(pass<I, A>(memory, numbers)...);
      acquire_lock(frame);
    } else if constexpr (kReturnsNumber) {
      assign(*result, Traits<Result>::store(function(pass<I, A>(memory, numbers)...)));
      acquire_lock(frame);
    } else if constexpr (std::is_reference_v<R>) {
      if constexpr (kIsObjectClass<Result>) {
        const Result& object = function(pass<I, A>(memory, numbers)...);
        if constexpr (!kIsQuiet) result->aux = 0;
        store_referent<Result>(frame, static_cast<Returns>(native.returns), object, args, kSize, result);
      } else {
        // One expression, because the result may refer to temporaries made for a parameter.
        store_reference<Result>(frame, function(pass<I, A>(memory, numbers)...), result);
      }
    } else if constexpr (kIsRef<Result>) {
      AnyffiValue stored = Traits<Result>::store(function(pass<I, A>(memory, numbers)...));
      acquire_lock(frame);
      assign(*result, stored);
    } else {
      auto* kept = ::new (slot<kSize>(memory)) Result(function(pass<I, A>(memory, numbers)...));
      if constexpr (!kIsQuiet && (kIsObjectPointer<Result> || kMayBorrow<Result>)) result->aux = 0;
      if constexpr (kHoldsPointer<Result>) {
        store_pointing(frame, static_cast<Returns>(native.returns), kept, args, kSize, result);
      } else {
        store_result(frame, kept, result);
      }
    }
    (destroy<I, A>(memory), ...);
    return true;
  }

  /// Whether a number's conversion is short enough to inline. That of a float is not.
  template <class T>
  static constexpr bool kIsInlined = kIsNumber<T> && !(std::is_floating_point_v<T> && sizeof(T) < 8);

  template <size_t I>
  static void* slot(char* memory) {
    return memory + Memory::kOffsets.at[I];
  }
  template <size_t I, class P>
  static bool load(AnyffiValue& value, SlotFrame& frame, char* memory, [[maybe_unused]] NumberPack& numbers) {
    using T = ConvertedType<P>;
    if constexpr (Params::kHasObject && I == 0) return true;
    if constexpr (kHoldsArguments && (kTakesObject<Bare<P>> || kHoldsTaken<Bare<P>>)) frame.in_use.end(I);
    if constexpr (kIsInlined<T>) {
      auto& number = numbers.template leaf<I, T>().number;
      if (__builtin_expect(Traits<T>::load_plain(value, number), 1)) return true;
    }
    if constexpr (kIsObjectArg<T>) {
      if (__builtin_expect(load_same_class(value, static_cast<T*>(nullptr), slot<I>(memory)), 1)) return true;
    }
    if constexpr (kIsBorrowedRef<T>) {
      auto* argument = new (slot<I>(memory)) typename Slot<T>::Kept;
      if (__builtin_expect(argument->borrow(value), 1)) return true;
    }
    frame.num_loaded = static_cast<int32_t>(I);
    if (__builtin_expect(!load_slot<T>(&value, &frame.why, slot<I>(memory)), 0)) return false;
    if constexpr (kIsInlined<T>) {
      numbers.template leaf<I, T>().number = *static_cast<typename Traits<T>::Holder*>(slot<I>(memory));
    }
    return true;
  }
  /// Whether the conversion of a parameter may run code of users, such as a `__getitem__`. Arguments are borrowed, and
  /// that code could move the object of another one to C++, which would free it.
  template <class P>
  static constexpr bool kMayRunCode =
      !kIsSteady<Bare<P>> && !kIsObjectArg<ConvertedType<P>> && !kTakesObject<Bare<P>> && !kHoldsTaken<Bare<P>>;
  static constexpr bool kHoldsArguments = (kMayRunCode<A> || ...) && (0 + ... + int{!kIsNumber<Bare<A>>}) > 1;
  template <size_t I, class P>
  static void verify([[maybe_unused]] char* memory) {
    using T = ConvertedType<P>;
    if constexpr (kIsVerified<T>) Traits<T>::verify(*static_cast<typename Slot<T>::Kept*>(slot<I>(memory)));
  }
  template <size_t I, class P>
  static decltype(auto) pass(char* memory, [[maybe_unused]] NumberPack& numbers) {
    using T = ConvertedType<P>;
    if constexpr (kIsInlined<T>) {
      return Traits<T>::take(numbers.template leaf<I, T>().number);
    } else {
      return pass_slot<P, T>(*static_cast<typename Slot<T>::Kept*>(slot<I>(memory)));
    }
  }
  template <size_t I, class P>
  static void destroy(char* memory) {
    using T = ConvertedType<P>;
    using Kept = typename Slot<T>::Kept;
    if constexpr (Params::kHasObject && I == 0) {
      return;  // call_body does it
    } else if constexpr (kIsObjectArg<T>) {
      static_cast<Kept*>(slot<I>(memory))->~Kept();  // inlined
    } else if constexpr (kIsBorrowedRef<T>) {
      if (__builtin_expect(static_cast<Kept*>(slot<I>(memory))->is_owned(), 0)) destroy_slot<T>(slot<I>(memory));
    } else if constexpr (!std::is_trivially_destructible_v<Kept>) {
      destroy_slot<T>(slot<I>(memory));
    }
  }
};

template <class F>
__attribute__((cold, noinline)) void call_unlocked(void* self, AnyffiValue* args, int32_t num_args, AnyValue* value) {
  struct Unlocked {
    AnyffiReleasedLock lock;
    ~Unlocked() { anyffi_native_acquire_lock(&lock); }
  } unlocked;
  anyffi_native_release_lock(&unlocked.lock, args, num_args);
  callable_of<F>(self)(Args(args, num_args), value);
}

/// Calls a `void(Args args, AnyValue* result)`.
template <class F>
int call_packed(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  return catch_all([&] {
    AnyValue value;
    if (__builtin_expect(static_cast<AnyffiNativeFunction*>(self)->releases_lock != 0, 0)) {
      call_unlocked<F>(self, args, num_args, &value);
    } else {
      callable_of<F>(self)(Args(args, num_args), &value);
    }
    *result = value.release();
    return 0;
  });
}

template <class F>
ANYFFI_HIDDEN_ inline constexpr AnyffiCallableType kCallableType{
    [](void* to, void* from) { ::new (to) F(std::move(*static_cast<F*>(from))); },
    [](void* callable) { static_cast<F*>(callable)->~F(); },
    sizeof(F),
};

/// Whether the runtime may copy the callable's bytes.
template <class F>
inline constexpr bool kIsCopied = std::is_trivially_copyable_v<F> && sizeof(F) < 256;

/// The `callable` argument of `anyffi_native_create`.
template <class F>
void* pass_callable(F& callable) {
  if constexpr (!kIsCopied<F> || sizeof(F) > sizeof(void*)) return &callable;
  void* word = nullptr;
  __builtin_memcpy(&word, &callable, std::is_empty_v<F> ? 0 : sizeof(F));
  return word;
}
template <class F>
constexpr uint32_t signature_of_callable() {
  if (!kIsCopied<F>) return ANYFFI_SIGNATURE_MOVES;
  return std::is_empty_v<F> ? 0 : static_cast<uint32_t>(sizeof(F)) << ANYFFI_SIGNATURE_SIZE_SHIFT;
}

/// The arguments that all functions of a signature pass to `anyffi_native_create`.
template <class Typed>
struct TypedSource;
template <class F, class R, class... A>
struct TypedSource<TypedCall<F, R, A...>> {
  using Typed = TypedCall<F, R, A...>;
  static_assert(sizeof...(A) < 256, "anyffi: a function has at most 255 parameters");
  static constexpr bool kEnrolls = std::is_reference_v<R> && kIsObjectClass<Bare<R>>;

  static constexpr uint32_t signature() {
    uint32_t bits = signature_of_callable<F>() | uint32_t{sizeof...(A)} << ANYFFI_SIGNATURE_PARAMS_SHIFT;
    if constexpr (Typed::kIsPlain) bits |= ANYFFI_SIGNATURE_PLAIN;
    if constexpr (Typed::kIsMethod) bits |= ANYFFI_SIGNATURE_PLAIN_METHOD;
    if constexpr (kNeedsReturns<R>) bits |= ANYFFI_SIGNATURE_NEEDS_RETURNS;
    if constexpr (kEnrolls) bits |= ANYFFI_SIGNATURE_ENROLLS;
    if constexpr (kIsWritten<Bare<R>>) bits |= ANYFFI_RETURNS_ITEMS;
    return bits;
  }
  static constexpr const char* result_type() {
    if constexpr (std::is_void_v<R>) {
      return "None";
    } else if constexpr (kEnrolls) {
      return kTypeKeyOf<Bare<R>>;
    } else {
      return kResultName<Bare<R>>;
    }
  }
  /// `more`: names, then defaults.
  ///
  /// Not inlined: for an initialiser with a thousand calls that pass so many addresses, GCC's alias analysis takes
  /// minutes.
  template <class Result, class Owner, class... More>
  __attribute__((cold, noinline)) static Result create(Result (*create)(Owner*, const char*, uint32_t, AnyffiCall,
                                                                        void*, const char*, ...),
                                                       Owner* owner, const char* name, uint32_t flags, F& callable,
                                                       More... more) {
    constexpr uint32_t kBits = signature();
    void* passed = pass_callable(callable);
    if constexpr (!kIsCopied<F> && kEnrolls) {
      return create(owner, name, kBits | flags, &Typed::call, passed, result_type(), &kCallableType<F>,
                    &enroll_instances<Bare<R>>, &kParamType<ConvertedType<A>>..., more...);
    } else if constexpr (!kIsCopied<F>) {
      return create(owner, name, kBits | flags, &Typed::call, passed, result_type(), &kCallableType<F>,
                    &kParamType<ConvertedType<A>>..., more...);
    } else if constexpr (kEnrolls) {
      return create(owner, name, kBits | flags, &Typed::call, passed, result_type(), &enroll_instances<Bare<R>>,
                    &kParamType<ConvertedType<A>>..., more...);
    } else {
      return create(owner, name, kBits | flags, &Typed::call, passed, result_type(), &kParamType<ConvertedType<A>>...,
                    more...);
    }
  }
};

/// Makes a function of a `void(Args args, AnyValue* result)`.
template <class R, class Owner, class F>
R create_packed(R (*create)(Owner*, const char*, uint32_t, AnyffiCall, void*, const char*, ...), Owner* owner,
                F& callable) {
  constexpr uint32_t kBits = signature_of_callable<F>() | ANYFFI_VARIADIC;
  if constexpr (kIsCopied<F>) {
    return create(owner, nullptr, kBits, &call_packed<F>, pass_callable(callable), nullptr);
  } else {
    return create(owner, nullptr, kBits, &call_packed<F>, pass_callable(callable), nullptr, &kCallableType<F>);
  }
}

template <class N>
AnyffiValue* default_of(N& arg) {
  if constexpr (kHasDefault<N>) return arg.value.out();
  return nullptr;
}

/// Calls `create`, such as `anyffi_native_create`, for a typed callable and its `arg(...)`.
template <class R, class Owner, class F, class... N>
R create_named(R (*create)(Owner*, const char*, uint32_t, AnyffiCall, void*, const char*, ...), Owner* owner,
               const char* name, F& callable, N&... names) {
  using Source = TypedSource<typename SignatureOf<F>::template Typed<F>>;
  constexpr uint32_t kNamed = (sizeof...(N) > 0 ? ANYFFI_SIGNATURE_NAMED : 0) |
                              ((std::is_same_v<N, KeywordOnly> || ...) ? ANYFFI_KEYWORD_ONLY : 0);
  if constexpr ((kHasDefault<N> || ...)) {
    return Source::create(create, owner, name, kNamed | ANYFFI_SIGNATURE_DEFAULTS, callable, names.name...,
                          default_of(names)...);
  } else {
    return Source::create(create, owner, name, kNamed, callable, names.name...);
  }
}
/// The same, for a callable some of whose parameters accept more or less than their types.
template <class R, class Owner, class F, class... N>
R create_typed(R (*create)(Owner*, const char*, uint32_t, AnyffiCall, void*, const char*, ...), Owner* owner,
               const char* name, F& callable, N&... names) {
  if constexpr (needs_adapting<F, N...>()) {
    AdaptedOf<F, N...> adapted{std::move(callable)};
    return create_named(create, owner, name, adapted, names...);
  } else {
    return create_named(create, owner, name, callable, names...);
  }
}

}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_TYPED_H_
