/// \file
/// Conversions of std::vector: from an Array or a List, to a new List.
#ifndef ANYFFI_STL_VECTOR_H_
#define ANYFFI_STL_VECTOR_H_

#include <anyffi/detail/stl_items.h>

#include <vector>

namespace anyffi {

template <class T, class Allocator>
struct Traits<std::vector<T, Allocator>, std::enable_if_t<detail::HasTraits<T>::value>> {
  ANYFFI_HIDDEN_ static constexpr auto name = "Sequence[" + FixedText(Traits<T>::name) + "]";
  ANYFFI_HIDDEN_ static constexpr auto result_name = "List[" + detail::kResultName<T> + "]";
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  static constexpr bool kOutlivesHolder = true;
  using Holder = std::vector<T, Allocator>;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    if (value.type_code == ANYFFI_LIST || detail::is_array(value.type_code)) {
      holder.reserve(static_cast<size_t>(reinterpret_cast<AnyffiSequence*>(value.as_object)->size));
    }
    return detail::load_items<T>(value, name, why, [&](T&& item) { holder.push_back(std::move(item)); });
  }
  static Holder take(Holder& holder) { return std::move(holder); }
  static AnyffiValue store(const Holder& items) { return detail::store_items<T>(items); }
  static AnyffiValue store(Holder&& items) { return detail::store_items<T>(std::move(items)); }
};

namespace detail {
template <class T>
inline constexpr bool kIncludes<Missing::kVector, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_VECTOR_H_
