"""Members of a C++ base that make objects: they never make one of the base for a derived class."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = """
#include <anyffi/anyffi.h>

namespace inherited {
struct Base { int64_t x = 1; };
struct Plain : Base { int64_t y = 2; };
struct Pickled : Base { int64_t z = 3; };
}  // namespace inherited
using namespace inherited;

ANYFFI_CLASS(Base, "inherited.Base")
    .init<>()
    .field("x", &Base::x)
    .copyable()
    .pickle([](const Base& base) { return base.x; }, [](int64_t x) { Base made; made.x = x; return made; });
ANYFFI_CLASS(Plain, "inherited.Plain", Base).field("y", &Plain::y);
ANYFFI_CLASS(Pickled, "inherited.Pickled", Base)
    .init<>()
    .field("z", &Pickled::z)
    .pickle([](const Pickled& p) { return p.x + p.z; }, [](int64_t x) { Pickled made; made.x = x; return made; });
ANYFFI_EXPORT(make_plain, [] { return anyffi::make_object<Plain>(); });
"""


@pytest.fixture
def module(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("inherited.cc", SOURCE))


def test_copies_and_pickles_of_a_base(module: Any) -> None:
    plain = module.make_plain()
    for make in (copy.copy, copy.deepcopy):
        with pytest.raises(
            TypeError, match=r"^cannot copy 'Plain' object: copyable\(\) in C\+\+ is that of its"
        ):
            make(plain)
    with pytest.raises(
        TypeError, match=r"base inherited.Base, .*Describe inherited.Plain with pickle\(\), too"
    ):
        pickle.dumps(plain)
    assert (plain.x, plain.y) == (1, 2)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(module.Base(), protocol)).x == 1


def test_copies_by_own_pickles(module: Any) -> None:
    for make in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        made = make(module.Pickled())
        assert (type(made).__qualname__, made.x, made.z) == ("Pickled", 4, 3)


def test_constructors_of_a_base(module: Any) -> None:
    class Wrong(module.Pickled):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            module.Base.__init__(self)

    class Right(module.Base):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            module.Base.__init__(self)

    with pytest.raises(
        TypeError, match="the constructor of inherited.Base makes no inherited.Pickled; call super"
    ):
        Wrong()
    assert Right().x == 1


def test_registered_classes(module: Any, ffi: Any) -> None:
    @ffi.register_object("inherited.Pickled")
    class Registered(ffi.Object):  # type: ignore[misc, name-defined]
        pass

    for made in (copy.copy(Registered()), copy.deepcopy(Registered())):
        assert (type(made), made.z) == (Registered, 3)
