/// \file
/// ANYFFI_CLASS: exposes C++ classes, also those of other libraries, as classes of Python.
///
///     ANYFFI_CLASS(shop::Cart, "shop.Cart")
///         .doc("What someone buys.")
///         .init<std::string, int64_t>(arg("owner"), arg("limit") = 10)
///         .method("add", &shop::Cart::add, arg("item"), arg("count") = 1)
///         .doc("Add an item.")
///         .field("limit", &shop::Cart::limit, "The most items.")
///         .property("size", &shop::Cart::size);
#ifndef ANYFFI_CLASS_H_
#define ANYFFI_CLASS_H_

#include <anyffi/detail/class_builder.h>
#include <anyffi/detail/class_iteration.h>
#include <anyffi/detail/class_members.h>
#include <anyffi/detail/pickle_state.h>
#include <anyffi/ops.h>
#include <anyffi/overridable.h>

namespace anyffi {

// Texts of compile errors: macros, so that they add no lines to each translation unit.
#define ANYFFI_NO_OPERATOR_                                                                             \
  "anyffi: the class has no such operator for a const object (len is its size(), hash its std::hash): " \
  "define it, or name a function that computes it, as in op(anyffi::ops::len, [](const T& a) { ... })"
#define ANYFFI_NO_FUNCTION_OF_OTHER_                                                                    \
  "anyffi: op<Other>() is an operator of C++, which no function follows: a function names the type of " \
  "the other operand itself, as in op(anyffi::ops::mul, [](const T& a, double b) { ... })"
#define ANYFFI_NOT_OF_TWO_                                                                          \
  "anyffi: C++ has no such operator of two operands: name the function instead of the type, as in " \
  "op(anyffi::ops::getitem, &T::at)"
#define ANYFFI_NO_DATA_                                                                                     \
  "anyffi: a data member is no function: bind it as field(\"x\", &T::x), or as one that Python only reads " \
  "by property(\"x\", [](const T& t) { return t.x; })"
#define ANYFFI_NO_SETTER_                                                                                   \
  "anyffi: a property has a getter, or a getter and a setter, and nothing else: .doc(\"...\") follows it, " \
  "and without a setter it is read-only"
#define ANYFFI_ABSTRACT_                                                                               \
  "anyffi: an abstract class has no constructor: Python derives from it by overridable<A>(), where A " \
  "overrides all pure virtual functions"
#define ANYFFI_NO_CONSTRUCTOR_                                                                      \
  "anyffi: the class has no public constructor with these parameters, or that of overridable<A>() " \
  "lacks `using Overridable::Overridable;`"
#define ANYFFI_NO_FIELD_                                                                                \
  "anyffi: a field has a type without a conversion: include its header of anyffi/stl/, bind its class " \
  "by ANYFFI_CLASS before this, or specialise anyffi::Traits for it (see anyffi/traits_via.h); an "     \
  "array of numbers, T[N], is a tensor_field(), one of objects iterate_references() or a property() "   \
  "that returns a std::vector of pointers to them"
#define ANYFFI_NOT_DEFINED_                                                                            \
  "anyffi: the class has no such operator for an operand of this type: define it, or name a function " \
  "that computes it, as in op(anyffi::ops::mul, [](const T& a, double b) { ... })"
#define ANYFFI_NO_KEY_                                                                                             \
  "anyffi: ANYFFI_BIND describes a class that has a key: give it one by ANYFFI_TYPE_KEY(T, \"module.T\") before, " \
  "or do both by ANYFFI_CLASS(T, \"module.T\")"
#define ANYFFI_OTHER_CONVERSION_                                                                       \
  "anyffi: the class has a conversion already, of a header in anyffi/stl/ or another anyffi::Traits: " \
  "leave that out, or bind a class of your own that derives from it or has it as a member"
#define ANYFFI_NO_BASE_HERE_ \
  "anyffi: ANYFFI_BIND takes one class; its base is named by ANYFFI_TYPE_KEY(T, \"key\", Base)"
#define ANYFFI_OTHER_STATE_                                                                         \
  "anyffi: the second function of pickle() does not take what the first one returns, which is one " \
  "value (several are a std::tuple): a pickle could not be read"
#define ANYFFI_NO_RESTORE_ "anyffi: the second function of pickle() returns a T or an anyffi::Ref<T>"
#define ANYFFI_NO_COPY_ "anyffi: copyable() is for classes with a public copy constructor"
#define ANYFFI_NO_FACTORY_                                                                                 \
  "anyffi: a constructor returns a T, an anyffi::Ref<T>, a T* to a new object, a std::unique_ptr<T> or a " \
  "std::shared_ptr<T> (anyffi/stl/memory.h): convert a pointer to a derived class, or a smart pointer "    \
  "of your own, to one of these"

/// Describes an object class T to front ends. Runs in static initialisers, so it never throws: `load_module` raises the
/// errors. `doc` and `release_gil` apply to the member before them; `doc` before all members applies to the class.
/// Names and texts must never be freed, like literals. Lists of `arg(...)` are as in Registration::def, and leave out
/// the object.
///
/// Objects that Python constructs are of class Alias, which derives from T.
template <class T, class Alias = T>
class __attribute__((visibility("hidden"))) Class : public detail::ClassBuilder {
  static_assert(detail::kIsObjectClass<T>, ANYFFI_NO_KEY_);
  static_assert(!detail::has_other_conversion<T>(), ANYFFI_OTHER_CONVERSION_);
  // std::is_base_of is false for a union and itself.
  static_assert(std::is_same_v<T, Alias> || std::is_base_of_v<T, Alias>, ANYFFI_NO_BASE_HERE_);

 public:
  /// Continues a description.
  explicit Class(detail::ClassBuilder&& other) noexcept : ClassBuilder(std::move(other)) {}
  Class() noexcept
      : ClassBuilder(&type_code_of<T>, &detail::type_code_slot<T>, &detail::module_class<T>, detail::kDescribe<T>,
                     &detail::visit_bound<T>) {}

  Class& doc(const char* text) noexcept {
    anyffi_class_set_doc(&builder_, text);
    return *this;
  }
  /// How the field before it is compared by structure; before all members, how objects of the class are.
  Class& structural(Structure structure) noexcept {
    anyffi_class_add_structure(&builder_, nullptr, static_cast<int32_t>(structure));
    return *this;
  }
  /// The same for the field with a name, which a base may describe.
  Class& structural(const char* field, Structure structure) noexcept {
    anyffi_class_add_structure(&builder_, field, static_cast<int32_t>(structure));
    return *this;
  }
  /// Releases the host's lock while the body of the method or constructor runs.
  Class& release_gil() noexcept {
    anyffi_native_release_gil(anyffi_class_get_function(&builder_, "release_gil()"));
    return *this;
  }

  /// Lets classes of Python override virtual functions, through A, which derives from Overridable<T>. Must precede all
  /// members.
  template <class A>
  Class<T, A> overridable() noexcept {
    static_assert(std::is_base_of_v<Overridable<T>, A>, "anyffi: the class derives from anyffi::Overridable<T>");
    static_assert(std::is_polymorphic_v<T> && std::has_virtual_destructor_v<T>,
                  "anyffi: a class whose functions Python overrides has a virtual destructor");
    anyffi_class_begin_overridable(&builder_, &visit_overridable<A>);
    Class<T, A> next(static_cast<ClassBuilder&&>(*this));
    next.add_override_methods();
    return next;
  }
  /// The same for a class whose own objects are not overridable, only those of derived classes.
  Class& overridable() noexcept {
    anyffi_class_begin_overridable(&builder_, nullptr);
    return *this;
  }

  /// Who owns the object that the result of the method before it points or refers to. By default, what a property
  /// returns is part of the object, which then stays alive.
  Class& returns(Returns returns) noexcept {
    anyffi_native_set_returns(anyffi_class_get_function(&builder_, "returns()"), static_cast<int32_t>(returns));
    return *this;
  }
  /// Keeps the patient alive until the nurse is destroyed: 0 is the result, 1 the object (also for a constructor), 2
  /// the next argument.
  template <uint8_t kNurse, uint8_t kPatient>
  Class& keep_alive() noexcept {
    anyffi_class_keep_alive(&builder_, kNurse, kPatient);
    return *this;
  }

  /// A constructor with parameters of these types. Several are overloads.
  template <class... A, class... N>
  std::enable_if_t<!detail::kIsFactory<detail::Types<A...>, Bare<N>...>, Class&> init(N&&... names) noexcept {
    static_assert(!std::is_abstract_v<Alias>, ANYFFI_ABSTRACT_);
    static_assert(std::is_abstract_v<Alias> || detail::kIsCreatedOf<Alias, A...>, ANYFFI_NO_CONSTRUCTOR_);
    std::conditional_t<std::is_same_v<T, Alias>, detail::Construct<T, A...>, detail::ConstructAlias<T, Alias, A...>>
        create;
    return add_static(ANYFFI_STATIC_METHOD | ANYFFI_CONSTRUCTOR, detail::last_name(detail::kTypeKeyOf<T>), create,
                      names...);
  }
  /// A function that returns a new T, by value, as a Ref<T>, by a smart pointer, or by a pointer that passes ownership.
  /// If classes of Python override functions, a pointer or std::unique_ptr must be one to the Alias.
  template <class F, class... N>
  std::enable_if_t<!detail::kIsName<F>, Class&> init(F factory, N&&... names) noexcept {
    static_assert(detail::kReturns<T, Alias, F>, ANYFFI_NO_FACTORY_);
    return add_factory(ANYFFI_CONSTRUCTOR, detail::last_name(detail::kTypeKeyOf<T>), factory, names...);
  }

  /// A member function of T or of a base, or a function whose first parameter is the object: T&, const T&, a Ref<T>, or
  /// a T* or std::shared_ptr<T>, which is never null. A second one with the same name is an overload.
  template <class F, class... N>
  Class& method(const char* name, F f, N&&... names) noexcept {
    return add_method(0, name, f, names...);
  }
  template <class F, class... N>
  Class& static_method(const char* name, F f, N&&... names) noexcept {
    return add_static(ANYFFI_STATIC_METHOD, name, f, names...);
  }

  /// An attribute of the class itself, whose value is converted when Python first reads it.
  template <class V>
  Class& constant(const char* name, V value, const char* text = nullptr) noexcept {
    auto get = [value] { return value; };
    add_static(ANYFFI_STATIC_METHOD | ANYFFI_GETTER, name, get);
    return text ? doc(text) : *this;
  }

  /// A getter, and a setter, without an object: a class attribute that Python reads each time, and can write.
  template <class G>
  Class& static_property(const char* name, G get) noexcept {
    return add_static(ANYFFI_STATIC_METHOD | ANYFFI_GETTER | ANYFFI_SETTER, name, get);
  }
  template <class G, class S>
  Class& static_property(const char* name, G get, S set) noexcept {
    constexpr bool kIsSetter = !std::is_convertible_v<S, const char*>;
    static_assert(kIsSetter, ANYFFI_NO_SETTER_);
    if constexpr (kIsSetter) {
      Arg value{"value"};
      add_static(ANYFFI_STATIC_METHOD | ANYFFI_SETTER, name, set, value);
    }
    return static_property(name, get);
  }
  /// A static data member, or another variable: a static property, writable like a field of its type. If its type is an
  /// object class, Python gets a reference to it.
  template <class V>
  Class& static_field(const char* name, V* variable, const char* text = nullptr) noexcept {
    static_assert(!std::is_function_v<V>, "anyffi: a static field is a variable; for functions static_property()");
    static_assert(!detail::kTakesObject<V>,
                  "anyffi: a std::unique_ptr cannot be read as a static field: bind a static_property() that returns a "
                  "pointer to its object");
    auto get = [variable]() -> V& { return *variable; };
    // Keeps the former value until the variable has the new one: releasing it may run users' code.
    if constexpr (!detail::is_writable<V>()) {
      static_property(name, get);
    } else if constexpr (detail::kIsObjectClass<Bare<V>>) {
      static_property(name, get, [variable](const V& value) { *variable = value; });
    } else if constexpr (detail::kNoneEmpties<V>) {
      using Value = detail::OrNull<V>;
      auto get_or_null = [variable] { return Value{*variable}; };
      static_property(name, get_or_null, [variable](Value value) { std::swap(*variable, value.value); });
    } else {
      static_property(name, get, [variable](V value) { std::swap(*variable, value); });
    }
    if constexpr (detail::kIsObjectClass<Bare<V>>) returns(Returns::kReference);
    return text ? doc(text) : *this;
  }

  template <class C, class M>
  Class& static_field(const char*, M C::*, const char* = nullptr) noexcept {
    static_assert(!std::is_same_v<M, M>, "anyffi: a member that each object has is a field(), and no static_field()");
    return *this;
  }

  /// A data member of T or of a base, which Python can write unless it is const. If its type is an object class, Python
  /// gets an object that refers into this one.
  template <class C, class M>
  Class& field(const char* name, M C::* member, const char* text = nullptr) noexcept {
    static_assert(!std::is_function_v<M>, "anyffi: a field is a data member; for functions there is property()");
    static_assert(detail::kIsField<Bare<M>>, ANYFFI_NO_FIELD_);
    static_assert(
        !detail::kHoldsTaken<Bare<M>>,
        "anyffi: a field is a container of std::unique_ptr, which cannot be copied: bind iterate_references() "
        "or a property() that returns a std::vector of pointers to the objects");
    if constexpr (!detail::kHoldsTaken<Bare<M>>) {
      AnyffiFieldInfo described = detail::describe_member<T, M>(name, text, member);
      anyffi_class_add_field(&builder_, &described);
    }
    return *this;
  }
  template <class V>
  Class& field(const char*, V*, const char* = nullptr) noexcept {
    static_assert(!std::is_same_v<V, V>,
                  "anyffi: a static data member is a static_field(), or as a value that never changes a constant()");
    return *this;
  }

  /// A getter, and a setter: member functions, or functions whose first parameter is the object.
  template <class G>
  Class& property(const char* name, G get) noexcept {
    static_assert(detail::may_take<T, G>(1), "anyffi: the getter of a property takes the object alone");
    return add_method(ANYFFI_GETTER, name, get);
  }
  template <class G, class S>
  Class& property(const char* name, G get, S set) noexcept {
    constexpr bool kIsSetter = !std::is_convertible_v<S, const char*>;
    static_assert(kIsSetter, ANYFFI_NO_SETTER_);
    if constexpr (kIsSetter) {
      static_assert(detail::may_take<T, S>(2), "anyffi: the setter of a property takes the object and the value");
      Arg value{"value"};
      add_method(ANYFFI_SETTER, name, detail::as_setter<T>(set), value);
    }
    return property(name, get);
  }

  /// An array of numbers in the object, T[N] or std::array, as a tensor on the object's memory.
  template <class C, class M>
  Class& tensor_field(const char* name, M C::* member, const char* text = nullptr) noexcept {
    static_assert(detail::kIsFixedBase<C, T>,
                  "anyffi: a field is a member of the class, or of a public base that is not virtual");
    static_assert(
        detail::ArrayMember<std::remove_cv_t<M>>::kIsArray,
        "anyffi: the memory of this member may move or is no array: tensor_field() takes T[N] and std::array; "
        "bind a property that returns a Tensor, a copy of the others");
    static_assert(detail::kIsOfNumbers<std::remove_cv_t<M>>,
                  "anyffi: the elements of a tensor_field() are numbers: bind a property that returns a std::vector of "
                  "others, or of pointers to them");
    add_method(ANYFFI_GETTER, name, [member](const Ref<T>& self) { return detail::tensor_of_member<T>(self, member); });
    return text ? doc(text) : *this;
  }

  /// Slices of a sequence, as lists of what a function returns for each index; used in addition to `op(getitem, f)`.
  /// Both functions take the object as those of methods do.
  template <class S, class F>
  Class& slices(S size, F f) noexcept {
    Arg index{"index"};
    return add_method(0, "__getitem__", detail::make_slices<T>(size, f), index);
  }

  /// A C++ operator as the Python operator, such as `op(anyffi::ops::add)`, if both operands are a T; or any function
  /// as the operator's method.
  template <class Op>
  Class& op(Op) noexcept {
    constexpr auto kForm = Op::kForm;
    static_assert(kForm != detail::OpForm::kNamed,
                  "anyffi: C++ has no such operator: name the function, too, as in op(anyffi::ops::getitem, &T::at)");
    static_assert(kForm != detail::OpForm::kReflected,
                  "anyffi: name the type of the operand on the left, as in op<double>(anyffi::ops::rmul)");
    if constexpr (kForm == detail::OpForm::kUnary) {
      static_assert(detail::kIsDefinedAlone<Op, T>, ANYFFI_NO_OPERATOR_);
      if constexpr (detail::kIsDefinedAlone<Op, T>) add_method(0, Op::kName, Op::template kCall<T>);
    } else if constexpr (kForm == detail::OpForm::kBinary) {
      add_operator<T, Op>();
    }
    return *this;
  }
  /// The same for an operand of another type: `op<double>(anyffi::ops::mul)`, or `op<double>(anyffi::ops::rmul)` if the
  /// object is on the right. Several are overloads. `arg(...)` names the operand.
  template <class Other, class Op, class... N>
  Class& op(Op, N&&... names) noexcept {
    constexpr bool kAreNames = (detail::kIsName<Bare<N>> && ...);
    static_assert(kAreNames, ANYFFI_NO_FUNCTION_OF_OTHER_);
    if constexpr (kAreNames) add_binary<Bare<Other>, Op>(names...);
    return *this;
  }
  template <class Op, class F, class... N>
  Class& op(Op, F f, N&&... names) noexcept {
    if constexpr (detail::kIsName<F>) {
      return add_binary<T, Op>(f, names...);
    } else {
      return add_method(0, Op::kName, f, names...);
    }
  }

  /// Iteration over the range between two iterators, whose elements are copied. The iterator keeps the object alive.
  /// For random access iterators, `begin` and `end` are called for each element, so the object may change meanwhile.
  template <class B, class E>
  Class& iterate(B begin, E end) noexcept {
    return iterate("__iter__", begin, end);
  }
  /// A method that returns such an iterator: `.iterate("children", &T::begin, &T::end)`.
  template <class B, class E>
  Class& iterate(const char* name, B begin, E end) noexcept {
    return add_method(ANYFFI_ITERATES, name, detail::make_walk<T, false>(begin, end));
  }
  /// The same over the results of a function for each element, such as the keys of a map.
  template <class B, class E, class F>
  std::enable_if_t<!std::is_convertible_v<B, const char*>, Class&> iterate(B begin, E end, F project) noexcept {
    return iterate("__iter__", begin, end, project);
  }
  template <class B, class E, class F>
  Class& iterate(const char* name, B begin, E end, F project) noexcept {
    return iterate(name, detail::make_projected<T>(begin, project), detail::make_projected<T>(end, project));
  }
  /// The same, but elements refer into the object, and keep it alive. Objects to which references or a std::unique_ptr
  /// refer are not copied. Elements that point into the object, such as handles of nodes, are copied, as are elements
  /// that the iterator itself holds.
  template <class B, class E>
  Class& iterate_references(B begin, E end) noexcept {
    return iterate_references("__iter__", begin, end);
  }
  template <class B, class E>
  Class& iterate_references(const char* name, B begin, E end) noexcept {
    add_method(ANYFFI_ITERATES, name, detail::make_walk<T, true>(begin, end));
    return returns(Returns::kReferenceInternal);
  }
  /// The same over what a function returns for each element, such as a reference to the value of an entry of a map.
  template <class B, class E, class F>
  std::enable_if_t<!std::is_convertible_v<B, const char*>, Class&> iterate_references(B begin, E end,
                                                                                      F project) noexcept {
    return iterate_references("__iter__", begin, end, project);
  }
  template <class B, class E, class F>
  Class& iterate_references(const char* name, B begin, E end, F project) noexcept {
    return iterate_references(name, detail::make_projected<T>(begin, project), detail::make_projected<T>(end, project));
  }

  /// What `pickle` and `copy` store: `get` returns a value, from which the function `set` makes a T or a Ref<T>.
  template <class G, class S>
  Class& pickle(G get, S set) noexcept {
    static_assert(detail::kReturns<T, Alias, S>, ANYFFI_NO_RESTORE_);
    static_assert(detail::kTakesState<detail::CallableOf<G>, detail::CallableOf<S>>, ANYFFI_OTHER_STATE_);
    add_method(0, "__getstate__", get);
    return add_factory(ANYFFI_RESTORE, "__setstate__", set);
  }
  /// Implements `copy.copy` and `copy.deepcopy` by the copy constructor. References to a base are then copied as a T.
  Class& copyable() noexcept {
    static_assert(std::is_copy_constructible_v<T> || std::is_abstract_v<T>, ANYFFI_NO_COPY_);
    detail::copy_as_derived<T>();
    return add_method(0, "__copy__", [](const T& object) { return detail::copy_object<T, Alias>(object); });
  }

 private:
  template <class, class>
  friend class Class;

  /// Methods with which Python binds an object's overrides, and keeps its own part of the object alive.
  void add_override_methods() noexcept {
    add_method(0, "__anyffi_bind__", &detail::bind_overrides<T, Alias>);
    add_method(0, "__anyffi_keep__", [](T& self, const Function& holder) {
      if (auto* alias = dynamic_cast<Alias*>(__builtin_addressof(self))) alias->anyffi_overrides.keep(holder);
    });
  }
  template <class A>
  static int visit_overridable(const AnyffiValue* self, AnyffiVisit visit, void* context) {
    if (auto* alias = dynamic_cast<A*>(detail::content_of<T>(self->as_object))) {
      if (int status = alias->anyffi_overrides.visit(visit, context)) return status;
    }
    return detail::visit_bound<T>(self, visit, context);
  }

  template <class Other, class Op, class... N>
  Class& add_binary(N&... names) noexcept {
    constexpr bool kIsOfTwo = Op::kForm == detail::OpForm::kBinary || Op::kForm == detail::OpForm::kReflected;
    static_assert(kIsOfTwo, ANYFFI_NOT_OF_TWO_);
    if constexpr (kIsOfTwo) add_operator<Other, Op>(names...);
    return *this;
  }
  template <class Other, class Op, class... N>
  Class& add_operator(N&... names) noexcept {
    static_assert(detail::kIsDefined<Op, T, Other>, ANYFFI_NOT_DEFINED_);
    if constexpr (detail::kIsDefined<Op, T, Other>) {
      if constexpr (sizeof...(N) > 0) {
        add_method(0, Op::kName, Op::template kCall<T, Other>, names...);
      } else {
        Arg other{"other"};
        add_method(0, Op::kName, Op::template kCall<T, Other>, other);
      }
    }
    return *this;
  }
  template <class F, class... N>
  Class& add_static(uint32_t flags, const char* name, F& f, N&... names) noexcept {
    using Callable = detail::CallableOf<F>;
    ANYFFI_ASSERT_CONVERTIBLE_(Callable);
    ANYFFI_ASSERT_NAMES_(detail::NamesOf<Callable, Bare<N>...>);
    decltype(auto) callable = detail::as_function(f);
    builder_.flags = flags;
    detail::create_typed(&anyffi_class_add_function, &builder_, name, callable, names...);
    return *this;
  }
  template <class F, class... N>
  Class& add_factory(uint32_t flags, const char* name, F& f, N&... names) noexcept {
    decltype(auto) factory = detail::as_function(f);
    decltype(auto) constructor = detail::as_constructor<T, Alias>(factory);
    return add_static(ANYFFI_STATIC_METHOD | flags, name, constructor, names...);
  }
  template <class F, class... N>
  Class& add_method(uint32_t flags, const char* name, F f, N&... names) noexcept {
    constexpr bool kIsData = std::is_member_object_pointer_v<F>;
    static_assert(!kIsData, ANYFFI_NO_DATA_);
    static_assert(kIsData || detail::kIsMemberFor<T, F>, ANYFFI_NO_MEMBER_);
    if constexpr (!kIsData && detail::kIsMemberFor<T, F>) add_callable(flags, name, detail::as_method<T>(f), names...);
    return *this;
  }
  template <class F, class... N>
  void add_callable(uint32_t flags, const char* name, F&& callable, N&... names) noexcept {
    using Callable = Bare<F>;
    ANYFFI_ASSERT_CONVERTIBLE_(Callable);
    static_assert(detail::kTakes<T, Callable>,
                  "anyffi: the first parameter of a method is the object: T&, const T&, T*, std::shared_ptr<T> or "
                  "anyffi::Ref<T>");
    builder_.flags = flags;
    if constexpr (sizeof...(N) > 0 || detail::SignatureOf<Callable>::kSize == 1) {
      ANYFFI_ASSERT_NAMES_(detail::NamesOf<Callable, Arg, Bare<N>...>);
      Arg self{"self"};
      detail::create_typed(&anyffi_class_add_function, &builder_, name, callable, self, names...);
    } else {
      detail::create_typed(&anyffi_class_add_function, &builder_, name, callable);
    }
  }
};

/// Selects an overload by its parameters: `overload_cast<int64_t>(&T::f)`, `overload_cast<>(&T::f, const_)`.
struct ConstTag {};
inline constexpr ConstTag const_{};

template <class... A>
struct OverloadCast {
  template <class R>
  constexpr auto operator()(R (*f)(A...)) const noexcept {
    return f;
  }
  template <class R, class C>
  constexpr auto operator()(R (C::*f)(A...)) const noexcept {
    return f;
  }
  template <class R, class C>
  constexpr auto operator()(R (C::*f)(A...) &) const noexcept {
    return f;
  }
  template <class R, class C>
  constexpr auto operator()(R (C::*f)(A...) const, ConstTag) const noexcept {
    return f;
  }
  template <class R, class C>
  constexpr auto operator()(R (C::*f)(A...) const&, ConstTag) const noexcept {
    return f;
  }
};
template <class... A>
inline constexpr OverloadCast<A...> overload_cast{};

}  // namespace anyffi

#define ANYFFI_ASSERT_BOUND_(Base)                            \
  static_assert(::anyffi::detail::kIsObjectClassOrVoid<Base>, \
                "anyffi: the base has no key yet: bind it before, by ANYFFI_CLASS(Base, \"module.Base\")")

// The alias is declared outside of namespace anyffi, where common class names would be ambiguous.
#define ANYFFI_KEY_AS_(T, key, Base, alias)                  \
  using alias [[maybe_unused]] = Base;                       \
  template <>                                                \
  struct anyffi::detail::ForeignKey<T> {                     \
    static constexpr bool kIsKnown = true;                   \
    static constexpr auto kValue = ::anyffi::FixedText(key); \
    using Parent = alias;                                    \
    ANYFFI_ASSERT_BOUND_(alias);                             \
  };
#define ANYFFI_KEY_(T, key, Base) ANYFFI_KEY_AS_(T, key, Base, ANYFFI_JOIN_(anyffi_base_, __COUNTER__))
#define ANYFFI_KEY_OF_TWO_(T, key) ANYFFI_KEY_(T, key, void)
#define ANYFFI_KEY_OF_MANY_(T, key, Base, ...)                                                                        \
  static_assert(!::anyffi::detail::is_whole(#T),                                                                      \
                "anyffi: a class has one base in Python: name that one, by an alias if it has a comma, and bind the " \
                "members of the others by name, .method(\"f\", &Other::f)");                                          \
  ANYFFI_KEY_(T, key, Base)
#define ANYFFI_PICK_KEY_(a, b, c, d, e, name, ...) name
#define ANYFFI_ASSERT_WHOLE_(T, ...)                                                                              \
  static_assert(::anyffi::detail::is_whole(#T),                                                                   \
                "anyffi: the comma in the name of the type ends the macro's argument: use an alias of the type, " \
                "as in `using Pair = std::pair<int, int>;`")

/// Makes a class an object class: `ANYFFI_TYPE_KEY(shop::Cart, "shop.Cart")`, with a third argument if it derives from
/// another object class. At global scope, before any function uses the class: in a header if several files do.
/// Libraries that exchange objects of the class must give it the same key.
#define ANYFFI_TYPE_KEY(...)                                                                                  \
  ANYFFI_ASSERT_WHOLE_(__VA_ARGS__, ~);                                                                       \
  ANYFFI_PICK_KEY_(__VA_ARGS__, ANYFFI_KEY_OF_MANY_, ANYFFI_KEY_OF_MANY_, ANYFFI_KEY_, ANYFFI_KEY_OF_TWO_, ~) \
  (__VA_ARGS__) static_assert(true, "")

/// Describes an object class: `ANYFFI_BIND(shop::Cart).init<>().method("add", &shop::Cart::add);`
#define ANYFFI_BIND(...)                                                                                \
  [[maybe_unused]] static const ::anyffi::detail::Registered ANYFFI_JOIN_(anyffi_class_, __COUNTER__) = \
      ::anyffi::Class<__VA_ARGS__>()

#define ANYFFI_FIRST_(T, ...) T
#define ANYFFI_FIRST_OF_(...) ANYFFI_FIRST_(__VA_ARGS__, ~)

/// Both: `ANYFFI_CLASS(shop::Cart, "shop.Cart").init<>();`, at global scope.
#define ANYFFI_CLASS(...)       \
  ANYFFI_TYPE_KEY(__VA_ARGS__); \
  ANYFFI_BIND(ANYFFI_FIRST_OF_(__VA_ARGS__))

#endif  // ANYFFI_CLASS_H_
