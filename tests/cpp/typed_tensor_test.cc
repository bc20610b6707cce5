// TypedTensor, TypedView and TensorSpan in C++.
#include <anyffi/anyffi.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "allocation.h"

namespace {

using anyffi::any;
using anyffi::any_device;
using anyffi::arg;
using anyffi::Array;
using anyffi::col_major;
using anyffi::DataType;
using anyffi::Device;
using anyffi::Error;
using anyffi::Function;
using anyffi::List;
using anyffi::row_major;
using anyffi::shape;
using anyffi::Tensor;
using anyffi::TensorSpan;
using anyffi::TensorView;
using anyffi::TypedTensor;
using anyffi::TypedView;

template <class F>
std::string error_of(F&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TypedTensor<double, 2, row_major> numbers(int64_t rows, int64_t columns) {
  auto made = TypedTensor<double, 2, row_major>::empty(rows, columns);
  std::iota(made.begin(), made.end(), 0.0);
  return made;
}

// ---- types ----

template <class From, class To>
constexpr bool kConverts = std::is_convertible_v<From, To>;

using Rows = TypedTensor<double, 2, row_major>;
static_assert(kConverts<Rows, TypedTensor<const double, 2>> && kConverts<Rows, TypedTensor<double>>);
static_assert(kConverts<Rows, TypedView<const double, row_major>> && kConverts<Rows, TypedTensor<double, any_device>>);
static_assert(!kConverts<Rows, TypedTensor<float, 2>> && !kConverts<Rows, TypedTensor<double, 3>>);
static_assert(!kConverts<Rows, TypedTensor<double, 2, col_major>> && !kConverts<TypedTensor<const double, 2>, Rows>);
static_assert(!kConverts<TypedTensor<const double, 2>, TypedTensor<double, 2>>);
static_assert(!kConverts<TypedTensor<double, 2>, TypedTensor<double, shape<any, 3>>>);
static_assert(kConverts<TypedTensor<double, shape<any, 3>>, TypedTensor<double, 2>>);
static_assert(kConverts<TypedTensor<double, shape<2, 3>>, TypedView<double, shape<any, 3>>>);
static_assert(!kConverts<TypedTensor<double, shape<any, 4>>, TypedTensor<double, shape<any, 3>>>);
static_assert(!kConverts<TypedTensor<float, 1, ANYFFI_kDLCUDA>, TypedTensor<float, 1>>);
// On one axis, both orders are the same.
static_assert(kConverts<TypedTensor<double, 1, row_major>, TypedView<double, 1, col_major>>);
static_assert(!kConverts<TypedTensor<double, 1>, TypedView<double, 1, row_major>>);
// A view of memory that nobody keeps alive, and of a tensor of any type, has to be created explicitly.
static_assert(!kConverts<TensorView, TypedView<double>> && !kConverts<Tensor, TypedTensor<double>>);
static_assert(kConverts<Rows, Tensor> && kConverts<TypedView<double>, TensorView>);
static_assert(sizeof(Rows) == sizeof(Tensor));

TEST(TypedTensor, Elements) {
  auto x = numbers(2, 3);
  EXPECT_EQ(x(1, 2), 5.0);
  EXPECT_EQ(x.at(1, 2), 5.0);
  EXPECT_EQ(x[4], 4.0);  // compact: in the order of memory
  EXPECT_EQ(x.row(1)[2], 5.0);
  EXPECT_EQ(x.col(2)[1], 5.0);
  EXPECT_EQ(x.size(), 6);
  EXPECT_EQ(x.rank(), 2);
  EXPECT_EQ(x.extent(1), 3);
  EXPECT_EQ(x.stride(0), 3);
  x(0, 1) += 10;
  EXPECT_EQ(x.data()[1], 11.0);
  EXPECT_EQ(std::accumulate(x.begin(), x.end(), 0.0), 25.0);
  EXPECT_EQ(error_of([&] { x.at(2, 0); }), "an index is out of bounds for its axis");
  EXPECT_EQ(error_of([&] { x.at(0, -1); }), "an index is out of bounds for its axis");
  EXPECT_EQ(error_of([&] { TypedView<double>(x).at(0); }), "an index is out of bounds for its axis");
  EXPECT_EQ(TypedView<double>(x)(1, 1), 4.0);
}

TEST(TypedTensor, Orders) {
  auto x = TypedTensor<int, 3, col_major>::empty(2, 3, 4);
  std::iota(x.begin(), x.end(), 0);
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      for (int64_t k = 0; k < 4; ++k) {
        EXPECT_EQ(x(i, j, k), i + 2 * j + 6 * k);
        EXPECT_EQ(x.row(i)(j, k), x(i, j, k));
        EXPECT_EQ(x.row(i).row(j)[k], x(i, j, k));
        EXPECT_EQ((TypedView<int, 3>(x)(i, j, k)), x(i, j, k));
        EXPECT_EQ((TypedView<const int, shape<2, 3, 4>>(TensorView(x)).at(i, j, k)), x(i, j, k));
      }
    }
  }
  EXPECT_EQ(x.span().stride(0), 1);
  EXPECT_EQ(x.span().stride(2), 6);
  std::vector<int> seen;
  for (int item : TypedView<int, 3>(x)) seen.push_back(item);
  EXPECT_EQ((std::vector<int>(seen.begin(), seen.begin() + 5)), (std::vector<int>{0, 6, 12, 18, 2}));
  int64_t rows = 0;
  for (auto row : x.rows()) rows += row.size();
  EXPECT_EQ(rows, 24);
}

TEST(TypedTensor, SpansOfPlainMemory) {
  float memory[12];
  std::iota(std::begin(memory), std::end(memory), 0.0F);
  const int64_t extents[] = {2, 3}, strides[] = {6, -2};
  TensorSpan<float, 2> span(memory + 4, extents, strides);
  EXPECT_EQ(span(1, 2), 6.0F);
  TensorSpan<const float, shape<any, any>> same = span;
  EXPECT_EQ(std::accumulate(same.begin(), same.end(), 0.0F), 4 + 2 + 0 + 10 + 8 + 6);
  EXPECT_EQ(same.row(1)[0], 10.0F);
  TensorSpan<const float, shape<2, 3>, row_major> compact(memory, extents, nullptr);
  EXPECT_EQ(compact(1, 1), 4.0F);
  EXPECT_EQ(compact.end() - compact.begin(), 6);
}

TEST(TypedTensor, Checks) {
  Tensor x = numbers(2, 3);
  EXPECT_EQ((TypedTensor<const double, shape<any, 3>>(x)(1, 0)), 3.0);
  EXPECT_EQ(error_of([&] { TypedTensor<float, 2>{x}; }),
            "expected a tensor of float32 with shape (*, *), got one of float64 with shape (2, 3)");
  EXPECT_EQ(error_of([&] { TypedView<double, shape<2, 2>>{x}; }),
            "expected a tensor of float64 with shape (2, 2), got one of float64 with shape (2, 3)");
  EXPECT_EQ(error_of([&] { TypedView<double, 2, col_major>{x}; }),
            "expected a column-major tensor of float64 with shape (*, *), got one of float64 with shape (2, 3) and "
            "strides (3, 1)");
  double memory = 1.5;
  AnyffiTensorData data{&memory, Device(), 0, DataType::of<double>(), nullptr, nullptr, 0};
  EXPECT_EQ((TypedView<double, 0>(TensorView(data))()), 1.5);
  EXPECT_NE(error_of([&] { TypedView<double, 0>(TensorView(data, ANYFFI_TENSOR_READ_ONLY)); }), "");
  EXPECT_EQ((TypedView<const double, 0>(TensorView(data, ANYFFI_TENSOR_READ_ONLY))()), 1.5);
}

TEST(TypedTensor, TooManyElements) {
  double memory = 1.5;
  int64_t extents[] = {int64_t{1} << 40, int64_t{1} << 40}, strides[] = {0, 0};
  AnyffiTensorData data{&memory, Device(), 2, DataType::of<double>(), extents, strides, 0};
  TypedView<double, 2> x{TensorView(data)};
  EXPECT_EQ(x(extents[0] - 1, 7), 1.5);
  EXPECT_EQ(error_of([&] { (void)x.size(); }), "the tensor has too many elements");
  extents[1] = 0;
  EXPECT_EQ((TypedView<double, 2, row_major>(TensorView(data)).size()), 0);
}

/// Counts its destructions.
struct Counted {
  using value_type = float;
  std::vector<float> items;
  int* destroyed;
  Counted(std::vector<float> from, int* counter) : items(std::move(from)), destroyed(counter) {}
  Counted(Counted&& other) noexcept
      : items(std::move(other.items)), destroyed(std::exchange(other.destroyed, nullptr)) {}
  ~Counted() {
    if (destroyed != nullptr) ++*destroyed;
  }
  float* data() { return items.data(); }
  size_t size() const { return items.size(); }
};

TEST(TypedTensor, MemoryOfContainers) {
  std::vector<double> numbers{1, 2, 3, 4};
  const double* memory = numbers.data();
  auto x = TypedTensor<double, 2>::from(std::move(numbers), {2, 2});
  EXPECT_EQ(x.data(), memory);
  EXPECT_EQ(x(1, 0), 3.0);
  auto columns = TypedTensor<double, 2, col_major>::from(std::vector<double>{1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(columns(1, 0), 2.0);
  int destroyed = 0;
  {
    auto kept = TypedTensor<float, 1>::from(Counted({1, 2}, &destroyed));
    Tensor again = kept;
    EXPECT_EQ(kept[1], 2.0F);
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(error_of([&] { TypedTensor<float, 2>::from(Counted({1, 2}, &destroyed), {2, 2}); }),
            "the extents are of another number of elements than the container has");
  EXPECT_EQ(error_of([&] { TypedTensor<float, 2>::from(Counted({1, 2}, &destroyed), {2}); }),
            "these extents are not those of the tensor's type");
  EXPECT_EQ(error_of([&] { TypedTensor<float, shape<any, 3>>::from(Counted({1, 2}, &destroyed), {1, 2}); }),
            "these extents are not those of the tensor's type");
  EXPECT_NE(error_of([&] { TypedTensor<float, 2>::from(Counted({1, 2}, &destroyed), {-1, -2}); }), "");
  EXPECT_EQ(destroyed, 5);
  EXPECT_EQ((TypedTensor<float>::from(Counted({1, 2}, &destroyed)).rank()), 1);
}

// ---- functions ----

TEST(TypedTensor, Functions) {
  Function f = Function::from([](TypedView<const double, 2> x) { return x(1, 1); }, arg("x"));
  auto x = numbers(2, 3);
  EXPECT_EQ(f(x).cast<double>(), 4.0);
  EXPECT_EQ(f(TypedView<double>(x)).cast<double>(), 4.0);
  // Memory without a tensor that owns it is passed as a view.
  AnyffiTensorData data = x.raw();
  EXPECT_EQ(f(TensorView(data)).cast<double>(), 4.0);
  Function owning = Function::from([](const TypedTensor<double, 2>& y) { return y; }, arg("y"));
  EXPECT_TRUE(owning(x).cast<Tensor>().same_as(x));
  EXPECT_NE(error_of([&] { owning(TensorView(data)); }), "");
  EXPECT_EQ((owning(x).cast<TypedTensor<const double>>().size()), 6);
}

TEST(TypedTensor, Conversions) {
  Function f = Function::from(
      [](const TypedView<const float, shape<any, 2>>& x, double by) { return static_cast<double>(x.at(1, 1)) * by; },
      arg("x").convert(), arg("by") = 1.0);
  EXPECT_EQ(f(Array<>{Array<>{1, 2}, List<double>{3.5, 4.5}}).cast<double>(), 4.5);
  EXPECT_EQ(f(numbers(2, 2), 2.0).cast<double>(), 6.0);
  auto x = numbers(2, 2);
  AnyffiTensorData data = x.raw();
  EXPECT_EQ(f(TensorView(data)).cast<double>(), 3.0);
  EXPECT_NE(error_of([&] { f(numbers(2, 3)); }), "");
  // Callables with state, and methods.
  auto state = std::make_shared<double>(2.0);
  Function counting =
      Function::from([state](TypedTensor<const double, 1> y) mutable { return *state += y[0]; }, arg("y").convert());
  EXPECT_EQ(counting(List<int64_t>{3}).cast<double>(), 5.0);
  EXPECT_EQ(counting(List<int64_t>{3}).cast<double>(), 8.0);
}

TEST(TypedTensor, OutOfMemory) {
  Function f = Function::from([](TypedView<const float> x) { return x.size(); }, arg("x").convert());
  Array<> nested{Array<>{1, 2}, Array<>{3, 4}};
  auto x = numbers(2, 3);
  expect_no_leak([&] { EXPECT_EQ(f(nested).cast<int64_t>(), 4); });
  expect_no_leak([&] { EXPECT_EQ(f(x).cast<int64_t>(), 6); });
  expect_no_leak([] { TypedTensor<double, 1>::from(std::vector<double>{1, 2}); });
  expect_no_leak([&] { expect_error("OverflowError", [&] { f(List<double>{1e300}); }); });
}

}  // namespace
