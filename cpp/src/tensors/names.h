/// \file
/// Names of data types and devices.
#ifndef ANYFFI_SRC_TENSORS_NAMES_H_
#define ANYFFI_SRC_TENSORS_NAMES_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

struct ShortName {
  char text[48] = {}; /* longer than any name */
  int size = 0;
  void append(const char* format, ...) noexcept __attribute__((format(printf, 2, 3)));
};
ShortName data_type_name(const AnyffiDataType& type) noexcept;
ShortName device_name(const AnyffiDevice& device) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_TENSORS_NAMES_H_
