"""Structs with `struct_size`, as libraries built with older or newer headers pass them."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

from c_abi import c

#: The structs, each with the first member that an older version may lack.
STRUCTS = {
    "AnyffiFunctionInfo": "try_call",
    "AnyffiTypeInfo": "doc",
    "AnyffiModuleTable": "classes",
    "AnyffiHost": "capsule_new",
    "AnyffiHostValues": "dict_size",
    "AnyffiWrapperLayout": "count_offset",
}

#: Pages of structs, which are never freed.
_pages: list[Any] = []
_libc = ctypes.CDLL(None, use_errno=True)


def placed(struct: Any, name: str, version: str) -> Any:
    """Return a copy of a struct as a library built with an older or newer header has it."""
    content = bytes(c.buffer(struct))
    if version == "older":
        content = content[: c.offsetof(name, STRUCTS[name])]
    elif version == "newer":
        content += b"\xff" * 256
    page = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(page))
    _libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    assert _libc.mprotect(start + mmap.PAGESIZE, mmap.PAGESIZE, 0) == 0
    page[mmap.PAGESIZE - len(content) : mmap.PAGESIZE] = content
    _pages.append(page)
    copy = c.cast(f"{name}*", start + mmap.PAGESIZE - len(content))
    copy.struct_size = len(content)
    return copy
