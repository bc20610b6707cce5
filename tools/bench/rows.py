"""What is measured: rows, each with a way to do the same thing for every contender that can."""

from __future__ import annotations

import dataclasses

#: Every contender that has functions, in the order of the columns.
CALLERS = ("anyffi", "raw", "floor", "cython", "nanobind", "pybind11", "cffi", "ctypes", "tvm-ffi")


@dataclasses.dataclass(frozen=True)
class Way:
    """A statement to time, after a setup that makes the names in it; `f` is the contender's function."""

    statement: str
    setup: str = ""
    function: str | None = None


@dataclasses.dataclass(frozen=True)
class Row:
    """The ways of each contender.

    A statement does `per` times what the row is about, and is written out `unrolled` times in a loop. Without
    `counts`, it is pointless to count its instructions.
    """

    name: str
    group: str
    ways: dict[str, Way]
    per: int = 1
    unrolled: int = 10
    counts: bool = True


def call(
    name: str,
    function: str,
    arguments: str = "",
    setup: str = "",
    group: str = "calls",
    leave_out: tuple[str, ...] = (),
    **others: Way,
) -> Row:
    """A call of the same shape of all contenders; `others` have a way of their own."""
    way = Way(f"f({arguments})", setup, function)
    ways = {contender: way for contender in CALLERS if contender not in leave_out}
    return Row(name, group, {**ways, **others})


STRINGS = "x = [f'key{i}' for i in range(100)]"
INDEX = "x = (None, ..., slice(0, 100, 2))"
ARRAYS = "import numpy as np\na, b, c = np.zeros(8), np.zeros(8), np.zeros(8)"
NO_C = ("cffi", "ctypes")
NO_OBJECTS = (*NO_C, "floor")

CALLS = [
    call("nop()", "nop"),
    call("nop(1)", "nop_int", "1"),
    call("nop(1, 2, 3)", "nop_ints", "1, 2, 3"),
    call("nop(1.5)", "nop_float", "1.5"),
    call("nop(None)", "nop_none", "None", leave_out=NO_C),
    call("nop(True)", "nop_bool", "True"),
    call('nop("mystr")', "nop_str", '"mystr"', leave_out=NO_C),
    call("nop(str of 64)", "nop_str", "x", "x = 'x' * 64", leave_out=NO_C),
    call("nop(bytes of 5)", "nop_bytes", "b'mystr'"),
    call("nop(bytes of 64)", "nop_bytes", "x", "x = b'x' * 64"),
    call("int in and out", "add_one", "x", "x = 1000"),
    call("str in and out", "echo_str", '"mystr"', leave_out=NO_C),
    call("nop((1, 2, 3))", "nop_int_list", "(1, 2, 3)", leave_out=NO_C),
    call("nop([1, 2, 3])", "nop_int_list", "x", "x = [1, 2, 3]", leave_out=NO_C),
    call(
        "nop((None, ..., slice(0, 100, 2)))",
        "nop_index",
        "x",
        INDEX,
        leave_out=NO_C,
        numpy=Way("np.empty((1, 2, 1))", "import numpy as np"),
    ),
]

CONTAINERS = [
    call("list of 100 ints", "nop_int_list", "x", "x = list(range(1000, 1100))", "containers", NO_C),
    call(
        "list of 100 strings", "nop_str_list", "x", "x = [f'key{i}' for i in range(100)]", "containers", NO_C
    ),
    call("dict of 2", "nop_int_dict", "x", "x = {'one': 1, 'two': 2}", "containers", NO_OBJECTS),
    call(
        "dict of 100 str to int",
        "nop_int_dict",
        "x",
        "x = {f'key{i}': i for i in range(100)}",
        "containers",
        NO_OBJECTS,
    ),
]

TENSORS = [
    call(
        "one ndarray",
        "nop_array",
        "a",
        ARRAYS,
        "tensors",
        NO_OBJECTS,
    ),
    call(
        "three ndarrays",
        "nop_arrays",
        "a, b, c",
        ARRAYS,
        "tensors",
        NO_OBJECTS,
        numpy=Way("np.add(a, b, out=c)", ARRAYS),
    ),
    call("a torch tensor", "nop_array", "x", "import torch\nx = torch.zeros(8)", "tensors", NO_OBJECTS),
]

CALLBACKS = [
    call(
        "Python callback", "apply", "g, 1000", "def g(x): return x", "callbacks", ("floor", "cffi", "ctypes")
    ),
]

KEYWORDS = [
    call("f(1, 2)", "subtract", "1, 2", "", "keywords", ("raw", *NO_OBJECTS)),
    call("f(1, b=2)", "subtract", "1, b=2", "", "keywords", ("raw", "tvm-ffi", *NO_OBJECTS)),
]

ROWS: list[Row] = [*CALLS, *CONTAINERS, *TENSORS, *CALLBACKS, *KEYWORDS]
