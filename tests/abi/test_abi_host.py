"""A host written against the C header: its hooks, handles, callbacks and exceptions."""

from __future__ import annotations

import pytest
from c_abi_host import HOST
from programs import run_program
from support import CPYTHON_313T

pytestmark = pytest.mark.skipif(CPYTHON_313T, reason="cffi is not made for it")


def test_opaque_objects() -> None:
    run_program(
        HOST
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
        HOST
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
        HOST
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
        HOST
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
