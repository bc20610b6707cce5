#include "lanes.h"

namespace npx {
namespace {

/// C's cast, with NumPy's results if C has undefined behaviour.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<From, Half>) {
    return convert<To>(static_cast<double>(value));
  } else if constexpr (std::is_same_v<From, std::complex<float>>) {
    return convert<To>(Complex(value));
  } else if constexpr (std::is_same_v<To, std::complex<float>>) {
    return To(convert<Complex>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From();
  } else if constexpr (kIsComplex<From> && !kIsComplex<To>) {
    return convert<To>(value.real());
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (value >= 0x1p63 && value < 0x1p64) return static_cast<To>(static_cast<uint64_t>(value));
    return static_cast<To>(std::fabs(value) < 0x1p63 ? static_cast<int64_t>(value) : INT64_MIN);
  } else if constexpr (std::is_same_v<To, Half>) {
    return Half(static_cast<double>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class T, class C>
void load(const char* from, int64_t step, int64_t count, void* block) {
  for (int64_t i = 0; i < count; ++i, from += step) {
    // Any byte except 0 is True.
    std::conditional_t<std::is_same_v<T, bool>, uint8_t, T> element;
    std::memcpy(&element, from, sizeof(T));
    if constexpr (std::is_same_v<T, bool>) element = element != 0;
    static_cast<C*>(block)[i] = convert<C>(element);
  }
}

template <class T, class C>
void store(const void* block, int64_t count, char* to, int64_t step) {
  for (int64_t i = 0; i < count; ++i, to += step) {
    T element = convert<T>(static_cast<const C*>(block)[i]);
    std::memcpy(to, &element, sizeof(T));
  }
}

}  // namespace

Load loader(DataType from, Lane to) {
  return with_type(from, [to](auto type) -> Load {
    using T = typename decltype(type)::type;
    constexpr Load kLoads[] = {load<T, int64_t>, load<T, uint64_t>, load<T, double>, load<T, Complex>};
    return kLoads[static_cast<int>(to)];
  });
}

Store storer(Lane from, DataType to) {
  return with_type(to, [from](auto type) -> Store {
    using T = typename decltype(type)::type;
    constexpr Store kStores[] = {store<T, int64_t>, store<T, uint64_t>, store<T, double>, store<T, Complex>};
    return kStores[static_cast<int>(from)];
  });
}

}  // namespace npx
