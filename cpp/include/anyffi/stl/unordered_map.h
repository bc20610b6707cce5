/// \file
/// std::unordered_map across the border: from a Map or a Dict, as a new Dict, in any order.
#ifndef ANYFFI_STL_UNORDERED_MAP_H_
#define ANYFFI_STL_UNORDERED_MAP_H_

#include <anyffi/stl/items.h>

#include <unordered_map>

namespace anyffi {

template <class K, class V, class... Options>
struct Traits<std::unordered_map<K, V, Options...>,
              std::enable_if_t<detail::HasTraits<K>::value && detail::HasTraits<V>::value>> {
  static constexpr auto name = "Dict[" + FixedText(Traits<K>::name) + ", " + FixedText(Traits<V>::name) + "]";
  static constexpr uint64_t kinds = 0;
  static constexpr bool kBorrows = false;
  using Holder = std::unordered_map<K, V, Options...>;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    return detail::load_entries<K, V>(
        value, name, why, [&](K&& key, V&& item) { return holder.emplace(std::move(key), std::move(item)).second; });
  }
  static Holder take(Holder& holder) { return std::move(holder); }
  static AnyffiValue store(const Holder& entries) { return detail::store_entries<K, V>(entries); }
};

namespace detail {
template <class T>
inline constexpr bool kIncludes<Lack::kUnorderedMap, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_UNORDERED_MAP_H_
