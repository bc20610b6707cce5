"""Output of `help`, `inspect` and completion for functions and modules."""

from __future__ import annotations

import inspect
import pydoc
import re
import sys
import types
from typing import Any

import pytest
from support import Build, needs_compilers

MODULE = r"""
#include <anyffi/anyffi.h>
static int64_t add_one(int64_t x) { return x + 1; }
static double area(double w, double h) { return w * h; }
ANYFFI_EXPORT(help_add_one, &add_one, anyffi::arg("x")).doc("Return x + 1.\n\nOf an int.");
ANYFFI_EXPORT(help_area, &area, anyffi::arg("width"), anyffi::arg("height") = 1.5);
"""
PLAIN = r"""
#include <anyffi/c_api.h>
int32_t __anyffi_abi_version = ANYFFI_ABI_VERSION;
int __anyffi_help_plain(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  (void)self, (void)args, (void)num_args, (void)result;
  return 0;
}
"""


def shown(x: Any) -> str:
    """Return the output of `help`."""
    return pydoc.render_doc(x, renderer=pydoc.plaintext)


def annotations_shown(signature: str) -> str:
    """Return a signature as `help` shows it: since Python 3.14 without quotes around annotations."""
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", signature) if sys.version_info >= (3, 14) else signature


@pytest.mark.unrecorded("about a function as an object")
def test_help_of_a_function_shows_all_of_its_signature(ffi: Any) -> None:
    function = ffi.get_global_func("testing.typed.changeable_defaults")
    signature, _, doc = shown(function).partition(function.__name__)[2].partition("\n    Return")
    # Python 3.13 breaks long lines.
    expected = annotations_shown(str(inspect.signature(function)))
    # Python 3.14 shows the name twice.
    assert "".join(signature.split()).endswith("".join(expected.split()))
    assert doc == " the arguments, of which the defaults are mutable.\n"
    assert str(inspect.signature(function)) == (
        "(xs: 'List[Any]' = [1, 2], d: 'Dict[Any, Any]' = {'k': 1}, s: 'Set[Any]' = {1}, "
        "nested: 'Any' = ([1], 'x'), f: 'Any' = ...) -> 'Array[Any]'"
    )
    assert inspect.isroutine(function)
    overloaded = ffi.get_global_func("testing.authoring.area")
    assert f"testing.authoring.area{annotations_shown(str(inspect.signature(overloaded)))}\n" in shown(
        overloaded
    )


@pytest.mark.unrecorded("about a function as an object")
def test_help_of_a_python_module(ffi: Any) -> None:
    module = types.ModuleType("help_of_functions")
    module.__all__ = ["add_one"]  # type: ignore[attr-defined]
    module.add_one = ffi.get_global_func("testing.add_one")  # type: ignore[attr-defined]
    text = shown(module)
    assert "\nFUNCTIONS\n" in text
    signature = annotations_shown("(x: 'int') -> 'int'")
    assert f"testing.add_one{signature}\n        Return x + 1.\n" in text


@pytest.mark.unrecorded("about a function as an object")
def test_a_function_in_a_class_binds_nothing(ffi: Any) -> None:
    # Looked up once: while another backend has a wrapper of it, each lookup makes a new one.
    function = ffi.get_global_func("testing.add_one")

    class Holder:
        add_one = function

    assert Holder.add_one is Holder().add_one is function
    assert Holder().add_one(1) == 2


@pytest.mark.keeps_live(reason="a module stays loaded, with what it registered")
@needs_compilers
def test_help_of_a_module_shows_its_functions(ffi: Any, build: Build) -> None:
    module = ffi.load_module(build("help.cc", MODULE))
    doc = (
        "Functions:\n\nhelp_add_one(x: int) -> int\n    Return x + 1.\n\n    Of an int.\n\n"
        "help_area(width: float, height: float = 1.5) -> float"
    )
    assert module.__doc__ == inspect.getdoc(module) == doc
    assert [line.strip() for line in doc.splitlines()] == [
        line.strip() for line in shown(module).splitlines()[3:]
    ]
    plain = ffi.load_module(build("help_plain.c", PLAIN))
    assert plain.__doc__ == "Functions:\n\nhelp_plain(*args)"
    plain.import_module(module)
    assert plain.__doc__ == f"{doc}\n\nhelp_plain(*args)"
    assert (
        ffi.Module.__doc__
        == "A shared library; its functions, classes and constants, and those of its imports, are attributes."
    )


CLASSES = r"""
#include <anyffi/anyffi.h>
#include <stdexcept>
namespace help {
struct Base {};
struct Derived : Base {};
enum class Mode { kFast };
struct Failure : std::runtime_error { using std::runtime_error::runtime_error; };
}  // namespace help
ANYFFI_CLASS(help::Base, "help.Base").doc("What others\nderive from.");
ANYFFI_CLASS(help::Derived, "help.Derived", help::Base);
ANYFFI_ENUM(help::Mode, "help.Mode").doc("How.").value("FAST", help::Mode::kFast, "Not slow.");
ANYFFI_EXCEPTION(help::Failure, "help.Failure", "ValueError").doc("No.");
"""


@pytest.mark.keeps_live(reason="a module stays loaded, with what it registered")
@needs_compilers
def test_help_of_a_module_shows_its_classes(ffi: Any, build: Build) -> None:
    module = ffi.load_module(build("help_classes.cc", CLASSES))
    doc = (
        "Classes:\n\nBase(Object)\n    What others\n    derive from.\n\nDerived(Base)\n\n"
        "Failure(ValueError)\n    No.\n\nMode(IntEnum)\n    How.\n\n    FAST\n        Not slow."
    )
    assert module.__doc__ == doc
    assert "\n    Derived(Base)\n" in shown(module)
    module.Base = 5
    module.import_module(ffi.load_module(build("help.cc", MODULE)))
    assert module.__doc__.startswith(f"{doc}\n\nFunctions:\n\nhelp_add_one(x: int) -> int\n")


def test_annotations(ffi: Any) -> None:
    defaults = ffi.get_global_func("testing.typed.defaults")
    expected = {"a": "int", "b": "str", "c": "float", "return": "Array[Any]"}
    assert defaults.__annotations__ == expected
    defaults.__annotations__.clear()
    assert defaults.__annotations__ == expected
    assert ffi.get_global_func("testing.typed.unnamed").__annotations__ == {
        "arg0": "int", "arg1": "int", "return": "int",
    }  # fmt: skip
    for name in ("testing.nop", "testing.authoring.area"):
        assert ffi.get_global_func(name).__annotations__ == {}
    assert ffi.convert(len).__annotations__ == {}
    # Annotations of the class do not hide those of functions.
    assert ffi.Function.__annotations__ == {}
    assert defaults.__annotations__ == expected


def test_changing_a_default_in_the_signature_changes_no_call(ffi: Any) -> None:
    function = ffi.get_global_func("testing.typed.changeable_defaults")
    before = ffi.to_python(function())[:4]
    assert before == ([1, 2], {"k": 1}, {1}, ([1], "x"))
    for _ in range(2):
        defaults = {name: param.default for name, param in inspect.signature(function).parameters.items()}
        assert (defaults["xs"], defaults["d"], defaults["s"], defaults["nested"]) == before
        defaults["xs"].append(3)
        defaults["d"].clear()
        defaults["s"].add(2)
        defaults["nested"][0].append(2)
        assert not hasattr(defaults["f"], "__call__")
    assert ffi.to_python(function())[:4] == before
