/// \file
/// Native<T>: a result, or an argument of a callback, that becomes an object of Python's own.
#ifndef ANYFFI_NATIVE_H_
#define ANYFFI_NATIVE_H_

#include <anyffi/container/mapping.h>
#include <anyffi/container/set.h>
#include <anyffi/container/shape.h>
#include <anyffi/container/tuple.h>
#include <anyffi/tensor.h>
#include <anyffi/typed_tensor.h>

namespace anyffi {

/// A T that Python gets as an object of its own, at all levels: a List as a `list`, a Dict as a `dict`, and so on, by
/// copy; a Tensor as a NumPy array on its memory. Converts from a T, and can be used anywhere a T can.
///
///     ANYFFI_EXPORT(eye, [](int64_t n) -> anyffi::Native<anyffi::Tensor> { ... });
///
/// Containers of the standard library always become Python's own. As a parameter, Native<T> accepts what T accepts.
template <class T>
struct Native {
  Native() = default;
  Native(T given) : value(std::move(given)) {}  // NOLINT: implicit on purpose
  T value;
};

namespace detail {

/// The annotation of a T inside a Native.
template <class T>
struct NativeName {
  static constexpr bool kIsSame = !std::is_same_v<T, AnyValue>;
  ANYFFI_HIDDEN_ static constexpr auto value = kResultName<T>;
};
template <class T>
ANYFFI_HIDDEN_ inline constexpr auto kNativeName = NativeName<T>::value;

template <>
struct NativeName<Tensor> {
  static constexpr bool kIsSame = false;
  static constexpr FixedText value{"numpy.ndarray"};
};
template <class T, auto... options>
struct NativeName<TypedTensor<T, options...>> : NativeName<Tensor> {};
template <class T>
struct NativeName<List<T>> {
  static constexpr bool kIsSame = false;
  ANYFFI_HIDDEN_ static constexpr auto value = "list[" + kNativeName<T> + "]";
};
template <class T>
struct NativeName<Array<T>> {
  static constexpr bool kIsSame = false;
  ANYFFI_HIDDEN_ static constexpr auto value = "tuple[" + kNativeName<T> + ", ...]";
};
template <class K, class V>
struct NativeName<Dict<K, V>> {
  static constexpr bool kIsSame = false;
  ANYFFI_HIDDEN_ static constexpr auto value = "dict[" + kNativeName<K> + ", " + kNativeName<V> + "]";
};
template <class K, class V>
struct NativeName<Map<K, V>> {
  static constexpr bool kIsSame = false;
  ANYFFI_HIDDEN_ static constexpr auto value = "MappingProxyType[" + kNativeName<K> + ", " + kNativeName<V> + "]";
};
template <class T>
struct NativeName<Set<T>> {
  static constexpr bool kIsSame = false;
  ANYFFI_HIDDEN_ static constexpr auto value = "set[" + kNativeName<T> + "]";
};
template <class T>
struct NativeName<FrozenSet<T>> {
  static constexpr bool kIsSame = false;
  ANYFFI_HIDDEN_ static constexpr auto value = "frozenset[" + kNativeName<T> + "]";
};
template <>
struct NativeName<Shape> {
  static constexpr bool kIsSame = false;
  static constexpr FixedText value{"tuple[int, ...]"};
};
template <class First, class... Rest>
struct NativeName<Tuple<First, Rest...>> {
  static constexpr bool kIsSame = false;
  ANYFFI_HIDDEN_ static constexpr auto value = "tuple[" + (kNativeName<First> + ... + (", " + kNativeName<Rest>)) + "]";
};

}  // namespace detail

template <class T>
struct Traits<Native<T>, std::enable_if_t<detail::HasTraits<T>::value>> {
  static_assert(
      !detail::NativeName<T>::kIsSame,
      "anyffi: Native<T> is for List, Dict, ..., Tuple, Tensor and AnyValue. Types of the standard library are "
      "copies anyway: write std::vector<Native<T>> instead of Native<std::vector<T>>");
  static constexpr auto name = Traits<T>::name;
  ANYFFI_HIDDEN_ static constexpr auto result_name = detail::kNativeName<T>;
  static constexpr uint64_t type_mask = Traits<T>::type_mask;
  static constexpr uint32_t result_flags = ANYFFI_NATIVE | ANYFFI_DEEP;
  static constexpr bool kBorrows = false;
  using Holder = typename Traits<T>::Holder;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    return Traits<T>::load(value, holder, why);
  }
  static Native<T> take(Holder& holder) { return Native<T>(Traits<T>::take(holder)); }
  static AnyffiValue store(const Native<T>& native) {
    return detail::with_flags(Traits<T>::store(native.value), result_flags);
  }
  static AnyffiValue store(Native<T>&& native) {
    return detail::with_flags(Traits<T>::store(std::move(native.value)), result_flags);
  }
};

}  // namespace anyffi

#endif  // ANYFFI_NATIVE_H_
