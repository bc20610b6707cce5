/// \file
/// DataType and Device: the type of a tensor's elements, and where its memory is.
#ifndef ANYFFI_DATA_TYPE_H_
#define ANYFFI_DATA_TYPE_H_

#include <anyffi/string.h>

namespace anyffi {

/// The DataType of a C++ type: `static constexpr AnyffiDataType value`. Specialise it for your own number types.
template <class T, class Enable = void>
struct DataTypeOf;

template <class T>
struct DataTypeOf<T, std::enable_if_t<std::is_integral_v<T>>> {
  static constexpr AnyffiDataType value{
      std::is_same_v<T, bool> ? ANYFFI_kDLBool : (std::is_signed_v<T> ? ANYFFI_kDLInt : ANYFFI_kDLUInt), 8 * sizeof(T),
      1};
};

template <class T>
struct DataTypeOf<T, std::enable_if_t<std::is_floating_point_v<T> && sizeof(T) <= 8>> {
  static constexpr AnyffiDataType value{ANYFFI_kDLFloat, 8 * sizeof(T), 1};
};

template <class E>
struct DataTypeOf<E, std::enable_if_t<std::is_enum_v<E>>> : DataTypeOf<std::underlying_type_t<E>> {};

namespace detail {
template <class T, class = void>
inline constexpr bool kHasDataType = false;
template <class T>
inline constexpr bool kHasDataType<T, std::void_t<decltype(DataTypeOf<T>::value)>> = true;

/// The tensor in a value, with its flags; NULL if the value is none.
inline const AnyffiTensorData* tensor_in(const AnyffiValue& value, uint64_t& flags) {
  if (value.type_code == ANYFFI_TENSOR) {
    auto* tensor = reinterpret_cast<const AnyffiTensor*>(value.as_object);
    flags = tensor->flags;
    return &tensor->tensor;
  }
  if (value.type_code != ANYFFI_TENSOR_VIEW) return nullptr;
  flags = value.aux;
  return static_cast<const AnyffiTensorData*>(value.as_pointer);
}
}  // namespace detail

/// The type of a tensor's elements: DLPack's DLDataType.
struct DataType : AnyffiDataType {
  constexpr DataType(const AnyffiDataType& other) : AnyffiDataType(other) {}  // NOLINT: implicit on purpose
  constexpr explicit DataType(AnyffiDataTypeCode type_code, uint8_t num_bits, uint16_t num_lanes = 1)
      : AnyffiDataType{static_cast<uint8_t>(type_code), num_bits, num_lanes} {}
  /// The type of C++ elements, such as `DataType::of<float>()`.
  template <class T>
  static constexpr DataType of() {
    return DataTypeOf<T>::value;
  }
  /// Bytes of one element with all its lanes.
  constexpr int64_t item_size() const { return (int64_t{bits} * lanes + 7) / 8; }
  /// The name, such as "float32x4".
  String text() const {
    AnyValue name;
    detail::check(anyffi_data_type_to_str(this, name.out()));
    return name.cast<String>();
  }
  friend constexpr bool operator==(const DataType& a, const DataType& b) {
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
  }
  friend constexpr bool operator!=(const DataType& a, const DataType& b) { return !(a == b); }
};

/// A device type and an index: DLPack's DLDevice.
struct Device : AnyffiDevice {
  constexpr Device(const AnyffiDevice& other) : AnyffiDevice(other) {}  // NOLINT: implicit on purpose
  constexpr explicit Device(AnyffiDeviceType device_type = ANYFFI_kDLCPU, int32_t ordinal = 0)
      : AnyffiDevice{device_type, ordinal} {}
  /// The name, such as "cuda:1".
  String text() const {
    AnyValue name;
    detail::check(anyffi_device_to_str(this, name.out()));
    return name.cast<String>();
  }
  friend constexpr bool operator==(const Device& a, const Device& b) { return a.type == b.type && a.index == b.index; }
  friend constexpr bool operator!=(const Device& a, const Device& b) { return !(a == b); }
};

template <>
struct Traits<DataType> {
  static constexpr FixedText name{"dtype"};
  static constexpr uint64_t type_mask = detail::type_bits(ANYFFI_DATA_TYPE);
  static constexpr bool kBorrows = false;
  using Holder = AnyffiDataType;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    const AnyffiValue& value = detail::unboxed(given);
    holder = value.as_data_type;
    return value.type_code == ANYFFI_DATA_TYPE || detail::refuse(why, value, name);
  }
  static DataType take(Holder& holder) { return holder; }
  static AnyffiValue store(const DataType& dtype) {
    AnyffiValue value{};
    value.type_code = ANYFFI_DATA_TYPE;
    value.as_data_type = dtype;
    return value;
  }
};

template <>
struct Traits<Device> {
  static constexpr FixedText name{"Device"};
  static constexpr uint64_t type_mask = detail::type_bits(ANYFFI_DEVICE);
  static constexpr bool kBorrows = false;
  using Holder = AnyffiDevice;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    const AnyffiValue& value = detail::unboxed(given);
    holder = value.as_device;
    return value.type_code == ANYFFI_DEVICE || detail::refuse(why, value, name);
  }
  static Device take(Holder& holder) { return holder; }
  static AnyffiValue store(const Device& device) {
    AnyffiValue value{};
    value.type_code = ANYFFI_DEVICE;
    value.as_device = device;
    return value;
  }
};

}  // namespace anyffi

#endif  // ANYFFI_DATA_TYPE_H_
