/// \file
/// The names of data types and devices.
#include "tensors/names.h"

#include <anyffi/c_api.h>
#include <anyffi/detail/data_type_names.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace anyffi::runtime {

void ShortName::append(const char* format, ...) noexcept {
  va_list args;
  va_start(args, format);
  size += std::vsnprintf(text + size, sizeof(text) - static_cast<size_t>(size), format, args);
  va_end(args);
}

ShortName data_type_name(const AnyffiDataType& type) noexcept {
  detail::TextBuilder<sizeof(ShortName::text) - 1> built;
  detail::add_data_type(built, type);
  ShortName name;
  std::memcpy(name.text, built.text, static_cast<size_t>(built.size));
  name.size = built.size;
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
