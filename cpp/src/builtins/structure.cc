/// \file
/// Operations on the structure of values, under `anyffi.structure.*`.
#include <anyffi/anyffi.h>

#include <iterator>

#include "core/section.h"
#include "structure/parts.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::detail::check;
using anyffi::runtime::Section;

bool equal(AnyView a, AnyView b, bool map_free_vars, bool skip_tensor_content) {
  Section section;
  return anyffi::structural_equal(a, b, {map_free_vars, skip_tensor_content});
}

int64_t hash(AnyView value, bool map_free_vars, bool skip_tensor_content) {
  Section section;
  return anyffi::structural_hash(value, {map_free_vars, skip_tensor_content});
}

AnyValue diff(AnyView a, AnyView b, bool map_free_vars, bool skip_tensor_content, bool only_first) {
  Section section;
  AnyValue found;
  uint32_t flags = anyffi::StructureOptions{map_free_vars, skip_tensor_content}.flags();
  check(anyffi_structure_diff(&a.raw(), &b.raw(), flags, only_first, found.out()));
  return found;
}

void visit(AnyView value, AnyView function, bool is_post) {
  Section section;
  check(anyffi_structure_visit(&value.raw(), &function.raw(), is_post));
}

AnyValue map(AnyView value, AnyView function) {
  Section section;
  AnyValue made;
  check(anyffi_structure_map(&value.raw(), &function.raw(), made.out()));
  return made;
}

AnyValue children(AnyView value) {
  Section section;
  AnyValue rows;
  check(anyffi_structure_children(&value.raw(), rows.out()));
  return rows;
}

AnyValue map_children(AnyView value, AnyView function) {
  Section section;
  AnyValue made;
  check(anyffi_structure_map_children(&value.raw(), &function.raw(), made.out()));
  return made;
}

AnyValue replace(AnyView value, int64_t index, AnyView part) {
  Section section;
  AnyValue made;
  check(anyffi_structure_replace(&value.raw(), index, &part.raw(), made.out()));
  return made;
}

anyffi::String write_json(AnyView value) {
  Section section;
  return anyffi::to_json(value);
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.structure.equal")
    .def(&equal, arg("a"), arg("b"), arg("map_free_vars"), arg("skip_tensor_content"))
    .doc("Return whether two values have the same structure.");

ANYFFI_REGISTER_GLOBAL("anyffi.structure.hash")
    .def(&hash, arg("value"), arg("map_free_vars"), arg("skip_tensor_content"))
    .doc("Return a hash that is the same in every process, and for values of the same structure.");

ANYFFI_REGISTER_GLOBAL("anyffi.structure.diff")
    .def(&diff, arg("a"), arg("b"), arg("map_free_vars"), arg("skip_tensor_content"), arg("only_first"))
    .doc("Return the differences of two values: of each the path, both sides, and which of them there are.");

ANYFFI_REGISTER_GLOBAL("anyffi.structure.set")
    .def(
        [](int32_t type_code, const AnyValue& field, const anyffi::String& structure) {
          constexpr const char* kNames[] = {"plain", "ignore", "identity", "defines", "declares", "variable", "dag"};
          for (int32_t i = 0; i < static_cast<int32_t>(std::size(kNames)); ++i) {
            if (structure != kNames[i]) continue;
            if (field.is_none()) return check(anyffi_type_set_structure(type_code, nullptr, i));
            anyffi::Bytes name = field.cast<anyffi::String>().utf8();
            // A zero byte follows.
            return check(anyffi_type_set_structure(type_code, reinterpret_cast<const char*>(name.data()), i));
          }
          throw anyffi::Error("ValueError",
                              "a structure is plain, ignore, identity, defines, declares, variable or dag, not {}",
                              AnyValue(structure));
        },
        arg("type_code"), arg("field"), arg("structure"))
    .doc("Set how a field of a type, or without one its objects, take part in comparisons by structure.");

ANYFFI_REGISTER_GLOBAL("anyffi.structure.reset")
    .def(&anyffi::runtime::reset_structure, arg("type_code"))
    .doc("Forget what was set for a type itself, which a front end declares anew.");

ANYFFI_REGISTER_GLOBAL("anyffi.structure.visit")
    .def(&visit, arg("value"), arg("function"), arg("is_post"))
    .doc("Call a function with a value and all that it consists of.");

ANYFFI_REGISTER_GLOBAL("anyffi.structure.map")
    .def(&map, arg("value"), arg("function"))
    .doc("Return what a function makes of a value and all that it consists of; without a function, a deep copy.");

ANYFFI_REGISTER_GLOBAL("anyffi.structure.children")
    .def(&children, arg("value"))
    .doc("Return the direct parts of a value: of each the kind and the key of the step to it, and the part.");

ANYFFI_REGISTER_GLOBAL("anyffi.structure.map_children")
    .def(&map_children, arg("value"), arg("function"))
    .doc("Return a value like another one, of what a function returns for each direct part.");

ANYFFI_REGISTER_GLOBAL("anyffi.structure.replace")
    .def(&replace, arg("value"), arg("index"), arg("part"))
    .doc("Return a value like another one, with another part, by its number; -1 for what `pickle()` stores.");

ANYFFI_REGISTER_GLOBAL("anyffi.structure.field_index")
    .def(
        [](AnyView object, AnyView name) -> int64_t {
          int64_t index = 0;
          const AnyffiTypeInfo* info = anyffi_type_get_info(object.type_code());
          for (int32_t depth = 0; depth <= info->depth; ++depth) {
            const auto* owner = depth == info->depth ? info : anyffi_type_get_info(info->ancestors[depth]);
            for (int32_t i = 0; i < owner->num_fields; ++i) {
              if (owner->fields[i].get == nullptr) continue;
              if (name == AnyValue(owner->fields[i].name)) return index;
              ++index;
            }
          }
          throw anyffi::Error("AttributeError", "'{}' has no field {}", anyffi::String(info->type_key), name);
        },
        arg("object"), arg("name"))
    .doc("Return the number of a field of an object, as `anyffi.structure.replace` counts them.");

ANYFFI_REGISTER_GLOBAL("anyffi.json.write").def(&write_json, arg("value")).doc("Return the JSON of a value.");

ANYFFI_REGISTER_GLOBAL("anyffi.json.read").def(&anyffi::from_json, arg("text")).doc("Return the value of JSON.");
