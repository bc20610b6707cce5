/// \file
/// Fields of the objects of wrappers, for front ends in which a call costs more than the operation.
#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include "functions/fields.h"

namespace anyffi::runtime {

int32_t assign_field(AnyffiObject* object, const AnyffiFieldInfo* field, AnyffiValue value) {
  if (value.type_code > 0) value.aux = 0;  // not movable: the caller keeps its reference
  if (anyffi_is_member(&value) && field->storage != ANYFFI_STORED_MEMBER) value.aux = 0;
  int32_t type_code = object->type_code;
  if (field->set(object, field, &value) != 0) return -1;
  return object->type_code == type_code ? 1 : 2;
}

}  // namespace anyffi::runtime

namespace {

const AnyffiFieldInfo* find_field(const AnyffiWrapperRef* self, const char* name) {
  return self->object == nullptr ? nullptr : anyffi_type_find_field(self->object->type_code, name);
}

}  // namespace

int32_t anyffi_wrapper_get_field(const AnyffiWrapperRef* self, const char* name, AnyffiValue* out) {
  const AnyffiFieldInfo* field = find_field(self, name);
  if (field == nullptr) return 0;
  *out = anyffi_make_none();
  return field->get(self->object, field, out) == 0 ? 1 : -1;
}

int32_t anyffi_wrapper_set_field(const AnyffiWrapperRef* self, const char* name, const AnyffiValue* value) {
  const AnyffiFieldInfo* field = find_field(self, name);
  if (field == nullptr || field->set == nullptr) return 0;
  return anyffi::runtime::assign_field(self->object, field, *value);
}
