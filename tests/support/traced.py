"""Programs whose calls are traced."""

from __future__ import annotations

from typing import Any

#: Keys of events that differ between runs or modes.
VOLATILE = ("time", "duration", "pid", "date", "mode", "command")

#: Values of every type, classes of all protocols, and errors of every origin.
VALUES = """
import anyffi, anyffi.testing as t, sys

class Subclass(anyffi.Function):
    def __call__(self, *args):
        return super().__call__(*args)

class Hooked:
    def __anyffi_value__(self):
        return t.echo(3)

class Rude:
    def __repr__(self):
        raise SystemExit("a repr was called")
    __str__ = __hash__ = __eq__ = __len__ = __iter__ = __bool__ = __repr__

class Index:
    def __index__(self):
        return 4

class Text(str):
    __repr__ = __len__ = __iter__ = __getitem__ = Rude.__repr__

class RudeError(ValueError):
    __repr__ = __str__ = Rude.__repr__

class Meta(type):
    __repr__ = __getattribute__ = None

def rude_error(x):
    raise RudeError("text", Rude())

def run():
    f = Subclass(lambda x: x + 1)
    t.echo(3)
    t.apply(lambda a, *b, c=1, **d: a * 2, 21)
    f(1)
    f.__call__(2)
    anyffi.Function(print)("")
    itself = []
    itself.append(itself)
    values = [
        None, True, 2**70, -(10**4000), 1.5, "\\xe9\\ud800" * 300, b"x" * 500, bytearray(b"y"), memoryview(b"z"),
        (1, [2, {"a": Rude()}]), Hooked(), Rude(), Index(), Text("text"), anyffi.List([1, "a", [2.5]]),
        anyffi.Dict({1: 2}), anyffi.Set([1]), anyffi.Array(["x" * 1000]), ValueError("x", 3), slice(1, None),
        {1, 2}, frozenset(), print, t.echo, object(), anyffi.dtype("int8"), anyffi.Device("cpu"), 1j, int, ...,
        list(range(1000)), anyffi.List(range(10000)), anyffi.List([f, Rude, Index(), 2**70, 2**2000]), itself, f,
        "a".join, Rude().__repr__, RudeError("x", Rude()), anyffi.List([itself[:0], Rude()]),
        Meta("Odd", (), {})(),
    ]
    if "numpy" in sys.modules:
        np = sys.modules["numpy"]
        values += [np.zeros((2, 3), "f4"), np.float32(1.5), np.int64, np.arange(3)[1], np.zeros(3, "O"),
                   anyffi.from_dlpack(np.zeros(3)), np.dtype("i4"), np.array(["x"])]
    for x in values:
        try:
            t.echo(x)
        except Exception:
            pass
    for fail in (
        lambda: t.apply(lambda a: 1 / a, 0),
        lambda: t.apply(rude_error, 0),
        lambda: t.echo(x=1),
        lambda: t.echo(),
        lambda: t.raise_error("ValueError", "message"),
        lambda: t.apply(lambda: sys.exit(3)),
        lambda: anyffi.Function.__new__(anyffi.Function)(1),
    ):
        try:
            fail()
        except BaseException:
            pass
    xs = anyffi.List([3, 1, 2])
    xs.sort(key=lambda x: -x)
    xs.append(4)
"""


def settled(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return events without the keys that differ between runs."""
    return [{key: value for key, value in event.items() if key not in VOLATILE} for event in events]


def calls(traced: Any) -> list[dict[str, Any]]:
    """Return the events of calls in a trace."""
    return [event for event in settled(traced.events) if event["event"] in ("call", "return", "raise")]
