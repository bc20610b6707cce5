// The functions bound with tvm-ffi. `nop` and `echo` take any value.
#include <tvm/ffi/tvm_ffi.h>

#include <cstdint>
#include <stdexcept>

namespace ffi = tvm::ffi;

TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = tvm::ffi::reflection;
  refl::GlobalDef()
      .def_packed("bench.nop", [](ffi::PackedArgs, ffi::Any*) {})
      .def_packed("bench.echo", [](ffi::PackedArgs args, ffi::Any* result) { *result = args[0]; })
      .def("bench.add_one", [](int64_t x) { return x + 1; })
      .def("bench.subtract", [](int64_t a, int64_t b) { return a - b; })
      .def("bench.apply", [](const ffi::Function& f, int64_t x) { return f(x).cast<int64_t>(); })
      .def("bench.fail", [] { throw std::runtime_error("thrown"); });
}
