/// \file
/// Set<T> and FrozenSet<T>: typed references to the runtime's sets, in insertion order.
#ifndef ANYFFI_CONTAINER_SET_H_
#define ANYFFI_CONTAINER_SET_H_

#include <anyffi/container/mapping.h>

namespace anyffi {

namespace detail {

/// Whether all elements of a set are certainly of type T, judging by their types alone.
template <class T>
bool has_only_keys(const AnyffiValue& set) {
  return has_only(reinterpret_cast<const AnyffiMapping*>(set.as_object)->key_type_mask, Traits<T>::type_mask);
}

/// Elements are hashable, and so deeply immutable: they are checked, but never converted.
template <class T>
bool check_set(const AnyffiValue& given, AnyffiMismatch& why) {
  if (has_only_keys<T>(given)) return true;
  auto* set = reinterpret_cast<const AnyffiMapping*>(given.as_object);
  RememberedCheck<Convertible, T> check(given, set->value_type_mask, set->size);
  if (check.is_done()) return true;
  for (int64_t i = 0; i < set->used; ++i) {
    if (set->entries[i].key.type_code == ANYFFI_UNSET) continue;
    Element element(set->entries[i].key, set->header);
    check.visit(element.value);
    if (!check_element<T>(element, element.value, why)) return false;
  }
  check.succeed();
  return true;
}

/// Adds an element; returns whether it was new.
template <class T>
bool add_element(AnyffiObject* set, const T& element) {
  AnyffiValue key = AnyValue(element).release(), none{};
  int32_t existed;
  check(anyffi_mapping_set(set, &key, &none, &existed));
  return !existed;
}

/// The methods of Set<T> and FrozenSet<T>.
template <class T>
class SetView : public ObjectRef {
 public:
  using ObjectRef::ObjectRef;

  int64_t size() const noexcept { return set()->size; }
  bool empty() const noexcept { return size() == 0; }
  bool contains(const T& element) const { return find_key(object_, element) >= 0; }

  class Iterator : public EntryIterator<Iterator, T, ElementOf<T>> {
   public:
    using EntryIterator<Iterator, T, ElementOf<T>>::EntryIterator;
    ElementOf<T> operator*() const { return read_cell<T>(this->entry().key); }
  };
  /// Iterates over the elements in insertion order. References (`ElementOf`) are valid until the set changes.
  Iterator begin() const { return {set(), 0}; }
  Iterator end() const { return {set(), kEnd}; }

 protected:
  const AnyffiMapping* set() const noexcept { return reinterpret_cast<AnyffiMapping*>(object_); }
};

}  // namespace detail

template <class T = AnyValue>
class FrozenSet;

/// A mutable set, by reference. Each read is checked, since others may write other types.
template <class T = AnyValue>
class Set : public detail::SetView<T> {
 public:
  using detail::SetView<T>::SetView;
  Set() : Set(detail::Adopt{}, detail::new_mapping(ANYFFI_SET)) {}
  Set(std::initializer_list<T> elements) : Set() {
    for (const T& element : elements) add(element);
  }

  /// Adds an element; returns whether it was new.
  bool add(const T& element) { return detail::add_element(this->object_, element); }
  /// Removes an element; returns whether it was there.
  bool erase(const T& element) { return detail::erase_key(this->object_, element); }
  void clear() { anyffi_mapping_clear(this->object_); }
  /// A FrozenSet of the elements: a copy, or in place if an rvalue is the only reference.
  FrozenSet<T> freeze() const& { return detail::copied<FrozenSet<T>>(*this, ANYFFI_FROZEN_SET); }
  FrozenSet<T> freeze() && { return detail::converted<FrozenSet<T>>(std::move(*this), ANYFFI_FROZEN_SET); }
};

/// An immutable set. A FrozenSet is passed by reference, a Set is copied.
template <class T>
class FrozenSet : public detail::SetView<T> {
 public:
  using detail::SetView<T>::SetView;
  FrozenSet() : FrozenSet(detail::Adopt{}, detail::new_mapping(ANYFFI_FROZEN_SET)) {}
  FrozenSet(std::initializer_list<T> elements) : FrozenSet() {
    for (const T& element : elements) detail::add_element(this->object_, element);
  }
  /// A Set of the elements: a copy, or in place if an rvalue is the only reference.
  Set<T> thaw() const& { return detail::copied<Set<T>>(*this, ANYFFI_SET); }
  Set<T> thaw() && { return detail::converted<Set<T>>(std::move(*this), ANYFFI_SET); }
};

template <class T>
struct Traits<FrozenSet<T>> : detail::RefTraits<FrozenSet<T>> {
  static constexpr bool kIsSteady = detail::kIsSteady<T>;
  ANYFFI_HIDDEN_ static constexpr auto name = "FrozenSet[" + FixedText(Traits<T>::name) + "]";
  static constexpr uint64_t type_mask =
      Traits<T>::type_mask == detail::kEveryType ? detail::type_bits(ANYFFI_FROZEN_SET) : 0;
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    if (__builtin_expect(value.type_code != ANYFFI_FROZEN_SET && value.type_code != ANYFFI_SET, 0)) {
      return detail::load_converted(value, ANYFFI_AS_SET, ANYFFI_SET, name, why,
                                    [&](AnyffiValue& set) { return load(set, holder, why); });
    }
    if (!detail::check_set<T>(value, why)) return false;
    if (value.type_code == ANYFFI_FROZEN_SET) return detail::hold_object(value, holder);
    return detail::load_as(value, holder, ANYFFI_FROZEN_SET, why);
  }
  static bool fits(const AnyffiValue& value) {
    return value.type_code == ANYFFI_FROZEN_SET && detail::has_only_keys<T>(value);
  }
};

template <class T>
struct Traits<Set<T>> : detail::RefTraits<Set<T>> {
  static constexpr bool kIsSteady = detail::kIsSteady<T>;
  ANYFFI_HIDDEN_ static constexpr auto name = "Set[" + FixedText(Traits<T>::name) + "]";
  static constexpr uint64_t type_mask = Traits<T>::type_mask == detail::kEveryType ? detail::type_bits(ANYFFI_SET) : 0;
  static bool check(const AnyffiValue& value, AnyffiMismatch& why) {
    if (value.type_code != ANYFFI_SET) return detail::refuse(why, value, name);
    return detail::check_set<T>(value, why);
  }
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    return check(value, why) && detail::hold_object(value, holder);
  }
  static bool fits(const AnyffiValue& value) {
    return value.type_code == ANYFFI_SET && detail::has_only_keys<T>(value);
  }
};

namespace detail {
template <class T>
inline constexpr uint64_t kExactTypes<FrozenSet<T>> = kSetTypes;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_CONTAINER_SET_H_
