/// \file
/// Methods of mappings and sets, under `anyffi.Dict.*`, `anyffi.Mapping.*` and `anyffi.Set.*`.
#include <anyffi/anyffi.h>

#include "values/containers.h"
#include "values/entry_changes.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::Array;
using anyffi::Dict;
using anyffi::Error;
using anyffi::FrozenSet;
using anyffi::Set;
using anyffi::detail::Adopt;
using anyffi::detail::check;
using anyffi::runtime::as_mapping;
using anyffi::runtime::is_mapping;

void change(const Set<>& set, const FrozenSet<>& added, const Array<>& removed) {
  auto* sequence = reinterpret_cast<const AnyffiSequence*>(removed.get());
  check(anyffi::runtime::change_elements(as_mapping(set.get()), as_mapping(added.get()), sequence));
}

void update(const Set<>& set, const FrozenSet<>& elements) { check(anyffi_mapping_update(set.get(), elements.get())); }

void assign(const Set<>& set, const FrozenSet<>& elements) {
  check(anyffi::runtime::assign_entries(as_mapping(set.get()), as_mapping(elements.get())));
}

AnyValue pop(const Set<>& set) {
  auto* entries = reinterpret_cast<const AnyffiMapping*>(set.get());
  if (entries->size == 0) throw Error("KeyError", "pop from an empty set");
  int64_t last = entries->used - 1;
  AnyValue element{AnyView(entries->entries[last].key)};
  check(anyffi_mapping_erase(set.get(), last));
  return element;
}

/// Returns whether the key was there.
bool set(const Dict<>& dict, AnyView key, AnyView value) {
  AnyValue own_key(key), own_value(value);
  AnyffiValue raw_key = own_key.release(), raw_value = own_value.release();
  int32_t existed;
  check(anyffi_mapping_set(dict.get(), &raw_key, &raw_value, &existed));
  return existed != 0;
}

/// Does not return the value that it set, which the caller has: without memory to convert that, nothing may have
/// changed.
AnyValue set_default(const Dict<>& dict, AnyView key, AnyView value) {
  AnyValue found;
  check(anyffi_mapping_get(dict.get(), &key.raw(), found.out()));
  if (found.type_code() != ANYFFI_UNSET) return Array<>{found};
  set(dict, key, value);
  return AnyValue(1);
}

AnyValue pop_key(const Dict<>& dict, AnyView key) {
  int64_t entry;
  check(anyffi_mapping_find(dict.get(), &key.raw(), &entry));
  if (entry < 0) return AnyValue(Adopt{}, anyffi_make_value(static_cast<uint32_t>(ANYFFI_MISSING), 0));
  AnyValue popped(AnyView(as_mapping(dict.get())->entries[entry].value));
  check(anyffi_mapping_erase(dict.get(), entry));
  return popped;
}

Array<> pop_item(const Dict<>& dict) {
  AnyValue key, value;
  int64_t entry = anyffi_mapping_next(dict.get(), INT64_MAX, -1, key.out(), value.out());
  if (entry < 0) throw Error("KeyError", "popitem(): dictionary is empty");
  Array<> pair{key, value};
  check(anyffi_mapping_erase(dict.get(), entry));
  return pair;
}

/// The entry of a key; the last one if `key` is null.
AnyValue peek(const AnyffiObject* mapping, const AnyffiValue* key) {
  AnyValue found;
  check(anyffi::runtime::peek_array(mapping, key, found.out()));
  return found;
}

AnyffiObject* read_mapping(const AnyView& value) {
  if (!is_mapping(value.type_code())) throw Error("TypeError", "expected a Map or a Dict");
  return value.raw().as_object;
}

AnyValue merge(AnyView first, AnyView second, int32_t type_code) {
  read_mapping(first);
  AnyValue merged;
  check(anyffi_container_copy(&first.raw(), type_code, merged.out()));
  check(anyffi_mapping_update(merged.raw().as_object, read_mapping(second)));
  return merged;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.Dict.set").def(&set, arg("dict"), arg("key"), arg("value"));

ANYFFI_REGISTER_GLOBAL("anyffi.Dict.erase")
    .def([](const Dict<>& dict, AnyView key) { return anyffi::detail::erase_key(dict.get(), key); }, arg("dict"),
         arg("key"))
    .doc("Remove a key, and return whether it existed.");

ANYFFI_REGISTER_GLOBAL("anyffi.Dict.setdefault")
    .def(&set_default, arg("dict"), arg("key"), arg("value"))
    .doc("Set a key, and return 1, unless it exists; else return an Array of its value.");

ANYFFI_REGISTER_GLOBAL("anyffi.Dict.pop")
    .def(&pop_key, arg("dict"), arg("key"))
    .doc("Remove a key, and return its value; Missing if it did not exist.");

ANYFFI_REGISTER_GLOBAL("anyffi.Dict.popitem")
    .def(&pop_item, arg("dict"))
    .doc("Remove the last entry, and return its key and value. KeyError if there is none.");

ANYFFI_REGISTER_GLOBAL("anyffi.Dict.peek")
    .def([](const Dict<>& dict, AnyView key) { return peek(dict.get(), &key.raw()); }, arg("dict"), arg("key"))
    .doc("Return an Array of number, key and value of a key's entry; None if the key does not exist.");

ANYFFI_REGISTER_GLOBAL("anyffi.Dict.peek_last")
    .def([](const Dict<>& dict) { return peek(dict.get(), nullptr); }, arg("dict"))
    .doc("Return an Array of number, key and value of the last entry; None if there is none.");

ANYFFI_REGISTER_GLOBAL("anyffi.Dict.update")
    .def([](const Dict<>& dict, AnyView other) { check(anyffi_mapping_update(dict.get(), read_mapping(other))); },
         arg("dict"), arg("other"))
    .doc("Set all entries of a Map or another Dict.");

ANYFFI_REGISTER_GLOBAL("anyffi.Mapping.merge")
    .def(&merge, arg("first"), arg("second"), arg("type_code"))
    .doc("Return a new mapping of the entries of both; for keys in both, with the second one's value.");

ANYFFI_REGISTER_GLOBAL("anyffi.Dict.clear")
    .def([](const Dict<>& dict) { anyffi_mapping_clear(dict.get()); }, arg("dict"));

ANYFFI_REGISTER_GLOBAL("anyffi.Set.add")
    .def([](const Set<>& set, AnyView value) { return anyffi::detail::add_element(set.get(), value); }, arg("set"),
         arg("value"))
    .doc("Add an element, and return whether it was new.");

ANYFFI_REGISTER_GLOBAL("anyffi.Set.update")
    .def(&update, arg("set"), arg("elements"))
    .doc("Add all elements of another set, or change nothing on failure.");

ANYFFI_REGISTER_GLOBAL("anyffi.Set.change")
    .def(&change, arg("set"), arg("added"), arg("removed"))
    .doc("Add the elements of another set, and remove those of an Array; change nothing on failure.");

ANYFFI_REGISTER_GLOBAL("anyffi.Set.assign")
    .def(&assign, arg("set"), arg("elements"))
    .doc("Replace all elements by those of another set, or change nothing on failure.");

ANYFFI_REGISTER_GLOBAL("anyffi.Set.pop").def(&pop, arg("set")).doc("Remove and return the element added last.");

ANYFFI_REGISTER_GLOBAL("anyffi.Set.peek_last")
    .def([](const Set<>& set) { return peek(set.get(), nullptr); }, arg("set"))
    .doc("Return an Array that begins with the number and the element that was added last; None if there is none.");

ANYFFI_REGISTER_GLOBAL("anyffi.Set.discard")
    .def([](const Set<>& set, AnyView value) { return anyffi::detail::erase_key(set.get(), value); }, arg("set"),
         arg("value"))
    .doc("Remove an element, and return whether it existed.");

ANYFFI_REGISTER_GLOBAL("anyffi.Set.clear").def([](const Set<>& set) { anyffi_mapping_clear(set.get()); }, arg("set"));
