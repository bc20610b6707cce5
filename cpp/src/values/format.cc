/// \file
/// Formats error messages from a format string and values.
#include <anyffi/c_api.h>
#include <anyffi/inline.h>

#include <string_view>

#include "core/errors.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/owned.h"

namespace anyffi::runtime {
namespace {

/// Raises the error. Placeholders without a value, and braces that are not placeholders, are kept as text.
int raise_formatted(const char* kind, std::string_view format, const AnyffiValue* values, int32_t num_values) {
  String text;
  for (int32_t i = 0; i < num_values; ++i) {
    size_t place = format.find("{}");
    if (place == std::string_view::npos) break;
    text.append(format.substr(0, place));
    format.remove_prefix(place + 2);
    if (anyffi_is_str(values[i].type_code)) {
      append_text(&text, &values[i]);
      continue;
    }
    Owned shown;
    if (anyffi_value_repr(&values[i], shown.out()) != 0) return -1;
    append_text(&text, shown.get());
  }
  text.append(format);
  return raise_text(kind, text);
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_error_raise_formatted(const char* kind, const char* format, int64_t format_size, const AnyffiValue* values,
                                 int32_t num_values) {
  return guard([&] {
    return raise_formatted(kind, std::string_view(format, static_cast<size_t>(format_size)), values, num_values);
  });
}
