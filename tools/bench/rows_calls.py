"""Rows of calls: the same call of every contender, with arguments created beforehand."""

from __future__ import annotations

import dataclasses

from .rows import Snippet, call

NO_C = ("cffi", "ctypes")
#: Contenders that take no containers, or do not copy them.
NO_CONTAINERS = (*NO_C, "raw")
NO_OBJECTS = (*NO_CONTAINERS, "floor")

INDEX = "x = (None, ..., slice(0, 100, 2))"
INTS = "x = list(range(1000, 1100))"
STRINGS = "x = [f'key{i}' for i in range(100)]"
ENTRIES = "x = {f'key{i}': i for i in range(100)}"
ARRAYS = "import numpy as np\na, b, c = np.zeros(8), np.zeros(8), np.zeros(8)"
TORCH = "import torch\nx = torch.zeros(8)"
EMPTY = Snippet("np.empty((1, 2, 1))", "import numpy as np")
ADD = Snippet("np.add(a, b, out=c)", ARRAYS)

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
    call("nop((1, 2, 3))", "nop_int_list", "x", "x = (1, 2, 3)", leave_out=NO_CONTAINERS),
    call("nop([1, 2, 3])", "nop_int_list", "x", "x = [1, 2, 3]", leave_out=NO_CONTAINERS),
    call("nop((None, ..., slice))", "nop_index", "x", INDEX, leave_out=NO_CONTAINERS, numpy=EMPTY),
]

CONTAINERS = [
    call("list of 100 ints", "nop_int_list", "x", INTS, "containers", NO_CONTAINERS),
    call("list of 100 strings", "nop_str_list", "x", STRINGS, "containers", NO_CONTAINERS),
    call("dict of 2", "nop_int_dict", "x", "x = {'one': 1, 'two': 2}", "containers", NO_OBJECTS),
    call("dict of 100 str to int", "nop_int_dict", "x", ENTRIES, "containers", NO_OBJECTS),
]

TENSORS = [
    call("one ndarray", "nop_array", "a", ARRAYS, "tensors", NO_OBJECTS),
    call("three ndarrays", "nop_arrays", "a, b, c", ARRAYS, "tensors", NO_OBJECTS, numpy=ADD),
    # Importing torch under callgrind takes minutes.
    dataclasses.replace(
        call("a torch tensor", "nop_array", "x", TORCH, "tensors", (*NO_OBJECTS, "pybind11")), counts=False
    ),
]

CALLBACKS = [
    call("Python callback", "apply", "g, 1000", "def g(x): return x", "callbacks", (*NO_C, "floor")),
]

KEYWORDS = [
    call("f(1, 2)", "subtract", "1, 2", "", "keywords", NO_OBJECTS),
    call("f(1, b=2)", "subtract", "1, b=2", "", "keywords", (*NO_OBJECTS, "tvm-ffi")),
]
