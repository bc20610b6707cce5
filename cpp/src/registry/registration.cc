/// \file
/// Exported and global functions, which libraries declare in static initialisers.
#include <anyffi/native_api.h>

#include <cstring>

#include "functions/native.h"
#include "registry/overloads.h"
#include "registry/registry.h"

namespace anyffi::runtime {
namespace {

/// An address inside the library that defines a function.
const void* in_library(const AnyffiNativeFunction& function) noexcept {
  return reinterpret_cast<const void*>(function.base.call);
}

/// Publishes the function with a name, or all of its overloads. `library`: an address inside the library.
int publish(AnyffiRegistration* registration, const Owned& added, const void* library) noexcept {
  Owned all;
  bool is_first = registration->published == nullptr;
  if (is_first) {
    all = retained(*added.get());
  } else {
    AnyffiValue former = anyffi_make_object(registration->published);
    if (add_overload(registration->name, former, *added.get(), &all) != 0) return -1;
    if (all->as_object == registration->published) return 0;
  }
  if (registration->entry.name == nullptr) {
    Owned name;
    auto size = static_cast<int64_t>(std::strlen(registration->name));
    if (anyffi_str_from_utf8(registration->name, size, name.out()) != 0) return -1;
    if (registry_set(*name.get(), *all.get(), !is_first, library) != 0) return -1;
  }
  // Never released: the exported symbol uses it even after it was removed from the registry.
  registration->published = all.take().as_object;
  return 0;
}

void check_last(const AnyffiNativeFunction* function) noexcept {
  if (function == nullptr || check_native(*function) == 0) return;
  anyffi_registry_defer_error_of(in_library(*function));
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

AnyffiNativeFunction* anyffi_registration_add(AnyffiRegistration* registration, const char* name, uint32_t signature,
                                              AnyffiCall call, void* callable, const char* result_type, ...) {
  if (name != nullptr) registration->name = registration->entry.name = name;
  check_last(registration->function);
  registration->function = nullptr;
  Owned created;
  va_list rest;
  va_start(rest, result_type);
  int status = create_native({registration->name, signature, call, callable, result_type}, rest, &created);
  va_end(rest);
  auto* library = reinterpret_cast<const void*>(call);
  if (status == 0) status = publish(registration, created, library);
  if (status != 0) {
    anyffi_registry_defer_error_of(library);
    return nullptr;
  }
  // Never released: later calls on the declaration modify it.
  registration->function = reinterpret_cast<AnyffiNativeFunction*>(created.take().as_object);
  return registration->function;
}

void anyffi_registration_finish(AnyffiRegistration* registration, const AnyffiModuleEntry** entries) {
  check_last(registration->function);
  if (registration->published == nullptr || registration->entry.name == nullptr) return;
  registration->entry.function = registration->published;
  registration->entry.next = *entries;
  *entries = &registration->entry;
}

void anyffi_native_keep_alive(AnyffiNativeFunction* function, int32_t nurse, int32_t patient) {
  if (function == nullptr || keep_alive_native(function, nurse, patient) == 0) return;
  anyffi_registry_defer_error_of(in_library(*function));
}
