/// \file
/// PyObject: objects of the host's language that C++ only passes on.
#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <utility>

#include "core/host.h"
#include "core/object.h"
#include "core/owned.h"

namespace {

void delete_py_object(AnyffiObject* self, int32_t what) {
  auto* object = reinterpret_cast<AnyffiPyObject*>(self);
  if (what & ANYFFI_DELETE_CONTENTS) anyffi::runtime::release_handle(std::exchange(object->handle, nullptr));
  if (what & ANYFFI_DELETE_MEMORY) anyffi::runtime::free_object<AnyffiPyObject>(self);
}

}  // namespace

int anyffi_py_object_create(void* handle, AnyffiValue* out) {
  auto* object = anyffi::runtime::allocate_object<AnyffiPyObject>(ANYFFI_PY_OBJECT, &delete_py_object);
  if (object == nullptr) {
    anyffi::runtime::release_handle(handle);
    return anyffi::runtime::fail(out);
  }
  object->handle = handle;
  *out = anyffi_make_object(&object->header);
  return 0;
}
