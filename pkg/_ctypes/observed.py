"""Lets an observer see the calls and callbacks of this marshaller.

There is no check for an observer in each call: while there is one, the functions themselves are replaced.
"""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._rules.observing import observe_call, observe_callback
from .._typing import Any
from .abi import platform
from .call import FunctionCore, plain_call
from .callback import set_finder

__all__ = ["set_observer"]

_object_of = platform.object_of


def set_observer(observer: Any) -> None:
    """Make an observer's functions run before and after each call and callback; None removes them."""
    call: Any = plain_call if observer is None else observe_call(plain_call, observer)
    FunctionCore.__call__ = call  # type: ignore[method-assign]
    set_finder(
        _object_of if observer is None else lambda handle: observe_callback(_object_of(handle), observer)
    )
