"""The library whose calls the tests of FFI_RECORD and of replaying record."""

from __future__ import annotations

import pathlib

import pytest
from recorded import SOURCE
from support import Build


@pytest.fixture(scope="session")
def recorded_library(build: Build) -> pathlib.Path:
    return build("recorded.cc", SOURCE)
