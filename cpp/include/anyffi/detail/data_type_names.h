/// \file
/// Names of data types, at compile time and at run time.
#ifndef ANYFFI_DETAIL_DATA_TYPE_NAMES_H_
#define ANYFFI_DETAIL_DATA_TYPE_NAMES_H_

#include <anyffi/c_api.h>

namespace anyffi {
namespace detail {

/// Text that is composed at compile time; text beyond the capacity is cut off.
template <int kCapacity>
struct TextBuilder {
  char text[kCapacity + 1] = {};
  int size = 0;
  constexpr void add(char letter) {
    if (size < kCapacity) text[size++] = letter;
  }
  constexpr void add(const char* more) {
    for (; *more != 0; ++more) add(*more);
  }
  constexpr void add(int64_t number) {
    if (number < 0) add('-');
    uint64_t rest = number < 0 ? -static_cast<uint64_t>(number) : static_cast<uint64_t>(number), unit = 1;
    while (rest / unit >= 10) unit *= 10;
    for (; unit > 0; unit /= 10) add(static_cast<char>('0' + rest / unit % 10));
  }
};

struct DataTypeRow {
  int code;
  const char* name;
  int bits;  // 0: contained in the name
};

#define ANYFFI_ROW_(NAME, code, name, bits) {code, name, bits},
inline constexpr DataTypeRow kDataTypeRows[] = {ANYFFI_DATA_TYPE_CODES(ANYFFI_ROW_)};
#undef ANYFFI_ROW_

/// Appends a name such as "float32x4".
template <int kCapacity>
constexpr void add_data_type(TextBuilder<kCapacity>& to, const AnyffiDataType& type) {
  constexpr int kRows = sizeof(kDataTypeRows) / sizeof(DataTypeRow);
  // An index instead of a pointer: under -fsanitize=undefined, GCC cannot compare addresses in constant expressions.
  int found = kRows;
  for (int i = kRows; i-- > 0;) {
    const DataTypeRow& row = kDataTypeRows[i];
    bool is_named = type.bits != 0 && type.lanes != 0 && row.code == type.code;
    if (is_named && (row.bits == 0 || row.bits == type.bits)) found = i;
  }
  bool has_default_width =
      (type.code == ANYFFI_kDLBool && type.bits == 8) || (type.code == ANYFFI_kDLOpaqueHandle && type.bits == 64);
  if (found == kRows) {
    to.add("code");
    to.add(int64_t{type.code});
    to.add('_');
    to.add(int64_t{type.bits});
  } else {
    to.add(kDataTypeRows[found].name);
    if (kDataTypeRows[found].bits == 0 && !has_default_width) to.add(int64_t{type.bits});
  }
  if (type.lanes == 1) return;
  to.add('x');
  to.add(int64_t{type.lanes});
}

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_DATA_TYPE_NAMES_H_
