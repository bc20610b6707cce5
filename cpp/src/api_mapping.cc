/// \file
/// What Python does to a Dict, under `anyffi.Dict.*`.
#include <anyffi/anyffi.h>

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::Dict;
using anyffi::detail::check;

/// Returns whether the key was there.
bool set(const Dict<>& dict, AnyView key, AnyView value) {
  AnyValue own_key(key), own_value(value);
  AnyffiValue raw_key = own_key.release(), raw_value = own_value.release();
  int32_t existed;
  check(anyffi_mapping_set(dict.get(), &raw_key, &raw_value, &existed));
  return existed != 0;
}

bool erase(const Dict<>& dict, AnyView key) {
  int64_t entry;
  check(anyffi_mapping_find(dict.get(), &key.raw(), &entry));
  if (entry >= 0) check(anyffi_mapping_erase(dict.get(), entry));
  return entry >= 0;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.Dict.set").def(&set, arg("dict"), arg("key"), arg("value"));

ANYFFI_REGISTER_GLOBAL("anyffi.Dict.erase")
    .def(&erase, arg("dict"), arg("key"))
    .doc("Remove a key, and return whether it was there.");

ANYFFI_REGISTER_GLOBAL("anyffi.Dict.clear")
    .def([](const Dict<>& dict) { anyffi_mapping_clear(dict.get()); }, arg("dict"));
