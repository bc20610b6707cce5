"""Operators, members of many types, enumerations, hierarchies and exceptions of classes."""

from __future__ import annotations

from .classes import shapes

NAMES = (
    "Vec",
    "Deck",
    "Suit",
    "Shape",
    "Circle",
    "CardError",
    "make_shape",
    "area_of",
    "throw_card",
    "take_pointer",
    "take_optional",
    "take_copies",
    "take_either",
    "take_named",
    "take_marked",
    "same_suit",
    "take_suits",
    "all_suits",
    "apply_to_vec",
    "apply_to_number",
)
SETUP = f"""\
import copy, pickle, sys
module = find("module")
if isinstance(module, type(sys)):
    sys.modules[module.__name__] = module  # where pickle looks for its classes
{", ".join(NAMES)} = map(find, {NAMES})
class Area(Shape):
    def area(self): return 3.5
def attempt(f, error):
    try: f()
    except error: pass
v, w, d = Vec(1, 2), Vec(3, 4), Deck()
shape, circle, area = Shape("a"), Circle("b"), Area("c")
shape.next, shape.parts = circle, [circle, Shape("d")]
ruled = Deck()
ruled.rule = lambda card: card
vecs, named, hearts = [v, w], {{"a": v, "b": w}}, Suit.Hearts
pickled = pickle.dumps(v, 5)
"""

#: Statements, by names of what they test.
STATEMENTS = {
    "create an object, overloaded, without arguments": "Vec()",
    "create an object, overloaded, of two floats": "Vec(1.0, 2.0)",
    "create an object, overloaded, by keyword": "Vec(x=1.0, y=2.0)",
    "-a": "-v",
    "a * 2.0": "v * 2.0",
    "2.0 * a": "2.0 * v",
    "a += b": "v += w",
    "a != b": "v != w",
    "a == 1": "v == 1",
    "hash": "hash(v)",
    "str": "str(v)",
    "repr": "repr(v)",
    "abs": "abs(v)",
    "float": "float(v)",
    "bool": "bool(d)",
    "write an element": "d[1] = 5",
    "in": "2 in d",
    "call an object": "d(3)",
    "list of an object that iterates": "list(d)",
    "for each element of an object": "for _ in d: pass",
    "copy": "copy.copy(v)",
    "deep copy": "copy.deepcopy(v)",
    "pickle.dumps": "pickle.dumps(v, 5)",
    "pickle.loads": "pickle.loads(pickled)",
    "read a property that can be set": "v.first",
    "write a property": "v.first = 1.5",
    "write a vector field": "d.cards = [1, 2, 3]",
    "read a map field": "d.prices",
    "write a map field": "d.prices = {'a': 1.0}",
    "read a field of a vector of objects": "d.places",
    "write a field of a vector of objects": "d.places = vecs",
    "read an optional field": "d.limit",
    "write an optional field": "d.limit = 1.5",
    "write None to an optional field": "d.limit = None",
    "read a variant field": "d.label",
    "write a variant field": "d.label = 'mystr'",
    "read a pair field": "d.range",
    "write a pair field": "d.range = (1.0, 2.0)",
    "read a function field": "ruled.rule",
    "call a function field": "ruled.rule(3)",
    "read an enumeration field": "d.suit",
    "write an enumeration field": "d.suit = hearts",
    "read a shared_ptr field of a derived class": "shape.next",
    "write a shared_ptr field": "shape.next = circle",
    "read a field of a vector of shared_ptr": "shape.parts",
    "return what is inside, of an index": "d.place(0)",
    "return a pointer that is NULL": "d.find(-1)",
    "return an optional object": "d.maybe(0)",
    "return an optional object that is None": "d.maybe(-1)",
    "return a pair with an object": "d.both()",
    "return a map of objects": "d.named()",
    "return a unique_ptr": "d.made()",
    "call a method of the object that one returns": "d.cut(1).cut(2)",
    "call a method with two objects": "d.total(v, w)",
    "call a method with two objects by keyword": "d.total(a=v, b=w, by=1.0)",
    "call a static method with a list": "Deck.of([1, 2, 3])",
    "call a method with a callback": "d.each(id)",
    "call a virtual method": "shape.area()",
    "call an override": "area.area()",
    "C++ calls an override without arguments": "area_of(area)",
    "C++ calls a virtual function of C++": "area_of(circle)",
    "return a shared_ptr of a derived class": "make_shape(True)",
    "isinstance of a base": "isinstance(circle, Shape)",
    "pass a pointer": "take_pointer(v)",
    "pass None as a pointer": "take_pointer(None)",
    "pass an optional object": "take_optional(v)",
    "pass copies of two objects": "take_copies(v, w)",
    "pass an object as a variant": "take_either(v)",
    "pass a float as a variant with an object": "take_either(1.5)",
    "pass a dict of objects": "take_named(named)",
    "pass a pair with an object": "take_marked((v, 1.0))",
    "pass and return a member of an enumeration": "same_suit(hearts)",
    "pass a list of members": "take_suits([hearts, hearts])",
    "return a list of members": "all_suits()",
    "a callback takes an object": "apply_to_vec(lambda vec: vec.x)",
    "a callback returns an object": "apply_to_number(lambda x: v)",
    "C++ throws an exception of a class": "attempt(throw_card, CardError)",
    "an index is out of range": "attempt(lambda: d[9], IndexError)",
}

SHAPES = shapes("members", "members", STATEMENTS, SETUP, "Vec")
