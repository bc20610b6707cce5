"""Shared libraries whose files are damaged or cut short: refused, or loaded, but never the end of the process."""

from __future__ import annotations

import pathlib
import re
import struct
import sys
from typing import Any

import pytest
from module_sources import GOOD
from programs import run_program
from support import Build, needs_compilers

pytestmark = [
    needs_compilers,
    pytest.mark.skipif(
        sys.platform != "linux" or sys.maxsize < 2**32, reason="writes headers of 64-bit ELF files"
    ),
]


@pytest.mark.parametrize("length", [100, 1000, 4096, 8192])
def test_a_library_cut_short(ffi: Any, build: Build, tmp_path: pathlib.Path, length: int) -> None:
    path = tmp_path / "short.so"
    path.write_bytes(build("good.cc", GOOD).read_bytes()[:length])
    with pytest.raises(ValueError, match=r"short\.so: .*byte \d+"):
        ffi.load_module(path)


#: Fields of a program header of ELF by their places in it, and types of segments.
KIND, OFFSET, ADDRESS, FILE_SIZE, SIZE, ALIGNMENT = 0, 8, 16, 32, 40, 48
LOAD, DYNAMIC, NOTE, RELRO = 1, 2, 4, 0x6474E552
DAMAGED = [
    (LOAD, ADDRESS, 2**62),
    (LOAD, SIZE, 0),
    (LOAD, SIZE, 2**62),
    (LOAD, FILE_SIZE, 2**62),
    (LOAD, ALIGNMENT, 4095),
    (LOAD, KIND, 0),
    (DYNAMIC, ADDRESS, 2**40),
    (DYNAMIC, OFFSET, 64),
    (DYNAMIC, FILE_SIZE, 1),
    (DYNAMIC, SIZE, 2**62),
    (NOTE, SIZE, 2**40),
    (NOTE, ADDRESS, 2**40),
    (NOTE, KIND, DYNAMIC),
    (RELRO, SIZE, 2**40),
    (RELRO, SIZE, 2**13),
    (RELRO, ADDRESS, 2**40),
]


@pytest.mark.parametrize(("kind", "place", "value"), DAMAGED)
def test_damaged_program_headers(
    ffi: Any, build: Build, tmp_path: pathlib.Path, kind: int, place: int, value: int
) -> None:
    """Undetected, most of them would crash the system's loader."""
    content = bytearray(build("good.cc", GOOD).read_bytes())
    (start,), (count,) = struct.unpack_from("=Q", content, 32), struct.unpack_from("=H", content, 56)
    headers = [start + 56 * i for i in range(count)]
    found = [at for at in headers if struct.unpack_from("=I", content, at)[0] == kind]
    if not found:
        pytest.skip("the linker makes no such segment")
    struct.pack_into("=I" if place == KIND else "=Q", content, found[0] + place, value)
    path = tmp_path / "damaged.so"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"damaged\.so: not a complete shared library: byte \d+: \w"):
        ffi.load_module(path)


#: Loads many copies of a library, each with another byte changed and in a child of its own, and counts what happens.
CHANGE_BYTES = """
    import collections, os, pathlib, random, signal, anyffi
    content, path = pathlib.Path(os.environ["LIBRARY"]).read_bytes(), pathlib.Path(os.environ["COPY"])
    places, outcomes, random = eval(os.environ["PLACES"]), collections.Counter(), random.Random(1)
    for _ in range(int(os.environ["COUNT"])):
        changed, place = bytearray(content), random.choice(places)
        changed[place] = random.choice([changed[place] ^ 1 << random.randrange(8), 0, 255, random.randrange(256)])
        path.unlink(missing_ok=True)
        path.write_bytes(changed)
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            signal.alarm(60)
            outcome = 0
            try:
                module = anyffi.load_module(path)
                dir(module), module.add_one(1)
                try:
                    module.fail()
                except KeyError:
                    pass
            except Exception as error:
                outcome = 1 + (type(error) is ValueError)
            os._exit(outcome)
        status = os.waitpid(child, 0)[1]
        kind = ["loaded", "refused by the loader", "refused"][status >> 8] if status in (0, 256, 512) else "ended"
        outcomes[kind] += 1
        if kind == "ended":
            print("byte", place, "was", content[place], "is", changed[place], "status", status)
    print(*(f"{kind}: {count}" for kind, count in outcomes.items()), sep="\\n")
"""


def outcomes_of_changes(
    library: pathlib.Path, places: str, count: int, folder: pathlib.Path, mode: str
) -> dict[str, str]:
    written = run_program(
        CHANGE_BYTES,
        mode,
        LIBRARY=str(library),
        COPY=str(folder / "changed.so"),
        PLACES=places,
        COUNT=str(count),
    )
    assert "ended" not in written, written
    return dict(line.split(": ") for line in written.splitlines())


def test_any_byte_of_the_headers(ffi: Any, build: Build, tmp_path: pathlib.Path) -> None:
    """The headers, the hash table and the first symbols, of which the loader checks next to nothing."""
    found = outcomes_of_changes(build("good.cc", GOOD), "range(1024)", 300, tmp_path, ffi.ffi_mode)
    assert int(found["refused"]) > 50
    assert int(found["loaded"]) > 50, "padding, physical addresses, names of the file's own functions"


def test_any_byte_of_the_dynamic_section(ffi: Any, build: Build, tmp_path: pathlib.Path) -> None:
    library = build("good.cc", GOOD)
    content = library.read_bytes()
    (start,), (count,) = struct.unpack_from("=Q", content, 32), struct.unpack_from("=H", content, 56)
    headers = [struct.unpack_from("=IIQQQQQQ", content, start + 56 * i) for i in range(count)]
    place, size = next((header[2], header[5]) for header in headers if header[0] == DYNAMIC)
    # Without the entries for the initialization and termination code, which cannot be checked.
    entries = [at for at in range(place, place + size, 16) if content[at] not in (12, 13)]
    places = f"[at + i for at in {entries} for i in range(16)]"
    found = outcomes_of_changes(library, places, 300, tmp_path, ffi.ffi_mode)
    assert int(found["refused"]) > 50


def test_other_libraries(ffi: Any) -> None:
    """Libraries of the system and of packages, which this process has loaded, are not found to be damaged."""
    mapped = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
    paths = sorted(set(re.findall(r" (/(?:usr/|lib|.*/site-packages/).*\.so\S*)$", mapped, re.MULTILINE)))
    assert paths
    for path in paths:
        with pytest.raises(ImportError, match="not a module of anyffi"):
            ffi.load_module(path)
