/// \file
/// Reads containers of the host during a conversion: a few items at a time, without packing them as cells.
#ifndef ANYFFI_DETAIL_HOST_ITEMS_H_
#define ANYFFI_DETAIL_HOST_ITEMS_H_

#include <anyffi/detail/pointed.h>

namespace anyffi {
namespace detail {

/// The number of cells read at once. More would not be faster.
constexpr int64_t kItemsAtOnce = 64;

/// Releases the objects among cells that the reader owns.
__attribute__((cold, noinline)) inline void release_cells(AnyffiItems& items, AnyffiValue* cells, int64_t count) {
  items.flags &= ~ANYFFI_ITEMS_OWNED;
  for (int64_t i = 0; i < count; ++i) {
    if (cells[i].type_code > 0 && (cells[i].aux & ANYFFI_MOVABLE)) anyffi_release(cells[i].as_object);
  }
}

/// Reads a value of `anyffi_make_items`. `kStep` cells are one item; items may be objects if `kTakesObjects`.
template <int64_t kCapacity = kItemsAtOnce, int64_t kStep = 1, bool kTakesObjects = false>
class HostItems {
 public:
  explicit HostItems(const AnyffiValue& value) : items_(anyffi_open_items(&value)) {
    if (kTakesObjects) items_.flags |= ANYFFI_ITEMS_OBJECTS;
  }
  /// Reads an object by an AnyffiConversion, as a time or a duration.
  HostItems(const AnyffiValue& value, int32_t conversion) : HostItems(value) { items_.position = conversion; }
  HostItems(const HostItems&) = delete;
  HostItems& operator=(const HostItems&) = delete;
  ~HostItems() { release(); }

  /// Reads the next cells, which are valid until the next call; false at the end.
  bool read() {
    release();
    // Saves the call that would report the end.
    if (num_read_ > 0 && num_read_ == items_.size * kStep) return (count_ = 0) != 0;
    count_ = anyffi_items_read(&items_, cells_, kCapacity);
    num_read_ += count_;
    return count_ > 0;
  }
  /// Whether the end was reached, rather than an item that the host must pack.
  bool is_complete() const { return count_ == 0; }
  /// Whether the last `read` got all items of a container that has `size` items.
  bool is_whole(int64_t size) const { return count_ == size && items_.size == size; }
  /// The number of items of the whole container, after the first `read`.
  int64_t size() const { return items_.size; }
  AnyffiValue* begin() { return cells_; }
  AnyffiValue* end() { return cells_ + (count_ > 0 ? count_ : 0); }

 private:
  void release() {
    if (__builtin_expect((items_.flags & ANYFFI_ITEMS_OWNED) != 0, 0)) release_cells(items_, cells_, count_);
  }

  AnyffiItems items_;
  int64_t count_ = 0;
  int64_t num_read_ = 0;
  AnyffiValue cells_[kCapacity > 0 ? kCapacity : 1];
};

/// Whether a value is a container of the host that would be packed as one of two types.
inline bool is_items_of(const AnyffiValue& value, int32_t first, int32_t second) {
  if (__builtin_expect(!anyffi_is_items(&value), 1)) return false;
  int32_t type_code = anyffi_open_items(&value).type_code;
  return type_code == first || type_code == second;
}

/// Refuses without details: the host then packs the container, and converting that gives the reason.
inline bool refuse_items(AnyffiMismatch& why, const char* name) { return refuse(why, AnyffiValue{}, name); }

/// Loads an item; a number of the exact type needs no call.
template <class T>
bool load_item(AnyffiValue& item, typename Traits<T>::Holder& holder, AnyffiMismatch& why) {
  if constexpr (kIsNumber<T>) {
    if (__builtin_expect(Traits<T>::load_plain(item, holder), 1)) return true;
  }
  return Traits<T>::load(item, holder, why);
}

/// The same for an item read from a container of the host.
template <class T>
bool load_read_item(AnyffiValue& item, typename Traits<T>::Holder& holder, AnyffiMismatch& why) {
  if constexpr (kLoadsObjects<T>) {
    if (__builtin_expect(!is_lendable(item), 0)) return false;
  }
  return load_item<T>(item, holder, why);
}

/// Whether taking an item may run code of users, namely a copy constructor.
template <class T>
inline constexpr bool kCopiesItem = kLoadsObjects<T> && kIsObjectClass<T> && !std::is_trivially_copyable_v<T>;

/// Whether all items of a container of the host are objects from which a T can be copied. Checked before the first
/// copy, so that none is copied twice.
template <class T>
bool holds_objects(const AnyffiValue& value) {
  HostItems<kItemsAtOnce, 1, true> items(value);
  while (items.read()) {
    for (const AnyffiValue& item : items) {
      if (!is_lendable(item) || !is_instance<T>(item)) return false;
    }
  }
  return items.is_complete();
}

/// Reserves memory in containers that can.
template <class C, class = void>
struct Reserve {
  static void in(C&, int64_t) {}
};
template <class C>
struct Reserve<C, std::void_t<decltype(std::declval<C&>().reserve(1))>> {
  static void in(C& container, int64_t size) { container.reserve(static_cast<size_t>(size)); }
};

/// Calls `load` for each item of a container, while filling `filled`.
template <bool kTakesObjects = false, class C, class Load>
bool load_host_items(const AnyffiValue& value, C& filled, const char* name, AnyffiMismatch& why, Load load) {
  HostItems<kItemsAtOnce, 1, kTakesObjects> items(value);
  if (items.read()) {
    Reserve<C>::in(filled, items.size());
    do {
      for (AnyffiValue& item : items) {
        if (__builtin_expect(!load(item), 0)) return refuse_items(why, name);
      }
    } while (items.read());
  }
  return items.is_complete() || refuse_items(why, name);
}

/// Whether a C stores its numbers contiguously, has a variable size, and can be made with one, as std::vector.
template <class T, class C, class = void>
inline constexpr bool kIsContiguous = false;
template <class T, class C>
inline constexpr bool kIsContiguous<
    T, C,
    std::enable_if_t<
        std::is_same_v<decltype(std::declval<C&>().resize(1), C(size_t{1}), std::declval<C&>().data()), T*>>> =
    std::is_arithmetic_v<T> && kIsNumber<T>;

/// Replaces an empty container. Not inlined, and not `resize`, which needs much more code.
template <class C>
__attribute__((noinline)) void make_sized(C& filled, size_t size) {
  filled = C(size);
}

/// Loads numbers directly into their final places. Refuses a container whose size changes meanwhile.
template <class T, class C>
bool load_host_numbers(const AnyffiValue& value, C& filled, const char* name, AnyffiMismatch& why) {
  HostItems<> items(value);
  if (!items.read()) return items.is_complete() || refuse_items(why, name);
  make_sized(filled, static_cast<size_t>(items.size()));
  T* next = filled.data();
  T* const end = next + items.size();
  do {
    if (__builtin_expect(items.end() - items.begin() > end - next, 0)) return refuse_items(why, name);
    for (AnyffiValue& item : items) {
      if (__builtin_expect(!load_item<T>(item, *next, why), 0)) return refuse_items(why, name);
      ++next;
    }
  } while (items.read());
  return (items.is_complete() && next == end) || refuse_items(why, name);
}

/// The same for each key and value of a mapping.
template <class C, class Load>
bool load_host_entries(const AnyffiValue& value, C& filled, const char* name, AnyffiMismatch& why, Load load) {
  HostItems<kItemsAtOnce, 2> items(value);
  if (items.read()) {
    Reserve<C>::in(filled, items.size());
    do {
      for (AnyffiValue* key = items.begin(); key != items.end(); key += 2) {
        if (__builtin_expect(!load(key[0], key[1]), 0)) return refuse_items(why, name);
      }
    } while (items.read());
  }
  return items.is_complete() || refuse_items(why, name);
}

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_HOST_ITEMS_H_
