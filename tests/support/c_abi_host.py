"""The beginning of programs with a host that is written against the C header, with its hooks and handles."""

from __future__ import annotations

from support import ROOT

#: Replaces Python's host, so that each test runs in its own process. Handles are numbers of objects.
HOST = (
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
    if message:
        write(message, at(handle)), write(traceback, "")
    return write(kind, "ValueError")

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
