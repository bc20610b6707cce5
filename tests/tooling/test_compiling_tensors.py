"""Typed tensors in a module author's compiler: what does not compile, and why."""

from __future__ import annotations

import pytest
from compiling import compile_text
from support import needs_compilers

pytestmark = [needs_compilers, pytest.mark.slow("compiling")]

EXPORT = 'ANYFFI_EXPORT(g, {}, arg("x"){});\n'

WRONG = {
    "conversion of written elements": (
        "void f(TypedView<double, 2>);" + EXPORT.format("&f", ".convert()"),
        ".convert() may copy, and what is written to a copy is lost: declare the elements const",
    ),
    "conversion of another type": (
        "void f(TensorView);" + EXPORT.format("&f", ".convert()"),
        ".convert() is for parameters of type TypedView or TypedTensor",
    ),
    "unknown elements": (
        "struct S {}; void f(TypedView<S, 2>);" + EXPORT.format("&f", ""),
        "specialise anyffi::DataTypeOf for the type of the elements",
    ),
    "two ranks": (
        "void f(TypedView<double, 2, shape<3>>);" + EXPORT.format("&f", ""),
        "a typed tensor has one rank or shape<...>, of up to 16 axes",
    ),
    "view as a result": (
        "TypedView<double, 1> f(TypedView<double, 1>);" + EXPORT.format("&f", ""),
        "a TypedView borrows its memory; store or return a TypedTensor",
    ),
    "view in a container": (
        "#include <anyffi/stl/vector.h>\nvoid f(std::vector<TypedView<double, 1>>);"
        + EXPORT.format("&f", ""),
        "a container must own its elements",
    ),
    "too few indices": (
        "double f(TypedView<double, 2> x) { return x(1); }",
        "expected an index for each axis",
    ),
    "one index of two axes": (
        "double f(TypedView<double, 2> x) { return x[1]; }",
        "x[i] is for one axis; with more use x(i, j) or row(i)",
    ),
    "row of one axis": (
        "auto f(TypedView<double, 1> x) { return x.row(0); }",
        "only tensors of two or more axes have rows",
    ),
    "column of three axes": (
        "auto f(TypedView<double, 3> x) { return x.col(0); }",
        "only tensors of two axes have columns",
    ),
    "loop over any rank": (
        "void f(TypedView<double> x) { for (double v : x) (void)v; }",
        "a loop over all elements needs a rank, as in TypedView<T, 2>, or row_major",
    ),
    "rows of any rank": (
        "void f(TypedView<double> x) { for (auto row : x.rows()) (void)row; }",
        "only tensors of two or more axes have rows",
    ),
    "elements on a device": (
        "double f(TypedView<double, 1, ANYFFI_kDLCUDA> x) { return x(0); }",
        "the elements are on another device; pass data() to it",
    ),
    "empty tensor of const": (
        "auto f() { return TypedTensor<const double, 1>::empty(3); }",
        "make a tensor of T, which converts to one of const T",
    ),
    "container of another type": (
        "#include <vector>\nauto f() { return TypedTensor<float, 1>::from(std::vector<double>()); }",
        "the container has elements of another type",
    ),
    "no extents": (
        "#include <vector>\nauto f() { return TypedTensor<float, 2>::from(std::vector<float>()); }",
        "give the extents: from(std::move(numbers), {rows, columns})",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_compile(name: str) -> None:
    source, message = WRONG[name]
    program = f"#include <anyffi/anyffi.h>\nusing namespace anyffi;\n{source}"
    done = compile_text(program, "-fsyntax-only")
    assert done.returncode != 0
    assert "anyffi: " + message in done.stderr
    if "ANYFFI_EXPORT" not in source:
        # Compilers report more than one error about a signature.
        assert done.stderr.count(" error: ") == 1


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_what_compiles(standard: str) -> None:
    program = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/complex.h>
#if __cplusplus >= 202002L
#include <span>
double f(anyffi::TypedView<double, 2, anyffi::row_major> x) { return std::span<const double>(x)[0]; }
double f(const anyffi::TypedTensor<double, 1, anyffi::row_major>& x) { return std::span<double>(x)[0]; }
#endif
using namespace anyffi;
enum class Color : uint8_t { red };
ANYFFI_EXPORT(a, [](TypedView<const Color, shape<any, any, 4>> x) { return x.size(); }, arg("x").convert());
ANYFFI_EXPORT(b, [](const TypedView<std::complex<float>, 1>& x) { return x[0]; }, arg("x"));
ANYFFI_EXPORT(c, [](TypedView<bool, 16>, int64_t y) { return y; }, arg("x"), arg("y") = 1);
ANYFFI_EXPORT(d, [](TypedTensor<const char, 1>&& x) { return std::move(x); }, arg("x").convert());
"""
    done = compile_text(program, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-fsyntax-only")
    assert done.returncode == 0, done.stderr
