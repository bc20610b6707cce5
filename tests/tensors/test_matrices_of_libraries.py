"""Matrices of a library, which are converted through tensors."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/set.h>
#include <anyffi/stl/vector.h>
using anyffi::arg;

namespace algebra {
template <class S>
struct Vector {
  explicit Vector(int64_t size) : numbers(static_cast<size_t>(size)) {}
  std::vector<S> numbers;
};
struct Cost {
  virtual ~Cost() = default;
  virtual Vector<double> values(const Vector<double>& at) const = 0;
  virtual std::vector<double> weights() const { return {1}; }
};
struct PyCost : anyffi::Overridable<Cost> {
  using Overridable::Overridable;
  Vector<double> values(const Vector<double>& at) const override {
    return override_pure<Vector<double>>("values", at);
  }
};
}  // namespace algebra

template <class S>
struct anyffi::Traits<algebra::Vector<S>>
    : anyffi::TraitsVia<algebra::Vector<S>, anyffi::TypedView<const S, 1>, anyffi::Native<anyffi::TypedTensor<S, 1>>> {
  static algebra::Vector<S> from(const anyffi::TypedView<const S, 1>& x) {
    algebra::Vector<S> made(x.size());
    for (int64_t i = 0; i < x.size(); ++i) made.numbers[static_cast<size_t>(i)] = x[i];
    return made;
  }
  static anyffi::Native<anyffi::TypedTensor<S, 1>> to(const algebra::Vector<S>& x) {
    return anyffi::TypedTensor<S, 1>::from(x.numbers);
  }
};

struct Span {
  const double* data;
  int64_t size;
};
template <>
struct anyffi::Traits<Span> : anyffi::TraitsVia<Span, anyffi::TypedTensor<const double, 1>> {
  static Span from(const anyffi::TypedTensor<const double, 1>& x) { return {x.data(), x.extent(0)}; }
};
ANYFFI_EXPORT(total, [](const Span& x) {
  double sum = 0;
  for (int64_t i = 0; i < x.size; ++i) sum += x.data[i];
  return sum;
}, arg("x").convert());

using Vector = algebra::Vector<double>;
ANYFFI_CLASS(algebra::Cost, "algebra.Cost").overridable<algebra::PyCost>().init<>();
ANYFFI_EXPORT(same, [](const Vector& x) { return x; }, arg("x"));
ANYFFI_EXPORT(converted, [](Vector x, const algebra::Vector<float>& y) { return x.numbers.size() + y.numbers.size(); },
              arg("x").convert(), arg("y").convert());
ANYFFI_EXPORT(either, [](const Vector&) { return "vector"; }, arg("x").convert())
    .def([](double) { return "number"; }, arg("x"));
ANYFFI_EXPORT(all, [](const std::vector<Vector>& xs) { return xs; }, arg("xs"));
ANYFFI_EXPORT(values, [](const algebra::Cost& cost) { return cost.values(Vector(2)); }, arg("cost"));
ANYFFI_EXPORT(call, [](const std::function<Vector(const Vector&)>& f) { return f(Vector(1)); }, arg("f"));
ANYFFI_EXPORT(number, [](const std::function<double()>& f) { return f(); }, arg("f"));
ANYFFI_EXPORT(set, [](const std::function<std::set<int64_t>()>& f) { return f(); }, arg("f"));
"""
READ_ONLY = np.ones(2)
READ_ONLY.flags.writeable = False


@pytest.fixture
def algebra(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("matrices_of_libraries.cc", SOURCE))


def test_arrays_are_copied(algebra: Any) -> None:
    x = np.arange(6.0)[::-2]
    made = algebra.same(x)
    assert (type(made), made.tolist(), made.flags.writeable) == (np.ndarray, [5, 3, 1], True)
    made[0] = 7
    assert x[0] == 5
    assert algebra.same(READ_ONLY).tolist() == [1, 1]
    assert [type(each) for each in algebra.all([x, READ_ONLY])] == [np.ndarray] * 2


def test_convert(algebra: Any) -> None:
    assert algebra.converted([1, 2], (3,)) == 3
    assert algebra.converted(np.arange(3), np.arange(2.0)) == 5
    assert algebra.converted(READ_ONLY, READ_ONLY) == 4
    assert [algebra.either(x) for x in (READ_ONLY, [1], 1)] == ["vector", "vector", "number"]
    with pytest.raises(
        TypeError, match=r"converted\(x: .*: argument 1 \(y\), at \[1\]: expected float, got str"
    ):
        algebra.converted([1], [1, "x"])
    with pytest.raises(
        TypeError, match="expected a tensor of float64 with shape .*, got list; pass numpy.asarray"
    ):
        algebra.same([1])


def test_what_refers_to_a_tensor_that_was_made_for_the_call(algebra: Any) -> None:
    class Exporter:
        def __dlpack__(self, **options: Any) -> Any:
            return np.ones(2_000_000).__dlpack__(**options)

        def __dlpack_device__(self) -> Any:
            return 1, 0

    assert algebra.total(Exporter()) == 2_000_000
    assert algebra.total(range(100_000)) == sum(range(100_000))


def test_signatures(algebra: Any) -> None:
    assert str(inspect.signature(algebra.same)) == "(x: 'float64[:]') -> 'numpy.ndarray'"
    expected = "float64[:] | Sequence[float]"
    assert inspect.signature(algebra.converted).parameters["x"].annotation == expected
    assert inspect.signature(algebra.all).return_annotation == "list[numpy.ndarray]"


def test_overrides_and_callbacks(algebra: Any) -> None:
    class Cost(algebra.Cost):  # type: ignore[misc, name-defined]
        result: Any = None

        def values(self, at: Any) -> Any:
            assert (type(at), at.tolist()) == (np.ndarray, [0, 0])
            return self.result

    cost = Cost()
    cost.result = np.array([1.0, 2])
    assert algebra.values(cost).tolist() == [1, 2]
    for sequence, name in (([1.0], "list"), ((1.0,), "tuple")):
        cost.result = sequence
        words = f"expected a tensor of float64 with shape .*, got {name}; return numpy.asarray\\(\\) of it$"
        with pytest.raises(TypeError, match=rf"^the result of <function .*Cost.values>: {words}"):
            algebra.values(cost)
        with pytest.raises(TypeError, match=words):
            algebra.call(lambda x, result=sequence: result)
    cost.result = np.array([1])
    with pytest.raises(TypeError, match=r"got one of int64 with shape \(1,\)$"):
        algebra.values(cost)


def test_advice_about_results(algebra: Any) -> None:
    assert algebra.number(lambda: np.float64(2)) == 2
    for result, words in (
        (np.array(1.0), r"expected float, got Tensor of float64, of shape \(\); return its .item\(\)"),
        (np.array([1.0]), "expected float, got Tensor of float64"),
        ([1], "expected float, got list"),
        ((1,), "expected float, got tuple"),
        ({1: 2}, "expected float, got dict"),
        ({1}, "expected float, got set"),
        (frozenset([1]), "expected float, got frozenset"),
    ):
        with pytest.raises(TypeError, match=f": {words}$"):
            algebra.number(lambda result=result: result)
    with pytest.raises(TypeError, match=r": expected AbstractSet\[int\], got list; return set\(\) of it$"):
        algebra.set(lambda: [1])


def test_containers_of_the_runtime_keep_their_names(algebra: Any, ffi: Any) -> None:
    kept = ffi.List([1])
    with pytest.raises(TypeError, match=": expected float, got List$"):
        algebra.number(lambda: kept)
