/// \file
/// ObjectRef, Ref<T> and make_object: reference-counted objects.
#ifndef ANYFFI_OBJECT_H_
#define ANYFFI_OBJECT_H_

#include <anyffi/detail/pointed.h>

namespace anyffi {

/// An owned reference to an object. Null only after it was moved from.
///
/// `may_alias`, because the cells of containers are read as references in place (detail/cells.h).
class __attribute__((may_alias)) ObjectRef {
 public:
  ObjectRef(detail::Adopt, AnyffiObject* object) noexcept : object_(object) {}
  ObjectRef(const ObjectRef& other) noexcept : object_(other.object_) {
    if (object_) anyffi_retain(object_);
  }
  ObjectRef(ObjectRef&& other) noexcept : object_(other.object_) { other.object_ = nullptr; }
  ObjectRef& operator=(ObjectRef other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~ObjectRef() {
    if (object_) anyffi_release(object_);
  }

  int32_t type_code() const noexcept { return object_->type_code; }
  AnyffiObject* get() const noexcept { return object_; }
  /// The number of strong references; for tests, where no other thread changes it.
  int64_t use_count() const noexcept {
    return static_cast<int64_t>(__atomic_load_n(&object_->strong_count, __ATOMIC_RELAXED));
  }
  bool same_as(const ObjectRef& other) const noexcept { return object_ == other.object_; }
  /// Returns the reference to the caller; leaves null.
  AnyffiObject* release() noexcept {
    AnyffiObject* object = object_;
    object_ = nullptr;
    return object;
  }

 protected:
  AnyffiObject* object_;
};

namespace detail {

inline AnyffiValue object_value(AnyffiObject* object) {
  if (!object) return AnyffiValue{};
  AnyffiValue value{};
  value.type_code = object->type_code;
  value.as_object = object;
  return value;
}

/// Steals a movable object, or retains it. The caller has checked its type.
inline bool hold_object(AnyffiValue& value, AnyValue& holder) {
  AnyffiObject* object = value.as_object;
  if (value.aux & ANYFFI_MOVABLE) {
    value = AnyffiValue{};
  } else {
    anyffi_retain(object);
  }
  *holder.out() = object_value(object);
  return true;
}

template <class M>
struct References<M, std::enable_if_t<std::is_base_of_v<ObjectRef, M>>> {
  static constexpr bool kHasAny = true;
  static int visit(const M& reference, AnyffiVisit visit, void* context) {
    if (!reference.get()) return 0;
    AnyffiValue value = object_value(reference.get());
    return visit(&value, context);
  }
};

/// Traits of T, a reference class whose constructor T(Adopt, AnyffiObject*) steals a reference.
template <class T>
struct RefTraits {
  using Reference = T;
  static constexpr bool kBorrows = true;
  static constexpr bool kOutlivesHolder = true;
  using Holder = AnyValue;
  static T take(Holder& holder) { return T(Adopt{}, holder.release().as_object); }
  static AnyffiValue borrow(const T& object) { return object_value(object.get()); }
  static AnyffiValue store(T object) { return object_value(object.release()); }
};

template <class T, int32_t kCode>
struct StaticRefTraits : RefTraits<T> {
  static constexpr bool kIsSteady = true;
  static constexpr uint64_t type_mask = type_bits(kCode);
  static bool fits(const AnyffiValue& value) { return value.type_code == kCode; }
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    if (fits(value)) return hold_object(value, holder);
    return refuse(why, value, Traits<T>::name);
  }
};

}  // namespace detail

/// Any object. An inline value is boxed as an ObjectRef, and unboxed when it is stored.
template <>
struct Traits<ObjectRef> : detail::RefTraits<ObjectRef> {
  static constexpr bool kIsSteady = true;
  static constexpr FixedText name{"Object"};
  static constexpr uint64_t type_mask = ~detail::type_bits(ANYFFI_NONE, ANYFFI_MISSING, ANYFFI_UNSET);
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    if (value.type_code > 0) return detail::hold_object(value, holder);
    if (value.type_code == ANYFFI_NONE || value.type_code == ANYFFI_MISSING) return detail::refuse(why, value, name);
    if (anyffi_box_create(&value, holder.out()) == 0) return true;
    return detail::refuse(why, value, name, ANYFFI_MISMATCH_RAISED);
  }
  static AnyffiValue borrow(const ObjectRef& object) {
    AnyffiValue value = detail::object_value(object.get());
    return detail::unboxed(value);
  }
  static AnyffiValue store(ObjectRef object) {
    if (object.type_code() != ANYFFI_BOX) return detail::object_value(object.release());
    return reinterpret_cast<AnyffiBox*>(object.get())->value;
  }
};

/// A reference to an object of class T, or of one that derives from it.
///
/// If T has a function `static T from_value(X)`, or one that returns a Ref<T>, parameters and elements of this type
/// also accept what X accepts.
template <class T>
class Ref : public ObjectRef {
 public:
  using ObjectRef::ObjectRef;
  /// A reference to an object of a class that derives from T.
  template <class D, std::enable_if_t<std::is_base_of_v<T, D> && !std::is_same_v<T, D>, int> = 0>
  Ref(Ref<D> derived) noexcept : ObjectRef(detail::Adopt{}, derived.release()) {}  // NOLINT: implicit on purpose
  T* operator->() const noexcept { return detail::content_of<T>(object_); }
  T& operator*() const noexcept { return *operator->(); }
};

namespace detail ANYFFI_HIDDEN_ {

template <class T, class... Args>
T* construct(void* place, Args&&... args) {
  if constexpr (std::is_constructible_v<T, Args&&...>) {
    return ::new (place) T(std::forward<Args>(args)...);
  } else {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
    return ::new (place) T{std::forward<Args>(args)...};
#pragma GCC diagnostic pop
  }
}

template <template <class> class Expression, class T, class = void>
inline constexpr bool kCompiles = false;
template <template <class> class Expression, class T>
inline constexpr bool kCompiles<Expression, T, std::void_t<Expression<T>>> = true;

template <class T>
using NamesNew = decltype(&T::operator new);
template <class T>
using NamesDelete = decltype(&T::operator delete);
template <class T, class... Args>
using CallsDelete = decltype(T::operator delete(std::declval<void*>(), std::declval<Args>()...));
template <class T>
using DeletesPlain = CallsDelete<T>;
template <class T>
using DeletesSized = CallsDelete<T, size_t>;
template <class T>
using DeletesAligned = CallsDelete<T, std::align_val_t>;
template <class T>
using DeletesSizedAligned = CallsDelete<T, size_t, std::align_val_t>;

/// Whether content can lie separately: not if the class has its own `operator new` or `operator delete`, or a private
/// one. A name with several overloads, such as those of an aligned class, cannot be referred to, but called.
template <class T>
inline constexpr bool kMayBeSeparate =
    kIsDeletable<T> && !kCompiles<NamesNew, T> && !kCompiles<NamesDelete, T> && !kCompiles<DeletesPlain, T> &&
    !kCompiles<DeletesSized, T> && !kCompiles<DeletesAligned, T> && !kCompiles<DeletesSizedAligned, T>;

/// Memory for a Pointed and for its content.
template <class T>
struct NewMemory {
  void* memory;
  void* separate;
  ~NewMemory() {
    if (separate) free_separate<T>(separate);
    if (memory) anyffi_object_free(memory, sizeof(Pointed));
  }
};

/// An object of class T, whose content is a T or of a class that derives from T.
template <class T, class Content = T, class... Args>
__attribute__((always_inline)) inline Ref<T> make_in_place(int32_t code, Args&&... args) {
  using Made = Instance<T, Content>;
  void* memory = anyffi_object_alloc(Made::kSize);
  if (!memory) throw_no_memory();
  auto* instance = static_cast<Made*>(memory);
  try {
    instance->base.content = static_cast<T*>(construct<Content>(instance->place(), std::forward<Args>(args)...));
  } catch (...) {
    anyffi_object_free(memory, Made::kSize);
    throw;
  }
  instance->base.header = AnyffiObject{code, 1, 1, &Made::destroy, nullptr};
  instance->base.owner = nullptr;
  return Ref<T>(Adopt{}, &instance->base.header);
}

/// The same with ANYFFI_SEPARATE: the content has its own memory block, and the object can be found by it.
template <class T, class... Args>
__attribute__((noinline)) Ref<T> make_separately(int32_t code, Args&&... args) {
  NewMemory<T> fresh{anyffi_object_alloc(sizeof(Pointed)), nullptr};
  if (!fresh.memory) throw_no_memory();
  fresh.separate = place_separately<T>();
  T* content = construct<T>(fresh.separate, std::forward<Args>(args)...);
  auto* pointed = static_cast<Pointed*>(fresh.memory);
  *pointed = Pointed{{{code, 1, 1, &destroy_owned, nullptr}, content, nullptr}, content, &delete_as<T>};
  fresh.memory = fresh.separate = nullptr;
  Ref<T> made(Adopt{}, &pointed->base.header);
  enroll_new(made.get());
  return made;
}

/// An inlined `make_object`, for constructors.
template <class T, class... Args>
__attribute__((always_inline)) inline Ref<T> make_inlined(Args&&... args) {
  int32_t code = type_code_of<T>();
  uint8_t flags = read_instance_flags<T>();
  if constexpr (kMayBeSeparate<T>) {
    if (__builtin_expect(flags & ANYFFI_SEPARATE, 0)) return make_separately<T>(code, std::forward<Args>(args)...);
  }
  Ref<T> made = make_in_place<T, T>(code, std::forward<Args>(args)...);
  if (__builtin_expect(flags != 0, 0)) enroll_new(made.get());
  return made;
}

}  // namespace detail ANYFFI_HIDDEN_

/// Creates an object of class T. It is destroyed when its last reference is released.
template <class T, class... Args>
Ref<T> make_object(Args&&... args) {
  return detail::make_inlined<T>(std::forward<Args>(args)...);
}

namespace detail ANYFFI_HIDDEN_ {

/// Counts a level of recursion, for user-defined conversions.
class Depth {
 public:
  Depth() { check(anyffi_depth_enter()); }
  ~Depth() { anyffi_depth_leave(); }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
};

/// Runs a user-defined conversion, which may throw.
template <class Convert>
bool run_conversion(const AnyffiValue& value, AnyffiMismatch& why, Convert convert) {
  bool converted = false;
  int status = catch_all([&] {
    Depth depth;
    converted = convert();
    return 0;
  });
  return status == 0 ? converted : refuse(why, value, "", ANYFFI_MISMATCH_RAISED);
}

template <class T, class R, class X>
bool load_from_value(R (*convert)(X), AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
  static_assert(HasTraits<Bare<X>>::value,
                "anyffi: the parameter of from_value has a type without a conversion: include its header of "
                "anyffi/stl/, bind its class by ANYFFI_CLASS before this, or specialise anyffi::Traits for it");
  using Conversion = Traits<Bare<X>>;
  return run_conversion(value, why, [&] {
    typename Conversion::Holder inner{};
    if (!Conversion::load(value, inner, why)) {
      if (why.path_size == 0 && why.reason == ANYFFI_MISMATCH_TYPE) why.expected = detail::kTypeKeyOf<T>;
      return false;
    }
    if constexpr (std::is_same_v<R, T>) {
      *holder.out() = object_value(make_object<T>(convert(Conversion::take(inner))).release());
    } else {
      *holder.out() = object_value(convert(Conversion::take(inner)).release());
    }
    return true;
  });
}

}  // namespace detail ANYFFI_HIDDEN_

template <class T>
struct Traits<Ref<T>> : detail::RefTraits<Ref<T>> {
  ANYFFI_HIDDEN_ static constexpr auto name = detail::kTypeKeyOf<T>;
  static constexpr uint64_t type_mask = 0;  // dynamic types share one bit
  static constexpr bool kIsSteady = !detail::kHasFromValue<T>;
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    if (detail::is_instance<T>(value)) return detail::hold_object(value, holder);
    if constexpr (detail::kHasFromValue<T>) {
      return detail::load_from_value<T>(&detail::Converting<T>::from_value, value, holder, why);
    } else {
      return detail::refuse(why, value, name);
    }
  }
  static constexpr bool kIsReadInPlace = kIsSteady;
  static bool fits(const AnyffiValue& value) {
    return value.type_code > 0 && value.as_object->type_code == type_code_of<T>();
  }
};

namespace detail ANYFFI_HIDDEN_ {

template <class R>
inline constexpr bool kIsRef = false;
template <class T>
inline constexpr bool kIsRef<Ref<T>> = true;

/// Whether a `const T&` parameter borrows the object of its argument: see BorrowedRef. Not of a class, since a
/// `std::unique_ptr` of another call may take such an object from its wrapper; nor of a user's type whose traits derive
/// from those of such a class.
template <class T, class = void>
inline constexpr bool kBorrowsObject = false;
template <class T>
inline constexpr bool kBorrowsObject<T, std::void_t<decltype(&Traits<T>::fits), typename Traits<T>::Reference>> =
    std::is_same_v<typename Traits<T>::Reference, T> && !kIsRef<T>;
template <>
inline constexpr bool kBorrowsObject<AnyValue> = true;

/// The exact types: values that `from_value` accepts are conversions.
template <class T>
inline constexpr uint64_t kExactTypes<Ref<T>> = kHasFromValue<T> ? type_bits(ANYFFI_FIRST_DYNAMIC_TYPE) : kEveryType;

template <class T>
inline constexpr uint64_t kExactTypes<BorrowedRef<T>> = kExactTypes<T>;

/// Whether the traits have `check(const AnyffiValue&, AnyffiMismatch&)`: an object that passes is used as it is.
template <class T, class = void>
inline constexpr bool kIsCheckedOnly = false;
template <class T>
inline constexpr bool kIsCheckedOnly<T, std::void_t<decltype(&Traits<T>::check)>> = true;

/// The argument of a `const T&` parameter, where T is a reference class: the caller keeps its object alive, so that two
/// atomic additions are saved. An object that was made by a conversion is owned.
template <class T>
class BorrowedArgument {
 public:
  bool borrow(const AnyffiValue& value) {
    if (!Traits<T>::fits(value)) return false;
    object_ = value.as_object;
    return true;
  }
  bool load(AnyffiValue& value, AnyffiMismatch& why) {
    if constexpr (kIsCheckedOnly<T>) {
      if (!Traits<T>::check(value, why)) return false;
      object_ = value.as_object;
    } else {
      if (!Traits<T>::load(value, owned_, why)) return false;
      object_ = owned_.raw().as_object;
    }
    return true;
  }
  bool is_owned() const { return !owned_.is_none(); }
  const T& operator*() const {
    static_assert(sizeof(T) == sizeof(object_), "a reference is one word");
    return reinterpret_cast<const T&>(object_);
  }

 private:
  AnyffiObject* object_ = nullptr;
  AnyValue owned_;
};

/// The same for `const AnyValue&`. An instance of a class is retained, and so is what is in a box.
template <>
class BorrowedArgument<AnyValue> {
 public:
  BorrowedArgument() = default;
  BorrowedArgument(const BorrowedArgument&) = delete;
  BorrowedArgument& operator=(const BorrowedArgument&) = delete;
  ~BorrowedArgument() {
    if (is_owned()) anyffi_release(value_.as_object);
  }
  bool borrow(const AnyffiValue& value) {
    int32_t code = value.type_code;
    if (code <= 0 || code >= ANYFFI_FIRST_DYNAMIC_TYPE || code == ANYFFI_BOX) return false;
    value_ = anyffi_make_object(value.as_object);
    return true;
  }
  bool load(AnyffiValue& value, AnyffiMismatch& why) {
    AnyValue loaded;
    if (!Traits<AnyValue>::load(value, loaded, why)) return false;
    value_ = loaded.release();
    is_owned_ = value_.type_code > 0;
    return true;
  }
  bool is_owned() const { return is_owned_; }
  const AnyValue& operator*() const { return reinterpret_cast<const AnyValue&>(value_); }

 private:
  AnyffiValue value_{};
  bool is_owned_ = false;
};

/// A parameter of type T& of an object class without `from_value`: borrowed from the caller during the call.
template <class T>
struct ObjectArg {};

template <class P>
struct BorrowedPointer {
  P* content = nullptr;
  InUse in_use;

  P& operator*() const { return *content; }
};

template <class T>
struct BorrowedObject {
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kIsSteady = true;
  static constexpr bool kBorrows = false;
  static constexpr bool kLoadsObjects = true;
  using Holder = BorrowedPointer<T>;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    if (!is_instance<T>(value)) return refuse(why, value, kTypeKeyOf<T>);
    holder.content = content_of<T>(value.as_object);
    holder.in_use.begin(value.as_object);
    return true;
  }
};

/// The object from which a parameter, or the value of a field, is copied.
template <class T, bool = kHasFromValue<T>>
struct CopiedObject : BorrowedObject<T> {
  static const T& content(BorrowedPointer<T>& holder) { return *holder; }
};
template <class T>
struct CopiedObject<T, true> {
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kIsSteady = false;
  static constexpr bool kBorrows = false;
  using Holder = AnyValue;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    return Traits<Ref<T>>::load(value, holder, why);
  }
  static const T& content(Holder& holder) { return *content_of<T>(holder.raw().as_object); }
};

/// Object classes that convert by value, because they can be moved. Other classes are not tested: their constructors
/// may need traits.
template <class T, bool = kIsObjectClass<T>>
inline constexpr bool kIsObjectValue = false;
template <class T>
inline constexpr bool kIsObjectValue<T, true> = std::is_move_constructible_v<T>;

/// The types that a parameter accepts without conversion: one that copies an object, those of a reference to it.
template <class T>
constexpr uint64_t exact_types_of() {
  if constexpr (kIsObjectValue<T>) return kExactTypes<Ref<T>>;
  return kExactTypes<T>;
}

}  // namespace detail ANYFFI_HIDDEN_

template <class T>
struct Traits<detail::BorrowedRef<T>> : Traits<T> {
  static constexpr bool kOutlivesHolder = false;
  using Holder = detail::BorrowedArgument<T>;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    return holder.borrow(value) || holder.load(value, why);
  }
  static const T& take(Holder& holder) { return *holder; }
};

template <class T>
struct ANYFFI_HIDDEN_ Traits<detail::ObjectArg<T>> : detail::BorrowedObject<T> {
  ANYFFI_HIDDEN_ static constexpr auto name = detail::kTypeKeyOf<T>;
};

/// An object class by value: a parameter is a copy of the object, a result is a new object. Copying the referent of a
/// reference preserves the object's actual class.
template <class T>
struct ANYFFI_HIDDEN_ Traits<T, std::enable_if_t<detail::kIsObjectValue<T>>> : detail::CopiedObject<T> {
  ANYFFI_HIDDEN_ static constexpr auto name = detail::kTypeKeyOf<T>;
  static T take(typename detail::CopiedObject<T>::Holder& holder) {
    static_assert(std::is_copy_constructible_v<T>,
                  "anyffi: a parameter takes an object by value, whose class has no copy constructor: take T& or "
                  "const T&");
    return T(detail::CopiedObject<T>::content(holder));
  }
  static AnyffiValue store(T&& object) { return detail::object_value(make_object<T>(std::move(object)).release()); }
  static AnyffiValue store(const T& object) {
    if constexpr (std::is_polymorphic_v<T>) {
      AnyffiValue copied = detail::copy_derived(object);
      if (copied.type_code != ANYFFI_NONE) return copied;
    }
    return detail::object_value(make_object<T>(object).release());
  }
};

}  // namespace anyffi

#endif  // ANYFFI_OBJECT_H_
