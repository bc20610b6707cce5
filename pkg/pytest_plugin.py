"""Fixtures for test suites: `pytest_plugins = ["anyffi.pytest_plugin"]`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ._tracing.liveness import no_leaks as _no_leaks

__all__ = ["no_leaks"]


@pytest.fixture
def no_leaks() -> Iterator[None]:
    """Fail a test after which objects of anyffi that it created are alive."""
    with _no_leaks():
        yield
