/// \file
/// Writes values as JSON: the values that are not nodes, and the paths for errors.
#include <anyffi/inline.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "core/messages.h"
#include "structure/json_writer.h"
#include "values/containers.h"

namespace anyffi::runtime {
namespace {

constexpr char kDigits[] = "0123456789abcdef";
constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The characters that JSON strings must escape.
struct Escaped {
  bool of[256] = {};
  constexpr Escaped() {
    for (int c = 0; c < 0x20; ++c) of[c] = true;
    for (int c = 0x7F; c < 256; ++c) of[c] = true;
    for (const unsigned char c : {'"', '\\'}) of[c] = true;
  }
};
constexpr Escaped kEscaped;

}  // namespace

bool has_surrogates(const AnyffiTextView& text) noexcept {
  if (text.encoding < ANYFFI_UCS2) return false;
  for (int64_t i = 0; i < text.length; ++i) {
    if (anyffi_get_code_point(&text, i) - 0xD800u < 0x800u) return true;
  }
  return false;
}

void JsonWriter::put_number(int64_t number) {
  char* at = text_.room(20);
  text_.end(std::to_chars(at, at + 20, number).ptr);
}

void JsonWriter::put_float(double number) {
  if (std::isnan(number)) return text_.put("{\"float\": \"nan\"}");
  if (std::isinf(number)) return number > 0 ? text_.put("{\"float\": \"inf\"}") : text_.put("{\"float\": \"-inf\"}");
  char* at = text_.room(40);
  char* end = std::to_chars(at, at + 32, number).ptr;
  bool is_whole = true;
  for (char* p = at; p < end && is_whole; ++p) is_whole = *p != '.' && *p != 'e';
  if (is_whole) *end++ = '.', *end++ = '0';
  text_.end(end);
}

void JsonWriter::put_unit(uint32_t unit) {
  char* at = text_.room(6);
  *at++ = '\\';
  *at++ = 'u';
  for (int shift = 12; shift >= 0; shift -= 4) *at++ = kDigits[unit >> shift & 15];
  text_.end(at);
}

/// Writes a JSON string, in ASCII.
void JsonWriter::put_text(const AnyffiTextView& text) {
  text_.put('"');
  if (text.encoding <= ANYFFI_LATIN1) {
    auto* bytes = static_cast<const unsigned char*>(text.data);
    for (int64_t i = 0, from = 0; i <= text.length; ++i) {
      if (i < text.length && !kEscaped.of[bytes[i]]) continue;
      text_.put(reinterpret_cast<const char*>(bytes) + from, static_cast<size_t>(i - from));
      from = i + 1;
      if (i == text.length) break;
      unsigned char c = bytes[i];
      if (c == '"')
        text_.put("\\\"");
      else if (c == '\\')
        text_.put("\\\\");
      else if (c == '\n')
        text_.put("\\n");
      else
        put_unit(c);
    }
  } else {
    for (int64_t i = 0; i < text.length; ++i) {
      uint32_t c = anyffi_get_code_point(&text, i);
      if (c < 0x100 && !kEscaped.of[c])
        text_.put(static_cast<char>(c));
      else if (c > 0xFFFF)
        put_unit(0xD7C0 + (c >> 10)), put_unit(0xDC00 + (c & 0x3FF));
      else
        put_unit(c);
    }
  }
  text_.put('"');
}

/// Writes text with lone surrogates as a list of code points: two adjacent ones would be read as one character.
void JsonWriter::put_string(const AnyffiTextView& text) {
  if (!has_surrogates(text)) return put_text(text);
  text_.put("{\"str\": [");
  for (int64_t i = 0; i < text.length; ++i) {
    if (i > 0) text_.put(", ");
    put_number(anyffi_get_code_point(&text, i));
  }
  text_.put("]}");
}

void JsonWriter::put_name(const char* name) {
  // Latin-1 text is identical for ASCII names, which most are.
  AnyffiTextView text{name, static_cast<int64_t>(std::strlen(name)), ANYFFI_LATIN1, 0};
  Owned decoded;
  bool is_ascii = std::none_of(name, name + text.length, [](char c) { return (c & 0x80) != 0; });
  if (!is_ascii && str_from_utf8_escaped(name, text.length, decoded.out()) == 0) anyffi_view_text(decoded.get(), &text);
  put_text(text);
}

void JsonWriter::put_hex(const AnyffiBigInt& number) {
  text_.put("{\"int\": \"");
  if (number.negative != 0) text_.put('-');
  text_.put("0x");
  bool has_begun = false;
  for (int64_t i = number.size; i-- > 0;) {
    char* at = text_.room(16);
    for (int shift = 60; shift >= 0; shift -= 4) {
      auto digit = number.words[i] >> shift & 15;
      has_begun |= digit != 0;
      if (has_begun) *at++ = kDigits[digit];
    }
    text_.end(at);
  }
  text_.put("\"}");
}

void JsonWriter::put_base64(const void* memory, size_t size) {
  auto* bytes = static_cast<const unsigned char*>(memory);
  char* at = text_.room((size + 2) / 3 * 4 + 2);
  *at++ = '"';
  for (size_t i = 0; i < size; i += 3) {
    size_t left = size - i;
    uint32_t bits =
        uint32_t{bytes[i]} << 16 | (left > 1 ? uint32_t{bytes[i + 1]} << 8 : 0) | (left > 2 ? bytes[i + 2] : 0);
    *at++ = kBase64[bits >> 18];
    *at++ = kBase64[bits >> 12 & 63];
    *at++ = left > 1 ? kBase64[bits >> 6 & 63] : '=';
    *at++ = left > 2 ? kBase64[bits & 63] : '=';
  }
  *at++ = '"';
  text_.end(at);
}

/// The path from the root to a node, and to the part that was written last.
String JsonWriter::path_to(int32_t node) {
  Vector<int32_t> nodes;
  for (; node >= 0 && nodes.size() < 20; node = nodes_[static_cast<size_t>(node)].parent) nodes.push_back(node);
  String path = node >= 0 ? "..." : "";
  for (size_t i = nodes.size(); i-- > 0;) {
    const AnyffiValue& value = *nodes_[static_cast<size_t>(nodes[i])].value.get();
    int64_t part = i == 0 ? part_ : nodes_[static_cast<size_t>(nodes[i - 1])].part;
    Form form = form_of(value.type_code);
    if (form == Form::kSequence) {
      path.append("[").append(std::to_string(part).c_str()).append("]");
    } else if (form == Form::kMapping || form == Form::kSet) {
      const AnyffiMapping* mapping = as_mapping(value.as_object);
      Owned shown;
      AnyffiTextView text;
      path += form == Form::kSet ? "{" : "[";
      bool is_leaf = part < mapping->used && form_of(mapping->entries[part].key.type_code) == Form::kLeaf &&
                     mapping->entries[part].key.type_code != ANYFFI_PY_OBJECT;
      if (is_leaf && anyffi_value_repr(&mapping->entries[part].key, shown.out()) == 0) {
        anyffi_view_text(shown.get(), &text);
        if (text.encoding == ANYFFI_ASCII && text.length < 60) {
          path.append(static_cast<const char*>(text.data), static_cast<size_t>(text.length));
        } else {
          path += "...";
        }
      } else {
        path += "...";
      }
      path += form == Form::kSet ? "}" : "]";
    } else if (form == Form::kFields || form == Form::kSlice) {
      const ObjectType* type = form == Form::kSlice ? nullptr : &types_.find(value.type_code);
      path.append(".").append(type != nullptr && type->get_state != nullptr ? "__getstate__()" : name_part(type, part));
    }
  }
  return path;
}

}  // namespace anyffi::runtime
