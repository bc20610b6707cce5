/// \file
/// Map<K, V> and Dict<K, V>: typed views of the runtime's mappings, in insertion order.
#ifndef ANYFFI_CONTAINER_MAPPING_H_
#define ANYFFI_CONTAINER_MAPPING_H_

#include <anyffi/container/sequence.h>

namespace anyffi {

namespace detail {

template <class K, class V>
bool check_entries(const AnyffiMapping* mapping, AnyffiMismatch& why) {
  if ((mapping->key_kinds & ~Traits<K>::kinds) == 0 && (mapping->value_kinds & ~Traits<V>::kinds) == 0) return true;
  for (int64_t i = 0; i < mapping->used; ++i) {
    const AnyffiEntry& entry = mapping->entries[i];
    if (entry.key.type_code == ANYFFI_UNSET) continue;
    if (!check_element<K>(entry.key, why, entry.key)) return false;
    if (!check_element<V>(entry.value, why, entry.key)) return false;
  }
  return true;
}

inline AnyffiObject* new_mapping(int32_t type_code) {
  AnyffiValue created;
  check(anyffi_mapping_create(type_code, 0, &created));
  return created.as_object;
}

/// What both typed views of a mapping can do.
template <class K, class V>
class MappingView : public ObjectRef {
 public:
  using ObjectRef::ObjectRef;

  struct Item {
    K key;
    V value;
  };

  int64_t size() const noexcept { return mapping()->size; }
  bool empty() const noexcept { return size() == 0; }
  bool contains(const K& key) const { return find(key) >= 0; }
  /// The value of a key. KeyError if it is not there.
  V operator[](const K& key) const {
    int64_t entry = find(key);
    if (entry < 0) {
      AnyView self(static_cast<const ObjectRef&>(*this));
      AnyValue missing(key), unused;
      check(anyffi_value_get_item(&self.raw(), &missing.raw(), unused.out()));
    }
    return convert<V>(mapping()->entries[entry].value);
  }

  class Iterator {
   public:
    Iterator(const AnyffiMapping* mapping, int64_t entry) : mapping_(mapping), entry_(entry) { skip(); }
    Item operator*() const {
      const AnyffiEntry& entry = mapping_->entries[entry_];
      return Item{convert<K>(entry.key), convert<V>(entry.value)};
    }
    Iterator& operator++() {
      ++entry_;
      skip();
      return *this;
    }
    bool operator!=(const Iterator&) const { return entry_ < mapping_->used; }

   private:
    void skip() {
      while (entry_ < mapping_->used && mapping_->entries[entry_].key.type_code == ANYFFI_UNSET) ++entry_;
    }
    const AnyffiMapping* mapping_;
    int64_t entry_;
  };
  /// Walks the entries in insertion order: `for (const auto& [key, value] : map)`.
  Iterator begin() const { return {mapping(), 0}; }
  Iterator end() const { return {mapping(), mapping()->used}; }

 protected:
  AnyffiMapping* mapping() const noexcept { return reinterpret_cast<AnyffiMapping*>(object_); }
  int64_t find(const K& key) const {
    int64_t entry;
    if constexpr (Traits<K>::kBorrows) {
      AnyffiValue borrowed = Traits<K>::borrow(key);
      check(anyffi_mapping_find(object_, &borrowed, &entry));
    } else {
      AnyValue owned(key);
      check(anyffi_mapping_find(object_, &owned.raw(), &entry));
    }
    return entry;
  }
};

}  // namespace detail

/// A mutable mapping, shared by all who hold it: each read is checked, since others may write.
template <class K = AnyValue, class V = AnyValue>
class Dict : public detail::MappingView<K, V> {
 public:
  using detail::MappingView<K, V>::MappingView;
  Dict() : Dict(detail::Adopt{}, detail::new_mapping(ANYFFI_DICT)) {}

  /// Sets the value of a key; a key that is there keeps its place.
  void set(const K& key, const V& value) {
    AnyffiValue owned_key = AnyValue(key).release();
    AnyffiValue owned_value = AnyValue(value).release();
    int32_t existed;
    detail::check(anyffi_mapping_set(this->object_, &owned_key, &owned_value, &existed));
  }
  /// Removes a key; whether it was there.
  bool erase(const K& key) {
    int64_t entry = this->find(key);
    if (entry >= 0) detail::check(anyffi_mapping_erase(this->object_, entry));
    return entry >= 0;
  }
  void clear() { anyffi_mapping_clear(this->object_); }
};

/// An immutable mapping. Made from a Map (shared) or a Dict (a snapshot).
template <class K = AnyValue, class V = AnyValue>
class Map : public detail::MappingView<K, V> {
 public:
  using detail::MappingView<K, V>::MappingView;
  Map() : Map(detail::Adopt{}, detail::new_mapping(ANYFFI_MAP)) {}
  /// Of what the dict holds now: in place if nobody else holds it, else a copy.
  explicit Map(Dict<K, V> dict) : Map(detail::Adopt{}, nullptr) {
    AnyValue value(std::move(dict)), frozen;
    detail::check(anyffi_container_convert(value.out(), ANYFFI_MAP, frozen.out()));
    this->object_ = frozen.release().as_object;
  }
};

template <class K, class V>
struct Traits<Map<K, V>> : detail::RefTraits<Map<K, V>> {
  static constexpr auto name = "Map[" + FixedText(Traits<K>::name) + ", " + FixedText(Traits<V>::name) + "]";
  static constexpr uint64_t kinds = (Traits<K>::kinds & Traits<V>::kinds) == detail::kEveryKind
                                        ? detail::kind_bits(ANYFFI_MAP, ANYFFI_DICT)
                                        : 0;
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    if (value.type_code != ANYFFI_MAP && value.type_code != ANYFFI_DICT) return detail::refuse(why, value, name);
    if (!detail::check_entries<K, V>(reinterpret_cast<AnyffiMapping*>(value.as_object), why)) return false;
    if (value.type_code == ANYFFI_MAP) return detail::RefTraits<Map<K, V>>::hold(value, holder);
    return detail::load_as(value, holder, ANYFFI_MAP, why);
  }
};

template <class K, class V>
struct Traits<Dict<K, V>> : detail::RefTraits<Dict<K, V>> {
  static constexpr auto name = "Dict[" + FixedText(Traits<K>::name) + ", " + FixedText(Traits<V>::name) + "]";
  static constexpr uint64_t kinds =
      (Traits<K>::kinds & Traits<V>::kinds) == detail::kEveryKind ? detail::kind_bits(ANYFFI_DICT) : 0;
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    if (value.type_code != ANYFFI_DICT) return detail::refuse(why, value, name);
    if (!detail::check_entries<K, V>(reinterpret_cast<AnyffiMapping*>(value.as_object), why)) return false;
    return detail::RefTraits<Dict<K, V>>::hold(value, holder);
  }
};

}  // namespace anyffi

#endif  // ANYFFI_CONTAINER_MAPPING_H_
