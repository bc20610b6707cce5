/// \file
/// The layout of a class, to detect libraries that register different classes under one type key.
#ifndef ANYFFI_DETAIL_LAYOUT_H_
#define ANYFFI_DETAIL_LAYOUT_H_

#include <anyffi/detail/base.h>

namespace anyffi {
namespace detail {

/// The AnyffiMemberType of a type; 0 if it is not a number or a pointer.
template <class M>
constexpr uint32_t member_type() {
  if constexpr (std::is_pointer_v<M>) return ANYFFI_MEMBER_POINTER;
  if constexpr (std::is_floating_point_v<M>) {
    return sizeof(M) == 4 ? ANYFFI_MEMBER_FLOAT32 : sizeof(M) == 8 ? ANYFFI_MEMBER_FLOAT64 : 0;
  }
  if constexpr ((std::is_integral_v<M> && !kIsCharacter<M>) || std::is_enum_v<M>) {
    return sizeof(M) == 1   ? ANYFFI_MEMBER_INT8
           : sizeof(M) == 2 ? ANYFFI_MEMBER_INT16
           : sizeof(M) == 4 ? ANYFFI_MEMBER_INT32
           : sizeof(M) == 8 ? ANYFFI_MEMBER_INT64
                            : 0;
  }
  return 0;
}

/// Converts to types of one AnyffiMemberType only. Never constructed.
template <uint32_t kType>
struct AnyMember {
  template <class M, std::enable_if_t<member_type<M>() == kType, int> = 0>
  operator M() const;
};

template <class T, class Enable, class... Members>
inline constexpr bool kBeginsWith = false;
template <class T, class... Members>
inline constexpr bool kBeginsWith<T, std::void_t<decltype(T{std::declval<Members>()...})>, Members...> = true;

/// The members after those in `Found`, the first in the lowest bits.
template <class T, uint32_t kType, class... Found>
constexpr uint64_t members_after() {
  if constexpr (sizeof...(Found) == 64 / ANYFFI_MEMBER_BITS || kType > ANYFFI_MEMBER_POINTER) {
    return 0;
  } else if constexpr (kBeginsWith<T, void, Found..., AnyMember<kType>>) {
    return members_after<T, ANYFFI_MEMBER_INT8, Found..., AnyMember<kType>>() << ANYFFI_MEMBER_BITS | kType;
  } else {
    return members_after<T, kType + 1, Found...>();
  }
}

/// The leading numbers and pointers of an aggregate; 0 for other classes, whose members are unknown.
template <class T>
constexpr uint64_t members_of() {
  if constexpr (std::is_aggregate_v<T> && !std::is_union_v<T>) {
    return members_after<T, ANYFFI_MEMBER_INT8>();
  } else {
    return 0;
  }
}

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_LAYOUT_H_
