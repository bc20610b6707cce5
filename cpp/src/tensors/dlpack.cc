/// \file
/// Imports and exports tensors as DLPack structs, and as the capsules that contain them.
#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include "core/errors.h"
#include "core/host.h"
#include "core/messages.h"
#include "core/owned.h"
#include "core/section.h"
#include "tensors/layout.h"

namespace anyffi::runtime {
namespace {

constexpr uint32_t kMajor = 1;
constexpr uint32_t kMinor = 3;

/// The differences between DLPack's two structs, and the names of their capsules.
template <class Managed>
struct Form;
template <>
struct Form<AnyffiManagedTensor> {
  static constexpr const char* kName = "dltensor_versioned";
  static constexpr const char* kUsedName = "used_dltensor_versioned";
};
template <>
struct Form<AnyffiLegacyTensor> {
  static constexpr const char* kName = "dltensor";
  static constexpr const char* kUsedName = "used_dltensor";
};

/// Calls the deleter of another library, which may run code of the host.
template <class Managed>
void release_managed(void* owner) {
  auto* managed = static_cast<Managed*>(owner);
  if (managed->deleter == nullptr) return;
  SavedError saved;
  enter_host([&] { managed->deleter(managed); });
}

/// As `release_managed`, for deleters in libraries of the host, which must not be called after it has shut down.
template <class Managed>
void release_managed_of_host(void* owner) {
  if (host() != nullptr) release_managed<Managed>(owner);
}

int check_version(const AnyffiManagedTensor& managed) noexcept {
  if (managed.major == kMajor) return 0;
  return raise_format("BufferError",
                      "a tensor of DLPack %u.%u, which is not supported: the newest known version is %u.%u",
                      managed.major, managed.minor, kMajor, kMinor);
}
int check_version(const AnyffiLegacyTensor&) noexcept { return 0; }

/// Consumers compute sizes and addresses of elements as multiples of both, so neither may be 0.
int check_type(const AnyffiDataType& type) noexcept {
  if (type.bits != 0 && type.lanes != 0) return 0;
  return raise_format("BufferError", "the tensor has elements of %u bits and %u lanes; both are at least 1", type.bits,
                      type.lanes);
}

/// Consumers may take a NULL address for a request to allocate, and then read the memory.
int check_memory(const AnyffiTensorData& data) noexcept {
  if (data.data != nullptr || data.device.type != ANYFFI_kDLCPU) return 0;
  // The layout may not be validated yet.
  bool has_axes = data.ndim > 0 && data.shape != nullptr;
  if (data.ndim != 0 && (!has_axes || !has_elements(data))) return 0;
  return anyffi_error_raise("BufferError", "the tensor has elements but no memory");
}

/// Consumers multiply the extents, so the size in bytes must not overflow, even if strides of 0 repeat the memory.
int check_size(const AnyffiTensorData& data, uint64_t flags) noexcept {
  if (data.ndim <= 0 || data.shape == nullptr || !has_elements(data)) return 0;
  int64_t bytes = (find_item_bits(data.dtype, flags) + 7) / 8;
  for (int32_t i = 0; i < data.ndim; ++i) {
    if (data.shape[i] < 0) return 0;  // rejected when the layout is validated
    if (__builtin_mul_overflow(bytes, data.shape[i], &bytes)) {
      return anyffi_error_raise("ValueError", "the shape has too many elements");
    }
  }
  return 0;
}

template <class Managed>
int import_tensor(Managed* managed, uint64_t flags, void (*release)(void*), AnyffiValue* out) noexcept {
  const AnyffiTensorData& data = managed->tensor;
  if (check_version(*managed) != 0 || check_type(data.dtype) != 0 || check_memory(data) != 0 ||
      check_size(data, flags) != 0) {
    release(managed);
    return fail(out);
  }
  return anyffi_tensor_create(&managed->tensor, flags, managed, release, out);
}

/// The deleter of an exported struct; releases its reference to the tensor.
template <class Managed>
void delete_export(Managed* self) {
  auto* tensor = static_cast<AnyffiObject*>(self->context);
  anyffi_free(self);
  anyffi_object_release(tensor);
}

template <class Managed>
int allocate_export(AnyffiObject* object, Managed** out) noexcept {
  *out = nullptr;
  const AnyffiTensorData& data = reinterpret_cast<AnyffiTensor*>(object)->tensor;
  if (check_memory(data) != 0) return -1;
  *out = static_cast<Managed*>(anyffi_alloc(sizeof(Managed)));
  if (*out == nullptr) return raise_no_memory();
  **out = Managed{};
  (*out)->tensor = data;
  (*out)->context = object;
  (*out)->deleter = &delete_export<Managed>;
  anyffi_object_retain(object);
  return 0;
}

int export_tensor(AnyffiObject* object, AnyffiManagedTensor** out) noexcept {
  if (allocate_export(object, out) != 0) return -1;
  (*out)->major = kMajor;
  (*out)->minor = kMinor;
  (*out)->flags = reinterpret_cast<AnyffiTensor*>(object)->flags;
  return 0;
}

/// Whether a capsule of the legacy struct brought the tensor. Its exporter accepts every consumer of the struct, so the
/// tensor can be passed on in it, though nobody knows whether the memory may be written.
bool was_legacy(const AnyffiTensor& tensor) noexcept {
  return tensor.release_owner == &release_managed_of_host<AnyffiLegacyTensor>;
}

int export_tensor(AnyffiObject* object, AnyffiLegacyTensor** out) noexcept {
  *out = nullptr;
  const auto& tensor = *reinterpret_cast<AnyffiTensor*>(object);
  uint64_t flags = was_legacy(tensor) ? 0 : tensor.flags;
  if (flags & (ANYFFI_TENSOR_READ_ONLY | ANYFFI_TENSOR_PADDED)) {
    return raise_format("BufferError", "DLPack before 1.0 cannot express that a tensor is %s",
                        flags & ANYFFI_TENSOR_READ_ONLY ? "read-only" : "padded");
  }
  return allocate_export(object, out);
}

/* ---- capsules ---- */

/// Takes the struct out of a capsule and marks it as used; NULL if the capsule does not contain this struct.
template <class Managed>
Managed* take_from_capsule(const AnyffiHost& hooks, void* capsule) noexcept {
  Section section;  // another thread may be taking it, too
  if (hooks.capsule_is_valid(capsule, Form<Managed>::kName) == 0) return nullptr;
  auto* managed = static_cast<Managed*>(hooks.capsule_get_pointer(capsule, Form<Managed>::kName));
  hooks.capsule_set_name(capsule, Form<Managed>::kUsedName);
  return managed;
}

/// The destructor of a capsule: deletes the struct unless a consumer has taken it.
template <class Managed>
void release_capsule(void* capsule) {
  const AnyffiHost* hooks = host();
  if (hooks == nullptr || hooks->capsule_is_valid(capsule, Form<Managed>::kName) == 0) return;
  auto* managed = static_cast<Managed*>(hooks->capsule_get_pointer(capsule, Form<Managed>::kName));
  managed->deleter(managed);
}

/// Imports a capsule of either kind; `legacy_flags` apply to a tensor in the legacy struct, which has no flags.
int import_capsule(const AnyffiValue& capsule, uint64_t legacy_flags, AnyffiValue* out) noexcept {
  const AnyffiHost* hooks = host();
  if (capsule.type_code == ANYFFI_PY_OBJECT && hooks != nullptr && hooks->capsule_is_valid != nullptr) {
    void* handle = reinterpret_cast<AnyffiPyObject*>(capsule.as_object)->handle;
    if (auto* managed = take_from_capsule<AnyffiManagedTensor>(*hooks, handle)) {
      return import_tensor(managed, managed->flags, &release_managed_of_host<AnyffiManagedTensor>, out);
    }
    if (auto* managed = take_from_capsule<AnyffiLegacyTensor>(*hooks, handle)) {
      return import_tensor(managed, legacy_flags, &release_managed_of_host<AnyffiLegacyTensor>, out);
    }
  }
  return raise_about_type(&capsule, "expected an unused DLPack capsule, got %s");
}

template <class Managed>
int export_capsule(AnyffiObject* tensor, void** out) noexcept {
  const AnyffiHost* hooks = host();
  if (hooks == nullptr || hooks->capsule_new == nullptr) {
    return anyffi_error_raise("BufferError", "this interpreter has no capsules to export a tensor");
  }
  Managed* managed;
  if (export_tensor(tensor, &managed) != 0) return -1;
  *out = hooks->capsule_new(managed, Form<Managed>::kName, &release_capsule<Managed>);
  if (*out != nullptr) return 0;
  managed->deleter(managed);
  return raise_no_memory();
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_tensor_from_dlpack(AnyffiManagedTensor* managed, AnyffiValue* out) {
  return import_tensor(managed, managed->flags, &release_managed<AnyffiManagedTensor>, out);
}

int anyffi_tensor_from_dlpack_legacy(AnyffiLegacyTensor* managed, AnyffiValue* out) {
  return import_tensor(managed, 0, &release_managed<AnyffiLegacyTensor>, out);
}

int anyffi_tensor_from_dlpack_host(AnyffiManagedTensor* managed, AnyffiValue* out) {
  return import_tensor(managed, managed->flags, &release_managed_of_host<AnyffiManagedTensor>, out);
}

int anyffi_tensor_to_dlpack(AnyffiObject* tensor, AnyffiManagedTensor** out) { return export_tensor(tensor, out); }

int anyffi_tensor_to_dlpack_legacy(AnyffiObject* tensor, AnyffiLegacyTensor** out) {
  return export_tensor(tensor, out);
}

int anyffi_tensor_from_capsule(void* handle, AnyffiValue* out) {
  *out = anyffi_make_none();
  Owned capsule;
  if (anyffi_py_object_create(handle, capsule.out()) != 0) return -1;
  return import_capsule(*capsule.get(), ANYFFI_TENSOR_READ_ONLY, out);
}

int anyffi_tensor_from_writable_capsule(const AnyffiValue* capsule, AnyffiValue* out) {
  *out = anyffi_make_none();
  return import_capsule(*capsule, 0, out);
}

int anyffi_tensor_to_capsule(AnyffiObject* tensor, int32_t legacy, void** out) {
  *out = nullptr;
  return legacy ? export_capsule<AnyffiLegacyTensor>(tensor, out) : export_capsule<AnyffiManagedTensor>(tensor, out);
}
