/// \file
/// Results that the host converts directly from C++ containers to its own, without packing them as cells.
#ifndef ANYFFI_DETAIL_ITEMS_WRITER_H_
#define ANYFFI_DETAIL_ITEMS_WRITER_H_

#include <anyffi/detail/base.h>

namespace anyffi {
namespace detail {

/// A number of a type that can be written.
template <class T>
AnyffiValue make_number(T number) {
  if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
    AnyffiValue value = anyffi_make_int(static_cast<int64_t>(number));
    if (value.as_int < 0) value.aux = ANYFFI_UNSIGNED;
    return value;
  } else {
    return Traits<T>::store(number);
  }
}

/// Collects values for `anyffi_items_write`.
class ItemsWriter {
 public:
  /// The number of values written at once. More would not be faster.
  static constexpr int64_t kCapacity = 128;

  /// `object_flags`: ANYFFI_BORROWED if objects may be borrowed from their wrappers until they are written, else 0.
  explicit ItemsWriter(uint32_t object_flags) : object_flags_(object_flags) {}
  ItemsWriter(const ItemsWriter&) = delete;
  ItemsWriter& operator=(const ItemsWriter&) = delete;
  ~ItemsWriter() {
    decline();
    if (has_objects_) release_objects();
  }

  void put(const AnyffiValue& value) {
    if (__builtin_expect(count_ == kCapacity, 0)) flush();
    assign(cells_[count_++], value);
  }
  /// The flags that objects may have.
  uint32_t object_flags() const { return object_flags_; }
  /// Adds an object. The writer releases it, unless it is marked as borrowed.
  void put_object(const AnyffiValue& value) {
    put(value);
    if (value.type_code > 0) has_objects_ |= !(cells_[count_ - 1].aux & ANYFFI_BORROWED);
  }
  /// Begins a container. Its items follow; for a mapping, keys and values in turn.
  void begin(int32_t type_code, size_t size) { put(anyffi_make_items(reinterpret_cast<void*>(size), type_code, 0)); }

  /// Adds an object that the host creates from an int, as `anyffi_value_create_host` does.
  void put_created(int32_t conversion, const AnyffiValue& from) { put(anyffi_make_created(conversion, from.as_int)); }

  /// Adds a number for each item. The loop has no call, so that the compiler keeps its state in registers.
  template <class T, class Items>
  void put_numbers(const Items& items) {
    auto item = items.begin();
    for (auto left = static_cast<int64_t>(items.size()); left > 0;) {
      if (count_ == kCapacity) flush();
      AnyffiValue* cell = cells_ + count_;
      int64_t fits = left < kCapacity - count_ ? left : kCapacity - count_;
      for (AnyffiValue* end = cell + fits; cell != end; ++item) assign(*cell++, make_number<T>(*item));
      count_ += fits;
      left -= fits;
    }
  }
  /// Gives up: the runtime makes the value.
  void decline() {
    if (status_ == 0 && state_) anyffi_items_write(&state_, nullptr, 0);
    if (status_ == 0) status_ = -1;
  }
  /// Completes the value; false if the host does not make it.
  bool finish(AnyffiValue* result) {
    flush();
    if (status_ != 1) return false;
    *result = anyffi_make_value(static_cast<uint32_t>(ANYFFI_UNSET), reinterpret_cast<uintptr_t>(state_));
    return true;
  }

 private:
  __attribute__((noinline)) void flush() {
    if (status_ == 0) status_ = anyffi_items_write(&state_, cells_, count_);
    if (has_objects_) release_objects();
    count_ = 0;
  }
  void release_objects() {
    has_objects_ = false;
    for (int64_t i = 0; i < count_; ++i) {
      if (cells_[i].type_code > 0 && !(cells_[i].aux & ANYFFI_BORROWED)) anyffi_release(cells_[i].as_object);
    }
  }

  void* state_ = nullptr;
  int status_ = 0;
  uint32_t object_flags_;
  bool has_objects_ = false;  // whether some cells own references
  int64_t count_ = 0;
  AnyffiValue cells_[kCapacity];
};

/// Writes a T.
template <class T, class U>
void write_item(ItemsWriter& writer, const U& item) {
  if constexpr (kIsNumber<T>) {
    writer.put(make_number<T>(item));
  } else {
    Traits<T>::write(writer, item);
  }
}

/// Writes a sequence or set of T.
template <class T, class Items>
void write_items(ItemsWriter& writer, int32_t type_code, const Items& items) {
  writer.begin(type_code, items.size());
  if constexpr (kIsNumber<T>) {
    writer.put_numbers<T>(items);
  } else {
    for (const auto& item : items) write_item<T>(writer, item);
  }
}

/// Writes a mapping of K to V.
template <class K, class V, class Entries>
void write_entries(ItemsWriter& writer, const Entries& entries) {
  writer.begin(ANYFFI_DICT, entries.size());
  for (const auto& entry : entries) {
    write_item<K>(writer, entry.first);
    write_item<V>(writer, entry.second);
  }
}

template <class R>
__attribute__((noinline)) bool write_whole(const R& whole, AnyffiValue* result) {
  ItemsWriter writer(result->aux & ANYFFI_BORROWED);
  Traits<R>::write(writer, whole);
  return writer.finish(result);
}

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_ITEMS_WRITER_H_
