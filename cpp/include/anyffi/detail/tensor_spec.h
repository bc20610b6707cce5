/// \file
/// The requirements of a typed tensor, from its template arguments: the description, the name, the check.
#ifndef ANYFFI_DETAIL_TENSOR_SPEC_H_
#define ANYFFI_DETAIL_TENSOR_SPEC_H_

#include <anyffi/data_type.h>
#include <anyffi/detail/data_type_names.h>

namespace anyffi {

/// The order of a tensor's elements in memory. `row_major`: the last index varies fastest (C); `col_major`: the first
/// one does (Fortran); `strided`: any strides.
enum TensorOrder : int32_t {
  strided = ANYFFI_ORDER_STRIDED,
  row_major = ANYFFI_ORDER_ROW_MAJOR,
  col_major = ANYFFI_ORDER_COL_MAJOR
};

/// Memory of any device, which is not accessed.
inline constexpr AnyffiDeviceType any_device = static_cast<AnyffiDeviceType>(0);

/// In `shape<any, 3>`: an axis of any size.
inline constexpr int64_t any = -1;

namespace detail {
template <int64_t... kExtents>
struct ShapeTag;
}  // namespace detail

/// An option of typed tensors: the number of elements along each axis.
template <int64_t... kExtents>
inline constexpr const detail::ShapeTag<kExtents...>* shape = nullptr;

namespace detail {

/// The options of a typed tensor.
struct TensorOptions {
  static constexpr int32_t kMostAxes = 16;
  int32_t rank = -1;  // -1: any
  int64_t extents[kMostAxes] = {};
  TensorOrder order = strided;
  AnyffiDeviceType device = ANYFFI_kDLCPU;
  bool is_valid = true;

  constexpr void set(int axes) {
    is_valid = is_valid && rank < 0 && axes >= 0 && axes <= kMostAxes;
    rank = axes;
    for (int64_t& extent : extents) extent = any;
  }
  template <int64_t... kExtents>
  constexpr void set(const ShapeTag<kExtents...>*) {
    set(static_cast<int>(sizeof...(kExtents)));
    int32_t axis = 0;
    ((is_valid = is_valid && kExtents >= any, extents[axis++] = kExtents), ...);
  }
  constexpr void set(TensorOrder which) { order = which; }
  constexpr void set(AnyffiDeviceType type) { device = type; }
};

template <auto... options>
constexpr TensorOptions parse_options() {
  TensorOptions parsed;
  (parsed.set(options), ...);
  return parsed;
}

/// Text composed by `Builder::build()`.
template <class Builder>
constexpr auto fixed_text() {
  constexpr auto kBuilt = Builder::build();
  FixedText<kBuilt.size> text;
  for (int i = 0; i < kBuilt.size; ++i) text.data[i] = kBuilt.text[i];
  return text;
}

/// `[:, 3, row_major, writable, cuda]`
template <int kCapacity>
constexpr void add_options(TextBuilder<kCapacity>& to, const TensorOptions& options, bool writable) {
  to.add(options.rank < 0 ? "[..." : options.rank == 0 ? "[()" : "[");
  for (int32_t axis = 0; axis < options.rank; ++axis) {
    if (axis > 0) to.add(", ");
    if (options.extents[axis] < 0) {
      to.add(':');
    } else {
      to.add(options.extents[axis]);
    }
  }
  if (options.order == row_major) to.add(", row_major");
  if (options.order == col_major) to.add(", col_major");
  if (writable) to.add(", writable");
#define ANYFFI_ROW_(NAME, number, text) \
  if ((number) != ANYFFI_kDLCPU && options.device == (number)) to.add(", " text);
  ANYFFI_DEVICE_TYPES(ANYFFI_ROW_)
#undef ANYFFI_ROW_
  if (options.device == any_device) to.add(", any_device");
  to.add(']');
}

/// Whether rows (or columns) of elements are contiguous. Axes of one element may have any stride.
template <int32_t kRank>
constexpr bool is_compact(const AnyffiTensorData& data, TensorOrder order) {
  uint64_t step = 1;
  bool compact = true;
  for (int32_t i = 0; i < kRank; ++i) {
    int32_t axis = order == row_major ? kRank - 1 - i : i;
    compact = compact && (data.strides[axis] == static_cast<int64_t>(step) || data.shape[axis] == 1);
    step *= static_cast<uint64_t>(data.shape[axis]);
  }
  return compact;
}

/// The requirements of a `TypedView<T, kOptions...>`.
template <class T, auto... kGiven>
struct TensorRequirement {
  using Element = std::remove_cv_t<T>;
  static constexpr TensorOptions kOptions = parse_options<kGiven...>();
  static_assert(kOptions.is_valid, "anyffi: a typed tensor has one rank or shape<...>, of up to 16 axes");
  static_assert(std::is_trivially_copyable_v<Element>, "anyffi: elements of tensors are plain numbers");
  static_assert(kHasDataType<Element>, "anyffi: specialise anyffi::DataTypeOf for the type of the elements");
  static constexpr AnyffiDataType kType = DataTypeOf<std::conditional_t<kHasDataType<Element>, Element, bool>>::value;
  static_assert(!kHasDataType<Element> || kType.bits * kType.lanes == 8 * sizeof(Element),
                "anyffi: the DataTypeOf this type has another size");
  static constexpr int32_t kRank = kOptions.rank;
  static constexpr TensorOrder kOrder = kOptions.order;
  static constexpr bool kIsWritable = !std::is_const_v<T>;
  /// Whether elements are contiguous, so that a pointer reaches all of them.
  static constexpr bool kIsCompact = kOrder != strided || kRank == 0;

  ANYFFI_HIDDEN_ static constexpr AnyffiTensorSpec kSpec{kType,           kRank,       kOptions.extents, kOrder,
                                                         kOptions.device, kIsWritable, alignof(T)};

  /// The annotation in Python, such as `float64[:, 3, row_major]`.
  static constexpr auto make_name(bool writable) {
    TextBuilder<255> built;
    add_data_type(built, kType);
    add_options(built, kOptions, writable);
    return built;
  }
  template <bool kWritable>
  struct Name {
    static constexpr auto build() { return make_name(kWritable); }
  };

  /// Whether a tensor meets the requirements. Also false for rare tensors that do, such as those without elements:
  /// `anyffi_tensor_match` decides about these.
  static bool fits(const AnyffiTensorData& data, uint64_t flags) {
    bool good = same_type(data.dtype);
    if constexpr (kRank >= 0) good = good && data.ndim == kRank && has_extents(data.shape);
    if constexpr (kRank >= 0 && kOrder != strided) good = good && is_compact<kRank>(data, kOrder);
    if constexpr (kRank < 0 && kOrder != strided) good = false;
    if constexpr (kOptions.device != any_device) good = good && data.device.type == kOptions.device;
    if constexpr (kIsWritable) good = good && (flags & ANYFFI_TENSOR_READ_ONLY) == 0;
    if constexpr (alignof(T) > 1) {
      good = good && (reinterpret_cast<uintptr_t>(data.data) + data.byte_offset) % alignof(T) == 0;
    }
    return good;
  }

  /// The tensor of a value, or NULL; then `why` is filled.
  static const AnyffiTensorData* find(const AnyffiValue& value, uint64_t& flags, AnyffiMismatch& why) {
    const AnyffiTensorData* data = tensor_in(value, flags);
    if (__builtin_expect(data && fits(*data, flags), 1)) return data;
    return anyffi_tensor_match(&value, &kSpec, &why) ? data : nullptr;
  }

 private:
  static bool same_type(const AnyffiDataType& type) {
    return type.code == kType.code && type.bits == kType.bits && type.lanes == kType.lanes;
  }
  static bool has_extents(const int64_t* extents) {
    bool same = true;
    for (int32_t axis = 0; axis < kRank; ++axis) {
      same = same && (kOptions.extents[axis] < 0 || kOptions.extents[axis] == extents[axis]);
    }
    return same;
  }
};

/// Whether any tensor that meets the requirements of From meets those of To.
template <class From, class To>
constexpr bool implies() {
  constexpr TensorOptions kFrom = From::kOptions, kTo = To::kOptions;
  if (!std::is_same_v<typename From::Element, typename To::Element>) return false;
  if (To::kIsWritable && !From::kIsWritable) return false;
  if (kTo.rank >= 0 && kTo.rank != kFrom.rank) return false;
  for (int32_t axis = 0; axis < kTo.rank; ++axis) {
    if (kTo.extents[axis] >= 0 && kTo.extents[axis] != kFrom.extents[axis]) return false;
  }
  bool is_line = kFrom.rank >= 0 && kFrom.rank <= 1 && From::kIsCompact;
  if (kTo.order != strided && kTo.order != kFrom.order && !is_line) return false;
  return kTo.device == any_device || kTo.device == kFrom.device;
}

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_TENSOR_SPEC_H_
