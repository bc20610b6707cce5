/// \file
/// Conversions of std::variant and std::monostate.
#ifndef ANYFFI_STL_VARIANT_H_
#define ANYFFI_STL_VARIANT_H_

#include <anyffi/detail/items_writer.h>
#include <anyffi/pointer.h>
#include <anyffi/variant.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

namespace anyffi {

/// None only.
template <>
struct Traits<std::monostate> : Traits<std::nullptr_t> {
  static constexpr bool kIsWritten = false;
  static constexpr bool kWritesItems = true;
  using Holder = std::monostate;
  static bool load(AnyffiValue& value, Holder&, AnyffiMismatch& why) {
    return value.type_code == ANYFFI_NONE || detail::refuse(why, value, name);
  }
  static std::monostate take(Holder&) { return {}; }
  static AnyffiValue store(std::monostate) { return AnyffiValue{}; }
  static void write(detail::ItemsWriter& writer, std::monostate) { writer.put(AnyffiValue{}); }
};

namespace detail {
/// The type family that T accepts unchanged; kNoFamily for types with other rules.
constexpr int32_t kNoFamily = INT32_MIN;
template <class T>
inline constexpr int32_t kOwnFamily = std::is_same_v<T, bool>                     ? ANYFFI_BOOL
                                      : std::is_integral_v<T> && !kIsCharacter<T> ? ANYFFI_INT
                                      : std::is_floating_point_v<T>               ? ANYFFI_FLOAT
                                      : std::is_same_v<T, std::string>            ? ANYFFI_STR
                                      : std::is_same_v<T, std::monostate>         ? ANYFFI_NONE
                                                                                  : kNoFamily;

template <class... Ts>
inline constexpr uint64_t kExactTypes<std::variant<Ts...>> = kExactTypes<Variant<Ts...>>;

/// Whether T is a sequence of numbers of the standard library. It loads a List of such numbers without code of the
/// host, and without a conversion for which another alternative would be better.
template <class T, class = void>
inline constexpr bool kIsNumbers = false;
template <class T>
inline constexpr bool kIsNumbers<T, std::void_t<typename Traits<T>::Item>> =
    std::is_arithmetic_v<typename Traits<T>::Item> && kIsNumber<typename Traits<T>::Item>;

/// The object for an alternative that takes over its content, which happens once all arguments are converted. Empty for
/// other alternatives.
template <class T, bool = kTakesObject<T>>
struct TakenAlternative {};
template <class T>
struct ANYFFI_HIDDEN_ TakenAlternative<T, true> {
  typename Traits<T>::Holder object;
};
template <class... Ts>
struct ANYFFI_HIDDEN_ TakenAlternatives {
  int index = -1;  // of the alternative, or -1
  std::tuple<TakenAlternative<Ts>...> all;
};

/// Adds `verify` to the conversion of a std::variant that has such alternatives.
template <bool kTakes, class... Ts>
struct VerifiedAlternatives {
  struct Taken {};
};
template <class... Ts>
struct VerifiedAlternatives<true, Ts...> {
  using Taken = TakenAlternatives<Ts...>;
  ANYFFI_HIDDEN_ static void verify(const Taken& taken) { verify_each(taken, std::index_sequence_for<Ts...>()); }

 private:
  template <size_t... I>
  static void verify_each(const Taken& taken, std::index_sequence<I...>) {
    (verify_one<Ts>(std::get<I>(taken.all)), ...);
  }
  template <class T>
  static void verify_one([[maybe_unused]] const TakenAlternative<T>& taken) {
    if constexpr (kTakesObject<T>) Traits<T>::verify(taken.object);
  }
};

/// In place of an alternative that takes over an object: accepts the same objects, but leaves them their content.
template <class T>
struct Untaken {
  ObjectRef object;
};
template <class T>
using UntakenOr = std::conditional_t<kTakesObject<T>, Untaken<T>, T>;

template <class T>
bool holds_numbers_of(const AnyffiValue& list) {
  return has_only(reinterpret_cast<const AnyffiSequence*>(list.as_object)->type_mask,
                  Traits<typename Traits<T>::Item>::type_mask);
}
}  // namespace detail

template <class T>
struct Traits<detail::Untaken<T>> {
  ANYFFI_HIDDEN_ static constexpr auto name = Traits<T>::name;
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  using Holder = typename Traits<T>::Holder;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    return Traits<T>::load(value, holder, why);
  }
  static detail::Untaken<T> take(Holder& holder) { return {std::move(holder.object)}; }
  static AnyffiValue store(const detail::Untaken<T>& untaken) { return Traits<ObjectRef>::store(untaken.object); }
};

/// The first alternative of the value's own family, or else the first that accepts it, as for Variant.
template <class... Ts>
struct Traits<std::variant<Ts...>, std::enable_if_t<(detail::HasTraits<Ts>::value && ...)>>
    : detail::VerifiedAlternatives<(detail::kTakesObject<Ts> || ...), Ts...> {
  static constexpr bool kTakes = (detail::kTakesObject<Ts> || ...);
  static_assert((!detail::kIsView<Ts> && ...),
                "anyffi: a std::variant must own its value: use std::string or TypedTensor, not a view");
  ANYFFI_HIDDEN_ static constexpr auto name = detail::unite_names<Traits<Ts>::name...>();
  ANYFFI_HIDDEN_ static constexpr auto result_name = detail::unite_names<detail::kResultName<Ts>...>();
  ANYFFI_HIDDEN_ static constexpr auto key_name = detail::unite_names<detail::kKeyName<Ts>...>();
  static constexpr uint64_t type_mask = (Traits<Ts>::type_mask | ...);
  static constexpr bool kIsWritten = ((detail::kIsWritten<Ts> && !detail::kIsPassedAsView<Ts>) || ...);
  static constexpr bool kWritesItems = (detail::kWritesItems<Ts> && ...);
  static constexpr bool kBorrows = false;
  static constexpr bool kReadsMembers = (detail::kReadsMembers<Ts> || ...);
  struct ANYFFI_HIDDEN_ Holder : detail::VerifiedAlternatives<kTakes, Ts...>::Taken {
    std::optional<std::variant<Ts...>> direct;
    typename Traits<Variant<Ts...>>::Holder erased;
  };
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    static_assert(
        ((!detail::kHoldsTaken<Ts> || detail::kTakesObject<Ts>) && ...),
        "anyffi: a container of std::unique_ptr among other types cannot take over the objects of an argument: "
        "use std::shared_ptr, or an overload with the container alone");
    if constexpr (kTakes) {
      if (value.type_code >= ANYFFI_FIRST_DYNAMIC_TYPE) {
        return load_untaken(value, holder, why, std::index_sequence_for<Ts...>());
      }
    }
    return load_direct(value, holder, std::index_sequence_for<Ts...>()) ||
           Traits<Variant<Ts...>>::load(value, holder.erased, why);
  }
  static std::variant<Ts...> take(Holder& holder) {
    if constexpr (kTakes) {
      if (holder.index >= 0) return take_taken(holder, std::index_sequence_for<Ts...>());
    }
    if (holder.direct) return *std::move(holder.direct);
    return take_as(holder.erased, std::index_sequence_for<Ts...>());
  }
  static AnyffiValue store(const std::variant<Ts...>& variant) {
    return std::visit([](const auto& value) { return Traits<Bare<decltype(value)>>::store(value); }, variant);
  }
  static AnyffiValue store(std::variant<Ts...>&& variant) {
    return std::visit([](auto&& value) { return Traits<Bare<decltype(value)>>::store(std::move(value)); },
                      std::move(variant));
  }
  static void write(detail::ItemsWriter& writer, const std::variant<Ts...>& variant) {
    std::visit([&](const auto& value) { detail::write_item<Bare<decltype(value)>>(writer, value); }, variant);
  }

 private:
  using Erased = typename Traits<Variant<Ts...>>::Holder;

  /// Whether T can tell from the family or class of a value, or from the types in a List, whether it is an exact match.
  template <class T>
  static bool knows_own(const AnyffiValue& value) {
    if constexpr (detail::kIsNumbers<T>) {
      return value.type_code != ANYFFI_LIST || detail::holds_numbers_of<T>(value);
    } else {
      return detail::kOwnFamily<T> != detail::kNoFamily || detail::kIsObjectClass<T>;
    }
  }
  template <class T>
  static bool is_own(const AnyffiValue& value, int32_t family) {
    if constexpr (detail::kIsNumbers<T>) {
      return value.type_code == ANYFFI_LIST;
    } else if constexpr (detail::kIsObjectClass<T>) {
      return value.type_code > 0 && value.type_code == detail::type_code_slot<T>;
    } else {
      return detail::kOwnFamily<T> == family;
    }
  }

  /// Loads an object as the best alternative, without taking its content yet.
  template <size_t... I>
  static bool load_untaken(AnyffiValue& value, Holder& holder, AnyffiMismatch& why, std::index_sequence<I...>) {
    AnyffiValue given = value;
    given.aux = 0;  // it stays with the caller
    typename Traits<Variant<detail::UntakenOr<Ts>...>>::Holder best;
    if (!Traits<Variant<detail::UntakenOr<Ts>...>>::load(given, best, why)) return false;
    if (constexpr bool kTaken[] = {detail::kTakesObject<Ts>...}; !kTaken[best.index]) {
      static_cast<AnyValue&>(holder.erased) = std::move(static_cast<AnyValue&>(best));
      holder.erased.index = best.index;
      return true;
    }
    static_cast<AnyValue&>(best) = AnyValue();
    return ((best.index == static_cast<int>(I) && load_taken_as<Ts, I>(value, holder, why)) || ...);
  }
  template <class T, size_t I>
  static bool load_taken_as([[maybe_unused]] AnyffiValue& value, [[maybe_unused]] Holder& holder,
                            [[maybe_unused]] AnyffiMismatch& why) {
    if constexpr (detail::kTakesObject<T>) {
      if (!Traits<T>::load(value, std::get<I>(holder.all).object, why)) return false;
      holder.index = static_cast<int>(I);
      return true;
    }
    return false;
  }
  template <size_t... I>
  static std::variant<Ts...> take_taken(Holder& holder, std::index_sequence<I...>) {
    using Make = std::variant<Ts...> (*)(Holder&);
    static constexpr Make kMakers[] = {&make_taken<Ts, I>...};
    return kMakers[holder.index](holder);
  }
  template <class T, size_t I>
  static std::variant<Ts...> make_taken([[maybe_unused]] Holder& holder) {
    if constexpr (detail::kTakesObject<T>) {
      return std::variant<Ts...>(std::in_place_index<I>, Traits<T>::take(std::get<I>(holder.all).object));
    } else {
      __builtin_unreachable();
    }
  }

  /// Fast path: loads a number, text, an object or a List of numbers as the first alternative that matches exactly,
  /// provided that all alternatives before it can tell that they do not.
  template <size_t... I>
  static bool load_direct(AnyffiValue& value, Holder& holder, std::index_sequence<I...>) {
    int32_t family = anyffi_is_str(value.type_code) ? int32_t{ANYFFI_STR} : value.type_code;
    bool goes_on = !kReadsMembers || !anyffi_is_member(&value);
    return (
        (goes_on && (goes_on = knows_own<Ts>(value)) && is_own<Ts>(value, family) && load_as<Ts, I>(value, holder)) ||
        ...);
  }
  template <class T, size_t I>
  static bool load_as([[maybe_unused]] AnyffiValue& value, [[maybe_unused]] Holder& holder) {
    if constexpr (detail::kIsNumber<T>) {
      typename Traits<T>::Holder number{};
      if (!Traits<T>::load_plain(value, number)) return false;
      holder.direct.emplace(std::in_place_index<I>, Traits<T>::take(number));
      return true;
    } else if constexpr (detail::kOwnFamily<T> == ANYFFI_STR) {
      AnyffiTextView text;
      if (anyffi_value_get_text_view(&value, &text) != 0 || text.encoding != ANYFFI_ASCII) return false;
      holder.direct.emplace(std::in_place_index<I>, static_cast<const char*>(text.data),
                            static_cast<size_t>(text.length));
      return true;
    } else if constexpr (detail::kIsObjectClass<T> || detail::kIsNumbers<T>) {
      typename Traits<T>::Holder loaded{};
      AnyffiMismatch why;
      if (!Traits<T>::load(value, loaded, why)) return false;
      holder.direct.emplace(std::in_place_index<I>, Traits<T>::take(loaded));
      return true;
    } else {
      return false;
    }
  }
  template <size_t... I>
  static std::variant<Ts...> take_as(Erased& holder, std::index_sequence<I...>) {
    using Make = std::variant<Ts...> (*)(Erased&);
    static constexpr Make kMakers[] = {[](Erased& held) {
      return std::variant<Ts...>(std::in_place_index<I>,
                                 held.template cast<std::variant_alternative_t<I, std::variant<Ts...>>>());
    }...};
    return kMakers[holder.index](holder);
  }
};

namespace detail {
template <class... Ts>
inline constexpr bool kTakesHeld<std::variant<Ts...>> = (kTakesObject<Ts> || ...);
template <class T>
inline constexpr bool kIncludes<Missing::kVariant, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_VARIANT_H_
