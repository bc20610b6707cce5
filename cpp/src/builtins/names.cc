/// \file
/// Suggestions for misspelt names, under `anyffi.names.*`.
#include <anyffi/anyffi.h>

#include "core/memory.h"
#include "core/messages.h"
#include "text/suggest.h"

namespace {

using anyffi::arg;
using anyffi::Array;
using anyffi::List;
using anyffi::String;
namespace runtime = anyffi::runtime;

/// UTF-8, with lone surrogates as escapes: any name can be compared and shown.
runtime::String to_utf8(const String& name) {
  runtime::String text;
  runtime::append_text(&text, &name.value().raw());
  return text;
}

Array<String> suggest(const String& name, const Array<String>& known) {
  runtime::Vector<runtime::String> names;
  for (const String& candidate : known) names.push_back(to_utf8(candidate));
  List<String> found;
  for (const runtime::String& suggestion : runtime::suggest(to_utf8(name), names)) {
    found.push_back(String(suggestion.data(), static_cast<int64_t>(suggestion.size())));
  }
  return std::move(found).freeze();
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.names.suggest")
    .def(&suggest, arg("name"), arg("known"))
    .doc("Return the known names that are similar to a misspelt one, at most three, nearest first.");
