"""Embed Python in a C program that initializes and finalizes it several times."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import sysconfig

from support import CC, run

_SOURCE = """
#include <Python.h>
int main(int argc, char** argv) {
  int status = 0;
  for (int i = 1; i < argc; ++i) {
    Py_Initialize();
    status |= PyRun_SimpleString(argv[i]);
    status |= Py_FinalizeEx();
  }
  return status != 0;
}
"""


def build_embedding(folder: pathlib.Path) -> pathlib.Path | None:
    """Compile the program, which runs each argument in a new interpreter; None if CPython has no library."""
    libraries, library = sysconfig.get_config_vars("LIBDIR", "LDLIBRARY")
    if not library.endswith(".so") or not os.path.exists(os.path.join(libraries, library)):
        return None
    source, program = folder / "embedding.c", folder / "embedding"
    source.write_text(_SOURCE)
    link = [f"-L{libraries}", f"-l{library[3:-3]}", f"-Wl,-rpath,{libraries}"]
    include = sysconfig.get_path("include")
    built = run([CC, source, "-o", program, "-I", include, *link], LD_PRELOAD=None)
    assert built.returncode == 0, built.stderr
    return program


def run_embedded(program: pathlib.Path, mode: str, *codes: str) -> subprocess.CompletedProcess[str]:
    """Run each program in a new interpreter, all in one process, with the module path of this process."""
    begin = f"""
import sys
sys.path[:] = {sys.path!r}
sys.dont_write_bytecode = True
import site
for folder in {[path for path in sys.path if path.endswith("site-packages")]!r}:
    site.addsitedir(folder)
"""
    return run([program, *[begin + code for code in codes]], FFI_MODE=mode, PYTHONHOME=sys.base_prefix)
