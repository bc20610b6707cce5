/// \file
/// Functions of typed tensors.

#include <anyffi/anyffi.h>
#include <anyffi/stl/complex.h>

#include <vector>

namespace {

using anyffi::any;
using anyffi::any_device;
using anyffi::arg;
using anyffi::Array;
using anyffi::col_major;
using anyffi::List;
using anyffi::row_major;
using anyffi::shape;
using anyffi::String;
using anyffi::Tensor;
using anyffi::TensorSpan;
using anyffi::TensorView;
using anyffi::TypedTensor;
using anyffi::TypedView;
using anyffi::Variant;

template <class View>
double sum(const View& x) {
  double total = 0;
  for (auto number : x) total += static_cast<double>(number);
  return total;
}

/// Elements in the order of a loop, as `List[float]`.
template <class View>
List<double> list(const View& x) {
  List<double> items;
  for (auto number : x) items.push_back(static_cast<double>(number));
  return items;
}

#define ANYFFI_TYPED(name) ANYFFI_REGISTER_GLOBAL("testing.tensors." name)

// One function for each option.
ANYFFI_TYPED("list1").def([](TypedView<const double, 1> x) { return list(x); }, arg("x"));
ANYFFI_TYPED("list2").def([](TypedView<const double, 2> x) { return list(x); }, arg("x"));
ANYFFI_TYPED("list3").def([](TypedView<const double, 3> x) { return list(x); }, arg("x"));
ANYFFI_TYPED("rows").def([](TypedView<const double, 2, row_major> x) { return list(x); }, arg("x"));
ANYFFI_TYPED("columns").def([](TypedView<const double, 2, col_major> x) { return list(x); }, arg("x"));
ANYFFI_TYPED("points").def([](TypedView<const double, shape<any, 3>> x) { return list(x); }, arg("x"));
ANYFFI_TYPED("number").def([](TypedView<const double, 0> x) { return x() + *x.begin(); }, arg("x"));
ANYFFI_TYPED("any_rank").def([](TypedView<const double> x) { return Array<>{x.rank(), x.size()}; }, arg("x"));
ANYFFI_TYPED("compact").def([](TypedView<const double, row_major> x) { return list(x); }, arg("x"));
ANYFFI_TYPED("on_cuda").def([](TypedView<const float, 2, ANYFFI_kDLCUDA> x) { return x.extent(1); }, arg("x"));
ANYFFI_TYPED("anywhere").def([](TypedView<const float, 2, any_device> x) { return x.extent(1); }, arg("x"));
ANYFFI_TYPED("fill").def(
    [](TypedView<float, 2> x, float value) {
      for (float& item : x) item = value;
    },
    arg("x"), arg("value"));
ANYFFI_TYPED("size").def([](TypedView<const int8_t, 2> x) { return x.size(); }, arg("x"));

/// The ways to reach the element at a row and a column, which must agree.
ANYFFI_TYPED("at").def(
    [](TypedView<const double, 2> x, int64_t i, int64_t j) {
      double item = x.at(i, j);
      TensorSpan<const double, shape<any, any>> span = x;
      TensorView raw = x;
      bool same = x(i, j) == item && x.row(i)[j] == item && x.col(j)[i] == item && span(i, j) == item &&
                  raw.at<const double>(i, j) == item && x.data()[i * x.stride(0) + j * x.stride(1)] == item;
      int64_t count = 0;
      for (auto row : x.rows()) count += row.size();
      if (!same || count != x.size()) throw anyffi::Error("AssertionError", "accesses differ");
      return item;
    },
    arg("x"), arg("i"), arg("j"));

// Owned ones.
ANYFFI_TYPED("echo").def([](TypedTensor<const double, 1> x) { return x; }, arg("x"));
ANYFFI_TYPED("call").def(
    [](const anyffi::Function& f, TypedView<const double, 1> x) {
      return f(x, TypedTensor<const double>(Tensor(f(x).cast<Tensor>())));
    },
    arg("f"), arg("x"));
ANYFFI_TYPED("empty").def(
    [](int64_t rows, int64_t columns) {
      auto made = TypedTensor<int32_t, 2>::empty(rows, columns);
      int32_t next = 0;
      for (int64_t i = 0; i < made.extent(0); ++i) {
        for (int64_t j = 0; j < made.extent(1); ++j) made(i, j) = next++;
      }
      return made;
    },
    arg("rows"), arg("columns"));
ANYFFI_TYPED("empty_columns")
    .def(
        [](int64_t rows, int64_t columns) {
          auto made = TypedTensor<int32_t, 2, col_major>::empty({rows, columns});
          int32_t next = 0;
          for (int32_t& item : made) item = next++;
          return made;
        },
        arg("rows"), arg("columns"));
ANYFFI_TYPED("moved").def(
    [](int64_t size) { return TypedTensor<double, 1>::from(std::vector<double>(static_cast<size_t>(size), 1.5)); },
    arg("size"));
ANYFFI_TYPED("reshaped")
    .def(
        [](int64_t size, int64_t rows, int64_t columns) {
          std::vector<float> numbers(static_cast<size_t>(size), 2.5F);
          return TypedTensor<float, 2>::from(std::move(numbers), {rows, columns});
        },
        arg("size"), arg("rows"), arg("columns"));
ANYFFI_TYPED("narrow").def([](Tensor x) { return TypedTensor<const double, 1>(std::move(x)); }, arg("x"));

// In containers, variants and overloads.
ANYFFI_TYPED("sum_all").def(
    [](const anyffi::Dict<String, List<TypedTensor<const double, 1>>>& groups) {
      double total = 0;
      for (const auto& [name, tensors] : groups) {
        for (int64_t i = 0; i < tensors.size(); ++i) total += sum(tensors[i]);
      }
      return total;
    },
    arg("groups"));
ANYFFI_TYPED("variant").def(
    [](const Variant<TypedTensor<const double, 1>, TypedTensor<const float, 1>>& x) { return x.index(); }, arg("x"));
ANYFFI_TYPED("overloaded")
    .def([](TypedView<const double, 1>) { return String("float64[:]"); }, arg("x"))
    .def([](TypedView<const double, 2>) { return String("float64[:, :]"); }, arg("x"))
    .def([](TypedView<const int64_t, 1>) { return String("int64[:]"); }, arg("x"));
ANYFFI_TYPED("converting")
    .def([](TypedView<const float, 1>) { return String("float32"); }, arg("x").convert())
    .def([](TypedView<const double, 1>) { return String("float64"); }, arg("x").convert())
    .def([](const String&) { return String("str"); }, arg("x"))
    .def([](const Array<>&, int64_t) { return String("two"); }, arg("x"), arg("n"));

// With a conversion.
template <class T>
Tensor copy(TypedView<const T> x) {
  return x.tensor().copy();
}
enum class Small : int8_t {};
struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};

}  // namespace

template <>
struct anyffi::DataTypeOf<Half> {
  static constexpr AnyffiDataType value{ANYFFI_kDLFloat, 16, 1};
};
template <>
struct anyffi::DataTypeOf<Brain> {
  static constexpr AnyffiDataType value{ANYFFI_kDLBfloat, 16, 1};
};

namespace {

ANYFFI_TYPED("to_bool").def(&copy<bool>, arg("x").convert());
ANYFFI_TYPED("to_int8").def(&copy<int8_t>, arg("x").convert());
ANYFFI_TYPED("to_int16").def(&copy<int16_t>, arg("x").convert());
ANYFFI_TYPED("to_int32").def(&copy<int32_t>, arg("x").convert());
ANYFFI_TYPED("to_int64").def(&copy<int64_t>, arg("x").convert());
ANYFFI_TYPED("to_uint8").def(&copy<uint8_t>, arg("x").convert());
ANYFFI_TYPED("to_uint16").def(&copy<uint16_t>, arg("x").convert());
ANYFFI_TYPED("to_uint32").def(&copy<uint32_t>, arg("x").convert());
ANYFFI_TYPED("to_uint64").def(&copy<uint64_t>, arg("x").convert());
ANYFFI_TYPED("to_float16").def(&copy<Half>, arg("x").convert());
ANYFFI_TYPED("to_bfloat16").def(&copy<Brain>, arg("x").convert());
ANYFFI_TYPED("to_float32").def(&copy<float>, arg("x").convert());
ANYFFI_TYPED("to_float64").def(&copy<double>, arg("x").convert());
ANYFFI_TYPED("to_complex64").def(&copy<std::complex<float>>, arg("x").convert());
ANYFFI_TYPED("to_complex128").def(&copy<std::complex<double>>, arg("x").convert());
ANYFFI_TYPED("to_enum").def(&copy<Small>, arg("x").convert());
ANYFFI_TYPED("matrix").def([](const TypedView<const double, 2>& x) { return x.tensor().copy(); }, arg("x").convert());
ANYFFI_TYPED("to_rows").def([](TypedView<const double, shape<any, 3>, row_major> x) { return list(x); },
                            arg("x").convert());
ANYFFI_TYPED("to_columns").def([](TypedView<const double, 2, col_major> x) { return list(x); }, arg("x").convert());
ANYFFI_TYPED("keep").def(
    [](TypedTensor<const double, 1> x, double scale) {
      if (scale != 1.0) throw anyffi::Error("ValueError", "only 1.0");
      return x;
    },
    arg("x").convert(), arg("scale") = 1.0);
ANYFFI_TYPED("with_default")
    .def([](TypedView<const double, 1> x) { return sum(x); }, arg("x").convert() = List<int64_t>{1, 2, 3})
    .release_gil();

}  // namespace
