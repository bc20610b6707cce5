"""Fields of the runtime's objects, as properties of their Python classes."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._rules.culprits import locate_field
from .._rules.refusals import explain_field
from .._typing import Any
from .runtime import Runtime

__all__ = ["Field"]


class Field(property):
    """A property that reads, and perhaps writes, a field of the object."""

    def __init__(
        self,
        runtime: Runtime,
        owner: str,
        name: str,
        type_name: str | None,
        doc: str | None,
        is_writable: bool,
    ) -> None:
        get = runtime.field_getter(name, lambda self: runtime.object_get_field(self, name))
        put = None
        if is_writable:

            def put_slowly(self: Any, value: Any) -> None:
                try:
                    if runtime.object_set_field(self, name, value):
                        runtime.renew_wrapper(self)
                except Exception as exception:
                    locate_field(exception, (value,), f"{owner}.{name}")
                    if isinstance(exception, TypeError):
                        explain_field(exception, value)
                    raise

            put = runtime.field_setter(name, put_slowly)
        super().__init__(get, put)
        # For the messages of Python 3.10 and later; only the body of a class does it by itself.
        if hasattr(self, "__set_name__"):
            self.__set_name__(None, name)
        # The `doc` of a property is hidden by the docstring of a derived class.
        self.__doc__ = doc
        self.type_name = type_name
