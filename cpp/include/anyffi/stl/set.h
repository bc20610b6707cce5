/// \file
/// Conversions of std::set: from a FrozenSet or a Set, to a new Set in sorted order.
#ifndef ANYFFI_STL_SET_H_
#define ANYFFI_STL_SET_H_

#include <anyffi/detail/stl_items.h>

#include <set>

namespace anyffi {

template <class T, class... Options>
struct Traits<std::set<T, Options...>, std::enable_if_t<detail::kIsContainerOf<std::set<T, Options...>, T>>>
    : detail::StdSetTraits<std::set<T, Options...>, T> {};

namespace detail {
template <class T, class... Options>
inline constexpr uint64_t kExactTypes<std::set<T, Options...>> = kSetTypes;
template <class T>
inline constexpr bool kIncludes<Missing::kSet, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_SET_H_
