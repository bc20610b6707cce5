/// \file
/// Suggestions for misspelt names.
#ifndef ANYFFI_SRC_TEXT_SUGGEST_H_
#define ANYFFI_SRC_TEXT_SUGGEST_H_

#include <string_view>

#include "core/memory.h"

namespace anyffi::runtime {

/// The known names that are similar to `name`, at most three, nearest first.
Vector<String> suggest(std::string_view name, const Vector<String>& known);
/// The end of a message about an unknown name: `; did you mean 'append'?`, or nothing.
String did_you_mean(std::string_view name, const Vector<String>& known);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_TEXT_SUGGEST_H_
