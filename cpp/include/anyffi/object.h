/// \file
/// ObjectRef, Ref<T> and make_object: reference-counted objects.
#ifndef ANYFFI_OBJECT_H_
#define ANYFFI_OBJECT_H_

#include <anyffi/any.h>
#include <anyffi/detail/layout.h>
#include <anyffi/error.h>
#include <anyffi/reflection.h>

namespace anyffi {

/// An owned reference to an object. Null only after it was moved from.
///
/// `may_alias`: containers are read as references in place (detail/cells.h).
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
  int64_t use_count() const noexcept { return static_cast<int64_t>(object_->strong_count); }
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

/// The type key of an object class, and the object class that it derives from, or void.
template <class T, class = void>
struct KeyOf {
  static constexpr bool kIsKnown = false;
};
template <class T, class = void>
struct OwnParent {
  using Parent = void;
};
template <class T>
struct OwnParent<T, std::void_t<typename T::Parent>> {
  using Parent = typename T::Parent;
};
template <class T>
struct KeyOf<T, std::enable_if_t<ForeignKey<T>::kIsKnown>> : ForeignKey<T> {
  static constexpr bool kIsForeign = true;
};
template <class T>
struct KeyOf<T, std::enable_if_t<!ForeignKey<T>::kIsKnown, std::void_t<decltype(T::kTypeKey)>>> : OwnParent<T> {
  static constexpr auto kValue = T::kTypeKey;
  static constexpr bool kIsKnown = true;
  static constexpr bool kIsForeign = false;
};

/// Object classes: as parameters references to the object, as a `Ref<T>` or a T&, or copies.
template <class T>
inline constexpr bool kIsObjectClass = KeyOf<T>::kIsKnown && !std::is_enum_v<T>;

template <class Base, class T, class = void>
inline constexpr bool kIsFixedBase = false;
template <class Base, class T>
inline constexpr bool kIsFixedBase<Base, T, std::void_t<decltype(static_cast<T*>(std::declval<Base*>()))>> =
    std::is_base_of_v<Base, T>;

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
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    if (value.type_code == kCode) return hold_object(value, holder);
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

namespace detail {

constexpr uintptr_t align_up(uintptr_t address, size_t alignment) {
  return (address + alignment - 1) & ~(alignment - 1);
}

/// The content of type T follows the struct, in the same block.
template <class T>
struct Instance {
  AnyffiInstance base;

  /// `anyffi_alloc` aligns to 16 bytes.
  static constexpr size_t kOffset = align_up(sizeof(AnyffiInstance), 16);
  static constexpr size_t kSize = kOffset + sizeof(T) + (alignof(T) > 16 ? alignof(T) - 16 : 0);

  void* place() { return reinterpret_cast<void*>(align_up(reinterpret_cast<uintptr_t>(this) + kOffset, alignof(T))); }
  static void destroy(AnyffiObject* self, int32_t what) {
    auto* instance = reinterpret_cast<Instance*>(self);
    if (what & ANYFFI_DELETE_CONTENTS) static_cast<T*>(instance->base.content)->~T();
    if (what & ANYFFI_DELETE_MEMORY) anyffi_free(instance);
  }
};

}  // namespace detail

template <class T>
class Ref;

namespace detail {

template <class T, class F>
inline constexpr bool kIsFromValue = false;
template <class T, class X>
inline constexpr bool kIsFromValue<T, T (*)(X)> = true;
template <class T, class X>
inline constexpr bool kIsFromValue<T, Ref<T> (*)(X)> = true;

/// Whether T itself declares `from_value`: an inherited one creates objects of the base class.
template <class T, class = void>
inline constexpr bool kHasFromValue = false;
template <class T>
inline constexpr bool kHasFromValue<T, std::void_t<decltype(&T::from_value)>> =
    !KeyOf<T>::kIsForeign && kIsFromValue<T, decltype(&T::from_value)>;

/// The annotation of the values that `from_value` accepts.
template <class R, class X>
constexpr const char* value_name(R (*)(X)) {
  if constexpr (HasTraits<Bare<X>>::value) return Traits<Bare<X>>::name;
  return nullptr;
}

}  // namespace detail

template <class T>
int32_t type_code_of();

namespace detail {

template <class T>
ANYFFI_HIDDEN_ inline constexpr auto kTypeKeyOf = FixedText(KeyOf<T>::kValue);

/// The distance from an object of class T to its base of class Base.
template <class T, class Base>
int64_t offset_of_base() {
  static_assert(kIsFixedBase<Base, T>, "anyffi: the base of an object class must be a public and not a virtual base");
  // Any address that is not NULL.
  auto* object = reinterpret_cast<T*>(uintptr_t{1} << 12);
  return reinterpret_cast<char*>(static_cast<Base*>(object)) - reinterpret_cast<char*>(object);
}

/// 0 until the class is registered. Hidden: each library registers its own classes.
template <class T>
ANYFFI_HIDDEN_ inline int32_t type_code_slot = 0;

template <class T>
__attribute__((cold, noinline)) ANYFFI_HIDDEN_ int32_t register_class() {
  AnyffiTypeInfo info{};
  info.struct_size = sizeof(info);
  info.type_key = kTypeKeyOf<T>;
  info.parent = ANYFFI_OBJECT;
  using Parent = typename KeyOf<T>::Parent;
  if constexpr (!std::is_void_v<Parent>) {
    info.parent = type_code_of<Parent>();
    info.parent_offset = offset_of_base<T, Parent>();
  }
  info.instance_size = sizeof(AnyffiObject) + sizeof(T);
  info.alignment = alignof(T);
  info.member_types = members_of<T>();
  if constexpr (!KeyOf<T>::kIsForeign) describe_class<T>(info);
  if constexpr (kHasFromValue<T>) info.convertible_from = value_name(&T::from_value);
  if constexpr (std::is_enum_v<T>) info.convertible_from = "int";
  int32_t code;
  check(anyffi_type_register(&info, &code));
  __atomic_store_n(&type_code_slot<T>, code, __ATOMIC_RELEASE);
  return code;
}

}  // namespace detail

/// The type code of an object class: one that has `static constexpr anyffi::FixedText kTypeKey{"demo.Thing"};` and, if
/// it derives from another object class, `using Parent = Base;`, or that got a key from ANYFFI_TYPE_KEY (class.h).
/// Registered at first use, or when the library loads by ANYFFI_REGISTER_OBJECT and ANYFFI_BIND.
///
/// Libraries that register one key must have the same class, since they exchange its objects. So each registers its own
/// (hidden symbols), and a different size, alignment, parent or leading members are an error.
template <class T>
ANYFFI_HIDDEN_ int32_t type_code_of() {
  int32_t code = __atomic_load_n(&detail::type_code_slot<T>, __ATOMIC_ACQUIRE);
  return __builtin_expect(code != 0, 1) ? code : detail::register_class<T>();
}

namespace detail {

/// Whether an object is of class T or of one that derives from it.
template <class T>
bool is_instance(const AnyffiValue& value) {
  int32_t code = type_code_of<T>();
  return value.type_code == code || (value.type_code > 0 && anyffi_type_is_a(value.type_code, code));
}

/// The content of an object that `is_instance`.
template <class T>
T* content_of(const AnyffiObject* object) {
  int32_t code = type_code_of<T>();
  if (__builtin_expect(object->type_code != code, 0)) {
    return static_cast<T*>(anyffi_instance_get_content(object, code));
  }
  return static_cast<T*>(reinterpret_cast<const AnyffiInstance*>(object)->content);
}

}  // namespace detail

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

/// Creates an object of class T. It is destroyed when its last reference is released.
template <class T, class... Args>
Ref<T> make_object(Args&&... args) {
  using Instance = detail::Instance<T>;
  int32_t code = type_code_of<T>();
  void* memory = anyffi_alloc(Instance::kSize);
  if (!memory) throw std::bad_alloc();
  auto* instance = static_cast<Instance*>(memory);
  try {
    if constexpr (std::is_constructible_v<T, Args&&...>) {
      instance->base.content = new (instance->place()) T(std::forward<Args>(args)...);
    } else {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
      instance->base.content = new (instance->place()) T{std::forward<Args>(args)...};
#pragma GCC diagnostic pop
    }
  } catch (...) {
    anyffi_free(memory);
    throw;
  }
  instance->base.header = AnyffiObject{code, 1, 1, &Instance::destroy, nullptr};
  instance->base.owner = nullptr;
  return Ref<T>(detail::Adopt{}, &instance->base.header);
}

namespace detail {

/// One level of recursion, for user-defined conversions, which may be recursive.
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

}  // namespace detail

template <class T>
struct Traits<Ref<T>> : detail::RefTraits<Ref<T>> {
  ANYFFI_HIDDEN_ static constexpr auto name = detail::kTypeKeyOf<T>;
  static constexpr uint64_t type_mask = 0;  // dynamic types share one bit
  static constexpr bool kIsSteady = !detail::kHasFromValue<T>;
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    if (detail::is_instance<T>(value)) return detail::hold_object(value, holder);
    if constexpr (detail::kHasFromValue<T>) {
      return detail::load_from_value<T>(&T::from_value, value, holder, why);
    } else {
      return detail::refuse(why, value, name);
    }
  }
  static constexpr bool kIsReadInPlace = kIsSteady;
  static bool fits_cell(const AnyffiValue& cell) { return cell.type_code == type_code_of<T>(); }
};

namespace detail {

/// A parameter of type T& of an object class without `from_value`: borrowed from the caller during the call.
template <class T>
struct ObjectArg {};

template <class T>
struct BorrowedObject {
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kIsSteady = true;
  static constexpr bool kBorrows = false;
  using Holder = T*;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    if (!is_instance<T>(value)) return refuse(why, value, kTypeKeyOf<T>);
    holder = content_of<T>(value.as_object);
    return true;
  }
};

/// Object classes whose objects are made of others. Other classes are not asked: their constructors may ask for traits.
template <class T, bool = kIsObjectClass<T>>
inline constexpr bool kIsObjectValue = false;
template <class T>
inline constexpr bool kIsObjectValue<T, true> = std::is_move_constructible_v<T>;

}  // namespace detail

template <class T>
struct Traits<detail::ObjectArg<T>> : detail::BorrowedObject<T> {
  ANYFFI_HIDDEN_ static constexpr auto name = detail::kTypeKeyOf<T>;
};

/// An object class by value: a parameter is a copy of the object, a result is a new object.
template <class T>
struct Traits<T, std::enable_if_t<detail::kIsObjectValue<T>>> : detail::BorrowedObject<T> {
  ANYFFI_HIDDEN_ static constexpr auto name = detail::kTypeKeyOf<T>;
  static T take(T*& holder) {
    static_assert(std::is_copy_constructible_v<T>,
                  "anyffi: a parameter takes an object by value, whose class has no copy constructor: take T& or "
                  "const T&");
    return T(*holder);
  }
  static AnyffiValue store(T object) { return detail::object_value(make_object<T>(std::move(object)).release()); }
};

}  // namespace anyffi

#endif  // ANYFFI_OBJECT_H_
