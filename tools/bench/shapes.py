"""Calls whose instructions are counted; `f` is a function of `anyffi.testing`."""

from __future__ import annotations

from typing import NamedTuple


class Shape(NamedTuple):
    """One call. `function` is the registered name of `f`, without its prefix ``testing.``."""

    name: str
    statement: str
    setup: str = ""
    function: str = "nop"


NUMPY = "import numpy as np; a, b, c = np.zeros(8), np.zeros(8), np.zeros(8)"
LIST = "xs = anyffi.List(range(1000, 1100))"
#: One key. Among many, the random numbers of the process decide which collide.
DICT = "d = anyffi.Dict({'key7': 7})"
DATACLASS = """\
import typing
@anyffi.dataclass
class Node:
    number: int = 1000
    next: typing.Any = None
x = Node()"""

SHAPES = (
    Shape("nop()", "f()"),
    Shape("nop(int)", "f(1)"),
    Shape("nop(int, int, int)", "f(1, 2, 3)"),
    Shape("nop of 12 ints", "f(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)"),
    Shape("nop(float)", "f(1.5)"),
    Shape("nop(bool)", "f(True)"),
    Shape("nop(None)", "f(None)"),
    Shape("nop(short str)", "f('mystr')"),
    Shape("nop(long str)", "f(x)", "x = 'x' * 64"),
    Shape("nop(non-ASCII str)", "f(x)", "x = chr(0x4e00) * 64"),
    Shape("nop(short bytes)", "f(b'mystr')"),
    Shape("nop(long bytes)", "f(x)", "x = b'x' * 64"),
    Shape("nop(big int)", "f(x)", "x = 2**70"),
    Shape("nop(object)", "f(x)", "x = object()"),
    Shape("nop(np.float64)", "f(x)", "import numpy as np; x = np.float64(1.5)"),
    Shape("nop(np.int64)", "f(x)", "import numpy as np; x = np.int64(1)"),
    Shape("nop(tuple of 3)", "f(x)", "x = (1, 2, 3)"),
    Shape("nop(tuple with a slice)", "f(x)", "x = (None, ..., slice(0, 100, 2))"),
    Shape("nop(list of 3)", "f(x)", "x = [1, 2, 3]"),
    Shape("nop(list of 100 ints)", "f(x)", "x = list(range(1000, 1100))"),
    Shape("nop(list of 100 short str)", "f(x)", "x = [f'key{i}' for i in range(100)]"),
    Shape("nop(nested lists)", "f(x)", "x = [[1, 2], [3, 4], [5, [6]]]"),
    Shape("nop(dict of 2)", "f(x)", "x = {'one': 1, 'two': 2}"),
    Shape("nop(dict of 100)", "f(x)", "x = {f'key{i}': i for i in range(100)}"),
    Shape("nop(set of 3)", "f(x)", "x = {1, 2, 3}"),
    Shape("nop(ndarray)", "f(a)", NUMPY),
    Shape("nop(three ndarrays)", "f(a, b, c)", NUMPY),
    Shape("nop(List)", "f(xs)", LIST),
    Shape("nop(function)", "f(len)"),
    Shape("echo(int)", "f(1000)", function="echo"),
    Shape("echo(str)", "f('mystr')", function="echo"),
    Shape("echo(long str)", "f(x)", "x = 'x' * 64", function="echo"),
    Shape("echo(tuple of 3)", "f(x)", "x = (1, 2, 3)", function="echo"),
    Shape("echo(List)", "f(xs)", LIST, function="echo"),
    Shape("add_one(int)", "f(1000)", function="add_one"),
    Shape("add_one(x=int)", "f(x=1000)", function="add_one"),
    Shape("callback", "f(g, 1000)", "def g(x): return x", function="apply"),
    Shape("const Function&", "f(g, 0)", "def g(x): return x", function="catch_repeatedly"),
    Shape("error", "\n    try: f('x')\n    except TypeError: pass", function="add_one"),
    Shape("List[i]", "xs[5]", LIST),
    Shape("iterate a List of 100", "\n    for x in xs: pass", LIST),
    Shape("len(List)", "len(xs)", LIST),
    Shape("List.append and pop", "xs.append(1); xs.pop()", LIST),
    Shape("to_python(List of 100)", "anyffi.to_python(xs)", LIST),
    Shape("Dict[key]", "d['key7']", DICT),
    Shape("Tensor.shape", "t.shape", NUMPY + "; t = anyffi.convert(a)"),
    Shape("read a field of a dataclass", "x.number", DATACLASS),
    Shape("write an object into a field", "x.next = x", DATACLASS),
)
