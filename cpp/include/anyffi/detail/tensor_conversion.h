/// \file
/// `.convert()` for typed tensors.
#ifndef ANYFFI_DETAIL_TENSOR_CONVERSION_H_
#define ANYFFI_DETAIL_TENSOR_CONVERSION_H_

#include <anyffi/detail/converting.h>
#include <anyffi/detail/tensor_spec.h>
#include <anyffi/traits_via.h>

namespace anyffi {

template <class T, auto... options>
class TypedView;
template <class T, auto... options>
class TypedTensor;

namespace detail {

template <class T, auto... options>
inline constexpr bool kHasConversion<TypedView<T, options...>> = true;
template <class T, auto... options>
inline constexpr bool kHasConversion<TypedTensor<T, options...>> = true;
template <class T>
inline constexpr bool kHasConversion<T, std::void_t<typename Traits<T>::Carrier>> =
    kHasConversion<typename Traits<T>::Carrier>;

/// `float64[:, :] | Sequence[Sequence[float]]`
template <class Requirement>
struct ConversionName {
  static constexpr auto build() {
    constexpr int kCode = Requirement::kType.code;
    auto built = Requirement::make_name(false);
    built.add(" | ");
    for (int32_t axis = 0; axis < Requirement::kRank; ++axis) built.add("Sequence[");
    if (Requirement::kRank < 0) built.add("Sequence[Any] | ");
    built.add(kCode == ANYFFI_kDLBool                             ? "bool"
              : kCode == ANYFFI_kDLInt || kCode == ANYFFI_kDLUInt ? "int"
              : kCode == ANYFFI_kDLComplex                        ? "complex"
                                                                  : "float");
    for (int32_t axis = 0; axis < Requirement::kRank; ++axis) built.add(']');
    return built;
  }
};

/// Accepts a T, or a value from which the runtime can make a tensor for it.
template <class T>
struct TensorConversion {
  using Requirement = typename T::Requirement;
  static_assert(!Requirement::kIsWritable,
                "anyffi: .convert() may copy, and what is written to a copy is lost: declare the elements const");
  ANYFFI_HIDDEN_ static constexpr auto name = fixed_text<ConversionName<Requirement>>();
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  struct Holder {
    AnyValue made;
    typename Traits<T>::Holder inner{};
  };
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    if (__builtin_expect(Traits<T>::load(value, holder.inner, why), 1)) return true;
    if (why.reason == ANYFFI_MISMATCH_RAISED) return false;
    if (!anyffi_tensor_convert(&value, &Requirement::kSpec, holder.made.out(), &why)) return false;
    AnyffiValue made = holder.made.raw();
    return Traits<T>::load(made, holder.inner, why);
  }
  static WithConversion<T> take(Holder& holder) { return {Traits<T>::take(holder.inner)}; }
  static AnyffiValue store(const WithConversion<T>& argument) { return Traits<T>::store(argument.value); }
};

/// The exact types: overloads are first tried with tensors alone, and without a conversion.
template <class T>
inline constexpr uint64_t kExactTypes<WithConversion<T>> = type_bits(ANYFFI_TENSOR);

}  // namespace detail

template <class T, auto... options>
struct Traits<detail::WithConversion<TypedView<T, options...>>> : detail::TensorConversion<TypedView<T, options...>> {};
template <class T, auto... options>
struct Traits<detail::WithConversion<TypedTensor<T, options...>>>
    : detail::TensorConversion<TypedTensor<T, options...>> {};
/// For a type that is converted through a typed tensor.
template <class T>
struct Traits<detail::WithConversion<T>, std::void_t<typename Traits<T>::Carrier>>
    : TraitsVia<detail::WithConversion<T>, detail::WithConversion<typename Traits<T>::Carrier>> {
  // By reference, because the result may refer to the carrier.
  static detail::WithConversion<T> from(const detail::WithConversion<typename Traits<T>::Carrier>& carrier) {
    return {Traits<T>::from(carrier.value)};
  }
};

}  // namespace anyffi

#endif  // ANYFFI_DETAIL_TENSOR_CONVERSION_H_
