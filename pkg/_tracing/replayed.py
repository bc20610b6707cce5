"""The process that runs recorded calls again, a separate one, because a call may end it."""

from __future__ import annotations

import json
import os
import pickle
import sys
from typing import Any

from .. import _current
from .._api.modules import loaded_paths
from .._pickling import LateFunction
from .differences import find_difference
from .recording import describe_error, stamp_library
from .records import Call, read_calls
from .rendering import render, type_of

__all__ = ["debug", "main"]


class _NoCall(Exception):
    """A call cannot be run again; the message has the reason."""


def _load(call: Call, tell: Any) -> tuple[Any, Any, Any]:
    """Load the libraries, the function and the arguments of a call."""
    if call.record is None:
        raise _NoCall(call.reason)
    _, reference, packed, _, _ = call.record
    try:
        for path, *stamp in call.libraries:
            if path not in loaded_paths:
                _current.api.load_module(path)
                if stamp_library(path)[1:] != tuple(stamp):
                    tell(changed=path)
        function = _find_function(reference)
        if isinstance(function, _current.api.Function):
            # A function that was not found is a Function over a LateFunction, and reading it back returns
            # that.
            python = _current.api.List([function])[0]
            if isinstance(python, LateFunction):
                python._find()
        args, kwargs = pickle.loads(packed)
        if type(args) is not tuple or type(kwargs) is not dict:
            raise ValueError("the arguments of the call are missing")
    except (Exception, SystemExit) as error:
        raise _NoCall(": ".join(describe_error(error)[1:])) from error
    return function, args, kwargs


def _find_function(reference: bytes) -> Any:
    found = pickle.loads(reference)
    if isinstance(found, tuple):
        key, name, part = found
        member = _current.api._class_of_key(key).__dict__[name]
        return getattr(member, part) if part else member
    return found


def _shown(args: Any, kwargs: Any) -> str:
    return ", ".join([*map(render, args), *(f"{key}={render(x)}" for key, x in kwargs.items())])


def _expected(call: Call) -> tuple[Any, Any, Any]:
    """Return the outcome, the result, and the arguments after the call, as they were recorded."""
    assert call.record is not None
    _, _, packed, outcome, after = call.record
    if outcome is None:
        return None, None, None
    try:
        size = {"return": 2, "raise": 3, "show": 3}.get(outcome[0], sys.maxsize)
        if len(outcome) < size:
            raise ValueError("the outcome of the call is missing")
        expected = pickle.loads(outcome[1]) if outcome[0] == "return" else None
        return outcome, expected, pickle.loads(packed if after is None else after)
    except (Exception, SystemExit) as error:
        raise _NoCall(": ".join(describe_error(error)[1:])) from error


def _run(call: Call, tell: Any) -> dict[str, Any]:
    """Run a call, and return how it differs from the recorded one."""
    function, args, kwargs = _load(call, tell)
    outcome, expected, expected_after = _expected(call)
    arguments = _shown(args, kwargs)
    tell(loaded=call.number, arguments=arguments)
    result: Any = None
    try:
        result = function(*args, **kwargs)
    except BaseException as error:
        found: Any = describe_error(error)
        del error
    else:
        is_shown = outcome is not None and outcome[0] == "show"
        found = ("show", type_of(result), render(result)) if is_shown else ("return",)
    difference = None
    if outcome is None:
        difference = f"it did not return when it was recorded, and became {_show(found, result)}"
    elif found[0] != outcome[0] or (found[0] != "return" and found != outcome[:3]):
        difference = f"{_show(outcome, expected)} became {_show(found, result)}"
    try:
        if difference is None and found[0] == "return":
            difference = find_difference(expected, result)
            difference = difference and f"the result: {difference}"
        if difference is None:
            difference = find_difference(expected_after, (args, kwargs))
            difference = difference and f"the arguments after the call: {difference}"
    except (Exception, SystemExit) as error:
        raise _NoCall(f"its outcome cannot be compared: {': '.join(describe_error(error)[1:])}") from error
    return {"arguments": arguments, "difference": difference}


def _list(call: Call, tell: Any) -> dict[str, Any]:
    """Return a call as text, without running it."""
    _, args, kwargs = _load(call, tell)
    outcome, expected, _ = _expected(call)
    shown = "it did not return" if outcome is None else _show(outcome, expected)
    return {"arguments": _shown(args, kwargs), "outcome": shown}


def _show(outcome: Any, result: Any) -> str:
    if outcome[0] == "raise":
        return f"{outcome[1]}: {outcome[2]}"
    return f"{outcome[1]} {outcome[2]}" if outcome[0] == "show" else f"{type_of(result)} {render(result)}"


def main(folder: str, begin: int, most: int, is_listed: int) -> None:
    """Run or list calls from a number on, at most so many, and write a line of JSON before and after each."""
    # The output of the calls must not come between these lines.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    damaged: dict[str, int] = {}

    def tell(**event: Any) -> None:
        print(json.dumps(event), file=out, flush=True)

    for call in read_calls(folder, damaged):
        if call.number <= begin:
            continue
        if call.number > begin + most:
            return
        if call.record is None:
            tell(begun=call.number, file=call.file, mode=call.mode, name="", returned=True)
            tell(done=call.number, failed=call.reason)
            continue
        name, returned = str(call.record[0]), call.record[3] is not None
        tell(begun=call.number, file=call.file, mode=call.mode, name=name, returned=returned)
        try:
            found = _list(call, tell) if is_listed else _run(call, tell)
        except _NoCall as error:
            found = {"failed": str(error)}
        tell(done=call.number, **found)
    tell(end=True, damaged=damaged)


def debug(folder: str, number: int) -> None:
    """Run a call in `pdb`, which stops at its first line in Python."""
    import pdb

    for call in read_calls(folder, {}):
        if call.number == number:
            try:
                function, args, kwargs = _load(call, lambda changed: print(changed))
            except _NoCall as error:
                sys.exit(f"{call.file}, call {number}: cannot be replayed: {error}")
            print(f"arguments: {_shown(args, kwargs)}", flush=True)
            pdb.runcall(function, *args, **kwargs)
            return
    sys.exit(f"there is no call {number}")
