/// \file
/// Conversions of std::unordered_set: from a FrozenSet or a Set, to a new Set in arbitrary order.
#ifndef ANYFFI_STL_UNORDERED_SET_H_
#define ANYFFI_STL_UNORDERED_SET_H_

#include <anyffi/detail/stl_items.h>

#include <unordered_set>

namespace anyffi {

template <class T, class... Options>
struct Traits<std::unordered_set<T, Options...>,
              std::enable_if_t<detail::kIsContainerOf<std::unordered_set<T, Options...>, T>>>
    : detail::StdSetTraits<std::unordered_set<T, Options...>, T> {};

namespace detail {
template <class T, class... Options>
inline constexpr uint64_t kExactTypes<std::unordered_set<T, Options...>> = kSetTypes;
template <class T>
inline constexpr bool kIncludes<Missing::kUnorderedSet, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_UNORDERED_SET_H_
