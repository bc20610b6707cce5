/// \file
/// What can be asked of any value, under `anyffi.value.*`, and of any container, under `anyffi.container.*`.
#include <anyffi/anyffi.h>

#include "values/containers.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::detail::check;
using anyffi::runtime::is_mapping;
using anyffi::runtime::is_set;

AnyValue copy_as(AnyView container, int32_t type_code) {
  AnyValue copy;
  check(anyffi_container_copy(&container.raw(), type_code, copy.out()));
  return copy;
}

AnyValue freeze(AnyView container) {
  int32_t code = container.type_code();
  if (code == ANYFFI_SHAPE) return copy_as(container, code);
  return copy_as(container, is_mapping(code) ? ANYFFI_MAP : is_set(code) ? ANYFFI_FROZEN_SET : ANYFFI_ARRAY);
}

AnyValue thaw(AnyView container) {
  int32_t code = container.type_code();
  return copy_as(container, is_mapping(code) ? ANYFFI_DICT : is_set(code) ? ANYFFI_SET : ANYFFI_LIST);
}

AnyValue get_text(AnyView value) {
  AnyValue text;
  check(anyffi_value_repr(&value.raw(), text.out()));
  return text;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.value.equal")
    .def([](AnyView a, AnyView b) { return a == b; }, arg("a"), arg("b"))
    .doc("Whether two values are equal, as Python has it.");

ANYFFI_REGISTER_GLOBAL("anyffi.value.hash")
    .def([](AnyView value) { return value.hash(); }, arg("value"))
    .doc("The runtime's hash: Python's for numbers and for tuples of them; of text its own.");

ANYFFI_REGISTER_GLOBAL("anyffi.value.repr")
    .def(&get_text, arg("value"))
    .doc("The text that the runtime shows for a value, as repr does.");

ANYFFI_REGISTER_GLOBAL("anyffi.container.freeze")
    .def(&freeze, arg("container"))
    .doc("A new Array of a List's elements, Map of a Dict's or FrozenSet of a Set's; always a copy.");

ANYFFI_REGISTER_GLOBAL("anyffi.container.thaw")
    .def(&thaw, arg("container"))
    .doc("A new List of an Array's elements, Dict of a Map's or Set of a FrozenSet's; always a copy.");

ANYFFI_REGISTER_GLOBAL("anyffi.container.copy")
    .def([](AnyView container) { return copy_as(container, container.type_code()); }, arg("container"))
    .doc("A new container of the same class with the same elements.");
