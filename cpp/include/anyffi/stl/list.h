/// \file
/// Conversions of std::list: as of std::vector.
#ifndef ANYFFI_STL_LIST_H_
#define ANYFFI_STL_LIST_H_

#include <anyffi/detail/stl_items.h>

#include <list>

namespace anyffi {

template <class T, class Allocator>
struct Traits<std::list<T, Allocator>, std::enable_if_t<detail::kIsContainerOf<std::list<T, Allocator>, T>>>
    : detail::StdSequenceTraits<std::list<T, Allocator>, T> {};

namespace detail {
template <class T, class Allocator>
inline constexpr bool kCannotTake<std::list<T, Allocator>> = kHoldsTaken<std::list<T, Allocator>>;
template <class T, class Allocator>
inline constexpr uint64_t kExactTypes<std::list<T, Allocator>> = kSequenceTypes;
template <class T>
inline constexpr bool kIncludes<Missing::kList, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_LIST_H_
