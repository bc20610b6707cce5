/// \file
/// An int, read as an object from a mapping of objects, passed to a function with an int parameter.

#include <anyffi/anyffi.h>

namespace {

using anyffi::AnyView;
using anyffi::arg;
using anyffi::Map;
using anyffi::ObjectRef;
using anyffi::String;

int64_t int_func(int64_t x) { return ~x; }

int64_t int_func_of_item(const Map<String, ObjectRef>& map, const String& key) {
  // The int is boxed here, and unboxed as an int64_t: TypeError if it is not an int.
  ObjectRef item = map[key];
  return int_func(AnyView(item));
}

}  // namespace

ANYFFI_EXPORT(int_func, &int_func, arg("x"));
ANYFFI_EXPORT(int_func_of_item, &int_func_of_item, arg("map"), arg("key"));
