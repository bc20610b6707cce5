// Type-erased functions bound with tvm-ffi.
#include <tvm/ffi/tvm_ffi.h>

namespace ffi = tvm::ffi;

TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = tvm::ffi::reflection;
  refl::GlobalDef()
      .def_packed("map.nop", [](ffi::PackedArgs, ffi::Any*) {})
      .def_packed("map.echo", [](ffi::PackedArgs args, ffi::Any* result) { *result = args[0]; })
      .def_packed("map.apply",
                  [](ffi::PackedArgs args, ffi::Any* result) { *result = args[0].cast<ffi::Function>()(args[1]); });
}
