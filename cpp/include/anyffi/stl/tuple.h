/// \file
/// Conversions of std::tuple and std::pair: from an Array or a List of the same length, to Python's own tuple.
#ifndef ANYFFI_STL_TUPLE_H_
#define ANYFFI_STL_TUPLE_H_

#include <anyffi/container/tuple.h>
#include <anyffi/data_type.h>
#include <anyffi/detail/host_items.h>
#include <anyffi/detail/items_writer.h>
#include <anyffi/pointer.h>

#include <tuple>

namespace anyffi {

namespace detail {

/// Traits of std::tuple and std::pair.
template <class Whole, class... Ts>
struct StdTupleTraits {
  static_assert((!kIsView<Ts> && ...),
                "anyffi: a std::tuple must own its elements: use std::string or TypedTensor, not a view");
  ANYFFI_HIDDEN_ static constexpr auto name = Traits<Tuple<Ts...>>::name;
  ANYFFI_HIDDEN_ static constexpr auto result_name = kTupleResultName<Ts...>;
  ANYFFI_HIDDEN_ static constexpr auto key_name = kTupleKeyName<Ts...>;
  static constexpr uint64_t type_mask = 0;
  static constexpr uint32_t result_flags = ANYFFI_NATIVE;
  static constexpr bool kBorrows = false;
  static constexpr bool kReadsItems = (kLoadsQuietly<Ts> && ...);
  static constexpr bool kReadsObjects = ((kLoadsQuietly<Ts> || kLoadsObjects<Ts>) && ...) && (kLoadsObjects<Ts> || ...);
  /// Whether a row of an array of numbers converts too.
  static constexpr bool kIsOfNumbers = sizeof...(Ts) > 0 && (kIsNumber<Ts> && ...);
  static constexpr bool kIsWritten = true;
  static constexpr bool kWritesItems = (detail::kWritesItems<Ts> && ...);
  /// Whether each item is its own Holder, whose `take` only moves it: the whole is then loaded in its final place.
  static constexpr bool kIsLoadedInPlace =
      std::is_default_constructible_v<Whole> && std::is_move_assignable_v<Whole> &&
      ((std::is_same_v<typename Traits<Ts>::Holder, Ts> && (kIsNumber<Ts> || detail::kOutlivesHolder<Ts>)) && ...);
  static constexpr bool kOutlivesHolder = kIsLoadedInPlace;
  using Holder = std::conditional_t<kIsLoadedInPlace, Whole, std::tuple<typename Traits<Ts>::Holder...>>;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    if constexpr (kReadsItems || kReadsObjects) {
      if (is_items_of(value, ANYFFI_ARRAY, ANYFFI_LIST)) {
        return read_all(value, holder, why, std::index_sequence_for<Ts...>());
      }
    }
    if (!is_array(value.type_code) && value.type_code != ANYFFI_LIST) {
      if constexpr (kIsOfNumbers) {
        uint64_t flags;
        if (tensor_in(value, flags)) {
          return load_converted(value, ANYFFI_AS_SEQUENCE, ANYFFI_LIST, name, why, [&](AnyffiValue& list) {
            return load_all(list, holder, why, std::index_sequence_for<Ts...>());
          });
        }
      }
      return refuse(why, value, name);
    }
    return load_all(value, holder, why, std::index_sequence_for<Ts...>());
  }
  static Whole take(Holder& holder) {
    if constexpr (kIsLoadedInPlace) {
      return std::move(holder);
    } else {
      return take_all(holder, std::index_sequence_for<Ts...>());
    }
  }
  static AnyffiValue store(const Whole& whole) { return store_all(whole, std::index_sequence_for<Ts...>()); }
  static AnyffiValue store(Whole&& whole) { return store_all(std::move(whole), std::index_sequence_for<Ts...>()); }
  static void write(ItemsWriter& writer, const Whole& whole) {
    writer.begin(ANYFFI_ARRAY, sizeof...(Ts));
    std::apply([&](const auto&... items) { (write_item<Ts>(writer, items), ...); }, whole);
  }

 private:
  template <size_t... I>
  static bool load_all(const AnyffiValue& value, Holder& holder, AnyffiMismatch& why, std::index_sequence<I...>) {
    (void)holder;
    return has_size(value, why) && (load_one<Ts>(value, std::get<I>(holder), I, why) && ...);
  }
  template <size_t... I>
  static bool read_all(const AnyffiValue& value, Holder& holder, AnyffiMismatch& why, std::index_sequence<I...>) {
    (void)holder;
    HostItems<sizeof...(Ts), 1, kReadsObjects> items(value);
    items.read();
    bool is_read =
        items.is_whole(sizeof...(Ts)) && (load_read_item<Ts>(items.begin()[I], std::get<I>(holder), why) && ...);
    return is_read || refuse_items(why, name);
  }
  static bool has_size(const AnyffiValue& value, AnyffiMismatch& why) {
    if (reinterpret_cast<const AnyffiSequence*>(value.as_object)->size == sizeof...(Ts)) return true;
    return refuse(why, value, name, ANYFFI_MISMATCH_VALUE, Traits<Tuple<Ts...>>::kSizeText);
  }
  template <class T>
  static bool load_one(const AnyffiValue& value, typename Traits<T>::Holder& holder, int64_t index,
                       AnyffiMismatch& why) {
    // Checked for each element, since conversions may run code that changes a List.
    if (!has_size(value, why)) return false;
    auto* sequence = reinterpret_cast<const AnyffiSequence*>(value.as_object);
    Element element(sequence->data[index], sequence->header);
    if (Traits<T>::load(element.value, holder, why)) return true;
    return element.refused(why, Traits<int64_t>::store(index));
  }
  template <size_t... I>
  static Whole take_all(Holder& holder, std::index_sequence<I...>) {
    (void)holder;
    return Whole(Traits<Ts>::take(std::get<I>(holder))...);
  }
  template <class From, size_t... I>
  static AnyffiValue store_all(From&& whole, std::index_sequence<I...>) {
    ObjectRef array(Adopt{}, new_sequence(ANYFFI_ARRAY, sizeof...(Ts)));
    auto* sequence = reinterpret_cast<AnyffiSequence*>(array.get());
    (void)whole, (void)sequence;
    (store_one(*sequence, Traits<Ts>::store(std::get<I>(std::forward<From>(whole)))), ...);
    return with_flags(object_value(array.release()), ANYFFI_NATIVE);
  }
  static void store_one(AnyffiSequence& sequence, const AnyffiValue& stored) {
    sequence.type_mask |= anyffi_type_bit(stored.type_code);
    sequence.data[sequence.size++] = stored;
  }
};

}  // namespace detail

template <class... Ts>
struct Traits<std::tuple<Ts...>, std::enable_if_t<(detail::HasTraits<Ts>::value && ...)>>
    : detail::StdTupleTraits<std::tuple<Ts...>, Ts...> {};

template <class A, class B>
struct Traits<std::pair<A, B>,
              std::enable_if_t<!std::is_const_v<A> && detail::HasTraits<A>::value && detail::HasTraits<B>::value>>
    : detail::StdTupleTraits<std::pair<A, B>, A, B> {};

/// An element of a std::map. Traits of a number exist for a const one, too.
template <class K, class V>
struct Traits<std::pair<const K, V>, std::enable_if_t<detail::HasTraits<K>::value && detail::HasTraits<V>::value>>
    : detail::StdTupleTraits<std::pair<const K, V>, K, V> {};

namespace detail {
template <class A, class B>
inline constexpr bool kCannotTake<std::pair<A, B>> = kHoldsTaken<std::pair<A, B>>;
template <class... Ts>
inline constexpr bool kCannotTake<std::tuple<Ts...>> = kHoldsTaken<std::tuple<Ts...>>;
template <class T>
inline constexpr bool kIncludes<Missing::kTuple, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_TUPLE_H_
