/// \file
/// Function: a reference to a C++ or Python callable.
#ifndef ANYFFI_FUNCTION_H_
#define ANYFFI_FUNCTION_H_

#include <anyffi/args.h>
#include <anyffi/detail/check_callable.h>
#include <anyffi/detail/check_names.h>
#include <anyffi/detail/typed.h>

namespace anyffi {

namespace detail ANYFFI_HIDDEN_ {

/// Calls a function and returns an owned result; throws the raised error as Error. `flags`: for the None as which the
/// result enters; `slot`: that of a ResultRoom.
template <class... A>
AnyffiValue call_function(AnyffiObject* object, uint32_t flags, const AnyffiResultSlot* slot, A&&... args) {
  AnyffiValue values[sizeof...(A) + 1];
  using Pack = ArgPack<true, A...>;
  Pack pack(values);
  pack.fill(std::forward<A>(args)...);
  AnyffiValue result{};
  result.aux = flags;
  check(call_deferring<Pack>(reinterpret_cast<AnyffiFunction*>(object), values, pack.kSize, &result, slot));
  settle(result);
  return result;
}

/// Converts the result of a call that had the slot of this room; steals `result`. Errors name `function`.
template <class R>
R take_result(ResultRoom<R>& room, AnyffiValue result, const AnyffiObject* function) {
  if constexpr (kIsLoadedByHost<R>) {
    if (room.is_filled(result)) return room.take();
  }
  (void)room;
  settle(result);
  AnyValue owned(Adopt{}, result);
  return convert_result<R>(owned.raw(), function);
}

}  // namespace detail ANYFFI_HIDDEN_

/// A reference to a function, which is a C++ or a Python callable.
class Function : public ObjectRef {
 public:
  using ObjectRef::ObjectRef;

  /// Makes a function from a callable, whose parameter types define the conversions.
  template <class F, class... N>
  static Function from(F f, N&&... names) {
    using Callable = detail::CallableOf<F>;
    ANYFFI_ASSERT_CONVERTIBLE_(Callable);
    ANYFFI_ASSERT_NAMES_(detail::NamesOf<Callable, Bare<N>...>);
    decltype(auto) callable = detail::as_function(f);
    AnyValue created;
    detail::check(detail::create_typed(&anyffi_native_create, created.out(), nullptr, callable, names...));
    return Function(detail::Adopt{}, created.release().as_object);
  }
  /// Makes a function from a `void(Args args, AnyValue* result)`.
  template <class F>
  static Function from_packed(F f) {
    AnyValue created;
    detail::check(detail::create_packed(&anyffi_native_create, created.out(), f));
    return Function(detail::Adopt{}, created.release().as_object);
  }
  /// The global function with a name. AttributeError if there is none.
  static Function get_global(const char* name) {
    AnyValue key(name), found;
    detail::check(anyffi_registry_find(&key.raw(), found.out()));
    if (found.is_none()) throw Error("AttributeError", AnyValue(name));
    return Function(detail::Adopt{}, found.release().as_object);
  }

  /// Calls the function; throws the raised error as Error.
  template <class... A>
  AnyValue operator()(A&&... args) const {
    return AnyValue(detail::Adopt{}, detail::call_function(object_, 0, nullptr, std::forward<A>(args)...));
  }
  /// The same, and converts the result to R. Faster than `cast<R>()` of the result, since containers and text of the
  /// host are converted directly. TypeError for a result of another type.
  template <class R, class... A>
  R call(A&&... args) const {
    static_assert(!detail::kIsView<R>,
                  "anyffi: what a function returns is released before the view is used: return a std::string or "
                  "another owner");
    if constexpr (std::is_void_v<R>) {
      AnyffiValue result = detail::call_function(object_, ANYFFI_DISCARDED, nullptr, std::forward<A>(args)...);
      anyffi_value_drop(&result);
    } else {
      detail::ResultRoom<R> room;
      AnyffiValue result = detail::call_function(object_, 0, room.slot(), std::forward<A>(args)...);
      return detail::take_result<R>(room, result, object_);
    }
  }
  /// Calls the function with forwarded arguments.
  AnyValue call_packed(Args args) const;
};

template <>
struct Traits<Function> : detail::StaticRefTraits<Function, ANYFFI_FUNCTION> {
  static constexpr FixedText name{"Function"};
};

inline AnyValue AnyView::call_packed(Args args) const {
  // Copies without the movable flag: the original caller may still use the arguments.
  struct Copies {
    AnyffiValue on_stack[8];
    AnyffiValue* values = on_stack;
    explicit Copies(int32_t size) {
      if (size <= 8) return;
      values = static_cast<AnyffiValue*>(anyffi_alloc(sizeof(AnyffiValue) * static_cast<size_t>(size)));
      if (!values) detail::throw_no_memory();
    }
    ~Copies() {
      if (values != on_stack) anyffi_free(values);
    }
  } copies(args.size());
  for (int32_t i = 0; i < args.size(); ++i) copies.values[i] = args[i].raw();
  AnyffiValue result{};
  // Counts as a level of recursion, because a function that forwards its arguments may call itself.
  detail::check(anyffi_function_call(&raw_, copies.values, args.size(), &result));
  detail::settle(result);
  return AnyValue(detail::Adopt{}, result);
}

inline AnyValue Function::call_packed(Args args) const {
  return AnyView(detail::object_value(object_)).call_packed(args);
}

template <class... A>
AnyValue AnyView::operator()(A&&... args) const {
  return detail::call_value(raw_, std::forward<A>(args)...);
}

}  // namespace anyffi

#endif  // ANYFFI_FUNCTION_H_
