/// \file
/// Reads the cells of containers as values of C++ types, in place if the types allow it, and writes them.
#ifndef ANYFFI_DETAIL_CELLS_H_
#define ANYFFI_DETAIL_CELLS_H_

#include <anyffi/string.h>

#include <string_view>

namespace anyffi {
namespace detail {

/// Types with the layout of a value, or of its payload: a cell that converts to such a T already holds it. Their traits
/// have `static bool fits(const AnyffiValue&)`, the fast check.
template <class T, class = void>
inline constexpr bool kIsReadInPlace = false;
template <class T>
inline constexpr bool kIsReadInPlace<T, std::enable_if_t<Traits<T>::kIsReadInPlace>> = true;

/// What reading an element of type T returns.
template <class T>
using ElementOf = std::conditional_t<kIsReadInPlace<T>, const T&, T>;

/// Throws if an element is no T.
template <class T>
__attribute__((cold, noinline)) void check_cell(const AnyffiValue& cell) {
  convert<T>(cell);
}

/// An element as a T.
template <class T>
ElementOf<T> read_cell(const AnyffiValue& cell) {
  if constexpr (std::is_same_v<T, AnyValue>) {
    return element_value(cell);
  } else if constexpr (kIsReadInPlace<T>) {
    if (__builtin_expect(!Traits<T>::fits(cell), 0)) check_cell<T>(cell);
    if constexpr (std::is_base_of_v<ObjectRef, T>) {
      static_assert(sizeof(T) == sizeof(cell.as_object), "a reference is one word");
      return reinterpret_cast<const T&>(cell.as_object);
    } else {
      static_assert(sizeof(T) == sizeof(cell), "text is a value");
      return reinterpret_cast<const T&>(cell);
    }
  } else {
    return convert<T>(cell);
  }
}

inline const AnyffiValue& cell_at(const AnyffiSequence* cells, int64_t index) {
  if (__builtin_expect(static_cast<uint64_t>(index) >= static_cast<uint64_t>(cells->size), 0)) {
    throw Error("IndexError", "index out of range");
  }
  return cells->data[index];
}

/// What algorithms of the standard library ask of an iterator whose elements are read in order. The tag is declared by
/// `<string_view>`; `<iterator>` takes long to compile.
template <class Self, class Value, class Reference>
struct InputIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = Value;
  using reference = Reference;
  using pointer = void;
  using difference_type = std::ptrdiff_t;

  Self operator++(int) {
    auto& self = static_cast<Self&>(*this);
    Self former = self;
    ++self;
    return former;
  }
  friend bool operator==(const Self& one, const Self& other) { return !(one != other); }
};

/// The position of `end()` in a container that may grow or shrink during the iteration.
inline constexpr int64_t kEnd = INT64_MAX;

/// Whether two positions in a container differ; all that are not below `size` are its end.
inline bool differ(int64_t position, int64_t other, int64_t size) {
  // The compiler knows that `end()` is kEnd, so that a loop over a container makes one comparison.
  if (other == kEnd) return position < size;
  return (position < size ? position : size) != (other < size ? other : size);
}

/// Iterates by index, as Python does: a List may grow or shrink during the iteration.
template <class T>
class IndexIterator : public InputIterator<IndexIterator<T>, T, ElementOf<T>> {
 public:
  using InputIterator<IndexIterator, T, ElementOf<T>>::operator++;
  IndexIterator(const AnyffiSequence* cells, int64_t index) : cells_(cells), index_(index) {}
  static IndexIterator end_of(const AnyffiSequence* cells) { return {cells, kEnd}; }
  ElementOf<T> operator*() const { return read_cell<T>(cells_->data[index_]); }
  IndexIterator& operator++() {
    ++index_;
    return *this;
  }
  bool operator!=(const IndexIterator& other) const { return differ(index_, other.index_, cells_->size); }

 private:
  const AnyffiSequence* cells_;
  int64_t index_;
};

/// Iterates over cells that do not move.
template <class T>
class CellIterator : public InputIterator<CellIterator<T>, T, ElementOf<T>> {
 public:
  using InputIterator<CellIterator, T, ElementOf<T>>::operator++;
  static CellIterator end_of(const AnyffiSequence* cells) { return {cells, cells->size}; }
  CellIterator(const AnyffiSequence* cells, int64_t index) : cell_(cells->data + index) {}
  ElementOf<T> operator*() const { return read_cell<T>(*cell_); }
  CellIterator& operator++() {
    ++cell_;
    return *this;
  }
  bool operator!=(const CellIterator& other) const { return cell_ != other.cell_; }

 private:
  const AnyffiValue* cell_;
};

/// Iterates over the live entries of a mapping or set; Self reads an entry.
template <class Self, class Value, class Reference>
class EntryIterator : public InputIterator<Self, Value, Reference> {
 public:
  using InputIterator<Self, Value, Reference>::operator++;
  EntryIterator(const AnyffiMapping* mapping, int64_t entry) : mapping_(mapping), entry_(next_entry(mapping, entry)) {}
  Self& operator++() {
    entry_ = next_entry(mapping_, entry_ + 1);
    return static_cast<Self&>(*this);
  }
  bool operator!=(const Self& other) const { return differ(entry_, other.entry_, mapping_->used); }

 protected:
  const AnyffiEntry& entry() const { return mapping_->entries[entry_]; }

 private:
  const AnyffiMapping* mapping_;
  int64_t entry_;
};

/// Appends a value. The capacity must be sufficient.
inline void append_cell(AnyffiSequence* cells, const AnyffiValue& owned, uint64_t type_bit) {
  assign(cells->data[cells->size++], owned);
  anyffi_add_types(&cells->header, &cells->type_mask, type_bit);
}

/// Replaces an element that is not an object, in a container with this type mask, by a number. Returns false if that is
/// not possible.
inline bool set_number(AnyffiObject& container, uint64_t& type_mask, AnyffiValue& cell, const AnyffiValue& number) {
  if (__builtin_expect(cell.type_code == number.type_code && cell.aux == number.aux, 1)) {
    // The type mask has the type already; skipping it saves a quarter of the instructions.
    cell.as_int = number.as_int;
    if (__builtin_expect((type_mask & ANYFFI_CHECKED) != 0, 0)) anyffi_container_forget_checks(&container);
    return true;
  }
  if (cell.type_code > 0) return false;
  assign(cell, number);
  anyffi_add_types(&container, &type_mask, uint64_t{1} << -number.type_code);
  return true;
}

inline bool holds_words(const AnyffiSequence* cells, int64_t index, const AnyffiValue& value) {
  return static_cast<uint64_t>(index) < static_cast<uint64_t>(cells->size) && same_words(cells->data[index], value);
}

/// Replaces an element; steals the value. IndexError beyond the end.
inline void replace_element(AnyffiSequence* cells, int64_t index, const AnyffiValue& given) {
  AnyValue owned(Adopt{}, given);
  bool is_stored_as_is = given.type_code > ANYFFI_BOX || given.type_code == ANYFFI_STR;
  if (__builtin_expect(!is_stored_as_is || static_cast<uint64_t>(index) >= static_cast<uint64_t>(cells->size), 0)) {
    return check(anyffi_sequence_set(&cells->header, index, &given));
  }
  AnyffiValue& cell = cells->data[index];
  AnyValue former(Adopt{}, cell);
  assign(cell, owned.release());
  anyffi_add_types(&cells->header, &cells->type_mask, anyffi_type_bit(given.type_code));
}

/// The slow path of `append`: for objects, boxes, values that cannot be stored, and growth. Steals the value, which it
/// takes as two words, so that the caller can keep it in registers.
__attribute__((noinline)) inline void append_slow(AnyffiObject* sequence, uint64_t first, uint64_t second) {
  auto* cells = reinterpret_cast<AnyffiSequence*>(sequence);
  AnyffiValue value = anyffi_make_value(first, second);
  if (value.type_code > ANYFFI_BOX && cells->size < cells->capacity) {
    return append_cell(cells, value, anyffi_type_bit(value.type_code));
  }
  AnyValue owned(Adopt{}, value);
  check(anyffi_sequence_insert(sequence, cells->size, &owned.raw()));
}

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_CELLS_H_
