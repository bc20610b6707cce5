/// \file
/// Loads the values of fields with the traits of C++ containers, whose element types are known only at run time.
#ifndef ANYFFI_SRC_RECORDS_FIELD_LOADS_H_
#define ANYFFI_SRC_RECORDS_FIELD_LOADS_H_

#include <utility>

#include "records/field_type.h"

namespace anyffi::runtime {

using FieldParts = const std::unique_ptr<const FieldType>*;

/// The element types of the container that the thread is loading.
FieldParts& current_parts() noexcept;

class Current {
 public:
  explicit Current(FieldParts parts) : former_(std::exchange(current_parts(), parts)) {}
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() { current_parts() = former_; }

 private:
  FieldParts former_;
};

/// Stands for an element type in C++ traits: element type `I` of `current_parts`.
template <int I>
struct Part {};

}  // namespace anyffi::runtime

namespace anyffi {

template <int I>
struct Traits<runtime::Part<I>> {
  static constexpr FixedText name{"Any"};
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  using Holder = AnyValue;
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    const runtime::FieldType& type = *runtime::current_parts()[I];
    return type.load(type, value, holder, why);
  }
  static AnyffiValue take(AnyValue& holder) { return holder.release(); }
};

namespace detail {

/// Loads an element, and stores the value to which the element type converts it.
template <int I>
Fit load_part(Element& element, const AnyffiValue& key, AnyValue& converted, AnyffiMismatch& why) {
  if (!Traits<runtime::Part<I>>::load(element.value, converted, why)) {
    element.refused(why, key);
    return Fit::kRefused;
  }
  return same_words(converted.raw(), element.value) ? Fit::kUnchanged : Fit::kConverted;
}
template <>
inline Fit load_element<runtime::Part<0>>(Element& element, const AnyffiValue& key, AnyValue& converted,
                                          AnyffiMismatch& why) {
  return load_part<0>(element, key, converted, why);
}
template <>
inline Fit load_element<runtime::Part<1>>(Element& element, const AnyffiValue& key, AnyValue& converted,
                                          AnyffiMismatch& why) {
  return load_part<1>(element, key, converted, why);
}

}  // namespace detail
}  // namespace anyffi

namespace anyffi::runtime {

/// Names the whole type in `why`, if the value itself was rejected rather than an element. Always false.
bool refused_as(const FieldType& type, AnyffiMismatch& why);
/// Whether the type masks of a container prove that its elements need no check.
bool has_fitting_elements(const FieldType& type, const AnyffiValue& given);

template <class T>
bool load_leaf(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  typename Traits<T>::Holder holder{};
  if (!Traits<T>::load(given, holder, why)) return refused_as(type, why);
  AnyffiValue made = Traits<T>::store(Traits<T>::take(holder));
  detail::settle(made);
  out = AnyValue(detail::Adopt{}, made);
  return true;
}

/// A box is not unboxed: the field is a pointer to it.
template <>
inline bool load_leaf<ObjectRef>(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  AnyValue holder;
  if (!Traits<ObjectRef>::load(given, holder, why)) return refused_as(type, why);
  out = std::move(holder);
  return true;
}

template <class C, int32_t kCode = ANYFFI_NONE>
bool load_container(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  if (given.type_code == kCode && has_fitting_elements(type, given)) {
    detail::hold_object(given, out);
    return true;
  }
  Current current(type.parts.data());
  AnyValue holder;
  if (!Traits<C>::load(given, holder, why)) return refused_as(type, why);
  out = std::move(holder);
  return true;
}

bool load_tuple(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why);
bool load_union(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why);
bool load_object(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why);
bool load_named(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why);
bool load_literal(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why);
bool load_enumeration(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why);
bool load_instance(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_RECORDS_FIELD_LOADS_H_
