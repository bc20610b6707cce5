/// \file
/// Splits a text into its characters, each a string: with values of any type, and with typed ones.

#include <anyffi/anyffi.h>

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::List;
using anyffi::String;

/// The word and the elements may have any type: a list of lists is split like a text.
List<AnyValue> split_erased(AnyView word) {
  List<AnyValue> list;
  list.reserve(word.size());
  for (int64_t i = 0; i < word.size(); ++i) list.push_back(word[i]);
  return list;
}

List<String> split_typed(const String& word) {
  List<String> list;
  list.reserve(word.size());
  for (int64_t i = 0; i < word.size(); ++i) list.push_back(word[i]);
  return list;
}

/// Borrows the caller's text, so the cost of the argument does not depend on its length.
AnyValue char_at(AnyView word, int64_t index) { return word[index]; }

}  // namespace

ANYFFI_EXPORT(split_erased, &split_erased, arg("word"));
ANYFFI_EXPORT(split_typed, &split_typed, arg("word"));
ANYFFI_EXPORT(char_at, &char_at, arg("word"), arg("index"));
