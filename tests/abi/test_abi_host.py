"""A host written against the C header: its hooks, handles, callbacks and exceptions."""

from __future__ import annotations

from programs import run_program
from support import ROOT

#: Replaces Python's host, so each test runs in its own process. A handle is the number of an object.
_HOST = (
    f"""
import sys
sys.path.insert(0, {str(ROOT / "tests" / "support")!r})
from c_abi import *
from c_abi_values import make_int, read
"""
    '''
objects, counts, log = {}, {}, []

def handle_of(x):
    """Return a new handle with one count; the receiver releases it."""
    number = len(objects) + 1
    objects[number], counts[number] = x, 1
    return c.cast("void*", number)

def at(handle):
    return objects[int(c.cast("intptr_t", handle))]

def hook(signature):
    return lambda function: kept.setdefault(function.__name__, c.callback(signature, function))

kept, depth = {}, [0]

@hook("int32_t(void)")
def lock():
    depth[0] += 1
    return 5

@hook("void(int32_t)")
def unlock(state):
    assert state == 5
    depth[0] -= 1

@hook("void*(void)")
def suspend():
    log.append("suspended")
    return c.cast("void*", 7)

@hook("void(void*)")
def resume(state):
    log.append(f"resumed {int(c.cast('intptr_t', state))}")

@hook("void(void*)")
def handle_release(handle):
    assert depth[0] > 0
    counts[int(c.cast("intptr_t", handle))] -= 1

@hook("int(void*, int64_t*)")
def handle_hash(handle, out):
    if at(handle) is None:
        lib.anyffi_error_raise(b"TypeError", b"unhashable type: 'nothing'")
        return -1
    out[0] = hash(at(handle))
    return 1

@hook("int(void*, const AnyffiValue*, int32_t*)")
def handle_equal(handle, other, out):
    if other.type_code == CODES["PY_OBJECT"]:
        out[0] = at(handle) == at(c.cast("AnyffiPyObject*", other.as_object).handle)
    else:
        out[0] = at(handle) == read(other)
    return 1

def write(out, text):
    out[0] = make_str(text).at[0]
    return 1

@hook("int(void*, AnyffiValue*)")
def handle_repr(handle, out):
    return write(out, f"<{at(handle)}>")

@hook("int(void*, AnyffiValue*)")
def handle_type_name(handle, out):
    return write(out, "thing")

@hook("int(void*, AnyffiValue*, AnyffiValue*, AnyffiValue*)")
def error_fill(handle, kind, message, traceback):
    log.append("filled")
    write(kind, "ValueError"), write(traceback, "")
    return write(message, at(handle))

host = c.new("AnyffiHost*")
host.struct_size = c.sizeof("AnyffiHost")
for name, function in kept.items():
    setattr(host, name, function)
lib.anyffi_host_install(host)

def make_object(x):
    return made(lib.anyffi_py_object_create, handle_of(x))

def closed():
    """Assert that all handles are released, and the lock as often as it was acquired."""
    assert set(counts.values()) <= {0}, counts
    assert depth == [0]
'''
)


def test_opaque_objects() -> None:
    run_program(
        _HOST
        + """
with balanced():
    with make_object(5) as one, make_object(5) as same, make_object("other") as other, make_int(5) as five:
        assert one.object("AnyffiPyObject").handle == c.cast("void*", 1)
        assert (equal(one, same), equal(one, other), equal(one, five), equal(five, one)) == (True, False, True, True)
        assert hash_of(one) == hash_of(five)
        with made(lib.anyffi_value_repr, one.at) as text:
            assert read(text.at) == "<5>"
        with own(one) as copy:
            assert copy.at.as_object == one.at.as_object
        assert counts[1] == 1
        with made(lib.anyffi_mapping_create, CODES["DICT"], 0) as d:
            existed, entry = c.new("int32_t*"), c.new("int64_t*")
            check(lib.anyffi_mapping_set(d.at.as_object, own(one).at, Value().at, existed))
            check(lib.anyffi_mapping_find(d.at.as_object, five.at, entry))
            assert entry[0] == 0
            with make_object(None) as unhashable:
                try:
                    check(lib.anyffi_mapping_find(d.at.as_object, unhashable.at, entry))
                except Raised as error:
                    assert error.args == ("TypeError", "unhashable type: 'nothing'")
                else:
                    raise AssertionError
        with find_function("testing.add_one") as add_one:
            try:
                call(add_one, one)
            except Raised as error:
                assert "expected int, got thing" in error.args[1]
            else:
                raise AssertionError
closed()
""",
        "ctypes",
    )


def test_callbacks() -> None:
    """The host reports success, failure, or another status, which means a swallowed interrupt."""
    run_program(
        _HOST
        + """
@c.callback("AnyffiCall")
def back(self, args, num_args, result):
    assert result.type_code == CODES["UNSET"]
    return at(self)(args, num_args, result)

def function_of(f):
    return made(lib.anyffi_function_create_host, back, handle_of(f))

def count(args, num_args, result):
    result.type_code, result.aux, result.as_int = CODES["INT"], 0, num_args
    return 1

def fail(args, num_args, result):
    result.type_code = 0
    lib.anyffi_error_raise(b"LookupError", b"nowhere")
    return -1

def wrong_status(args, num_args, result):
    count(args, num_args, result)
    return 0

with balanced():
    with function_of(count) as function, make_int(1) as one:
        with call(function, one, one) as result:
            assert read(result.at) == 2
    for f, expected in (
        (fail, ("LookupError", "nowhere")),
        (lambda *args: 1, ("KeyboardInterrupt", "")),
        (lambda *args: -1, ("KeyboardInterrupt", "")),
        (wrong_status, ("KeyboardInterrupt", "")),
    ):
        with function_of(f) as function:
            try:
                call(function)
            except Raised as error:
                assert error.args == expected, error.args
            else:
                raise AssertionError(f)
    try:
        for levels in range(10**6):
            check(lib.anyffi_depth_enter())
    except Raised as error:
        assert error.args[0] == "RecursionError"
    for _ in range(levels):
        lib.anyffi_depth_leave()
closed()
""",
        "ctypes",
    )


def test_exceptions() -> None:
    run_program(
        _HOST
        + """
with balanced():
    with made(lib.anyffi_error_create_host, handle_of("a message of the host")) as error:
        fields = error.object("AnyffiError")
        assert fields.handle == c.cast("void*", 1)
        assert fields.kind.type_code == CODES["NONE"]
        lib.anyffi_error_set_raised(error.at.as_object)
    assert log == []
    assert take_raised() == ("ValueError", "a message of the host")
    assert log == ["filled"]
closed()
state = lib.anyffi_host_suspend()
lib.anyffi_host_resume(state)
assert log[1:] == ["suspended", "resumed 7"]
assert lib.anyffi_host_check_signals() == 0
""",
        "ctypes",
    )


def test_without_a_host_handles_are_leaked() -> None:
    run_program(
        _HOST
        + """
with balanced():
    with make_object("kept") as one, make_object("kept") as same:
        lib.anyffi_host_install(c.NULL)
        assert equal(one, one) and not equal(one, same)
    assert counts == {1: 1, 2: 1}
assert lib.anyffi_host_suspend() == c.NULL
assert lib.anyffi_host_check_signals() == 0
""",
        "ctypes",
    )
