/// \file
/// Conversions of std::unordered_map: from a Map or a Dict, to a new Dict in arbitrary order.
#ifndef ANYFFI_STL_UNORDERED_MAP_H_
#define ANYFFI_STL_UNORDERED_MAP_H_

#include <anyffi/detail/stl_items.h>

#include <unordered_map>

namespace anyffi {

template <class K, class V, class... Options>
struct Traits<std::unordered_map<K, V, Options...>,
              std::enable_if_t<detail::kIsContainerOf<std::unordered_map<K, V, Options...>, K, V>>>
    : detail::StdMapTraits<std::unordered_map<K, V, Options...>, K, V> {};

namespace detail {
template <class K, class V, class... Options>
inline constexpr bool kCannotTake<std::unordered_map<K, V, Options...>> =
    kHoldsTaken<std::unordered_map<K, V, Options...>>;
template <class K, class V, class... Options>
inline constexpr uint64_t kExactTypes<std::unordered_map<K, V, Options...>> = type_bits(ANYFFI_MAP, ANYFFI_DICT);
template <class T>
inline constexpr bool kIncludes<Missing::kUnorderedMap, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_UNORDERED_MAP_H_
