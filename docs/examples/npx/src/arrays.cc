#include "arrays.h"

#include <algorithm>

namespace npx {

void Dims::insert(int index, int64_t value) {
  if (size_ == kMaxDims) fail("ValueError", "an array has at most 64 dimensions");
  for (int i = size_++; i > index; --i) values_[i] = values_[i - 1];
  values_[index] = value;
}

void Dims::erase(int index) {
  for (int i = index + 1; i < size_; ++i) values_[i - 1] = values_[i];
  --size_;
}

bool operator==(const Dims& a, const Dims& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

std::string text_of(const Dims& dims) {
  std::string text = "(";
  for (int i = 0; i < dims.size(); ++i) text += (i ? "," : "") + std::to_string(dims[i]);
  return text + (dims.size() == 1 ? ",)" : ")");
}

int64_t element_count(const Dims& shape, int64_t item_size) {
  int64_t size = item_size;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0) fail("ValueError", "negative dimensions are not allowed");
    empty = empty || extent == 0;
    if (extent > 0 && __builtin_mul_overflow(size, extent, &size)) {
      fail("ValueError", "array is too big; its number of elements or bytes is beyond 64 bits");
    }
  }
  return empty ? 0 : size / item_size;
}

Strided Strided::without(int axis) const {
  Strided result = *this;
  result.shape.erase(axis);
  result.strides.erase(axis);
  return result;
}

Strided Strided::transposed(const Dims& order) const {
  Strided result = *this;
  for (int i = 0; i < order.size(); ++i) {
    result.shape[i] = shape[static_cast<int>(order[i])];
    result.strides[i] = strides[static_cast<int>(order[i])];
  }
  return result;
}

Strided Strided::moved(int axis, int place) const {
  Dims order;
  for (int i = 0; i < ndim(); ++i) order.push_back(i);
  order.erase(axis);
  order.insert(place, axis);
  return transposed(order);
}

Strided Strided::broadcast(const Dims& to) const {
  Strided result{data, dtype, to, Dims(to.size(), 0)};
  for (int i = ndim() - 1, j = to.size() - 1; i >= 0; --i, --j) {
    if (shape[i] != 1) result.strides[j] = strides[i];
  }
  return result;
}

Strided Strided::slice(int axis, int64_t start, int64_t stop) const {
  Strided result = *this;
  result.data += start * strides[axis];
  result.shape[axis] = stop - start;
  return result;
}

Strided Strided::with_axis(int axis) const {
  Strided result = *this;
  result.shape.insert(axis, 1);
  result.strides.insert(axis, 0);
  return result;
}

Strided Strided::flipped(int axis) const {
  Strided result = *this;
  if (shape[axis] > 0) result.data += (shape[axis] - 1) * strides[axis];
  result.strides[axis] = -strides[axis];
  return result;
}

namespace {

Strided strided(const Tensor& tensor, const void* data) {
  with_type(tensor.dtype(), [](auto) {});  // TypeError unless it is one of the fourteen
  Strided result{static_cast<char*>(const_cast<void*>(data)), tensor.dtype(), Dims(tensor.shape(), tensor.ndim()),
                 Dims(tensor.strides(), tensor.ndim())};
  for (int i = 0; i < result.ndim(); ++i) result.strides[i] *= tensor.dtype().item_size();
  return result;
}

}  // namespace

Strided read(const Tensor& tensor) { return strided(tensor, tensor.data<const void>()); }

Strided write(const Tensor& tensor) {
  if (tensor.read_only()) fail("ValueError", "output array is read-only");
  return strided(tensor, tensor.data<void>());
}

Tensor allocate(const Dims& shape, DataType dtype) {
  with_type(dtype, [](auto) {});
  element_count(shape, dtype.item_size());
  return Tensor::empty(shape.begin(), shape.size(), dtype);
}

Tensor view_of(const Tensor& base, const Strided& part, bool read_only) {
  Dims shape = part.shape, strides = part.strides;
  for (int i = 0; i < strides.size(); ++i) strides[i] /= part.dtype.item_size();
  AnyffiTensorData data{part.data, base.device(), part.ndim(), part.dtype, &shape[0], &strides[0], 0};
  return Tensor(data, base.flags() | (read_only ? ANYFFI_TENSOR_READ_ONLY : 0), base);
}

Tensor reshaped(const Tensor& compact, const Dims& shape) {
  Strided array{read(compact).data, compact.dtype(), shape, Dims(shape.size(), 0)};
  int64_t step = compact.dtype().item_size();
  for (int i = shape.size() - 1; i >= 0; step *= shape[i--]) array.strides[i] = step;
  return view_of(compact, array);
}

Dims broadcast_shapes(const Dims& a, const Dims& b) {
  if (a.size() < b.size()) return broadcast_shapes(b, a);
  Dims result = a;
  for (int i = a.size() - 1, j = b.size() - 1; j >= 0; --i, --j) {
    if (a[i] == 1) result[i] = b[j];
    if (a[i] != b[j] && a[i] != 1 && b[j] != 1) {
      fail("ValueError", "operands could not be broadcast together with shapes " + text_of(a) + " and " + text_of(b));
    }
  }
  return result;
}

DataType promote_all(std::vector<DataType> dtypes) {
  std::stable_sort(dtypes.begin(), dtypes.end(), [](DataType a, DataType b) { return kind_order(a) > kind_order(b); });
  DataType result = dtypes.front();
  for (DataType dtype : dtypes) result = promote(result, dtype);
  return result;
}

Dims read_shape(const ShapeArg& shape) {
  Dims result;
  auto add = [&](const BigInt& extent) {
    if (!extent.fits_int64()) fail("ValueError", "Maximum allowed dimension exceeded");
    result.push_back(extent.to_int64());
  };
  if (shape.holds<BigInt>()) {
    add(shape.get<BigInt>());
  } else {
    for (const BigInt& extent : shape.get<Array<BigInt>>()) add(extent);
  }
  return result;
}

int read_axis(int64_t axis, int ndim) {
  if (axis < -ndim || axis >= ndim) {
    fail("AxisError",
         "axis " + std::to_string(axis) + " is out of bounds for array of dimension " + std::to_string(ndim));
  }
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

Dims read_ints(const Variant<int64_t, Array<int64_t>>& numbers) {
  if (numbers.holds<int64_t>()) return {numbers.get<int64_t>()};
  Dims result;
  for (int64_t number : numbers.get<Array<int64_t>>()) result.push_back(number);
  return result;
}

Dims read_axes(const AxisArg& axes, int ndim) {
  if (!axes) return Dims(ndim, 1);
  Dims result(ndim, 0), given = read_ints(*axes);
  for (int64_t axis : given) read_axis(axis, ndim);
  for (int64_t axis : given) {
    int64_t& named = result[read_axis(axis, ndim)];
    if (named) fail("ValueError", "duplicate value in 'axis'");
    named = 1;
  }
  return result;
}

DataType read_dtype(const DTypeArg& dtype, DataType otherwise) {
  if (!dtype) return otherwise;
  Variant<DataType, String> given = *dtype;
  if (given.holds<DataType>()) return given.get<DataType>();
  for (DataType each : {kBool, kInt8, DataType::of<int16_t>(), DataType::of<int32_t>(), kInt64, DataType::of<uint8_t>(),
                        DataType::of<uint16_t>(), DataType::of<uint32_t>(), kUInt64, DataType::of<Half>(),
                        DataType::of<float>(), kFloat64, DataType::of<std::complex<float>>(), kComplex128}) {
    if (each.text() == given.get<String>()) return each;
  }
  throw Error("TypeError", anyffi::join("", Array<String>{"no dtype is called ", given.get<String>()}));
}

}  // namespace npx
