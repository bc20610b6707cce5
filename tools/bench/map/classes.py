"""Classes: creation, methods, attributes, operators, overrides, and objects as arguments and results."""

from __future__ import annotations

from ..rows import Snippet
from .laws import CALL, Shape

NAMES = (
    "Body",
    "Moving",
    "Part",
    "Runner",
    "global_part",
    "other_global_part",
    "shared_part",
    "other_shared_part",
    "take_body",
    "same_part",
    "hold_part",
    "sum_of",
    "sum_of_copies",
    "sum_of_shared",
    "make_parts",
    "shared_parts",
    "run",
)
SETUP = f"""\
{", ".join(NAMES)} = map(find, {NAMES})
class Derived(Body): pass
class Runs(Runner): pass
class Override(Runner):
    def run(self, k): return k
b, c, m, part = Body(1, 2), Body(1, 2), Moving(1, 2), Part(3)
derived, runs, override, parts = Derived(1, 2), Runs(), Override(), [Part(i) for i in range(3)]
inner, shared, kept = b.inner(), b.shared, [global_part(), shared_part()]
other = Body(1, 2)  # nothing of it has an object
many = shared_parts(1000)
"""

#: Statements, by names of what they test.
STATEMENTS = {
    "create an object of two ints": "Body(1, 2)",
    "create an object of one int": "Part(1)",
    "create an object by keyword": "Body(a=1, b=2)",
    "create an object of a derived class": "Moving(1, 2)",
    "create an object of a class of Python": "Derived(1, 2)",
    "call a method": "b.nothing()",
    "call a method with an int": "b.add(3)",
    "call a method by keyword": "b.add(k=3)",
    "call a method with a float and a str": "b.scale(1.5, 'mystr')",
    "call an overloaded method, first": "b.pick(3)",
    "call an overloaded method, second": "b.pick('mystr')",
    "call a static method": "Body.count()",
    "call a method of the base": "m.add(3)",
    "call a method of an object of Python's class": "derived.add(3)",
    "look up a method": "b.add",
    "read an int field": "b.x",
    "read a float field": "b.weight",
    "read a bool field": "b.is_open",
    "read a str field": "b.name",
    "read a vector field": "b.items",
    "read a property": "b.sum",
    "read a field of the base": "m.x",
    "write an int field": "b.x = 1",
    "write a float field": "b.weight = 2.5",
    "write a str field": "b.name = 'mystr'",
    "read a field of class type, wrapped": "b.part",
    "read a field of class type, new": "other.part",
    "read a pointer field, wrapped": "b.pointer",
    "read a shared_ptr field, wrapped": "b.shared",
    "read a shared_ptr field, new": "other.shared",
    "a == b": "b == c",
    "a < b": "b < c",
    "a + b": "b + c",
    "len": "len(b)",
    "index": "b[1]",
    "isinstance": "isinstance(b, Body)",
    "pass an object": "take_body(b)",
    "pass an object of a derived class": "take_body(m)",
    "pass an object of a class of Python": "take_body(derived)",
    "pass a list of objects": "sum_of(parts)",
    "pass a list of 1,000 objects": "sum_of(many)",
    "pass copies of 3 objects": "sum_of_copies(parts)",
    "pass copies of 1,000 objects": "sum_of_copies(many)",
    "pass a list of 1,000 shared objects": "sum_of_shared(many)",
    "return 3 objects by value": "make_parts(3)",
    "return 1,000 objects by value": "make_parts(1000)",
    "return 3 shared objects, wrapped": "shared_parts(3)",
    "return 1,000 shared objects, wrapped": "shared_parts(1000)",
    "return the object of a method": "b.itself()",
    "return an argument": "same_part(part)",
    "return what is inside, wrapped": "b.inner()",
    "return what is inside, new": "other.inner()",
    "return a pointer, wrapped": "b.get_pointer()",
    "return what C++ owns, wrapped": "global_part()",
    "return what C++ owns, new": "other_global_part()",
    "return a shared_ptr, wrapped": "shared_part()",
    "return a shared_ptr, new": "other_shared_part()",
    "pass and return a shared_ptr": "hold_part(part)",
    "return a copy": "b.copy()",
    "C++ calls an override": "run(override, 7)",
    "C++ calls what is not overridden": "run(runs, 7)",
}


def shapes(group: str, word: str, statements: dict[str, str], setup: str, needs: str) -> list[Shape]:
    """Return the shapes of statements that also work with nanobind; `word` begins their names."""
    snippets = {name: Snippet(statement, setup, needs) for name, statement in statements.items()}
    return [
        Shape(f"{word}: {name}", group, {"anyffi": snippet, "nanobind": snippet}, law=CALL)
        for name, snippet in snippets.items()
    ]


SHAPES = shapes("classes", "class", STATEMENTS, SETUP, "Body")
