/// \file
/// What can be asked of any value, under `anyffi.value.*`, and of any container, under `anyffi.container.*`.
#include <anyffi/anyffi.h>

#include "containers.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::detail::check;

AnyValue copy_as(AnyView container, int32_t type_code) {
  AnyValue copy;
  check(anyffi_container_copy(&container.raw(), type_code, copy.out()));
  return copy;
}

AnyValue freeze(AnyView container) {
  return copy_as(container, anyffi::runtime::is_mapping(container.type_code()) ? ANYFFI_MAP : ANYFFI_ARRAY);
}

AnyValue thaw(AnyView container) {
  return copy_as(container, anyffi::runtime::is_mapping(container.type_code()) ? ANYFFI_DICT : ANYFFI_LIST);
}

AnyValue get_text(AnyView value) {
  AnyValue text;
  check(anyffi_value_get_text(&value.raw(), text.out()));
  return text;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.value.equal")
    .def([](AnyView a, AnyView b) { return a == b; }, arg("a"), arg("b"))
    .doc("Whether two values are equal, as Python has it.");

ANYFFI_REGISTER_GLOBAL("anyffi.value.hash")
    .def([](AnyView value) { return value.hash(); }, arg("value"))
    .doc("The runtime's hash: Python's for numbers and for tuples of them; of text its own.");

ANYFFI_REGISTER_GLOBAL("anyffi.value.text")
    .def(&get_text, arg("value"))
    .doc("The text that the runtime shows for a value, as repr does.");

ANYFFI_REGISTER_GLOBAL("anyffi.container.freeze")
    .def(&freeze, arg("container"))
    .doc("A new Array of a List's elements, or a new Map of a Dict's; always a copy.");

ANYFFI_REGISTER_GLOBAL("anyffi.container.thaw")
    .def(&thaw, arg("container"))
    .doc("A new List of an Array's elements, or a new Dict of a Map's; always a copy.");

ANYFFI_REGISTER_GLOBAL("anyffi.container.copy")
    .def([](AnyView container) { return copy_as(container, container.type_code()); }, arg("container"))
    .doc("A new container of the same class with the same elements.");
