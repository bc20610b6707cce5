/// \file
/// The members of classes: constructors, methods, data members, slices and arrays.
#ifndef ANYFFI_DETAIL_CLASS_MEMBERS_H_
#define ANYFFI_DETAIL_CLASS_MEMBERS_H_

#include <anyffi/native.h>
#include <anyffi/not_null.h>
#include <anyffi/overridable.h>
#include <anyffi/slice.h>

namespace anyffi {
namespace detail ANYFFI_HIDDEN_ {

/// The part of a type key after its last dot: the class name in Python.
constexpr const char* last_name(const char* type_key) {
  const char* name = type_key;
  for (; *type_key != 0; ++type_key) {
    if (*type_key == '.') name = type_key + 1;
  }
  return name;
}

/* ---- constructors ---- */

template <class T, class Enable, class... A>
inline constexpr bool kIsBraced = false;
template <class T, class... A>
inline constexpr bool kIsBraced<T, std::void_t<decltype(T{std::declval<A>()...})>, A...> = true;
template <class T, class... A>
inline constexpr bool kIsCreatedOf = std::is_constructible_v<T, A&&...> || kIsBraced<T, void, A...>;

template <class T, class... A>
struct Construct {
  Ref<T> operator()(A... args) const { return make_inlined<T>(std::forward<A>(args)...); }
};

template <class T, class Alias, class... A>
struct ConstructAlias {
  Ref<T> operator()(A... args) const { return make_overridable<T, Alias>(std::forward<A>(args)...); }
};

/// Whether a function returns a new object of class T; behind a pointer, it may be an Alias.
template <class T, class Alias>
struct ReturnsObject {
  template <class R, class... A>
  struct Check {
    using P = typename Nullable<R>::Type;
    static constexpr bool kValue = std::is_same_v<Bare<P>, Ref<T>> || std::is_same_v<P, T> || std::is_same_v<P, T*> ||
                                   std::is_same_v<P, Alias*> || kIsOwner<T, typename OwnerAs<T, Alias, P>::Type>;
  };
};
template <class T, class Alias, class F>
inline constexpr bool kReturns =
    SignatureOf<CallableOf<F>>::template Apply<ReturnsObject<T, Alias>::template Check>::kValue;

/// Whether a macro argument's text is a whole type name, not a part split off at a comma.
constexpr bool is_whole(const char* name) {
  int depth = 0;
  for (; *name != 0; ++name) depth += (*name == '<') - (*name == '>');
  return depth == 0;
}

/// The object that a factory returned.
template <class T, class Alias>
Ref<T> made_of(Ref<T> made) {
  return made;
}
template <class T, class Alias, class P>
Ref<T> made_of(P pointer) {
  AnyffiValue made;
  if constexpr (std::is_pointer_v<P>) {
    made = pointer ? refer_to_owned<T>(pointer) : AnyffiValue{};
  } else {
    made = Traits<typename OwnerAs<T, Alias, P>::Type>::store(std::move(pointer));
  }
  if (made.type_code <= 0) throw Error("ValueError", "a constructor returned a null pointer");
  return Ref<T>(Adopt{}, made.as_object);
}
template <class T, class Alias, class P>
Ref<T> made_of(NotNull<P> pointer) {
  return made_of<T, Alias>(std::move(pointer).get());
}

/// A constructor that refuses an object that the host already knows, because a new wrapper must represent it.
template <class T, class Alias, class F>
struct NewOnly {
  template <class R, class... A>
  struct Of {
    F factory;
    Ref<T> operator()(A... args) {
      Ref<T> made = made_of<T, Alias>(factory(std::forward<A>(args)...));
      if (made.get() && made.get()->wrapper) {
        throw Error("TypeError", "a constructor returned an object that is not new");
      }
      return made;
    }
  };
  template <class R, class... A>
  struct IsNeeded {
    static constexpr bool kValue = !std::is_same_v<R, T>;
  };
};

/// A constructor whose factory returns a T, from which it makes an Alias, whose functions Python may override.
template <class T, class Alias, class F>
struct OverridableOnly {
  template <class R, class... A>
  struct Of {
    F factory;
    Ref<T> operator()(A... args) { return make_overridable<T, Alias>(factory(std::forward<A>(args)...)); }
  };
  template <class R, class... A>
  struct IsNeeded {
    static constexpr bool kValue =
        !std::is_same_v<T, Alias> && std::is_same_v<R, T> && std::is_constructible_v<Alias, T&&>;
  };
};

/// The function of a constructor for a factory.
template <class T, class Alias, class F>
decltype(auto) as_constructor(F& f) {
  using Signature = SignatureOf<F>;
  using Overriding = OverridableOnly<T, Alias, F>;
  using New = NewOnly<T, Alias, F>;
  if constexpr (Signature::template Apply<New::template IsNeeded>::kValue) {
    return typename Signature::template Apply<New::template Of>{f};
  } else if constexpr (Signature::template Apply<Overriding::template IsNeeded>::kValue) {
    return typename Signature::template Apply<Overriding::template Of>{f};
  } else {
    return (f);
  }
}

/// Whether P is a pointer to an object of class T or of a base: a raw pointer, or one that shares the object.
template <class T, class P>
constexpr bool points_to() {
  if constexpr (kMayBeNull<P> && !kTakesObject<P>) return kIsBaseOf<typename Traits<P>::T, T>;
  return false;
}

/// Whether the first parameter of a function is an object of class T.
template <class T>
struct TakesObject {
  template <class R, class... A>
  struct Check {
    static constexpr bool kValue = false;
    static constexpr bool kIsPointer = false;
  };
  template <class R, class First, class... A>
  struct Check<R, First, A...> {
    using P = typename Nullable<Bare<First>>::Type;
    static constexpr bool kValue =
        kIsBaseOf<Bare<First>, T> || std::is_same_v<Bare<First>, Ref<T>> || points_to<T, P>();
    /// A pointer whose annotation would include None.
    static constexpr bool kIsPointer = points_to<T, Bare<First>>() && !kLosesWrites<First>;
  };
};
template <class T, class F>
inline constexpr bool kTakes = SignatureOf<F>::template Apply<TakesObject<T>::template Check>::kValue;

/// For a method whose first parameter points to the object: refuses None for it.
template <class T, class F>
struct ByPointer {
  template <class R, class... A>
  struct Of;
  template <class R, class First, class... A>
  struct Of<R, First, A...> {
    static constexpr bool kIsPlain = std::is_pointer_v<Bare<First>>;
    F function;
    R operator()(std::conditional_t<kIsPlain, T&, PassedLike<First, NotNull<Bare<First>>>> self, A... args) {
      if constexpr (kIsPlain) return function(__builtin_addressof(self), std::forward<A>(args)...);
      if constexpr (!kIsPlain) return function(pass_nullable<First>(self), std::forward<A>(args)...);
    }
  };
};

/// Whether objects of class T have a member function: it belongs to T, or to a public base.
template <class T, class F>
inline constexpr bool kIsMemberFor = true;
template <class T, class M, class C>
inline constexpr bool kIsMemberFor<T, M C::*> = std::is_convertible_v<T*, const volatile C*>;
#define ANYFFI_NO_MEMBER_                                                                                      \
  "anyffi: the member function is of a class from which this one does not derive publicly, even where `using " \
  "Base::f;` makes it public: bind [](T& object) { return object.f(); }"

/// The callable of a method of an object class T.
template <class T, class F>
decltype(auto) as_method(F& f) {
  if constexpr (kIsKnownMember<F>) {
    return typename MemberOf<F>::template AsMethod<F, T>{f};
  } else if constexpr (!SignatureOf<F>::kIsKnown) {
    return static_cast<F&>(f);
  } else if constexpr (SignatureOf<F>::template Apply<TakesObject<T>::template Check>::kIsPointer) {
    return typename SignatureOf<F>::template Apply<ByPointer<T, F>::template Of>{std::move(f)};
  } else {
    return static_cast<F&>(f);
  }
}

/// Whether a function has `size` parameters, the object included. True for a function about which other checks
/// complain.
template <class T, class F>
constexpr bool may_take([[maybe_unused]] int size) {
  if constexpr (!std::is_member_object_pointer_v<F> && kIsMemberFor<T, F>) {
    using Callable = Bare<decltype(as_method<T>(std::declval<F&>()))>;
    if constexpr (SignatureOf<Callable>::kIsKnown) return SignatureOf<Callable>::kSize == size;
  }
  return true;
}

/// A setter whose result is a pointer, or a reference to an object, such as the object itself: nobody need own it,
/// since an assignment in Python drops it. Other results are converted: that of a status may raise.
template <class F>
struct Dropping {
  template <class R, class... A>
  struct IsNeeded {
    static constexpr bool kValue = std::is_pointer_v<R> || (std::is_lvalue_reference_v<R> && kIsObjectClass<Bare<R>>);
  };
  template <class R, class... A>
  struct Of {
    F function;
    void operator()(A... args) { function(std::forward<A>(args)...); }
  };
};
template <class T, class F>
constexpr bool drops_result() {
  if constexpr (!std::is_member_object_pointer_v<F> && kIsMemberFor<T, F>) {
    using Callable = Bare<decltype(as_method<T>(std::declval<F&>()))>;
    if constexpr (SignatureOf<Callable>::kIsKnown) {
      return SignatureOf<Callable>::template Apply<Dropping<Callable>::template IsNeeded>::kValue;
    }
  }
  return false;
}
template <class T, class F>
decltype(auto) as_setter(F& f) {
  if constexpr (drops_result<T, F>()) {
    using Callable = Bare<decltype(as_method<T>(f))>;
    return typename SignatureOf<Callable>::template Apply<Dropping<Callable>::template Of>{as_method<T>(f)};
  } else {
    return static_cast<F&>(f);
  }
}

/* ---- data members ---- */

/// The data member of an object, whose class may derive from the one that declares the field.
inline void* member_of(const AnyffiObject* self, const AnyffiFieldInfo* field) {
  void* content = __builtin_expect(self->type_code == field->type_code, 1)
                      ? reinterpret_cast<const AnyffiInstance*>(self)->content
                      : anyffi_instance_get_content(self, field->type_code);
  return static_cast<char*>(content) + field->offset;
}

/// Whether a member is a number of ANYFFI_STORED_INT, ANYFFI_STORED_FLOAT or ANYFFI_STORED_BOOL: without a GIL, several
/// threads may read and write it at once.
template <class M>
inline constexpr bool kIsShared = (std::is_integral_v<M> && std::is_signed_v<M> && sizeof(M) == 8) ||
                                  std::is_same_v<M, double> || std::is_same_v<M, bool>;

/// One function for each member type, not for each member.
template <class M>
int get_member(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* out) {
  return catch_all([&] {
    auto* member = static_cast<M*>(member_of(self, field));
    if constexpr (kIsObjectClass<M>) {
      *out = refer_to_borrowed(member, self);
    } else if constexpr (kTakesObject<M>) {
      *out = Traits<M>::refer_inside(*member, self);
    } else if constexpr (kHoldsPointer<M>) {
      const ReturnContext context{Returns::kReferenceInternal, self};
      if constexpr (kIsObjectPointer<M>) {
        *out = Traits<M>::store_in(context, *member, 0);
      } else {
        ReturnScope scope(context);
        if (!write_result(*member, out)) assign(*out, Traits<M>::store(*member));
      }
    } else if constexpr (kIsShared<M>) {
      M number;
      __atomic_load(member, &number, __ATOMIC_RELAXED);
      assign(*out, Traits<M>::store(number));
    } else if (!write_result(*member, out)) {
      assign(*out, Traits<M>::store(*member));
    }
    return 0;
  });
}

template <class M>
int set_member(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* value) {
  using Conversion = std::conditional_t<kIsObjectClass<M>, CopiedObject<M>, Traits<M>>;
  return catch_all([&] {
    typename Conversion::Holder holder{};
    InUse in_use;
    in_use.begin(self);
    AnyffiMismatch why;
    if constexpr (kNoneEmpties<M>) {
      if (value->type_code == ANYFFI_NONE) {
        // Releasing the former value may run code of users, so the member is emptied before.
        M former = std::exchange(*static_cast<M*>(member_of(self, field)), M{});
        return 0;
      }
    }
    if (!Conversion::load(*value, holder, why)) {
      if constexpr (kNoneEmpties<M>) {
        if (why.reason == ANYFFI_MISMATCH_TYPE) why.expected = kFieldName<M>;
      }
      return anyffi_mismatch_raise_field(&why, field);
    }
    auto* member = static_cast<M*>(member_of(self, field));
    if constexpr (kIsObjectClass<M>) {
      *member = Conversion::content(holder);
    } else if constexpr (kIsShared<M>) {
      M number = Conversion::take(holder);
      __atomic_store(member, &number, __ATOMIC_RELAXED);
    } else {
      // As above: assigning a std::map releases its elements before the new ones are there.
      [[maybe_unused]] M former = std::exchange(*member, Conversion::take(holder));
    }
    return 0;
  });
}

template <class M>
inline constexpr bool kIsField = HasTraits<M>::value || kIsObjectClass<M>;

template <class M>
int visit_member(const void* member, AnyffiVisit visit, void* context) {
  return visit_references_of(*static_cast<const M*>(member), visit, context);
}

/// The `visit_children` of a described class: visits what its `visit_references` visits, or else its fields; and the
/// same for its ancestors.
template <class T>
int visit_bound(const AnyffiValue* self, AnyffiVisit visit, void* context) {
  if constexpr (kVisitsItself<T>) {
    if (owner_of(self) == nullptr) {
      Visitor visitor(visit, context);
      content_of<T>(self->as_object)->visit_references(visitor);
      if (int status = visitor.status()) return status;
    }
  }
  return anyffi_class_visit(type_code_of<T>(), kVisitsItself<T>, self, visit, context);
}

/// The members that a class declares itself: `describe` of `anyffi_class_begin`.
template <class T>
void describe_declared(AnyffiTypeInfo* info) {
  if constexpr (!KeyOf<T>::kIsForeign) {
    describe_class<T>(*info);
  } else {
    info->visit_children = &visit_bound<T>;
  }
}
template <class T>
inline constexpr auto kDescribe = KeyOf<T>::kIsForeign && !kVisitsItself<T> ? nullptr : &describe_declared<T>;

/// Whether objects of a class have another conversion, instead of or besides that of object classes.
template <class T>
constexpr bool has_other_conversion() {
  if constexpr (HasTraits<T>::value) return !std::is_base_of_v<CopiedObject<T>, Traits<T>>;
  return kIsObjectValue<T> && !HasTraits<T>::value;
}

/// The AnyffiFieldStorage of a data member.
template <class M>
constexpr int32_t storage_of() {
  if constexpr (std::is_same_v<M, AnyValue>) return ANYFFI_STORED_VALUE;
  if constexpr (std::is_base_of_v<ObjectRef, M>) return ANYFFI_STORED_OBJECT;
  if constexpr (kIsShared<M>) {
    return std::is_same_v<M, double> ? ANYFFI_STORED_FLOAT
           : std::is_same_v<M, bool> ? ANYFFI_STORED_BOOL
                                     : ANYFFI_STORED_INT;
  }
  if constexpr (!kIsObjectClass<M>) {
    if (kReadsMembers<M>) return ANYFFI_STORED_MEMBER;
  }
  return ANYFFI_STORED_OTHERWISE;
}

/// Whether Python may write a variable of type M.
template <class M>
constexpr bool is_writable() {
  using Value = Bare<M>;
  if constexpr (kIsObjectClass<Value>) {
    return !std::is_const_v<M> && std::is_copy_assignable_v<M>;
  } else {
    // A view or pointer would dangle, and so would references to the former content of a std::unique_ptr.
    constexpr bool kWouldDangle = kIsView<Value> || kHoldsPointer<Value> || kTakesObject<Value>;
    return !std::is_const_v<M> && !kWouldDangle && std::is_move_assignable_v<M>;
  }
}

template <class T, class M, class C>
AnyffiFieldInfo describe_member(const char* name, const char* doc, M C::* member) {
  using Value = Bare<M>;
  static_assert(kIsFixedBase<C, T>,
                "anyffi: a field is a member of the class, or of a public base that is not virtual");
  AnyffiFieldInfo field{name, doc, nullptr, &get_member<Value>, nullptr, nullptr, 0, ANYFFI_NONE, 0};
  // Any address other than NULL will do.
  auto* object = reinterpret_cast<T*>(uintptr_t{1} << 12);
  if constexpr (kIsFixedBase<C, T>) {
    auto* place = __builtin_addressof(static_cast<C*>(object)->*member);
    field.offset = reinterpret_cast<const volatile char*>(place) - reinterpret_cast<const volatile char*>(object);
  }
  if constexpr (!std::is_volatile_v<M>) field.storage = storage_of<Value>();
  // Members of a bound base are visited by the base's own fields.
  if constexpr (References<Value>::kHasAny && (std::is_same_v<C, T> || std::is_void_v<typename KeyOf<T>::Parent>)) {
    field.visit = &visit_member<Value>;
  }
  if constexpr (kIsObjectClass<Value>) {
    field.type_name = kTypeKeyOf<Value>;
  } else {
    field.type_name = kFieldName<Value>;
  }
  if constexpr (is_writable<M>()) field.set = &set_member<Value>;
  return field;
}

/* ---- slices ---- */

template <class T, class F, class... A>
decltype(auto) call_on(const F& f, T& object, A... args) {
  static_assert(kIsMemberFor<T, F>, ANYFFI_NO_MEMBER_);
  constexpr bool kIsCalled = std::is_invocable_v<const F&, T&, A...> && !std::is_member_object_pointer_v<F>;
  static_assert(
      kIsCalled || !kIsMemberFor<T, F>,
      "anyffi: a function of iterate() and the first one of slices() take the object alone, the second one of "
      "slices() the object and an index");
  if constexpr (!kIsMemberFor<T, F> || !kIsCalled) {
    return object;
  } else if constexpr (std::is_member_function_pointer_v<F>) {
    return (object.*f)(args...);
  } else {
    return f(object, args...);
  }
}

template <class R, class First = void, class...>
struct FirstOf {
  using Type = Bare<First>;
};

/// The same for a function that may take the object as methods do: T&, a T*, a Ref<T> or a std::shared_ptr<T>.
template <class T, class F, class... A>
decltype(auto) call_with(const F& f, const Ref<T>& object, A... args) {
  if constexpr (std::is_member_function_pointer_v<F> || std::is_invocable_v<const F&, T&, A...>) {
    return call_on<T>(f, *object, args...);
  } else if constexpr (std::is_invocable_v<const F&, T*, A...>) {
    return f(__builtin_addressof(*object), args...);
  } else {
    static_assert(kTakes<T, F>, "anyffi: the first parameter of this function is the object, as that of a method");
    using First = typename SignatureOf<F>::template Apply<FirstOf>::Type;
    return f(AnyView(object).template cast<First>(), args...);
  }
}

/// A method that returns a list of the results of `f` for each index of a slice.
template <class T, class S, class F>
auto make_slices(S size, F f) {
  return [size, f](const Ref<T>& object, const Slice& slice) {
    List<Bare<decltype(call_with<T>(f, object, int64_t{}))>> found;
    Slice::Indices indices = slice.indices(static_cast<int64_t>(call_with<T>(size, object)));
    for (int64_t i = 0; i < indices.count; ++i)
      found.push_back(call_with<T>(f, object, indices.start + i * indices.step));
    return Native<decltype(found)>(std::move(found));
  };
}

/* ---- arrays of numbers ---- */

/// The elements and extents of an array in an object: T[N], T[N][M], std::array of any depth.
template <class M, class = void>
struct ArrayMember {
  static constexpr bool kIsArray = false;
  static constexpr int32_t kRank = 0;
  using Element = M;
};
template <class M, size_t kSize, class Part>
struct ArrayOf {
  static constexpr bool kIsArray = true;
  using Inner = ArrayMember<Part>;
  using Element = typename Inner::Element;
  static constexpr int32_t kRank = 1 + Inner::kRank;
  static void fill(int64_t* shape) {
    *shape = static_cast<int64_t>(kSize);
    if constexpr (Inner::kIsArray) Inner::fill(shape + 1);
  }
};
template <class Part, size_t kSize>
struct ArrayMember<Part[kSize]> : ArrayOf<Part[kSize], kSize, Part> {};
template <class M>
struct ArrayMember<M, std::enable_if_t<(std::tuple_size<M>::value * sizeof(typename M::value_type) == sizeof(M))>>
    : ArrayOf<M, std::tuple_size<M>::value, typename M::value_type> {};

template <class M>
inline constexpr bool kIsOfNumbers = kHasDataType<std::remove_cv_t<typename ArrayMember<M>::Element>>;

/// A tensor on a member's memory, which keeps the object alive.
template <class T, class C, class M>
Tensor tensor_of_member(const Ref<T>& self, M C::* member) {
  using Array = ArrayMember<std::remove_cv_t<M>>;
  using Number = std::remove_cv_t<typename Array::Element>;
  int64_t shape[Array::kRank], strides[Array::kRank];
  Array::fill(shape);
  int64_t step = 1;
  for (int32_t i = Array::kRank; i-- > 0; step *= shape[i]) strides[i] = step;
  AnyffiTensorData data{};
  data.data = const_cast<void*>(static_cast<const volatile void*>(__builtin_addressof(static_cast<C&>(*self).*member)));
  data.device = {ANYFFI_kDLCPU, 0};
  data.ndim = Array::kRank;
  data.dtype = DataTypeOf<Number>::value;
  data.shape = shape;
  data.strides = strides;
  return Tensor(data, std::is_const_v<std::remove_all_extents_t<M>> ? ANYFFI_TENSOR_READ_ONLY : 0, ObjectRef(self));
}

}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_CLASS_MEMBERS_H_
