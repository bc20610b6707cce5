/// \file
/// Sequences of arrays: concatenate, stack, split and similar functions.

#include <algorithm>
#include <vector>

#include "functions.h"

namespace npx {

Tensor joined(const std::vector<Strided>& parts, int64_t along, const Optional<Tensor>& out, const DTypeArg& dtype) {
  if (parts.empty()) fail("ValueError", "need at least one array to concatenate");
  if (parts[0].ndim() == 0) fail("ValueError", "zero-dimensional arrays cannot be concatenated");
  int axis = read_axis(along, parts[0].ndim());
  Dims shape = parts[0].shape;
  std::vector<DataType> dtypes{parts[0].dtype};
  for (size_t i = 1; i < parts.size(); ++i) {
    Dims other = parts[i].shape;
    if (other.size() == shape.size()) other[axis] = shape[axis];
    if (other != shape) {
      fail("ValueError", "arrays of shapes " + text_of(parts[0].shape) + " and " + text_of(parts[i].shape) +
                             " cannot be concatenated along axis " + std::to_string(axis));
    }
    shape[axis] += parts[i].shape[axis];
    dtypes.push_back(parts[i].dtype);
  }
  DataType common = promote_all(dtypes);
  if (dtype && out)
    fail("TypeError", "concatenate() only takes `out` or `dtype` as an argument, but both were provided.");
  DataType to = out ? (*out).dtype() : read_dtype(dtype, common);
  for (DataType from : dtypes) {
    if (is_same_kind(from, to)) continue;
    throw Error("TypeError",
                anyffi::join("", Array<String>{"cannot cast an array of ", from.text(), " to ", to.text()}));
  }
  Result result(out, shape, to);
  for (const Strided& part : parts) result.reads(part, false);
  int64_t start = 0;
  for (const Strided& part : parts) {
    assign(result.array().slice(axis, start, start + part.shape[axis]), part);
    start += part.shape[axis];
  }
  return result.finish();
}

namespace {

using Arrays = Array<Tensor>;
using Parts = std::vector<Strided>;

/// The arrays, each prepared by `prepare`.
template <class F>
Parts prepared(const Arrays& arrays, F prepare) {
  Parts parts;
  for (const Tensor& tensor : arrays) parts.push_back(prepare(read(tensor)));
  return parts;
}

/// Adds axes until there are one, two or three, as NumPy does.
Strided at_least_1(const Strided& array) { return array.ndim() ? array : array.with_axis(0); }
Strided at_least_2(const Strided& array) { return array.ndim() < 2 ? at_least_1(array).with_axis(0) : array; }
Strided at_least_3(const Strided& array) { return array.ndim() < 3 ? at_least_2(array).with_axis(2) : array; }

Tensor concatenate(const Arrays& arrays, const Optional<int64_t>& axis, const Optional<Tensor>& out,
                   const DTypeArg& dtype) {
  if (axis) return joined(prepared(arrays, [](const Strided& array) { return array; }), *axis, out, dtype);
  std::vector<Tensor> flat;
  for (const Tensor& tensor : arrays) flat.push_back(raveled(read(tensor)));
  Parts parts;
  for (const Tensor& tensor : flat) parts.push_back(read(tensor));
  return joined(parts, 0, out, dtype);
}

Tensor stack(const Arrays& arrays, int64_t axis, const Optional<Tensor>& out) {
  if (arrays.empty()) fail("ValueError", "need at least one array to stack");
  Dims shape = read(arrays[0]).shape;
  for (const Tensor& tensor : arrays) {
    if (read(tensor).shape != shape) fail("ValueError", "all input arrays must have the same shape");
  }
  int at = read_axis(axis, shape.size() + 1);
  return joined(prepared(arrays, [at](const Strided& array) { return array.with_axis(at); }), at, out);
}

Tensor hstack(const Arrays& arrays) {
  Parts parts = prepared(arrays, at_least_1);
  return joined(parts, !parts.empty() && parts[0].ndim() == 1 ? 0 : 1);
}

/// Arrays of one axis are columns.
Strided as_columns(const Strided& array) { return array.ndim() < 2 ? at_least_1(array).with_axis(1) : array; }

Tensor append(const Tensor& array, const Tensor& values, const Optional<int64_t>& axis) {
  return concatenate(Arrays{array, values}, axis, nullptr, nullptr);
}

using Sections = Variant<int64_t, Array<int64_t>>;

/// Views of the parts of an array.
List<Tensor> split(const Tensor& array, const Sections& sections, int64_t along, bool equally) {
  Strided whole = read(array);
  int axis = read_axis(along, whole.ndim());
  int64_t size = whole.shape[axis];
  std::vector<int64_t> cuts{0};
  if (sections.holds<int64_t>()) {
    int64_t count = sections.get<int64_t>();
    if (count == 0 && equally) fail("ZeroDivisionError", "integer modulo by zero");
    if (count <= 0) fail("ValueError", "number sections must be larger than 0.");
    if (equally && size % count != 0) fail("ValueError", "array split does not result in an equal division");
    // The first parts have one more element.
    for (int64_t i = 0; i < count; ++i) cuts.push_back(cuts.back() + size / count + (i < size % count ? 1 : 0));
  } else {
    for (int64_t cut : sections.get<Array<int64_t>>()) cuts.push_back(cut);
    cuts.push_back(size);
  }
  List<Tensor> parts;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    auto place = [size](int64_t cut) { return std::clamp<int64_t>(cut < 0 ? cut + size : cut, 0, size); };
    int64_t start = place(cuts[i]);
    parts.push_back(view_of(array, whole.slice(axis, start, std::max(start, place(cuts[i + 1])))));
  }
  return parts;
}

void register_join(const char* name, Tensor (*function)(const Arrays&), const char* doc) {
  anyffi::Registration(name).def(function, arg("tup")).doc(doc);
}

void register_split(const char* name, int least, int64_t axis, const char* doc) {
  anyffi::Registration(name)
      .def(
          [=](const Tensor& ary, const Sections& sections) {
            if (ary.ndim() < least) {
              fail("ValueError",
                   std::string(name) + " only works on arrays of " + std::to_string(least) + " or more dimensions");
            }
            return split(ary, sections, ary.ndim() == 1 ? 0 : axis, true);
          },
          arg("ary"), arg("indices_or_sections"))
      .doc(doc);
}

void register_at_least(const char* name, Strided (*widen)(const Strided&), const char* doc) {
  anyffi::Registration(name)
      .def_packed([widen](anyffi::Args args, AnyValue* result) {
        List<Tensor> views;
        for (int32_t i = 0; i < args.size(); ++i) {
          Tensor array = args[i].cast<Tensor>();
          views.push_back(view_of(array, widen(read(array))));
        }
        *result = views.size() == 1 ? AnyValue(views[0]) : AnyValue(std::move(views).freeze());
      })
      .doc(doc);
}

[[maybe_unused]] const bool kSequencesRegistered = [] {
  register_at_least("npx.atleast_1d", &at_least_1, "A view of each array with one axis at least.");
  register_at_least("npx.atleast_2d", &at_least_2, "A view of each array with two axes at least.");
  register_at_least("npx.atleast_3d", &at_least_3, "A view of each array with three axes at least.");
  register_join("npx.hstack", &hstack, "Arrays one behind the other along the second axis, or the only one.");
  register_join(
      "npx.vstack", [](const Arrays& tup) { return joined(prepared(tup, at_least_2), 0); },
      "Arrays one behind the other along the first of two axes or more.");
  register_join(
      "npx.dstack", [](const Arrays& tup) { return joined(prepared(tup, at_least_3), 2); },
      "Arrays one behind the other along the third of three axes or more.");
  register_join(
      "npx.column_stack", [](const Arrays& tup) { return joined(prepared(tup, as_columns), 1); },
      "Columns side by side.");
  register_split("npx.hsplit", 1, 1, "Views of the parts along the second axis, or the only one.");
  register_split("npx.vsplit", 2, 0, "Views of the parts along the first axis.");
  register_split("npx.dsplit", 3, 2, "Views of the parts along the third axis.");
  return true;
}();

ANYFFI_REGISTER_GLOBAL("npx.concatenate")
    .def(&concatenate, arg("arrays"), arg("axis") = 0, arg("out") = nullptr, arg("dtype") = nullptr)
    .doc("Concatenate arrays along an axis; flattened if the axis is None.");
ANYFFI_REGISTER_GLOBAL("npx.stack")
    .def(&stack, arg("arrays"), arg("axis") = 0, arg("out") = nullptr)
    .doc("Stack arrays of one shape along a new axis.");
ANYFFI_REGISTER_GLOBAL("npx.append")
    .def(&append, arg("arr"), arg("values"), arg("axis") = nullptr)
    .doc("Concatenate two arrays.");
ANYFFI_REGISTER_GLOBAL("npx.split")
    .def([](const Tensor& ary, const Sections& sections, int64_t axis) { return split(ary, sections, axis, true); },
         arg("ary"), arg("indices_or_sections"), arg("axis") = 0)
    .doc("Return views of parts of an array: a number of equal parts, or split at the indices.");
ANYFFI_REGISTER_GLOBAL("npx.array_split")
    .def([](const Tensor& ary, const Sections& sections, int64_t axis) { return split(ary, sections, axis, false); },
         arg("ary"), arg("indices_or_sections"), arg("axis") = 0)
    .doc("Like split, but the first parts may have one element more than the others.");

}  // namespace
}  // namespace npx
