/// \file
/// DataType, Device and Tensor.
#ifndef ANYFFI_TENSOR_H_
#define ANYFFI_TENSOR_H_

#include <anyffi/container/sequence.h>

namespace anyffi {

template <>
struct Traits<AnyffiDataType> {
  static constexpr FixedText name{"dtype"};
  static constexpr uint64_t kinds = detail::kind_bits(ANYFFI_DATA_TYPE);
  static constexpr bool kBorrows = false;
  using Holder = AnyffiDataType;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    const AnyffiValue& value = detail::unboxed(given);
    holder = value.as_data_type;
    return value.type_code == ANYFFI_DATA_TYPE || detail::refuse(why, value, name);
  }
  static AnyffiDataType take(Holder& holder) { return holder; }
  static AnyffiValue store(AnyffiDataType dtype) {
    AnyffiValue value{};
    value.type_code = ANYFFI_DATA_TYPE;
    value.as_data_type = dtype;
    return value;
  }
};

template <>
struct Traits<AnyffiDevice> {
  static constexpr FixedText name{"Device"};
  static constexpr uint64_t kinds = detail::kind_bits(ANYFFI_DEVICE);
  static constexpr bool kBorrows = false;
  using Holder = AnyffiDevice;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    const AnyffiValue& value = detail::unboxed(given);
    holder = value.as_device;
    return value.type_code == ANYFFI_DEVICE || detail::refuse(why, value, name);
  }
  static AnyffiDevice take(Holder& holder) { return holder; }
  static AnyffiValue store(AnyffiDevice device) {
    AnyffiValue value{};
    value.type_code = ANYFFI_DEVICE;
    value.as_device = device;
    return value;
  }
};

/// A tensor and its share of the memory.
class Tensor : public ObjectRef {
 public:
  using ObjectRef::ObjectRef;
  /// Over memory that `owner` keeps alive; takes over `owner`, also when it throws.
  Tensor(const AnyffiTensorData& data, uint64_t flags, void* owner, void (*release_owner)(void*))
      : ObjectRef(detail::Adopt{}, nullptr) {
    AnyffiValue created;
    detail::check(anyffi_tensor_create(&data, flags, owner, release_owner, &created));
    object_ = created.as_object;
  }
  int32_t ndim() const noexcept { return data().ndim; }
  /// In elements, `ndim()` of them.
  const int64_t* shape() const noexcept { return data().shape; }
  /// In elements, `ndim()` of them.
  const int64_t* strides() const noexcept { return data().strides; }
  AnyffiDataType dtype() const noexcept { return data().dtype; }
  AnyffiDevice device() const noexcept { return data().device; }
  /// AnyffiTensorFlag.
  uint64_t flags() const noexcept { return reinterpret_cast<const AnyffiTensor*>(object_)->flags; }
  bool read_only() const noexcept { return (flags() & ANYFFI_TENSOR_READ_ONLY) != 0; }
  const AnyffiTensorData& data() const noexcept { return reinterpret_cast<const AnyffiTensor*>(object_)->tensor; }
};

template <>
struct Traits<Tensor> : detail::StaticRefTraits<Tensor, ANYFFI_TENSOR> {
  static constexpr FixedText name{"Tensor"};
};

}  // namespace anyffi

#endif  // ANYFFI_TENSOR_H_
