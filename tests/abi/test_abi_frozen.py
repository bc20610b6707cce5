"""The C ABI equals the recorded one in `frozen/`: exported symbols, and declarations compared by abidiff."""

from __future__ import annotations

import pathlib
import pickle
import re
import shutil
import struct
import subprocess
import tarfile
from typing import Any

import frozen
import numpy as np
import pytest
from c_abi import INCLUDE
from support import EXPORTED_TYPES, Build, needs_compilers

HOW = "if the rules at the top of anyffi/c_api.h allow the change: python tests/support/frozen.py"

needs_abidiff = pytest.mark.skipif(
    shutil.which("abidiff") is None or struct.calcsize("P") != 8,
    reason="takes abidiff of libabigail, on a 64-bit machine (apt-get install abigail-tools)",
)


@pytest.mark.skipif(shutil.which("nm") is None, reason="takes nm of binutils")
def test_the_exported_symbols() -> None:
    kept = frozen.SYMBOLS.read_text().split()
    exported = frozen.exported_symbols()
    assert kept == sorted(kept)
    assert set(kept) - set(exported) == set(), f"no longer exported; {HOW}"
    assert set(exported) - set(kept) == set(), f"new; {HOW}"


def test_what_is_exported_is_declared() -> None:
    declared = {re.findall(r"(\w+)\(", prototype)[0] for prototype in frozen.prototypes()}
    # C++ exceptions have no declarations in C.
    of_cpp = set(re.findall(r"(anyffi_\w+)\(", (INCLUDE / "anyffi" / "exception.h").read_text())) - declared
    assert len(of_cpp) == 5
    assert declared | of_cpp | EXPORTED_TYPES == set(frozen.SYMBOLS.read_text().split())


OF_FIRST_HEADERS = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

namespace old {
struct Shape {
  explicit Shape(double side) : side(side) {}
  virtual ~Shape() = default;
  virtual double area() const { return side * side; }
  double side;
  std::vector<std::string> tags;
};
struct Hooks : anyffi::Overridable<Shape> {
  using Overridable::Overridable;
  double area() const override { return override_or<double>("area", [&] { return Shape::area(); }); }
};
enum class Color { kRed, kBlue };
}  // namespace old

using anyffi::arg;

ANYFFI_ENUM(old::Color, "old.Color").value("RED", old::Color::kRed).value("BLUE", old::Color::kBlue);
ANYFFI_CLASS(old::Shape, "old.Shape")
    .overridable<old::Hooks>()
    .init<double>(arg("side"))
    .field("side", &old::Shape::side)
    .field("tags", &old::Shape::tags)
    .method("area", &old::Shape::area)
    .pickle([](const old::Shape& shape) { return shape.side; }, [](double side) { return old::Shape(side); });

ANYFFI_EXPORT(area_of, [](const old::Shape& shape) { return shape.area(); }, arg("shape"));
ANYFFI_EXPORT(other, [](old::Color color) { return color == old::Color::kRed ? old::Color::kBlue : old::Color::kRed; });
ANYFFI_EXPORT(total, [](const anyffi::List<int64_t>& numbers, int64_t start) {
  for (int64_t each : numbers) start += each;
  return start;
}, arg("numbers"), arg("start") = 0);
ANYFFI_EXPORT(count, [](const anyffi::Dict<anyffi::String, anyffi::Array<double>>& rows) {
  std::vector<int64_t> sizes;
  for (const auto& [name, row] : rows) sizes.push_back(name.size() * 100 + row.size());
  return sizes;
});
ANYFFI_EXPORT(apply, [](const anyffi::Function& f, anyffi::AnyView x) { return f(x); });
ANYFFI_EXPORT(fail, [](const std::string& text) -> int64_t { throw anyffi::Error("KeyError", text); });
ANYFFI_EXPORT(elements, [](const anyffi::Tensor& t) { return t.numel(); });
"""


@needs_compilers
@pytest.mark.slow("compiling")
@pytest.mark.keeps_live("a module stays loaded, and its classes with it")
def test_an_extension_of_the_first_headers(ffi: Any, build: Build, tmp_path: pathlib.Path) -> None:
    """A library built with the first headers of the ABI still loads and works."""
    with tarfile.open(frozen.HEADERS) as archive:
        # Without a filter, Python versions that have filters print a warning.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(tmp_path)
    old = ffi.load_module(str(build("of_first_headers.cc", OF_FIRST_HEADERS, tmp_path)))
    assert (old.total([1, 2, 3]), old.total(numbers=ffi.List([4]), start=5)) == (6, 9)
    assert old.count({"ab": (1.0, 2.0), "c": []}) == [202, 100]
    assert old.apply(lambda x: [x], "a text that no value holds inline") == [
        "a text that no value holds inline"
    ]
    assert old.other(old.Color.RED) is old.Color.BLUE
    assert old.elements(np.arange(3)) == 3
    with pytest.raises(KeyError, match="no such key"):
        old.fail("no such key")
    with pytest.raises(TypeError, match="argument 0 .numbers., at .0.: expected int, got str"):
        old.total(["x"])

    class Half(old.Shape):
        def area(self) -> float:
            return float(super().area()) / 2

    shape = Half(2)
    shape.tags = ["a", "b"]
    assert (shape.tags, old.area_of(shape), old.area_of(old.Shape(3))) == (["a", "b"], 2, 9)
    assert pickle.loads(pickle.dumps(old.Shape(4))).side == 4
    with pytest.raises(ValueError, match="exists"):
        old.apply(lambda x: int("exists"), 1)


def compare(tmp_path: pathlib.Path, include: pathlib.Path) -> tuple[int, str]:
    """Return the status and the report of abidiff for the declarations below a folder."""
    now = tmp_path / "declarations.abi"
    frozen.write_declarations(now, include)
    words = ["abidiff", frozen.DECLARATIONS, now]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@needs_compilers
@needs_abidiff
def test_the_declarations(tmp_path: pathlib.Path) -> None:
    status, report = compare(tmp_path, INCLUDE)
    assert status == 0, f"{report}\n{HOW}"


@needs_compilers
@needs_abidiff
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  double real;\n", "  double more;\n  double real;\n"),
        ("  double real;\n", "  float real;\n"),
        ("ANYFFI_SET_XOR = 3", "ANYFFI_SET_XOR = 4"),
    ],
    ids=["member", "type", "number"],
)
def test_a_change_is_found(tmp_path: pathlib.Path, before: str, after: str) -> None:
    """The comparison can fail: for an additional member, a narrower one, and another value of an enumerator."""
    changed = tmp_path / "include"
    shutil.copytree(INCLUDE, changed)
    header = changed / "anyffi" / "c_api.h"
    text = header.read_text()
    # In AnyffiComplex; the one of AnyffiComplexRecipe is in another header.
    assert text.count(before) == 1
    header.write_text(text.replace(before, after))
    status, report = compare(tmp_path, changed)
    assert status != 0
    assert re.search("changed|changes", report)
