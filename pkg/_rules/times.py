"""Converts Python's times and durations to seconds and nanoseconds, and from microseconds."""

from __future__ import annotations

import functools
import sys

from .._builtins import *  # noqa: F403
from .._typing import Any
from .decisions import find_on_type

__all__ = ["create_date_time", "create_duration", "to_date_time", "to_duration"]

_DAY = 24 * 60 * 60
#: Up to this many microseconds, seconds as a float identify a microsecond.
_EXACT_AS_FLOAT = 2**32 * 10**6
#: The units of NumPy's times in nanoseconds; months have no fixed length.
_UNITS = {"W": 7 * _DAY * 10**9, "D": _DAY * 10**9, "h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9}
_UNITS.update({"ms": 10**6, "us": 10**3, "ns": 1})


def to_date_time(x: Any) -> list[int] | None:
    """Return seconds since 1970 in UTC, and nanoseconds; None if the value is not a time.

    A time without a time zone is local time.
    """
    # A program that has such a value has imported its module.
    module: Any = sys.modules.get("datetime")
    if module is None or not isinstance(x, module.datetime):
        return _split_numpy(x, "datetime64")
    # Called on the class, since a subclass may override methods.
    cls = module.datetime
    rest = 0 if type(x) is cls else _finer_part(x, "nanosecond")
    if cls.utcoffset(x) is None:
        microsecond = cls.microsecond.__get__(x)
        # The float of the seconds contains the fraction, except for its last digits.
        return [round(cls.timestamp(x) - microsecond * 1e-6), microsecond * 1000 + rest]
    delta = cls.__sub__(x, _epoch(module))
    return [delta.days * _DAY + delta.seconds, delta.microseconds * 1000 + rest]


@functools.cache
def _epoch(module: Any) -> Any:
    return module.datetime(1970, 1, 1, tzinfo=module.timezone.utc)


def to_duration(x: Any) -> list[int] | None:
    """Return seconds and nanoseconds; None if the value is not a duration."""
    module: Any = sys.modules.get("datetime")
    if module is None or not isinstance(x, module.timedelta):
        return _split_numpy(x, "timedelta64")
    rest = 0 if type(x) is module.timedelta else _finer_part(x, "nanoseconds")
    return [x.days * _DAY + x.seconds, x.microseconds * 1000 + rest]


def _finer_part(x: Any, name: str) -> int:
    """Return the additional nanoseconds of pandas classes."""
    _refuse_missing(x)
    found: int = 0 if find_on_type(type(x), name) is None else getattr(x, name)
    return found


def _split_numpy(x: Any, name: str) -> list[int] | None:
    np: Any = sys.modules.get("numpy")
    if np is None or not hasattr(np, name) or not isinstance(x, getattr(np, name)):
        return None
    _refuse_missing(x)
    unit, number = np.datetime_data(x.dtype)
    if unit in ("Y", "M") and name == "datetime64":
        x, unit, number = x.astype("datetime64[D]"), "D", 1
    if unit not in _UNITS:
        raise ValueError(f"a {name} in units of {unit!r} cannot be converted")
    return [*divmod(int(x.astype("int64")) * number * _UNITS[unit], 10**9)]


def _refuse_missing(x: Any) -> None:
    if x != x:
        raise ValueError(f"{x!r} is not a time")


def create_date_time(microseconds: int) -> Any:
    """Return the local time, without a zone, at a number of microseconds since 1970 in UTC."""
    create = _datetime().datetime.fromtimestamp
    if abs(microseconds) < _EXACT_AS_FLOAT:
        return create(microseconds / 10**6)
    seconds, rest = divmod(microseconds, 10**6)
    return create(seconds).replace(microsecond=rest)


def create_duration(microseconds: int) -> Any:
    """Return a duration of a number of microseconds."""
    return _datetime().timedelta(0, 0, microseconds)


def _datetime() -> Any:
    # An import statement would take longer than the rest of these functions.
    module = sys.modules.get("datetime")
    if module is None:
        import datetime as module
    return module
