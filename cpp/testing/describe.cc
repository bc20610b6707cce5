/// \file
/// `testing.describe`: the arguments as the callee received them, in the text form that docs/backends.md defines.

#include "describe.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

namespace anyffi_testing {
namespace {

using anyffi::AnyView;

void add(std::string* out, const char* format, ...) __attribute__((format(printf, 2, 3)));
void add(std::string* out, const char* format, ...) {
  char piece[128];
  va_list args;
  va_start(args, format);
  std::vsnprintf(piece, sizeof(piece), format, args);
  va_end(args);
  *out += piece;
}

void describe(std::string* out, const AnyffiValue& value);

const char* storage_name(int32_t type_code) {
  return type_code > 0                                                         ? "heap"
         : anyffi_type_get_info(type_code)->storage == ANYFFI_STORAGE_BORROWED ? "borrowed"
                                                                               : "inline";
}

void describe_text(std::string* out, const AnyffiValue& value) {
  static const char* const kEncodings[] = {"ascii", "latin1", "ucs2", "ucs4"};
  AnyffiTextView text;
  anyffi_view_text(&value, &text);
  if (anyffi_is_str(value.type_code)) {
    add(out, "Str(%s, %s, %" PRId64 ", [", storage_name(value.type_code), kEncodings[text.encoding], text.length);
  } else {
    add(out, "Bytes(%s, %" PRId64 ", [", storage_name(value.type_code), text.length);
  }
  const char* format = anyffi_is_str(value.type_code) ? "%s%" PRIx32 : "%s%02" PRIx32;
  for (int64_t i = 0; i < text.length; ++i) add(out, format, i > 0 ? " " : "", anyffi_get_code_point(&text, i));
  *out += "])";
}

void add_text(std::string* out, const AnyffiValue& text) {
  anyffi::Bytes utf8 = AnyView(text).cast<anyffi::String>().utf8();
  out->append(reinterpret_cast<const char*>(utf8.data()), static_cast<size_t>(utf8.size()));
}

/// Formats in decimal; in hexadecimal above the number of digits that Python converts.
void describe_big_int(std::string* out, const AnyffiValue& value) {
  *out += "BigInt(";
  AnyffiValue digits;
  if (anyffi_value_repr(&value, &digits) == 0) {
    add_text(out, anyffi::AnyValue(anyffi::detail::Adopt{}, digits).raw());
  } else {
    anyffi::AnyValue error;
    anyffi_error_take_raised(error.out());
    if (anyffi::Error(error).kind() != anyffi::AnyValue("ValueError")) throw anyffi::Error(error);
    auto number = AnyView(value).cast<anyffi::BigInt>();
    *out += number.negative() ? "-0x" : "0x";
    for (int64_t i = number.size(); i-- > 0;)
      add(out, i + 1 == number.size() ? "%" PRIx64 : "%016" PRIx64, number.word(i));
  }
  *out += ')';
}

void describe_set(std::string* out, const AnyffiValue& value) {
  *out += value.type_code == ANYFFI_SET ? "Set{" : "FrozenSet{";
  bool first = true;
  for (const anyffi::AnyValue& element : AnyView(value)) {
    if (!first) *out += ", ";
    first = false;
    describe(out, element.raw());
  }
  *out += '}';
}

void describe_sequence(std::string* out, const AnyffiValue& value) {
  auto* sequence = reinterpret_cast<const AnyffiSequence*>(value.as_object);
  *out += anyffi_type_get_info(value.type_code)->type_key;
  *out += '[';
  for (int64_t i = 0; i < sequence->size; ++i) {
    if (i > 0) *out += ", ";
    describe(out, sequence->data[i]);
  }
  *out += ']';
}

void describe_mapping(std::string* out, const AnyffiValue& value) {
  auto* mapping = reinterpret_cast<const AnyffiMapping*>(value.as_object);
  *out += value.type_code == ANYFFI_MAP ? "Map{" : "Dict{";
  bool first = true;
  for (int64_t i = 0; i < mapping->used; ++i) {
    const AnyffiEntry& entry = mapping->entries[i];
    if (entry.key.type_code == ANYFFI_UNSET) continue;
    if (!first) *out += ", ";
    first = false;
    describe(out, entry.key);
    *out += ": ";
    describe(out, entry.value);
  }
  *out += '}';
}

void describe_tensor(std::string* out, const AnyffiTensorData& tensor, uint64_t flags) {
  add(out, "Tensor(Device(%d, %d), DataType(%d, %d, %d), shape [", tensor.device.type, tensor.device.index,
      tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes);
  for (int32_t i = 0; i < tensor.ndim; ++i) add(out, "%s%" PRId64, i > 0 ? ", " : "", tensor.shape[i]);
  *out += "], strides [";
  for (int32_t i = 0; i < tensor.ndim; ++i) add(out, "%s%" PRId64, i > 0 ? ", " : "", tensor.strides[i]);
  *out += flags & ANYFFI_TENSOR_READ_ONLY ? "], read-only" : "], writable";
  *out += flags & ANYFFI_TENSOR_PADDED ? ", padded)" : ")";
}

/// Depth-first. The runtime's recursion limit bounds it.
void describe(std::string* out, const AnyffiValue& value) {
  anyffi::detail::check(anyffi_depth_enter());
  struct Leave {
    ~Leave() { anyffi_depth_leave(); }
  } leave;
  switch (value.type_code) {
    case ANYFFI_NONE:
    case ANYFFI_ELLIPSIS:
    case ANYFFI_MISSING:
      *out += anyffi_type_get_info(value.type_code)->type_key;
      return;
    case ANYFFI_BOOL:
      *out += value.as_int ? "Bool(True)" : "Bool(False)";
      return;
    case ANYFFI_INT:
      return add(out, "Int(%" PRId64 ")", value.as_int);
    case ANYFFI_FLOAT:
      return add(out, "Float(%016" PRIx64 ")", static_cast<uint64_t>(value.as_int));
    case ANYFFI_POINTER:
      return add(out, "Pointer(0x%" PRIx64 ")", static_cast<uint64_t>(value.as_int));
    case ANYFFI_DATA_TYPE:
      return add(out, "DataType(%d, %d, %d)", value.as_data_type.code, value.as_data_type.bits,
                 value.as_data_type.lanes);
    case ANYFFI_DEVICE:
      return add(out, "Device(%d, %d)", value.as_device.type, value.as_device.index);
    case ANYFFI_STR:
    case ANYFFI_STR_VIEW:
    case ANYFFI_STR_OBJECT:
    case ANYFFI_BYTES:
    case ANYFFI_BYTES_VIEW:
    case ANYFFI_BYTES_OBJECT:
      return describe_text(out, value);
    case ANYFFI_SLICE: {
      auto* slice = reinterpret_cast<const AnyffiSlice*>(value.as_object);
      *out += "Slice(";
      describe(out, slice->start);
      *out += ", ";
      describe(out, slice->stop);
      *out += ", ";
      describe(out, slice->step);
      *out += ')';
      return;
    }
    case ANYFFI_ARRAY:
    case ANYFFI_LIST:
    case ANYFFI_SHAPE:
      return describe_sequence(out, value);
    case ANYFFI_MAP:
    case ANYFFI_DICT:
      return describe_mapping(out, value);
    case ANYFFI_SET:
    case ANYFFI_FROZEN_SET:
      return describe_set(out, value);
    case ANYFFI_BIG_INT:
      return describe_big_int(out, value);
    case ANYFFI_COMPLEX: {
      auto* number = reinterpret_cast<const AnyffiComplex*>(value.as_object);
      uint64_t real, imag;
      std::memcpy(&real, &number->real, sizeof(real));
      std::memcpy(&imag, &number->imag, sizeof(imag));
      return add(out, "Complex(%016" PRIx64 ", %016" PRIx64 ")", real, imag);
    }
    case ANYFFI_FUNCTION:
      *out += reinterpret_cast<const AnyffiFunction*>(value.as_object)->handle ? "Function(host)" : "Function(native)";
      return;
    case ANYFFI_ERROR: {
      anyffi::Error error{anyffi::AnyValue(AnyView(value))};
      *out += "Error(";
      add_text(out, error.kind().raw());
      *out += ')';
      return;
    }
    case ANYFFI_TENSOR: {
      auto* tensor = reinterpret_cast<const AnyffiTensor*>(value.as_object);
      return describe_tensor(out, tensor->tensor, tensor->flags);
    }
    case ANYFFI_TENSOR_VIEW:
      return describe_tensor(out, *static_cast<const AnyffiTensorData*>(value.as_pointer), value.aux);
    case ANYFFI_PY_OBJECT:
      *out += "PyObject";
      return;
    default:
      *out += std::string("Object(") + anyffi_type_get_info(value.type_code)->type_key + ")";
  }
}

}  // namespace

anyffi::String describe_all(anyffi::Args args) {
  std::string text;
  for (int32_t i = 0; i < args.size(); ++i) {
    if (i > 0) text += '\n';
    describe(&text, args.data()[i]);
  }
  return anyffi::String(text.data(), static_cast<int64_t>(text.size()));
}

}  // namespace anyffi_testing
