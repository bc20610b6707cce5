/// \file
/// How the objects of a class are laid out, so that libraries with different ideas of it are told apart.
#ifndef ANYFFI_DETAIL_LAYOUT_H_
#define ANYFFI_DETAIL_LAYOUT_H_

#include <anyffi/detail/base.h>

namespace anyffi {
namespace detail {

/// The AnyffiMemberType of a type; 0 for what is no plain number or pointer.
template <class M>
constexpr uint32_t member_kind() {
  if constexpr (std::is_pointer_v<M>) return ANYFFI_MEMBER_POINTER;
  if constexpr (std::is_floating_point_v<M>) {
    return sizeof(M) == 4 ? ANYFFI_MEMBER_FLOAT32 : sizeof(M) == 8 ? ANYFFI_MEMBER_FLOAT64 : 0;
  }
  if constexpr (std::is_integral_v<M> || std::is_enum_v<M>) {
    return sizeof(M) == 1   ? ANYFFI_MEMBER_INT8
           : sizeof(M) == 2 ? ANYFFI_MEMBER_INT16
           : sizeof(M) == 4 ? ANYFFI_MEMBER_INT32
           : sizeof(M) == 8 ? ANYFFI_MEMBER_INT64
                            : 0;
  }
  return 0;
}

/// Converts to types of one kind alone. Never made.
template <uint32_t kKind>
struct MemberOfKind {
  template <class M, std::enable_if_t<member_kind<M>() == kKind, int> = 0>
  operator M() const;
};

template <class T, class Enable, class... Members>
inline constexpr bool kBeginsWith = false;
template <class T, class... Members>
inline constexpr bool kBeginsWith<T, std::void_t<decltype(T{std::declval<Members>()...})>, Members...> = true;

/// The members from one that is not in `Found` on, the first in the lowest bits.
template <class T, uint32_t kKind, class... Found>
constexpr uint64_t members_after() {
  if constexpr (sizeof...(Found) == 64 / ANYFFI_MEMBER_BITS || kKind > ANYFFI_MEMBER_POINTER) {
    return 0;
  } else if constexpr (kBeginsWith<T, void, Found..., MemberOfKind<kKind>>) {
    return members_after<T, ANYFFI_MEMBER_INT8, Found..., MemberOfKind<kKind>>() << ANYFFI_MEMBER_BITS | kKind;
  } else {
    return members_after<T, kKind + 1, Found...>();
  }
}

/// The numbers and pointers that an aggregate begins with; 0 for any other class, which does not tell.
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
