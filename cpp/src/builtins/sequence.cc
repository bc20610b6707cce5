/// \file
/// Methods of a List, under `anyffi.List.*`, and the constructor of Shape.
#include <anyffi/anyffi.h>

#include <algorithm>

#include "values/containers.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::Array;
using anyffi::Error;
using anyffi::List;
using anyffi::Shape;
using anyffi::detail::check;
using anyffi::runtime::as_sequence;

void append(const List<>& list, AnyView value) { check(anyffi_sequence_insert(list.get(), list.size(), &value.raw())); }

void extend(const List<>& list, const Array<>& values) {
  const AnyffiSequence* from = as_sequence(values.get());
  check(anyffi::runtime::splice_sequence(as_sequence(list.get()), list.size(), 0, from->data, from->size));
}

void insert(const List<>& list, int64_t index, AnyView value) {
  int64_t size = list.size();
  int64_t position = std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
  check(anyffi_sequence_insert(list.get(), position, &value.raw()));
}

AnyValue pop(const List<>& list, int64_t index) {
  if (list.empty()) throw Error("IndexError", "pop from empty list");
  int64_t position = index < 0 ? index + list.size() : index;
  AnyValue popped;
  anyffi_sequence_get(list.get(), position, popped.out());
  if (popped.type_code() == ANYFFI_UNSET) throw Error("IndexError", "pop index out of range");
  check(anyffi_sequence_erase(list.get(), position, 1));
  return popped;
}

AnyValue peek(const List<>& list, int64_t index) {
  AnyffiValue key = anyffi_make_int(index);
  AnyValue found;
  check(anyffi::runtime::peek_array(list.get(), &key, found.out()));
  return found;
}

void set(const List<>& list, int64_t index, AnyView value) {
  check(anyffi_sequence_set(list.get(), index, &value.raw()));
}

void erase(const List<>& list, int64_t index, int64_t count) { check(anyffi_sequence_erase(list.get(), index, count)); }

void splice(const List<>& list, int64_t index, int64_t count, const Array<>& values) {
  const AnyffiSequence* from = as_sequence(values.get());
  check(anyffi::runtime::splice_sequence(as_sequence(list.get()), index, count, from->data, from->size));
}

void reverse(const List<>& list) {
  AnyffiSequence* sequence = as_sequence(list.get());
  std::reverse(sequence->data, sequence->data + sequence->size);
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.List.append").def(&append, arg("list"), arg("value"));
ANYFFI_REGISTER_GLOBAL("anyffi.List.insert")
    .def(&insert, arg("list"), arg("index"), arg("value"))
    .doc("Insert before an index, which is clamped to the list's range as in Python.");
ANYFFI_REGISTER_GLOBAL("anyffi.List.extend")
    .def(&extend, arg("list"), arg("values"))
    .doc("Append all values, or none.");
ANYFFI_REGISTER_GLOBAL("anyffi.List.pop")
    .def(&pop, arg("list"), arg("index"))
    .doc("Remove and return an element; a negative index counts from the end.");
ANYFFI_REGISTER_GLOBAL("anyffi.List.peek")
    .def(&peek, arg("list"), arg("index"))
    .doc("Return an Array of an index, which counts from the end if negative, and its element; None if there is none.");
ANYFFI_REGISTER_GLOBAL("anyffi.List.set").def(&set, arg("list"), arg("index"), arg("value"));
ANYFFI_REGISTER_GLOBAL("anyffi.List.erase").def(&erase, arg("list"), arg("index"), arg("count"));
ANYFFI_REGISTER_GLOBAL("anyffi.List.splice")
    .def(&splice, arg("list"), arg("index"), arg("count"), arg("values"))
    .doc("Replace count elements from index on by all values, or none.");
ANYFFI_REGISTER_GLOBAL("anyffi.List.clear").def([](List<> list) { list.clear(); }, arg("list"));
ANYFFI_REGISTER_GLOBAL("anyffi.List.reverse").def(&reverse, arg("list"));

ANYFFI_REGISTER_GLOBAL("anyffi.Shape")
    .def([](Shape extents) { return extents; }, arg("extents"))
    .doc("Return a Shape of an Array or List of ints.");
