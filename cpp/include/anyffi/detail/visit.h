/// \file
/// The references that an object owns, for the host's garbage collector: the `visit_children` of its type.
#ifndef ANYFFI_DETAIL_VISIT_H_
#define ANYFFI_DETAIL_VISIT_H_

#include <anyffi/any.h>

namespace anyffi {

class ObjectRef;

namespace detail ANYFFI_HIDDEN_ {

template <class T>
T* content_of(const AnyffiObject* object);

/// How the references in a member of type M are visited. Headers of other types specialise it.
template <class M, class = void>
struct References {
  static constexpr bool kHasAny = false;
};

template <>
struct References<AnyValue> {
  static constexpr bool kHasAny = true;
  static int visit(const AnyValue& value, AnyffiVisit visit, void* context) {
    return value.raw().type_code > 0 ? visit(&value.raw(), context) : 0;
  }
};

/// Whether M is a class of the standard library that owns elements of this type. Views are excluded: their destructors
/// are trivial.
template <class M, class Element>
inline constexpr bool kOwns = !std::is_base_of_v<ObjectRef, M> && !std::is_trivially_destructible_v<M> &&
                              References<std::remove_cv_t<Element>>::kHasAny;

/// Containers of the standard library.
template <class M>
struct References<
    M, std::enable_if_t<kOwns<M, typename M::value_type> && sizeof(*std::declval<const M&>().begin()) != 0>> {
  static constexpr bool kHasAny = true;
  static int visit(const M& elements, AnyffiVisit visit, void* context) {
    for (const auto& element : elements) {
      if (int status = References<std::remove_cv_t<typename M::value_type>>::visit(element, visit, context)) {
        return status;
      }
    }
    return 0;
  }
};

/// std::optional.
template <class M>
struct References<M, std::enable_if_t<kOwns<M, typename M::value_type> &&
                                      std::is_same_v<decltype(std::declval<const M&>().has_value()), bool>>> {
  static constexpr bool kHasAny = true;
  static int visit(const M& optional, AnyffiVisit visit, void* context) {
    return optional.has_value() ? References<typename M::value_type>::visit(*optional, visit, context) : 0;
  }
};

template <class M>
int visit_references_of(const M& member, AnyffiVisit visit, void* context) {
  if constexpr (References<M>::kHasAny) {
    return References<M>::visit(member, visit, context);
  } else {
    return 0;
  }
}

/// std::pair, such as the entries of maps.
template <class M>
struct References<M, std::enable_if_t<kOwns<M, typename M::first_type> || kOwns<M, typename M::second_type>>> {
  static constexpr bool kHasAny = true;
  static int visit(const M& pair, AnyffiVisit visit, void* context) {
    int status = visit_references_of(pair.first, visit, context);
    return status != 0 ? status : visit_references_of(pair.second, visit, context);
  }
};

}  // namespace detail ANYFFI_HIDDEN_

/// Passed to `visit_references` of an object class, which calls it once for each member that owns references.
class Visitor {
 public:
  Visitor(AnyffiVisit visit, void* context) : visit_(visit), context_(context) {}

  template <class M>
  void operator()(const M& member) const {
    static_assert(detail::References<M>::kHasAny,
                  "anyffi: this member owns no references that can be visited: visit Function, Ref<T>, AnyValue, "
                  "containers, std::function, and standard containers of them");
    if (status_ == 0) status_ = detail::References<M>::visit(member, visit_, context_);
  }
  int status() const { return status_; }

 private:
  AnyffiVisit visit_;
  void* context_;
  mutable int status_ = 0;
};

namespace detail ANYFFI_HIDDEN_ {

template <class T, class = void>
struct ParentClass {
  using Type = void;
};
template <class T>
struct ParentClass<T, std::void_t<typename T::Parent>> {
  using Type = typename T::Parent;
};

/// Whether T itself, not a base, declares `visit_references`.
template <class T, class = void>
inline constexpr bool kVisitsItself = false;
template <class T>
inline constexpr bool kVisitsItself<T, std::void_t<decltype(&T::visit_references)>> =
    std::is_same_v<decltype(&T::visit_references), void (T::*)(const Visitor&) const>;

template <auto... kMembers>
struct FieldList;

template <class T, class = void>
struct FieldsOf {
  static constexpr std::nullptr_t kFunction = nullptr;
  using List = FieldList<>;
};
template <class T>
struct FieldsOf<T, std::void_t<decltype(T::fields())>> {
  static constexpr auto kFunction = &T::fields;
  using List = decltype(T::fields());
};

template <auto kA, auto kB>
constexpr bool is_same_member() {
  if constexpr (std::is_same_v<decltype(kA), decltype(kB)>) {
    return kA == kB;
  } else {
    return false;
  }
}

/// The number of times a list of fields contains a member.
template <auto kMember, class List>
inline constexpr int kTimesListed = 0;
template <auto kMember, auto... kMembers>
inline constexpr int kTimesListed<kMember, FieldList<kMembers...>> = (0 + ... + is_same_member<kMember, kMembers>());

/// Whether T visits a member: one of its own class, or of any base if it declares no parent, which would visit its own
/// members.
template <class T, class M, class C>
constexpr bool owns_references(M C::*) {
  if constexpr (std::is_function_v<M>) {
    return false;
  } else {
    return References<std::remove_cv_t<M>>::kHasAny &&
           (std::is_same_v<C, T> || std::is_void_v<typename ParentClass<T>::Type>);
  }
}

/// Visits each data member among the fields once, even if several fields name it.
template <class T, class Listed>
struct FieldVisitor;
template <class T>
struct FieldVisitor<T, FieldList<>> {
  static constexpr bool kHasAny = false;
  static int visit(const T&, AnyffiVisit, void*) { return 0; }
};
template <class T, auto kFirst, auto... kRest>
struct FieldVisitor<T, FieldList<kFirst, kRest...>> {
  using Rest = FieldVisitor<T, FieldList<kRest...>>;
  static constexpr bool kIsVisited = owns_references<T>(kFirst) && kTimesListed<kFirst, FieldList<kRest...>> == 0;
  static constexpr bool kHasAny = kIsVisited || Rest::kHasAny;
  static int visit(const T& object, AnyffiVisit visit, void* context) {
    if constexpr (kIsVisited) {
      if (int status = visit_references_of(object.*kFirst, visit, context)) return status;
    }
    return Rest::visit(object, visit, context);
  }
};

/// The object that contains another one's content, and whose references that one shares; or NULL.
inline AnyffiObject* owner_of(const AnyffiValue* self) {
  return reinterpret_cast<const AnyffiInstance*>(self->as_object)->owner;
}

inline int visit_object(AnyffiObject* object, AnyffiVisit visit, void* context) {
  AnyffiValue value{};
  value.type_code = object->type_code;
  value.as_object = object;
  return visit(&value, context);
}

/// The references of a class: those that `visit_references` visits, or else those in the fields; and those of its
/// parents.
template <class T>
struct ClassVisitor {
  using Base = ClassVisitor<typename ParentClass<T>::Type>;
  using Fields = FieldVisitor<T, typename FieldsOf<T>::List>;
  static constexpr bool kHasAny = kVisitsItself<T> || Fields::kHasAny || Base::kHasAny;

  static int visit(const AnyffiValue* self, AnyffiVisit visit, void* context) {
    if (AnyffiObject* owner = owner_of(self)) return visit_object(owner, visit, context);
    return visit_content(*content_of<T>(self->as_object), visit, context);
  }
  static int visit_content(const T& object, AnyffiVisit visit, void* context) {
    if (int status = Base::visit_content(object, visit, context)) return status;
    if constexpr (kVisitsItself<T>) {
      Visitor visitor(visit, context);
      object.visit_references(visitor);
      return visitor.status();
    } else {
      return Fields::visit(object, visit, context);
    }
  }
};
template <>
struct ClassVisitor<void> {
  static constexpr bool kHasAny = false;
  template <class T>
  static int visit_content(const T&, AnyffiVisit, void*) {
    return 0;
  }
};

}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_VISIT_H_
