"""Make interpreters without the GIL, for which Debian has no packages."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Sequence

from debian_interpreters import KEPT, download, patch, unpack, unpacked

__all__ = ["compile_source", "make", "path_of"]

_PINS = pathlib.Path(__file__).parent / "constraints.txt"


def path_of(version: str) -> pathlib.Path:
    return KEPT / version / "bin" / f"python{version}"


def make(version: str) -> pathlib.Path:
    # The executables of freeze-core for 3.13 lack the interpreter's main function.
    return compile_source(version, KEPT / version) if version == "3.13t" else _assemble(version)


def compile_source(
    version: str, root: pathlib.Path, *options: str, runner: Sequence[str] = (), **variables: str
) -> pathlib.Path:
    """Compile an interpreter from its source package; mirrors may only have those of stable releases.

    Parameters
    ----------
    version : str
        Of a build without the GIL, such as ``"3.13t"``.
    root : Path
        Where the interpreter is installed. It also gets ``tsan_suppressions.txt``, CPython's list of its own
        races.
    *options : str
        More options of `configure`.
    runner : sequence of str
        A command that runs others, such as at fixed addresses.
    **variables : str
        Environment variables of all commands, such as ``CC``.
    """
    print(f"Compiling CPython {version} from Debian's source package (10 minutes)", flush=True)
    folder = KEPT / f"{root.name}-source"
    download(folder, "deb-src", "source", "--download-only", f"python{version.rstrip('t')}")
    source, built = folder / "source", folder / "build"
    source.mkdir()
    built.mkdir()
    (archive,) = folder.glob("*.orig.tar.xz")
    unpacking = ["--extract", "--strip-components=1", f"--directory={source}", f"--file={archive}"]
    subprocess.run(["tar", *unpacking], check=True)
    configure = [str(source / "configure"), f"--prefix={root}", "--disable-test-modules", "--disable-gil"]
    environment = {**os.environ, **variables}
    with (folder / "log").open("w") as output:
        for command in ([*configure, *options], ["make", "-j1"], ["make", "install"]):
            words = [*runner, "nice", *command]
            subprocess.run(words, cwd=built, env=environment, stdout=output, stderr=output, check=True)
    shutil.copy(source / "Tools/tsan/suppressions_free_threading.txt", root / "tsan_suppressions.txt")
    shutil.rmtree(folder)
    return root / "bin" / f"python{version}"


def _assemble(version: str) -> pathlib.Path:
    """Put together an interpreter.

    freeze-core, on the Python package index, starts frozen programs: its executable contains CPython, and its
    wheels the extension modules of the standard library. The rest of the library comes from Debian's packages
    of the build with the GIL.
    """
    release = version.rstrip("t")
    built = unpacked(release)
    usr = (built if built.exists() else unpack(release)).parent.parent
    print(f"Assembling CPython {version}", flush=True)
    folder, root = KEPT / f"{version}-wheel", KEPT / version
    wheel = _unpack_wheel(folder, version)
    library = root / "lib" / f"python{version}"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(usr / "lib" / f"python{release}", library, ignore_dangling_symlinks=True)
    shutil.copytree(usr / "include" / f"python{release}", root / "include" / f"python{version}")
    # The wheels of pip, which new environments install.
    shutil.copytree(usr / "share" / "python-wheels", root / "share" / "python-wheels")
    shutil.rmtree(library / "lib-dynload")
    shutil.copytree(wheel / "freeze_core" / "lib", library / "lib-dynload")
    shutil.copytree(wheel / "freeze_core.libs", root / "lib" / "freeze_core.libs")
    _describe(version, root, usr)
    (executable,) = (wheel / "freeze_core" / "bases").glob("console-*")
    python = path_of(version)
    python.parent.mkdir()
    unfinished = pathlib.Path(shutil.copy(executable, python.parent / "unfinished"))
    unfinished.chmod(0o755)
    main = root / "lib" / "libmain.so"
    compiler = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(main), "-ldl"]
    subprocess.run(compiler, input=_MAIN, text=True, check=True)
    patch(usr, ["--set-rpath", "$ORIGIN/../lib"], ["--add-needed", main.name], path=unfinished)
    unfinished.rename(python)
    shutil.rmtree(folder)
    return python


#: Starts the interpreter instead of a frozen program.
_MAIN = """
#define _GNU_SOURCE
#include <dlfcn.h>
typedef int (*Main)(int, char**, char**);
typedef int (*Start)(Main, int, char**, void*, void*, void*, void*);
int Py_BytesMain(int, char**);
static int run(int argc, char** argv, char** environment) {
  (void)environment;
  return Py_BytesMain(argc, argv);
}
int __libc_start_main(Main main, int argc, char** argv, void* init, void* fini, void* end, void* stack) {
  (void)main;
  return ((Start)dlsym(RTLD_NEXT, "__libc_start_main"))(run, argc, argv, init, fini, end, stack);
}
"""


def _unpack_wheel(folder: pathlib.Path, version: str) -> pathlib.Path:
    """Download and unpack the wheel of freeze-core for a version; return its folder."""
    shutil.rmtree(folder, ignore_errors=True)
    # The interpreter that runs this may have no pip.
    subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
    python = folder / "env" / "bin" / "python"
    pip = [str(python), "-m", "pip", "--quiet", "download", "--only-binary=:all:", "--constraint", str(_PINS)]
    machine = os.uname().machine
    tags = ["--python-version", version.rstrip("t"), "--abi", f"cp{version.replace('.', '')}"]
    tags += ["--platform", f"manylinux2014_{machine}", "--platform", f"manylinux_2_28_{machine}"]
    subprocess.run([*pip, *tags, "--no-deps", "--dest", str(folder), "freeze-core"], check=True)
    (archive,) = folder.glob("*.whl")
    shutil.unpack_archive(archive, folder / "wheel", "zip")
    return folder / "wheel"


def _describe(version: str, root: pathlib.Path, usr: pathlib.Path) -> None:
    """Declare in the headers, and in the data of `sysconfig`, that there is no GIL."""
    release = version.rstrip("t")
    header = root / "include" / f"python{version}" / "pyconfig.h"
    header.write_text(header.read_text().replace("/* #undef Py_GIL_DISABLED */", "#define Py_GIL_DISABLED 1"))
    library = root / "lib" / f"python{version}"
    (library / "EXTERNALLY-MANAGED").unlink(missing_ok=True)
    (settings,) = library.glob("_sysconfigdata__linux_*.py")
    text = settings.read_text().replace(
        f"cpython-{release.replace('.', '')}-", f"cpython-{version.replace('.', '')}-"
    )
    for path in ("'/usr", f"'{usr}"):
        text = text.replace(path, f"'{root}")
    text = text.replace(f"python{release}", f"python{version}")
    own = {"ABIFLAGS": "t", "ABI_THREAD": "t", "Py_GIL_DISABLED": 1, "Py_ENABLE_SHARED": 0}
    settings.with_name(settings.name.replace("data__", "data_t_")).write_text(
        f"{text}\nbuild_time_vars.update({own})\n"
    )
