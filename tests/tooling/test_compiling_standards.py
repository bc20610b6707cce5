"""Extensions in C++20 and in plain C."""

from __future__ import annotations

import inspect
import pathlib
from typing import Any

import pytest
from compiling import INCLUDE, compile_text
from support import CXX, Build, needs_compilers, run

pytestmark = needs_compilers


SPANS = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/span.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/wide_string.h>
using anyffi::arg;
ANYFFI_EXPORT(total, [](std::span<const double> x) {
  double sum = 0;
  for (double item : x) sum += item;
  return sum;
}, arg("x"));
ANYFFI_EXPORT(double_all, [](std::span<int32_t> x) {
  for (int32_t& item : x) item *= 2;
}, arg("x"));
ANYFFI_EXPORT(same_text, [](std::u8string x) { return x; }, arg("x"));
ANYFFI_EXPORT(same_char, [](char8_t x) { return x; }, arg("x"));
ANYFFI_EXPORT(first_two, [](std::span<const int64_t> x) { return x.first(2); }, arg("x"));
using Shorts = std::vector<int16_t>;
ANYFFI_CLASS(Shorts, "spans.Shorts").init<>();
ANYFFI_EXPORT(first_short, [](std::span<const int16_t> x) { return x.first(1); }, arg("x"));
ANYFFI_EXPORT(same_words, [](std::span<const std::string> x) { return x; }, arg("x"));
struct Counted {
  int64_t count = 1;
};
ANYFFI_CLASS(Counted, "spans.Counted").init<>().field("count", &Counted::count);
ANYFFI_EXPORT(count_all, [](std::span<const Counted> x, std::span<Counted* const> counted) {
  for (Counted* each : counted) each->count += x[0].count;
}, arg("x"), arg("counted"));
ANYFFI_EXPORT(same_long, [](std::span<const long double> x) { return x; }, arg("x"));
ANYFFI_EXPORT(last_of_three, [](std::span<const double, 3> x) { return x.last(1); }, arg("x"));
ANYFFI_EXPORT(negate_both, [](std::span<double, 2> x) { x[0] = -x[0], x[1] = -x[1]; }, arg("x"));
"""


@pytest.fixture(scope="module")
def spans(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    import anyffi

    if compile_text("#include <span>\nstd::span<int> x;\n", "-std=c++20", "-fsyntax-only").returncode != 0:
        pytest.skip("the compiler has no std::span")
    folder = tmp_path_factory.mktemp("spans")
    (folder / "spans.cc").write_text(SPANS)
    runtime = pathlib.Path(anyffi.find_library("anyffi")).parent
    options = ["-std=c++20", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}"]
    done = run(
        [CXX, *options, folder / "spans.cc", "-o", folder / "spans.so", "-L", runtime, "-lanyffi"],
        LD_PRELOAD=None,
    )
    assert done.returncode == 0, done.stderr
    return folder / "spans.so"


@pytest.mark.keeps_live(reason="a module stays loaded")
@pytest.mark.slow("compiling")
def test_spans(ffi: Any, spans: pathlib.Path) -> None:
    np = pytest.importorskip("numpy")
    module = ffi.load_module(spans)
    x = np.arange(6, dtype=np.float64)
    assert module.total(x) == 15.0
    assert module.total([1, 2.5]) == module.total((1, 2.5)) == 3.5
    assert module.total([]) == module.total(x[:0]) == 0.0
    assert module.first_two([1, 2, 3]) == [1, 2]
    assert module.first_short([1, 2]) == module.first_short(np.array([1, 2], dtype=np.int16)) == [1]
    assert module.same_text("h\u00e9llo \u20ac") == "h\u00e9llo \u20ac"
    assert module.same_char("a") == "a"
    with pytest.raises(ValueError, match="expected one ASCII character"):
        module.same_char("\u00e9")
    ints = np.array([1, 2, 3], dtype=np.int32)
    assert module.double_all(ints) is None
    assert ints.tolist() == [2, 4, 6]
    for bad in (x[::2], x.reshape(2, 3), x[::-1], np.zeros(())):
        with pytest.raises(ValueError, match="a span needs a contiguous 1-d tensor on the CPU"):
            module.total(bad)
    with pytest.raises(TypeError, match="float32"):
        module.total(x.astype(np.float32))
    with pytest.raises(TypeError, match=r"at \[1\]: expected float, got str"):
        module.total([1, "x"])
    with pytest.raises(TypeError, match=r"expected Tensor \| Sequence\[float\], got str"):
        module.total("x")
    with pytest.raises(TypeError, match="expected Tensor, got list"):
        module.double_all([1, 2])
    ints.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        module.double_all(ints)


@pytest.mark.keeps_live(reason="a module stays loaded")
@pytest.mark.slow("compiling")
def test_spans_of_what_no_tensor_has(ffi: Any, spans: pathlib.Path) -> None:
    module = ffi.load_module(spans)
    assert inspect.signature(module.same_words).parameters["x"].annotation == "Sequence[str]"
    assert module.same_words(["a", "b"]) == ["a", "b"]
    with pytest.raises(TypeError, match=r"at \[0\]: expected str, got int"):
        module.same_words([1])
    with pytest.raises(TypeError, match=r"expected Sequence\[str\], got str"):
        module.same_words("ab")
    counted = module.Counted()
    module.count_all([counted], [counted])
    assert counted.count == 2
    assert module.same_long([1, 0.5]) == [1.0, 0.5]


@pytest.mark.keeps_live(reason="a module stays loaded")
@pytest.mark.slow("compiling")
def test_spans_of_fixed_size(ffi: Any, spans: pathlib.Path) -> None:
    np = pytest.importorskip("numpy")
    module = ffi.load_module(spans)
    assert module.last_of_three([1, 2, 3]) == module.last_of_three(np.array([1.0, 2.0, 3.0])) == [3.0]
    both = np.array([1.0, 2.0])
    module.negate_both(both)
    assert both.tolist() == [-1.0, -2.0]
    for call in (lambda: module.last_of_three(both), lambda: module.last_of_three([1])):
        with pytest.raises(ValueError, match="expected 3 elements"):
            call()
    with pytest.raises(ValueError, match="expected 2 elements"):
        module.negate_both(np.zeros(3))


EXPORTS = """
#include <anyffi/anyffi.h>
using anyffi::arg;
static double circle(double r) { return 3 * r * r; }
ANYFFI_EXPORT(area, &circle, arg("r"))
    .doc("Of a circle.")
    .def([](double w, double h) { return w * h; }, arg("w"), arg("h"))
    .doc("Of a rectangle.");
ANYFFI_EXPORT(wait, [](int64_t x) { return x; }, arg("x") = 1).doc("Without the lock.").release_gil();
"""
C_CALLER = """
#include <anyffi/c_api.h>
int32_t __anyffi_abi_version = ANYFFI_ABI_VERSION;
/* Sums what lies in a sequence of floats, or says why not. */
int __anyffi_total(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  const AnyffiSequence* sequence;
  double sum = 0;
  (void)self;
  if (num_args != 1 || (args[0].type_code != ANYFFI_LIST && args[0].type_code != ANYFFI_ARRAY)) {
    return anyffi_error_raise("TypeError", "total() takes one list");
  }
  sequence = (const AnyffiSequence*)args[0].as_object;
  for (int64_t i = 0; i < sequence->size; ++i) {
    if (sequence->data[i].type_code != ANYFFI_FLOAT) return anyffi_error_raise("TypeError", "no float");
    sum += sequence->data[i].as_float;
  }
  result->type_code = ANYFFI_FLOAT;
  result->as_float = sum;
  return 0;
}
"""


@pytest.mark.keeps_live(reason="a module stays loaded")
@pytest.mark.slow("compiling")
def test_exports(ffi: Any, build: Build) -> None:
    module = ffi.load_module(build("exports.cc", EXPORTS))
    assert module.area(2) == 12.0
    assert module.area(2, 3) == module.area(h=2, w=3) == 6.0
    assert [overload.__doc__ for overload in module.area.overloads] == ["Of a circle.", "Of a rectangle."]
    with pytest.raises(TypeError, match=r"area\(\): no overload takes \(\)"):
        module.area()
    assert module.wait() == 1
    assert module.wait.__doc__ == "Without the lock."


@pytest.mark.keeps_live(reason="a module stays loaded")
def test_exports_of_c(ffi: Any, build: Build) -> None:
    module = ffi.load_module(build("totals.c", C_CALLER))
    assert module.total([1.5, 2.5]) == module.total((4.0,)) == 4.0
    for bad in ((), (1,), ([1.0], 2), ([1],)):
        with pytest.raises(TypeError, match="one list|no float"):
            module.total(*bad)
