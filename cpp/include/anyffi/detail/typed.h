/// \file
/// What is generated for each signature and callable: little, since a library may have a thousand of them.
#ifndef ANYFFI_DETAIL_TYPED_H_
#define ANYFFI_DETAIL_TYPED_H_

#include <anyffi/detail/converting.h>
#include <anyffi/detail/create.h>

namespace anyffi {
namespace detail ANYFFI_HIDDEN_ {

/// Converted numbers, which the compiler keeps in registers; all else is in the frame.
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

template <class R>
inline constexpr bool kIsRef = false;
template <class T>
inline constexpr bool kIsRef<Ref<T>> = true;

template <class A>
inline constexpr bool kIsVariable = std::is_lvalue_reference_v<A> && !std::is_const_v<std::remove_reference_t<A>>;
/// Parameters whose converted arguments run no code of others when they are destroyed.
template <class A, class T = ConvertedType<A>>
inline constexpr bool kIsQuietArg = kIsObjectArg<T> || (kSharesObject<T> && !kIsVariable<A>) ||
                                    std::is_trivially_destructible_v<typename Slot<T>::Kept>;

template <class F, class R, class... A>
struct ANYFFI_HIDDEN_ TypedCall {
  static constexpr int kSize = sizeof...(A);
  using Indices = std::index_sequence_for<A...>;
  using NumberPack = Numbers<Indices, A...>;
  using Result = Bare<R>;
  static constexpr bool kReturnsNumber = std::is_void_v<R> || kIsNumber<Result>;
  static constexpr bool kReturnsObject = !kReturnsNumber && !std::is_reference_v<R> && !kIsRef<Result>;
  /// Whether a borrowed result is still alive when the converted arguments have been destroyed.
  static constexpr bool kIsQuiet = (kIsQuietArg<A> && ...);
  /// Needs no frame, which saves a third of the call of a short function.
  static constexpr bool kIsPlain = (kIsNumber<Bare<A>> && ...) && kReturnsNumber;
  using Memory = Slots<std::conditional_t<kReturnsObject, Result, char>, ConvertedType<A>...>;

  /// `AnyffiFunction.call`.
  static int call(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
    auto& native = *static_cast<NativeFunction*>(self);
    if (__builtin_expect(num_args == native.plain_size, 1)) {
      if constexpr (kIsPlain) {
        return call_plain(native, args, result, Indices());
      } else {
        return call_in_frame(native, args, result, Indices());
      }
    }
    return fill_and_call(native, args, num_args, result);
  }

 private:
  template <size_t... I>
  static int call_plain(NativeFunction& native, [[maybe_unused]] AnyffiValue* args, AnyffiValue* result,
                        std::index_sequence<I...>) {
    NumberPack numbers;
    bool are_plain = (Traits<Bare<A>>::load_plain(args[I], numbers.template leaf<I, Bare<A>>().number) && ...);
    if (__builtin_expect(!are_plain, 0)) return fill_and_call(native, args, kSize, result);
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

  template <size_t... I>
  static int call_in_frame(NativeFunction& native, [[maybe_unused]] AnyffiValue* args, AnyffiValue* result,
                           std::index_sequence<I...>) {
    Memory memory;
    CallFrame frame;
    // Without destructors, which would be inlined twice: the shared functions destroy what an error leaves.
    try {
      NumberPack numbers;
      if constexpr ((kTakesObject<Bare<A>> || ...)) check_distinct(args, kSize);
      if (!(load<I, A>(args[I], frame, memory, numbers) && ...)) {
        return refuse_call(native, frame, memory.bytes, args, result);
      }
      frame.num_loaded = kSize;
      if (__builtin_expect(native.unlocks(), 0)) release_lock(frame, args, kSize);
      auto& function = callable_of<F>(&native);
      if constexpr (std::is_void_v<R>) {
        function(pass<I, A>(memory, numbers)...);
        acquire_lock(frame);
      } else if constexpr (kReturnsNumber) {
        assign(*result, Traits<Result>::store(function(pass<I, A>(memory, numbers)...)));
        acquire_lock(frame);
      } else if constexpr (std::is_reference_v<R>) {
        const Result& object = function(pass<I, A>(memory, numbers)...);
        if constexpr (kIsObjectClass<Result>) {
          if constexpr (!kIsQuiet) result->aux = 0;
          if (__builtin_expect(!store_argument<Result>(frame, object, args, kSize, result), 0)) {
            store_other_reference<Result>(native.returns, object, args, kSize, result);
          }
        } else {
          store_reference<Result>(frame, object, result);
        }
      } else if constexpr (kIsRef<Result>) {
        AnyffiValue stored = Traits<Result>::store(function(pass<I, A>(memory, numbers)...));
        acquire_lock(frame);
        assign(*result, stored);
      } else {
        auto* kept = new (slot<kSize>(memory)) Result(function(pass<I, A>(memory, numbers)...));
        if constexpr (!kIsQuiet && (kIsObjectPointer<Result> || kMayBorrow<Result>)) result->aux = 0;
        if constexpr (kHoldsPointer<Result>) {
          store_pointing(frame, native.returns, kept, args, kSize, result);
        } else {
          store_result(frame, kept, result);
        }
      }
    } catch (const ThrowWatch&) {
      __builtin_unreachable();
    } catch (const std::exception& exception) {
      return fail_call(native, frame, memory.bytes, args, exception);
    } catch (...) {
      return fail_call(native, frame, memory.bytes, args);
    }
    (destroy<I, A>(memory), ...);
    return 0;
  }

  /// Numbers whose conversion is short. That of a float is not.
  template <class T>
  static constexpr bool kIsInlined = kIsNumber<T> && !(std::is_floating_point_v<T> && sizeof(T) < 8);

  template <size_t I>
  static void* slot(Memory& memory) {
    return memory.bytes + Memory::kOffsets.at[I];
  }
  template <size_t I, class P>
  static bool load(AnyffiValue& value, CallFrame& frame, Memory& memory, [[maybe_unused]] NumberPack& numbers) {
    using T = ConvertedType<P>;
    if constexpr (kIsInlined<T>) {
      auto& number = numbers.template leaf<I, T>().number;
      if (__builtin_expect(Traits<T>::load_plain(value, number), 1)) return true;
    }
    if constexpr (kIsObjectArg<T>) {
      if (__builtin_expect(load_same_class(value, static_cast<T*>(nullptr), slot<I>(memory)), 1)) return true;
    }
    frame.num_loaded = static_cast<int32_t>(I);
    if (__builtin_expect(!load_slot<T>(value, frame.why, slot<I>(memory)), 0)) return false;
    if constexpr (kIsInlined<T>) {
      numbers.template leaf<I, T>().number = *static_cast<typename Traits<T>::Holder*>(slot<I>(memory));
    }
    return true;
  }
  template <size_t I, class P>
  static decltype(auto) pass(Memory& memory, [[maybe_unused]] NumberPack& numbers) {
    using T = ConvertedType<P>;
    if constexpr (kIsInlined<T>) {
      return Traits<T>::take(numbers.template leaf<I, T>().number);
    } else {
      return pass_slot<P, T>(*static_cast<typename Slot<T>::Kept*>(slot<I>(memory)));
    }
  }
  template <size_t I, class P>
  static void destroy(Memory& memory) {
    using T = ConvertedType<P>;
    using Kept = typename Slot<T>::Kept;
    if constexpr (kIsObjectArg<T>) {
      static_cast<Kept*>(slot<I>(memory))->~Kept();  // inlined
    } else if constexpr (!std::is_trivially_destructible_v<Kept>) {
      destroy_slot<T>(slot<I>(memory));
    }
  }
};

template <class F>
__attribute__((cold, noinline)) void call_unlocked(void* self, AnyffiValue* args, int32_t num_args, AnyValue* value) {
  Unlocked unlocked(args, num_args);
  callable_of<F>(self)(Args(args, num_args), value);
}

/// Calls a `void(Args args, AnyValue* result)`.
template <class F>
int call_packed(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  return catch_all([&] {
    AnyValue value;
    if (__builtin_expect(static_cast<NativeFunction*>(self)->unlocks(), 0)) {
      call_unlocked<F>(self, args, num_args, &value);
    } else {
      callable_of<F>(self)(Args(args, num_args), &value);
    }
    *result = value.release();
    return 0;
  });
}

template <class F>
ANYFFI_HIDDEN_ inline constexpr CallableType kCallableType{
    [](void* to, void* from) { new (to) F(std::move(*static_cast<F*>(from))); },
    [](void* callable) { static_cast<F*>(callable)->~F(); },
};

/// Callables that `create_native` gets by value, as pointers to functions; others by address.
template <class F>
inline constexpr bool kIsWord = sizeof(F) <= sizeof(void*) && std::is_trivially_copyable_v<F>;

template <class F>
void* pass_callable(F& callable) {
  if constexpr (!kIsWord<F>) return &callable;
  void* word = nullptr;
  __builtin_memcpy(&word, &callable, std::is_empty_v<F> ? 0 : sizeof(F));
  return word;
}

template <class F>
constexpr CallSpec spec_of_callable() {
  CallSpec spec{};
  spec.callable_type = kIsWord<F> ? nullptr : &kCallableType<F>;
  spec.callable_size = sizeof(F);
  return spec;
}

template <class F>
constexpr CallSpec packed_spec() {
  CallSpec spec = spec_of_callable<F>();
  spec.call = &call_packed<F>;
  spec.flags = ANYFFI_VARIADIC;
  return spec;
}
template <class F>
ANYFFI_HIDDEN_ inline constexpr CallSpec kPackedSpec = packed_spec<F>();

/// A CallSpec, followed by the types of the parameters.
template <int kSize>
struct TypedSpec {
  CallSpec spec;
  const ParamType* types[kSize > 0 ? kSize : 1];
};

template <bool kHasNames, bool kHasDefaults, class F, class R, class... A>
constexpr TypedSpec<sizeof...(A)> typed_spec(TypedCall<F, R, A...>*) {
  using Typed = TypedCall<F, R, A...>;
  TypedSpec<sizeof...(A)> typed{spec_of_callable<F>(), {&kParamType<ConvertedType<A>>...}};
  CallSpec& spec = typed.spec;
  spec.call = &Typed::call;
  spec.is_plain = Typed::kIsPlain;
  spec.needs_returns = kNeedsReturns<R>;
  if constexpr (std::is_void_v<R>) {
    spec.result_type = "None";
  } else if constexpr (std::is_reference_v<R> && kIsObjectClass<Bare<R>>) {
    spec.result_type = kTypeKeyOf<Bare<R>>;
    spec.enroll = &enroll_instances<Bare<R>>;
  } else {
    spec.result_type = kResultName<Bare<R>>;
  }
  if constexpr (kIsWritten<Bare<R>>) spec.flags |= ANYFFI_RETURNS_ITEMS;
  spec.num_params = Typed::kSize;
  spec.has_names = kHasNames;
  spec.has_defaults = kHasDefaults;
  return typed;
}
template <class F, bool kHasNames, bool kHasDefaults>
ANYFFI_HIDDEN_ inline constexpr auto kTypedSpec =
    typed_spec<kHasNames, kHasDefaults>(static_cast<typename SignatureOf<F>::template Typed<F>*>(nullptr));

template <class N>
DefaultArg* default_of(N& arg) {
  if constexpr (kHasDefault<N>) return &arg;
  return nullptr;
}

/// Calls `create`, which ends in `create_native`, for a typed callable and its `arg(...)`.
template <class R, class Owner, class F, class... N>
R create_named(R (*create)(Owner*, const char*, const CallSpec*, void*, ...), Owner* owner, const char* name,
               F& callable, N&... names) {
  constexpr bool has_defaults = (kHasDefault<N> || ...);
  const CallSpec* spec = &kTypedSpec<F, (sizeof...(N) > 0), has_defaults>.spec;
  if constexpr (has_defaults) {
    return create(owner, name, spec, pass_callable(callable), names.name..., default_of(names)...);
  } else {
    return create(owner, name, spec, pass_callable(callable), names.name...);
  }
}
/// The same, where some may have `.convert()`.
template <class R, class Owner, class F, class... N>
R create_typed(R (*create)(Owner*, const char*, const CallSpec*, void*, ...), Owner* owner, const char* name,
               F& callable, N&... names) {
  if constexpr ((kConverts<N> || ...)) {
    ConvertingOf<F, N...> converting{std::move(callable)};
    return create_named(create, owner, name, converting, names...);
  } else {
    return create_named(create, owner, name, callable, names...);
  }
}

}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_TYPED_H_
