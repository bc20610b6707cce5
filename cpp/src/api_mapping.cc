/// \file
/// What Python does to a Dict and a Set, under `anyffi.Dict.*` and `anyffi.Set.*`.
#include <anyffi/anyffi.h>

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::Dict;
using anyffi::FrozenSet;
using anyffi::Set;
using anyffi::detail::check;

void update(const Set<>& set, const FrozenSet<>& elements) {
  for (const AnyValue& element : elements) anyffi::detail::add_element(set.get(), element);
}

AnyValue pop(const Set<>& set) {
  auto* entries = reinterpret_cast<const AnyffiMapping*>(set.get());
  if (entries->size == 0) throw anyffi::Error("KeyError", "pop from an empty set");
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

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.Dict.set").def(&set, arg("dict"), arg("key"), arg("value"));

ANYFFI_REGISTER_GLOBAL("anyffi.Dict.erase")
    .def([](const Dict<>& dict, AnyView key) { return anyffi::detail::erase_key(dict.get(), key); }, arg("dict"),
         arg("key"))
    .doc("Remove a key, and return whether it was there.");

ANYFFI_REGISTER_GLOBAL("anyffi.Dict.clear")
    .def([](const Dict<>& dict) { anyffi_mapping_clear(dict.get()); }, arg("dict"));

ANYFFI_REGISTER_GLOBAL("anyffi.Set.add")
    .def([](const Set<>& set, AnyView value) { return anyffi::detail::add_element(set.get(), value); }, arg("set"),
         arg("value"))
    .doc("Add an element, and return whether it was new.");

ANYFFI_REGISTER_GLOBAL("anyffi.Set.update")
    .def(&update, arg("set"), arg("elements"))
    .doc("Add all elements of another set.");

ANYFFI_REGISTER_GLOBAL("anyffi.Set.pop")
    .def(&pop, arg("set"))
    .doc("Remove and return the element that was added last.");

ANYFFI_REGISTER_GLOBAL("anyffi.Set.discard")
    .def([](const Set<>& set, AnyView value) { return anyffi::detail::erase_key(set.get(), value); }, arg("set"),
         arg("value"))
    .doc("Remove an element, and return whether it was there.");

ANYFFI_REGISTER_GLOBAL("anyffi.Set.clear").def([](const Set<>& set) { anyffi_mapping_clear(set.get()); }, arg("set"));
