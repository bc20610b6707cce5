/// \file
/// The `repr` of values.
#include <anyffi/inline.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/compiler.h"
#include "core/depth.h"
#include "core/errors.h"
#include "core/host.h"
#include "core/memory.h"
#include "core/owned.h"
#include "core/types.h"
#include "tensors/names.h"
#include "values/containers.h"
#include "values/record_callbacks.h"
#include "values/show.h"

namespace anyffi::runtime {
namespace {

struct Range {
  uint32_t first;
  uint32_t last;
};

/// Code points above ASCII that Python escapes: control, format, surrogate, private use and separator characters.
/// Unassigned ones are not escaped, because they differ between versions of Unicode, and so of Python.
constexpr Range kNotPrintable[] = {
    {0x80, 0xA0},        {0xAD, 0xAD},       {0x600, 0x605},     {0x61C, 0x61C},     {0x6DD, 0x6DD},
    {0x70F, 0x70F},      {0x890, 0x891},     {0x8E2, 0x8E2},     {0x1680, 0x1680},   {0x180E, 0x180E},
    {0x2000, 0x200F},    {0x2028, 0x202F},   {0x205F, 0x206F},   {0x3000, 0x3000},   {0xD800, 0xF8FF},
    {0xFDD0, 0xFDEF},    {0xFEFF, 0xFEFF},   {0xFFF0, 0xFFFB},   {0xFFFE, 0xFFFF},   {0x110BD, 0x110BD},
    {0x110CD, 0x110CD},  {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE00FF},
    {0xE01F0, 0x10FFFF},
};

bool is_printable(uint32_t code_point) {
  if (code_point < 0x7F) return code_point >= 0x20;
  if (code_point == 0x7F) return false;
  for (const Range& range : kNotPrintable) {
    if (code_point <= range.last) return code_point < range.first;
  }
  return false;
}

/// The containers whose repr is being computed on this thread, to detect one that contains itself (as Py_ReprEnter
/// does). Per thread, because the repr of a host object may call the runtime again.
struct Open {
  const AnyffiObject* object;
  const Open* outer;
};
ANYFFI_THREAD_LOCAL const Open* innermost_open = nullptr;

class OpenScope {
 public:
  explicit OpenScope(const AnyffiObject* object) : open_{object, innermost_open} { innermost_open = &open_; }
  ~OpenScope() { innermost_open = open_.outer; }
  OpenScope(const OpenScope&) = delete;
  OpenScope& operator=(const OpenScope&) = delete;

  static bool contains(const AnyffiObject* object) {
    for (const Open* open = innermost_open; open != nullptr; open = open->outer) {
      if (open->object == object) return true;
    }
    return false;
  }

 private:
  Open open_;
};

/// Builds the text. Functions that return int may run code of the host and fail; all functions may throw bad_alloc.
///
/// With a limit it runs no code of the host or of users, and stops soon after that many code points.
class Writer {
 public:
  explicit Writer(int64_t most = -1) : most_(most) {}

  int write(const AnyffiValue& value);
  int finish(AnyffiValue* out) {
    if (is_full()) {
      text_.resize(static_cast<size_t>(most_));
      put("...");
    }
    return anyffi_str_create(text_.data(), static_cast<int64_t>(text_.size()), ANYFFI_UCS4, out);
  }

 private:
  bool is_bounded() const { return most_ >= 0; }
  bool is_full() const { return is_bounded() && static_cast<int64_t>(text_.size()) > most_; }
  /// The number of code points of a text that can be needed.
  int64_t readable(int64_t length) const { return is_bounded() ? std::min(length, most_ + 1) : length; }
  void put(const char* ascii) {
    auto* bytes = reinterpret_cast<const unsigned char*>(ascii);
    text_.insert(text_.end(), bytes, bytes + std::strlen(ascii));
  }
  void put_hex(char letter, uint32_t number, int digits);
  void put_float(double number);
  void put_quoted(const AnyffiTextView& text, bool bytes);
  void put_text(const AnyffiTextView& text);
  template <class... Numbers>
  void put_format(const char* format, Numbers... numbers) {
    char buffer[96];
    std::snprintf(buffer, sizeof(buffer), format, numbers...);
    put(buffer);
  }
  void put_type(int32_t type_code);
  void put_tensor(const AnyffiTensorData& tensor);
  int write_sequence(const AnyffiSequence* sequence, bool array);
  int write_mapping(const AnyffiMapping* mapping);
  int write_set(const AnyffiMapping* set);
  int write_slice(const AnyffiSlice* slice);
  int write_error(const AnyffiError* error);
  int write_object(const AnyffiValue& value);
  int write_fields(const AnyffiTypeInfo& info, AnyffiObject* object);
  /// Appends the string that a hook returns.
  template <class Hook>
  int write_from(Hook hook);
  int put_text_of(const AnyffiValue& value);

  Vector<uint32_t> text_;
  int64_t most_; /* the limit in code points; negative: none */
};

void Writer::put_hex(char letter, uint32_t number, int digits) {
  text_.push_back('\\');
  text_.push_back(static_cast<unsigned char>(letter));
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    text_.push_back(static_cast<unsigned char>("0123456789abcdef"[number >> shift & 15]));
  }
}

void Writer::put_float(double number) {
  if (std::isnan(number)) return put("nan");
  if (std::signbit(number)) put("-");
  if (std::isinf(number)) return put("inf");
  // The shortest digits that round-trip, as d.ddde+XX, which are then formatted as Python does.
  char digits[40];
  char* end = std::to_chars(digits, digits + sizeof(digits) - 1, std::fabs(number), std::chars_format::scientific).ptr;
  *end = 0;
  char* mark = static_cast<char*>(std::memchr(digits, 'e', static_cast<size_t>(end - digits)));
  int exponent = 0;
  std::from_chars(mark[1] == '+' ? mark + 2 : mark + 1, end, exponent);
  *mark = 0;
  if (exponent < -4 || exponent >= 16) {
    put(digits);
    return put_format(exponent < 0 ? "e-%02d" : "e+%02d", std::abs(exponent));
  }
  if (digits[1] == '.') std::memmove(digits + 1, digits + 2, std::strlen(digits + 1));
  int count = static_cast<int>(std::strlen(digits));
  if (exponent < 0) {
    put("0.");
    for (int i = -1; i > exponent; --i) put("0");
    return put(digits);
  }
  for (int i = 0; i < count || i <= exponent; ++i) {
    if (i == exponent + 1) put(".");
    text_.push_back(i < count ? static_cast<unsigned char>(digits[i]) : '0');
  }
  if (count <= exponent + 1) put(".0");
}

void Writer::put_quoted(const AnyffiTextView& text, bool bytes) {
  bool has_single = false, has_double = false;
  int64_t length = readable(text.length);
  for (int64_t i = 0; i < length; ++i) {
    uint32_t unit = anyffi_get_code_point(&text, i);
    has_single |= unit == '\'';
    has_double |= unit == '"';
  }
  uint32_t quote = has_single && !has_double ? '"' : '\'';
  if (bytes) put("b");
  text_.push_back(quote);
  for (int64_t i = 0; i < length; ++i) {
    uint32_t unit = anyffi_get_code_point(&text, i);
    if (unit == quote || unit == '\\') {
      text_.push_back('\\');
      text_.push_back(unit);
    } else if (unit == '\n' || unit == '\r' || unit == '\t') {
      text_.push_back('\\');
      text_.push_back(unit == '\n' ? 'n' : unit == '\r' ? 'r' : 't');
    } else if (bytes ? unit < 0x20 || unit > 0x7E : !is_printable(unit)) {
      bool wide = unit > 0xFFFF, narrow = unit < 0x100;
      put_hex(narrow ? 'x' : wide ? 'U' : 'u', unit, narrow ? 2 : wide ? 8 : 4);
    } else {
      text_.push_back(unit);
    }
  }
  text_.push_back(quote);
}

void Writer::put_text(const AnyffiTextView& text) {
  size_t start = text_.size();
  text_.resize(start + static_cast<size_t>(text.length));
  for (int64_t i = 0; i < text.length; ++i) text_[start + static_cast<size_t>(i)] = anyffi_get_code_point(&text, i);
}

void Writer::put_tensor(const AnyffiTensorData& tensor) {
  put("anyffi.Tensor(shape=(");
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    put_format(i == 0 ? "%lld" : ", %lld", static_cast<long long>(tensor.shape[i]));
  }
  put(tensor.ndim == 1 ? ",)" : ")");
  put_format(", dtype='%s'", data_type_name(tensor.dtype).text);
  put_format(", device='%s')", device_name(tensor.device).text);
}

int Writer::write_sequence(const AnyffiSequence* sequence, bool array) {
  put(array ? "(" : "[");
  // Retains each element, and reads the size each time: the repr of an element may change the sequence.
  for (int64_t i = 0; i < sequence->size && !is_full(); ++i) {
    if (i > 0) put(", ");
    Owned element = retained(sequence->data[i]);
    if (write(*element.get()) != 0) return -1;
  }
  put(array && sequence->size == 1 ? ",)" : array ? ")" : "]");
  return 0;
}

int Writer::write_mapping(const AnyffiMapping* mapping) {
  put("{");
  bool first = true;
  for (int64_t i = 0; i < mapping->used && !is_full(); ++i) {
    if (mapping->entries[i].key.type_code == ANYFFI_UNSET) continue;
    Owned key = retained(mapping->entries[i].key);
    Owned value = retained(mapping->entries[i].value);
    if (!first) put(", ");
    first = false;
    if (write(*key.get()) != 0) return -1;
    put(": ");
    if (write(*value.get()) != 0) return -1;
  }
  put("}");
  return 0;
}

int Writer::write_set(const AnyffiMapping* set) {
  bool frozen = set->header.type_code == ANYFFI_FROZEN_SET;
  if (set->size == 0) return put(frozen ? "frozenset()" : "set()"), 0;
  put(frozen ? "frozenset({" : "{");
  bool first = true;
  for (int64_t i = 0; i < set->used && !is_full(); ++i) {
    if (set->entries[i].key.type_code == ANYFFI_UNSET) continue;
    Owned element = retained(set->entries[i].key);
    if (!first) put(", ");
    first = false;
    if (write(*element.get()) != 0) return -1;
  }
  put(frozen ? "})" : "}");
  return 0;
}

int Writer::write_slice(const AnyffiSlice* slice) {
  put("slice(");
  if (write(slice->start) != 0) return -1;
  put(", ");
  if (write(slice->stop) != 0) return -1;
  put(", ");
  if (write(slice->step) != 0) return -1;
  put(")");
  return 0;
}

int Writer::write_error(const AnyffiError* error) {
  AnyffiTextView kind;
  if (anyffi_value_get_text_view(&error->kind, &kind) == 0) put_text(kind);
  put("(");
  const AnyffiValue* args = is_sequence(error->args.type_code) ? nullptr : &error->message;
  if (args != nullptr) {
    if (write(*args) != 0) return -1;
  } else {
    const AnyffiSequence* sequence = as_sequence(error->args.as_object);
    for (int64_t i = 0; i < sequence->size; ++i) {
      if (i > 0) put(", ");
      if (write(sequence->data[i]) != 0) return -1;
    }
  }
  put(")");
  return 0;
}

template <class Hook>
int Writer::write_from(Hook hook) {
  Owned made;
  return hook(made.out()) != 0 ? -1 : put_text_of(*made.get());
}

int Writer::put_text_of(const AnyffiValue& value) {
  AnyffiTextView text;
  if (anyffi_value_get_text_view(&value, &text) != 0) {
    return anyffi_error_raise("TypeError", "repr returned non-string");
  }
  put_text(text);
  return 0;
}

bool has_fields(const AnyffiTypeInfo& info) {
  return info.num_fields > 0 || (info.depth > 0 && has_fields(*anyffi_type_get_info(info.parent)));
}

/// Writes `shop.Money(euros=2.5)`, ancestors' fields first.
int Writer::write_fields(const AnyffiTypeInfo& info, AnyffiObject* object) {
  put(info.type_key);
  const char* before = "(";
  for (int32_t depth = 0; depth <= info.depth; ++depth) {
    const AnyffiTypeInfo& owner = depth < info.depth ? *anyffi_type_get_info(info.ancestors[depth]) : info;
    for (int32_t i = 0; i < owner.num_fields; ++i) {
      const AnyffiFieldInfo& field = owner.fields[i];
      put(std::exchange(before, ", "));
      put(field.name);
      put("=");
      Owned member;
      if (field.get(object, &field, member.out()) != 0 || write(*member.get()) != 0) return -1;
    }
  }
  put(")");
  return 0;
}

int Writer::write_object(const AnyffiValue& value) {
  if (is_bounded() && (value.type_code >= ANYFFI_FIRST_DYNAMIC_TYPE || handle_of(value) != nullptr)) {
    return put_type(value.type_code), 0;
  }
  const AnyffiHost* hooks = host();
  void* handle = handle_of(value);
  if (handle != nullptr && hooks != nullptr && hooks->handle_repr != nullptr) {
    return write_from(
        [&](AnyffiValue* out) { return call_hook(out, [&] { return hooks->handle_repr(handle, out); }); });
  }
  const AnyffiTypeInfo* info = anyffi_type_get_info(value.type_code);
  if (info != nullptr && info->record != nullptr) {
    Owned text;
    int status = find_repr(value, &text);
    if (status < 0) return -1;
    if (status > 0) return put_text_of(*text.get());
  }
  if (auto* hook = find_hook(value.type_code, &AnyffiTypeInfo::repr)) {
    return write_from([&](AnyffiValue* out) { return hook(&value, out); });
  }
  if (value.type_code == ANYFFI_ERROR) return write_error(reinterpret_cast<AnyffiError*>(value.as_object));
  if (info != nullptr && has_fields(*info)) return write_fields(*info, value.as_object);
  put_type(value.type_code);
  return 0;
}

void Writer::put_type(int32_t type_code) {
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  put(type_code < ANYFFI_FIRST_DYNAMIC_TYPE ? "<anyffi." : "<");
  put(info != nullptr ? info->type_key : "unknown");
  put(" object>");
}

/// The text for a container inside of itself.
const char* repr_inside_itself(int32_t type_code) {
  if (type_code == ANYFFI_LIST) return "[...]";
  if (is_sequence(type_code)) return "(...)";
  if (is_mapping(type_code)) return "{...}";
  return type_code == ANYFFI_SET ? "set(...)" : type_code == ANYFFI_FROZEN_SET ? "frozenset(...)" : "...";
}

int Writer::write(const AnyffiValue& value) {
  AnyffiTextView text;
  switch (value.type_code) {
    case ANYFFI_NONE:
      return put("None"), 0;
    case ANYFFI_BOOL:
      return put(value.as_int != 0 ? "True" : "False"), 0;
    case ANYFFI_INT:
      return put_format("%lld", static_cast<long long>(value.as_int)), 0;
    case ANYFFI_FLOAT:
      return put_float(value.as_float), 0;
    case ANYFFI_STR:
    case ANYFFI_STR_VIEW:
    case ANYFFI_STR_OBJECT:
    case ANYFFI_BYTES:
    case ANYFFI_BYTES_VIEW:
    case ANYFFI_BYTES_OBJECT:
      anyffi_view_text(&value, &text);
      return put_quoted(text, anyffi_is_bytes(value.type_code)), 0;
    case ANYFFI_ELLIPSIS:
      return put("Ellipsis"), 0;
    case ANYFFI_POINTER:
      if (value.as_pointer == nullptr) return put("c_void_p(None)"), 0;
      return put_format("c_void_p(%llu)", static_cast<unsigned long long>(value.as_int)), 0;
    case ANYFFI_DATA_TYPE:
      return put_format("anyffi.dtype('%s')", data_type_name(value.as_data_type).text), 0;
    case ANYFFI_DEVICE:
      return put_format("anyffi.Device('%s')", device_name(value.as_device).text), 0;
    case ANYFFI_MISSING:
      return put("MISSING"), 0;
    case ANYFFI_BIG_INT: {
      // With a limit, a long integer is not converted: its digits take too long.
      long long words = reinterpret_cast<AnyffiBigInt*>(value.as_object)->size;
      if (is_bounded() && words > 16) return put_format("<int of %lld words>", words), 0;
      break;
    }
    case ANYFFI_BOX:
      return write(reinterpret_cast<AnyffiBox*>(value.as_object)->value);
    default:
      break;
  }
  if (value.type_code == ANYFFI_TENSOR) {
    return put_tensor(reinterpret_cast<AnyffiTensor*>(value.as_object)->tensor), 0;
  }
  if (value.type_code == ANYFFI_TENSOR_VIEW) {
    return put_tensor(*static_cast<AnyffiTensorData*>(value.as_pointer)), 0;
  }
  if (value.type_code < 0) {
    const AnyffiTypeInfo* info = anyffi_type_get_info(value.type_code);
    return put_format("<%.64s>", info != nullptr ? info->type_key : "unknown"), 0;
  }
  if (is_full()) return 0;
  if (OpenScope::contains(value.as_object)) return put(repr_inside_itself(value.type_code)), 0;
  DepthGuard depth;
  if (!depth) return -1;
  // Host objects detect recursion themselves.
  if (handle_of(value) != nullptr) return write_object(value);
  OpenScope open(value.as_object);
  if (is_sequence(value.type_code)) {
    return write_sequence(as_sequence(value.as_object), value.type_code != ANYFFI_LIST);
  }
  if (is_set(value.type_code)) return write_set(as_mapping(value.as_object));
  if (is_mapping(value.type_code)) return write_mapping(as_mapping(value.as_object));
  if (value.type_code == ANYFFI_SLICE) return write_slice(reinterpret_cast<AnyffiSlice*>(value.as_object));
  return write_object(value);
}

}  // namespace

int show_value(const AnyffiValue* value, int64_t most, AnyffiValue* out) {
  AnyffiValue given = *value;
  *out = anyffi_make_none();
  return guard([&] {
    Writer writer(most > 0 ? most : 0);
    return writer.write(given) == 0 ? writer.finish(out) : -1;
  });
}

}  // namespace anyffi::runtime

int anyffi_value_repr(const AnyffiValue* value, AnyffiValue* out) {
  using namespace anyffi::runtime;
  AnyffiValue given = *value;
  *out = anyffi_make_none();
  return guard([&] {
    Writer writer;
    return writer.write(given) == 0 ? writer.finish(out) : -1;
  });
}
