"""Records the C ABI as text: the runtime's exported symbols, and all declarations of the headers.

    python tests/support/frozen.py        writes both again, after a change that the rules in c_api.h allow

Until version 0.1.0 is released, any change is allowed. The headers of the first version of the ABI are also kept, to
build an extension with them; they are only written if their archive was deleted.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import tarfile
import tempfile

import anyffi
from c_abi import INCLUDE, plain_declarations
from support import CC, ROOT

FROZEN = ROOT / "tests" / "abi" / "frozen"
SYMBOLS = FROZEN / "symbols.txt"
#: The output of `abidw` for a library that defines the functions of the headers, on a 64-bit machine.
DECLARATIONS = FROZEN / "declarations.abi"
#: All headers of the first version of the ABI.
HEADERS = FROZEN / "headers-1.tar.xz"

_PROTOTYPE = re.compile(r"^(?!typedef)\w[\w *]*?\banyffi_\w+\([^;{}]*\);", re.MULTILINE)
#: Omits what depends on the machine and the place of the checkout.
_ABIDW = (
    "abidw",
    *("--type-id-style", "hash"),
    *(f"--no-{what}" for what in ("architecture", "corpus-path", "show-locs", "comp-dir-path", "elf-needed")),
    *("--no-parameter-names", "--no-write-default-sizes"),
)


def exported_symbols() -> list[str]:
    """Return the names that the dynamic linker sees in the installed runtime library."""
    words = ["nm", "-D", "--defined-only", anyffi.find_library("anyffi")]
    listed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return sorted(line.split()[-1] for line in listed.splitlines())


def prototypes() -> list[str]:
    """Return the declarations of all functions in the C headers."""
    return _PROTOTYPE.findall(re.sub(r"//[^\n]*|/\*.*?\*/", "", plain_declarations(), flags=re.DOTALL))


def build_declared(library: pathlib.Path, include: pathlib.Path) -> None:
    """Build a library, with debug information, that defines the functions of the headers without a body.

    One more function for each type, because types that no function uses are not compared.
    """
    types = re.findall(r"^typedef (?:struct|enum) (\w+) \{", plain_declarations(), re.MULTILINE)
    uses = [f"void use_{name}({name}* x);" for name in types]
    bodies = "\n".join(f"{prototype[:-1]} {{ __builtin_trap(); }}" for prototype in (*prototypes(), *uses))
    words = [CC, "-g", "-w", "-shared", "-fPIC", "-I", include, "-x", "c", "-", "-o", library]
    source = f"#include <anyffi/host_api.h>\n#include <anyffi/native_api.h>\n{bodies}\n"
    subprocess.run(words, check=True, input=source, text=True)


def write_declarations(to: pathlib.Path, include: pathlib.Path = INCLUDE) -> None:
    """Write all declarations of the headers in the form that abidiff compares."""
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder) / "declared.so"
        build_declared(library, include)
        subprocess.run([*_ABIDW, "--out-file", to, library], check=True)


def write_headers() -> None:
    """Write the archive of the headers, without times, owners and other metadata."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        bare = tarfile.TarInfo(entry.name)
        bare.type, bare.size, bare.mode = entry.type, entry.size, 0o755 if entry.isdir() else 0o644
        return bare

    with tarfile.open(HEADERS, "w:xz") as archive:
        archive.add(INCLUDE / "anyffi", "anyffi", filter=plain)


def main() -> None:
    if not HEADERS.exists():
        write_headers()
    SYMBOLS.write_text("".join(f"{name}\n" for name in exported_symbols()))
    write_declarations(DECLARATIONS)


if __name__ == "__main__":
    main()
