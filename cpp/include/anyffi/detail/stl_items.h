/// \file
/// Helpers of the conversions of standard containers: they load and store items, entries and elements.
#ifndef ANYFFI_DETAIL_STL_ITEMS_H_
#define ANYFFI_DETAIL_STL_ITEMS_H_

#include <anyffi/container/set.h>
#include <anyffi/data_type.h>
#include <anyffi/detail/host_items.h>
#include <anyffi/detail/items_writer.h>
#include <anyffi/pointer.h>

#include <cstddef>
#include <cstring>

namespace anyffi {
namespace detail {

/// Whether containers C are copied from and to Python's own, if their items convert: ANYFFI_TYPE_KEY makes C an object
/// class instead.
template <class C, class... Items>
inline constexpr bool kIsContainerOf = (HasTraits<Items>::value && ...) && !ForeignKey<C>::kIsKnown;

/// Number types for which bytes are a sequence.
template <class T>
inline constexpr bool kIsByte = std::is_same_v<T, unsigned char> || std::is_same_v<T, std::byte>;

/// Whether a T is its own Holder, whose `take` only moves it: an element can then be loaded in its final place. Not
/// bool, because a std::vector<bool> contains no bool objects.
template <class T, class = void>
inline constexpr bool kLoadsInPlace = std::is_arithmetic_v<T> && kIsNumber<T> && !std::is_same_v<T, bool>;
template <class T>
inline constexpr bool kLoadsInPlace<T, std::enable_if_t<Traits<T>::kIsLoadedInPlace>> = true;

/// Containers with `emplace_back`, which returns the new element.
template <class C, class = void>
inline constexpr bool kGrowsByItems = false;
template <class C>
inline constexpr bool kGrowsByItems<C, std::void_t<decltype(std::declval<C&>().emplace_back())>> = true;

/// Containers to which a range of T can be assigned.
template <class T, class C, class = void>
inline constexpr bool kIsAssigned = false;
template <class T, class C>
inline constexpr bool kIsAssigned<
    T, C, std::void_t<decltype(std::declval<C&>().assign(std::declval<const T*>(), std::declval<const T*>()))>> = true;

/// Loads the numbers of an Array or a List directly into their final places.
template <class T, class C>
__attribute__((noinline)) bool load_numbers(const AnyffiValue& value, C& filled, AnyffiMismatch& why) {
  // Converting a number runs no code that could change the container.
  static_assert(kLoadsQuietly<T>);
  auto& sequence = *reinterpret_cast<const AnyffiSequence*>(value.as_object);
  bool is_private = (value.aux & (ANYFFI_MOVABLE | ANYFFI_TEMPORARY)) != 0;
  auto size = static_cast<size_t>(sequence.size);
  make_sized(filled, size);
  for (size_t index = 0; index < size; ++index) {
    T& number = filled[index];
    if (__builtin_expect(Traits<T>::load_plain(sequence.data[index], number), 1)) continue;
    Element element(sequence.data[index], sequence.header, is_private);
    if (!Traits<T>::load(element.value, number, why)) {
      return element.refused(why, Traits<int64_t>::store(static_cast<int64_t>(index)));
    }
  }
  return true;
}

/// The tensor in a value, if it has one dimension, elements of that type, and memory on the CPU; else NULL.
__attribute__((cold, noinline)) inline const AnyffiTensorData* find_numbers(const AnyffiValue& value,
                                                                            const DataType& dtype) {
  uint64_t flags;
  const AnyffiTensorData* tensor = tensor_in(value, flags);
  bool fits = tensor && tensor->ndim == 1 && tensor->device.type == ANYFFI_kDLCPU && dtype == tensor->dtype;
  return fits ? tensor : nullptr;
}

/// Copies the elements of a tensor with one dimension, which may be unaligned. One function for all types of a size.
template <size_t kSize>
__attribute__((noinline)) void copy_numbers(const AnyffiTensorData& tensor, void* to) {
  int64_t count = tensor.shape[0], step = tensor.strides[0] * int64_t{kSize};
  auto* element = static_cast<const char*>(tensor.data) + tensor.byte_offset;
  auto* copy = static_cast<char*>(to);
  if (step == kSize) {
    if (count > 0) std::memcpy(copy, element, static_cast<size_t>(count) * kSize);
    return;
  }
  for (int64_t i = 0; i < count; ++i, copy += kSize, element += step) std::memcpy(copy, element, kSize);
}

constexpr const char* kMadeAnew =
    "it makes its items anew, so that nothing keeps them alive for pointers of C++: pass list() of it";
/// Whether a List that was made for a conversion holds the only reference to an object, at any depth.
__attribute__((cold, noinline)) ANYFFI_HIDDEN_ inline bool has_unshared_objects(const AnyffiValue& value) {
  if (value.type_code <= 0 || __atomic_load_n(&value.as_object->strong_count, __ATOMIC_ACQUIRE) != 1) return false;
  if (!is_array(value.type_code) && value.type_code != ANYFFI_LIST) return value.type_code >= ANYFFI_FIRST_DYNAMIC_TYPE;
  auto* items = reinterpret_cast<const AnyffiSequence*>(value.as_object);
  for (int64_t i = 0; i < items->size; ++i) {
    if (has_unshared_objects(items->data[i])) return true;
  }
  return false;
}

/// Calls `load` with each element of an Array, a List, or a value that converts to one; for a one-byte T also of Bytes.
/// `filled`: the container being filled.
template <class T, class C, class Load>
bool load_each(const AnyffiValue& value, C& filled, const char* name, AnyffiMismatch& why, const Load& load) {
  static_assert(!kIsView<T>, "anyffi: a container must own its elements: use std::string or TypedTensor, not a view");
  if (__builtin_expect(!is_array(value.type_code) && value.type_code != ANYFFI_LIST, 0)) {
    if constexpr (kIsContiguous<T, C> && kHasDataType<T>) {
      if (const AnyffiTensorData* tensor = find_numbers(value, DataTypeOf<T>::value)) {
        make_sized(filled, static_cast<size_t>(tensor->shape[0]));
        copy_numbers<sizeof(T)>(*tensor, filled.data());
        return true;
      }
    }
    if constexpr (kIsByte<T>) {
      if (anyffi_is_bytes(value.type_code)) {
        AnyffiTextView bytes;
        anyffi_view_text(&value, &bytes);
        auto* data = static_cast<const unsigned char*>(bytes.data);
        if constexpr (kIsAssigned<T, C>) {
          auto* first = reinterpret_cast<const T*>(data);
          filled.assign(first, first + bytes.length);
          return true;
        }
        Reserve<C>::in(filled, bytes.length);
        for (int64_t i = 0; i < bytes.length; ++i) {
          AnyffiValue item = anyffi_make_int(data[i]);
          if (!load(item)) return false;
        }
        return true;
      }
    }
    return load_converted(value, ANYFFI_AS_SEQUENCE, ANYFFI_LIST, name, why, [&](AnyffiValue& list) {
      if constexpr (kIsContiguous<T, C>) return load_numbers<T>(list, filled, why);
      if (!load_each<T>(list, filled, name, why, load)) return false;
      if constexpr (kHoldsPointer<T>) {
        if (has_unshared_objects(list)) return refuse(why, value, name, ANYFFI_MISMATCH_VALUE, kMadeAnew);
      }
      return true;
    });
  }
  if constexpr (kIsContiguous<T, C>) return load_numbers<T>(value, filled, why);
  auto* sequence = reinterpret_cast<const AnyffiSequence*>(value.as_object);
  bool is_private = (value.aux & (ANYFFI_MOVABLE | ANYFFI_TEMPORARY)) != 0;
  Reserve<C>::in(filled, sequence->size);
  for (int64_t i = 0; i < sequence->size; ++i) {
    Element element(sequence->data[i], sequence->header, is_private);
    if (!load(element.value)) return element.refused(why, Traits<int64_t>::store(i));
  }
  return true;
}

/// Calls `visit` with each element, converted to T. `filled`: the container being filled.
template <class T, class C, class Visit>
bool load_items(const AnyffiValue& value, C& filled, const char* name, AnyffiMismatch& why, Visit visit) {
  if constexpr (kLoadsQuietly<T> && kIsContiguous<T, C>) {
    if (is_items_of(value, ANYFFI_ARRAY, ANYFFI_LIST)) return load_host_numbers<T>(value, filled, name, why);
  }
  auto load = [&](AnyffiValue& item) {
    if constexpr (kLoadsInPlace<T> && kGrowsByItems<C>) {
      return load_item<T>(item, filled.emplace_back(), why);
    } else {
      typename Traits<T>::Holder holder{};
      if (!load_item<T>(item, holder, why)) return false;
      visit(Traits<T>::take(holder));
      return true;
    }
  };
  if constexpr ((kLoadsQuietly<T> && !kIsContiguous<T, C>) || kLoadsObjects<T>) {
    if (is_items_of(value, ANYFFI_ARRAY, ANYFFI_LIST)) {
      if constexpr (!kLoadsObjects<T>) return load_host_items(value, filled, name, why, load);
      if constexpr (kCopiesItem<T>) {
        if (!holds_objects<T>(value)) return refuse_items(why, name);
      }
      auto load_lent = [&](AnyffiValue& item) { return is_lendable(item) && load(item); };
      return load_host_items<true>(value, filled, name, why, load_lent);
    }
  }
  return load_each<T>(value, filled, name, why, load);
}

/// Makes a copied value hashable, as a key or an element of a set must be: Lists become Arrays, and Sets become
/// FrozenSets.
__attribute__((noinline)) inline void freeze_key(AnyffiValue& key) {
  if (key.type_code <= 0 || (key.aux & (ANYFFI_NATIVE | ANYFFI_DEEP)) != ANYFFI_NATIVE) return;
  int32_t frozen = key.type_code == ANYFFI_LIST  ? int32_t{ANYFFI_ARRAY}
                   : key.type_code == ANYFFI_SET ? int32_t{ANYFFI_FROZEN_SET}
                                                 : key.type_code;
  if (frozen != ANYFFI_ARRAY && frozen != ANYFFI_FROZEN_SET) return;
  if (anyffi_is_reusable(key.as_object)) {
    key.as_object->type_code = key.type_code = frozen;
  } else {
    // Copied, because an Optional or Variant also refers to it.
    AnyffiValue copy;
    check(anyffi_container_copy(&key, frozen, &copy));
    anyffi_value_drop(&key);
    key = with_flags(copy, ANYFFI_NATIVE);
  }
  if (frozen != ANYFFI_ARRAY) return;
  auto* sequence = reinterpret_cast<AnyffiSequence*>(key.as_object);
  for (int64_t i = 0; i < sequence->size; ++i) {
    freeze_key(sequence->data[i]);
    sequence->type_mask |= anyffi_type_bit(sequence->data[i].type_code);
  }
}

/// A key as an owned value. Numbers are always hashable.
template <class K>
AnyffiValue store_key(const K& key) {
  if constexpr (kIsNumber<K>) {
    return Traits<K>::store(key);
  } else {
    struct Guard {
      AnyffiValue value;
      ~Guard() { anyffi_value_drop(&value); }
    } stored{Traits<K>::store(key)};
    freeze_key(stored.value);
    AnyffiValue frozen = stored.value;
    stored.value = AnyffiValue{};
    return frozen;
  }
}

/// Fills a new mapping or set from C++, where keys are distinct.
template <class Entries, class Store>
AnyffiValue store_mapping(int32_t type_code, Entries& entries, const char* refusal, Store store) {
  AnyffiValue created;
  check(anyffi_mapping_create(type_code, static_cast<int64_t>(entries.size()), &created));
  ObjectRef kept(Adopt{}, created.as_object);
  auto* mapping = reinterpret_cast<AnyffiMapping*>(created.as_object);
  for (auto& entry : entries) store(*mapping, entry);
  int64_t first, second;
  check(anyffi_mapping_finish(created.as_object, &first, &second));
  if (first >= 0) throw Error("ValueError", refusal);
  return with_flags(object_value(kept.release()), ANYFFI_NATIVE);
}

/// A new List of the items of a C++ container.
template <class T, class Items>
AnyffiValue store_items(Items&& items) {
  ObjectRef list(Adopt{}, new_sequence(ANYFFI_LIST, static_cast<int64_t>(items.size())));
  auto* sequence = reinterpret_cast<AnyffiSequence*>(list.get());
  if constexpr (kIsStoredInline<T>) {
    // Nothing throws here, so that the compiler keeps the position in a register.
    AnyffiValue* cell = sequence->data;
    for (const auto& item : items) assign(*cell++, Traits<T>::store(item));
    sequence->size = cell - sequence->data;
    if (sequence->size > 0) sequence->type_mask = anyffi_type_bit(sequence->data->type_code);
    return with_flags(object_value(list.release()), ANYFFI_NATIVE);
  }
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
  return with_flags(object_value(list.release()), ANYFFI_NATIVE);
}

/// The outcome of loading an entry.
enum class Loaded { kNew, kRepeated, kKeyRefused, kItemRefused };

/// Converts an entry, and calls `visit` with it.
template <class K, class V, class Visit>
__attribute__((always_inline)) inline Loaded load_entry(AnyffiValue& key, AnyffiValue& item, AnyffiMismatch& why,
                                                        const Visit& visit) {
  typename Traits<K>::Holder key_holder{};
  if (!load_item<K>(key, key_holder, why)) return Loaded::kKeyRefused;
  typename Traits<V>::Holder item_holder{};
  if (!load_item<V>(item, item_holder, why)) return Loaded::kItemRefused;
  bool is_new = visit(Traits<K>::take(key_holder), Traits<V>::take(item_holder));
  return is_new ? Loaded::kNew : Loaded::kRepeated;
}
/// The same, not inlined: shared by containers of the host and of the runtime.
template <class K, class V, class Visit>
__attribute__((noinline)) Loaded load_entry_shared(AnyffiValue& key, AnyffiValue& item, AnyffiMismatch& why,
                                                   const Visit& visit) {
  return load_entry<K, V>(key, item, why, visit);
}
/// Inlined for numbers, where a call would take a noticeable part of the time.
template <class K, class V, class Visit>
__attribute__((always_inline)) inline Loaded load_any_entry(AnyffiValue& key, AnyffiValue& item, AnyffiMismatch& why,
                                                            const Visit& visit) {
  if constexpr (kIsNumber<K> && kIsNumber<V>) return load_entry<K, V>(key, item, why, visit);
  return load_entry_shared<K, V>(key, item, why, visit);
}

/// Calls `visit` with each entry, converted to K and V; it returns whether the key is new. Distinct keys may become
/// equal in C++, as 2**53 and 2**53 + 1 do as double: that raises an error.
template <class K, class V, class C, class Visit>
bool load_entries(const AnyffiValue& value, C& filled, const char* name, AnyffiMismatch& why, Visit visit) {
  static_assert(!kIsView<K> && !kIsView<V>,
                "anyffi: a container must own its elements: use std::string or TypedTensor, not a view");
  if constexpr (kLoadsQuietly<K> && kLoadsQuietly<V>) {
    if (is_items_of(value, ANYFFI_MAP, ANYFFI_DICT)) {
      return load_host_entries(value, filled, name, why, [&](AnyffiValue& key, AnyffiValue& item) {
        return load_any_entry<K, V>(key, item, why, visit) == Loaded::kNew;
      });
    }
  }
  if (value.type_code != ANYFFI_MAP && value.type_code != ANYFFI_DICT) return refuse(why, value, name);
  auto* mapping = reinterpret_cast<const AnyffiMapping*>(value.as_object);
  bool is_private = (value.aux & ANYFFI_MOVABLE) != 0;
  // Reserved exactly, because the order of a hash table depends on it.
  Reserve<C>::in(filled, mapping->size);
  for (int64_t i = 0; i < mapping->used; ++i) {
    const AnyffiEntry& entry = mapping->entries[i];
    if (entry.key.type_code == ANYFFI_UNSET) continue;
    Element key(entry.key, mapping->header, is_private), item(entry.value, mapping->header, is_private);
    Loaded loaded = load_any_entry<K, V>(key.value, item.value, why, visit);
    if (loaded == Loaded::kNew) continue;
    if (loaded == Loaded::kKeyRefused) return key.refused_as_key(why);
    if (loaded == Loaded::kItemRefused) return item.refused(why, key.value);
    return refuse(why, key.value, name, ANYFFI_MISMATCH_VALUE, "two keys are equal in C++");
  }
  return true;
}

/// A new Dict of the entries of a C++ container, of which values are moved, unless it is a reference.
template <class K, class V, class Entries>
AnyffiValue store_entries(Entries&& entries) {
  auto store = [](AnyffiMapping& dict, auto& entry) {
    AnyffiEntry& stored = dict.entries[dict.used];
    assign(stored.key, store_key<K>(entry.first));
    assign(stored.value, AnyffiValue{});
    dict.key_type_mask |= anyffi_type_bit(stored.key.type_code);
    // Counted already, so that the Dict releases the key if converting the value throws.
    ++dict.used;
    if constexpr (std::is_rvalue_reference_v<Entries&&>) {
      assign(stored.value, Traits<V>::store(std::move(entry.second)));
    } else {
      assign(stored.value, Traits<V>::store(entry.second));
    }
    dict.value_type_mask |= anyffi_type_bit(stored.value.type_code);
  };
  return store_mapping(ANYFFI_DICT, entries, "two keys of a C++ map are equal in Python", store);
}

/// Calls `visit` with each element of a set, converted to T; it returns whether the element is new.
template <class T, class C, class Visit>
bool load_elements(const AnyffiValue& value, C& filled, const char* name, AnyffiMismatch& why, Visit visit) {
  static_assert(!kIsView<T>, "anyffi: a container must own its elements: use std::string or TypedTensor, not a view");
  if constexpr (kLoadsQuietly<T>) {
    if (is_items_of(value, ANYFFI_FROZEN_SET, ANYFFI_SET)) {
      return load_host_items(value, filled, name, why, [&](AnyffiValue& item) {
        typename Traits<T>::Holder holder{};
        return Traits<T>::load(item, holder, why) && visit(Traits<T>::take(holder));
      });
    }
  }
  if (__builtin_expect(value.type_code != ANYFFI_SET && value.type_code != ANYFFI_FROZEN_SET, 0)) {
    return load_converted(value, ANYFFI_AS_SET, ANYFFI_SET, name, why, [&](AnyffiValue& converted) {
      return load_elements<T>(converted, filled, name, why, visit);
    });
  }
  auto* set = reinterpret_cast<const AnyffiMapping*>(value.as_object);
  bool is_private = (value.aux & ANYFFI_MOVABLE) != 0;
  Reserve<C>::in(filled, set->size);
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
  auto store = [](AnyffiMapping& set, const T& element) {
    AnyffiEntry& stored = set.entries[set.used];
    assign(stored.key, store_key<T>(element));
    assign(stored.value, AnyffiValue{});
    set.key_type_mask |= anyffi_type_bit(stored.key.type_code);
    ++set.used;
  };
  return store_mapping(ANYFFI_SET, elements, "two elements of a C++ set are equal in Python", store);
}

/// Traits of std::vector, std::deque and std::list.
template <class S, class T>
struct StdSequenceTraits {
  ANYFFI_HIDDEN_ static constexpr auto name = "Sequence[" + FixedText(Traits<T>::name) + "]";
  ANYFFI_HIDDEN_ static constexpr auto result_name = "list[" + kResultName<T> + "]";
  ANYFFI_HIDDEN_ static constexpr auto key_name = "tuple[" + kKeyName<T> + ", ...]";
  static constexpr uint64_t type_mask = 0;
  static constexpr uint32_t result_flags = ANYFFI_NATIVE;
  static constexpr bool kBorrows = false;
  static constexpr bool kIsLoadedInPlace = true;
  static constexpr bool kOutlivesHolder = true;
  static constexpr bool kReadsItems = kLoadsQuietly<T>;
  static constexpr bool kReadsObjects = kLoadsObjects<T>;
  static constexpr bool kCopiesObjects = kCopiesItem<T>;
  static constexpr bool kIsWritten = true;
  static constexpr bool kWritesItems = detail::kWritesItems<T>;
  using Holder = S;
  using Item = T;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    return load_items<T>(value, holder, name, why, [&](T&& item) { holder.push_back(std::move(item)); });
  }
  static S take(Holder& holder) { return std::move(holder); }
  static AnyffiValue store(const S& items) { return store_items<T>(items); }
  static AnyffiValue store(S&& items) { return store_items<T>(std::move(items)); }
  static void write(ItemsWriter& writer, const S& items) { write_items<T>(writer, ANYFFI_LIST, items); }
};

/// Traits of std::map and std::unordered_map.
template <class M, class K, class V>
struct StdMapTraits {
  ANYFFI_HIDDEN_ static constexpr auto name =
      "Mapping[" + FixedText(Traits<K>::name) + ", " + FixedText(Traits<V>::name) + "]";
  ANYFFI_HIDDEN_ static constexpr auto result_name = "dict[" + kKeyName<K> + ", " + kResultName<V> + "]";
  static constexpr uint64_t type_mask = 0;
  static constexpr uint32_t result_flags = ANYFFI_NATIVE;
  static constexpr bool kBorrows = false;
  static constexpr bool kIsLoadedInPlace = true;
  static constexpr bool kOutlivesHolder = true;
  static constexpr bool kReadsItems = kLoadsQuietly<K> && kLoadsQuietly<V>;
  static constexpr bool kIsWritten = true;
  static constexpr bool kWritesItems = detail::kWritesItems<K> && detail::kWritesItems<V>;
  using Holder = M;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    return load_entries<K, V>(value, holder, name, why, [&](K&& key, V&& item) {
      // The keys are often in order; and `emplace` of std::map would search twice, in twice the code.
      size_t size = holder.size();
      holder.emplace_hint(holder.end(), std::move(key), std::move(item));
      return holder.size() != size;
    });
  }
  static M take(Holder& holder) { return std::move(holder); }
  static AnyffiValue store(const M& entries) { return store_entries<K, V>(entries); }
  static AnyffiValue store(M&& entries) { return store_entries<K, V>(std::move(entries)); }
  static void write(ItemsWriter& writer, const M& entries) { write_entries<K, V>(writer, entries); }
};

/// Traits of std::set and std::unordered_set.
template <class S, class T>
struct StdSetTraits {
  ANYFFI_HIDDEN_ static constexpr auto name = "AbstractSet[" + FixedText(Traits<T>::name) + "]";
  ANYFFI_HIDDEN_ static constexpr auto result_name = "set[" + kKeyName<T> + "]";
  ANYFFI_HIDDEN_ static constexpr auto key_name = "frozenset[" + kKeyName<T> + "]";
  static constexpr uint64_t type_mask = 0;
  static constexpr uint32_t result_flags = ANYFFI_NATIVE;
  static constexpr bool kBorrows = false;
  static constexpr bool kIsLoadedInPlace = true;
  static constexpr bool kOutlivesHolder = true;
  static constexpr bool kReadsItems = kLoadsQuietly<T>;
  static constexpr bool kIsWritten = true;
  static constexpr bool kWritesItems = detail::kWritesItems<T>;
  using Holder = S;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    return load_elements<T>(value, holder, name, why,
                            [&](T&& element) { return holder.insert(std::move(element)).second; });
  }
  static S take(Holder& holder) { return std::move(holder); }
  static AnyffiValue store(const S& elements) { return store_elements<T>(elements); }
  static void write(ItemsWriter& writer, const S& elements) { write_items<T>(writer, ANYFFI_SET, elements); }
};

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_STL_ITEMS_H_
