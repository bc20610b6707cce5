/// \file
/// Conversions of std::variant and std::monostate.
#ifndef ANYFFI_STL_VARIANT_H_
#define ANYFFI_STL_VARIANT_H_

#include <anyffi/variant.h>

#include <variant>

namespace anyffi {

/// None only.
template <>
struct Traits<std::monostate> : Traits<std::nullptr_t> {
  using Holder = std::monostate;
  static bool load(AnyffiValue& value, Holder&, AnyffiMismatch& why) {
    return value.type_code == ANYFFI_NONE || detail::refuse(why, value, name);
  }
  static std::monostate take(Holder&) { return {}; }
  static AnyffiValue store(std::monostate) { return AnyffiValue{}; }
};

/// The first type of the value's own family, else the first that accepts it, as for Variant.
template <class... Ts>
struct Traits<std::variant<Ts...>, std::enable_if_t<(detail::HasTraits<Ts>::value && ...)>> {
  static_assert((!detail::kIsView<Ts> && ...),
                "anyffi: a std::variant must own its value: use std::string, not a view");
  ANYFFI_HIDDEN_ static constexpr auto name = detail::union_names<Ts...>();
  ANYFFI_HIDDEN_ static constexpr auto result_name = detail::union_result_names<Ts...>();
  ANYFFI_HIDDEN_ static constexpr auto key_name = detail::union_key_names<Ts...>();
  static constexpr uint64_t type_mask = (Traits<Ts>::type_mask | ...);
  static constexpr bool kBorrows = false;
  using Holder = typename Traits<Variant<Ts...>>::Holder;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    return Traits<Variant<Ts...>>::load(value, holder, why);
  }
  static std::variant<Ts...> take(Holder& holder) { return take_as(holder, std::index_sequence_for<Ts...>()); }
  static AnyffiValue store(const std::variant<Ts...>& variant) {
    return std::visit([](const auto& value) { return Traits<Bare<decltype(value)>>::store(value); }, variant);
  }
  static AnyffiValue store(std::variant<Ts...>&& variant) {
    return std::visit([](auto&& value) { return Traits<Bare<decltype(value)>>::store(std::move(value)); },
                      std::move(variant));
  }

 private:
  template <size_t... I>
  static std::variant<Ts...> take_as(Holder& holder, std::index_sequence<I...>) {
    using Make = std::variant<Ts...> (*)(Holder&);
    static constexpr Make kMakers[] = {[](Holder& held) {
      return std::variant<Ts...>(std::in_place_index<I>,
                                 held.template cast<std::variant_alternative_t<I, std::variant<Ts...>>>());
    }...};
    return kMakers[holder.index](holder);
  }
};

namespace detail {
template <class T>
inline constexpr bool kIncludes<Missing::kVariant, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_VARIANT_H_
