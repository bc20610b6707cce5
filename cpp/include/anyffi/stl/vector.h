/// \file
/// Conversions of std::vector: from an Array, a List or a tensor of one axis, to a new List.
#ifndef ANYFFI_STL_VECTOR_H_
#define ANYFFI_STL_VECTOR_H_

#include <anyffi/detail/stl_items.h>

#include <vector>

namespace anyffi {

template <class T, class Allocator>
struct Traits<std::vector<T, Allocator>, std::enable_if_t<detail::HasTraits<T>::value>>
    : detail::StdSequenceTraits<std::vector<T, Allocator>, T> {
  using Base = detail::StdSequenceTraits<std::vector<T, Allocator>, T>;
  using Holder = std::vector<T, Allocator>;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    if (value.type_code == ANYFFI_LIST || detail::is_array(value.type_code)) {
      holder.reserve(static_cast<size_t>(reinterpret_cast<AnyffiSequence*>(value.as_object)->size));
    }
    return Base::load(value, holder, why);
  }
};

namespace detail {
template <class T, class Allocator>
inline constexpr uint64_t kExactTypes<std::vector<T, Allocator>> = kSequenceTypes;
template <class T>
inline constexpr bool kIncludes<Missing::kVector, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_VECTOR_H_
