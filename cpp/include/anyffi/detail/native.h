/// \file
/// The C++ side of a call: runtime functions over C++ callables.
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
struct HolderPack<std::index_sequence<I...>, A...> : HolderLeaf<I, typename Parameter<A>::Conversion::Holder>... {};

/// The base of every runtime function over a C++ callable.
struct NativeFunction {
  AnyffiFunction base;
  AnyffiFunctionInfo info;
  /// The number of arguments of a call that takes the fast path: no defaults, the lock is kept. -1: no fast path.
  int32_t plain_size = -1;

  void release_gil() {
    info.flags |= ANYFFI_RELEASE_GIL;
    plain_size = -1;
  }
};

/// Releases the host's lock while a body with `release_gil()` runs.
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

/// Raises the error of an argument, or returns an AnyffiNoMatch in `try_call`.
__attribute__((noinline)) inline int refuse_argument(AnyffiMismatch& why, const AnyffiFunctionInfo& info, int32_t index,
                                                     const AnyffiValue& given, bool tries) {
  if (tries) return why.reason == ANYFFI_MISMATCH_RAISED ? ANYFFI_NO_MATCH_RAISED : ANYFFI_NO_MATCH;
  // The elements of a movable argument were created for this call too.
  if (why.got.type_code > 0) why.got.aux = given.type_code > 0 ? given.aux & ANYFFI_MOVABLE : 0;
  return anyffi_mismatch_raise(&why, &info, index);
}

/// Copies the arguments to `filled`, with defaults for omitted ones. False if there are too many or too few.
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
  static constexpr uint64_t kExact[kSize > 0 ? kSize : 1] = {kExactTypes<Bare<A>>...};

  AnyffiParamInfo params[kSize > 0 ? kSize : 1];
  AnyValue defaults[kSize > 0 ? kSize : 1];
  F function;

  explicit TypedFunction(F&& f) : NativeFunction{}, params{}, function(std::move(f)) {
    int i = 0;
    ((params[i++].type_name = Parameter<A>::Conversion::name), ...);
    info.params = params;
    info.num_params = info.num_required = plain_size = kSize;
    info.exact_types = kExact;
    info.try_call = &try_call;
    if constexpr (std::is_void_v<R>) {
      info.result_type = "None";
    } else {
      info.result_type = kResultName<Bare<R>>;
    }
    base.call = &call;
  }

  /// Throws if a name or a default is invalid.
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
  /// Checks a default when it is declared, not when it is first used.
  template <size_t I, class P, class N>
  void check_default() {
    if constexpr (std::is_same_v<N, DefaultArg>) {
      typename Parameter<P>::Conversion::Holder holder{};
      AnyffiMismatch why;
      AnyffiValue given = defaults[I].raw();
      if (!Parameter<P>::Conversion::load(given, holder, why)) check(anyffi_mismatch_raise_default(&why, &info, I));
    }
  }

  static int call(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
    auto* typed = static_cast<TypedFunction*>(self);
    // The fast path needs no frame if all parameters are numbers, which saves a third of the call of a short function.
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

  __attribute__((noinline)) int fill_and_run(AnyffiValue* args, int32_t num_args, AnyffiValue* result, bool tries) {
    std::index_sequence_for<A...> indices;
    if (num_args == kSize && info.num_required == kSize) return run(args, result, tries, indices);
    AnyffiValue filled[kSize > 0 ? kSize : 1];
    if (!fill_defaults(info, args, num_args, filled)) {
      return tries ? ANYFFI_NO_MATCH : anyffi_error_raise_arg_count(&info, args, num_args);
    }
    int status = run(filled, result, tries, indices);
    // An argument stolen from the copy must be None in the original, too.
    for (int i = 0; i < num_args; ++i) {
      if (args[i].type_code > 0) args[i] = filled[i];
    }
    return status;
  }

  /// Calls with exactly as many arguments as parameters.
  template <size_t... I>
  __attribute__((noinline)) int run(AnyffiValue* args, AnyffiValue* result, [[maybe_unused]] bool tries,
                                    std::index_sequence<I...> indices) {
    return catch_all([&] {
      HolderPack<decltype(indices), A...> holders;
      AnyffiMismatch why;
      int failed = 0;
      bool loaded = ((failed = I, Parameter<A>::Conversion::load(args[I], leaf<I, A>(holders).holder, why)) && ...);
      if (__builtin_expect(!loaded, 0)) return refuse_argument(why, info, failed, args[failed], tries);
      (void)why, (void)failed, (void)args;
      return run_loaded<false>(result, indices, holders);
    });
  }
  template <size_t... I>
  int run_numbers([[maybe_unused]] AnyffiValue* args, AnyffiValue* result, std::index_sequence<I...> indices) {
    HolderPack<decltype(indices), A...> holders;
    bool are_plain = (Parameter<A>::Conversion::load_plain(args[I], leaf<I, A>(holders).holder) && ...);
    if (!are_plain) return run_numbers_slow(args, result);
    return catch_all([&] { return run_loaded<true>(result, indices, holders); });
  }

  __attribute__((cold, noinline)) int run_numbers_slow(AnyffiValue* args, AnyffiValue* result) {
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

  /// The host's lock is acquired again before the result is converted.
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
  static HolderLeaf<I, typename Parameter<T>::Conversion::Holder>& leaf(
      HolderLeaf<I, typename Parameter<T>::Conversion::Holder>& holders) {
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
    // The header outlives the contents while there are weak references.
    AnyffiFunction base = native->base;
    native->~T();
    native->base = base;
  }
  if (what & ANYFFI_DELETE_MEMORY) anyffi_free(self);
}

/// Allocates a runtime function over a callable.
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
