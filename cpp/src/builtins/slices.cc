/// \file
/// Slices, `+` and `*` of sequences, under `anyffi.Sequence.*`; assigning and deleting slices and sorting of a List,
/// under `anyffi.List.*`. The parts of a slice are ints or None, as in Python. Each change is made completely or not at
/// all.
#include <anyffi/anyffi.h>

#include <algorithm>

#include "core/errors.h"
#include "values/containers.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::Array;
using anyffi::Error;
using anyffi::Function;
using anyffi::List;
using anyffi::Slice;
using anyffi::detail::check;
using anyffi::runtime::as_sequence;
using anyffi::runtime::is_sequence;
using anyffi::runtime::raise_format;

const AnyffiSequence* read_sequence(const AnyView& value) {
  if (!is_sequence(value.type_code())) throw Error("TypeError", "expected an Array or a List");
  return as_sequence(value.raw().as_object);
}

/// The indices that a slice selects in a sequence.
struct Stride : Slice::Indices {
  Stride(const AnyffiSequence* sequence, const AnyView& from, const AnyView& to, const AnyView& by)
      : Indices(Slice::indices(sequence->size, from, to, by)) {}
  int64_t at(int64_t i) const { return start + i * step; }
  /// The same indices, ascending.
  Stride ascending() const {
    Stride other = *this;
    if (step < 0 && count > 0) other.start = at(count - 1);
    other.step = std::abs(step);
    return other;
  }
};

AnyffiSequence* create(int32_t type_code, int64_t size, AnyValue* out) {
  check(anyffi_sequence_create(type_code, size, out->out()));
  return as_sequence(out->raw().as_object);
}

/// Appends copies of all elements to a new sequence with sufficient capacity.
void append_cells(AnyffiSequence* to, const AnyffiSequence* from) {
  for (int64_t i = 0; i < from->size; ++i) {
    anyffi_value_retain(&from->data[i]);
    to->data[to->size++] = from->data[i];
  }
  to->type_mask |= from->type_mask & ~ANYFFI_CHECKED;
}

AnyValue slice(AnyView given, AnyView start, AnyView stop, AnyView step) {
  const AnyffiSequence* from = read_sequence(given);
  Stride stride(from, start, stop, step);
  // The whole of an immutable sequence is that sequence.
  if (stride.count == from->size && stride.step == 1 && given.type_code() != ANYFFI_LIST) return given;
  AnyValue made;
  AnyffiSequence* to = create(given.type_code(), stride.count, &made);
  for (; to->size < stride.count; ++to->size) {
    const AnyffiValue& cell = from->data[stride.at(to->size)];
    anyffi_value_retain(&cell);
    to->data[to->size] = cell;
  }
  to->type_mask = from->type_mask & ~ANYFFI_CHECKED;
  return made;
}

AnyValue concat(AnyView first, AnyView second) {
  const AnyffiSequence *a = read_sequence(first), *b = read_sequence(second);
  AnyValue made;
  // The sum cannot overflow: both are in memory.
  bool has_list = first.type_code() == ANYFFI_LIST || second.type_code() == ANYFFI_LIST;
  AnyffiSequence* to = create(has_list ? ANYFFI_LIST : ANYFFI_ARRAY, a->size + b->size, &made);
  append_cells(to, a);
  append_cells(to, b);
  return made;
}

AnyValue repeat(AnyView given, int64_t times) {
  const AnyffiSequence* from = read_sequence(given);
  times = std::max<int64_t>(times, 0);
  int64_t size;
  if (__builtin_mul_overflow(from->size, times, &size)) throw std::bad_alloc();
  AnyValue made;
  AnyffiSequence* to = create(given.type_code(), size, &made);
  while (to->size < size) append_cells(to, from);
  return made;
}

/// The elements at these positions, in the order of the positions.
AnyValue pick(AnyView given, const Array<int64_t>& positions) {
  const AnyffiSequence* from = read_sequence(given);
  AnyValue made;
  AnyffiSequence* to = create(ANYFFI_ARRAY, positions.size(), &made);
  to->type_mask = from->type_mask & ~ANYFFI_CHECKED;
  for (int64_t position : positions) {
    if (position < 0 || position >= from->size) throw Error("IndexError", "position out of range");
    anyffi_value_retain(&from->data[position]);
    to->data[to->size++] = from->data[position];
  }
  return made;
}

/// Collects removed elements and releases them in its destructor, when the list is consistent again: their finalizers
/// may use the list.
class Removed {
 public:
  explicit Removed(int64_t most) : cells_(static_cast<AnyffiValue*>(anyffi_alloc(sizeof(AnyffiValue) * most))) {
    if (cells_ == nullptr) throw std::bad_alloc();
  }
  ~Removed() {
    for (int64_t i = 0; i < size_; ++i) anyffi_value_drop(&cells_[i]);
    anyffi_free(cells_);
  }
  Removed(const Removed&) = delete;
  Removed& operator=(const Removed&) = delete;
  void add(const AnyffiValue& value) { cells_[size_++] = value; }

 private:
  AnyffiValue* cells_;
  int64_t size_ = 0;
};

void set_slice(const List<>& list, const Array<>& values, AnyView start, AnyView stop, AnyView step) {
  AnyffiSequence* sequence = as_sequence(list.get());
  const AnyffiSequence* from = as_sequence(values.get());
  Stride stride(sequence, start, stop, step);
  if (stride.step == 1) {
    check(anyffi::runtime::splice_sequence(sequence, stride.start, stride.count, from->data, from->size));
    return;
  }
  if (from->size != stride.count) {
    check(raise_format("ValueError", "attempt to assign sequence of size %lld to extended slice of size %lld",
                       static_cast<long long>(from->size), static_cast<long long>(stride.count)));
  }
  if (from->size == 0) return;
  Removed removed(from->size);
  for (int64_t i = 0; i < from->size; ++i) {
    AnyffiValue& cell = sequence->data[stride.at(i)];
    removed.add(cell);
    cell = from->data[i];
    anyffi_value_retain(&cell);
  }
  anyffi_add_types(list.get(), &sequence->type_mask, from->type_mask & ~ANYFFI_CHECKED);
}

void erase_slice(const List<>& list, AnyView start, AnyView stop, AnyView step) {
  AnyffiSequence* sequence = as_sequence(list.get());
  Stride stride = Stride(sequence, start, stop, step).ascending();
  if (stride.count == 0) return;
  if (stride.step == 1 || stride.count == 1) {
    check(anyffi_sequence_erase(list.get(), stride.start, stride.count));
    return;
  }
  Removed removed(stride.count);
  AnyffiValue* to = sequence->data + stride.start;
  for (int64_t i = 0; i < stride.count; ++i) {
    const AnyffiValue* cell = sequence->data + stride.at(i);
    const AnyffiValue* next = sequence->data + (i + 1 < stride.count ? stride.at(i + 1) : sequence->size);
    removed.add(*cell);
    to = std::copy(cell + 1, next, to);
  }
  sequence->size -= stride.count;
}

/// Refills a list that was emptied; returns whether it was still empty. Allocates only if it was not.
bool refill(const List<>& list, const AnyValue& values) {
  AnyffiSequence* sequence = as_sequence(list.get());
  const AnyffiSequence* from = as_sequence(values.raw().as_object);
  bool was_empty = sequence->size == 0;
  check(anyffi::runtime::splice_sequence(sequence, 0, sequence->size, from->data, from->size));
  return was_empty;
}

/// Empties a list and refills it in the order that a function of the host returns, or in the former order if that
/// function fails. The host cannot restore the list itself: after a MemoryError or an exception in a signal handler it
/// may be unable to call the runtime again.
bool sort_by(const List<>& list, const Array<>& former, const Function& order) {
  AnyValue content(former);
  check(anyffi_sequence_erase(list.get(), 0, as_sequence(list.get())->size));
  try {
    content = pick(former, order.call<Array<int64_t>>());
  } catch (...) {
    refill(list, content);
    throw;
  }
  return refill(list, content);
}

/// Returns false, and changes nothing, where a comparison needs code of the host.
bool sort(const List<>& list, bool reverse) {
  int32_t is_sorted = 0;
  check(anyffi_sequence_sort(list.get(), reverse, &is_sorted));
  return is_sorted != 0;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.Sequence.slice")
    .def(&slice, arg("sequence"), arg("start"), arg("stop"), arg("step"))
    .doc("Return the elements that a slice selects, as the same class; an Array itself if it selects all.");
ANYFFI_REGISTER_GLOBAL("anyffi.Sequence.concat")
    .def(&concat, arg("first"), arg("second"))
    .doc("Return the elements of both: a new List if one of them is a List, else an Array.");
ANYFFI_REGISTER_GLOBAL("anyffi.Sequence.repeat")
    .def(&repeat, arg("sequence"), arg("times"))
    .doc("Return a new sequence of the same class, with the elements repeated.");
ANYFFI_REGISTER_GLOBAL("anyffi.Sequence.pick")
    .def(&pick, arg("sequence"), arg("positions"))
    .doc("Return an Array of the elements at these positions, in their order.");
ANYFFI_REGISTER_GLOBAL("anyffi.List.set_slice")
    .def(&set_slice, arg("list"), arg("values"), arg("start"), arg("stop"), arg("step"))
    .doc("Replace the elements that a slice selects by the values.");
ANYFFI_REGISTER_GLOBAL("anyffi.List.erase_slice")
    .def(&erase_slice, arg("list"), arg("start"), arg("stop"), arg("step"))
    .doc("Remove the elements that a slice selects.");
ANYFFI_REGISTER_GLOBAL("anyffi.List.sort_by")
    .def(&sort_by, arg("list"), arg("former"), arg("order"))
    .doc("Empty a list of these elements, fill it in the order that the function returns; whether it was still empty.");
ANYFFI_REGISTER_GLOBAL("anyffi.List.sort")
    .def(&sort, arg("list"), arg("reverse"))
    .doc("Sort a list of values that the runtime itself compares, and return whether it was one.");
