/// \file
/// Tensors, under `anyffi.Tensor.*`.
#include <anyffi/anyffi.h>
#include <anyffi/host_api.h>

namespace {

using anyffi::AnyValue;
using anyffi::arg;
using anyffi::Tensor;
using anyffi::detail::check;

AnyValue to_capsule(const Tensor& tensor, bool legacy) {
  void* capsule;
  AnyValue made;
  check(anyffi_tensor_to_capsule(tensor.get(), legacy, &capsule));
  check(anyffi_py_object_create(capsule, made.out()));
  return made;
}

AnyValue from_writable_capsule(const AnyValue& capsule) {
  AnyValue made;
  check(anyffi_tensor_from_writable_capsule(&capsule.raw(), made.out()));
  return made;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.Tensor.copy")
    .def([](const Tensor& tensor) { return tensor.copy(); }, arg("tensor"))
    .doc("Return a compact copy in new memory. BufferError unless the CPU can read the elements.");

ANYFFI_REGISTER_GLOBAL("anyffi.Tensor.to_capsule")
    .def(&to_capsule, arg("tensor"), arg("legacy"))
    .doc("Export as a DLPack capsule, in the form before version 1.0 if `legacy`.");

ANYFFI_REGISTER_GLOBAL("anyffi.Tensor.from_writable_capsule")
    .def(&from_writable_capsule, arg("capsule"))
    .doc("Import a DLPack capsule; in the form before version 1.0 as writable.");
