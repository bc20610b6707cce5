/// \file
/// One element of an array that is passed as an array of objects: the cost does not depend on its length.

#include <anyffi/anyffi.h>

static anyffi::ObjectRef tuple_getitem(const anyffi::Array<anyffi::ObjectRef>& tuple, int64_t index) {
  return tuple[index < 0 ? index + tuple.size() : index];
}
ANYFFI_EXPORT(tuple_getitem, &tuple_getitem, anyffi::arg("tuple"), anyffi::arg("index"));
