/// \file
/// Conversions of std::vector: from an Array, a List or a tensor of one axis, to a new List.
#ifndef ANYFFI_STL_VECTOR_H_
#define ANYFFI_STL_VECTOR_H_

#include <anyffi/detail/stl_items.h>
#include <anyffi/pointer.h>

#include <vector>

namespace anyffi {

template <class T, class Allocator>
struct Traits<std::vector<T, Allocator>,
              std::enable_if_t<detail::kIsContainerOf<std::vector<T, Allocator>, T> && !detail::kTakesObject<T>>>
    : detail::StdSequenceTraits<std::vector<T, Allocator>, T> {};

/// With std::unique_ptr: a parameter takes over the objects of a list, or of another container that Python creates for
/// the call; all of them, or none. A container that is kept, such as a default, must be empty.
template <class T, class Allocator>
struct Traits<std::vector<T, Allocator>,
              std::enable_if_t<detail::kIsContainerOf<std::vector<T, Allocator>, T> && detail::kTakesObject<T>>>
    : detail::StdSequenceTraits<std::vector<T, Allocator>, T> {
  using Base = detail::StdSequenceTraits<std::vector<T, Allocator>, T>;
  using Holder = std::vector<typename Traits<T>::Holder>;
  static constexpr bool kIsLoadedInPlace = false;
  // The objects are taken when the function is called: until then another argument may be refused.
  static constexpr bool kOutlivesHolder = false;
  ANYFFI_HIDDEN_ static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    constexpr const char* kKept =
        "a container of the runtime keeps its objects, which cannot be moved to C++: pass a list";
    if ((value.type_code == ANYFFI_LIST || detail::is_array(value.type_code)) &&
        (value.aux & (ANYFFI_MOVABLE | ANYFFI_TEMPORARY)) == 0 &&
        reinterpret_cast<AnyffiSequence*>(value.as_object)->size != 0)
      return detail::refuse(why, value, Base::name, ANYFFI_MISMATCH_VALUE, kKept);
    bool is_loaded = detail::load_each<T>(value, holder, Base::name, why, [&](AnyffiValue& item) {
      return Traits<T>::load_held(item, holder.emplace_back(), why, 2);
    });
    // Not before, since the list may have been made for the conversion only.
    for (auto& each : holder) each.count();
    return is_loaded;
  }
  ANYFFI_HIDDEN_ static void verify(const Holder& holder) {
    for (const auto& each : holder) Traits<T>::verify(each);
  }
  static std::vector<T, Allocator> take(Holder& holder) {
    std::vector<T, Allocator> taken;
    taken.reserve(holder.size());
    for (auto& each : holder) taken.push_back(Traits<T>::take(each));
    return taken;
  }
};

namespace detail {
template <class T, class Allocator>
inline constexpr bool kTakesHeld<std::vector<T, Allocator>> = kTakesObject<T> && kHoldsTaken<std::vector<T, Allocator>>;
template <class T, class Allocator>
inline constexpr bool kCannotTake<std::vector<T, Allocator>> =
    !kTakesObject<T> && kHoldsTaken<std::vector<T, Allocator>>;
template <class T, class Allocator>
inline constexpr uint64_t kExactTypes<std::vector<T, Allocator>> = kSequenceTypes;
template <class T>
inline constexpr bool kIncludes<Missing::kVector, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_VECTOR_H_
