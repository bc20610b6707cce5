/// \file
/// Helpers of the conversions of standard containers: load and store items, entries and elements.
#ifndef ANYFFI_DETAIL_STL_ITEMS_H_
#define ANYFFI_DETAIL_STL_ITEMS_H_

#include <anyffi/container/set.h>

namespace anyffi {
namespace detail {

/// Whether a T is its own Holder, whose `take` only moves it: an element can be loaded where it will stay. Not a bool,
/// of which std::vector has no objects.
template <class T, class = void>
inline constexpr bool kLoadsInPlace = std::is_arithmetic_v<T> && kIsNumber<T> && !std::is_same_v<T, bool>;
template <class T>
inline constexpr bool kLoadsInPlace<T, std::enable_if_t<Traits<T>::kIsLoadedInPlace>> = true;

/// Calls `load` with each element of an Array, a List, or a tensor of one axis.
template <class T, class Load>
bool load_each(const AnyffiValue& value, const char* name, AnyffiMismatch& why, Load load) {
  static_assert(!kIsView<T>, "anyffi: a container must own its elements: use std::string, not a view");
  if (!is_array(value.type_code) && value.type_code != ANYFFI_LIST) {
    if (value.type_code != ANYFFI_TENSOR && value.type_code != ANYFFI_TENSOR_VIEW) return refuse(why, value, name);
    AnyValue items;
    if (anyffi_tensor_get_items(&value, items.out()) != 0) return refuse(why, value, name, ANYFFI_MISMATCH_RAISED);
    if (load_each<T>(items.raw(), name, why, load)) return true;
    // A BigInt of the list would not outlive it.
    if (why.got.type_code > 0) why.got = value;
    return false;
  }
  auto* sequence = reinterpret_cast<const AnyffiSequence*>(value.as_object);
  bool is_private = (value.aux & ANYFFI_MOVABLE) != 0;
  for (int64_t i = 0; i < sequence->size; ++i) {
    Element element(sequence->data[i], sequence->header, is_private);
    if (!load(element.value)) return element.refused(why, Traits<int64_t>::store(i));
  }
  return true;
}

/// Calls `visit` with each element, converted to T.
template <class T, class Visit>
bool load_items(const AnyffiValue& value, const char* name, AnyffiMismatch& why, Visit visit) {
  return load_each<T>(value, name, why, [&](AnyffiValue& item) {
    typename Traits<T>::Holder holder{};
    if (!Traits<T>::load(item, holder, why)) return false;
    visit(Traits<T>::take(holder));
    return true;
  });
}

/// A new List of the items of a C++ container.
template <class T, class Items>
AnyffiValue store_items(Items&& items) {
  ObjectRef list(Adopt{}, new_sequence(ANYFFI_LIST, static_cast<int64_t>(items.size())));
  auto* sequence = reinterpret_cast<AnyffiSequence*>(list.get());
  for (auto&& item : items) {
    AnyffiValue stored;
    if constexpr (std::is_rvalue_reference_v<Items&&>) {
      stored = Traits<T>::store(static_cast<T&&>(item));
    } else {
      stored = Traits<T>::store(item);
    }
    sequence->type_mask |= anyffi_type_bit(stored.type_code);
    sequence->data[sequence->size++] = stored;
  }
  return object_value(list.release());
}

/// Calls `visit` with each entry, converted to K and V; it returns whether the key is new. Distinct keys may be equal
/// in C++, as 2**53 and 2**53 + 1 are as double: that is an error.
template <class K, class V, class Visit>
bool load_entries(const AnyffiValue& value, const char* name, AnyffiMismatch& why, Visit visit) {
  static_assert(!kIsView<K> && !kIsView<V>, "anyffi: a container must own its elements: use std::string, not a view");
  if (value.type_code != ANYFFI_MAP && value.type_code != ANYFFI_DICT) return refuse(why, value, name);
  auto* mapping = reinterpret_cast<const AnyffiMapping*>(value.as_object);
  bool is_private = (value.aux & ANYFFI_MOVABLE) != 0;
  for (int64_t i = 0; i < mapping->used; ++i) {
    const AnyffiEntry& entry = mapping->entries[i];
    if (entry.key.type_code == ANYFFI_UNSET) continue;
    Element key(entry.key, mapping->header, is_private), item(entry.value, mapping->header, is_private);
    typename Traits<K>::Holder key_holder{};
    typename Traits<V>::Holder item_holder{};
    if (!Traits<K>::load(key.value, key_holder, why)) return key.refused(why, key.value);
    if (!Traits<V>::load(item.value, item_holder, why)) return item.refused(why, key.value);
    if (!visit(Traits<K>::take(key_holder), Traits<V>::take(item_holder))) {
      return refuse(why, key.value, name, ANYFFI_MISMATCH_VALUE, "two keys are equal in C++");
    }
  }
  return true;
}

/// A new Dict of the entries of a C++ container.
template <class K, class V, class Entries>
AnyffiValue store_entries(const Entries& entries) {
  ObjectRef dict(Adopt{}, new_mapping(ANYFFI_DICT));
  for (const auto& [key, value] : entries) {
    AnyValue owned_key(Adopt{}, Traits<K>::store(key)), owned_value(Adopt{}, Traits<V>::store(value));
    AnyffiValue given[] = {owned_key.release(), owned_value.release()};
    int32_t existed;
    check(anyffi_mapping_set(dict.get(), &given[0], &given[1], &existed));
    if (existed) throw Error("ValueError", "two keys of a C++ map are equal in Python");
  }
  return object_value(dict.release());
}

/// Calls `visit` with each element of a set, converted to T; it returns whether the element is new.
template <class T, class Visit>
bool load_elements(const AnyffiValue& value, const char* name, AnyffiMismatch& why, Visit visit) {
  static_assert(!kIsView<T>, "anyffi: a container must own its elements: use std::string, not a view");
  if (value.type_code != ANYFFI_SET && value.type_code != ANYFFI_FROZEN_SET) return refuse(why, value, name);
  auto* set = reinterpret_cast<const AnyffiMapping*>(value.as_object);
  bool is_private = (value.aux & ANYFFI_MOVABLE) != 0;
  for (int64_t i = 0; i < set->used; ++i) {
    if (set->entries[i].key.type_code == ANYFFI_UNSET) continue;
    Element element(set->entries[i].key, set->header, is_private);
    typename Traits<T>::Holder holder{};
    if (!Traits<T>::load(element.value, holder, why)) return element.refused(why, element.value);
    if (!visit(Traits<T>::take(holder))) {
      return refuse(why, element.value, name, ANYFFI_MISMATCH_VALUE, "two elements are equal in C++");
    }
  }
  return true;
}

/// A new Set of the elements of a C++ container.
template <class T, class Elements>
AnyffiValue store_elements(const Elements& elements) {
  ObjectRef set(Adopt{}, new_mapping(ANYFFI_SET));
  for (const T& element : elements) {
    AnyffiValue key = Traits<T>::store(element), none{};
    int32_t existed;
    check(anyffi_mapping_set(set.get(), &key, &none, &existed));
    if (existed) throw Error("ValueError", "two elements of a C++ set are equal in Python");
  }
  return object_value(set.release());
}

/// Traits of std::vector, std::deque and std::list.
template <class S, class T>
struct StdSequenceTraits {
  ANYFFI_HIDDEN_ static constexpr auto name = "Sequence[" + FixedText(Traits<T>::name) + "]";
  ANYFFI_HIDDEN_ static constexpr auto result_name = "List[" + kResultName<T> + "]";
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  static constexpr bool kIsLoadedInPlace = true;
  static constexpr bool kOutlivesHolder = true;
  using Holder = S;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    if constexpr (kLoadsInPlace<T>) {
      return load_each<T>(value, name, why,
                          [&](AnyffiValue& item) { return Traits<T>::load(item, holder.emplace_back(), why); });
    } else {
      return load_items<T>(value, name, why, [&](T&& item) { holder.push_back(std::move(item)); });
    }
  }
  static S take(Holder& holder) { return std::move(holder); }
  static AnyffiValue store(const S& items) { return store_items<T>(items); }
  static AnyffiValue store(S&& items) { return store_items<T>(std::move(items)); }
};

/// Traits of std::map and std::unordered_map.
template <class M, class K, class V>
struct StdMapTraits {
  ANYFFI_HIDDEN_ static constexpr auto name =
      "Mapping[" + FixedText(Traits<K>::name) + ", " + FixedText(Traits<V>::name) + "]";
  ANYFFI_HIDDEN_ static constexpr auto result_name = "Dict[" + kResultName<K> + ", " + kResultName<V> + "]";
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  static constexpr bool kIsLoadedInPlace = true;
  static constexpr bool kOutlivesHolder = true;
  using Holder = M;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    return load_entries<K, V>(
        value, name, why, [&](K&& key, V&& item) { return holder.emplace(std::move(key), std::move(item)).second; });
  }
  static M take(Holder& holder) { return std::move(holder); }
  static AnyffiValue store(const M& entries) { return store_entries<K, V>(entries); }
};

/// Traits of std::set and std::unordered_set.
template <class S, class T>
struct StdSetTraits {
  ANYFFI_HIDDEN_ static constexpr auto name = "AbstractSet[" + FixedText(Traits<T>::name) + "]";
  ANYFFI_HIDDEN_ static constexpr auto result_name = "Set[" + kResultName<T> + "]";
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  static constexpr bool kIsLoadedInPlace = true;
  static constexpr bool kOutlivesHolder = true;
  using Holder = S;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    return load_elements<T>(value, name, why, [&](T&& element) { return holder.insert(std::move(element)).second; });
  }
  static S take(Holder& holder) { return std::move(holder); }
  static AnyffiValue store(const S& elements) { return store_elements<T>(elements); }
};

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_STL_ITEMS_H_
