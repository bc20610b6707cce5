"""FFI_MODE=check finds a marshaller that was broken on purpose, and names argument, position and both renderings."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest
from support import ROOT, run

pytestmark = pytest.mark.skipif(sys.implementation.name != "cpython", reason="needs both marshallers")

TESTS = ROOT / "tests"


@pytest.fixture(autouse=True)
def _both(both: tuple[Any, Any]) -> None:
    """Deselect where only one marshaller is tested."""


#: The message for each fault of check_faults.py: position, and both renderings.
FAULTS = {
    "wrong_code": r"testing.nop\(\): argument 0: cython makes Int\(5\), ctypes makes Bool\(5\)",
    "wrong_code_of_a_keyword": r"testing.add_one\(\): argument 0 \(x\): cython makes Int\(41\), ctypes makes Pointer\(0x29\)",
    "wrong_place_of_a_keyword": r"testing.raise_error\(\): cython binds \(str 'k', str 'm'\), ctypes binds \(str 'm', str 'k'\)",
    "wrong_code_of_an_element": r"testing.nop\(\): argument 1, at \[1\].values\[0\]: "
    r"cython makes Float\(2.5, 4004000000000000\), ctypes makes Int\(7\)",
    "swapped_arguments": r"testing.nop\(\): argument 0: cython makes Str\(ascii, 'a'\), ctypes makes Str\(ascii, 'b'\)",
    "dropped_argument": r"testing.nop\(\): cython counts arguments: 2, ctypes counts arguments: 1",
    "widened_range": r"testing.nop\(\): argument 1: cython makes BigInt\(.*\) movable, ctypes makes nothing but error\(.*\)",
    "dropped_element": r"argument 0: cython makes List\[Int\(1\), Int\(2\), Int\(3\)\] movable, "
    r"ctypes makes List\[Int\(1\), Int\(2\)\] movable",
    "dropped_entry": r"argument 0: cython makes Dict\[.*'a'.*'b'.*\] movable, ctypes makes Dict\[.*'a'\), Int\(1\)\] movable",
    "changed_text": r"argument 0: cython makes StrView\(latin-1, '.*pl.*ce'\), ctypes makes StrView\(latin-1, '.*c\?'\)",
    "wrong_width": r"argument 0: cython makes StrView\(latin-1, '.*'\), ctypes makes StrView\(utf-16.*'\)",
    "missing_flag": r"argument 0: cython makes List\[Int\(1\)\] movable, ctypes makes List\[Int\(1\)\]$",
    "lost_sharing": r"argument 0, at \[0\]: cython makes List.* counts \(2, 1\), ctypes makes List.* counts \(1, 1\)",
    "exchanged_sharing": r"argument 0, at \[2\]: cython makes .* met before: True, ctypes makes .* met before: True",
    "reference_too_many": r"argument 0, at \[0\]: cython makes List.* counts \(2, 1\), ctypes makes List.* counts \(3, 1\)",
    "another_object": r"argument 0, at \[0\]: cython makes PyObject\(handle 0x.*\), ctypes makes PyObject\(handle 0x.*\)",
    "users_code_in_another_order": r"argument 0: cython asks users' code in one order, ctypes asks users' code in another",
    "raises_what_cython_does_not": r"argument 1: cython makes List.* movable, ctypes makes nothing but RecursionError\(.*\)",
    "does_not_raise_what_cython_does": r"argument 0: cython makes nothing but RecursionError\(.*\), ctypes makes List.* movable",
    "result_of_another_type": r"testing.echo\(\): result: cython reads float 1.5, ctypes reads int \d+",
    "part_of_another_type": r"result: cython reads slice\(int 0, float 1.5, NoneType None\), ctypes reads slice\(int 0, int \d+, ",
    "lost_result": r"testing.echo\(\): result: cython reads float 2.5, ctypes reads NoneType None",
    "changed_result": r"result: cython reads str 'longer .*', ctypes reads str 'LONGER .*'",
    "unreadable_result": r"result: cython reads ellipsis Ellipsis, ctypes reads nothing but TypeError\(.*\)",
    "another_wrapper": r"result: cython reads <anyffi.List object at .*>, ctypes reads <anyffi.List object at .*>",
    "another_class": r"result: cython reads <anyffi.List object at .*>, ctypes reads an object of class Array",
    "another_exception": r"testing.raise_error\(\): result: cython reads nothing but KeyError\(str 'k'\), "
    r"ctypes reads nothing but ValueError\(str 'other'\)",
    "argument_of_a_callback": r"callback echo\(\): argument 1: cython reads float 1.5, ctypes reads int \d+",
    "swapped_arguments_of_a_callback": r"callback echo\(\): argument 0: cython reads int 1, ctypes reads int 2",
    "unreadable_argument_of_a_callback": r"callback echo\(\): argument 0: cython reads ellipsis Ellipsis, "
    r"ctypes reads nothing but TypeError\(.*\)",
    "result_of_a_callback": r"callback echo\(\): result: cython makes Str\(ascii, 'abc'\), ctypes makes Str\(ascii, 'Abc'\)",
    "element_of_a_callbacks_result": r"callback .*<lambda>\(\): result: cython makes List\[Int\(1\), Int\(2\)\], "
    r"ctypes makes List\[Int\(1\)\]",
    "callback_that_ctypes_cannot_leave": r"callback .*<lambda>\(\): result: cython makes List.*, ctypes makes nothing but Recursion",
    "conversion": r"anyffi.convert\(\): cython makes List\[Int\(1\), Int\(2\)\], ctypes makes List\[Int\(1\)\]",
}  # fmt: skip


@pytest.fixture(scope="module")
def said() -> dict[str, tuple[str, str]]:
    """Run check_faults.py, and return the exception of each fault."""
    done = run([sys.executable, TESTS / "support" / "check_faults.py"], FFI_MODE="check")
    assert done.returncode == 0, done.stderr
    found: dict[str, tuple[str, str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_marshaller_is_found(said: dict[str, tuple[str, str]], name: str) -> None:
    raised, message = said[name]
    assert raised == "MarshalMismatch", message
    assert re.search(FAULTS[name], message), message


def test_every_fault_is_expected(said: dict[str, tuple[str, str]]) -> None:
    assert set(said) == set(FAULTS)
