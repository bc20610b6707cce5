/// \file
/// Function: anything callable, from either side; Args: what a packed function gets.
#ifndef ANYFFI_FUNCTION_H_
#define ANYFFI_FUNCTION_H_

#include <anyffi/string.h>

namespace anyffi {

/// Name, and perhaps default, of a parameter: `arg("by") = 2.0`.
struct Arg {
  const char* name;
  AnyValue default_value;
  bool has_default = false;

  template <class T>
  Arg operator=(T&& value) && {  // NOLINT: reads as the declaration of a default does
    return Arg{name, AnyValue(std::forward<T>(value)), true};
  }
};

/// Names a parameter; `name` must live for ever, as a literal does.
inline Arg arg(const char* name) { return Arg{name, AnyValue(), false}; }

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

/// Arguments on their way into a call: borrowed where the caller keeps them, owned where they were made for it.
template <int N>
class ArgPack {
 public:
  template <class... A>
  explicit ArgPack(A&&... args) {
    (add(std::forward<A>(args)), ...);
  }
  ArgPack(const ArgPack&) = delete;
  ArgPack& operator=(const ArgPack&) = delete;
  ~ArgPack() {
    for (int i = 0; i < size_; ++i) {
      if (owned_[i]) anyffi_value_release(&values_[i]);
    }
  }
  AnyffiValue* values() { return values_; }

 private:
  template <class A>
  void add(A&& value) {
    using Way = Traits<Bare<A>>;
    bool borrows = false;
    if constexpr (Way::kBorrows && std::is_lvalue_reference_v<A>) {
      values_[size_] = Way::borrow(value);
      borrows = true;
    } else {
      values_[size_] = Way::store(std::forward<A>(value));
      // Nobody else holds what was made here, so the callee may have it.
      if (values_[size_].type_code > 0) values_[size_].aux = ANYFFI_MOVABLE;
    }
    owned_[size_++] = !borrows;
  }
  AnyffiValue values_[N > 0 ? N : 1];
  bool owned_[N > 0 ? N : 1];
  int size_ = 0;
};

template <class... A>
AnyValue call_value(const AnyffiValue& function, A&&... args) {
  ArgPack<sizeof...(A)> pack(std::forward<A>(args)...);
  AnyValue result;
  check(anyffi_function_call(&function, pack.values(), sizeof...(A), result.out()));
  return result;
}

// ---- the C++ side of a call ----

template <size_t I, class H>
struct HolderLeaf {
  H holder{};
};
template <class Indices, class... A>
struct HolderPack;
template <size_t... I, class... A>
struct HolderPack<std::index_sequence<I...>, A...> : HolderLeaf<I, typename Traits<Bare<A>>::Holder>... {};

/// What every native function object begins with, whatever it calls.
struct NativeFunction {
  AnyffiFunction base;
  AnyffiFunctionInfo info;
  AnyffiCall body; /* what `base.call` calls once the host's lock is released */
};

inline int call_released(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  void* state = anyffi_host_suspend();
  int status = static_cast<NativeFunction*>(self)->body(self, args, num_args, result);
  anyffi_host_resume(state);
  return status;
}

/// Copies the arguments to `filled` with defaults where they are left out. Returns nonzero, with the error
/// set, if their number does not fit.
__attribute__((noinline)) inline int fill_defaults(const AnyffiFunctionInfo& info, const AnyffiValue* args,
                                                   int32_t num_args, AnyffiValue* filled) {
  if (num_args > info.num_params) return anyffi_error_raise_count(&info, args, num_args);
  for (int32_t i = 0; i < info.num_params; ++i) {
    bool given = i < num_args && args[i].type_code != ANYFFI_MISSING;
    if (!given && !info.params[i].default_value) return anyffi_error_raise_count(&info, args, num_args);
    filled[i] = given ? args[i] : *info.params[i].default_value;
  }
  return 0;
}

/// Raises what was said against an argument.
__attribute__((noinline)) inline int raise_refused(AnyffiMismatch& why, const AnyffiFunctionInfo& info, int32_t index,
                                                   const AnyffiValue& given) {
  // Who made the argument for this call made what lies in it too.
  if (why.got.type_code > 0) why.got.aux = given.type_code > 0 ? given.aux & ANYFFI_MOVABLE : 0;
  return anyffi_mismatch_raise(&why, &info, index);
}

template <class F, class R, class... A>
struct TypedFunction : NativeFunction {
  static constexpr int kSize = sizeof...(A);
  static_assert((HasTraits<Bare<A>>::value && ...),
                "anyffi: a parameter of this function has a type that cannot cross the border. Include the header "
                "anyffi/stl/... for a standard container, or specialise anyffi::Traits for the type.");
  static_assert(std::is_void_v<R> || HasTraits<Bare<R>>::value,
                "anyffi: the result of this function has a type that cannot cross the border. Include the header "
                "anyffi/stl/... for a standard container, or specialise anyffi::Traits for the type.");
  static_assert(((!std::is_lvalue_reference_v<A> || std::is_const_v<std::remove_reference_t<A>>) && ...),
                "anyffi: a parameter is a non-const reference; take it by value, by const reference or by &&.");

  AnyffiParamInfo params[kSize > 0 ? kSize : 1];
  AnyValue defaults[kSize > 0 ? kSize : 1];
  F function;

  explicit TypedFunction(F&& f) : NativeFunction{}, params{}, function(std::move(f)) {
    int i = 0;
    ((params[i++].type_name = Traits<Bare<A>>::name), ...);
    info.params = params;
    info.num_params = info.num_required = kSize;
    if constexpr (std::is_void_v<R>) {
      info.result_type = "None";
    } else {
      info.result_type = Traits<Bare<R>>::name;
    }
    body = &call;
  }

  void name_params(Arg* args, int count) {
    for (int i = 0; i < count; ++i) {
      params[i].name = args[i].name;
      if (args[i].has_default) {
        defaults[i] = std::move(args[i].default_value);
        params[i].default_value = &defaults[i].raw();
        if (i < info.num_required) info.num_required = i;
      }
    }
  }

  static int call(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
    return static_cast<TypedFunction*>(self)->run(args, num_args, result, std::index_sequence_for<A...>());
  }

  template <size_t... I>
  int run(AnyffiValue* args, [[maybe_unused]] int32_t num_args, AnyffiValue* result,
          std::index_sequence<I...> indices) {
    try {
      HolderPack<decltype(indices), A...> holders;
      AnyffiMismatch why;
      int failed = 0;
      AnyffiValue* given = args;
      [[maybe_unused]] AnyffiValue filled[kSize > 0 ? kSize : 1];
      bool complete = num_args == kSize && info.num_required == kSize;
      if (__builtin_expect(!complete, 0)) {
        if (fill_defaults(info, args, num_args, filled) != 0) return -1;
        given = filled;
      }
      bool loaded = ((failed = I, Traits<Bare<A>>::load(given[I], leaf<I, A>(holders).holder, why)) && ...);
      if (__builtin_expect(!complete, 0)) {
        // What was taken from the copy is gone from the original too.
        for (int i = 0; i < num_args; ++i) {
          if (args[i].type_code > 0) args[i] = filled[i];
        }
      }
      if (__builtin_expect(!loaded, 0)) return raise_refused(why, info, failed, given[failed]);
      if constexpr (std::is_void_v<R>) {
        function(Traits<Bare<A>>::take(leaf<I, A>(holders).holder)...);
      } else {
        *result = Traits<Bare<R>>::store(function(Traits<Bare<A>>::take(leaf<I, A>(holders).holder)...));
      }
      (void)holders, (void)why, (void)failed, (void)given, (void)result;
      return 0;
    } catch (...) {
      return fail();
    }
  }

  template <size_t I, class T>
  static HolderLeaf<I, typename Traits<Bare<T>>::Holder>& leaf(
      HolderLeaf<I, typename Traits<Bare<T>>::Holder>& holders) {
    return holders;
  }
};

template <class F>
struct PackedFunction : NativeFunction {
  F function;
  explicit PackedFunction(F&& f) : NativeFunction{}, function(std::move(f)) {
    info.flags = ANYFFI_VARIADIC;
    body = &call;
  }
  static int call(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
    try {
      AnyValue value;
      static_cast<PackedFunction*>(self)->function(Args(args, num_args), &value);
      *result = value.release();
      return 0;
    } catch (...) {
      return fail();
    }
  }
};

/// Result and parameters of a callable.
template <class F>
struct SignatureOf : SignatureOf<decltype(&F::operator())> {};
template <class R, class... A>
struct SignatureOf<R(A...)> {
  template <class F>
  using Typed = TypedFunction<F, R, A...>;
  static constexpr int kSize = sizeof...(A);
};
template <class R, class... A>
struct SignatureOf<R (*)(A...)> : SignatureOf<R(A...)> {};
template <class R, class... A>
struct SignatureOf<R (*)(A...) noexcept> : SignatureOf<R(A...)> {};
template <class C, class R, class... A>
struct SignatureOf<R (C::*)(A...)> : SignatureOf<R(A...)> {};
template <class C, class R, class... A>
struct SignatureOf<R (C::*)(A...) const> : SignatureOf<R(A...)> {};
template <class C, class R, class... A>
struct SignatureOf<R (C::*)(A...) noexcept> : SignatureOf<R(A...)> {};
template <class C, class R, class... A>
struct SignatureOf<R (C::*)(A...) const noexcept> : SignatureOf<R(A...)> {};

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
  native->base.call = native->body;
  native->base.self = native;
  native->base.info = &native->info;
  native->info.struct_size = sizeof(native->info);
  return native;
}

template <class F, class... N>
NativeFunction* make_typed(F f, N&&... names) {
  using Signature = SignatureOf<F>;
  using Typed = typename Signature::template Typed<F>;
  static_assert(sizeof...(N) <= Signature::kSize, "anyffi: more arg(...) than the function has parameters");
  Typed* typed = make_native<Typed>(std::move(f));
  Arg args[sizeof...(N) + 1] = {std::forward<N>(names)..., Arg{nullptr, AnyValue(), false}};
  typed->name_params(args, sizeof...(N));
  return typed;
}

}  // namespace detail

/// A reference to a function: native, or a Python callable.
class Function : public ObjectRef {
 public:
  using ObjectRef::ObjectRef;

  /// Wraps a callable whose parameters say what it takes.
  template <class F, class... N>
  static Function from(F f, N&&... names) {
    return Function(detail::Adopt{}, &detail::make_typed(std::move(f), std::forward<N>(names)...)->base.header);
  }
  /// Wraps `void(Args args, AnyValue* result)`.
  template <class F>
  static Function from_packed(F f) {
    return Function(detail::Adopt{}, &detail::make_native<detail::PackedFunction<F>>(std::move(f))->base.header);
  }
  /// The global function of a name. AttributeError if there is none.
  static Function get_global(const char* name) {
    AnyValue key(name), found;
    detail::check(anyffi_registry_find(&key.raw(), found.out()));
    if (found.is_none()) throw Error("AttributeError", AnyValue(name));
    return Function(detail::Adopt{}, found.release().as_object);
  }

  /// Calls it; what it raises is thrown as Error.
  template <class... A>
  AnyValue operator()(A&&... args) const {
    detail::ArgPack<sizeof...(A)> pack(std::forward<A>(args)...);
    auto* function = reinterpret_cast<AnyffiFunction*>(object_);
    AnyValue result;
    detail::check(function->call(function->self, pack.values(), sizeof...(A), result.out()));
    return result;
  }
  /// Calls it with arguments passed on from elsewhere.
  AnyValue call_packed(Args args) const;
};

template <>
struct Traits<Function> : detail::StaticRefTraits<Function, ANYFFI_FUNCTION> {
  static constexpr FixedText name{"Function"};
};

inline AnyValue Function::call_packed(Args args) const {
  AnyffiValue value = detail::object_value(object_);
  // Copies, so that the callee cannot take what its caller's caller still holds.
  struct Copies {
    AnyffiValue in_place[8];
    AnyffiValue* values = in_place;
    explicit Copies(int32_t size) {
      if (size <= 8) return;
      values = static_cast<AnyffiValue*>(anyffi_alloc(sizeof(AnyffiValue) * static_cast<size_t>(size)));
      if (!values) throw std::bad_alloc();
    }
    ~Copies() {
      if (values != in_place) anyffi_free(values);
    }
  } copies(args.size());
  for (int32_t i = 0; i < args.size(); ++i) copies.values[i] = args[i].raw();
  AnyValue result;
  // Counted as a level of recursion: what passes its arguments on may be given itself to call.
  detail::check(anyffi_function_call(&value, copies.values, args.size(), result.out()));
  return result;
}

template <class... A>
AnyValue AnyView::operator()(A&&... args) const {
  return detail::call_value(raw_, std::forward<A>(args)...);
}

}  // namespace anyffi

#endif  // ANYFFI_FUNCTION_H_
