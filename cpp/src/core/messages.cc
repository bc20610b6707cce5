/// \file
/// Text of error messages.
#include "core/messages.h"

#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <cstdio>
#include <cstring>

#include "core/errors.h"
#include "core/host.h"
#include "core/memory.h"
#include "core/owned.h"
#include "core/utf8.h"

namespace anyffi::runtime {
namespace {

void append_escape(String* out, const char* format, unsigned code) {
  char escape[16];
  std::snprintf(escape, sizeof(escape), format, code);
  *out += escape;
}

}  // namespace

int str_from_utf8_escaped(const char* utf8, int64_t size, AnyffiValue* out) noexcept {
  auto* at = reinterpret_cast<const uint8_t*>(utf8);
  const uint8_t* end = at + size;
  bool valid = true;
  for (const uint8_t* look = at + count_ascii(at, size); valid && look < end;) {
    Utf8Step step = decode_step(look, end);
    valid = step.reason == nullptr;
    look += step.size;
  }
  if (valid) return anyffi_str_from_utf8(utf8, size, out);
  *out = anyffi_make_none();
  return guard([&] {
    String text;
    while (at < end) {
      Utf8Step step = decode_step(at, end);
      if (step.reason == nullptr) {
        text.append(reinterpret_cast<const char*>(at), static_cast<size_t>(step.size));
      } else {
        for (int64_t i = 0; i < step.size; ++i) append_escape(&text, "\\x%02x", at[i]);
      }
      at += step.size;
    }
    return anyffi_str_from_utf8(text.data(), static_cast<int64_t>(text.size()), out);
  });
}

void append_text(String* out, const AnyffiValue* value) {
  AnyffiTextView text;
  bool bytes = anyffi_is_bytes(value->type_code);
  if (!bytes && !anyffi_is_str(value->type_code)) return;
  anyffi_view_text(value, &text);
  if (!bytes && text.encoding == ANYFFI_ASCII) {
    out->append(static_cast<const char*>(text.data), static_cast<size_t>(text.length));
    return;
  }
  for (int64_t i = 0; i < text.length; ++i) {
    uint32_t unit = anyffi_get_code_point(&text, i);
    char encoded[4];
    if (bytes && unit >= 0x80) {
      append_escape(out, "\\x%02x", unit);
    } else if (is_surrogate(unit)) {
      append_escape(out, "\\u%04x", unit);
    } else {
      out->append(encoded, static_cast<size_t>(encode_step(unit, encoded)));
    }
  }
}

int type_name_of(const AnyffiValue* value, AnyffiValue* out) noexcept {
  if (value->type_code == ANYFFI_BOX) value = &reinterpret_cast<AnyffiBox*>(value->as_object)->value;
  *out = anyffi_make_none();
  void* handle = handle_of(*value);
  if (handle == nullptr && value->type_code == ANYFFI_ERROR) {
    return anyffi_value_own(&reinterpret_cast<AnyffiError*>(value->as_object)->kind, out);
  }
  const AnyffiHost* hooks = host();
  if (handle != nullptr && hooks != nullptr && hooks->handle_type_name != nullptr) {
    int status = call_hook(out, [&] { return hooks->handle_type_name(handle, out); });
    if (status == 0 && anyffi_is_str(out->type_code)) return 0;
    anyffi_value_release(out);
    Owned ignored;
    anyffi_error_take_raised(ignored.out());
  }
  const AnyffiTypeInfo* info = anyffi_type_get_info(value->type_code);
  const char* name = info != nullptr ? info->python_name : "value of an unknown type";
  return str_from_utf8_escaped(name, static_cast<int64_t>(std::strlen(name)), out);
}

int raise_about_type(const AnyffiValue* value, const char* format) noexcept {
  Owned name;
  if (type_name_of(value, name.out()) != 0) return -1;
  return guard([&] {
    String text;
    append_text(&text, name.get());
    return raise_format("TypeError", format, text.c_str());
  });
}

}  // namespace anyffi::runtime
