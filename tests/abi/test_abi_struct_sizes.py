"""Structs with `struct_size` from libraries with an older or a newer header than the runtime.

An older struct ends at the end of readable memory, so that reading a later member ends the process. A newer one is
followed by bytes that have no meaning for the runtime.
"""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import pytest
from c_abi import CODES, c, check, lib, made, make_str
from c_abi_host import HOST
from c_abi_sizes import STRUCTS, placed
from c_abi_values import OWNER, release_owner
from programs import run_program
from support import CPYTHON, Build, needs_compilers

versions = pytest.mark.parametrize("version", ["older", "equal", "newer"])


def test_all_structs_are_tested() -> None:
    names = {name for name in c.list_types()[0] if name.startswith("Anyffi")}
    structs = {name: dict(c.typeof(name).fields or ()) for name in names if c.typeof(name).kind == "struct"}
    assert {name for name, fields in structs.items() if "struct_size" in fields} == set(STRUCTS)


# ---- functions ------------------------------------------------------------------------------------------

_kept: list[Any] = []


@c.callback("AnyffiCall")
def _sum(self: Any, args: Any, num_args: int, result: Any) -> int:
    if num_args != 2:
        return int(lib.anyffi_error_raise(b"TypeError", b"add() takes two"))
    if any(args[i].type_code != CODES["INT"] for i in range(2)):
        return int(lib.anyffi_error_raise(b"TypeError", b"add() takes ints"))
    result.type_code, result.as_int = CODES["INT"], args[0].as_int + args[1].as_int
    return 0


def add_info(version: str) -> Any:
    info, params = c.new("AnyffiFunctionInfo*"), c.new("AnyffiParamInfo[]", 2)
    words = [c.new("char[]", word) for word in (b"add", b"Add.", b"int", b"x", b"y")]
    _kept.extend((info, params, words))
    for param, name in zip(params, words[3:]):
        param.name, param.type_name = name, words[2]
    info.name, info.doc, info.result_type = words[:3]
    info.params, info.num_params, info.num_required = params, 2, 2
    return placed(info, "AnyffiFunctionInfo", version)


_numbers = itertools.count()


@versions
def test_functions(ffi: Any, version: str) -> None:
    """Functions are called, described, bound and chosen among overloads without reading a missing member."""
    info = add_info(version)
    lone, several = f"sizes.add_{version}", f"sizes.overloads_{version}"
    existed = c.new("int32_t*")
    with (
        made(lib.anyffi_function_create, _sum, OWNER, release_owner, info) as function,
        made(lib.anyffi_function_create_overloaded, b"add") as overloaded,
        make_str(lone) as lone_key,
        make_str(several) as several_key,
    ):
        check(lib.anyffi_function_check_param_names(info))
        check(lib.anyffi_registry_set(lone_key.at, function.at, 0))
        for _ in range(2):
            check(lib.anyffi_function_add_overload(overloaded.at.as_object, function.at.as_object, c.NULL, 0))
        check(lib.anyffi_registry_set(several_key.at, overloaded.at, 0))
        try:
            for name in (lone, several):
                add = ffi.get_global_func(name)
                assert add(1, 2) == add(1, y=2) == add(x=1, y=2) == 3
                assert add.__doc__ is not None
                with pytest.raises(TypeError):
                    add(1, "2")
                with pytest.raises(TypeError):
                    add(1, y=[2])
                with pytest.raises(TypeError):
                    add(1)
                with pytest.raises(TypeError):
                    add(1, z=1)
                if name == lone:
                    assert [*inspect.signature(add).parameters] == ["x", "y"]
                del add
        finally:
            for key in (lone_key, several_key):
                check(lib.anyffi_registry_remove(key.at, existed))


# ---- types ----------------------------------------------------------------------------------------------


@versions
@pytest.mark.keeps_live("types live for ever")
def test_types(ffi: Any, version: str) -> None:
    info, key = c.new("AnyffiTypeInfo*"), c.new("char[]", f"sizes.Type{next(_numbers)}".encode())
    info.parent, info.type_key, info.instance_size = CODES["OBJECT"], key, c.sizeof("AnyffiObject")
    text = c.new("char[]", b"A type.")
    info.doc = text
    _kept.extend((info, key, text))
    given = placed(info, "AnyffiTypeInfo", version)
    out = c.new("int32_t*")
    check(lib.anyffi_type_register(given, out))
    code = out[0]
    for _ in range(2):
        found = lib.anyffi_type_get_info(code)
        assert found.struct_size == c.sizeof("AnyffiTypeInfo")
        assert c.string(found.type_key) == c.string(key)
        assert (found.doc == c.NULL) == (version == "older")
        assert found.record == c.NULL
        assert (found.alignment, found.member_types, found.parent_offset) == (0, 0, 0)
        check(lib.anyffi_type_define(out, given))
        assert out[0] == code
        with pytest.raises(ValueError, match="unknown type code"):
            ffi.get_global_func("anyffi.type.describe")(-(2**31))


# ---- modules --------------------------------------------------------------------------------------------

#: A library with a table of its own layout. Following a pointer behind the older table ends the process.
MODULE = """
#include <anyffi/c_api.h>
static const AnyffiModuleEntry* entries = 0;
const AnyffiModuleClass* const sizes_classes = 0;
struct Table {
  int32_t abi_version;
  uint32_t struct_size;
  const AnyffiModuleEntry* const* entries;
  const void* more[4];
};
__attribute__((visibility("default"))) struct Table __anyffi_module = {ANYFFI_ABI_VERSION, %s, &entries, {%s}};
__attribute__((visibility("default"))) int __anyffi_one(void* self, AnyffiValue* args, int32_t n, AnyffiValue* result) {
  result->type_code = ANYFFI_INT;
  result->as_int = 1;
  return self == 0 && args == 0 && n != 0;
}
"""
TABLES = {
    "older": ("16", "(void*)1, (void*)1, (void*)1, (void*)1"),
    "equal": ("24", "&sizes_classes, (void*)1, (void*)1, (void*)1"),
    "newer": ("48", "&sizes_classes, (void*)1, (void*)1, (void*)1"),
}


@needs_compilers
@versions
@pytest.mark.keeps_live("modules stay loaded")
def test_modules(ffi: Any, build: Build, version: str) -> None:
    library = build(f"sizes_{version}.c", MODULE % TABLES[version])
    module = ffi.load_module(library)
    assert module.one() == 1
    with pytest.raises(AttributeError, match="two"):
        module.two
    assert "one" in dir(module)


@needs_compilers
def test_a_table_that_is_too_small(ffi: Any, build: Build) -> None:
    library = build("sizes_too_small.c", MODULE % ("12", "0, 0, 0, 0"))
    with pytest.raises(ImportError, match="its __anyffi_module is too small to be one"):
        ffi.load_module(library)


# ---- front ends -----------------------------------------------------------------------------------------

#: Each program runs in its own process, because it replaces the front end.
FRONT_END = f"""
{HOST}
from c_abi_host import HOST
from c_abi_sizes import STRUCTS, placed
from c_abi_values import make_tensor
from c_abi_sizes import placed
"""


@versions
def test_hosts(version: str) -> None:
    program = f"""
lib.anyffi_host_install(placed(host, "AnyffiHost", {version!r}))
with balanced():
    with make_object(5) as value, made(lib.anyffi_value_repr, value.at) as text:
        assert read(text.at) == "<5>"
        out, capsule = c.new("AnyffiValue*"), c.new("void**")
        check(lib.anyffi_value_convert(value.at, 1, out))
        assert out.type_code == 0
        assert lib.anyffi_host_check_signals() == 0
        assert lib.anyffi_object_may_refer(value.at.as_object) == 1
        with make_tensor() as tensor:
            assert lib.anyffi_tensor_to_capsule(tensor.at.as_object, 0, capsule) == -1
            assert take_raised()[0] == "BufferError"
closed()
"""
    run_program(FRONT_END + program, "ctypes")


@versions
def test_layouts_of_wrappers(version: str) -> None:
    program = f"""
layout = c.new("AnyffiWrapperLayout*")
layout.type_offset, layout.memory_offset, layout.content_offset = 8, 16, 16
lib.anyffi_wrapper_set_layout(placed(layout, "AnyffiWrapperLayout", {version!r}))
wrapper = c.new("void*[]", 8)
assert lib.anyffi_wrapper_get_object(wrapper) == c.NULL
"""
    # In a process in which no wrapper has the declared layout.
    run_program(FRONT_END + program, "cython" if CPYTHON else "ctypes")


@versions
def test_layouts_of_values(version: str) -> None:
    program = f"""
layout = c.new("AnyffiHostValues*")
words = c.new("void*[]", 16)
layout.class_offset, layout.size_offset, layout.tuple_offset = 8, 16, 24
words[1] = words[8] = words + 5
layout.max_depth = 1
layout.none, layout.tuple_class = words + 7, words + 6
lib.anyffi_host_declare_values(placed(layout, "AnyffiHostValues", {version!r}))
items, place, out = c.new("void*[]", 8), c.new("void**"), c.new("AnyffiValue[]", 4)
place[0] = items
items[1], items[2], items[3], items[4] = words + 6, c.cast("void*", 2), words + 7, words
assert lib.anyffi_host_write_items(place, CODES["LIST"], out) == 0
assert [(x.type_code, x.aux, x.as_int) for x in out[0:3]] == [(0, 0, 0), (CODES["UNSET"], 0, 0), (CODES["LIST"], 2, 2)]
items[4] = words + 7
assert lib.anyffi_host_create_object(place, 0, out) == 1
assert out[0].type_code == CODES["ARRAY"]
lib.anyffi_value_release(out)
"""
    # In a process in which no layout was declared.
    run_program(FRONT_END + program, "cython" if CPYTHON else "ctypes")
