/// \file
/// Conversions of std::optional: a T or None.
#ifndef ANYFFI_STL_OPTIONAL_H_
#define ANYFFI_STL_OPTIONAL_H_

#include <anyffi/detail/converting.h>
#include <anyffi/detail/items_writer.h>
#include <anyffi/pointer.h>

#include <optional>

namespace anyffi {

namespace detail {

/// The conversion of an optional, in two versions: whether its T outlives T's Holder, or not.
template <class T, bool = kOutlivesHolder<T> || kIsNumber<T>>
struct OptionalConversion {
  using Holder = std::optional<T>;
  static constexpr bool kOutlivesHolder = true;
  static constexpr bool kIsLoadedInPlace = true;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    typename Traits<T>::Holder inner{};
    if constexpr (kIsNumber<T>) {
      if (__builtin_expect(Traits<T>::load_plain(value, inner), 1)) {
        holder.emplace(Traits<T>::take(inner));
        return true;
      }
    }
    if (!Traits<T>::load(value, inner, why)) return false;
    holder.emplace(Traits<T>::take(inner));
    return true;
  }
  static std::optional<T> take(Holder& holder) { return std::move(holder); }
};

template <class T>
struct OptionalConversion<T, false> {
  struct ANYFFI_HIDDEN_ Holder {
    bool has_value = false;
    typename Traits<T>::Holder inner{};
  };
  static constexpr bool kOutlivesHolder = false;
  static constexpr bool kIsLoadedInPlace = false;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    holder.has_value = true;
    return Traits<T>::load(value, holder.inner, why);
  }
  static void verify([[maybe_unused]] const Holder& holder) {
    if constexpr (kIsVerified<T>) Traits<T>::verify(holder.inner);
  }
  static std::optional<T> take(Holder& holder) {
    if (!holder.has_value) return std::nullopt;
    return Traits<T>::take(holder.inner);
  }
};

}  // namespace detail

template <class T>
struct Traits<std::optional<T>, std::enable_if_t<detail::HasTraits<T>::value>> : detail::OptionalConversion<T> {
  ANYFFI_HIDDEN_ static constexpr auto name = detail::unite_names<Traits<T>::name, Traits<std::nullptr_t>::name>();
  ANYFFI_HIDDEN_ static constexpr auto result_name =
      detail::unite_names<detail::kResultName<T>, Traits<std::nullptr_t>::name>();
  ANYFFI_HIDDEN_ static constexpr auto key_name =
      detail::unite_names<detail::kKeyName<T>, Traits<std::nullptr_t>::name>();
  static constexpr uint64_t type_mask = Traits<T>::type_mask | detail::type_bits(ANYFFI_NONE);
  static constexpr uint32_t result_flags = detail::kResultFlags<T>;
  static constexpr bool kBorrows = false;
  static constexpr bool kLoadsQuietly = detail::kLoadsQuietly<T>;
  static constexpr bool kReadsItems = detail::kReadsItems<T>;
  static constexpr bool kReadsMembers = detail::kReadsMembers<T>;
  static constexpr bool kIsWritten = detail::kIsWritten<T> && !detail::kIsPassedAsView<T>;
  static constexpr bool kWritesItems = detail::kWritesItems<T>;
  using Conversion = detail::OptionalConversion<T>;
  static bool load(AnyffiValue& value, typename Conversion::Holder& holder, AnyffiMismatch& why) {
    if (value.type_code == ANYFFI_NONE || Conversion::load(value, holder, why)) return true;
    if (why.path_size == 0 && why.reason == ANYFFI_MISMATCH_TYPE) why.expected = name;
    return false;
  }
  static AnyffiValue store(const std::optional<T>& optional) {
    return optional ? Traits<T>::store(*optional) : AnyffiValue{};
  }
  static AnyffiValue store(std::optional<T>&& optional) {
    return optional ? Traits<T>::store(*std::move(optional)) : AnyffiValue{};
  }
  static void write(detail::ItemsWriter& writer, const std::optional<T>& optional) {
    if (!optional) return writer.put(AnyffiValue{});
    detail::write_item<T>(writer, *optional);
  }
};

/// std::nullopt converts as None: `arg("x") = std::nullopt`.
template <>
struct Traits<std::nullopt_t> : Traits<std::nullptr_t> {
  static std::nullopt_t take(Holder&) { return std::nullopt; }
  static AnyffiValue store(std::nullopt_t) { return AnyffiValue{}; }
};

/// `.convert()` for an array that may be None.
template <class T>
struct Traits<detail::WithConversion<std::optional<T>>, std::enable_if_t<detail::kHasConversion<T>>> {
  using Whole = Traits<std::optional<detail::WithConversion<T>>>;
  ANYFFI_HIDDEN_ static constexpr auto name = Whole::name;
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  using Holder = typename Whole::Conversion::Holder;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) { return Whole::load(value, holder, why); }
  static detail::WithConversion<std::optional<T>> take(Holder& holder) {
    auto taken = Whole::take(holder);
    if (!taken) return {std::nullopt};
    return {std::optional<T>(std::move(taken->value))};
  }
  static AnyffiValue store(const detail::WithConversion<std::optional<T>>& argument) {
    return Traits<std::optional<T>>::store(argument.value);
  }
};

namespace detail {
template <class T>
inline constexpr bool kTakesHeld<std::optional<T>> = kTakesHeld<T>;
template <class T>
inline constexpr bool kCannotTake<std::optional<T>> = kCannotTake<T>;
template <class T>
inline constexpr bool kHasConversion<std::optional<T>> = kHasConversion<T>;
template <class T>
inline constexpr uint64_t kExactTypes<WithConversion<std::optional<T>>> =
    kExactTypes<WithConversion<T>> | type_bits(ANYFFI_NONE);
template <class T>
inline constexpr bool kIsView<std::optional<T>> = kIsView<T>;
template <class T>
inline constexpr bool kTakesUtf8<std::optional<T>> = kTakesUtf8<T>;
template <class T>
inline constexpr uint64_t kExactTypes<std::optional<T>> = exact_types_of<T>() | type_bits(ANYFFI_NONE);
template <class T>
inline constexpr bool kIncludes<Missing::kOptional, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_OPTIONAL_H_
