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

template <class T, class = void>
struct ParentOf {
  static int32_t type_code() { return ANYFFI_OBJECT; }
};

template <class T>
struct Instance {
  AnyffiObject header;
  T object;

  static void destroy(AnyffiObject* self, int32_t what) {
    auto* instance = reinterpret_cast<Instance*>(self);
    if (what & ANYFFI_DELETE_CONTENTS) instance->object.~T();
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
    kIsFromValue<T, decltype(&T::from_value)>;

/// The annotation of the values that `from_value` accepts.
template <class R, class X>
constexpr const char* value_name(R (*)(X)) {
  if constexpr (HasTraits<Bare<X>>::value) return Traits<Bare<X>>::name;
  return nullptr;
}

}  // namespace detail

namespace detail {
template <class T>
ANYFFI_HIDDEN_ inline constexpr auto kTypeKeyOf = T::kTypeKey;
}  // namespace detail

/// The type code of an object class, which has `static constexpr anyffi::FixedText kTypeKey{"demo.Thing"};` and, if it
/// derives from another object class, `using Parent = Base;`. Registered at first use, or by ANYFFI_REGISTER_OBJECT
/// when the library loads, with its fields and documentation (reflection.h).
///
/// Libraries that register one key must have the same class, since they exchange its objects. So each registers its own
/// (hidden symbols), and a different size, alignment, parent or leading members are an error.
template <class T>
ANYFFI_HIDDEN_ int32_t type_code_of() {
  static const int32_t code = [] {
    AnyffiTypeInfo info{};
    info.struct_size = sizeof(info);
    info.type_key = detail::kTypeKeyOf<T>;
    info.parent = detail::ParentOf<T>::type_code();
    info.instance_size = sizeof(detail::Instance<T>);
    info.alignment = alignof(T);
    info.member_types = detail::members_of<T>();
    detail::describe_class<T>(info);
    if constexpr (detail::kHasFromValue<T>) info.convertible_from = detail::value_name(&T::from_value);
    int32_t result;
    detail::check(anyffi_type_register(&info, &result));
    return result;
  }();
  return code;
}

namespace detail {
template <class T>
struct ParentOf<T, std::void_t<typename T::Parent>> {
  static int32_t type_code() { return type_code_of<typename T::Parent>(); }
};
}  // namespace detail

/// A reference to an object of class T, or of one that derives from it.
///
/// If T has a function `static T from_value(X)`, or one that returns a Ref<T>, parameters and elements of this type
/// also accept what X accepts.
template <class T>
class Ref : public ObjectRef {
 public:
  using ObjectRef::ObjectRef;
  T* operator->() const noexcept { return &reinterpret_cast<detail::Instance<T>*>(object_)->object; }
  T& operator*() const noexcept { return *operator->(); }
};

/// Creates an object of class T. It is destroyed when its last reference is released.
template <class T, class... Args>
Ref<T> make_object(Args&&... args) {
  using Instance = detail::Instance<T>;
  static_assert(alignof(T) <= 16, "anyffi_alloc aligns to 16 bytes");
  int32_t code = type_code_of<T>();
  void* memory = anyffi_alloc(sizeof(Instance));
  if (!memory) throw std::bad_alloc();
  auto* instance = static_cast<Instance*>(memory);
  try {
    new (&instance->object) T{std::forward<Args>(args)...};
  } catch (...) {
    anyffi_free(memory);
    throw;
  }
  instance->header = AnyffiObject{code, 1, 1, &Instance::destroy, nullptr};
  return Ref<T>(detail::Adopt{}, &instance->header);
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
  ANYFFI_HIDDEN_ static constexpr auto name = T::kTypeKey;
  static constexpr uint64_t type_mask = 0;  // dynamic types share one bit
  static constexpr bool kIsSteady = !detail::kHasFromValue<T>;
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    if (value.type_code > 0 &&
        (value.type_code == type_code_of<T>() || anyffi_type_is_a(value.type_code, type_code_of<T>()))) {
      return detail::hold_object(value, holder);
    }
    if constexpr (detail::kHasFromValue<T>) {
      return detail::load_from_value<T>(&T::from_value, value, holder, why);
    } else {
      return detail::refuse(why, value, name);
    }
  }
  static constexpr bool kIsReadInPlace = kIsSteady;
  static bool fits_cell(const AnyffiValue& cell) { return cell.type_code == type_code_of<T>(); }
};

}  // namespace anyffi

#endif  // ANYFFI_OBJECT_H_
