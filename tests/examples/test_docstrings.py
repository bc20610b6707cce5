"""The examples in docstrings, as users type them after `import anyffi`."""

from __future__ import annotations

from typing import Any

import pytest
from programs import run_program

PROGRAM = """
import doctest, importlib, inspect, pkgutil
import anyffi

def find(obj, name, found):
    doc = inspect.getdoc(obj)
    if doc and ">>>" in doc:
        found.setdefault(doc, name)

found = {}
modules = [anyffi]
for module in pkgutil.iter_modules(anyffi.__path__, "anyffi."):
    if not module.name.rpartition(".")[2].startswith("_") and module.name != "anyffi.pytest_plugin":
        modules.append(importlib.import_module(module.name))
for module in modules:
    for name in getattr(module, "__all__", dir(module)):
        if name.startswith("_"):
            continue
        public = getattr(module, name)
        find(public, f"{module.__name__}.{name}", found)
        for member in dir(public) if inspect.isclass(public) else ():
            find(getattr(public, member, None), f"{module.__name__}.{name}.{member}", found)
runner = doctest.DocTestRunner(verbose=False)
for doc, name in found.items():
    example = doctest.DocTestParser().get_doctest(doc, {"anyffi": anyffi}, name, None, 0)
    runner.run(example)
print(len(found), runner.tries, runner.failures)
"""


def test_all_of_them(ffi: Any) -> None:
    pytest.importorskip("numpy")
    ran = run_program(PROGRAM, ffi.ffi_mode)
    found, tried, failed = map(int, ran.split()[-3:])
    assert (found > 25, tried > 60, failed) == (True, True, 0), ran
