/// \file
/// The rows of fixed types, from ANYFFI_TYPES.
#ifndef ANYFFI_SRC_CORE_TYPE_ROWS_H_
#define ANYFFI_SRC_CORE_TYPE_ROWS_H_

#include <anyffi/c_api.h>

#include <string_view>

namespace anyffi::runtime {

constexpr int32_t kInlineRows = 15; /* codes 0 to -14 */
#define ANYFFI_ONE_(...) +1
constexpr int32_t kFixedRows = ANYFFI_TYPES(ANYFFI_ONE_);
#undef ANYFFI_ONE_
constexpr int32_t kLastFixedObject = kFixedRows - kInlineRows;

constexpr int32_t row_of(int32_t code) { return code <= 0 ? -code : code + kInlineRows - 1; }

/// Written by `install_type_hooks` alone.
extern AnyffiTypeInfo fixed_rows[kFixedRows];

/// The row with a type key; NULL if it is not that of a fixed type.
const AnyffiTypeInfo* find_fixed(std::string_view key) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_TYPE_ROWS_H_
