/// \file
/// Conversions of std::map: from a Map or a Dict, to a new Dict in the order of the keys.
#ifndef ANYFFI_STL_MAP_H_
#define ANYFFI_STL_MAP_H_

#include <anyffi/detail/stl_items.h>

#include <map>

namespace anyffi {

template <class K, class V, class... Options>
struct Traits<std::map<K, V, Options...>, std::enable_if_t<detail::kIsContainerOf<std::map<K, V, Options...>, K, V>>>
    : detail::StdMapTraits<std::map<K, V, Options...>, K, V> {};

namespace detail {
template <class K, class V, class... Options>
inline constexpr bool kCannotTake<std::map<K, V, Options...>> = kHoldsTaken<std::map<K, V, Options...>>;
template <class K, class V, class... Options>
inline constexpr uint64_t kExactTypes<std::map<K, V, Options...>> = type_bits(ANYFFI_MAP, ANYFFI_DICT);
template <class T>
inline constexpr bool kIncludes<Missing::kMap, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_MAP_H_
