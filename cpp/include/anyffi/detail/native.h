/// \file
/// The C++ side of a call: function objects around callables of C++.
#ifndef ANYFFI_DETAIL_NATIVE_H_
#define ANYFFI_DETAIL_NATIVE_H_

#include <anyffi/args.h>
#include <anyffi/detail/signature.h>

namespace anyffi {
namespace detail {

template <size_t I, class H>
struct HolderLeaf {
  H holder{};
};
template <class Indices, class... A>
struct HolderPack;
template <size_t... I, class... A>
struct HolderPack<std::index_sequence<I...>, A...> : HolderLeaf<I, typename Parameter<A>::Way::Holder>... {};

/// What every native function object begins with, whatever it calls.
struct NativeFunction {
  AnyffiFunction base;
  AnyffiFunctionInfo info;
  /// With how many arguments a call needs nothing but their conversion: there is no default, and the lock is kept. -1:
  /// with no number of them.
  int32_t plain_size = -1;

  void release_gil() {
    info.flags |= ANYFFI_RELEASE_GIL;
    plain_size = -1;
  }
};

/// Gives the host's lock back while a body runs that asked for it.
class Unlocked {
 public:
  explicit Unlocked(const AnyffiFunctionInfo& info) : released_((info.flags & ANYFFI_RELEASE_GIL) != 0) {
    if (__builtin_expect(released_, 0)) state_ = anyffi_host_suspend();
  }
  ~Unlocked() {
    if (__builtin_expect(released_, 0)) anyffi_host_resume(state_);
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  bool released_;
  void* state_ = nullptr;
};

/// Raises what was said against an argument, unless it is but an attempt.
__attribute__((noinline)) inline int refuse_argument(AnyffiMismatch& why, const AnyffiFunctionInfo& info, int32_t index,
                                                     const AnyffiValue& given, bool attempts) {
  if (attempts) return why.reason == ANYFFI_MISMATCH_RAISED ? ANYFFI_NO_MATCH_RAISED : ANYFFI_NO_MATCH;
  // Who made the argument for this call made what lies in it too.
  if (why.got.type_code > 0) why.got.aux = given.type_code > 0 ? given.aux & ANYFFI_MOVABLE : 0;
  return anyffi_mismatch_raise(&why, &info, index);
}

/// Copies the arguments to `filled` with defaults where they are left out. False if their number does not fit.
__attribute__((noinline)) inline bool fill_defaults(const AnyffiFunctionInfo& info, const AnyffiValue* args,
                                                    int32_t num_args, AnyffiValue* filled) {
  if (num_args > info.num_params) return false;
  for (int32_t i = 0; i < info.num_params; ++i) {
    bool given = i < num_args && args[i].type_code != ANYFFI_MISSING;
    if (!given && !info.params[i].default_value) return false;
    filled[i] = given ? args[i] : *info.params[i].default_value;
  }
  return true;
}

template <class F, class R, class... A>
struct TypedFunction : NativeFunction {
  static constexpr int kSize = sizeof...(A);
  static constexpr uint64_t kOwn[kSize > 0 ? kSize : 1] = {kExactTypes<Bare<A>>...};

  AnyffiParamInfo params[kSize > 0 ? kSize : 1];
  AnyValue defaults[kSize > 0 ? kSize : 1];
  F function;

  explicit TypedFunction(F&& f) : NativeFunction{}, params{}, function(std::move(f)) {
    int i = 0;
    ((params[i++].type_name = Parameter<A>::Way::name), ...);
    info.params = params;
    info.num_params = info.num_required = plain_size = kSize;
    info.exact_types = kOwn;
    info.try_call = &try_call;
    if constexpr (std::is_void_v<R>) {
      info.result_type = "None";
    } else {
      info.result_type = kResultName<Bare<R>>;
    }
    base.call = &call;
  }

  /// Throws what is wrong with the names, or with a default.
  template <size_t... I, class... N>
  void name_params(std::index_sequence<I...>, N&&... names) {
    (set_param<I>(std::forward<N>(names)), ...);
    check(anyffi_function_check_param_names(&info));
    (check_default<I, A, Bare<N>>(), ...);
  }
  template <size_t I>
  void set_param(Arg arg) {
    params[I].name = arg.name;
  }
  template <size_t I>
  void set_param(DefaultArg arg) {
    params[I].name = arg.name;
    defaults[I] = std::move(arg.value);
    params[I].default_value = &defaults[I].raw();
    if (static_cast<int32_t>(I) < info.num_required) info.num_required = I;
    plain_size = -1;
  }
  /// A default that the parameter would not take is refused when it is declared, not when it is first needed.
  template <size_t I, class P, class N>
  void check_default() {
    if constexpr (std::is_same_v<N, DefaultArg>) {
      typename Parameter<P>::Way::Holder holder{};
      AnyffiMismatch why;
      AnyffiValue given = defaults[I].raw();
      if (!Parameter<P>::Way::load(given, holder, why)) check(anyffi_mismatch_raise_default(&why, &info, I));
    }
  }

  static int call(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
    auto* typed = static_cast<TypedFunction*>(self);
    // Without a look at the rest, and without a frame where all parameters are numbers: that takes a third of the time
    // of a call of a short function.
    if (__builtin_expect(num_args != typed->plain_size, 0)) return typed->fill_and_run(args, num_args, result, false);
    std::index_sequence_for<A...> indices;
    if constexpr ((kIsNumber<Bare<A>> && ...)) {
      return typed->run_numbers(args, result, indices);
    } else {
      return typed->run(args, result, false, indices);
    }
  }
  static int try_call(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
    return static_cast<TypedFunction*>(self)->fill_and_run(args, num_args, result, true);
  }

  __attribute__((noinline)) int fill_and_run(AnyffiValue* args, int32_t num_args, AnyffiValue* result, bool attempts) {
    std::index_sequence_for<A...> indices;
    if (num_args == kSize && info.num_required == kSize) return run(args, result, attempts, indices);
    AnyffiValue filled[kSize > 0 ? kSize : 1];
    if (!fill_defaults(info, args, num_args, filled)) {
      return attempts ? ANYFFI_NO_MATCH : anyffi_error_raise_arg_count(&info, args, num_args);
    }
    int status = run(filled, result, attempts, indices);
    // What was taken from the copy is gone from the original too.
    for (int i = 0; i < num_args; ++i) {
      if (args[i].type_code > 0) args[i] = filled[i];
    }
    return status;
  }

  /// With as many arguments as parameters.
  template <size_t... I>
  __attribute__((noinline)) int run(AnyffiValue* args, AnyffiValue* result, [[maybe_unused]] bool attempts,
                                    std::index_sequence<I...> indices) {
    return catch_all([&] {
      HolderPack<decltype(indices), A...> holders;
      AnyffiMismatch why;
      int failed = 0;
      bool loaded = ((failed = I, Parameter<A>::Way::load(args[I], leaf<I, A>(holders).holder, why)) && ...);
      if (__builtin_expect(!loaded, 0)) return refuse_argument(why, info, failed, args[failed], attempts);
      (void)why, (void)failed, (void)args;
      return run_loaded<false>(result, indices, holders);
    });
  }
  template <size_t... I>
  int run_numbers([[maybe_unused]] AnyffiValue* args, AnyffiValue* result, std::index_sequence<I...> indices) {
    HolderPack<decltype(indices), A...> holders;
    bool are_plain = (Parameter<A>::Way::load_plain(args[I], leaf<I, A>(holders).holder) && ...);
    if (!are_plain) return run_uncommon_numbers(args, result);
    return catch_all([&] { return run_loaded<true>(result, indices, holders); });
  }

  __attribute__((cold, noinline)) int run_uncommon_numbers(AnyffiValue* args, AnyffiValue* result) {
    return fill_and_run(args, kSize, result, false);
  }

  template <bool kKeepsLock, class Indices, class Holders>
  int run_loaded([[maybe_unused]] AnyffiValue* result, Indices indices, Holders& holders) {
    if constexpr (std::is_void_v<R>) {
      run_body<kKeepsLock>(indices, holders);
    } else {
      assign(*result, Traits<Bare<R>>::store(run_body<kKeepsLock>(indices, holders)));
    }
    return 0;
  }

  /// The host's lock is held again when the result is stored.
  template <bool kKeepsLock, size_t... I, class Holders>
  R run_body(std::index_sequence<I...>, [[maybe_unused]] Holders& holders) {
    if constexpr (kKeepsLock) {
      return function(Parameter<A>::pass(leaf<I, A>(holders).holder)...);
    } else {
      Unlocked unlocked(info);
      return function(Parameter<A>::pass(leaf<I, A>(holders).holder)...);
    }
  }

  template <size_t I, class T>
  static HolderLeaf<I, typename Parameter<T>::Way::Holder>& leaf(
      HolderLeaf<I, typename Parameter<T>::Way::Holder>& holders) {
    return holders;
  }
};

template <class F>
struct PackedFunction : NativeFunction {
  F function;
  explicit PackedFunction(F&& f) : NativeFunction{}, function(std::move(f)) {
    info.flags = ANYFFI_VARIADIC;
    base.call = &call;
  }
  static int call(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
    return catch_all([&] {
      auto* native = static_cast<PackedFunction*>(self);
      AnyValue value;
      {
        Unlocked unlocked(native->info);
        native->function(Args(args, num_args), &value);
      }
      *result = value.release();
      return 0;
    });
  }
};

template <class T>
void delete_native(AnyffiObject* self, int32_t what) {
  auto* native = static_cast<T*>(reinterpret_cast<NativeFunction*>(self));
  if (what & ANYFFI_DELETE_CONTENTS) {
    // The header outlives the rest while weak references are left.
    AnyffiFunction base = native->base;
    native->~T();
    native->base = base;
  }
  if (what & ANYFFI_DELETE_MEMORY) anyffi_free(self);
}

/// Allocates a native function around a callable.
template <class T, class F>
T* make_native(F&& f) {
  void* memory = anyffi_alloc(sizeof(T));
  if (!memory) throw std::bad_alloc();
  T* native;
  try {
    native = new (memory) T(std::forward<F>(f));
  } catch (...) {
    anyffi_free(memory);
    throw;
  }
  native->base.header = AnyffiObject{ANYFFI_FUNCTION, 1, 1, &delete_native<T>, nullptr};
  native->base.self = native;
  native->base.info = &native->info;
  native->info.struct_size = sizeof(native->info);
  return native;
}

/// A reference to a function over `f`, under a name that may be NULL.
template <class F, class... N>
ObjectRef make_typed(const char* name, F f, N&&... names) {
  auto* typed = make_native<typename SignatureOf<F>::template Typed<F>>(std::move(f));
  ObjectRef function(Adopt{}, &typed->base.header);
  typed->info.name = name;
  if constexpr (sizeof...(N) > 0) typed->name_params(std::index_sequence_for<N...>(), std::forward<N>(names)...);
  return function;
}

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_NATIVE_H_
