"""Shapes of tensors: attributes compared with NumPy's, conversion to arrays with `np.from_dlpack`."""

from __future__ import annotations

from ..rows import Snippet
from .laws import CALL, METHOD, TENSOR, Law, Shape
from .methods import Table

SETUP = "import numpy as np, pickle, anyffi\na = np.zeros((4, 5))\n"
PICKLED = "pickled = pickle.dumps(x, 5)"
OURS = f"{SETUP}x, y, one = map(anyffi.convert, (a, a, a[0, 0, ...]))\n{PICKLED}"
THEIRS = f"{SETUP}x, y, one = a, a.view(), a[0, 0, ...]\n{PICKLED}"
MADE = "np.from_dlpack(x)"

#: Attributes and methods of a tensor; a table as those in `methods`.
TENSOR_TABLE: Table = {
    "__len__": (("len(x)", "len(x)"),),
    # NumPy's arrays have no hash; `id` is as short as the hash of an object.
    "__hash__": (("hash(x)", "id(x)"),),
    "__repr__": ("repr(x)",),
    "__reduce__": (),
    "__reduce_ex__": ("pickle.dumps(x, 5)", "pickle.loads(pickled)"),
    "__array_interface__": ("x.__array_interface__",),
    "__numpy_dtype__": (("x.__numpy_dtype__", "x.dtype"),),
    "__int__": ("int(one)",),
    "__float__": ("float(one)",),
    "__complex__": ("complex(one)",),
    "__dlpack__": ("x.__dlpack__()",),
    "__dlpack_device__": ("x.__dlpack_device__()",),
    "data_ptr": (("x.data_ptr()", "x.ctypes.data"),),
    "device": (("x.device", "x.shape"),),
    "dtype": ("x.dtype",),
    "is_contiguous": (("x.is_contiguous()", "x.flags.c_contiguous"),),
    "ndim": ("x.ndim",),
    "nbytes": ("x.nbytes",),
    "__sizeof__": ("x.__sizeof__()",),
    "numel": (("x.numel()", "x.size"),),
    "shape": (
        "x.shape",
        "x.shape[0]",
        "len(x.shape)",
        "a, b = x.shape",
        "x.shape == (4, 5)",
        "tuple(x.shape)",
    ),
    "size": (("x.size", "x.size"),),
    "strides": ("x.strides",),
    "same_as": (("x.same_as(y)", "id(x) == id(y)"),),
    "__eq__": ("x is y",),
    "dtype.": ("str(x.dtype)", "hash(x.dtype)", "x.dtype == a.dtype"),
    "__array__": (),
    # Measured as `memoryview(x)` below.
    "__buffer__": (),
}


def attribute(ours: str, theirs: str) -> Shape:
    snippets = {"anyffi": Snippet(ours, OURS), "python": Snippet(theirs, THEIRS)}
    return Shape(f"Tensor: {ours}", "tensors", snippets, law=METHOD)


def made(
    name: str, statement: str, setup: str = OURS, function: str | None = None, law: Law = TENSOR
) -> Shape:
    snippets = {"anyffi": Snippet(statement, setup, function), "numpy": Snippet(MADE, THEIRS)}
    return Shape(name, "tensors", snippets, law=law)


RESULT = "import numpy as np\nx = np.zeros(8)"
SHAPES = [
    *(
        attribute(*(statement if isinstance(statement, tuple) else (statement, statement)))
        for statements in TENSOR_TABLE.values()
        for statement in statements
    ),
    made("Tensor: np.from_dlpack(x)", "np.from_dlpack(x)"),
    made("Tensor: np.asarray(x)", "np.asarray(x)"),
    made("Tensor: np.array(x, copy=False)", "np.array(x, copy=False)"),
    made("Tensor: memoryview(x)", "memoryview(x)"),
    made("anyffi.from_dlpack(ndarray)", "from_dlpack(a)", f"{OURS}\nfrom_dlpack = anyffi.from_dlpack"),
    made("anyffi.convert(ndarray)", "convert(a)", f"{OURS}\nconvert = anyffi.convert"),
    Shape(
        "result as ndarray",
        "tensors",
        {
            "anyffi": Snippet("np.asarray(f(x))", RESULT, "echo_Tensor"),
            "nanobind": Snippet("f(x)", RESULT, "echo_Tensor"),
        },
        law=CALL,
    ),
    *(
        Shape(
            f"result Native<Tensor>: {name}",
            "tensors",
            {
                "anyffi": Snippet("f(x)", f"import numpy as np\nx = {array}", "as_ndarray"),
                "nanobind": Snippet("f(x)", f"import numpy as np\nx = {array}", "echo_Tensor"),
            },
            law=CALL,
        )
        for name, array in (
            ("float64", "np.zeros(8)"),
            ("rank 4", "np.zeros((2, 3, 4, 5), 'i4')"),
            ("transposed", "np.zeros((3, 4)).T"),
        )
    ),
    Shape(
        "callback of an ndarray to np.float64",
        "tensors",
        {
            "anyffi": Snippet("f(g, x)", f"{RESULT}\nr = np.float64(1)\ndef g(t): return r", "apply"),
            "nanobind": Snippet("f(g, x)", f"{RESULT}\nr = np.float64(1)\ndef g(t): return r", "measure"),
        },
        law=CALL,
    ),
]
