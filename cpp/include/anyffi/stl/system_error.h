/// \file
/// Conversions of std::error_code: from an error number of the system; as a result, None or a raised OSError.
#ifndef ANYFFI_STL_SYSTEM_ERROR_H_
#define ANYFFI_STL_SYSTEM_ERROR_H_

#include <anyffi/error.h>
#include <anyffi/optional.h>

#include <system_error>

namespace anyffi {

/// Accepts an int, such as `errno.ENOENT`, or None for success.
template <>
struct Traits<std::error_code> {
  static constexpr FixedText name{"int | None"};
  static constexpr FixedText result_name{"None"};
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  using Holder = std::error_code;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    int number = 0;
    if (value.type_code != ANYFFI_NONE && !Traits<int>::load(value, number, why)) return false;
    holder.assign(number, std::generic_category());
    return true;
  }
  static std::error_code take(Holder& holder) { return holder; }
  static AnyffiValue store(const std::error_code& code) {
    if (code) throw std::system_error(code);
    return AnyffiValue{};
  }
};

namespace detail {
template <class T>
inline constexpr bool kIncludes<Missing::kSystemError, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_SYSTEM_ERROR_H_
