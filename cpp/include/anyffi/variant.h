/// \file
/// Variant<Ts...>: a value of one of several types.
#ifndef ANYFFI_VARIANT_H_
#define ANYFFI_VARIANT_H_

#include <anyffi/error.h>
#include <anyffi/object.h>

namespace anyffi {

namespace detail {

/// The index of a type among others, or -1.
template <class T, class... Ts>
constexpr int index_among() {
  int index = 0, found = -1;
  ((found = found < 0 && std::is_same_v<T, Ts> ? index : found, ++index), ...);
  return found;
}

}  // namespace detail

/// A value of one of several types. A value converts to the first type of its own family, as an int does for
/// `Variant<double, int64_t>`, or else to the first type that accepts it. A bool prefers an int type, as in Python, and
/// so does a member of an enumeration that is not among the types.
template <class... Ts>
class Variant {
  static_assert(sizeof...(Ts) > 0, "anyffi: a Variant needs at least one type");
  static_assert(((!std::is_same_v<Ts, const char*> && !std::is_same_v<Ts, AnyView>) && ...),
                "anyffi: a Variant must own its value: use String, TypedTensor or AnyValue, not a view");

 public:
  /// From one of the types, or a type that converts to one.
  template <class T, std::enable_if_t<!std::is_same_v<Bare<T>, Variant> && detail::kIsForeign<Bare<T>>, int> = 0>
  Variant(T&& value) : value_(std::forward<T>(value)) {  // NOLINT: implicit, as the value itself would be
    index_ = detail::index_among<Bare<T>, Ts...>();
    if (index_ < 0) *this = detail::convert<Variant>(value_.raw());
  }
  explicit Variant(const AnyView& value) : Variant(detail::convert<Variant>(value.raw())) {}
  Variant(detail::Adopt, const AnyffiValue& owned, int index) noexcept
      : value_(detail::Adopt{}, owned), index_(index) {}

  /// The index of the type among `Ts`.
  int index() const noexcept { return index_; }
  template <class T>
  bool holds() const noexcept {
    return index_ == kIndexOf<T>;
  }
  /// The value as a T. TypeError if it has another type.
  template <class T>
  T get() const {
    if (!holds<T>()) {
      AnyffiMismatch why;
      detail::refuse(why, value_.raw(), Traits<T>::name);
      detail::throw_mismatch(why);
    }
    return value_.template cast<T>();
  }
  /// Calls `visitor` with the value as its type; the results must have one type.
  template <class F>
  decltype(auto) visit(F&& visitor) const {
    return visit_from<0, F, Ts...>(std::forward<F>(visitor));
  }
  const AnyValue& any() const noexcept { return value_; }

 private:
  template <class T>
  static constexpr int kIndexOf = [] {
    constexpr int kIndex = detail::index_among<T, Ts...>();
    static_assert(kIndex >= 0, "anyffi: this type is not one of the Variant's types");
    return kIndex;
  }();

  template <int I, class F, class First, class... Rest>
  decltype(auto) visit_from(F&& visitor) const {
    if constexpr (sizeof...(Rest) > 0) {
      if (index_ != I) return visit_from<I + 1, F, Rest...>(std::forward<F>(visitor));
    }
    return std::forward<F>(visitor)(value_.template cast<First>());
  }

  AnyValue value_;
  int index_;
};

namespace detail {
template <class... Ts>
struct References<Variant<Ts...>> : References<AnyValue> {
  static int visit(const Variant<Ts...>& value, AnyffiVisit visit, void* context) {
    return References<AnyValue>::visit(value.any(), visit, context);
  }
};
}  // namespace detail

namespace detail {
/// The exact types of one of several alternatives. For one that converts nothing, those are the types that it accepts.
template <class T>
constexpr uint64_t exact_types_among() {
  if constexpr (kIsObjectValue<T> || kIsRef<T>) return type_bits(ANYFFI_FIRST_DYNAMIC_TYPE);
  bool accepts_known = kExactTypes<T> == kEveryType && Traits<T>::type_mask != 0;
  return accepts_known ? Traits<T>::type_mask : kExactTypes<T>;
}
template <class... Ts>
inline constexpr uint64_t kExactTypes<Variant<Ts...>> = (exact_types_among<Ts>() | ...);

/// Whether a type specifies requirements for a tensor (typed_tensor.h).
template <class T, class = void>
inline constexpr bool kIsTypedTensor = false;
template <class T>
inline constexpr bool kIsTypedTensor<T, std::void_t<typename Traits<T>::Requirement>> = true;
}  // namespace detail

template <class... Ts>
struct Traits<Variant<Ts...>> {
  ANYFFI_HIDDEN_ static constexpr auto name = detail::unite_names<Traits<Ts>::name...>();
  ANYFFI_HIDDEN_ static constexpr auto result_name = detail::unite_names<detail::kResultName<Ts>...>();
  ANYFFI_HIDDEN_ static constexpr auto key_name = detail::unite_names<detail::kKeyName<Ts>...>();
  static constexpr uint64_t type_mask = (Traits<Ts>::type_mask | ...);
  static constexpr bool kBorrows = true;
  static constexpr bool kReadsMembers = (detail::kReadsMembers<Ts> || ...);
  static constexpr bool kOutlivesHolder = true;
  struct Holder : AnyValue {
    int index = -1;
  };

  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    Attempt attempt{value, holder, why};
    detail::refuse(why, value, name);
    if constexpr ((detail::kIsTypedTensor<Ts> || ...)) {
      if (value.type_code == ANYFFI_TENSOR) why.reason = ANYFFI_MISMATCH_TENSOR;  // names its type of elements
    }
    int index = 0;
    bool settled = (attempt.template run<Ts>(index++) || ...);
    if (attempt.broken) return false;
    if (!settled && holder.index < 0) {
      if (!attempt.refusal.is_none()) {
        anyffi_error_set_raised(attempt.refusal.raw().as_object);
        return detail::refuse(why, value, name, ANYFFI_MISMATCH_RAISED);
      }
      return false;
    }
    if (value.type_code > 0 && (value.aux & ANYFFI_MOVABLE) && value.as_object == holder.raw().as_object &&
        holder.type_code() > 0) {
      // Steals the movable argument: the holder keeps the only reference.
      anyffi_release(value.as_object);
      value = AnyffiValue{};
    }
    return true;
  }
  static Variant<Ts...> take(Holder& holder) { return Variant<Ts...>(detail::Adopt{}, holder.release(), holder.index); }
  static AnyffiValue borrow(const Variant<Ts...>& variant) {
    return detail::with_flags(variant.any().raw(), kFlags[variant.index()]);
  }
  static AnyffiValue store(const Variant<Ts...>& variant) {
    return detail::with_flags(AnyValue(variant.any()).release(), kFlags[variant.index()]);
  }

 private:
  ANYFFI_HIDDEN_ static constexpr uint32_t kFlags[] = {detail::kResultFlags<Ts>...};

  /// Tries the types in order, and keeps the best conversion or the best error.
  struct Attempt {
    const AnyffiValue& value;
    Holder& holder;
    AnyffiMismatch& why;
    AnyValue refusal{};
    bool broken = false;
    bool is_int = false; /* `holder` has an int made from a bool or a member */

    /// True if the following types need not be tried.
    template <class T>
    bool run(int index) {
      AnyffiValue given = value;
      bool is_member = kReadsMembers && anyffi_is_member(&value);
      if (given.type_code > 0 || (is_member && !detail::kReadsMembers<T>)) given.aux = 0;
      typename Traits<T>::Holder inner{};
      AnyffiMismatch mine;
      if (!Traits<T>::load(given, inner, mine)) return refused(mine);
      AnyValue stored(Traits<T>::take(inner));
      int32_t family = anyffi_type_get_family(detail::unboxed(value).type_code);
      // A member loaded by its own enumeration is the host's object.
      bool is_own = detail::kReadsMembers<T> && stored.type_code() == ANYFFI_PY_OBJECT;
      bool same_family = is_member ? is_own : stored.family() == family;
      bool becomes_int = (is_member || family == ANYFFI_BOOL) && stored.family() == ANYFFI_INT && !is_int;
      if (holder.index < 0 || same_family || becomes_int) {
        static_cast<AnyValue&>(holder) = std::move(stored);
        holder.index = index;
        is_int = becomes_int;
      }
      return same_family;
    }

    static bool is_about_type(const AnyffiMismatch& mismatch) {
      bool is_type = mismatch.reason == ANYFFI_MISMATCH_TYPE || mismatch.reason == ANYFFI_MISMATCH_TENSOR;
      return is_type && mismatch.path_size == 0;
    }
    /// Keeps an error about an element or about the range: it says more than "expected one of these types".
    bool refused(const AnyffiMismatch& mine) {
      if (mine.reason == ANYFFI_MISMATCH_RAISED) {
        AnyValue error;
        if (!detail::take_refusal(error)) {
          why.reason = ANYFFI_MISMATCH_RAISED;
          return broken = true;
        }
        if (refusal.is_none()) refusal = std::move(error);
      } else if (is_about_type(why) && !is_about_type(mine)) {
        why = mine;
      }
      return false;
    }
  };
};

}  // namespace anyffi

#endif  // ANYFFI_VARIANT_H_
