/// \file
/// Suggestions for misspelt names.
#ifndef ANYFFI_SRC_TEXT_SUGGEST_H_
#define ANYFFI_SRC_TEXT_SUGGEST_H_

#include <string_view>

#include "core/memory.h"

namespace anyffi::runtime {

/// The known names similar to `name`: at most three, the most similar first.
Vector<String> suggest(std::string_view name, const Vector<String>& known);
/// The suffix of a message about an unknown name: `; did you mean 'append'?`, or empty.
String did_you_mean(std::string_view name, const Vector<String>& known);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_TEXT_SUGGEST_H_
