/// \file
/// Tensors, under `anyffi.Tensor.*`.
#include <anyffi/anyffi.h>
#include <anyffi/host_api.h>

namespace {

using anyffi::AnyValue;
using anyffi::arg;
using anyffi::Array;
using anyffi::List;
using anyffi::Tensor;
using anyffi::detail::check;

Array<> describe(const Tensor& tensor) {
  const AnyffiTensorData& data = tensor.raw();
  List<int64_t> shape, strides;
  for (int32_t i = 0; i < data.ndim; ++i) {
    shape.push_back(data.shape[i]);
    strides.push_back(data.strides[i]);
  }
  return Array<>{data.data,
                 tensor.device(),
                 tensor.dtype(),
                 std::move(shape).freeze(),
                 std::move(strides).freeze(),
                 static_cast<int64_t>(data.byte_offset),
                 static_cast<int64_t>(tensor.flags())};
}

AnyValue to_capsule(const Tensor& tensor, bool legacy) {
  AnyValue capsule;
  check(anyffi_tensor_to_capsule(tensor.get(), legacy, capsule.out()));
  return capsule;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.Tensor.info")
    .def(&describe, arg("tensor"))
    .doc("Return address, device, dtype, shape, strides in elements, byte offset, flags.");

ANYFFI_REGISTER_GLOBAL("anyffi.Tensor.copy")
    .def([](const Tensor& tensor) { return tensor.copy(); }, arg("tensor"))
    .doc("Return a compact copy in new memory. BufferError unless the CPU can read the elements.");

ANYFFI_REGISTER_GLOBAL("anyffi.Tensor.to_capsule")
    .def(&to_capsule, arg("tensor"), arg("legacy"))
    .doc("Export as a DLPack capsule, in the form before version 1.0 if `legacy`.");
