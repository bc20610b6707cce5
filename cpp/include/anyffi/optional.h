/// \file
/// Optional<T>: a T or None.
#ifndef ANYFFI_OPTIONAL_H_
#define ANYFFI_OPTIONAL_H_

#include <anyffi/object.h>

namespace anyffi {

namespace detail {
/// A temporary to which `->` can refer.
template <class T>
struct Arrow {
  T value;
  T* operator->() noexcept { return &value; }
};
}  // namespace detail

/// A T or None, stored as a value of 16 bytes.
template <class T>
class Optional {
 public:
  Optional() = default;
  Optional(std::nullptr_t) {}                            // NOLINT: implicit on purpose
  Optional(const T& value) : value_(AnyValue(value)) {}  // NOLINT: implicit on purpose
  Optional(detail::Adopt, const AnyffiValue& owned) : value_(detail::Adopt{}, owned) {}

  bool has_value() const noexcept { return !value_.is_none(); }
  explicit operator bool() const noexcept { return has_value(); }
  /// The T. TypeError if it is None.
  T value() const { return value_.template cast<T>(); }
  T operator*() const { return value(); }
  /// A member of the T, which lives until the end of the expression: `maybe->size()`.
  detail::Arrow<T> operator->() const { return {value()}; }
  T value_or(T other) const { return has_value() ? value() : std::move(other); }
  const AnyValue& any() const noexcept { return value_; }
  void reset() noexcept { value_ = AnyValue(); }

  /// As Python's ==, and that of std::optional: two empty ones are equal.
  friend bool operator==(const Optional& a, const Optional& b) { return AnyView::equals(a.value_, b.value_); }
  friend bool operator!=(const Optional& a, const Optional& b) { return !AnyView::equals(a.value_, b.value_); }

 private:
  AnyValue value_;
};

namespace detail {
template <class T>
struct References<Optional<T>> : References<AnyValue> {
  static int visit(const Optional<T>& value, AnyffiVisit visit, void* context) {
    return References<AnyValue>::visit(value.any(), visit, context);
  }
};
}  // namespace detail

template <class T>
struct Traits<Optional<T>> {
  ANYFFI_HIDDEN_ static constexpr auto name = detail::unite_names<Traits<T>::name, Traits<std::nullptr_t>::name>();
  ANYFFI_HIDDEN_ static constexpr auto result_name =
      detail::unite_names<detail::kResultName<T>, Traits<std::nullptr_t>::name>();
  static constexpr uint64_t type_mask = Traits<T>::type_mask | detail::type_bits(ANYFFI_NONE);
  static constexpr uint32_t result_flags = detail::kResultFlags<T>;
  static constexpr bool kBorrows = true;
  static constexpr bool kReadsMembers = detail::kReadsMembers<T>;
  static constexpr bool kOutlivesHolder = true;
  static constexpr bool kIsSteady = detail::kIsSteady<T>;
  using Holder = AnyValue;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    if (value.type_code == ANYFFI_NONE) return true;
    typename Traits<T>::Holder inner{};
    if (!Traits<T>::load(value, inner, why)) {
      if (why.path_size == 0 && why.reason == ANYFFI_MISMATCH_TYPE) why.expected = name;
      return false;
    }
    *holder.out() = Traits<T>::store(Traits<T>::take(inner));
    detail::settle(*holder.out());
    return true;
  }
  static Optional<T> take(Holder& holder) { return Optional<T>(detail::Adopt{}, holder.release()); }
  static AnyffiValue borrow(const Optional<T>& optional) {
    return detail::with_flags(optional.any().raw(), result_flags);
  }
  static AnyffiValue store(const Optional<T>& optional) {
    return detail::with_flags(AnyValue(optional.any()).release(), result_flags);
  }
};

namespace detail {
template <class T>
inline constexpr uint64_t kExactTypes<Optional<T>> = exact_types_of<T>() | type_bits(ANYFFI_NONE);
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_OPTIONAL_H_
