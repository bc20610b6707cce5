/// \file
/// One element of an array that is viewed as an array of objects: however long it is, the view costs the same.

#include <anyffi/anyffi.h>

static anyffi::ObjectRef tuple_getitem(const anyffi::Array<anyffi::ObjectRef>& tuple, int64_t index) {
  return tuple[index < 0 ? index + tuple.size() : index];
}
ANYFFI_EXPORT(tuple_getitem, &tuple_getitem, anyffi::arg("tuple"), anyffi::arg("index"));
