/// \file
/// Conversions of arguments that are the same for all C++ types.
#include <anyffi/inline.h>
#include <anyffi/native_api.h>

#include "core/owned.h"

namespace {

/// Fills `why` for a value that does not convert.
int refuse(AnyffiMismatch* why, const AnyffiValue& got, const char* expected, int32_t reason,
           const char* detail = nullptr) noexcept {
  why->reason = reason;
  why->path_size = 0;
  why->expected = expected;
  why->detail = detail;
  why->got = got;
  why->got_text[0] = 0;
  return 0;
}

}  // namespace

int anyffi_load_member(const AnyffiValue* value, AnyffiValue* out) {
  *out = anyffi_make_none();
  if (value->type_code != ANYFFI_PY_OBJECT) return 0;
  anyffi::runtime::Owned plain, ignored;
  if (anyffi_value_convert(value, ANYFFI_AS_PLAIN, plain.out()) != 0) anyffi_error_take_raised(ignored.out());
  if (plain->type_code == ANYFFI_NONE || plain->type_code == ANYFFI_PY_OBJECT) return 0;
  *out = plain.take();
  return 1;
}

int anyffi_load_utf8(const AnyffiValue* given, AnyffiValue* encoded, AnyffiTextView* text, AnyffiMismatch* why) {
  const AnyffiValue& value =
      given->type_code == ANYFFI_BOX ? reinterpret_cast<const AnyffiBox*>(given->as_object)->value : *given;
  bool is_utf8 = anyffi_is_utf8(&value) != 0;
  if (!is_utf8 && anyffi_is_str(value.type_code) == 0) {
    anyffi::runtime::Owned member;
    if (anyffi_load_member(&value, member.out()) == 0 || anyffi_is_str(member->type_code) == 0) {
      return refuse(why, value, "str", ANYFFI_MISMATCH_TYPE);
    }
    if (anyffi_str_to_utf8(member.get(), encoded) != 0) return refuse(why, value, "str", ANYFFI_MISMATCH_RAISED);
    anyffi_view_text(encoded, text);
    return 1;
  }
  anyffi_view_text(&value, text);
  if (is_utf8 || __builtin_expect(text->encoding == ANYFFI_ASCII, 1)) return 1;
  if (anyffi_str_to_utf8(&value, encoded) != 0) return refuse(why, value, "str", ANYFFI_MISMATCH_RAISED);
  anyffi_view_text(encoded, text);
  return 1;
}

int anyffi_load_float(const AnyffiValue* value, const char* type_name, double* out, AnyffiMismatch* why) {
  *out = value->as_float;
  if (value->type_code == ANYFFI_FLOAT) return 1;
  if (value->type_code != ANYFFI_BIG_INT) return refuse(why, *value, "float", ANYFFI_MISMATCH_TYPE);
  if (anyffi_big_int_get_float(value->as_object, out) == 0) return 1;
  anyffi::runtime::Owned ignored;
  anyffi_error_take_raised(ignored.out());
  return refuse(why, *value, "float", ANYFFI_MISMATCH_RANGE, type_name);
}
