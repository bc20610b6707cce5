/// \file
/// Functions over C code and over callables of the host, and calls of any function.
#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <utility>

#include "core/depth.h"
#include "core/errors.h"
#include "core/host.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/object.h"
#include "core/owned.h"

namespace anyffi::runtime {
namespace {

struct HostFunction {
  AnyffiFunction base;
  AnyffiCall callback;
};

void delete_function(AnyffiObject* self, int32_t what) {
  auto* function = reinterpret_cast<AnyffiFunction*>(self);
  if (what & ANYFFI_DELETE_CONTENTS) {
    if (function->release_self != nullptr) function->release_self(std::exchange(function->self, nullptr));
    if (function->handle != nullptr) release_handle(std::exchange(function->handle, nullptr));
  }
  if (what & ANYFFI_DELETE_MEMORY) anyffi_free(self);
}

void delete_host_function(AnyffiObject* self, int32_t what) {
  delete_function(self, what & ANYFFI_DELETE_CONTENTS);
  if (what & ANYFFI_DELETE_MEMORY) free_object<HostFunction>(self);
}

int call_with_slot(HostFunction* function, AnyffiValue* args, int32_t num_args, AnyffiValue* result,
                   const AnyffiResultSlot* slot) {
  if (enter_level() != 0) return fail(result);
  uint32_t flags = result->type_code == ANYFFI_NONE ? result->aux & ANYFFI_DISCARDED : 0;
  if (slot != nullptr) flags |= ANYFFI_LOADED;
  *result = anyffi_make_value(static_cast<uint64_t>(flags) << 32 | static_cast<uint32_t>(ANYFFI_UNSET),
                              reinterpret_cast<uintptr_t>(slot));
  int status = enter_host([&] { return function->callback(function->base.handle, args, num_args, result); });
  leave_level();
  if (__builtin_expect(status == ANYFFI_HOST_DONE && result->type_code != ANYFFI_UNSET, 1)) return 0;
  // A callback that a signal interrupted before its first line returns garbage, perhaps ANYFFI_HOST_DONE. In that case
  // the result is still Unset.
  status = finish_hook(result->type_code == ANYFFI_UNSET ? 0 : status);
  if (status != 0) anyffi_value_release(result);
  return status;
}

/// The `call` of every function over a callable of the host.
int call_host(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  return call_with_slot(static_cast<HostFunction*>(self), args, num_args, result, nullptr);
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_function_create(AnyffiCall call, void* self, void (*release_self)(void* self),
                           const AnyffiFunctionInfo* info, AnyffiValue* out) {
  auto* function = allocate_object<AnyffiFunction>(ANYFFI_FUNCTION, &delete_function);
  if (function == nullptr) {
    if (release_self != nullptr) release_self(self);
    return fail(out);
  }
  function->call = call;
  function->self = self;
  function->release_self = release_self;
  function->info = info;
  function->handle = nullptr;
  *out = anyffi_make_object(&function->header);
  return 0;
}

int anyffi_function_create_host(AnyffiCall callback, void* handle, AnyffiValue* out) {
  auto* function = allocate_object<HostFunction>(ANYFFI_FUNCTION, &delete_host_function);
  if (function == nullptr) {
    release_handle(handle);
    return fail(out);
  }
  function->base.call = &call_host;
  function->base.self = function;
  function->base.release_self = nullptr;
  function->base.info = nullptr;
  function->base.handle = handle;
  function->callback = callback;
  *out = anyffi_make_object(&function->base.header);
  return 0;
}

int anyffi_deferred_make(const AnyffiDeferred* deferred, AnyffiValue* out) {
  return anyffi::detail::catch_all([&] {
    deferred->make(deferred->object, out);
    return 0;
  });
}

int32_t anyffi_result_load(const AnyffiResultSlot* slot, AnyffiValue* value) {
  AnyffiMismatch why;
  int status = anyffi::detail::catch_all([&] {
    if (slot->load(value, &why, slot->memory) != 0) return 1;
    return why.reason == ANYFFI_MISMATCH_RAISED ? -1 : 0;
  });
  if (__builtin_expect(status >= 0, 1)) return status;
  // The caller then converts the packed result, which raises the error again.
  Owned ignored;
  anyffi_error_take_raised(ignored.out());
  return 0;
}

int anyffi_function_call_deferred(AnyffiFunction* function, AnyffiValue* args, int32_t num_args, AnyffiValue* result,
                                  const AnyffiResultSlot* slot) {
  if (function->handle != nullptr) {
    auto* called = reinterpret_cast<HostFunction*>(function);
    const AnyffiHost* hooks = host();
    if (__builtin_expect(hooks != nullptr && called->callback == hooks->deferring_callback, 1)) {
      return call_with_slot(called, args, num_args, result, slot);
    }
  }
  for (int32_t i = 0; i < num_args; ++i) {
    if (!anyffi_is_deferred(&args[i])) continue;
    auto* deferred = static_cast<const AnyffiDeferred*>(args[i].as_pointer);
    args[i] = anyffi_make_none();
    if (anyffi_deferred_make(deferred, &args[i]) != 0) return fail(result);
    if (args[i].type_code > 0) args[i].aux |= ANYFFI_MOVABLE;
  }
  return function->call(function->self, args, num_args, result);
}

int anyffi_function_call(const AnyffiValue* value, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  *result = anyffi_make_none();
  if (value->type_code != ANYFFI_FUNCTION) {
    Owned name;
    if (type_name_of(value, name.out()) != 0) return -1;
    return guard([&] {
      String text;
      append_text(&text, name.get());
      return raise_format("TypeError", "'%s' object is not callable", text.c_str());
    });
  }
  auto* function = reinterpret_cast<AnyffiFunction*>(value->as_object);
  // `call_host` counts a level itself.
  if (function->handle != nullptr) return function->call(function->self, args, num_args, result);
  if (enter_level() != 0) return -1;
  int status = function->call(function->self, args, num_args, result);
  leave_level();
  return status;
}
