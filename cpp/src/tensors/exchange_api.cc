/// \file
/// DLPack's C function table (DLPackExchangeAPI) for compiled code, which accepts a front end's wrappers of tensors.
#include <anyffi/host_api.h>

#include <atomic>
#include <cstring>

#include "core/errors.h"
#include "core/host.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/owned.h"

namespace anyffi::runtime {
namespace {

using SetError = void (*)(void* context, const char* kind, const char* message);

/// DLPack's DLPackExchangeAPI, with the same layout. Functions that fail return -1, with an exception set in the host.
struct Exchange {
  uint32_t major;
  uint32_t minor;
  const Exchange* former; /* table of an older major version */
  int (*allocate)(AnyffiTensorData* prototype, AnyffiManagedTensor** out, void* context, SetError set_error);
  int (*export_wrapper)(void* wrapper, AnyffiManagedTensor** out);
  int (*import_tensor)(AnyffiManagedTensor* managed, void** out);
  int (*borrow_wrapper)(void* wrapper, AnyffiTensorData* out);
  int (*get_stream)(int32_t device_type, int32_t device_index, void** out);
};

AnyffiExchangeApiHooks hooks[ANYFFI_MAX_EXCHANGE_APIS];
std::atomic<int> num_tables{0};

int report(const AnyffiExchangeApiHooks& host) noexcept {
  return raise_in_host(host.set_error, host.exception_class, host.exception_class);
}

/// The tensor of a wrapper, or NULL with an error in the thread's slot.
AnyffiTensor* unwrap(const AnyffiExchangeApiHooks& host, void* wrapper) {
  AnyffiObject* object = host.unwrap(wrapper);
  if (object != nullptr && object->type_code == ANYFFI_TENSOR) return reinterpret_cast<AnyffiTensor*>(object);
  anyffi_error_raise("BufferError", "expected a Tensor that is not empty");
  return nullptr;
}

int allocate(AnyffiTensorData* prototype, AnyffiManagedTensor** out, void* context, SetError set_error) {
  Owned tensor, error;
  *out = nullptr;
  int status = prototype->device.type != ANYFFI_kDLCPU
                   ? anyffi_error_raise("BufferError", "tensors can be allocated on the CPU only")
                   : anyffi_tensor_create_empty(prototype->shape, prototype->ndim, &prototype->dtype, tensor.out());
  if (status == 0 && anyffi_tensor_to_dlpack(tensor->as_object, out) == 0) return 0;
  anyffi_error_take_raised(error.out());
  String kind, message;
  status = guard([&] {
    append_text(&kind, &reinterpret_cast<const AnyffiError*>(error->as_object)->kind);
    append_text(&message, &reinterpret_cast<const AnyffiError*>(error->as_object)->message);
    return 0;
  });
  if (status != 0) anyffi_error_take_raised(error.out());
  set_error(context, status == 0 ? kind.c_str() : "MemoryError", message.c_str());
  return -1;
}

/// Returns NULL, the default stream: tensors of the runtime have no stream.
int get_stream(int32_t, int32_t, void** out) {
  *out = nullptr;
  return 0;
}

/// DLPack's functions get no context argument, so each table needs its own instances.
template <int kTable>
struct Table {
  static int export_wrapper(void* wrapper, AnyffiManagedTensor** out) {
    *out = nullptr;
    AnyffiTensor* tensor = unwrap(hooks[kTable], wrapper);
    if (tensor != nullptr && anyffi_tensor_to_dlpack(&tensor->header, out) == 0) return 0;
    return report(hooks[kTable]);
  }
  static int import_tensor(AnyffiManagedTensor* managed, void** out) {
    Owned tensor;
    *out = nullptr;
    if (anyffi_tensor_from_dlpack_host(managed, tensor.out()) != 0) return report(hooks[kTable]);
    int status = call_hook(out, [&] { return hooks[kTable].wrap(tensor->as_object, out); });
    return status == 0 ? 0 : report(hooks[kTable]);
  }
  static int borrow_wrapper(void* wrapper, AnyffiTensorData* out) {
    AnyffiTensor* tensor = unwrap(hooks[kTable], wrapper);
    if (tensor != nullptr && (tensor->flags & (ANYFFI_TENSOR_READ_ONLY | ANYFFI_TENSOR_PADDED)) != 0) {
      anyffi_error_raise("BufferError", "a DLTensor cannot express read-only memory or padded elements");
      tensor = nullptr;
    }
    if (tensor == nullptr) return report(hooks[kTable]);
    *out = tensor->tensor;
    return 0;
  }
  static constexpr Exchange kFunctions{
      1, 3, nullptr, &allocate, &export_wrapper, &import_tensor, &borrow_wrapper, &get_stream};
};

constexpr const Exchange* kTables[] = {&Table<0>::kFunctions, &Table<1>::kFunctions, &Table<2>::kFunctions,
                                       &Table<3>::kFunctions};
static_assert(sizeof(kTables) / sizeof(kTables[0]) == ANYFFI_MAX_EXCHANGE_APIS, "a table each");

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

const void* anyffi_tensor_create_exchange_api(const AnyffiExchangeApiHooks* table_hooks) {
  int table = num_tables.load();
  do {
    if (table == ANYFFI_MAX_EXCHANGE_APIS) return nullptr;
  } while (!num_tables.compare_exchange_weak(table, table + 1));
  hooks[table] = *table_hooks;
  return kTables[table];
}
