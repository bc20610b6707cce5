"""`dtype`: the type of a tensor's elements."""

from __future__ import annotations

import functools
import operator
import sys

from .._builtins import *  # noqa: F403
from .._typing import TYPE_CHECKING, Any
from .culprits import blame

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "FIRST_OF_USERS",
    "dtype",
    "find_dtype",
    "find_torch_class",
    "is_kept",
    "read_dtype",
    "share_dtype",
]

#: DLPack's codes, by names to which a width is appended.
_CODES = {"int": 0, "uint": 1, "float": 2, "handle": 3, "bfloat": 4, "complex": 5, "bool": 6}
_NAMES = {code: name for name, code in _CODES.items()}
#: The default widths of names that may be used without one.
_USUAL_BITS = {"bool": 8, "handle": 64}
#: Codes and widths of names that include both.
_FORMATS = {
    "float8_e3m4": (7, 8),
    "float8_e4m3": (8, 8),
    "float8_e4m3b11fnuz": (9, 8),
    "float8_e4m3fn": (10, 8),
    "float8_e4m3fnuz": (11, 8),
    "float8_e5m2": (12, 8),
    "float8_e5m2fnuz": (13, 8),
    "float8_e8m0fnu": (14, 8),
    "float6_e2m3fn": (15, 6),
    "float6_e3m2fn": (16, 6),
    "float4_e2m1fn": (17, 4),
}
#: The codes of floating-point numbers in any format.
_FLOATS = frozenset([_CODES["float"], _CODES["bfloat"], *(code for code, _ in _FORMATS.values())])
_FORMAT_NAMES = {both: name for name, both in _FORMATS.items()}
_MAX_CODE, _MAX_BITS, _MAX_LANES = 0xFF, 0xFF, 0xFFFF
_SPELLING = rf"({'|'.join(_CODES)}|[a-z]+)(\d*)(?:_([a-wyz\d]*))?(?:x(\d*))?"

_Triple = tuple[int, int, int]


class dtype(str):
    """The type of a tensor's elements, as DLPack defines it; also a `str`, its name.

    Parameters
    ----------
    spelling : str or numpy.dtype or torch.dtype or type
        A name, such as ``"bool"``, ``"float32"``, ``"float8_e4m3fn"`` or ``"float32x4"`` (four lanes); or a
        dtype of NumPy, ml_dtypes or PyTorch or a scalar class of NumPy or ml_dtypes, to which the result is
        equal.

    Raises
    ------
    ValueError
        There is no such type; the message has the position of the error in the name.
    TypeError
        A dtype without a DLPack code: byte-swapped, structured, object, text, date, quantized.

    Notes
    -----
    The hash is that of the name. NumPy's dtypes also equal their names, but have other hashes.

    Examples
    --------
    >>> anyffi.dtype("float32")
    anyffi.dtype('float32')
    >>> anyffi.dtype("float32x4").itemsize
    16
    >>> anyffi.dtype("float32") == "float32"
    True
    >>> anyffi.dtype("float8_e4m3fn").is_float, anyffi.dtype("bool").is_integer
    (True, False)
    """

    __slots__ = ()
    __module__ = "anyffi"

    def __new__(cls, spelling: Any) -> Self:
        if cls is dtype and type(spelling) is str:
            shared = _by_name.get(spelling)
            if shared is not None:
                return shared  # type: ignore[return-value]
        if issubclass(type(spelling), str):
            return cls.from_dlpack_data_type(_parse(str.__str__(spelling)))
        found = find_dtype(spelling)
        if found is None:
            raise TypeError(
                f"expected the name of a dtype or one of NumPy or PyTorch, got {type(spelling).__name__}"
            )
        return cls.from_dlpack_data_type(found)

    @classmethod
    def from_dlpack_data_type(cls, data_type: _Triple) -> Self:
        """Return the dtype of DLPack's code, bits and lanes.

        Parameters
        ----------
        data_type : (int, int, int)
            The content of a C struct ``DLDataType``.
        """
        code, bits, lanes = map(operator.index, data_type)
        shared = _by_triple.get((code, bits, lanes)) if cls is dtype else None
        if shared is not None:
            return shared  # type: ignore[return-value]
        if not (0 <= code <= _MAX_CODE and 0 <= bits <= _MAX_BITS and 0 <= lanes <= _MAX_LANES):
            raise OverflowError(f"{(code, bits, lanes)} does not fit a data type of DLPack")
        made = str.__new__(cls, _spell(code, bits, lanes))
        return _share(made, code, bits, lanes) if cls is dtype else made  # type: ignore[return-value]

    @property
    def type_code(self) -> int:
        """DLPack's code for the kind of number, such as float."""
        return read_dtype(self)[0]

    @property
    def bits(self) -> int:
        """Bits of one number."""
        return read_dtype(self)[1]

    @property
    def lanes(self) -> int:
        """Numbers in one element."""
        return read_dtype(self)[2]

    @property
    def itemsize(self) -> int:
        """Bytes of one element, with all lanes."""
        _, bits, lanes = read_dtype(self)
        return (bits * lanes + 7) // 8

    @property
    def is_bool(self) -> bool:
        """Whether the numbers are booleans."""
        return self.type_code == _CODES["bool"]

    @property
    def is_integer(self) -> bool:
        """Whether the numbers are integers, signed or unsigned."""
        return self.type_code in (_CODES["int"], _CODES["uint"])

    @property
    def is_float(self) -> bool:
        """Whether the numbers are floating-point numbers of any format."""
        return self.type_code in _FLOATS

    @property
    def is_handle(self) -> bool:
        """Whether the elements are opaque pointers."""
        return self.type_code == _CODES["handle"]

    def with_lanes(self, lanes: int) -> Self:
        """Return the type with the same numbers and another number of lanes."""
        return self.from_dlpack_data_type((self.type_code, self.bits, lanes))

    def __repr__(self) -> str:
        return f"anyffi.dtype({str.__str__(self)!r})"

    def __eq__(self, other: object) -> Any:
        if self is other:
            return True  # most dtypes are shared
        # Fast path for NumPy's usual dtypes: equal ones have the same name.
        known = _known.get(id(other))
        if known is not None:
            return str.__eq__(self, known[2])
        if issubclass(type(other), str):
            return str.__eq__(self, other)
        try:
            found = find_dtype(other)
        except TypeError:
            return NotImplemented
        return NotImplemented if found is None else found == read_dtype(self)

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    __hash__ = str.__hash__


def read_dtype(x: dtype) -> _Triple:
    """Return code, bits and lanes of a dtype, ignoring overrides of a subclass."""
    return _parse(str.__str__(x))


#: The number of codes with names. Their dtypes with one lane are shared: few enough to keep all.
_SHARED_CODES = 18
_by_triple: dict[_Triple, dtype] = {}
_by_name: dict[str, dtype] = {}


def _share(made: dtype, code: int, bits: int, lanes: int) -> dtype:
    """Return the shared object for a dtype, if there is one."""
    if lanes != 1 or code >= _SHARED_CODES:
        return made
    made = _by_triple.setdefault((code, bits, lanes), made)
    return _by_name.setdefault(str.__str__(made), made)


def share_dtype(code: int, bits: int, lanes: int) -> dtype:
    """Return the dtype with a code, bits and lanes; usually a shared object."""
    return _by_triple.get((code, bits, lanes)) or dtype.from_dlpack_data_type((code, bits, lanes))


def _spell(code: int, bits: int, lanes: int) -> str:
    name = _FORMAT_NAMES.get((code, bits)) or _NAMES.get(code)
    if name is None or 0 in (bits, lanes):
        name = f"code{code}_{bits}"
    elif code in _NAMES and _USUAL_BITS.get(name) != bits:
        name = f"{name}{bits}"
    return name if lanes == 1 else f"{name}x{lanes}"


@functools.lru_cache(maxsize=256)
def _parse(text: str) -> _Triple:
    # Imported late: it would take a tenth of this package's import time.
    import re

    def fail(place: int, problem: str) -> ValueError:
        return ValueError(f"dtype {text!r}: {problem} at position {place}")

    found = re.match(_SPELLING, text, re.ASCII)
    if found is None:
        raise fail(0, "expected a name")
    if found.end() != len(text):
        raise fail(found.end(), f"unexpected {text[found.end()]!r}")

    def number(group: int, what: str, least: int, most: int) -> int:
        digits = found[group]
        # Rejects leading zeros and numbers with too many digits.
        if not re.fullmatch("0|[1-9][0-9]{0,4}", digits) or not least <= int(digits) <= most:
            raise fail(found.start(group), f"expected {what} from {least} to {most}")
        return int(digits)

    name, bits, detail, lanes = found.groups()
    # Every content of the C struct has a name of this form.
    is_code = name == "code" and detail is not None
    spelled = f"{name}{bits}_{detail}"
    if spelled in _FORMATS:
        code, width = _FORMATS[spelled]
    elif is_code:
        code, width = number(2, "a code", 0, _MAX_CODE), number(3, "a number of bits", 0, _MAX_BITS)
    elif name not in _CODES:
        raise fail(0, f"unknown name {name!r}")
    elif detail is not None:
        raise fail(found.start(3), f"unknown format {detail!r}")
    else:
        code, width = _CODES[name], _USUAL_BITS.get(name, 0)
        if bits or not width:
            width = number(2, "a number of bits", 1, _MAX_BITS)
    if lanes is None:
        return code, width, 1
    return code, width, number(4, "a number of lanes", 0 if is_code else 1, _MAX_LANES)


#: DLPack's codes by NumPy's `dtype.kind`.
_NUMPY_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
#: `dtype.num` of longdouble and clongdouble, which have padding and a platform-dependent size.
_PADDED = (13, 16)
#: From this `dtype.num` on, dtypes belong to other libraries.
FIRST_OF_USERS = 24
#: Scalar classes with several dtypes: passed like any other class.
_ABSTRACT = (
    *("generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact", "floating"),
    *("complexfloating", "flexible", "character"),
)


#: Triples and names by id, of dtypes that are the only one of their scalar class, and of these classes; all
#: are kept alive.
_known: dict[int, tuple[Any, _Triple, str]] = {}


def find_dtype(x: Any) -> _Triple | None:
    """Return code, bits and lanes of a dtype or scalar class of NumPy, ml_dtypes or PyTorch; None for others.

    Raises
    ------
    TypeError
        DLPack has no code for it.
    """
    known = _known.get(id(x))
    if known is not None:
        return known[1]
    if type(x) is find_torch_class("dtype"):
        triple = _of_torch(x)
        _known[id(x)] = x, triple, _spell(*triple)
        return triple
    np: Any = sys.modules.get("numpy")
    if np is None or not hasattr(np, "generic"):
        return None
    if issubclass(type(x), np.dtype):
        triple = _of_numpy(x)
        if np.dtype(x.type) is x:
            _known[id(x)] = x, triple, _spell(*triple)
        return triple
    if not issubclass(type(x), type) or not issubclass(x, np.generic):
        return None
    if any(x is getattr(np, name) for name in _ABSTRACT):
        return None
    found = np.dtype(x)
    if found.type is not x:
        return None
    triple = _of_numpy(found, given=x)
    _known[id(x)] = x, triple, _spell(*triple)
    return triple


def find_torch_class(name: str) -> Any:
    """Return a class of PyTorch, or None; a module that loads at its first use is not loaded."""
    try:
        return object.__getattribute__(sys.modules["torch"], "__dict__").get(name)
    except (KeyError, AttributeError):
        return None


def is_kept(x: Any) -> bool:
    """Return whether a data type is never freed or changed, so that its address identifies it."""
    return id(x) in _known or (type(x) is dtype and _by_name.get(x) is x)


def _of_numpy(x: Any, *, given: Any = None) -> _Triple:
    """Return the triple of a dtype, for which a scalar class may be given."""
    code = _NUMPY_CODES.get(x.kind)
    if x.isnative and x.num < FIRST_OF_USERS and x.num not in _PADDED and code is not None:
        return code, x.itemsize * 8, 1
    ml_dtypes = sys.modules.get("ml_dtypes")
    if x.isnative and ml_dtypes is not None and getattr(ml_dtypes, x.name, None) is x.type:
        try:
            return _parse(x.name)  # the names are the same
        except ValueError:
            pass
    raise blame(TypeError(f"dtype {x} has no DLPack code{_advise(x)}"), x if given is None else given)


def _of_torch(x: Any) -> _Triple:
    # The names are the same, except for two numbers in one byte, such as `float4_e2m1fn_x2`.
    name = str(x).rpartition(".")[2].replace("_x", "x")
    try:
        return _parse(name)
    except ValueError:
        raise blame(TypeError(f"dtype {x} has no DLPack code"), x) from None


def _advise(x: Any) -> str:
    """Return advice for an array whose dtype tensors do not support."""
    if not x.isnative:
        return "; pass the array's .astype(dtype.newbyteorder('='))"
    if x.kind in "OSUT":
        return "; pass the array's .tolist()"
    return "; pass the array's .view('int64')" if x.kind in "mM" else ""
