/// \file
/// Map<K, V> and Dict<K, V>: typed references to the runtime's mappings, in insertion order.
#ifndef ANYFFI_CONTAINER_MAPPING_H_
#define ANYFFI_CONTAINER_MAPPING_H_

#include <anyffi/container/sequence.h>

#include <initializer_list>
#include <utility>

namespace anyffi {

namespace detail {

/// Whether all keys and values of a mapping are certainly of types K and V, judging by their types alone.
template <class K, class V>
bool has_only_entries(const AnyffiValue& given) {
  auto* mapping = reinterpret_cast<const AnyffiMapping*>(given.as_object);
  return has_only(mapping->key_type_mask, Traits<K>::type_mask) &&
         has_only(mapping->value_type_mask, Traits<V>::type_mask);
}

template <class K, class V>
bool check_entries(const AnyffiValue& given, AnyffiMismatch& why) {
  if (has_only_entries<K, V>(given)) return true;
  auto* mapping = reinterpret_cast<const AnyffiMapping*>(given.as_object);
  RememberedCheck<Convertible, K, V> check(given, mapping->value_type_mask, mapping->size);
  if (check.is_done()) return true;
  for (int64_t i = 0; i < mapping->used; ++i) {
    const AnyffiEntry& entry = mapping->entries[i];
    if (entry.key.type_code == ANYFFI_UNSET) continue;
    check.visit(entry.key), check.visit(entry.value);
    bool keys_fit = has_only(mapping->key_type_mask, Traits<K>::type_mask) || fits_as_is<K>(entry.key);
    if (keys_fit && fits_as_is<V>(entry.value)) continue;
    Element key(entry.key, mapping->header), value(entry.value, mapping->header);
    if (!check_key<K>(key, why) || !check_element<V>(value, key.value, why)) return false;
  }
  check.succeed();
  return true;
}

/// Stores a converted value in `copy`, which the first call creates from `given`. `number` counts live entries, since
/// the copy has no removed ones.
inline bool convert_entry(const AnyffiValue& given, AnyValue& copy, int64_t number, AnyValue converted,
                          AnyffiMismatch& why) {
  if (copy.is_none() && anyffi_container_copy(&given, ANYFFI_MAP, copy.out()) != 0) {
    return refuse(why, given, "Map", ANYFFI_MISMATCH_RAISED);
  }
  auto* mapping = reinterpret_cast<AnyffiMapping*>(copy.raw().as_object);
  if (number >= mapping->used) return refuse_changed(why);
  replace_cell(mapping->entries[number].value, mapping->value_type_mask, std::move(converted));
  return true;
}

/// As `load_array`. Keys are hashable, and so deeply immutable: they are checked, but never converted.
template <class K, class V>
bool load_map(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
  auto* mapping = reinterpret_cast<AnyffiMapping*>(value.as_object);
  bool keys_fit = has_only(mapping->key_type_mask, Traits<K>::type_mask);
  bool values_fit = has_only(mapping->value_type_mask, Traits<V>::type_mask);
  if (!keys_fit || !values_fit) {
    RememberedCheck<Unchanged, K, V> check(value, mapping->value_type_mask, mapping->size);
    int64_t number = 0;
    for (int64_t i = 0; !check.is_done() && i < mapping->used; ++i) {
      const AnyffiEntry& entry = mapping->entries[i];
      if (entry.key.type_code == ANYFFI_UNSET) continue;
      Element key(entry.key, mapping->header), item(entry.value, mapping->header);
      check.visit(key.value), check.visit(item.value);
      if (!keys_fit && !check_key<K>(key, why)) return false;
      AnyValue converted;
      Fit fit = values_fit ? Fit::kUnchanged : load_element<V>(item, key.value, converted, why);
      if (fit == Fit::kRefused) return false;
      if (fit == Fit::kConverted && !convert_entry(value, holder, number, std::move(converted), why)) return false;
      ++number;
    }
    if (!holder.is_none()) return true;
    check.succeed();
  }
  if (value.type_code == ANYFFI_MAP) return hold_object(value, holder);
  return load_as(value, holder, ANYFFI_MAP, why);
}

template <class K>
inline constexpr bool kIsIntKey = std::is_integral_v<K> && kIsNumber<K> && !std::is_same_v<K, bool>;

/// The number of an int's entry, -1 if it is absent, or -2: ask `anyffi_mapping_find`.
template <class K>
int64_t find_int(const AnyffiObject* mapping, K key) {
  bool fits = std::is_signed_v<K> || static_cast<int64_t>(key) >= 0;
  return fits ? anyffi_mapping_find_int(mapping, static_cast<int64_t>(key)) : -2;
}

/// The number of a key's entry, or -1.
template <class K>
int64_t find_key(const AnyffiObject* mapping, const K& key) {
  int64_t entry;
  if constexpr (kIsIntKey<K>) {
    entry = find_int(mapping, key);
    if (__builtin_expect(entry != -2, 1)) return entry;
  }
  if constexpr (Traits<K>::kBorrows) {
    AnyffiValue borrowed = Traits<K>::borrow(key);
    check(anyffi_mapping_find(mapping, &borrowed, &entry));
  } else {
    AnyValue owned(key);
    check(anyffi_mapping_find(mapping, &owned.raw(), &entry));
  }
  return entry;
}

/// Removes a key; returns whether it was there.
template <class K>
bool erase_key(AnyffiObject* mapping, const K& key) {
  int64_t entry = find_key(mapping, key);
  if (entry >= 0) check(anyffi_mapping_erase(mapping, entry));
  return entry >= 0;
}

inline AnyffiObject* new_mapping(int32_t type_code) {
  AnyffiValue created;
  check(anyffi_mapping_create(type_code, 0, &created));
  return created.as_object;
}

/// The methods of Map<K, V> and Dict<K, V>.
template <class K, class V>
class MappingView : public ObjectRef {
 public:
  using ObjectRef::ObjectRef;

  /// References (`ElementOf`) are valid until the mapping changes.
  struct Item {
    ElementOf<K> key;
    ElementOf<V> value;
  };

  int64_t size() const noexcept { return mapping()->size; }
  bool empty() const noexcept { return size() == 0; }
  bool contains(const K& key) const { return find(key) >= 0; }
  /// The value of a key. KeyError if it is absent.
  ElementOf<V> operator[](const K& key) const& { return read_cell<V>(value_of(key)); }
  V operator[](const K& key) && { return read_cell<V>(value_of(key)); }
  /// The value of a key, or `otherwise` if it is absent.
  V value_or(const K& key, V otherwise) const {
    int64_t entry = find(key);
    if (entry < 0) return otherwise;
    return read_cell<V>(mapping()->entries[entry].value);
  }

  class Iterator : public EntryIterator<Iterator, Item, Item> {
   public:
    using EntryIterator<Iterator, Item, Item>::EntryIterator;
    Item operator*() const {
      const AnyffiEntry& entry = this->entry();
      return Item{read_cell<K>(entry.key), read_cell<V>(entry.value)};
    }
  };
  /// Iterates over the entries in insertion order: `for (const auto& [key, value] : map)`.
  Iterator begin() const { return {mapping(), 0}; }
  Iterator end() const { return {mapping(), kEnd}; }

 protected:
  AnyffiMapping* mapping() const noexcept { return reinterpret_cast<AnyffiMapping*>(object_); }
  int64_t find(const K& key) const { return find_key(object_, key); }

 private:
  const AnyffiValue& value_of(const K& key) const {
    int64_t entry = find(key);
    if (entry < 0) {
      AnyView self(static_cast<const ObjectRef&>(*this));
      AnyValue missing(key), unused;
      check(anyffi_value_get_item(&self.raw(), &missing.raw(), unused.out()));
    }
    return mapping()->entries[entry].value;
  }
};

}  // namespace detail

template <class K = AnyValue, class V = AnyValue>
class Map;

/// A mutable mapping, by reference. Each read is checked, since others may write other types.
template <class K = AnyValue, class V = AnyValue>
class Dict : public detail::MappingView<K, V> {
 public:
  using detail::MappingView<K, V>::MappingView;
  Dict() : Dict(detail::Adopt{}, detail::new_mapping(ANYFFI_DICT)) {}
  Dict(std::initializer_list<std::pair<K, V>> entries) : Dict() {
    for (const auto& [key, value] : entries) set(key, value);
  }

  /// Sets the value of a key; an existing key keeps its position.
  void set(const K& key, const V& value) {
    if constexpr (detail::kIsIntKey<K> && detail::kIsStoredInline<V>) {
      int64_t entry = detail::find_int(this->object_, key);
      AnyffiMapping* mapping = this->mapping();
      if (entry >= 0 && detail::set_number(mapping->header, mapping->value_type_mask, mapping->entries[entry].value,
                                           Traits<V>::store(value))) {
        return;
      }
    }
    AnyffiValue owned_key, owned_value;
    detail::assign(owned_key, AnyValue(key).release());
    detail::assign(owned_value, AnyValue(value).release());
    int32_t existed;
    detail::check(anyffi_mapping_set(this->object_, &owned_key, &owned_value, &existed));
  }
  /// Removes a key; returns whether it was there.
  bool erase(const K& key) { return detail::erase_key(this->object_, key); }
  void clear() { anyffi_mapping_clear(this->object_); }
  /// A Map of the entries: a copy, or in place if an rvalue is the only reference.
  Map<K, V> freeze() const& { return detail::copied<Map<K, V>>(*this, ANYFFI_MAP); }
  Map<K, V> freeze() && { return detail::converted<Map<K, V>>(std::move(*this), ANYFFI_MAP); }
};

/// An immutable mapping. A Map is passed by reference, a Dict is copied.
template <class K, class V>
class Map : public detail::MappingView<K, V> {
 public:
  using detail::MappingView<K, V>::MappingView;
  Map() : Map(detail::Adopt{}, detail::new_mapping(ANYFFI_MAP)) {}
  Map(std::initializer_list<std::pair<K, V>> entries) : Map(Dict<K, V>(entries).freeze()) {}
  /// A Dict of the entries: a copy, or in place if an rvalue is the only reference.
  Dict<K, V> thaw() const& { return detail::copied<Dict<K, V>>(*this, ANYFFI_DICT); }
  Dict<K, V> thaw() && { return detail::converted<Dict<K, V>>(std::move(*this), ANYFFI_DICT); }
};

template <class K, class V>
struct Traits<Map<K, V>> : detail::RefTraits<Map<K, V>> {
  static constexpr bool kIsSteady = detail::kIsSteady<K> && detail::kIsSteady<V>;
  ANYFFI_HIDDEN_ static constexpr auto name =
      "Map[" + FixedText(Traits<K>::name) + ", " + FixedText(Traits<V>::name) + "]";
  static constexpr uint64_t type_mask =
      (Traits<K>::type_mask & Traits<V>::type_mask) == detail::kEveryType ? detail::type_bits(ANYFFI_MAP) : 0;
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    if (value.type_code != ANYFFI_MAP && value.type_code != ANYFFI_DICT) return detail::refuse(why, value, name);
    return detail::load_map<K, V>(value, holder, why);
  }
  static bool fits(const AnyffiValue& value) {
    return value.type_code == ANYFFI_MAP && detail::has_only_entries<K, V>(value);
  }
};

template <class K, class V>
struct Traits<Dict<K, V>> : detail::RefTraits<Dict<K, V>> {
  static constexpr bool kIsSteady = detail::kIsSteady<K> && detail::kIsSteady<V>;
  ANYFFI_HIDDEN_ static constexpr auto name =
      "Dict[" + FixedText(Traits<K>::name) + ", " + FixedText(Traits<V>::name) + "]";
  static constexpr uint64_t type_mask =
      (Traits<K>::type_mask & Traits<V>::type_mask) == detail::kEveryType ? detail::type_bits(ANYFFI_DICT) : 0;
  static bool check(const AnyffiValue& value, AnyffiMismatch& why) {
    if (value.type_code != ANYFFI_DICT) return detail::refuse(why, value, name);
    return detail::check_entries<K, V>(value, why);
  }
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    return check(value, why) && detail::hold_object(value, holder);
  }
  static constexpr bool kIsReadInPlace = kIsSteady;
  static bool fits(const AnyffiValue& value) {
    return value.type_code == ANYFFI_DICT && detail::has_only_entries<K, V>(value);
  }
};

}  // namespace anyffi

#endif  // ANYFFI_CONTAINER_MAPPING_H_
