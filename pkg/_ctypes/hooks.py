"""Hooks: the functions of this marshaller that check mode replaces to compare it with the compiled one.

Each is a global variable of the module that calls it, set by a function there, so that the fast path needs
no attribute look-up.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

from .._builtins import *  # noqa: F403
from .._rules import errors as _errors
from .._rules import values as _rules
from .._rules.culprits import locate_result as _locate_result
from . import call, callback, containers, native, pack, plain, recipe, unpack, wrapper

__all__ = ["Hooks", "install"]


class Hooks(NamedTuple):
    """Functions that may be replaced; the defaults are those of ctypes mode."""

    #: `pack_argument(x, keep)`: an argument of a call as a value.
    pack_argument: Callable[[Any, list[Any]], bytes] = pack.pack
    #: `read_container(x)`: type code and parts of an exact builtin container, or None.
    read_container: Callable[[Any], tuple[int, Any] | None] = recipe.read_container
    #: The rules: `lower`, which runs users' code, and the errors for values that cannot be packed.
    rules: Any = _rules
    #: `make_error(kind, message, args, cause)`: the exception for an error, whose class may be a user's.
    make_error: Callable[..., Any] = _errors.make
    #: `unwrap(wrapper)`: the address of the object of a container's wrapper.
    unwrap: Callable[[Any], int] = wrapper.unwrap
    #: `new_wrapper(address)`: a wrapper for an object that has none.
    new_wrapper: Callable[[int], Any] = wrapper.new_wrapper
    #: Functions that create a Python container from its parts, by type code.
    makers: plain.Makers = plain.MAKERS
    #: `locate_result(exception, args, function)`: completes the message about a callback's result.
    locate_result: Callable[..., None] = _locate_result
    #: The classes of wrappers that are accepted as arguments.
    wrapper_classes: tuple[type, ...] = (wrapper.ObjectCore,)


_DEFAULTS = Hooks()


def install(hooks: Hooks = _DEFAULTS) -> None:
    """Install other functions; without an argument, restore the marshaller's own."""
    call.set_packer(hooks.pack_argument, hooks.pack_argument is pack.pack, hooks.wrapper_classes)
    recipe.set_reader(hooks.read_container)
    pack.set_rules(hooks.rules, hooks.read_container)
    unpack.set_error_maker(hooks.make_error)
    containers.set_unwrapper(hooks.unwrap)
    wrapper.set_factory(hooks.new_wrapper)
    native.set_makers(hooks.makers)
    callback.set_locator(hooks.locate_result)
