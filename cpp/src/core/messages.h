/// \file
/// Text of error messages: values and types by name, as UTF-8.
#ifndef ANYFFI_SRC_CORE_MESSAGES_H_
#define ANYFFI_SRC_CORE_MESSAGES_H_

#include <anyffi/c_api.h>

#include "core/memory.h"

namespace anyffi::runtime {

/// Decodes UTF-8; bytes that are not UTF-8 become `\xNN`.
int str_from_utf8_escaped(const char* utf8, int64_t size, AnyffiValue* out) noexcept;
/// Appends a string or bytes value as UTF-8; code points that UTF-8 cannot encode become escapes. May throw bad_alloc.
void append_text(String* out, const AnyffiValue* text);
/// Python's name for the type of a value. Calls the host for the name of a host object's type.
int type_name_of(const AnyffiValue* value, AnyffiValue* out) noexcept;
/// Raises TypeError; `format` has one `%s`, for the name of the value's type.
int raise_about_type(const AnyffiValue* value, const char* format) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_MESSAGES_H_
