/// \file
/// Operations on any value, under `anyffi.value.*`, and on any container, under `anyffi.container.*`.
#include <anyffi/anyffi.h>

#include "core/section.h"
#include "values/containers.h"
#include "values/show.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::Array;
using anyffi::detail::check;
using anyffi::runtime::is_mapping;
using anyffi::runtime::is_set;
using anyffi::runtime::kPeeked;
using anyffi::runtime::Section;

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

int64_t erase_peeked(AnyView container, const Array<>& peeked) {
  Section section;
  int32_t code = container.type_code();
  if ((code != ANYFFI_LIST && code != ANYFFI_DICT && code != ANYFFI_SET) || peeked.size() != kPeeked ||
      peeked[0].type_code() != ANYFFI_INT) {
    throw anyffi::Error("TypeError", "expected a List, Dict or Set, and what peek returned");
  }
  return anyffi::runtime::erase_peeked(container.raw().as_object, anyffi::runtime::as_sequence(peeked.get())->data);
}

/// Deeper trees are rare; a fixed limit saves measuring the remaining stack.
constexpr int kMostLevels = 32;

bool is_tree(const AnyffiValue& value, int levels) noexcept;

/// Whether a container holds nothing but scalars and containers that it alone refers to.
bool holds_trees(const AnyffiObject* object, int levels) noexcept {
  constexpr uint64_t kScalars = anyffi::runtime::kComparedTypes | anyffi_type_bit(ANYFFI_BIG_INT) |
                                anyffi_type_bit(ANYFFI_COMPLEX) | ANYFFI_CHECKED;
  if (!anyffi::runtime::is_sequence(object->type_code)) {
    const auto* mapping = reinterpret_cast<const AnyffiMapping*>(object);
    if (((mapping->key_type_mask | mapping->value_type_mask) & ~kScalars) == 0) return true;
    for (int64_t i = 0; i < mapping->used; ++i) {
      const AnyffiEntry& entry = mapping->entries[i];
      if (entry.key.type_code == ANYFFI_UNSET) continue;
      if (!is_tree(entry.key, levels) || !is_tree(entry.value, levels)) return false;
    }
    return true;
  }
  const auto* sequence = reinterpret_cast<const AnyffiSequence*>(object);
  if ((sequence->type_mask & ~kScalars) == 0) return true;
  for (int64_t i = 0; i < sequence->size; ++i) {
    if (!is_tree(sequence->data[i], levels)) return false;
  }
  return true;
}

bool is_tree(const AnyffiValue& value, int levels) noexcept {
  int32_t code = value.type_code;
  if (code <= 0 || (code >= ANYFFI_STR_OBJECT && code <= ANYFFI_COMPLEX)) return true;
  // The host converts the other containers to none of its own, or to one that does not keep their order.
  if (code != ANYFFI_ARRAY && code != ANYFFI_LIST && code != ANYFFI_DICT) return false;
  return levels > 0 && anyffi_is_reusable(value.as_object) && holds_trees(value.as_object, levels - 1);
}

AnyValue repr(AnyView value) {
  AnyValue text;
  Section section;
  check(anyffi_value_repr(&value.raw(), text.out()));
  return text;
}

AnyValue show(AnyView value, int64_t most) {
  AnyValue text;
  Section section;
  check(anyffi::runtime::show_value(&value.raw(), most, text.out()));
  return text;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.value.equal")
    .def(
        [](AnyView a, AnyView b) {
          Section section;
          return a == b;
        },
        arg("a"), arg("b"))
    .doc("Return whether two values are equal, as Python defines it.");

ANYFFI_REGISTER_GLOBAL("anyffi.value.hash")
    .def(
        [](AnyView value) {
          Section section;
          return value.hash();
        },
        arg("value"))
    .doc("Return the runtime's hash: Python's for numbers and tuples of them; its own for text.");

ANYFFI_REGISTER_GLOBAL("anyffi.value.repr").def(&repr, arg("value")).doc("Return the runtime's repr of a value.");

ANYFFI_REGISTER_GLOBAL("anyffi.value.show")
    .def(&show, arg("value"), arg("most"))
    .doc("Return the runtime's repr, cut after so many characters; runs no users' code.");

ANYFFI_REGISTER_GLOBAL("anyffi.container.freeze")
    .def(&freeze, arg("container"))
    .doc("Return a new Array of a List's elements, Map of a Dict's or FrozenSet of a Set's; always a copy.");

ANYFFI_REGISTER_GLOBAL("anyffi.container.thaw")
    .def(&thaw, arg("container"))
    .doc("Return a new List of an Array's elements, Dict of a Map's or Set of a FrozenSet's; always a copy.");

ANYFFI_REGISTER_GLOBAL("anyffi.container.is_tree")
    .def(
        [](AnyView container) {
          Section section;
          int32_t code = container.type_code();
          bool is_checked = anyffi::runtime::is_sequence(code) || is_mapping(code) || is_set(code);
          return is_checked && holds_trees(container.raw().as_object, kMostLevels);
        },
        arg("container"))
    .doc("Return whether a value is a container in which no container has another owner, or a wrapper.");

ANYFFI_REGISTER_GLOBAL("anyffi.container.copy")
    .def([](AnyView container) { return copy_as(container, container.type_code()); }, arg("container"))
    .doc("Return a new container of the same class with the same elements.");

ANYFFI_REGISTER_GLOBAL("anyffi.container.erase_peeked")
    .def(&erase_peeked, arg("container"), arg("peeked"))
    .doc("Remove what `List.peek` and the like returned; return 0 if it was no longer there, else 1.");
