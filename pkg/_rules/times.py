"""Times and durations of Python as whole seconds and nanoseconds, and from microseconds."""

from __future__ import annotations

import sys

from .._builtins import *  # noqa: F403
from .._typing import Any
from .decisions import find_on_type

__all__ = ["create_date_time", "create_duration", "to_date_time", "to_duration"]

_DAY = 24 * 60 * 60
#: The units of NumPy's times in nanoseconds; those of months have no fixed length.
_UNITS = {"W": 7 * _DAY * 10**9, "D": _DAY * 10**9, "h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9}
_UNITS.update({"ms": 10**6, "us": 10**3, "ns": 1})


def to_date_time(x: Any) -> list[int] | None:
    """Return seconds since 1970 in UTC, and nanoseconds; None of what is no time.

    A time without a zone is local.
    """
    # A program that has such a value has imported its module.
    module: Any = sys.modules.get("datetime")
    if module is not None and isinstance(x, module.datetime):
        _refuse_missing(x)
        utc = module.timezone.utc
        # Its own methods, which a subclass may override.
        if module.datetime.utcoffset(x) is None:
            x = module.datetime.astimezone(x, utc)
        return _split(module.datetime.__sub__(x, module.datetime(1970, 1, 1, tzinfo=utc)), x, "nanosecond")
    return _split_numpy(x, "datetime64")


def to_duration(x: Any) -> list[int] | None:
    """Return seconds and nanoseconds; None of what is no duration."""
    module: Any = sys.modules.get("datetime")
    if module is not None and isinstance(x, module.timedelta):
        _refuse_missing(x)
        return _split(x, x, "nanoseconds")
    return _split_numpy(x, "timedelta64")


def _split(delta: Any, source: Any, finer: str) -> list[int]:
    # The classes of pandas also have nanoseconds.
    rest = 0 if find_on_type(type(source), finer) is None else getattr(source, finer)
    return [delta.days * _DAY + delta.seconds, delta.microseconds * 1000 + rest]


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
        raise ValueError(f"{type(x).__name__} is no time")


def create_date_time(microseconds: int) -> Any:
    """Return the local time at so many microseconds since 1970 in UTC, without a zone."""
    import datetime

    seconds, rest = divmod(microseconds, 10**6)
    return datetime.datetime.fromtimestamp(seconds).replace(microsecond=rest)


def create_duration(microseconds: int) -> Any:
    """Return a duration of so many microseconds."""
    import datetime

    return datetime.timedelta(microseconds=microseconds)
