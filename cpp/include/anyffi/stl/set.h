/// \file
/// std::set across the border: from a FrozenSet or a Set, as a new Set, in order.
#ifndef ANYFFI_STL_SET_H_
#define ANYFFI_STL_SET_H_

#include <anyffi/stl/items.h>

#include <set>

namespace anyffi {

template <class T, class... Options>
struct Traits<std::set<T, Options...>, std::enable_if_t<detail::HasTraits<T>::value>> {
  static constexpr auto name = "Set[" + FixedText(Traits<T>::name) + "]";
  static constexpr uint64_t kinds = 0;
  static constexpr bool kBorrows = false;
  using Holder = std::set<T, Options...>;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    return detail::load_elements<T>(value, name, why,
                                    [&](T&& element) { return holder.insert(std::move(element)).second; });
  }
  static Holder take(Holder& holder) { return std::move(holder); }
  static AnyffiValue store(const Holder& elements) { return detail::store_elements<T>(elements); }
};

namespace detail {
template <class T>
inline constexpr bool kIncludes<Lack::kSet, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_SET_H_
