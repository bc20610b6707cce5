/// \file
/// Array<T> and List<T>: typed references to the runtime's sequences.
#ifndef ANYFFI_CONTAINER_SEQUENCE_H_
#define ANYFFI_CONTAINER_SEQUENCE_H_

#include <anyffi/detail/cells.h>
#include <anyffi/detail/checked.h>

#include <initializer_list>

namespace anyffi {

namespace detail {

/// Fills `why` and returns false: the conversion ran code that changed the container.
inline bool refuse_changed(AnyffiMismatch& why) {
  anyffi_error_raise("RuntimeError", "a container changed while it was converted");
  return refuse(why, AnyffiValue{}, "", ANYFFI_MISMATCH_RAISED);
}

/// Converts a value to a List or Set for a parameter that accepts more than those: see AnyffiConversion. False, with
/// `why`, if it has no such conversion.
__attribute__((cold, noinline)) inline bool convert_to(const AnyffiValue& value, int32_t conversion, int32_t type_code,
                                                       const char* name, AnyValue& out, AnyffiMismatch& why) {
  // A value that already has the type, perhaps from a conversion, cannot be converted further.
  if (value.type_code > 0 && value.type_code != type_code) {
    if (anyffi_value_convert(&value, conversion, out.out()) != 0) {
      return refuse(why, value, name, ANYFFI_MISMATCH_RAISED);
    }
    if (out.type_code() == type_code) return true;
  }
  return refuse(why, value, name);
}

/// Loads the result of a conversion, which has no other owner, by `load`, whose first argument is `context`.
__attribute__((cold, noinline)) inline bool load_converted_by(const AnyffiValue& value, int32_t conversion,
                                                              int32_t type_code, const char* name, AnyffiMismatch& why,
                                                              bool (*load)(const void*, AnyffiValue&),
                                                              const void* context) {
  AnyValue converted;
  if (!convert_to(value, conversion, type_code, name, converted, why)) return false;
  AnyffiValue given = converted.release();
  given.aux = ANYFFI_MOVABLE;
  bool is_loaded = load(context, given);
  if (!is_loaded) anyffi_mismatch_detach(&why);
  if (given.type_code > 0) given.aux = 0;
  AnyValue rest(Adopt{}, given);
  return is_loaded;
}
template <class Load>
bool load_converted(const AnyffiValue& value, int32_t conversion, int32_t type_code, const char* name,
                    AnyffiMismatch& why, const Load& load) {
  return load_converted_by(
      value, conversion, type_code, name, why,
      [](const void* context, AnyffiValue& given) { return (*static_cast<const Load*>(context))(given); }, &load);
}

/// Makes the outermost step of the path refer to the key, not to its item: `[key 1]`.
inline void point_at_key(AnyffiMismatch& why) {
  constexpr char kWord[] = "key ";
  constexpr size_t kSize = sizeof(kWord) - 1;
  auto size = static_cast<size_t>(why.path_size);
  if (why.reason == ANYFFI_MISMATCH_RAISED || size == 0 || size + kSize > sizeof(why.path)) return;
  __builtin_memmove(why.path + 1 + kSize, why.path + 1, size - 1);
  __builtin_memcpy(why.path + 1, kWord, kSize);
  why.path_size += static_cast<int32_t>(kSize);
}

/// An element during its conversion. Conversions, and the repr of a key, may run code that changes the container. So an
/// element of a mutable container is retained, unless the container was created for this call and has no other
/// reference.
class Element {
 public:
  Element(const AnyffiValue& cell, const AnyffiObject& container, bool is_private = false) : value(cell) {
    if (value.type_code <= 0) return;
    value.aux = 0;
    int32_t code = container.type_code;
    if (!is_private && (code == ANYFFI_LIST || code == ANYFFI_DICT || code == ANYFFI_SET)) keep();
  }
  ~Element() {
    if (__builtin_expect(kept_ != nullptr, 0)) anyffi_object_release(kept_);
  }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;

  /// Prepends the key to the path in `why`, which borrows the refused value. Always false.
  __attribute__((cold, noinline)) bool refused(AnyffiMismatch& why, const AnyffiValue& key) {
    AnyValue got = hold(why.got), kept_key = hold(key);
    if (kept_) anyffi_object_release(std::exchange(kept_, nullptr));
    anyffi_mismatch_prepend(&why, &key);
    kept_key = AnyValue();
    bool is_gone = got.type_code() > 0 && __atomic_load_n(&got.raw().as_object->strong_count, __ATOMIC_RELAXED) == 1;
    return is_gone && why.reason != ANYFFI_MISMATCH_RAISED ? refuse_changed(why) : false;
  }

  /// The same for a key of a mapping.
  __attribute__((cold, noinline)) bool refused_as_key(AnyffiMismatch& why) {
    refused(why, value);
    point_at_key(why);
    return false;
  }

  /// A copy, never movable.
  AnyffiValue value;

 private:
  static AnyValue hold(const AnyffiValue& value) {
    if (value.type_code <= 0) return AnyValue();
    anyffi_retain(value.as_object);
    return AnyValue(Adopt{}, object_value(value.as_object));
  }
  void keep() { anyffi_retain(kept_ = value.as_object); }
  AnyffiObject* kept_ = nullptr;
};

/// Whether all elements of a sequence are certainly of type T, judging by their types alone.
template <class T>
bool has_only_elements(const AnyffiValue& sequence) {
  return has_only(reinterpret_cast<const AnyffiSequence*>(sequence.as_object)->type_mask, Traits<T>::type_mask);
}

/// Whether a cell certainly holds a T, judging by its type alone: nothing is converted, and no code runs.
template <class T>
bool fits_as_is(const AnyffiValue& cell) {
  if constexpr (kIsReadInPlace<T> && !std::is_same_v<T, AnyValue>) {
    return Traits<T>::fits(cell);
  } else {
    return false;
  }
}

/// Whether an element converts to T; if not, `why` has the path to it.
template <class T>
bool check_element(Element& element, const AnyffiValue& key, AnyffiMismatch& why) {
  typename Traits<T>::Holder holder{};
  return Traits<T>::load(element.value, holder, why) || element.refused(why, key);
}

/// The same for a key of a mapping.
template <class T>
bool check_key(Element& key, AnyffiMismatch& why) {
  typename Traits<T>::Holder holder{};
  return Traits<T>::load(key.value, holder, why) || key.refused_as_key(why);
}

enum class Fit { kRefused, kUnchanged, kConverted };

/// Loads an element as a T. If the conversion creates another value (such as an Array from a List), stores it in
/// `converted`, so that it is created only once.
template <class T>
Fit load_element(Element& element, const AnyffiValue& key, AnyValue& converted, AnyffiMismatch& why) {
  typename Traits<T>::Holder holder{};
  if (!Traits<T>::load(element.value, holder, why)) {
    element.refused(why, key);
    return Fit::kRefused;
  }
  if constexpr (std::is_base_of_v<AnyValue, typename Traits<T>::Holder>) {
    if (same_words(holder.raw(), element.value)) return Fit::kUnchanged;
    converted = AnyValue(Traits<T>::take(holder));
    if (!same_words(converted.raw(), element.value)) return Fit::kConverted;
  }
  return Fit::kUnchanged;
}

/// Stores a converted element in a copy of the container that is not shared yet.
inline void replace_cell(AnyffiValue& cell, uint64_t& type_mask, AnyValue converted) {
  type_mask |= anyffi_type_bit(converted.type_code());  // a copy has no records of checks
  AnyValue former(Adopt{}, cell);
  cell = converted.release();
}

template <class T>
bool check_elements(const AnyffiValue& given, AnyffiMismatch& why) {
  auto* sequence = reinterpret_cast<const AnyffiSequence*>(given.as_object);
  if (has_only(sequence->type_mask, Traits<T>::type_mask)) return true;
  RememberedCheck<Convertible, T> check(given, sequence->type_mask, sequence->size);
  if (check.is_done()) return true;
  for (int64_t i = 0; i < sequence->size; ++i) {
    check.visit(sequence->data[i]);
    if (fits_as_is<T>(sequence->data[i])) continue;
    Element element(sequence->data[i], sequence->header);
    if (!check_element<T>(element, Traits<int64_t>::store(i), why)) return false;
  }
  check.succeed();
  return true;
}

inline AnyffiObject* new_sequence(int32_t type_code, int64_t capacity) {
  AnyffiValue created;
  check(anyffi_sequence_create(type_code, capacity, &created));
  return created.as_object;
}

/// Stores a converted element in `copy`, which the first call makes from `given`.
inline bool convert_cell(const AnyffiValue& given, AnyValue& copy, int64_t index, AnyValue converted,
                         AnyffiMismatch& why) {
  if (copy.is_none() && anyffi_container_copy(&given, ANYFFI_ARRAY, copy.out()) != 0) {
    return refuse(why, given, "Array", ANYFFI_MISMATCH_RAISED);
  }
  auto* sequence = reinterpret_cast<AnyffiSequence*>(copy.raw().as_object);
  if (index >= sequence->size) return refuse_changed(why);
  replace_cell(sequence->data[index], sequence->type_mask, std::move(converted));
  return true;
}

/// Converts a movable container, in place, to its mutable or immutable counterpart.
inline bool convert_in_place(AnyffiValue& value, int32_t type_code) {
  if (!(value.aux & ANYFFI_MOVABLE) || !anyffi_is_reusable(value.as_object)) return false;
  value.as_object->type_code = value.type_code = type_code;
  return true;
}

/// Loads a container as its mutable or immutable counterpart: in place if it is movable, else a copy.
inline bool load_as(AnyffiValue& value, AnyValue& holder, int32_t type_code, AnyffiMismatch& why) {
  int status;
  if (value.aux & ANYFFI_MOVABLE) {
    value.aux = 0;
    status = anyffi_container_convert(&value, type_code, holder.out());
  } else {
    status = anyffi_container_copy(&value, type_code, holder.out());
  }
  return status == 0 || refuse(why, value, "Array", ANYFFI_MISMATCH_RAISED);
}

/// A container as its mutable or immutable counterpart: in place if the caller's reference, which it steals, is the
/// only one, else a copy.
template <class To>
To converted(ObjectRef&& container, int32_t type_code) {
  AnyffiValue given = object_value(container.release()), out;
  check(anyffi_container_convert(&given, type_code, &out));
  return To(Adopt{}, out.as_object);
}

/// The same, always a copy.
template <class To>
To copied(const ObjectRef& container, int32_t type_code) {
  AnyffiValue given = object_value(container.get()), out;
  check(anyffi_container_copy(&given, type_code, &out));
  return To(Adopt{}, out.as_object);
}

/// Loads an Array<T>: checks each element once, and copies the container only if an element or the type must change.
/// `value` is unchanged until all elements are checked, because `why` borrows from it.
template <class T>
bool load_array(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
  auto* sequence = reinterpret_cast<AnyffiSequence*>(value.as_object);
  if (!has_only(sequence->type_mask, Traits<T>::type_mask)) {
    RememberedCheck<Unchanged, T> check(value, sequence->type_mask, sequence->size);
    for (int64_t i = 0; !check.is_done() && i < sequence->size; ++i) {
      AnyValue converted;
      Element element(sequence->data[i], sequence->header);
      check.visit(element.value);
      Fit fit = load_element<T>(element, Traits<int64_t>::store(i), converted, why);
      if (fit == Fit::kRefused) return false;
      if (fit == Fit::kConverted && !convert_cell(value, holder, i, std::move(converted), why)) return false;
    }
    if (!holder.is_none()) return true;
    check.succeed();
  }
  if (is_array(value.type_code)) return hold_object(value, holder);
  return load_as(value, holder, ANYFFI_ARRAY, why);
}

/// The methods of Array<T> and List<T>.
template <class Iterator, class T>
class SequenceView : public ObjectRef {
 public:
  using ObjectRef::ObjectRef;
  int64_t size() const noexcept { return sequence()->size; }
  bool empty() const noexcept { return size() == 0; }
  /// The element as a T. IndexError beyond the end. A reference (`ElementOf`) is valid until the sequence changes: copy
  /// the element, as in `T item = list[i]`, before calling code that may change it, such as a callback.
  ElementOf<T> operator[](int64_t index) const& { return read_cell<T>(cell_at(sequence(), index)); }
  T operator[](int64_t index) && { return read_cell<T>(cell_at(sequence(), index)); }
  Iterator begin() const { return {sequence(), 0}; }
  Iterator end() const { return Iterator::end_of(sequence()); }

 protected:
  AnyffiSequence* sequence() const noexcept { return reinterpret_cast<AnyffiSequence*>(object_); }
  void append(T&& item) {
    AnyffiSequence* cells = sequence();
    AnyffiValue owned = Traits<T>::store(std::move(item));
    int32_t code = owned.type_code;
    // Inline codes from None to Bytes, which are consecutive.
    bool is_plain = static_cast<uint32_t>(-code) <= static_cast<uint32_t>(-ANYFFI_BYTES);
    if (__builtin_expect(is_plain && cells->size < cells->capacity, 1)) {
      return append_cell(cells, owned, uint64_t{1} << -code);
    }
    uint64_t first = static_cast<uint32_t>(code) | static_cast<uint64_t>(owned.aux) << 32;
    append_slow(object_, first, static_cast<uint64_t>(owned.as_int));
  }
};

}  // namespace detail

template <class T = AnyValue>
class List;

/// An immutable sequence of T. An Array is passed by reference, a List is copied.
template <class T = AnyValue>
class Array : public detail::SequenceView<detail::CellIterator<T>, T> {
 public:
  using detail::SequenceView<detail::CellIterator<T>, T>::SequenceView;
  Array() : Array({}) {}
  Array(std::initializer_list<T> items)
      : Array(detail::Adopt{}, detail::new_sequence(ANYFFI_ARRAY, static_cast<int64_t>(items.size()))) {
    for (T item : items) this->append(std::move(item));
  }
  /// The elements of a range, such as a std::vector.
  template <class From, class = std::enable_if_t<!std::is_arithmetic_v<From>>>
  Array(From first, From last) : Array() {
    for (; first != last; ++first) this->append(T(*first));
  }
  /// A List of the elements: a copy, or in place if an rvalue is the only reference.
  List<T> thaw() const& { return detail::copied<List<T>>(*this, ANYFFI_LIST); }
  List<T> thaw() && { return detail::converted<List<T>>(std::move(*this), ANYFFI_LIST); }
};

/// A mutable sequence of T, by reference. Each read is checked, since others may write other types.
template <class T>
class List : public detail::SequenceView<detail::IndexIterator<T>, T> {
 public:
  using detail::SequenceView<detail::IndexIterator<T>, T>::SequenceView;
  List() : List({}) {}
  List(std::initializer_list<T> items)
      : List(detail::Adopt{}, detail::new_sequence(ANYFFI_LIST, static_cast<int64_t>(items.size()))) {
    for (const T& item : items) push_back(item);
  }
  /// The elements of a range, such as a std::vector.
  template <class From, class = std::enable_if_t<!std::is_arithmetic_v<From>>>
  List(From first, From last) : List() {
    for (; first != last; ++first) push_back(T(*first));
  }

  /// Reserves capacity for `capacity` elements in total.
  void reserve(int64_t capacity) { detail::check(anyffi_sequence_reserve(this->object_, capacity)); }
  void push_back(T value) { this->append(std::move(value)); }
  /// Replaces the element at `index`. IndexError beyond the end.
  void set(int64_t index, const T& value) {
    if constexpr (detail::kIsStoredInline<T>) {
      AnyffiSequence* cells = this->sequence();
      bool is_inside = static_cast<uint64_t>(index) < static_cast<uint64_t>(cells->size);
      if (is_inside &&
          detail::set_number(cells->header, cells->type_mask, cells->data[index], Traits<T>::store(value))) {
        return;
      }
    }
    if constexpr (Traits<T>::kBorrows) {
      // Needs no refcounting if the element is this same value.
      if (detail::holds_words(this->sequence(), index, Traits<T>::borrow(value))) return;
    }
    detail::replace_element(this->sequence(), index, AnyValue(value).release());
  }
  void insert(int64_t index, const T& value) {
    AnyValue owned(value);
    detail::check(anyffi_sequence_insert(this->object_, index, &owned.raw()));
  }
  void erase(int64_t index, int64_t count = 1) { detail::check(anyffi_sequence_erase(this->object_, index, count)); }
  void pop_back() { erase(this->size() - 1); }
  void clear() { erase(0, this->size()); }
  /// An Array of the elements: a copy, or in place if an rvalue is the only reference.
  Array<T> freeze() const& { return detail::copied<Array<T>>(*this, ANYFFI_ARRAY); }
  Array<T> freeze() && { return detail::converted<Array<T>>(std::move(*this), ANYFFI_ARRAY); }
};

template <class T>
struct Traits<Array<T>> : detail::RefTraits<Array<T>> {
  static constexpr bool kIsSteady = detail::kIsSteady<T>;
  ANYFFI_HIDDEN_ static constexpr auto name = "Array[" + FixedText(Traits<T>::name) + "]";
  // Not List: it is accepted, but converted.
  static constexpr uint64_t type_mask =
      Traits<T>::type_mask == detail::kEveryType ? detail::type_bits(ANYFFI_ARRAY, ANYFFI_SHAPE) : 0;
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    bool is_array = detail::is_array(value.type_code);
    if (__builtin_expect(!is_array && value.type_code != ANYFFI_LIST, 0)) {
      return detail::load_converted(value, ANYFFI_AS_SEQUENCE, ANYFFI_LIST, name, why,
                                    [&](AnyffiValue& list) { return load(list, holder, why); });
    }
    // The fast path.
    if (detail::has_only_elements<T>(value) && (is_array || detail::convert_in_place(value, ANYFFI_ARRAY))) {
      return detail::hold_object(value, holder);
    }
    return detail::load_array<T>(value, holder, why);
  }
  static bool fits(const AnyffiValue& value) {
    return detail::is_array(value.type_code) && detail::has_only_elements<T>(value);
  }
};

template <class T>
struct Traits<List<T>> : detail::RefTraits<List<T>> {
  static constexpr bool kIsSteady = detail::kIsSteady<T>;
  ANYFFI_HIDDEN_ static constexpr auto name = "List[" + FixedText(Traits<T>::name) + "]";
  static constexpr uint64_t type_mask = Traits<T>::type_mask == detail::kEveryType ? detail::type_bits(ANYFFI_LIST) : 0;
  static bool check(const AnyffiValue& value, AnyffiMismatch& why) {
    if (value.type_code != ANYFFI_LIST) return detail::refuse(why, value, name);
    return detail::check_elements<T>(value, why);
  }
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    return check(value, why) && detail::hold_object(value, holder);
  }
  static constexpr bool kIsReadInPlace = kIsSteady;
  static bool fits(const AnyffiValue& value) {
    return value.type_code == ANYFFI_LIST && detail::has_only_elements<T>(value);
  }
};

namespace detail {
template <class T>
inline constexpr uint64_t kExactTypes<Array<T>> = kSequenceTypes;
}  // namespace detail

/// Python's `str.split`; a separator of None means white space. At most `most` splits, if it is not negative.
inline List<String> split(const String& text, const AnyView& separator = nullptr, int64_t most = -1) {
  AnyffiValue pieces;
  detail::check(anyffi_str_split(&text.value().raw(), &separator.raw(), most, &pieces));
  return List<String>(detail::Adopt{}, pieces.as_object);
}

/// Python's `str.join`; `pieces` is an Array or a List of strings.
inline String join(const String& separator, const AnyView& pieces) {
  AnyValue text;
  detail::check(anyffi_str_join(&separator.value().raw(), &pieces.raw(), text.out()));
  return String(detail::Adopt{}, text.release());
}

}  // namespace anyffi

#endif  // ANYFFI_CONTAINER_SEQUENCE_H_
