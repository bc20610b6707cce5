"""The table of container methods: for each name of a class, statements on `x` that use it.

In the statements, `y` is an equal container (of other objects: Python does not compare an object with
itself), `longer` one with one more element, `other` one that differs in its last element, `half` has some of
the elements and `apart` has none, `plain` is an equal Python object.
`first`, `last` and `absent` are elements or keys, `n` is the size, `cls` the class, `np_first` and `np_1` are
NumPy scalars. A pair is our statement and Python's, if they differ: if Python's constructor returns its
argument or a view of it, and ours makes a new container, Python's statement builds one from a list or dict.
"""

from __future__ import annotations

from typing import Union

Statement = Union[str, tuple[str, str]]
Table = dict[str, tuple[Statement, ...]]

#: Names that need no statement: they describe the class, or come from the interpreter.
NOT_METHODS = (
    "__annotate__",
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__class_getitem__",
    "__dict__",
    "__dir__",
    "__dlpack_c_exchange_api__",
    "__doc__",
    "__firstlineno__",
    "__firstlineno__",
    "__init_subclass__",
    "__match_args__",
    "__module__",
    "__new__",
    "__slotnames__",
    "__slots__",
    "__static_attributes__",
    "__static_attributes__",
    "__subclasshook__",
    "__weakref__",
)


def raises(statement: str, error: str) -> str:
    return f"try: {statement}\nexcept {error}: pass"


COMMON: Table = {
    "__len__": ("len(x)",),
    "__contains__": ("first in x", "last in x", "absent in x", "np_first in x"),
    "__iter__": (
        "for _ in x: pass",
        "for a, b in x: pass",
        "sum(x)",
        "list(x)",
        "tuple(x)",
        "[*x]",
        "next(iter(x))",
        "sorted(x)",
        "max(x)",
        "for _ in enumerate(x): pass",
        "for _ in zip(x, y): pass",
        "any(e == absent for e in x)",
        "set(x)",
        "dict.fromkeys(x)",
        "[e for e in x]",
        "list(map(str, x))",
        "min(x)",
    ),
    "__eq__": ("x == y", "x == longer", "x == other", "x == plain", "plain == x", "x == None"),
    "__ne__": ("x != y", "x != longer"),
    "__repr__": ("repr(x)", "f'{x}'"),
    "__copy__": ("copy.copy(x)",),
    "__deepcopy__": ("copy.deepcopy(x)",),
    "__reduce__": ("pickle.dumps(x, 5)", "pickle.loads(pickled)"),
    "__class__": ("isinstance(x, cls)", "isinstance(x, Iterable)"),
    # `is` is no call.
    "same_as": (("x.same_as(y)", "id(x) == id(y)"),),
    "bool": ("not x",),
}

ORDERED: Table = {
    "__lt__": ("x < other", "x < longer"),
    "__le__": ("x <= y",),
    "__gt__": ("x > other",),
    "__ge__": ("x >= y",),
}

SEQUENCE: Table = {
    **COMMON,
    **ORDERED,
    "__init__": ("cls(plain)", "cls()", "cls(x)"),
    "__getitem__": (
        "x[0]",
        "x[-1]",
        "x[1]",
        "x[np_1]",
        "x[0][1]",
        "x[1:-1]",
        "x[:2]",
        "x[::2]",
        "x[:]",
        "x[::-1]",
        raises("x[n]", "IndexError"),
    ),
    "__add__": ("x + y", "x + plain"),
    "__radd__": ("plain + x",),
    "__mul__": ("x * 2",),
    "__rmul__": ("2 * x",),
    "count": ("x.count(first)", "x.count(absent)"),
    "index": (
        "x.index(first)",
        "x.index(last)",
        "x.index(last, n - 1)",
        raises("x.index(absent)", "ValueError"),
    ),
    "reversed": ("for _ in reversed(x): pass",),
    "unpack": ("first_, *_ = x",),
    "__array__": ("np.array(x)",),
    "to_python": (("x.to_python()", "list(x)"),),
}

ARRAY: Table = {
    **SEQUENCE,
    "__init__": (("cls(plain)", "cls(keys)"), "cls()", "cls(x)"),
    "__hash__": ("hash(x)",),
    "thaw": (("x.thaw()", "list(x)"),),
}

LIST: Table = {
    **SEQUENCE,
    "__setitem__": ("x[0] = first", "x[-1] = last", "x[:2] = pair", "x[::2] = x[::2]"),
    "__delitem__": ("x.append(last); del x[-1]", "x[:0] = pair; del x[:2]"),
    "__reversed__": (),
    "append": ("x.append(last); x.pop()", "z = cls()\nfor e in keys: z.append(e)"),
    "clear": ("x.clear(); x.extend(plain)",),
    "copy": ("x.copy()",),
    "extend": ("x.extend(pair); del x[-2:]", "x.extend(y); del x[n:]"),
    "__iadd__": ("x += pair; del x[-2:]",),
    "__imul__": ("x *= 2; del x[n:]",),
    "freeze": (("x.freeze()", "tuple(x)"),),
    "insert": ("x.insert(0, first); del x[0]", "x.insert(1, first); del x[1]"),
    "pop": ("x.append(x.pop())", "x.insert(0, x.pop(0))"),
    "remove": (
        "x.remove(first); x.insert(0, first)",
        "x.remove(last); x.append(last)",
        raises("x.remove(absent)", "ValueError"),
    ),
    "reverse": ("x.reverse()",),
    "sort": (
        "x.sort()",
        "x.reverse(); x.sort()",
        "x.sort(key=str)",
        "x.sort(key=bool)",
        "x.sort(reverse=True)",
    ),
}

MAP: Table = {
    **dict.fromkeys(("__lt__", "__le__", "__gt__", "__ge__"), ()),  # refused, as by Python's
    **COMMON,
    "__init__": ("cls(plain)", "cls(x)"),
    "__getitem__": (
        "x[first]",
        "x[last]",
        "x[np_first]",
        raises("x[absent]", "KeyError"),
        "for e in keys: x[e]",
    ),
    "__or__": ("x | y", "x | plain"),
    "__ror__": ("plain | x",),
    "__reversed__": ("for _ in reversed(x): pass",),
    "copy": ("x.copy()",),
    "get": ("x.get(first)", "x.get(absent)", "x.get(absent, 7)"),
    "items": (
        "x.items()",
        "for _ in x.items(): pass",
        "for k, v in x.items(): pass",
        "list(x.items())",
        "(first, x[first]) in x.items()",
        "len(x.items())",
        "x.items() == y.items()",
        "sorted(x.items())",
        "dict(x.items())",
    ),
    "keys": (
        "x.keys()",
        "for _ in x.keys(): pass",
        "list(x.keys())",
        "first in x.keys()",
        "x.keys() & y.keys()",
        "x.keys() & {first}",
        "x.keys() | {absent}",
        "x.keys() - {first}",
        "x.keys() ^ {first}",
        "x.keys() == y.keys()",
        "x.keys() == {first}",
        "x.keys() >= {first}",
    ),
    "values": ("x.values()", "for _ in x.values(): pass", "list(x.values())", "7 in x.values()"),
    "dict": ("dict(x)", "{**x}"),
}

FROZEN_MAP: Table = {
    **MAP,
    "__init__": (("cls(plain)", "dict(plain)"), "cls(x)"),
    # Python's mappingproxy can neither be copied nor pickled.
    "__deepcopy__": (("copy.deepcopy(x)", "copy.deepcopy(dict(x))"),),
    "__copy__": (("copy.copy(x)", "x.copy()"),),
    "__reduce__": (("pickle.dumps(x, 5)", "pickle.dumps(dict(x), 5)"), "pickle.loads(pickled)"),
    "__hash__": (),  # not hashable, as Python's before 3.12
    "__ior__": (),  # refused, as by Python's
    "thaw": (("x.thaw()", "dict(x)"),),
    "to_python": (("x.to_python()", "dict(x)"),),
}

DICT: Table = {
    **MAP,
    "__init__": ("cls(plain)", "cls()", "cls(x)", "cls(a=1, b=2)"),
    "__setitem__": ("x[first] = 7", "x[last] = 7", "z = cls()\nfor e in keys: z[e] = 7"),
    "__delitem__": ("x[absent] = 7; del x[absent]",),
    "__ior__": ("x |= y", "x |= plain"),
    "clear": ("x.clear(); x.update(pairs)",),
    "freeze": (("x.freeze()", "types.MappingProxyType(dict(x))"),),
    "to_python": (("x.to_python()", "dict(x)"),),
    "fromkeys": ("cls.fromkeys(keys)", "cls.fromkeys(keys, 7)"),
    "pop": ("x[last] = x.pop(last)", "x.pop(absent, None)", raises("x.pop(absent)", "KeyError")),
    "popitem": ("k, v = x.popitem(); x[k] = v",),
    "setdefault": ("x.setdefault(first, 7)", "x.setdefault(absent, 7); del x[absent]"),
    "update": ("x.update(y)", "x.update(plain)", "x.update(pairs)"),
    # Python copies the table of another dict, but reads every other mapping by `keys` and item look-ups.
    "dict": (("dict(x)", "dict(types.MappingProxyType(x))"), ("{**x}", "{**types.MappingProxyType(x)}")),
}

FROZEN_SET: Table = {
    **COMMON,
    **ORDERED,
    "__init__": (("cls(plain)", "cls(keys)"), "cls()", "cls(x)", "cls(keys)"),
    "__hash__": ("hash(x)",),
    "__and__": ("x & half", "x & plain"),
    "__or__": ("x | half", "x | plain"),
    "__sub__": ("x - half", "x - plain"),
    "__xor__": ("x ^ half", "x ^ plain"),
    "__rand__": ("plain & x",),
    "__ror__": ("plain | x",),
    "__rsub__": ("plain - x",),
    "__rxor__": ("plain ^ x",),
    "copy": ("x.copy()",),
    "difference": ("x.difference(half)", "x.difference(keys)"),
    "intersection": ("x.intersection(half)", "x.intersection(keys)"),
    "isdisjoint": ("x.isdisjoint(half)", "x.isdisjoint(apart)"),
    "issubset": ("x.issubset(y)", "x.issubset(longer)"),
    "issuperset": ("x.issuperset(half)", "x.issuperset(keys)"),
    "symmetric_difference": ("x.symmetric_difference(half)",),
    "union": ("x.union(half)", "x.union(keys)"),
    "thaw": (("x.thaw()", "set(x)"),),
    "to_python": (("x.to_python()", "set(x)"),),
}

SET: Table = {
    **{name: row for name, row in FROZEN_SET.items() if name not in ("__hash__", "thaw")},
    "__init__": ("cls(plain)", "cls()", "cls(x)", "cls(keys)"),
    "add": ("x.add(first)", "x.add(absent); x.discard(absent)", "z = cls()\nfor e in keys: z.add(e)"),
    "clear": ("x.clear(); x.update(plain)",),
    "difference_update": ("x.difference_update(apart)",),
    "discard": ("x.discard(absent)", "x.discard(last); x.add(last)"),
    "freeze": (("x.freeze()", "frozenset(x)"),),
    "intersection_update": ("x.intersection_update(y)",),
    "pop": ("x.add(x.pop())",),
    "remove": ("x.remove(last); x.add(last)", raises("x.remove(absent)", "KeyError")),
    "symmetric_difference_update": ("x.symmetric_difference_update(half)",),
    "update": ("x.update(half)", "x.update(keys)"),
    "__iand__": ("x &= y",),
    "__ior__": ("x |= half",),
    "__isub__": ("x -= apart",),
    "__ixor__": ("x ^= half",),
}

#: The tables by class, with the corresponding Python class.
TABLES: dict[str, tuple[str, Table]] = {
    "Array": ("tuple", ARRAY),
    "Shape": ("tuple", ARRAY),
    "List": ("list", LIST),
    "Map": ("types.MappingProxyType", FROZEN_MAP),
    "Dict": ("dict", DICT),
    "FrozenSet": ("frozenset", FROZEN_SET),
    "Set": ("set", SET),
}


def methods_of(cls: type) -> list[str]:
    """List the attributes of a class, except for those inherited from `object` unchanged."""
    names = dict.fromkeys(name for base in cls.__mro__ for name in vars(base))
    return [
        name
        for name in sorted(names)
        if not (name.startswith("_") and not name.startswith("__"))
        and getattr(cls, name, None) is not None
        and getattr(cls, name) is not getattr(object, name, None)
        and name not in NOT_METHODS
    ]


def without_shape(cls: type, table: Table) -> list[str]:
    """List the methods of a class that its table does not have."""
    return [name for name in methods_of(cls) if name not in table]
