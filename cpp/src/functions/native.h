/// \file
/// The runtime's part of functions over C++ callables.
#ifndef ANYFFI_SRC_FUNCTIONS_NATIVE_H_
#define ANYFFI_SRC_FUNCTIONS_NATIVE_H_

#include <anyffi/native_api.h>

#include <cstdarg>

#include "core/owned.h"

namespace anyffi::runtime {

/// The part of a function that libraries do not see. It lies after the callable, followed by the default,
/// AnyffiParamInfo, exact types and type of each parameter.
struct NativeDeclaration {
  AnyffiFunctionInfo info;
  uint32_t signature;                       // AnyffiSignature
  const AnyffiCallableType* callable_type;  // NULL: the callable is copied
  void (*enroll)(void);                     // or NULL
  const AnyffiParamType** types;
  AnyffiValue* defaults;  // or NULL
  bool is_guarded;        // a method whose C++ function may be overridden in the host
  bool binds_overrides;   // the function with which the host says that an object has overrides
  int32_t num_kept;
  /// Indices as in `keep_alive`: 0 is the result, 1 the first argument.
  struct Kept {
    uint8_t nurse, patient;
  }* kept;  // owned
};

inline NativeDeclaration& declaration_of(const AnyffiNativeFunction& function) noexcept {
  return *static_cast<NativeDeclaration*>(function.declaration);
}
constexpr uint32_t round_up(uint32_t offset, uint32_t alignment) noexcept {
  return (offset + alignment - 1) & ~(alignment - 1);
}

/// The fixed arguments of `anyffi_native_create`; the others are in `rest`.
struct NativeSource {
  const char* name;
  uint32_t signature;
  AnyffiCall call;
  void* callable;
  const char* result_type;
};
int create_native(const NativeSource& source, va_list rest, Owned* out) noexcept;
/// Declares that the host may override a method.
void guard_native(AnyffiNativeFunction* function, bool binds_overrides) noexcept;
/// Raises ValueError if the declaration is incomplete.
int check_native(const AnyffiNativeFunction& function) noexcept;
/// As `anyffi_native_keep_alive`, but raises the error instead of deferring it.
int keep_alive_native(AnyffiNativeFunction* function, int32_t nurse, int32_t patient) noexcept;

/// `AnyffiFunctionInfo.try_call` and `load_items` of functions over C++ callables.
int try_native(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) noexcept;
int load_native_items(void* self, int32_t index, AnyffiValue* value, void* room, size_t room_size) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_FUNCTIONS_NATIVE_H_
