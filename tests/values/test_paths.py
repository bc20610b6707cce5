"""Paths as parameters and results of C++: std::filesystem::path."""

from __future__ import annotations

import os
import pathlib
from collections import UserList
from typing import Any

import numpy as np
import pytest
from support import get_testing_function


class Place:
    def __init__(self, path: Any) -> None:
        self.path = path

    def __fspath__(self) -> Any:
        if isinstance(self.path, BaseException):
            raise self.path
        return self.path


@pytest.mark.parametrize(
    "path", ["/tmp/x", "", "a/../b", "ä😀", "\udcff\udc80x", os.fsdecode(bytes(range(1, 256)))]
)
def test_paths(ffi: Any, path: str) -> None:
    native = os.fsencode(path)
    for value in (path, native, pathlib.PurePosixPath(path), Place(path), Place(native), np.str_(path)):
        as_bytes = get_testing_function(ffi, "as.path_bytes")(value)
        assert as_bytes == os.fsencode(os.fspath(value))
        result = get_testing_function(ffi, "as.path")(value)
        assert type(result) is type(pathlib.Path())
        assert result == pathlib.Path(os.fsdecode(os.fspath(value)))
    assert get_testing_function(ffi, "as.paths")((path, Place(path))) == [pathlib.Path(path)] * 2
    assert get_testing_function(ffi, "as.optional_path")(path) == pathlib.Path(path)
    assert get_testing_function(ffi, "as.optional_path")(None) is None


def test_what_is_no_path(ffi: Any) -> None:
    path = get_testing_function(ffi, "as.path")
    for bad in (5, None, [b"x"], object(), UserList(), 1.5):
        with pytest.raises(TypeError, match=r"argument 0 \(x\): expected str | bytes | PathLike, got"):
            path(bad)
    for bad in ("a\0b", b"a\0b", Place("\0")):
        with pytest.raises(ValueError, match="a path has no NUL"):
            path(bad)
    for lone in ("\ud800", Place("a\udc00")):
        with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
            path(lone)
    with pytest.raises(TypeError, match="__fspath__"):
        path(Place(5))
    refusing = type("Refusing", (), {"__fspath__": None})
    with pytest.raises(TypeError, match=r"expected str \| bytes \| PathLike, got Refusing$"):
        path(refusing())
    error = KeyError("mine")
    with pytest.raises(KeyError) as raised:
        path(Place(error))
    assert raised.value is error
