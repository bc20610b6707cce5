/// \file
/// std::map across the border: from a Map or a Dict, as a new Dict, in the order of the keys.
#ifndef ANYFFI_STL_MAP_H_
#define ANYFFI_STL_MAP_H_

#include <anyffi/detail/stl_items.h>

#include <map>

namespace anyffi {

template <class K, class V, class... Options>
struct Traits<std::map<K, V, Options...>, std::enable_if_t<detail::HasTraits<K>::value && detail::HasTraits<V>::value>>
    : detail::StdMapTraits<std::map<K, V, Options...>, K, V> {};

namespace detail {
template <class T>
inline constexpr bool kIncludes<Lack::kMap, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_MAP_H_
