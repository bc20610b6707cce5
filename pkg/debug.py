"""Tools to find out why objects of the runtime are alive."""

from __future__ import annotations

from ._tracing.liveness import LiveObject, find_live

__all__ = ["LiveObject", "live_objects"]


def live_objects() -> dict[str, list[LiveObject]]:
    """Return the objects of the runtime that are alive, by the key of their type.

    Only objects created since the first call, which returns none. Begin early, and call `gc.collect` before:
    the remaining objects are leaked, or still in use. As with `gc.get_objects`, some may be under
    construction where Python code runs in between, such as a `__hash__`: do not change them.

    Returns
    -------
    dict
        The objects by type, in alphabetical order; those of a type in the order of allocation.
    """
    found: dict[str, list[LiveObject]] = {}
    for each in find_live():
        found.setdefault(each.type_key, []).append(each)
    # If memory is exhausted, CPython's iterator over items ends the process.
    return {key: found[key] for key in sorted(found)}


live_objects.__module__ = "anyffi.debug"
