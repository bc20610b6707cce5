"""Values as JSON and back; text that is not such JSON is refused."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import hypothesis
import numpy
import pytest
import strategies
from calculus_sources import IR
from hypothesis import strategies as st
from support import Build, needs_compilers

VALUES: list[Any] = [
    None,
    True,
    0,
    -(2**63),
    2**63,
    -(2**64),
    2**200 + 1,
    0.0,
    -0.0,
    1e300,
    5e-324,
    0.1,
    1e22,
    math.inf,
    -math.inf,
    1 + 2j,
    complex(-0.0, math.inf),
    "",
    'quotes " and \\ and \n and \x00 and \x7f',
    "äöü",
    "日本語",
    "\U0001f600",
    "\ud83d\ude00",
    b"",
    b"\x00\xff" * 20,
    ...,
    [],
    (),
    {},
    set(),
    frozenset(),
    [1, [2, (3, {"a": 4})]],
    {"a": 1, "ä": [2], '"': 3},
    {1: 2, None: [3], (1, 2): 4, b"x": 5},
    {"\ud800": 1},
    {1, "a", (2, 3)},
    slice(1, None, [2]),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda x: type(x).__name__)
def test_round_trips(ffi: Any, value: Any) -> None:
    text = ffi.to_json(value)
    assert json.loads(text)["version"] == 1
    made = ffi.from_json(text)
    assert ffi.structural_equal(made, value)
    assert repr(made) == repr(ffi.convert(value))
    assert ffi.to_json(made) == text
    assert ffi.structural_equal(ffi.from_json(text.encode()), value)


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float64", "complex64", "bool"])
def test_tensors(ffi: Any, dtype: str) -> None:
    array = numpy.arange(6).astype(dtype).reshape(2, 3)
    for each in (array, array.T, array[::-1], array[:, :0], numpy.array(array[1, 1])):
        made = ffi.from_json(ffi.to_json([each]))[0]
        assert made.shape == each.shape
        assert str(made.dtype) == dtype
        assert numpy.array_equal(numpy.from_dlpack(made) if dtype != "bool" else numpy.asarray(made), each)


def test_dtypes_and_devices(ffi: Any) -> None:
    import anyffi

    values = [anyffi.dtype(x) for x in ("float32", "int8x4", "bool", "float8_e4m3fn", "bfloat16")]
    values += [anyffi.Device("cuda:1"), anyffi.Device("cpu")]
    assert list(ffi.from_json(ffi.to_json(values))) == values


def test_what_is_shared_stays_so(ffi: Any) -> None:
    inner = ffi.List([1])
    value = ffi.List([inner, {"a": inner}, (inner,)])
    made = ffi.from_json(ffi.to_json(value))
    assert made[0].same_as(made[1]["a"])
    assert made[0].same_as(made[2][0])
    shared: Any = ffi.List([1])
    for _ in range(60):
        shared = ffi.List([shared, shared])
    text = ffi.to_json(shared)
    assert len(text) < 5000
    assert ffi.structural_equal(ffi.from_json(text), shared)


def test_cycles(ffi: Any) -> None:
    value = ffi.List([1])
    value.append(ffi.Dict({"me": value, "other": (value, 2)}))
    made = ffi.from_json(ffi.to_json(value))
    assert made[1]["me"].same_as(made)
    assert made[1]["other"][0].same_as(made)
    assert ffi.structural_equal(made, value)
    made.clear()
    value.clear()


def test_any_depth(ffi: Any) -> None:
    value = ffi.List()
    for _ in range(100_000):
        value = ffi.List([value])
    assert ffi.structural_equal(ffi.from_json(ffi.to_json(value)), value)


def test_types_that_are_none(ffi: Any) -> None:
    with pytest.raises(ValueError, match=r"unknown type 'List\\0x'; load the library"):
        ffi.from_json(graph('{"type": "List\\u0000x", "data": []}'))


class Unknown:
    """Not known to the runtime."""


def test_what_cannot_be_written(ffi: Any) -> None:
    with pytest.raises(TypeError, match=r'cannot be written as JSON: at \["a"\]\[1\]|at \[\'a\'\]\[1\]'):
        ffi.to_json({"a": [1, len]})
    rows = (
        (len, type(len).__name__),
        (object(), "object"),
        ([ValueError("x")], "ValueError"),
        ({object(): 1}, "object"),
    )
    for value, name in (*rows, (Unknown(), "Unknown")):
        with pytest.raises(TypeError, match=f"^{name} cannot be written as JSON"):
            ffi.to_json(value)


def graph(nodes: str, root: str = '{"ref": 0}') -> str:
    return f'{{"format": "anyffi", "version": 1, "root": {root}, "nodes": [{nodes}]}}'


BAD = [
    ("", "the text ends too early, at position 0"),
    ("[]", "expected '{', at position 0"),
    ("{}", "format, version, root or nodes are missing"),
    (graph("", "1") + "x", "expected the end of the text"),
    (graph("")[:-1], "the text ends too early"),
    (graph("").replace("1", "2"), "a version of the format"),
    (graph("").replace("1", "1.0"), "expected an integer"),
    (graph("").replace("anyffi", "other"), 'expected the format "anyffi"'),
    (graph("", "1").replace("root", "roof"), "an unknown name"),
    (graph("", '1, "root": 1'), "a name is there twice"),
    (graph(""), "a reference to node 0, of which there are 0"),
    (graph("", '{"ref": -1}'), "a reference to node -1"),
    (graph("", '{"ref": 1.5}'), "expected an integer"),
    (graph("", '{"ref": 99999999999999999999}'), "an integer of more than 64 bits"),
    (graph("", "[1]"), "lists are nodes"),
    (graph("", "nul"), "expected a value"),
    (graph("", "01"), "a number begins with 0"),
    (graph("", "1."), "expected digits"),
    (graph("", "1e999"), "too large or too small"),
    (graph("", "NaN"), "expected a value"),
    (graph("", '"\n"'), "a control character inside of a string"),
    (graph("", '"\\x"'), "unknown escape"),
    (graph("", '"\\ud800"'), "half of a surrogate pair"),
    (graph("", '"\\ud800\\u0041"'), "half of a surrogate pair"),
    (graph("", '"\\u12"'), "four hexadecimal digits"),
    (graph("", '"'), "the text ends inside of a string|expected"),
    (graph("", '{"int": "12"}'), 'expected "0x" and digits'),
    (graph("", '{"int": "0xg"}'), 'expected "0x" and digits'),
    (graph("", '{"float": "one"}'), 'expected "nan"'),
    (graph("", '{"bytes": "a"}'), "expected base64"),
    (graph("", '{"bytes": "=aaa"}'), "expected base64"),
    (graph("", '{"str": [1114112]}'), "no code point"),
    (graph("", '{"dtype": "float0"}'), "unknown dtype"),
    (graph("", '{"dtype": "float99999999999"}'), "unknown dtype"),
    (graph("", '{"device": "cuda:99999999999"}'), "unknown device"),
    (graph("", '{"complex": [1, 2]}'), "expected a number with a point"),
    (graph("", '{"what": 1}'), "an unknown sort of value"),
    (graph("", '{"ref": 0, "ref": 0}'), "expected '}'"),
    (graph("{}"), "a node without a type"),
    (graph('{"type": "List"}'), "the data of a node does not fit its type"),
    (graph('{"type": "List", "data": {}}'), "the data of a node does not fit its type"),
    (graph('{"type": "No.Such", "data": {}}'), "unknown type 'No.Such'"),
    (graph('{"type": "Function", "data": {}}'), "unknown type 'Function'"),
    (graph('{"type": "PyObject", "data": {}}'), "unknown type 'PyObject'"),
    (graph('{"type": "List", "data": [], "more": 1}'), "an unknown name"),
    (graph('{"type": "List", "data": [], "data": []}'), "a name is there twice"),
    (graph('{"type": "List", "data": [], "shape": [1]}'), "tensors, and nothing else"),
    (graph('{"type": "Array", "data": [{"ref": 0}]}'), "a cycle of which a part cannot change"),
    (
        graph('{"type": "Set", "data": [{"ref": 1}]}, {"type": "Array", "data": [{"ref": 0}]}'),
        "a cycle of which a part cannot change",
    ),
    (graph('{"type": "Dict", "data": [1]}'), "a key without a value"),
    (graph('{"type": "Dict", "data": [1, 2, 1.0, 3]}'), "two equal keys"),
    (graph('{"type": "Dict", "data": {"a": 1, "a": 2}}'), "two equal keys"),
    (graph('{"type": "Set", "data": [1, true]}'), "two equal keys"),
    (graph('{"type": "Set", "data": [{"ref": 1}]}, {"type": "List", "data": []}'), "unhashable"),
    (graph('{"type": "Dict", "data": [{"ref": 0}, 1]}'), "unhashable"),
    (graph('{"type": "Shape", "data": [1.5]}'), "a Shape of other than ints"),
    (graph('{"type": "Slice", "data": [1]}'), "a slice has start, stop and step"),
    (graph('{"type": "Tensor", "data": ""}'), "tensors, and nothing else"),
    (graph('{"type": "Tensor", "dtype": "int8", "shape": [2], "data": "AA=="}'), "another size"),
    (graph('{"type": "Tensor", "dtype": "int8", "shape": [-1], "data": ""}'), "no shape of a tensor"),
    (
        graph('{"type": "Tensor", "dtype": "bool", "shape": [2], "data": "AQI="}'),
        "a tensor of bools has another byte than 0 and 1",
    ),
    (
        graph(
            '{"type": "Tensor", "dtype": "int8", "shape": [9223372036854775807, 0, 9223372036854775807], "data": ""}'
        ),
        "in the node at position",
    ),
    (
        graph('{"type": "Tensor", "dtype": "int64", "shape": [4611686018427387904, 4], "data": ""}'),
        "too large|another size",
    ),
    (
        graph('{"type": "Tensor", "dtype": "int8", "shape": [0' + ", 0" * 32 + '], "data": ""}'),
        "no shape",
    ),
    ('{"metadata": ' + "[" * 100_000, "the text ends too early|expected a value"),
    ("[" * 100_000, "expected '{'"),
    (graph("", "{" * 100_000), "expected"),
]


@pytest.mark.parametrize("row", range(len(BAD)), ids=str)
def test_text_that_is_no_such_json(ffi: Any, row: int) -> None:
    text, message = BAD[row]
    with pytest.raises(ValueError, match=message) as caught:
        ffi.from_json(text)
    assert type(caught.value) is ValueError
    if "reference" not in message:
        assert "at position" in str(caught.value)


def test_positions_count_characters(ffi: Any) -> None:
    text = graph("", '"äöü", "x": 1')
    with pytest.raises(ValueError, match="an unknown name") as caught:
        ffi.from_json(text)
    assert int(str(caught.value).rsplit(" ", 1)[1]) == text.index('"x"')
    with pytest.raises(UnicodeDecodeError):
        ffi.from_json(graph("", '"\xff"').encode("latin-1"))
    with pytest.raises(TypeError):
        ffi.from_json(1)


def test_metadata_is_skipped(ffi: Any) -> None:
    text = '{"metadata": {"a": [1, {"b": [[]]}, "x", null]}, "root": 5, "nodes": [], "version": 1, "format": "anyffi"}'
    assert ffi.from_json(text) == 5


def test_metadata_is_written(ffi: Any) -> None:
    metadata = {"by": "é\ud800", "n": [2**70, 1e300, None], "{": {}}
    text = ffi.to_json([1, {"a": 2}], metadata=metadata)
    assert json.loads(text)["metadata"] == metadata
    assert ffi.from_json(text) == [1, {"a": 2}]
    assert ffi.to_json(5, metadata=None) == ffi.to_json(5)
    with pytest.raises(ValueError, match="JSON compliant"):
        ffi.to_json(1, metadata=math.nan)
    with pytest.raises(TypeError, match="serializable"):
        ffi.to_json(1, metadata=object())
    for broken in ('"\\x"', '"\n"', '"', '"\\u12"', "01", "-"):
        with pytest.raises(ValueError, match="at position"):
            ffi.from_json('{"metadata": ' + broken + "}")


@hypothesis.given(value=strategies.values)
def test_any_value_round_trips(ffi: Any, value: Any) -> None:
    value = ffi.convert(value)
    try:
        text = ffi.to_json(value)
    except TypeError:
        hypothesis.assume(False)
    assert ffi.structural_equal(ffi.from_json(text), value)
    json.loads(text)


def mutate(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(text) + 1)
        change = rng.randrange(5)
        if change == 0:
            text = text[:at]
        elif change == 1:
            text = text[:at] + text[at + rng.randint(1, 9) :]
        elif change == 2:
            text = (
                text[:at] + rng.choice('{}[]",:0123456789-.eE\\tfnulrxé\x00') + text[at + rng.randint(0, 1) :]
            )
        elif change == 3:
            end = min(len(text), at + rng.randint(1, 60))
            text = text[:end] + text[at:end] + text[end:]
        else:
            other = rng.randrange(len(text) + 1)
            text = text[:at] + text[other : other + rng.randint(1, 40)] + text[at:]
    return text


@hypothesis.given(seed=st.integers(0, 2**32))
def test_mutated_text_is_refused_or_read(ffi: Any, seed: int) -> None:
    rng = random.Random(seed)
    shared = ffi.List([1, "text", b"bytes"])
    array = numpy.arange(3, dtype="i2")
    value = ffi.List([shared, {"a": shared, "b": (shared, 2**70)}, {1: {2.5}}, slice(1, 2), array, 1j])
    value.append(value)
    text = ffi.to_json(value)
    value.clear()
    for _ in range(20):
        mutated = mutate(text, rng)
        try:
            made = ffi.from_json(mutated)
        except ValueError:
            continue
        again = ffi.from_json(ffi.to_json(made))
        assert ffi.structural_equal(again, made)
        break_cycles(ffi, made)
        break_cycles(ffi, again)


def break_cycles(ffi: Any, value: Any) -> None:
    """Empty all lists and dicts, so that nothing keeps itself alive."""
    todo, seen = [value], []
    while todo:
        each = todo.pop()
        if any(each is other for other in seen):
            continue
        seen.append(each)
        if isinstance(each, (ffi.List, ffi.Array, ffi.Set, ffi.FrozenSet)):
            todo += list(each)
        elif isinstance(each, slice):
            todo += [each.start, each.stop, each.step]
        elif isinstance(each, (ffi.Dict, ffi.Map)):
            todo += [*each.keys(), *each.values()]
    for each in seen:
        if isinstance(each, (ffi.List, ffi.Dict)):
            each.clear()


@needs_compilers
@pytest.mark.slow("compiling")
@pytest.mark.keeps_live("a module stays loaded, and its classes with it")
def test_objects(ffi: Any, build: Build) -> None:
    calculus = ffi.load_module(build("calculus.cc", IR))
    x = calculus.Var("x")
    value = calculus.Lambda([x], calculus.Pair(x, [calculus.Saved(3, 4), calculus.Unique(5)]))
    made = ffi.from_json(ffi.to_json(value))
    assert type(made) is calculus.Lambda
    assert made.params[0].same_as(made.body.a)
    assert made.params[0].name == "x"
    assert made.body.b[0].__getstate__() == (3, 4)
    assert made.body.b[1].number == 5
    with pytest.raises(TypeError, match="Plain"):
        ffi.to_json([calculus.Plain()])
    # The constructor has a default for `origin`.
    note = ffi.from_json(graph('{"type": "calculus.Note", "data": {"text": "t", "value": 1}}'))
    assert (note.text, note.value, note.origin) == ("t", 1, None)
    deep = calculus.chain(100_000, 1)
    assert ffi.structural_equal(ffi.from_json(ffi.to_json(deep)), deep)
    for nodes, message in [
        ('{"type": "calculus.Pair", "data": {"a": 1}}', "the field 'b' is missing"),
        ('{"type": "calculus.Note", "data": {"text": "t"}}', "the field 'value' is missing"),
        ('{"type": "calculus.Pair", "data": {"a": 1, "b": 2, "c": 3}}', "an unknown field"),
        (
            '{"type": "calculus.Pair", "data": {"a": 1, "b": 2, "a": 3}}',
            "twice the field 'a'",
        ),
        ('{"type": "calculus.Pair", "data": [1, 2]}', "does not fit its type"),
        ('{"type": "calculus.Pair", "data": {"a": {"ref": 0}, "b": 2}}', "a cycle"),
        ('{"type": "calculus.Var", "data": {"name": 1}}', "TypeError: .*expected str, got int"),
        ('{"type": "calculus.Var", "state": 1}', "a state of a type that has none"),
        ('{"type": "calculus.Saved", "data": {}}', "fields of a type that has a state"),
        ('{"type": "calculus.Saved", "state": 1}', "TypeError: .*expected"),
        ('{"type": "calculus.Saved", "state": {"ref": 1}}, {"type": "Array", "data": []}', "IndexError"),
        ('{"type": "calculus.Plain", "data": {"x": 1}}', "an unknown field"),
    ]:
        with pytest.raises(ValueError, match=message) as caught:
            ffi.from_json(graph(nodes))
        assert "at position" in str(caught.value), caught.value
