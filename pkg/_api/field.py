"""`anyffi.field`: `dataclasses.field`, with an option for comparisons by structure."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._objects.fields import FROZEN
from .._objects.structural import KEY, require_word
from .._typing import Any

__all__ = ["field"]


def field(
    *, structural: Any = None, frozen: bool = False, doc: Any = None, metadata: Any = None, **options: Any
) -> Any:
    """Describe a field of a dataclass, as `dataclasses.field` does.

    Parameters
    ----------
    structural : str, optional
        How the field is compared by structure: `"plain"`, the default; `"ignore"`, not at all; `"identity"`,
        by identity; `"defines"`, its objects are variables that it binds for the fields after it;
        `"declares"`, the same, but bound for everything that follows in the innermost object with a field
        that defines.
    frozen : bool
        Assignments raise `dataclasses.FrozenInstanceError` once the field has a value;
        ``cls.name.set(instance, value)`` still sets it.
    doc : str, optional
        Its docstring.
    metadata : mapping, optional
        As for `dataclasses.field`.
    **options
        The other arguments of `dataclasses.field`.

    Examples
    --------
    >>> @anyffi.dataclass("example.Token")
    ... class Token:
    ...     text: str
    ...     line: int = anyffi.field(default=0, structural="ignore")
    >>> anyffi.structure.structural_equal(Token("x", 1), Token("x", 2))
    True
    """
    import dataclasses

    given = {}
    if structural is not None:
        require_word(structural, of_field=True)
        given[KEY] = structural
    if frozen:
        given[FROZEN] = True
    if doc is not None:
        # `dataclasses.field` has this argument from Python 3.14 on.
        given["doc"] = doc
    if given:
        metadata = {**(metadata or {}), **given}
    return dataclasses.field(metadata=metadata, **options)
