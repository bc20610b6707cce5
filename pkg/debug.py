"""Tools to find what keeps objects of the runtime alive."""

from __future__ import annotations

from ._tracing.liveness import LiveObject, find_live

__all__ = ["LiveObject", "live_objects"]


def live_objects() -> dict[str, list[LiveObject]]:
    """Return the objects of the runtime that are alive, by the key of their type.

    Of those that were created since the first call, which returns none. Begin early, and call `gc.collect`
    before: what remains is leaked, or kept by somebody. As with `gc.get_objects`, some may be under
    construction where Python code runs in between, such as a `__hash__`: do not change them.

    Returns
    -------
    dict
        By type, in alphabetical order, the objects in the order of their memory.
    """
    found: dict[str, list[LiveObject]] = {}
    for each in find_live():
        found.setdefault(each.type_key, []).append(each)
    # Without memory, CPython's iterator over items ends the process.
    return {key: found[key] for key in sorted(found)}


live_objects.__module__ = "anyffi.debug"
