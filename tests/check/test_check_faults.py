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
    """Skip these tests if only one marshaller is tested: there is nothing to compare."""


#: The message for each fault of check_faults.py: position, and both renderings.
FAULTS = {
    "wrong_code": r"testing.nop\(\): argument 0: cython packs Int\(5\), ctypes packs Bool\(5\)",
    "wrong_code_of_a_keyword": r"testing.add_one\(\): argument 0 \(x\): cython packs Int\(41\), ctypes packs Pointer\(0x29\)",
    "wrong_place_of_a_keyword": r"testing.raise_error\(\): cython binds \(str 'k', str 'm'\), ctypes binds \(str 'm', str 'k'\)",
    "wrong_code_of_an_element": r"testing.nop\(\): argument 1, at \[1\].values\[0\]: "
    r"cython packs Float\(2.5, 4004000000000000\), ctypes packs Int\(7\)",
    "swapped_arguments": r"testing.nop\(\): argument 0: cython packs Str\(ascii, 'a'\), ctypes packs Str\(ascii, 'b'\)",
    "dropped_argument": r"testing.nop\(\): cython packs 2 arguments, ctypes packs 1 arguments",
    "widened_range": r"testing.nop\(\): argument 1: cython packs BigInt\(.*\) movable, ctypes raises error\(.*\)",
    "dropped_element": r"argument 0: cython packs List\[Int\(1\), Int\(2\), Int\(3\)\] movable, "
    r"ctypes packs List\[Int\(1\), Int\(2\)\] movable",
    "dropped_entry": r"argument 0: cython packs Dict\[.*'a'.*'b'.*\] movable, ctypes packs Dict\[.*'a'\), Int\(1\)\] movable",
    "changed_text": r"argument 0: cython packs StrView\(latin-1, '.*pl.*ce'\), ctypes packs StrView\(latin-1, '.*c\?'\)",
    "wrong_width": r"argument 0: cython packs StrView\(latin-1, '.*'\), ctypes packs StrView\(utf-16.*'\)",
    "missing_flag": r"argument 0: cython packs List\[Int\(1\)\] movable, ctypes packs List\[Int\(1\)\]$",
    "lost_sharing_of_many": r"argument 0, at \[0\]: cython packs List.* counts \(2, 1\), ctypes packs List.* counts \(1, 1\)",
    "lost_sharing": r"argument 0, at \[0\]: cython packs List.* counts \(2, 1\), ctypes packs List.* counts \(1, 1\)",
    "exchanged_sharing": r"argument 0, at \[2\]: cython packs .* met before: True, ctypes packs .* met before: True",
    "reference_too_many": r"argument 0, at \[0\]: cython packs List.* counts \(2, 1\), ctypes packs List.* counts \(3, 1\)",
    "another_object": r"argument 0, at \[0\]: cython packs PyObject\(handle 0x.*\), ctypes packs PyObject\(handle 0x.*\)",
    "users_code_in_another_order": r"argument 0: cython calls users' code in one order, ctypes calls it in another order",
    "raises_what_cython_does_not": r"argument 1: cython packs List.* movable, ctypes raises RecursionError\(.*\)",
    "does_not_raise_what_cython_does": r"argument 0: cython raises RecursionError\(.*\), ctypes packs List.* movable",
    "result_of_another_type": r"testing.echo\(\): result: cython unpacks float 1.5, ctypes unpacks int \d+",
    "part_of_another_type": r"result: cython unpacks slice\(int 0, float 1.5, NoneType None\), ctypes unpacks slice\(int 0, int \d+, ",
    "lost_result": r"testing.echo\(\): result: cython unpacks float 2.5, ctypes unpacks NoneType None",
    "changed_result": r"result: cython unpacks str 'longer .*', ctypes unpacks str 'LONGER .*'",
    "unreadable_result": r"result: cython unpacks ellipsis Ellipsis, ctypes raises TypeError\(.*\)",
    "another_wrapper": r"result: cython unpacks <anyffi.List object at .*>, ctypes unpacks <anyffi.List object at .*>",
    "another_class": r"result: cython unpacks <anyffi.List object at .*>, ctypes unpacks an object of class Array",
    "another_exception": r"testing.raise_error\(\): result: cython raises KeyError\(str 'k'\), "
    r"ctypes raises ValueError\(str 'other'\)",
    "argument_of_a_callback": r"callback echo\(\): argument 1: cython unpacks float 1.5, ctypes unpacks int \d+",
    "swapped_arguments_of_a_callback": r"callback echo\(\): argument 0: cython unpacks int 1, ctypes unpacks int 2",
    "unreadable_argument_of_a_callback": r"callback echo\(\): argument 0: cython unpacks ellipsis Ellipsis, "
    r"ctypes raises TypeError\(.*\)",
    "result_of_a_callback": r"callback echo\(\): result: cython packs Str\(ascii, 'abc'\), ctypes packs Str\(ascii, 'Abc'\)",
    "element_of_a_callbacks_result": r"callback .*<lambda>\(\): result: cython packs List\[Int\(1\), Int\(2\)\], "
    r"ctypes packs List\[Int\(1\)\]",
    "callback_that_ctypes_cannot_leave": r"callback .*<lambda>\(\): result: cython packs List.*, ctypes raises Recursion",
    "conversion": r"anyffi.convert\(\): cython packs List\[Int\(1\), Int\(2\)\], ctypes packs List\[Int\(1\)\]",
    "item_of_another_type": r"anyffi.List, item: cython reads float 1.5, ctypes reads int \d+",
    "unreadable_item": r"anyffi.Array, item: cython reads ellipsis Ellipsis, ctypes raises TypeError\(.*\)",
    "another_index": r"anyffi.Array, item: cython reads int 2, ctypes reads int 3",
    "index_beyond_the_end": r"anyffi.List, item: cython raises IndexError\(.*\), ctypes reads int 1",
    "iteration_that_skips": r"anyffi.List, iterator: cython reads int 2, ctypes reads int 1",
    "iteration_that_ends_early": r"anyffi.Dict, iterator: cython reads \(str 'a', int 1\), ctypes raises StopIteration\(\)",
    "shifted_text": r"argument 0: cython packs StrView\(latin-1, '.*pl.*ce'\), ctypes packs StrView\(latin-1, 'onger.*'\)",
    "lost_items_of_all_levels": r"anyffi.to_python\(\): cython reads .*, ctypes reads .*",
    "lost_items_of_a_copy": r"testing.stl.vector_int\(\): result: cython unpacks .*, ctypes unpacks .*",
    "copy_that_stays_a_reference": r"testing.results.pairs\(\): result: cython unpacks .*, ctypes unpacks .*anyffi.Dict.*",
    "copy_for_a_callback_that_stays_a_reference": r"callback .*: argument 0: cython unpacks .*, ctypes unpacks .*",
    "lost_items": r"anyffi.Array, items: cython reads \(int 1, int 2\), ctypes reads \(int 1\)",
    "lost_key": r"anyffi.Map, item: cython reads int 1, ctypes reads NoneType None",
    "lost_element": r"anyffi.Set, element: cython reads bool True, ctypes reads bool False",
}  # fmt: skip


@pytest.fixture(scope="module")
def raised_by_fault() -> dict[str, tuple[str, str]]:
    """Run check_faults.py, and return the exception of each fault."""
    done = run([sys.executable, TESTS / "support" / "check_faults.py"], FFI_MODE="check")
    assert done.returncode == 0, done.stderr
    found: dict[str, tuple[str, str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_marshaller_is_found(raised_by_fault: dict[str, tuple[str, str]], name: str) -> None:
    raised, message = raised_by_fault[name]
    assert raised == "MarshalMismatch", message
    assert re.search(FAULTS[name], message), message


def test_every_fault_is_expected(raised_by_fault: dict[str, tuple[str, str]]) -> None:
    assert set(raised_by_fault) == set(FAULTS)
