"""Operations on objects that the threads of a process share, for the stress program `sharing`.

`use_shared` is one operation. Threads that run it at once read, change and replace the same containers, objects,
functions and names. Each operation gives a right result, or the error that Python's own containers give.
"""

from __future__ import annotations

import copy
import pickle
import random
import re
import weakref
from collections.abc import Iterator
from typing import Any, Callable

import anyffi
import anyffi.testing as t

#: Shared containers are emptied at this size, so that an operation on one takes a bounded time.
_MOST_ITEMS = 50
_CHANGED = re.compile("(changed size|keys changed) during iteration")


@anyffi.dataclass("stress.Shared")
class _Shared:
    number: int = 0
    items: list[Any] = anyffi.field(default_factory=list)
    next: Any = None


_xs: Any = anyffi.List(["a text that has its own memory", 1])
_d: Any = anyffi.Dict({0: ["a text that has its own memory"]})
_s: Any = anyffi.Set([1, 2])
_array = anyffi.Array([["a text that has its own memory"], 2])
_map = anyffi.Map({"k": [1], "m": (2,)})
_object = _Shared()
_plain: list[Any] = [1, ["a text that has its own memory"]]
_plain_dict: dict[Any, Any] = {"k": 1}
_iterators: list[Iterator[Any]] = [iter(_xs)]


def _keep_small(n: int) -> None:
    for container in (_xs, _d, _s, _plain, _plain_dict):
        if len(container) > _MOST_ITEMS:
            container.clear()


def _set_attribute(n: int) -> None:
    _object.number = n
    _object.items = [n, "a text that has its own memory"]
    _object.next = _Shared(n) if n % 2 else None


def _read_attribute(n: int) -> None:
    assert type(_object.number) is int
    assert len(_object.items) in (0, 2)
    shared = _object.next
    assert shared is None or (type(shared) is _Shared and type(shared.number) is int)


def _call_registered(n: int) -> None:
    name = f"stress.shared.{n % 3}"
    anyffi.register_global_func(name, lambda x: [x, n], override=True)
    function = anyffi.get_global_func(name)
    assert function(n)[0] == n


def _next_of_shared(n: int) -> None:
    if next(_iterators[0], None) is None:
        _iterators[0] = iter(random.choice([_xs, _array, _d, _s]))


def _find_wrapper(n: int) -> None:
    wrapper = _array[0]
    assert wrapper is _array[0]
    assert weakref.ref(wrapper)() is wrapper


def _copy_and_compare(n: int) -> None:
    assert type(copy.copy(_xs)) is anyffi.List
    assert copy.deepcopy(_map) == _map
    assert pickle.loads(pickle.dumps(_array)) == _array
    assert anyffi.structural_equal(anyffi.from_json(anyffi.to_json(_map)), _map)
    assert repr(_xs).startswith("anyffi.List(")


_OPERATIONS: list[Callable[[int], Any]] = [
    lambda n: _xs.append([n, "a text that has its own memory"]),
    lambda n: _xs.pop(),
    lambda n: _xs.insert(0, n),
    lambda n: list(_xs),
    lambda n: _xs[n % 3],
    lambda n: _xs.__setitem__(0, [n]),
    lambda n: _xs.__setitem__(slice(0, 2), [n, n, n]),
    lambda n: _xs == _plain,
    lambda n: n in _xs,
    lambda n: _xs + _plain,
    lambda n: _d.__setitem__(n % 20, [n, "a text that has its own memory"]),
    lambda n: _d.pop(n % 20, None),
    lambda n: _d.get(n % 20),
    lambda n: _d.setdefault(n % 20, (n,)),
    lambda n: list(_d.items()),
    lambda n: dict(_d),
    lambda n: _d.update({n % 20: 1, "k": [2]}),
    lambda n: anyffi.to_python(_d),
    lambda n: _s.add(f"{n % 30}, a text that has its own memory"),
    lambda n: _s.discard(f"{n % 30}, a text that has its own memory"),
    lambda n: _s | {n},
    lambda n: list(_s),
    lambda n: _plain.append([n]),
    lambda n: t.echo(_plain),
    lambda n: _plain_dict.__setitem__(n % 30, [n]),
    lambda n: t.echo(_plain_dict),
    lambda n: t.apply(lambda x: x, _xs) is _xs,
    lambda n: t.echo([_xs, _d, _object]),
    _set_attribute,
    _read_attribute,
    _call_registered,
    _next_of_shared,
    _find_wrapper,
    _copy_and_compare,
    _keep_small,
]


def use_shared(number: int) -> None:
    """Run an operation.

    Parameters
    ----------
    number : int
        Any number, which operations store.

    Raises
    ------
    Exception
        The result was wrong, or an error was none of those that are due to other threads.
    """
    try:
        random.choice(_OPERATIONS)(number)
    except (IndexError, KeyError):
        # A container has become shorter, or lost a key that `dict(x)` was about to read.
        pass
    except RuntimeError as error:
        if _CHANGED.search(str(error)) is None:
            raise
