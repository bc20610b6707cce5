import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, overload

from typing_extensions import TypeAlias, dataclass_transform

__all__ = ["dataclass", "field"]

_T = TypeVar("_T")
_OfField: TypeAlias = Literal["plain", "ignore", "identity", "defines", "declares"]
_OfClass: TypeAlias = Literal["plain", "identity", "variable", "dag"]

@overload
def field(
    *,
    default: _T,
    init: bool = True,
    repr: bool = True,
    hash: bool | None = None,
    compare: bool = True,
    metadata: Mapping[Any, Any] | None = None,
    kw_only: bool = ...,
    structural: _OfField | None = None,
    frozen: bool = False,
    doc: str | None = None,
) -> _T: ...
@overload
def field(
    *,
    default_factory: Callable[[], _T],
    init: bool = True,
    repr: bool = True,
    hash: bool | None = None,
    compare: bool = True,
    metadata: Mapping[Any, Any] | None = None,
    kw_only: bool = ...,
    structural: _OfField | None = None,
    frozen: bool = False,
    doc: str | None = None,
) -> _T: ...
@overload
def field(
    *,
    init: bool = True,
    repr: bool = True,
    hash: bool | None = None,
    compare: bool = True,
    metadata: Mapping[Any, Any] | None = None,
    kw_only: bool = ...,
    structural: _OfField | None = None,
    frozen: bool = False,
    doc: str | None = None,
) -> Any: ...
@overload
@dataclass_transform(field_specifiers=(field, dataclasses.field))
def dataclass(cls: type[_T], /) -> type[_T]: ...
@overload
@dataclass_transform(field_specifiers=(field, dataclasses.field))
def dataclass(
    key: str | None = None,
    /,
    *,
    init: bool = True,
    repr: bool = True,
    eq: bool = True,
    order: bool = False,
    unsafe_hash: bool = False,
    frozen: bool = False,
    match_args: bool = True,
    kw_only: bool = False,
    slots: bool = True,
    structural: _OfClass | None = None,
) -> Callable[[type[_T]], type[_T]]: ...
