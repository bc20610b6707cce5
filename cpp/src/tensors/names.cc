/// \file
/// The names of data types and devices.
#include "tensors/names.h"

#include <anyffi/c_api.h>

#include <cstdarg>
#include <cstdio>

namespace anyffi::runtime {
namespace {

struct DataTypeRow {
  int code;
  const char* name;
  int bits;
};

#define ANYFFI_ROW(NAME, code, name, bits) {code, name, bits},
constexpr DataTypeRow kDataTypes[] = {ANYFFI_DATA_TYPE_CODES(ANYFFI_ROW)};
#undef ANYFFI_ROW

const DataTypeRow* find_data_type(const AnyffiDataType& type) {
  if (type.bits == 0 || type.lanes == 0) return nullptr;
  for (const DataTypeRow& row : kDataTypes) {
    if (row.code == type.code && (row.bits == 0 || row.bits == type.bits)) return &row;
  }
  return nullptr;
}

/// Whether the width is left out of the name.
bool has_default_width(const AnyffiDataType& type) {
  return (type.code == ANYFFI_kDLBool && type.bits == 8) || (type.code == ANYFFI_kDLOpaqueHandle && type.bits == 64);
}

}  // namespace

void ShortName::append(const char* format, ...) noexcept {
  va_list args;
  va_start(args, format);
  size += std::vsnprintf(text + size, sizeof(text) - static_cast<size_t>(size), format, args);
  va_end(args);
}

ShortName data_type_name(const AnyffiDataType& type) noexcept {
  ShortName name;
  const DataTypeRow* row = find_data_type(type);
  if (row == nullptr) {
    name.append("code%d_%d", type.code, type.bits);
  } else {
    name.append("%s", row->name);
    if (row->bits == 0 && !has_default_width(type)) name.append("%d", type.bits);
  }
  if (type.lanes != 1) name.append("x%d", type.lanes);
  return name;
}

ShortName device_name(const AnyffiDevice& device) noexcept {
  ShortName name;
  switch (device.type) {
#define ANYFFI_ROW(NAME, number, text) \
  case number:                         \
    name.append("%s", text);           \
    break;
    ANYFFI_DEVICE_TYPES(ANYFFI_ROW)
#undef ANYFFI_ROW
    default:
      name.append("type%d", static_cast<int>(device.type));
  }
  name.append(":%d", static_cast<int>(device.index));
  return name;
}

}  // namespace anyffi::runtime

int anyffi_data_type_to_str(const AnyffiDataType* data_type, AnyffiValue* out) {
  anyffi::runtime::ShortName name = anyffi::runtime::data_type_name(*data_type);
  return anyffi_str_create(name.text, name.size, ANYFFI_ASCII, out);
}

int anyffi_device_to_str(const AnyffiDevice* device, AnyffiValue* out) {
  anyffi::runtime::ShortName name = anyffi::runtime::device_name(*device);
  return anyffi_str_create(name.text, name.size, ANYFFI_ASCII, out);
}
