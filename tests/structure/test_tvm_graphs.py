"""Graphs as Apache TVM-FFI writes them."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest


def graph(*nodes: str, root: int | None = None) -> str:
    index = len(nodes) - 1 if root is None else root
    return f'{{"root_index":{index},"nodes":[{",".join(nodes)}]}}'


def node(key: str, data: str) -> str:
    return f'{{"type":"{key}","data":{data}}}'


VALUES = [
    ('{"type":"None"}', None),
    (node("bool", "true"), True),
    (node("int", "5"), 5),
    (node("int", "-9223372036854775808"), -(2**63)),
    (node("float", "2.0"), 2.0),
    (node("float", "2"), 2.0),
    (node("float", "-Infinity"), -math.inf),
    (node("float", "Infinity"), math.inf),
    (node("ffi.BigInt", '"-1180591620717411303424"'), -(2**70)),
    (node("ffi.BigInt", '"5"'), 5),
    (node("ffi.String", '"h\\u00e9"'), "hé"),
    (node("ffi.Bytes", '"AP8="'), b"\x00\xff"),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_values(ffi: Any, text: str, value: Any) -> None:
    made = ffi.from_json(graph(text))
    assert made == value
    assert type(made) is type(value)
    assert ffi.from_json(graph(text, node("ffi.Array", "[0,0]"))) == (value, value)


def test_nan_dtypes_and_devices(ffi: Any) -> None:
    import anyffi

    assert math.isnan(ffi.from_json(graph(node("float", "NaN"))))
    assert ffi.from_json(graph(node("DataType", '"float32x4"'))) == anyffi.dtype("float32x4")
    assert ffi.from_json(graph(node("Device", "[2,1]"))) == anyffi.Device("cuda:1")


def test_containers(ffi: Any) -> None:
    nodes = (
        node("int", "1"),
        node("ffi.String", '"key"'),
        node("ffi.List", "[0,0]"),
        node("ffi.Map", "[1,2,0,2]"),
        node("ffi.Shape", "[3,4]"),
        node("ffi.Dict", "[1,4]"),
        node("ffi.Array", "[2,3,5]"),
    )
    made = ffi.from_json(graph(*nodes))
    assert ffi.structural_equal(
        made, (ffi.List([1, 1]), ffi.Map({"key": ffi.List([1, 1]), 1: made[0]}), made[2])
    )
    assert type(made[2]["key"]) is ffi.Shape
    assert made[0].same_as(made[1]["key"])
    # Any order of nodes and names will do.
    document = json.loads(graph(*reversed(nodes), root=0).replace("[3,4]", "[30,40]"))
    for each in document["nodes"]:
        if each["type"] in ("ffi.List", "ffi.Map", "ffi.Dict", "ffi.Array"):
            each["data"] = [6 - x for x in each["data"]]
    document = {"metadata": {"x": "\ud800"}, "nodes": document["nodes"], "root_index": 0}
    assert ffi.from_json(json.dumps(document))[0] == [1, 1]


@pytest.mark.keeps_live("types are never freed")
def test_objects(ffi: Any) -> None:
    @ffi.dataclass("tvm_graphs.Pair")
    class Pair:
        a: int
        b: float
        c: bool
        text: str
        rest: Any = None

    text = graph(
        node("ffi.String", '"x"'),
        node("tvm_graphs.Pair", '{"a":7,"b":2,"c":true,"text":0,"rest":2}'),
        node("ffi.Array", "[0]"),
        node("ffi.Array", "[1,1]"),
    )
    made = ffi.from_json(text)
    assert made[0] == Pair(7, 2.0, True, "x", ("x",))
    assert made[0].same_as(made[1])
    for data, message in [
        ('{"a":7}', "the field 'b' is missing"),
        ('{"a":7,"a":8}', "twice the field 'a'"),
        ('{"d":0}', "an unknown field"),
        ('{"a":"x"}', "does not fit its type"),
        ('{"text":"x"}', "expected a value"),
        ('{"a":1,"b":1,"c":true,"text":1,"rest":0}', "expected str, got tvm_graphs.Pair"),
        ('{"a":1,"b":1,"c":true,"text":2,"rest":0}', "a reference to node 2"),
        ("7", "expected '{'"),
    ]:
        with pytest.raises(ValueError, match=message):
            ffi.from_json(graph(node("ffi.String", '"x"'), node("tvm_graphs.Pair", data)))


BAD = [
    ('{"root_index":0}', "root_index or nodes are missing"),
    ('{"nodes":[{"type":"None"}]}', "unknown type 'None'"),
    ('{"root_index":"0","nodes":[]}', "expected a value"),
    ('{"root_index":0,"nodes":[],"more":1}', "an unknown name"),
    ('{"root_index":0,"root_index":0,"nodes":[]}', "there twice"),
    (graph(), "a reference to node -1"),
    (graph(node("ffi.Array", "[7]")), "a reference to node 7"),
    (graph(node("ffi.Array", "[0]")), "a cycle"),
    (graph(node("ffi.Array", "[1]"), node("ffi.Map", "[0,0]")), "a cycle"),
    (graph(node("ffi.Array", "{}")), r"expected '\['"),
    (graph(node("ffi.Array", "[1.5]")), "expected an integer"),
    (graph(node("int", "1.5")), "does not fit its type"),
    (graph(node("int", "[1]")), "does not fit its type"),
    (graph(node("int", "99999999999999999999")), "more than 64 bits"),
    (graph(node("bool", "1")), "does not fit its type"),
    (graph(node("None", "1")), "does not fit its type"),
    (graph(node("float", '"x"')), "expected a value"),
    (graph(node("float", "Inf")), "expected a value"),
    (graph(node("ffi.BigInt", '""')), "digits"),
    (graph(node("ffi.BigInt", '"1e5"')), "digits"),
    (graph(node("ffi.BigInt", f'"{"9" * 5000}"')), "digits"),
    (graph(node("ffi.Bytes", '"!"')), "base64"),
    (graph(node("ffi.Shape", '["x"]')), "does not fit its type"),
    (graph(node("Device", "[2]")), "expected ','"),
    (graph(node("Device", "[999,0]")), "unknown device"),
    (graph(node("DataType", '"flat"')), "unknown dtype"),
    (graph('{"data":1,"type":"int"}'), "stands before its data"),
    (graph('{"type":"int"}'), "a node without data"),
    (graph('{"type":"int","data":1,"data":2}'), "there twice"),
    (graph('{"type":"int","type":"int","data":1}'), "there twice"),
    (graph("{}"), "a node without a type"),
    (graph(node("no.Such", "{}")), "unknown type 'no.Such'"),
    (graph(node("ffi.Function", "{}")), "unknown type"),
    (graph(node("ffi.Map", "[0]"), node("int", "1"), root=0), "a key without a value|a cycle"),
    (graph(node("int", "1"), node("ffi.Map", "[0,0,0,0]")), "two equal keys"),
]


@pytest.mark.parametrize("row", range(len(BAD)), ids=str)
def test_text_that_is_no_such_graph(ffi: Any, row: int) -> None:
    text, message = BAD[row]
    with pytest.raises(ValueError, match=message) as caught:
        ffi.from_json(text)
    assert type(caught.value) is ValueError
    for end in range(len(text)):
        with pytest.raises(ValueError, match="at position|reference"):
            ffi.from_json(text[:end])
