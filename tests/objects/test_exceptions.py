"""Exceptions of C++ as exception classes of Python."""

from __future__ import annotations

import copy
import pickle
import re
import traceback
from typing import Any, Callable

import pytest
from exception_sources import FAILURES, MISSPELT, WRONG
from support import Build, compiles_classes

pytestmark = compiles_classes


@pytest.fixture
def shop(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("failures.cc", FAILURES))


def raiser(error: BaseException) -> Callable[[], None]:
    def f() -> None:
        raise error

    return f


def test_classes(shop: Any) -> None:
    assert (shop.Failure.__module__, shop.Failure.__qualname__) == ("mart", "Failure")
    assert shop.Failure.__base__ is ValueError
    assert shop.SoldOut.__base__ is shop.Failure
    assert shop.SoldOut.__doc__ == "No more of it."
    assert "SoldOut" in dir(shop)


@pytest.mark.parametrize(
    ("name", "cls", "message"),
    [
        ("failure", "Failure", "it failed"),
        ("sold out", "SoldOut", "péar"),
        ("rarely", "SoldOut", "rarely"),
        ("code", "Code", "code 7"),
        ("final", "Final", "at last"),
        ("fixed", "Fixed", "fixed"),
        ("kind", "SoldOut", "by kind"),
        ("fault", "Fault", "a fault"),
        # Without a text of its own: that of the nearest base that has one.
        ("crack", "Crack", "a crack"),
        ("leak", "Leak", "a leak"),
        ("puddle", "Puddle", "a leak"),
        # A text that throws.
        ("untold", "Untold", "what"),
    ],
)
def test_thrown_in_cpp(shop: Any, name: str, cls: str, message: str) -> None:
    with pytest.raises(Exception, match=f"^{message}$") as caught:
        shop.fail(name)
    assert type(caught.value) is getattr(shop, cls)
    assert caught.value.args == (message,)


def test_exceptions_pass_without_the_text_of_their_traceback(shop: Any, monkeypatch: Any) -> None:
    """C++ only needs the class of the exception; formatting the traceback would take longer at each level."""

    def descend(depth: int) -> Any:
        return shop.call(lambda: descend(depth - 1)) if depth else {}["missing"]  # type: ignore[var-annotated]

    formatted = []
    monkeypatch.setattr(traceback, "format_list", lambda frames: formatted.append(frames) or [])
    with pytest.raises(KeyError, match="missing"):
        descend(5)
    assert formatted == []


def test_attributes(shop: Any) -> None:
    with pytest.raises(shop.Failure, match="^spoilt$") as caught:
        shop.fail("spoilt")
    error: Any = caught.value
    assert (error.days, error.names, error.total) == (3, ["pear", "fig"], 6)
    assert error.args == ("spoilt",)
    copies = [copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))]
    for each in copies:
        assert (type(each), each.args, each.days, each.names) == (shop.Spoilt, ("spoilt",), 3, error.names)
    # The same object comes back through C++.
    with pytest.raises(shop.Failure) as again:
        shop.call(raiser(error))
    assert again.value is error
    assert shop.caught(raiser(error)) == "failure: spoilt"


def test_attributes_of_derived_classes(shop: Any) -> None:
    with pytest.raises(shop.Spoilt, match="^frozen$") as caught:
        shop.fail("frozen")
    error = caught.value
    assert type(error) is shop.Frozen
    assert (error.days, error.names, error.degrees) == (9, ["ice"], -18)
    with pytest.raises(shop.SoldOut) as other:
        shop.fail("sold out")
    assert not hasattr(other.value, "days")


def test_attributes_of_other_bases(shop: Any) -> None:
    with pytest.raises(OSError, match="^locked$") as caught:
        shop.fail("locked")
    assert (caught.value.until, caught.value.errno, caught.value.args) == (12, None, ("locked",))


def test_an_attribute_that_cannot_be_read(shop: Any) -> None:
    """The exception arrives, with None for this attribute."""
    with pytest.raises(shop.Spoilt) as raised:
        shop.fail("unreadable")
    assert (raised.value.days, raised.value.total) == (-1, None)


def test_a_constructor_that_raises_the_exception_again(shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recursion ends soon: none of its levels tries the constructor again without the attributes."""
    count = 0

    def new(cls: Any, *args: Any) -> Any:
        nonlocal count
        count += 1
        assert count < 10_000
        return shop.fail("spoilt")

    monkeypatch.setattr(shop.Spoilt, "__new__", new)
    with pytest.raises(RecursionError):
        shop.fail("spoilt")


def test_attributes_of_exceptions_made_in_python(shop: Any) -> None:
    class Rotten(shop.Spoilt):
        pass

    for error in (shop.Spoilt("old"), shop.Spoilt(), Rotten("old")):
        assert (error.days, error.names, error.total) == (None, None, None)
    error = shop.Spoilt("old", days=3)
    assert (str(error), error.args, error.days, error.names) == ("old", ("old",), 3, None)
    error = shop.Frozen("ice", days=4, degrees=-3)
    assert (error.args, error.days, error.degrees) == (("ice",), 4, -3)
    assert shop.Spoilt("old", 5, {}).args == ("old", 5, {})
    for cls, name in ((shop.Spoilt, "degrees"), (shop.Frozen, "colour"), (Rotten, "args")):
        with pytest.raises(
            TypeError, match=rf"{cls.__name__}\(\) got an unexpected keyword argument '{name}'"
        ):
            cls("old", **{name: 1})


def test_other_exceptions_stay(shop: Any) -> None:
    with pytest.raises(IndexError, match="^x$"):
        shop.fail("x")
    with pytest.raises(ValueError, match="unlocked"):
        shop.unlocked()


def test_bases_that_are_none(ffi: Any, build: Build) -> None:
    wrong = ffi.load_module(build("wrong.cc", WRONG))
    for which, (name, base) in enumerate((("Lost", "Nothing"), ("Odd", "Thing"), ("Self", "Self"))):
        with pytest.raises(RuntimeError, match=rf"^wrong\.{name}: C\+\+ exception$"):
            wrong.fail(which)
        with pytest.raises(
            ValueError, match=f"the base 'wrong.{base}' of the exception 'wrong.{name}' is no"
        ):
            getattr(wrong, name)


@pytest.mark.parametrize(
    ("base", "advice"),
    [
        ("ValueEror", "; did you mean 'ValueError'?"),
        ("misspelt", ""),
        ("Nothing", ""),
        ("", ""),
    ],
)
def test_a_misspelt_base_is_refused(ffi: Any, build: Build, base: str, advice: str) -> None:
    path = build(f"misspelt_{base}.cc", MISSPELT.replace("BASE", base))
    problem = (
        f"misspelt.Refused: its base '{base}' is neither a builtin exception class of this Python nor the key of "
        f"a class{advice}"
    )
    for _ in range(2):
        with pytest.raises(ValueError, match=f"^{re.escape(problem)}$"):
            ffi.load_module(path)
        assert ffi.get_global_func("misspelt.fail", allow_missing=True) is None


def test_a_base_that_others_may_define(ffi: Any, build: Build) -> None:
    ffi.load_module(build("later.cc", MISSPELT.replace("BASE", "later.Failure").replace("misspelt", "later")))
    with pytest.raises(RuntimeError, match=r"^later\.Refused: refused$"):
        ffi.get_global_func("later.fail")()
    source = MISSPELT.replace("BASE", "MisspeltOther").replace("misspelt", "dotless")
    dotless = ffi.load_module(build("dotless.cc", source))
    with pytest.raises(dotless.Refused, match="^refused$") as caught:
        ffi.get_global_func("dotless.fail")()
    assert isinstance(caught.value, dotless.MisspeltOther)


def test_raised_in_python(shop: Any) -> None:
    class Own(shop.SoldOut):  # type: ignore[misc, name-defined]
        pass

    assert shop.caught(raiser(shop.SoldOut("pear"))) == "sold out: pear"
    assert shop.caught(raiser(Own("own"))) == "sold out: own"
    assert shop.caught(raiser(shop.Failure("x"))) == "failure: x"
    assert shop.caught(raiser(shop.Final("x"))) == "final: x"
    assert shop.caught(raiser(shop.Code("x"))) == "error mart.Code"
    assert shop.caught(raiser(ValueError("x"))) == "error ValueError"
    assert shop.caught(lambda: shop.fail("rarely")) == "sold out: rarely"
    assert shop.caught(lambda: None) == "nothing"
    for error in (shop.SoldOut("pear"), ValueError("pear")):
        assert shop.as_std(raiser(error)) == "pear"


def test_raised_in_python_of_a_class_without_virtual_functions(shop: Any) -> None:
    error = shop.Mishap("fallen", place=3)
    for call in (shop.call, shop.displaced):
        with pytest.raises(shop.Mishap, match="^fallen$") as caught:
            call(raiser(error))
        assert caught.value is error
        assert error.place == 3


def test_through_cpp_it_is_the_same(shop: Any) -> None:
    for cls in (shop.SoldOut, shop.Failure, shop.Code, KeyError):
        error = cls("pear")
        with pytest.raises(cls) as caught:
            shop.call(raiser(error))
        assert caught.value is error


def test_copies_and_pickles(shop: Any) -> None:
    error = shop.SoldOut("pear", 5)
    error.note = 7
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        other = pickle.loads(pickle.dumps(error, protocol))
        assert (type(other), other.args, other.note) == (shop.SoldOut, ("pear", 5), 7)
    assert copy.copy(error).args == copy.deepcopy(error).args == ("pear", 5)
    lost = pickle.loads(pickle.dumps(shop.Fixed(2, "no", "file")))
    assert (type(lost), lost.errno, lost.filename) == (shop.Fixed, 2, "file")
