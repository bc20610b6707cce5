/// \file
/// Checks that parameter names are valid for Python's keyword arguments.
#include <anyffi/c_api.h>

#include <algorithm>
#include <iterator>

#include "core/errors.h"
#include "core/memory.h"
#include "functions/signature.h"
#include "text/identifier.h"

namespace anyffi::runtime {
namespace {

constexpr std::string_view kKeywords[] = {"False",  "None",   "True",    "and",      "as",       "assert", "async",
                                          "await",  "break",  "class",   "continue", "def",      "del",    "elif",
                                          "else",   "except", "finally", "for",      "from",     "global", "if",
                                          "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
                                          "pass",   "raise",  "return",  "try",      "while",    "with",   "yield"};

/// The reason why a parameter's name is invalid, or NULL.
const char* find_fault(const AnyffiFunctionInfo& info, int32_t index) {
  if (info.params[index].name == nullptr) return "there is none";
  std::string_view name = info.params[index].name;
  if (!is_identifier(name)) return "it is not an identifier";
  if (std::find(std::begin(kKeywords), std::end(kKeywords), name) != std::end(kKeywords)) {
    return "it is a keyword of Python";
  }
  bool is_repeated = std::any_of(info.params, info.params + index, [&](const AnyffiParamInfo& earlier) {
    return earlier.name != nullptr && name == earlier.name;
  });
  return is_repeated ? "another parameter has it" : nullptr;
}

int check_names(const AnyffiFunctionInfo& info) {
  for (int32_t i = 0; i < info.num_params; ++i) {
    const char* fault = find_fault(info, i);
    if (fault == nullptr) continue;
    String text;
    append_signature(&text, info);
    const char* name = info.params[i].name;
    text.append(": parameter ").append(std::to_string(i).c_str()).append(" cannot have the name '");
    text.append(name != nullptr ? name : "").append("': ").append(fault);
    return raise_text("ValueError", text);
  }
  return 0;
}

}  // namespace
}  // namespace anyffi::runtime

int anyffi_function_check_param_names(const AnyffiFunctionInfo* info) {
  using namespace anyffi::runtime;
  return guard([&] { return check_names(*info); });
}
