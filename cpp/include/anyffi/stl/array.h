/// \file
/// Conversions of std::array: from a sequence of the same length, to a new List.
#ifndef ANYFFI_STL_ARRAY_H_
#define ANYFFI_STL_ARRAY_H_

#include <anyffi/container/tuple.h>
#include <anyffi/detail/stl_items.h>

#include <array>

namespace anyffi {

/// ValueError for another number of elements.
template <class T, size_t N>
struct Traits<std::array<T, N>, std::enable_if_t<detail::HasTraits<T>::value>> {
  ANYFFI_HIDDEN_ static constexpr auto name = "Sequence[" + FixedText(Traits<T>::name) + "]";
  ANYFFI_HIDDEN_ static constexpr auto result_name = "list[" + detail::kResultName<T> + "]";
  ANYFFI_HIDDEN_ static constexpr auto key_name = "tuple[" + detail::kKeyName<T> + ", ...]";
  static constexpr uint64_t type_mask = 0;
  static constexpr uint32_t result_flags = ANYFFI_NATIVE;
  static constexpr bool kBorrows = false;
  static constexpr bool kOutlivesHolder = true;
  static constexpr bool kIsLoadedInPlace = true;
  static constexpr bool kReadsItems = detail::kLoadsQuietly<T>;
  static constexpr bool kReadsObjects = detail::kLoadsObjects<T>;
  static constexpr bool kCopiesObjects = detail::kCopiesItem<T>;
  static constexpr bool kIsWritten = true;
  static constexpr bool kWritesItems = detail::kWritesItems<T>;
  using Holder = std::array<T, N>;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    if constexpr ((kReadsItems || kReadsObjects) && N > 0 && N <= detail::kItemsAtOnce) {
      if (detail::is_items_of(value, ANYFFI_ARRAY, ANYFFI_LIST)) return read_all(value, holder, why);
    }
    size_t count = 0;
    auto fill = [&](T&& item) {
      if (count < N) holder[count] = std::move(item);
      ++count;
    };
    if (!detail::load_items<T>(value, holder, name, why, fill)) return false;
    return count == N || detail::refuse(why, value, name, ANYFFI_MISMATCH_VALUE, kSizeText);
  }
  static Holder take(Holder& holder) { return std::move(holder); }
  static AnyffiValue store(const Holder& items) { return detail::store_items<T>(items); }
  static AnyffiValue store(Holder&& items) { return detail::store_items<T>(std::move(items)); }
  static void write(detail::ItemsWriter& writer, const Holder& items) {
    detail::write_items<T>(writer, ANYFFI_LIST, items);
  }

 private:
  /// Reads a whole container of the host at once.
  static bool read_all(const AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    detail::HostItems<static_cast<int64_t>(N), 1, kReadsObjects> items(value);
    items.read();
    bool is_read = items.is_whole(N);
    if constexpr (kCopiesObjects) is_read = is_read && detail::holds_objects<T>(value);
    for (size_t i = 0; is_read && i < N; ++i) {
      if constexpr (detail::kLoadsInPlace<T>) {
        is_read = detail::load_read_item<T>(items.begin()[i], holder[i], why);
      } else {
        typename Traits<T>::Holder item{};
        is_read = detail::load_read_item<T>(items.begin()[i], item, why);
        if (is_read) holder[i] = Traits<T>::take(item);
      }
    }
    return is_read || detail::refuse_items(why, name);
  }
  ANYFFI_HIDDEN_ static constexpr auto kSizeText = "expected " + detail::number_text<N>() + " elements";
};

namespace detail {
template <class T, size_t N>
inline constexpr bool kHoldsTaken<std::array<T, N>> =
    !kIsObjectClass<std::array<T, N>> && (kTakesObject<T> || kHoldsTaken<T>);
template <class T, size_t N>
inline constexpr bool kCannotTake<std::array<T, N>> = kHoldsTaken<std::array<T, N>>;
template <class T, size_t N>
inline constexpr uint64_t kExactTypes<std::array<T, N>> = kSequenceTypes;
template <class T>
inline constexpr bool kIncludes<Missing::kArray, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_ARRAY_H_
