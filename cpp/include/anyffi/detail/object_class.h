/// \file
/// Object classes: their keys, their type codes, and the layout of their objects.
#ifndef ANYFFI_DETAIL_OBJECT_CLASS_H_
#define ANYFFI_DETAIL_OBJECT_CLASS_H_

#include <anyffi/any.h>
#include <anyffi/detail/layout.h>
#include <anyffi/error.h>
#include <anyffi/reflection.h>

#include <typeinfo>

namespace anyffi {
namespace detail ANYFFI_HIDDEN_ {

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

/// Object classes: parameters are references to the object (`Ref<T>` or T&), or copies.
template <class T>
inline constexpr bool kIsObjectClass = KeyOf<T>::kIsKnown && !std::is_enum_v<T>;
/// The class from which a class derives; void: none.
template <class T>
inline constexpr bool kIsObjectClassOrVoid = std::is_void_v<T> || kIsObjectClass<T>;

template <class Base, class T, class = void>
inline constexpr bool kIsFixedBase = false;
/// Whether T is or derives from Base; also for a class or union and itself.
template <class Base, class T>
inline constexpr bool kIsBaseOf = std::is_base_of_v<Base, T> || std::is_same_v<Base, T>;
template <class Base, class T>
inline constexpr bool kIsFixedBase<Base, T, std::void_t<decltype(static_cast<T*>(std::declval<Base*>()))>> =
    kIsBaseOf<Base, T>;

constexpr uintptr_t align_up(uintptr_t address, size_t alignment) {
  return (address + alignment - 1) & ~(alignment - 1);
}

/// The content of an object of class T follows the struct, in the same block. It is a T, or of a class `Content` that
/// derives from T.
template <class T, class Content = T>
struct Instance {
  AnyffiInstance base;

  /// `anyffi_alloc` aligns to 16 bytes.
  static constexpr size_t kOffset = align_up(sizeof(AnyffiInstance), 16);
  static constexpr size_t kSize = kOffset + sizeof(Content) + (alignof(Content) > 16 ? alignof(Content) - 16 : 0);

  void* place() {
    return reinterpret_cast<void*>(align_up(reinterpret_cast<uintptr_t>(this) + kOffset, alignof(Content)));
  }
  static void destroy(AnyffiObject* self, int32_t what) {
    auto* instance = reinterpret_cast<Instance*>(self);
    if (what & ANYFFI_DELETE_CONTENTS) static_cast<Content*>(static_cast<T*>(instance->base.content))->~Content();
    if (what & ANYFFI_DELETE_MEMORY) anyffi_object_free(instance, kSize);
  }
};

}  // namespace detail ANYFFI_HIDDEN_

template <class T>
class Ref;

/// Specialise it for a class of somebody else, which has no `from_value` of its own: with `static T from_value(X)`, or
/// one that returns a Ref<T>, parameters, elements and fields of the class accept whatever converts to X. After
/// ANYFFI_TYPE_KEY, and before the class is described.
template <class T>
struct FromValue {};

namespace detail {

template <class T, class F>
inline constexpr bool kIsFromValue = false;
template <class T, class X>
inline constexpr bool kIsFromValue<T, T (*)(X)> = true;
template <class T, class X>
inline constexpr bool kIsFromValue<T, Ref<T> (*)(X)> = true;

/// The class that declares `from_value`: T itself, not a base, whose `from_value` creates objects of the base.
template <class T>
using Converting = std::conditional_t<KeyOf<T>::kIsForeign, FromValue<T>, T>;
template <class T, class = void>
inline constexpr bool kHasFromValue = false;
template <class T>
inline constexpr bool kHasFromValue<T, std::void_t<decltype(&Converting<T>::from_value)>> =
    kIsFromValue<T, decltype(&Converting<T>::from_value)>;

/// The annotation of the values that `from_value` accepts.
template <class R, class X>
constexpr const char* value_name(R (*)(X)) {
  if constexpr (HasTraits<Bare<X>>::value) return Traits<Bare<X>>::name;
  return nullptr;
}

}  // namespace detail

template <class T>
ANYFFI_HIDDEN_ int32_t type_code_of();

namespace detail ANYFFI_HIDDEN_ {

template <class T>
ANYFFI_HIDDEN_ inline constexpr auto kTypeKeyOf = FixedText(KeyOf<T>::kValue);

/// Describes where the base of class Base lies in an object of class T.
template <class T, class Base>
void describe_base(AnyffiTypeInfo& info) {
  static_assert(std::is_convertible_v<T*, Base*>,
                "anyffi: the base of an object class must be a public base, and the only one of its class");
  if constexpr (kIsFixedBase<Base, T>) {
    // Any address other than NULL will do.
    auto* object = reinterpret_cast<T*>(uintptr_t{1} << 12);
    info.parent_offset = reinterpret_cast<char*>(static_cast<Base*>(object)) - reinterpret_cast<char*>(object);
  } else {
    info.get_parent = [](void* content) -> void* { return static_cast<Base*>(static_cast<T*>(content)); };
  }
}

/// The type code; 0 until the class is registered. Hidden: each library registers its own classes.
template <class T>
ANYFFI_HIDDEN_ inline int32_t type_code_slot = 0;

/// How objects of the class are created: AnyffiInstanceFlag.
ANYFFI_HIDDEN_ inline constexpr uint8_t kNoInstanceFlags = 0;
template <class T>
ANYFFI_HIDDEN_ inline const uint8_t* instance_flags_of = &kNoInstanceFlags;
/// Atomic, because other threads may add flags.
template <class T>
uint8_t read_instance_flags() {
  // The other flags do not concern how objects are created.
  constexpr uint8_t kOfNew = ANYFFI_ENROLLED | ANYFFI_SEPARATE;
  return __atomic_load_n(__atomic_load_n(&instance_flags_of<T>, __ATOMIC_RELAXED), __ATOMIC_RELAXED) & kOfNew;
}

/// The polymorphic classes that this library knows, by `typeid`: a pointer to a base becomes an object of the class to
/// which it actually points.
struct DynamicClass {
  const std::type_info* type;
  int32_t (*type_code)();
  /// Copies an object, given its content; NULL unless the class is `.copyable()`.
  AnyffiValue (*copy)(const void* content);
  /// The bound base, and a function that casts an object of that base to the class, or returns NULL. Both are NULL for
  /// a class without a polymorphic base.
  int32_t (*parent)();
  void* (*cast)(void* of_parent);
  DynamicClass* next;
};
ANYFFI_HIDDEN_ inline DynamicClass* dynamic_classes = nullptr;
template <class T>
ANYFFI_HIDDEN_ inline DynamicClass dynamic_class{};

#if defined(__GXX_RTTI) || defined(__cpp_rtti)
#define ANYFFI_HAS_RTTI_ 1
#else
#define ANYFFI_HAS_RTTI_ 0
#endif

template <class T>
void add_dynamic_class() {
#if ANYFFI_HAS_RTTI_
  DynamicClass& row = dynamic_class<T>;
  if (__atomic_exchange_n(&row.type_code, &type_code_of<T>, __ATOMIC_ACQ_REL) != nullptr) return;
  row.type = &typeid(T);
  using Parent = typename KeyOf<T>::Parent;
  if constexpr (std::is_polymorphic_v<Parent>) {
    row.parent = &type_code_of<Parent>;
    row.cast = [](void* of_parent) -> void* {
      auto* parent = static_cast<Parent*>(of_parent);
      auto* derived = dynamic_cast<T*>(parent);
      // dynamic_cast also finds a T that has another subobject of class Parent.
      return derived && static_cast<Parent*>(derived) == parent ? derived : nullptr;
    };
  }
  row.next = __atomic_load_n(&dynamic_classes, __ATOMIC_ACQUIRE);
  while (!__atomic_compare_exchange_n(&dynamic_classes, &row.next, &row, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
  }
#endif
}

template <class T>
__attribute__((cold, noinline)) ANYFFI_HIDDEN_ int32_t register_class() {
  AnyffiTypeInfo info{};
  info.struct_size = sizeof(info);
  info.type_key = kTypeKeyOf<T>;
  info.parent = ANYFFI_OBJECT;
  using Parent = typename KeyOf<T>::Parent;
  if constexpr (!std::is_void_v<Parent>) {
    info.parent = type_code_of<Parent>();
    describe_base<T, Parent>(info);
  }
  info.instance_size = sizeof(AnyffiObject) + sizeof(T);
  info.alignment = alignof(T);
  info.member_types = members_of<T>();
  if constexpr (!KeyOf<T>::kIsForeign) describe_class<T>(info);
  if constexpr (kHasFromValue<T>) info.convertible_from = value_name(&Converting<T>::from_value);
  if constexpr (std::is_enum_v<T>) info.convertible_from = "int";
  int32_t code;
  check(anyffi_type_register(&info, &code));
  __atomic_store_n(&instance_flags_of<T>, anyffi_type_get_instance_flags(code), __ATOMIC_RELAXED);
  if constexpr (std::is_polymorphic_v<T> && ANYFFI_HAS_RTTI_) add_dynamic_class<T>();
  __atomic_store_n(&type_code_slot<T>, code, __ATOMIC_RELEASE);
  return code;
}

}  // namespace detail ANYFFI_HIDDEN_

/// The type code of an object class: a class that has `static constexpr anyffi::FixedText kTypeKey{"demo.Thing"};` and,
/// if it derives from another object class, `using Parent = Base;`, or that got a key from ANYFFI_TYPE_KEY (class.h).
/// It is registered at first use, or by ANYFFI_REGISTER_OBJECT and ANYFFI_BIND when the library loads.
///
/// Libraries that register the same key must have the same class, since they exchange its objects. So each library
/// registers its own class (hidden symbols), and a different size, alignment, parent or leading members are an error.
template <class T>
int32_t type_code_of() {
  int32_t code = __atomic_load_n(&detail::type_code_slot<T>, __ATOMIC_ACQUIRE);
  return __builtin_expect(code != 0, 1) ? code : detail::register_class<T>();
}

namespace detail ANYFFI_HIDDEN_ {

/// Whether an object is of class T or of one that derives from it.
template <class T>
bool is_instance(const AnyffiValue& value) {
  if (value.type_code <= 0) return false;
  int32_t code = type_code_of<T>();
  // Not the code in the value: the type may have been a draft that was completed meanwhile, and objects that C++ lent
  // for a call have another type afterwards.
  return value.as_object->type_code == code || anyffi_type_is_a(value.as_object->type_code, code);
}

/// The content of an object for which `is_instance` is true.
template <class T>
T* content_of(const AnyffiObject* object) {
  int32_t code = type_code_of<T>();
  if (__builtin_expect(object->type_code != code, 0)) {
    return static_cast<T*>(anyffi_instance_get_content(object, code));
  }
  return static_cast<T*>(reinterpret_cast<const AnyffiInstance*>(object)->content);
}

}  // namespace detail ANYFFI_HIDDEN_

}  // namespace anyffi

#endif  // ANYFFI_DETAIL_OBJECT_CLASS_H_
