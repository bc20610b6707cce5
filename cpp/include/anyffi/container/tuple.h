/// \file
/// Tuple<Ts...>: an Array of a fixed length, with a type for each element.
#ifndef ANYFFI_CONTAINER_TUPLE_H_
#define ANYFFI_CONTAINER_TUPLE_H_

#include <anyffi/container/sequence.h>
#include <anyffi/traits_via.h>
#include <anyffi/variant.h>

namespace anyffi {

namespace detail {

/// `int, str, float`
template <class First, class... Rest>
constexpr auto list_names() {
  return (FixedText(Traits<First>::name) + ... + (", " + FixedText(Traits<Rest>::name)));
}

template <class First, class... Rest>
constexpr auto list_result_names() {
  return (kResultName<First> + ... + (", " + kResultName<Rest>));
}
template <class First, class... Rest>
constexpr auto list_key_names() {
  return (kKeyName<First> + ... + (", " + kKeyName<Rest>));
}

/// The annotation of a tuple of results, and of one that is a key.
template <class... Ts>
ANYFFI_HIDDEN_ inline constexpr auto kTupleResultName = "tuple[" + list_result_names<Ts...>() + "]";
template <>
ANYFFI_HIDDEN_ inline constexpr auto kTupleResultName<> = FixedText("tuple[()]");
template <class... Ts>
ANYFFI_HIDDEN_ inline constexpr auto kTupleKeyName = "tuple[" + list_key_names<Ts...>() + "]";
template <>
ANYFFI_HIDDEN_ inline constexpr auto kTupleKeyName<> = FixedText("tuple[()]");

/// A number in decimal.
template <int kNumber>
constexpr auto number_text() {
  constexpr char digit[] = {static_cast<char>('0' + kNumber % 10), 0};
  if constexpr (kNumber < 10) {
    return FixedText<1>(digit);
  } else {
    return number_text<kNumber / 10>() + FixedText<1>(digit);
  }
}

template <size_t I, class... Ts>
struct TypeAt;
template <size_t I, class First, class... Rest>
struct TypeAt<I, First, Rest...> : TypeAt<I - 1, Rest...> {};
template <class First, class... Rest>
struct TypeAt<0, First, Rest...> {
  using Type = First;
};

}  // namespace detail

/// An immutable sequence of a fixed length: `auto [count, name] = tuple;`. An Array of that length is passed by
/// reference, a List is copied.
template <class... Ts>
class Tuple : public ObjectRef {
 public:
  using ObjectRef::ObjectRef;
  Tuple(const Ts&... items)  // NOLINT: implicit, as a braced list is
      : ObjectRef(detail::Adopt{}, detail::new_sequence(ANYFFI_ARRAY, sizeof...(Ts))) {
    (append(Traits<Ts>::store(items)), ...);
  }

  static constexpr int64_t size() noexcept { return sizeof...(Ts); }
  using ObjectRef::get;
  template <size_t I>
  typename detail::TypeAt<I, Ts...>::Type get() const {
    const auto* sequence = reinterpret_cast<const AnyffiSequence*>(object_);
    return detail::convert<typename detail::TypeAt<I, Ts...>::Type>(sequence->data[I]);
  }

 private:
  /// Steals the value, with its flags: see TraitsVia.
  void append(const AnyffiValue& owned) {
    auto* sequence = reinterpret_cast<AnyffiSequence*>(object_);
    sequence->type_mask |= anyffi_type_bit(owned.type_code);
    detail::assign(sequence->data[sequence->size++], owned);
  }
};

template <class... Ts>
struct Traits<Tuple<Ts...>> : detail::RefTraits<Tuple<Ts...>> {
  ANYFFI_HIDDEN_ static constexpr auto name = [] {
    if constexpr (sizeof...(Ts) == 0) {
      return FixedText("tuple[()]");
    } else {
      return "tuple[" + detail::list_names<Ts...>() + "]";
    }
  }();
  ANYFFI_HIDDEN_ static constexpr auto result_name = [] {
    if constexpr (sizeof...(Ts) == 0) {
      return FixedText("Array");
    } else {
      return "Array[" + detail::unite_names<Traits<Ts>::name...>() + "]";
    }
  }();
  static constexpr auto kSizeText = "expected " + detail::number_text<sizeof...(Ts)>() + " elements";
  static constexpr uint64_t type_mask = 0;
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    if (!detail::is_array(value.type_code) && value.type_code != ANYFFI_LIST) return detail::refuse(why, value, name);
    // Checks the size again at the end, since conversions may run code that changes a List.
    if (!has_size(value, why) || !load_elements(value, holder, why, std::index_sequence_for<Ts...>())) return false;
    if (!holder.is_none()) return has_size(holder.raw(), why);
    if (detail::is_array(value.type_code)) return detail::hold_object(value, holder);
    return has_size(value, why) && detail::load_as(value, holder, ANYFFI_ARRAY, why);
  }

 private:
  static bool has_size(const AnyffiValue& value, AnyffiMismatch& why) {
    if (reinterpret_cast<const AnyffiSequence*>(value.as_object)->size == sizeof...(Ts)) return true;
    return detail::refuse(why, value, name, ANYFFI_MISMATCH_VALUE, kSizeText);
  }
  template <size_t... I>
  static bool load_elements(const AnyffiValue& value, AnyValue& copy, AnyffiMismatch& why, std::index_sequence<I...>) {
    (void)value, (void)copy, (void)why;
    return (load_one<Ts>(value, copy, why, I) && ...);
  }
  template <class T>
  static bool load_one(const AnyffiValue& value, AnyValue& copy, AnyffiMismatch& why, int64_t index) {
    const auto* sequence = reinterpret_cast<const AnyffiSequence*>(value.as_object);
    if (index >= sequence->size) return detail::refuse_changed(why);
    AnyValue converted;
    detail::Element element(sequence->data[index], sequence->header);
    detail::Fit fit = detail::load_element<T>(element, Traits<int64_t>::store(index), converted, why);
    if (fit != detail::Fit::kConverted) return fit == detail::Fit::kUnchanged;
    return detail::convert_cell(value, copy, index, std::move(converted), why);
  }
};

namespace detail {
template <class... Ts>
struct CopyOf<Tuple<Ts...>> {
  ANYFFI_HIDDEN_ static constexpr auto result_name = kTupleResultName<Ts...>;
  ANYFFI_HIDDEN_ static constexpr auto key_name = kTupleKeyName<Ts...>;
  static constexpr uint32_t flags = ANYFFI_NATIVE;
};
}  // namespace detail

}  // namespace anyffi

namespace std {  // structured bindings

template <class... Ts>
struct tuple_size<anyffi::Tuple<Ts...>> : integral_constant<size_t, sizeof...(Ts)> {};
template <size_t I, class... Ts>
struct tuple_element<I, anyffi::Tuple<Ts...>> {
  using type = typename anyffi::detail::TypeAt<I, Ts...>::Type;
};

}  // namespace std

#endif  // ANYFFI_CONTAINER_TUPLE_H_
