/// \file
/// Metadata of an object class: its documentation, and fields that can be read by name.
///
///     struct Point {
///       static constexpr anyffi::FixedText kTypeKey{"demo.Point"};
///       static constexpr const char* kDoc = "A place on the plane.";
///       static constexpr auto fields() {
///         return anyffi::fields(anyffi::field<&Point::x>("x", "To the right."),
///                               anyffi::field<&Point::norm>("norm", "Distance from the origin."));
///       }
///       double x, y;
///       double norm() const { return std::hypot(x, y); }
///     };
///
/// A class that derives from another one (`using Parent = ...`) lists its own fields; those of the parent come first.
///
/// Python's garbage collector visits the references in data members that are fields, with the interpreter lock held, so
/// that it can collect an object to which a Python callable in it refers. If other members own references, the class
/// lists all such members:
///
///     void visit_references(const anyffi::Visitor& visit) const { visit(on_click_); visit(children_); }
#ifndef ANYFFI_REFLECTION_H_
#define ANYFFI_REFLECTION_H_

#include <anyffi/any.h>
#include <anyffi/detail/visit.h>
#include <anyffi/error.h>

namespace anyffi {

namespace detail {

template <auto kMember>
struct Field {
  const char* name;
  const char* doc;
};

template <auto... kMembers>
struct FieldList {
  AnyffiFieldInfo rows[sizeof...(kMembers) > 0 ? sizeof...(kMembers) : 1];
};

template <auto kMember, class T>
constexpr decltype(auto) read_member(const T& object) {
  if constexpr (std::is_member_function_pointer_v<decltype(kMember)>) {
    return (object.*kMember)();
  } else {
    return (object.*kMember);
  }
}

template <class T, auto kMember>
using MemberType = Bare<decltype(read_member<kMember>(std::declval<const T&>()))>;

template <class T, auto kMember>
int get_field(AnyffiObject* self, const AnyffiFieldInfo*, AnyffiValue* out) {
  *out = AnyffiValue{};
  return catch_all([&] {
    const T& object = *content_of<T>(self);
    *out = Traits<MemberType<T, kMember>>::store(read_member<kMember>(object));
    return 0;
  });
}

template <class T, auto... kMembers>
constexpr FieldList<kMembers...> complete_fields(FieldList<kMembers...> list) {
  static_assert((HasTraits<MemberType<T, kMembers>>::value && ...),
                "anyffi: a field has a type without a conversion: include its header of anyffi/stl/, or specialise "
                "anyffi::Traits for it (see anyffi/traits_via.h)");
  [[maybe_unused]] int i = 0;
  ((list.rows[i].type_name = kResultName<MemberType<T, kMembers>>, list.rows[i++].get = &get_field<T, kMembers>), ...);
  return list;
}

template <class List>
inline constexpr int32_t kFieldCount = 0;
template <auto... kMembers>
inline constexpr int32_t kFieldCount<FieldList<kMembers...>> = sizeof...(kMembers);

/// Compares functions of any type. A base's `fields`, which is inherited, belongs to the base class.
template <class A, class B>
constexpr bool same_function(A a, B b) {
  if constexpr (std::is_same_v<A, B>) {
    return a == b;
  } else {
    return false;
  }
}

template <class T, class = void>
inline constexpr bool kInheritsFields = false;
template <class T>
inline constexpr bool kInheritsFields<T, std::void_t<typename T::Parent>> =
    same_function(FieldsOf<T>::kFunction, FieldsOf<typename T::Parent>::kFunction);

/// Hidden: another library may have a class of the same name.
template <class T>
struct __attribute__((visibility("hidden"))) FieldTable {
  static constexpr auto kList = complete_fields<T>(T::fields());
};

template <class T, class = void>
inline constexpr const char* const* kDocOf = nullptr;
template <class T>
inline constexpr const char* const* kDocOf<T, std::void_t<decltype(T::kDoc)>> = &T::kDoc;

template <class T, class = void>
inline constexpr bool kInheritsDoc = false;
template <class T>
inline constexpr bool kInheritsDoc<T, std::void_t<typename T::Parent>> = kDocOf<T> == kDocOf<typename T::Parent>;

/// The documentation of the class itself; NULL if it is inherited.
template <class T>
constexpr const char* own_doc() {
  return kDocOf<T> == nullptr || kInheritsDoc<T> ? nullptr : *kDocOf<T>;
}

/// Fills in the metadata of a class. The tables live as long as the library, which is never unloaded.
template <class T>
void describe_class(AnyffiTypeInfo& info) {
  info.doc = own_doc<T>();
  // Not a comparison with nullptr, which under -fsanitize=undefined is not a constant expression for GCC.
  if constexpr (!std::is_null_pointer_v<decltype(FieldsOf<T>::kFunction)> && !kInheritsFields<T>) {
    info.fields = FieldTable<T>::kList.rows;
    info.num_fields = kFieldCount<decltype(T::fields())>;
  }
  if constexpr (ClassVisitor<T>::kHasAny) info.visit_children = &ClassVisitor<T>::visit;
}

}  // namespace detail

/// A field: a data member, or a const member function without parameters. `name` and `doc` must never be freed, like
/// literals.
template <auto kMember>
constexpr detail::Field<kMember> field(const char* name, const char* doc = nullptr) {
  return {name, doc};
}

/// The fields of a class, in order.
template <auto... kMembers>
constexpr detail::FieldList<kMembers...> fields(detail::Field<kMembers>... list) {
  return {{AnyffiFieldInfo{list.name, list.doc, nullptr, nullptr, nullptr, nullptr, 0, 0, 0}...}};
}

}  // namespace anyffi

#endif  // ANYFFI_REFLECTION_H_
