/// \file
/// Parses the text of a graph: the values in its nodes.
#include <cmath>

#include "structure/json_reader.h"
#include "tensors/names.h"

namespace anyffi::runtime {
namespace {

int value_of_base64(char c) noexcept {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/// Decodes `size` characters of base64 in place; returns the number of bytes, or -1 if it is malformed.
int64_t decode_base64(const char* text, size_t size, unsigned char* out) noexcept {
  if (size % 4 != 0) return -1;
  int64_t count = 0;
  for (size_t i = 0; i < size; i += 4) {
    bool is_last = i + 4 == size;
    int padding = !is_last || text[i + 3] != '=' ? 0 : text[i + 2] == '=' ? 2 : 1;
    uint32_t bits = 0;
    for (int k = 0; k < 4; ++k) {
      int digit = k >= 4 - padding ? 0 : value_of_base64(text[i + static_cast<size_t>(k)]);
      if (digit < 0) return -1;
      bits = bits << 6 | static_cast<uint32_t>(digit);
    }
    for (int k = 0; k < 3 - padding; ++k) out[count++] = static_cast<unsigned char>(bits >> (16 - 8 * k));
  }
  return count;
}

}  // namespace

bool JsonParser::read_value(AnyffiValue* out) {
  *out = anyffi_make_none();
  switch (scanner_.peek()) {
    case '"':
      return scanner_.read_str(out);
    case '{':
      return read_special(out);
    case 't':
    case 'f':
      *out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_BOOL), scanner_.peek() == 't' ? 1 : 0);
      return scanner_.expect_word(out->as_int != 0 ? "true" : "false");
    case 'n':
      return scanner_.expect_word("null");
    case '[':
      return scanner_.fail("lists are nodes, which values refer to by {\"ref\": number}");
    default:
      return scanner_.read_number(out);
  }
}

bool JsonParser::read_special(AnyffiValue* out) {
  const char* key;
  size_t size;
  size_t position = scanner_.position();
  if (!scanner_.expect('{')) return false;
  scanner_.peek();
  if (!read_key(&key, &size)) return false;
  Owned made;
  bool is_ok;
  double number;
  if (is_text(key, size, "ref")) {
    int64_t node;
    is_ok = scanner_.read_int(&node);
    if (is_ok) *made.out() = anyffi_make_value(static_cast<uint32_t>(ANYFFI_UNSET), static_cast<uint64_t>(node));
  } else if (is_text(key, size, "int")) {
    is_ok = read_big_int(made.out());
  } else if (is_text(key, size, "float")) {
    is_ok = read_named_float(&number);
    if (is_ok) {
      made.out()->type_code = ANYFFI_FLOAT;
      const_cast<AnyffiValue*>(made.get())->as_float = number;
    }
  } else if (is_text(key, size, "complex")) {
    is_ok = read_complex(made.out());
  } else if (is_text(key, size, "bytes")) {
    is_ok = read_bytes(made.out());
  } else if (is_text(key, size, "str")) {
    is_ok = read_code_points(made.out());
  } else if (is_text(key, size, "dtype")) {
    AnyffiDataType dtype;
    is_ok = read_dtype(&dtype);
    if (is_ok) {
      AnyffiValue value = anyffi_make_value(static_cast<uint32_t>(ANYFFI_DATA_TYPE), 0);
      value.as_data_type = dtype;
      *made.out() = value;
    }
  } else if (is_text(key, size, "device")) {
    is_ok = read_device(made.out());
  } else if (is_text(key, size, "ellipsis")) {
    scanner_.peek();
    is_ok = scanner_.expect_word("true");
    if (is_ok) *made.out() = anyffi_make_value(static_cast<uint32_t>(ANYFFI_ELLIPSIS), 0);
  } else {
    return scanner_.fail("an unknown sort of value", position);
  }
  if (!is_ok || !scanner_.expect('}')) return false;
  *out = made.take();
  return true;
}

bool JsonParser::read_big_int(AnyffiValue* out) {
  const char* text;
  size_t size;
  scanner_.peek();
  size_t position = scanner_.position();
  if (!scanner_.read_text(&text, &size)) return false;
  bool is_negative = size > 0 && text[0] == '-';
  if (is_negative) ++text, --size;
  if (size < 3 || text[0] != '0' || text[1] != 'x') return scanner_.fail("expected \"0x\" and digits", position);
  Vector<uint64_t> words((size - 2 + 15) / 16, 0);
  for (size_t i = 0; i < size - 2; ++i) {
    char c = text[size - 1 - i];
    int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return scanner_.fail("expected \"0x\" and digits", position);
    words[i / 16] |= static_cast<uint64_t>(digit) << (i % 16 * 4);
  }
  return anyffi_big_int_create(words.data(), static_cast<int64_t>(words.size()), is_negative, out) == 0;
}

bool JsonParser::read_named_float(double* out) {
  const char* text;
  size_t size;
  scanner_.peek();
  size_t position = scanner_.position();
  if (!scanner_.read_text(&text, &size)) return false;
  bool is_negative = size > 0 && text[0] == '-';
  if (is_text(text, size, "nan")) return *out = std::nan(""), true;
  if (is_text(text + is_negative, size - is_negative, "inf")) return *out = is_negative ? -HUGE_VAL : HUGE_VAL, true;
  return scanner_.fail("expected \"nan\", \"inf\" or \"-inf\"", position);
}

bool JsonParser::read_complex(AnyffiValue* out) {
  double parts[2];
  if (!scanner_.expect('[')) return false;
  for (int i = 0; i < 2; ++i) {
    AnyffiValue part;
    scanner_.peek();
    size_t position = scanner_.position();
    if (scanner_.peek() != '{') {
      if (!scanner_.read_number(&part)) return false;
      if (part.type_code != ANYFFI_FLOAT) return scanner_.fail("expected a number with a point", position);
      parts[i] = part.as_float;
    } else {
      const char* key;
      size_t size;
      if (!scanner_.expect('{') || (scanner_.peek(), !read_key(&key, &size))) return false;
      if (!is_text(key, size, "float")) return scanner_.fail("expected a float", position);
      if (!read_named_float(&parts[i]) || !scanner_.expect('}')) return false;
    }
    if (!scanner_.expect(i == 0 ? ',' : ']')) return false;
  }
  return anyffi_complex_create(parts[0], parts[1], out) == 0;
}

bool JsonParser::read_code_points(AnyffiValue* out) {
  Vector<uint32_t> points;
  if (!scanner_.expect('[')) return false;
  for (bool more = !scanner_.accept(']'); more;) {
    int64_t point;
    if (!scanner_.read_int(&point)) return false;
    if (point < 0 || point > 0x10FFFF) return scanner_.fail("no code point");
    points.push_back(static_cast<uint32_t>(point));
    if (!scanner_.next(']', &more)) return false;
  }
  return anyffi_str_create(points.data(), static_cast<int64_t>(points.size()), ANYFFI_UCS4, out) == 0;
}

bool JsonParser::read_bytes(AnyffiValue* out) {
  const char* text;
  size_t size;
  scanner_.peek();
  size_t position = scanner_.position();
  if (!scanner_.read_text(&text, &size)) return false;
  Vector<unsigned char> bytes(size / 4 * 3 + 1);
  int64_t count = decode_base64(text, size, bytes.data());
  if (count < 0) return scanner_.fail("expected base64", position);
  return anyffi_bytes_create(bytes.data(), count, out) == 0;
}

bool JsonParser::read_dtype(AnyffiDataType* out) {
  const char* text;
  size_t size;
  scanner_.peek();
  size_t position = scanner_.position();
  if (!scanner_.read_text(&text, &size)) return false;
  struct Row {
    int code;
    const char* name;
    int bits;
  };
#define ANYFFI_ROW(NAME, code, name, bits) {code, name, bits},
  constexpr Row kRows[] = {ANYFFI_DATA_TYPE_CODES(ANYFFI_ROW)};
#undef ANYFFI_ROW
  for (const Row& row : kRows) {
    size_t at = std::strlen(row.name);
    if (at > size || std::memcmp(text, row.name, at) != 0) continue;
    auto read = [&](uint32_t fallback) {
      uint32_t number = 0;
      size_t from = at;
      for (; at < size && text[at] >= '0' && text[at] <= '9' && number < 100000; ++at) {
        number = 10 * number + static_cast<uint32_t>(text[at] - '0');
      }
      return from == at ? fallback : number;
    };
    uint32_t bits = row.bits != 0 ? static_cast<uint32_t>(row.bits) : read(row.code == ANYFFI_kDLBool ? 8 : 0);
    uint32_t lanes = 1;
    if (at < size && text[at] == 'x') ++at, lanes = read(0);
    *out = AnyffiDataType{static_cast<uint8_t>(row.code), static_cast<uint8_t>(bits), static_cast<uint16_t>(lanes)};
    ShortName name = data_type_name(*out);
    if (bits - 1 < 255 && lanes - 1 < 65535 && static_cast<size_t>(name.size) == size &&
        std::memcmp(name.text, text, size) == 0) {
      return true;
    }
  }
  return scanner_.fail("unknown dtype", position);
}

bool JsonParser::read_device(AnyffiValue* out) {
  const char* text;
  size_t size;
  scanner_.peek();
  size_t position = scanner_.position();
  if (!scanner_.read_text(&text, &size)) return false;
  const char* colon = static_cast<const char*>(std::memchr(text, ':', size));
  int64_t index = 0;
  for (const char* p = colon == nullptr ? text : colon + 1; colon != nullptr && p < text + size && index <= INT32_MAX;
       ++p) {
    index = *p >= '0' && *p <= '9' ? 10 * index + (*p - '0') : int64_t{INT32_MAX} + 1;
  }
#define ANYFFI_ROW(NAME, number, name) number,
  constexpr int32_t kTypes[] = {ANYFFI_DEVICE_TYPES(ANYFFI_ROW)};
#undef ANYFFI_ROW
  for (int32_t type : kTypes) {
    AnyffiDevice device{type, static_cast<int32_t>(index > INT32_MAX ? 0 : index)};
    ShortName name = device_name(device);
    if (static_cast<size_t>(name.size) != size || std::memcmp(name.text, text, size) != 0) continue;
    *out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_DEVICE), 0);
    out->as_device = device;
    return true;
  }
  return scanner_.fail("unknown device", position);
}

}  // namespace anyffi::runtime
