/// \file
/// Functions that inspect, read and write tensors.

#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>

#include <cstring>
#include <thread>

namespace {

using anyffi::AnyValue;
using anyffi::arg;
using anyffi::Array;
using anyffi::DataType;
using anyffi::Device;
using anyffi::Function;
using anyffi::Optional;
using anyffi::Shape;
using anyffi::Tensor;
using anyffi::TensorView;

/// Calls `visit` with a pointer to each element, in row-major order.
template <class T, class Visit>
void visit_elements(const TensorView& x, T* element, int32_t axis, Visit visit) {
  if (axis == x.ndim()) return visit(element);
  for (int64_t i = 0; i < x.shape()[axis]; ++i) visit_elements(x, element + i * x.strides()[axis], axis + 1, visit);
}

double sum(const TensorView& x) {
  double total = 0;
  visit_elements(x, x.data<const double>(), 0, [&](const double* element) { total += *element; });
  return total;
}

void fill(const TensorView& x, double value) {
  visit_elements(x, x.data<double>(), 0, [&](double* element) { *element = value; });
}

/// Tensors of one axis.
Tensor add(const TensorView& a, const TensorView& b, Tensor out) {
  for (int64_t i = 0; i < out.numel(); ++i) {
    out.at<double>(i) = a.at<const double>(i) + b.at<const double>(i);
  }
  return out;
}

Array<> ask(const TensorView& x) {
  return Array<>{x.dtype(),
                 x.device(),
                 Shape(x.shape(), x.ndim()),
                 Shape(x.strides(), x.ndim()),
                 x.read_only(),
                 x.is_contiguous(),
                 x.numel(),
                 reinterpret_cast<int64_t>(x.device_data<const void>())};
}

/// Up to 8 axes, as many as the tests need.
struct Extents {
  int64_t values[8] = {};
  int32_t ndim;
  explicit Extents(const Shape& shape) : ndim(static_cast<int32_t>(shape.size())) {
    if (ndim > 8) throw anyffi::Error("ValueError", "more than 8 axes");
    for (int32_t i = 0; i < ndim; ++i) values[i] = shape[i];
  }
};

Tensor make(const Shape& shape, const DataType& dtype, Optional<Shape> strides, int64_t bytes, int64_t byte_offset,
            int64_t flags, const Device& device) {
  Extents extents(shape), steps(strides.value_or(shape));
  AnyffiTensorData data{nullptr,
                        device,
                        extents.ndim,
                        dtype,
                        extents.values,
                        strides ? steps.values : nullptr,
                        static_cast<uint64_t>(byte_offset)};
  data.data = anyffi_alloc(static_cast<size_t>(bytes));
  if (!data.data) throw std::bad_alloc();
  std::memset(data.data, 0, static_cast<size_t>(bytes));
  return Tensor(data, static_cast<uint64_t>(flags), data.data, &anyffi_free);
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("testing.tensor.sum")
    .def(&sum, arg("x"))
    .doc("Return the sum of all elements, which are float64.");

ANYFFI_REGISTER_GLOBAL("testing.tensor.fill")
    .def(&fill, arg("x"), arg("value") = 0.0)
    .doc("Write to all elements, which are float64.");

ANYFFI_REGISTER_GLOBAL("testing.tensor.add")
    .def(&add, arg("a"), arg("b"), arg("out"))
    .doc("Write a + b, of one axis of float64 each, to `out`, and return that.");

ANYFFI_REGISTER_GLOBAL("testing.tensor.ask")
    .def(&ask, arg("x"))
    .doc("Return dtype, device, shape, strides, read-only, contiguous, number of elements, address.");

ANYFFI_REGISTER_GLOBAL("testing.tensor.make")
    .def(&make, arg("shape"), arg("dtype"), arg("strides") = nullptr, arg("bytes") = 64, arg("byte_offset") = 0,
         arg("flags") = 0, arg("device") = Device())
    .doc("Return a tensor on new memory of so many bytes, all zero.");

ANYFFI_REGISTER_GLOBAL("testing.tensor.empty")
    .def([](const Shape& shape, const DataType& dtype) { return Tensor::empty(shape, dtype); }, arg("shape"),
         arg("dtype"))
    .doc("Return a new compact tensor.");

ANYFFI_REGISTER_GLOBAL("testing.tensor.call")
    .def([](const Function& f, const TensorView& x) { return f(x); }, arg("f"), arg("x"))
    .doc("Call f with a borrowed tensor.");

ANYFFI_REGISTER_GLOBAL("testing.tensor.call_std")
    .def([](const std::function<double(TensorView)>& f, const TensorView& x) { return f(x); }, arg("f"), arg("x"))
    .doc("Call f, which returns a float, with a borrowed tensor.");

ANYFFI_REGISTER_GLOBAL("testing.tensor.call_raw")
    .def(
        [](const Function& f) {
          double number = 5;
          int64_t one = 1;
          AnyffiTensorData data{&number, Device(), 1, DataType::of<double>(), &one, &one, 0};
          TensorView view(data);
          return f(view);
        },
        arg("f"))
    .doc("Call f with a view of memory that no tensor owns.");

ANYFFI_REGISTER_GLOBAL("testing.drop_in_thread")
    .def(
        [](AnyValue x) {
          std::thread thread([&] { x = AnyValue(); });
          thread.join();
        },
        arg("x"))
    .doc("Release a value on a thread that Python did not create.")
    .release_gil();
