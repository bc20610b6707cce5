"""Exceptions of libraries that were linked with -static-libstdc++, whose C++ runtimes do not see each other's."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import anyffi
import pytest
from programs import run_program
from support import CXX, SANITIZED, needs_compilers, run

pytestmark = [needs_compilers, pytest.mark.slow("compiling")]

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/exception_class.h>
#include <stdexcept>
namespace NAME {
struct Failure : std::runtime_error {
  using runtime_error::runtime_error;
};
struct Code {};
struct Both : std::logic_error, std::runtime_error {
  Both() : logic_error("logic"), runtime_error("run time") {}
};
int64_t fail(int64_t how) {
  if (how == 0) throw Failure("declared");
  if (how == 1) throw Code();
  if (how == 2) throw Both();
  if (how == 3) throw 7;
  if (how == 4) throw std::out_of_range("far");
  throw anyffi::Error("KeyError", "of C++");
}
}  // namespace NAME
ANYFFI_EXPORT(fail, &NAME::fail);
ANYFFI_EXCEPTION(NAME::Failure, "NAME.Failure", "ValueError");
ANYFFI_EXCEPTION(NAME::Code, "NAME.Code", "Exception");
"""

PROGRAM = """
import os
import anyffi
for module in [anyffi.load_module(path) for path in os.environ["LIBRARIES"].split(os.pathsep)]:
    for how in range(6):
        try:
            module.fail(how)
        except Exception as error:
            print(type(error).__module__, type(error).__name__, error)
"""

APART = "RuntimeError C++ exception of unknown type, from a library with a C++ runtime of its own"


def test_exceptions_of_libraries_with_a_runtime_of_their_own(ffi: Any, tmp_path: pathlib.Path) -> None:
    """Neither these nor the exceptions of other libraries end the process."""
    runtime = pathlib.Path(anyffi.find_library("anyffi")).parent
    libraries = {}
    for name, options in (("apart", ["-static-libstdc++"]), ("shared", [])):
        source, libraries[name] = tmp_path / f"{name}.cc", os.fspath(tmp_path / f"{name}.so")
        source.write_text(SOURCE.replace("NAME", name))
        flags = ["-std=c++17", "-shared", "-fPIC", "-I", anyffi.find_include_dir()]
        command = [CXX, *flags, source, "-o", libraries[name], *options, "-L", runtime, "-lanyffi"]
        done = run(command, LD_PRELOAD=None)
        if done.returncode != 0 and "-lstdc++" in done.stderr:
            pytest.skip("needs a static libstdc++")
        assert done.returncode == 0, done.stderr
    # The preloaded libstdc++ of the sanitizers takes the place of the library's own.
    unknown: set[str] = set() if SANITIZED else {"apart"}
    expected = {
        name: [
            f"{name} Failure declared",
            f"{name} Code C++ exception",
            f"builtins {APART}" if name in unknown else "builtins RuntimeError logic",
            f"builtins {APART}" if name in unknown else "builtins RuntimeError C++ exception of type int",
            "builtins IndexError far",
            "builtins KeyError 'of C++'",
        ]
        for name in libraries
    }
    for names in (["apart", "shared"], ["shared", "apart"]):
        paths = os.pathsep.join(libraries[name] for name in names)
        for traceback in ("0", "1"):
            found = run_program(PROGRAM, ffi.ffi_mode, LIBRARIES=paths, FFI_TRACEBACK=traceback)
            assert found.splitlines() == [line for name in names for line in expected[name]]
