/// \file
/// Conversions of std::deque: as of std::vector.
#ifndef ANYFFI_STL_DEQUE_H_
#define ANYFFI_STL_DEQUE_H_

#include <anyffi/detail/stl_items.h>

#include <deque>

namespace anyffi {

template <class T, class Allocator>
struct Traits<std::deque<T, Allocator>, std::enable_if_t<detail::kIsContainerOf<std::deque<T, Allocator>, T>>>
    : detail::StdSequenceTraits<std::deque<T, Allocator>, T> {};

namespace detail {
template <class T, class Allocator>
inline constexpr bool kCannotTake<std::deque<T, Allocator>> = kHoldsTaken<std::deque<T, Allocator>>;
template <class T, class Allocator>
inline constexpr uint64_t kExactTypes<std::deque<T, Allocator>> = kSequenceTypes;
template <class T>
inline constexpr bool kIncludes<Missing::kDeque, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_DEQUE_H_
