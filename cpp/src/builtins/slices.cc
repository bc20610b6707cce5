/// \file
/// What Python's slices, `+` and `*` make of a sequence, under `anyffi.Sequence.*`, and what slices and sorting do to
/// a List, under `anyffi.List.*`. The three parts of a slice, ints or None, mean what they mean in Python. Each change
/// is made altogether or not at all.
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
using anyffi::List;
using anyffi::detail::check;
using anyffi::runtime::as_sequence;
using anyffi::runtime::is_sequence;
using anyffi::runtime::raise_format;

const AnyffiSequence* read_sequence(const AnyView& value) {
  if (!is_sequence(value.type_code())) throw Error("TypeError", "expected an Array or a List");
  return as_sequence(value.raw().as_object);
}

/// The positions that a slice means in a sequence.
struct Stride {
  int64_t start, step, count;

  Stride(const AnyffiSequence* sequence, AnyView from, AnyView to, AnyView by) {
    int64_t size = sequence->size;
    step = by.is_none() ? 1 : std::max(by.cast<int64_t>(), -INT64_MAX);
    if (step == 0) throw Error("ValueError", "slice step cannot be zero");
    // Where a walk in this direction begins at the earliest, and ends at the latest.
    int64_t least = step < 0 ? -1 : 0, most = step < 0 ? size - 1 : size;
    auto position = [&](AnyView given, int64_t otherwise) {
      if (given.is_none()) return otherwise;
      int64_t index = given.cast<int64_t>();
      return std::clamp(index < 0 ? index + size : index, least, most);
    };
    start = position(from, step < 0 ? most : least);
    int64_t stop = position(to, step < 0 ? least : most);
    int64_t distance = step < 0 ? start - stop : stop - start;
    count = distance > 0 ? (distance - 1) / std::abs(step) + 1 : 0;
  }
  int64_t at(int64_t i) const { return start + i * step; }
  /// The same positions, ascending.
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

/// Copies cells to the end of a sequence that has the room, and that nobody else has seen yet.
void append_cells(AnyffiSequence* to, const AnyffiSequence* from) {
  for (int64_t i = 0; i < from->size; ++i) {
    anyffi_value_retain(&from->data[i]);
    to->data[to->size++] = from->data[i];
  }
  to->type_mask |= from->type_mask;
}

AnyValue slice(AnyView given, AnyView start, AnyView stop, AnyView step) {
  const AnyffiSequence* from = read_sequence(given);
  Stride stride(from, start, stop, step);
  // All of what does not change is that itself.
  if (stride.count == from->size && stride.step == 1 && given.type_code() != ANYFFI_LIST) return given;
  AnyValue made;
  AnyffiSequence* to = create(given.type_code(), stride.count, &made);
  for (; to->size < stride.count; ++to->size) {
    const AnyffiValue& cell = from->data[stride.at(to->size)];
    anyffi_value_retain(&cell);
    to->data[to->size] = cell;
  }
  to->type_mask = from->type_mask;
  return made;
}

AnyValue concat(AnyView first, AnyView second) {
  const AnyffiSequence *a = read_sequence(first), *b = read_sequence(second);
  AnyValue made;
  // Neither size can be so large that the sum overflows: both lie in memory.
  bool mutable_one = first.type_code() == ANYFFI_LIST || second.type_code() == ANYFFI_LIST;
  AnyffiSequence* to = create(mutable_one ? ANYFFI_LIST : ANYFFI_ARRAY, a->size + b->size, &made);
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

/// The elements of `given` at these positions, in their order.
AnyValue pick(AnyView given, const Array<int64_t>& positions) {
  const AnyffiSequence* from = read_sequence(given);
  AnyValue made;
  AnyffiSequence* to = create(ANYFFI_ARRAY, positions.size(), &made);
  to->type_mask = from->type_mask;
  for (int64_t position : positions) {
    if (position < 0 || position >= from->size) throw Error("IndexError", "no such position");
    anyffi_value_retain(&from->data[position]);
    to->data[to->size++] = from->data[position];
  }
  return made;
}

/// Holds values that were taken out of a list until the list is whole again: their destructors may look at it.
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
  sequence->type_mask |= from->type_mask;
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

/// Fills a list that was emptied. Needs no memory where it still is.
bool refill(const List<>& list, const Array<>& values) {
  AnyffiSequence* sequence = as_sequence(list.get());
  const AnyffiSequence* from = as_sequence(values.get());
  bool untouched = sequence->size == 0;
  check(anyffi::runtime::splice_sequence(sequence, 0, sequence->size, from->data, from->size));
  return untouched;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.Sequence.slice")
    .def(&slice, arg("sequence"), arg("start"), arg("stop"), arg("step"))
    .doc("A sequence of the same class of the elements that a slice means; an Array itself if it means all.");
ANYFFI_REGISTER_GLOBAL("anyffi.Sequence.concat")
    .def(&concat, arg("first"), arg("second"))
    .doc("The elements of both: a new List if one of them is a List, else an Array.");
ANYFFI_REGISTER_GLOBAL("anyffi.Sequence.repeat")
    .def(&repeat, arg("sequence"), arg("times"))
    .doc("A new sequence of the same class, of the elements so many times over.");
ANYFFI_REGISTER_GLOBAL("anyffi.Sequence.pick")
    .def(&pick, arg("sequence"), arg("positions"))
    .doc("An Array of the elements at these positions, in their order.");
ANYFFI_REGISTER_GLOBAL("anyffi.List.set_slice")
    .def(&set_slice, arg("list"), arg("values"), arg("start"), arg("stop"), arg("step"))
    .doc("Put the values in the place of what a slice means.");
ANYFFI_REGISTER_GLOBAL("anyffi.List.erase_slice")
    .def(&erase_slice, arg("list"), arg("start"), arg("stop"), arg("step"))
    .doc("Remove what a slice means.");
ANYFFI_REGISTER_GLOBAL("anyffi.List.refill")
    .def(&refill, arg("list"), arg("values"))
    .doc("Make the values all that is in a list that was emptied, and return whether it was empty still.");
