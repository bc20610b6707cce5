"""Directions: each value as argument, result, callback's argument and result, element; types as results."""

from __future__ import annotations

from ..rows import Snippet
from .laws import CALL, METHOD, OPAQUE, TO_PYTHON, Shape
from .types import BY_KEY, TYPES, Type
from .values import SETUP, VALUES, Value

#: Names of the type-erased functions, and of nanobind's typed functions that do the same.
ERASED = {"nop": "take", "echo": "echo", "apply": "apply", "convert": "echo"}
CALLS = {"nop": "f(x)", "echo": "f(x)", "apply": "f(identity, x)", "convert": "f(x)"}

#: Types that nanobind returns as the same Python object, whatever its size.
HANDLES = ("String", "Bytes")

#: Texts of at least this many characters are long.
LONG_TEXT = 1000

# An existing object costs as much as an object of a class.
OBJECT = Snippet("take(x)", "x = find('Point')(1.0, 2.0); take = find('take_Point')", "Point")
# In a callback, it costs as much as a Python object.
PASSED_ON = Snippet("f(identity, x)", f"{SETUP}\nx = slice(1, 2)", "apply_Slice")


def setup_of(value: Value) -> str:
    return f"{SETUP}\nx = {value.code}"


def type_for(value: Value, task: str) -> str | None:
    """Return the first type of a value that has functions for a task."""
    return next((key for key in value.types.split() if task in BY_KEY[key].tasks.split()), None)


def series_of(value: Value) -> str:
    return value.name.rpartition(",")[0] if value.size else ""


def erased(group: str, value: Value, function: str) -> Shape:
    """Make a shape of a function that takes any value, compared with nanobind's for the value's type."""
    statement, setup = CALLS[function], setup_of(value)
    snippets = {"anyffi": Snippet(statement, setup, function), "tvm-ffi": Snippet(statement, setup, function)}
    key, law = type_for(value, ERASED[function]), OPAQUE
    again = group == "passed again"
    if again:
        snippets["nanobind"], law = PASSED_ON if function == "apply" else OBJECT, CALL
        del snippets["tvm-ffi"]
    elif group == "text" and function != "nop" and copied(value) and "bytes" in value.name:
        # nanobind returns the same Python object.
        snippets["python"], law = Snippet(copied(value) or "", setup), METHOD
    elif key is None and group == "mappings":
        # The peer keeps it as an opaque object: a function that needs its entries in C++ gets a dict of them.
        snippets["tvm-ffi"] = Snippet(statement.replace("x)", "dict(x))"), setup, function)
    elif key is not None:
        snippets["nanobind"], law = Snippet(statement, setup, f"{ERASED[function]}_{key}"), CALL
    name = f"{function}({value.name})"
    series = f"{function}({series_of(value)})" if again and function == "nop" else ""
    return Shape(name, group, snippets, law=law, series=series, size=value.size)


def typed(group: str, value: Value, key: str) -> Shape:
    """Make a shape of a typed parameter."""
    ours = Snippet("f(x)", setup_of(value), f"take_{key}")
    name, series = BY_KEY[key].ours, ""
    # A container that already has the parameter's type is not converted.
    again = group == "passed again" and "anyffi::" in name and not mutable_to_immutable(value, name)
    if again:
        series = f"{name}: {series_of(value)}"
    snippets = {"anyffi": ours, "nanobind": OBJECT if again else ours}
    if group == "passed again" and not again:
        # nanobind converts the equal Python container.
        plain = f"{setup_of(value)}\nx = anyffi.to_python(x)"
        snippets["nanobind"] = Snippet("f(x)", plain, f"take_{key}")
    return Shape(f"{name}: {value.name}", group, snippets, series=series, size=value.size)


def typed_result(group: str, value: Value, key: str) -> list[Shape]:
    """Make shapes of a typed parameter that is returned, and handed to a callback that returns it."""
    if key in HANDLES and copied(value):
        return []
    found = []
    for task in ("echo", "apply"):
        if task in BY_KEY[key].tasks.split():
            snippet = Snippet(CALLS[task], setup_of(value), f"{task}_{key}")
            name = f"{task}, {BY_KEY[key].ours}: {value.name}"
            found.append(Shape(name, group, {"anyffi": snippet, "nanobind": snippet}))
    return found


def by_keyword(group: str, value: Value) -> list[Shape]:
    """Make a shape of a typed parameter that is passed by keyword."""
    if not value.types or group == "passed again":
        return []
    key = value.types.split()[0]
    snippet = Snippet("f(x=x)", setup_of(value), f"take_{key}")
    name = f"{BY_KEY[key].ours} by keyword: {value.name}"
    return [Shape(name, group, {"anyffi": snippet, "nanobind": snippet})]


def mutable_to_immutable(value: Value, parameter: str) -> bool:
    """Return whether a parameter copies an existing container."""
    return "Array" in parameter and "List" in value.name


def element(group: str, value: Value) -> list[Shape]:
    """Make shapes of reading and writing a value as an element of a list.

    Without containers, which writing copies. Long text is copied, too, and is compared with a copy.
    """
    if group in ("sequences", "mappings", "sets"):
        return []
    made = f"{setup_of(value)}\ny = x"
    found = []
    for what, statement in (("read", "xs[0]"), ("write", "xs[0] = y")):
        snippets = {
            "anyffi": Snippet(statement, f"{made}; xs = anyffi.List([x, x, x])"),
            "python": Snippet(in_python(what, group, value) or statement, f"{made}; xs = [x, x, x]"),
        }
        found.append(Shape(f"{what} an element: {value.name}", f"element, {group}", snippets, law=METHOD))
    return found


def in_python(what: str, group: str, value: Value) -> str | None:
    """Return the statement to compare with if ours creates an object: of a mutable type, or by an export."""
    if value.name == "c_void_p":
        return "type(x)(5)" if what == "read" else None
    if value.name == "object with __dlpack__":
        return "y.__dlpack__()" if what == "write" else None
    return copied(value) if group == "text" else None


def copied(value: Value) -> str | None:
    """Return a statement that copies a long text `x` once."""
    if value.size < LONG_TEXT:
        return None
    return "x + 'y'" if "str" in value.name else "bytes(memoryview(x))"


def to_python(value: Value) -> Shape | None:
    """Make a shape of `to_python`, compared with the same content created by nanobind."""
    key = type_for(value, "give")
    if key is None or value.size not in (3, 1000):
        return None
    setup = f"{setup_of(value)}\nx = anyffi.convert(x); to_python = anyffi.to_python"
    snippets = {
        "anyffi": Snippet("to_python(x)", setup),
        "nanobind": Snippet(f"f({value.size})", "", f"give_{key}"),
        "tvm-ffi": Snippet("list(x)", f"{setup_of(value)}\nimport tvm_ffi; x = tvm_ffi.convert(x)"),
    }
    if "list" not in value.name:
        del snippets["tvm-ffi"]
    return Shape(f"to_python({value.name})", "to_python", snippets, law=TO_PYTHON)


def given(each: Type) -> list[Shape]:
    """Make shapes of a result."""
    found = []
    for size in (3, 1000) if "<" in each.theirs or "str" in each.key.lower() else (3,):
        snippet = Snippet(f"f({size})", "", f"give_{each.key}")
        name = f"{each.ours.replace('const ', '').replace('&', '')}, {size:,}"
        found.append(Shape(f"result {name}", "results", {"anyffi": snippet, "nanobind": snippet}))
    return found


def of_value(group: str, value: Value) -> list[Shape]:
    found = [erased(group, value, function) for function in ERASED]
    found += [typed(group, value, key) for key in value.types.split()]
    if group != "passed again":
        found += [shape for key in value.types.split() for shape in typed_result(group, value, key)]
    found += by_keyword(group, value)
    found += element(group, value)
    as_python = to_python(value) if group in ("sequences", "mappings", "sets") else None
    return found + ([as_python] if as_python else [])


SHAPES = [
    *(shape for group, values in VALUES.items() for value in values for shape in of_value(group, value)),
    *(shape for each in TYPES if "give" in each.tasks.split() for shape in given(each)),
]
