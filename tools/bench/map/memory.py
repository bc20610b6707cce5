"""Peak memory of conversions, above the memory used before; each is measured in its own process.

Linux only: the peak is reset and read through /proc.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import sys
from typing import Any

from ..contenders import Find
from ..rows import Snippet
from .laws import MEMORY
from .libraries import load
from .measure import Refused, run, set_up
from .values import SETUP
from .verdict import Verdict, compare

STATUS = pathlib.Path("/proc/self/status")
CLEAR = pathlib.Path("/proc/self/clear_refs")

#: Large values, and nanobind's parameter types for them.
VALUES = {
    "list of 1,000,000 ints": ("list(range(1_000_000))", "ints"),
    "list of 1,000,000 floats": ("[i + 0.5 for i in range(1_000_000)]", "floats"),
    "list of 1,000,000 str": ("[f'key{i}' for i in range(1_000_000)]", "strs"),
    "list of 300,000 long str": ("[f'a text that is no value, {i}' for i in range(300_000)]", "strs"),
    "dict of 300,000 str to int": ("{f'key{i}': i for i in range(300_000)}", "hash_map_str"),
    "dict of 300,000 ints": ("{i: i for i in range(300_000)}", "hash_map_int"),
    "list of 100,000 lists": ("[[i, 2, 3] for i in range(100_000)]", "rows"),
    "set of 300,000 ints": ("set(range(300_000))", "hash_set_int"),
    "ndarray of 80 MB": ("np.ones(10_000_000)", "Tensor"),
    "bytes of 100 MB": ("b'x' * 100_000_000", "Bytes"),
    "str of 100 MB": ("'x' * 100_000_000", "str"),
}

#: The code that anyffi runs for each value, and nanobind's function; `{}` is replaced by the key of the type.
TASKS = {
    "nop({})": (Snippet("f(x)", "", "nop"), "take"),
    "typed({})": (Snippet("f(x)", "", "take_{}"), "take"),
    "echo({})": (Snippet("f(x)", "", "echo"), "echo"),
    "to_python(echo({}))": (Snippet("to_python(f(x))", "to_python = anyffi.to_python", "echo"), "echo"),
}

#: Values that nanobind passes as the same Python object.
HANDLES = ("Bytes",)


def status_kb(field: str) -> int:
    found = re.search(rf"^{field}:\s*(\d+) kB", STATUS.read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def peak_of(snippet: Snippet, find: Find) -> float:
    """Return by how many bytes a statement raises the peak memory of the process. Runs in a child process."""
    names = set_up(snippet, find)
    code = compile(snippet.statement, "statement", "exec")
    CLEAR.write_text("5")  # resets the peak
    before = status_kb("VmRSS")
    run(code, names)
    return max(status_kb("VmHWM") - before, 0) * 1024.0


def in_child(snippet: Snippet, find: Find) -> float | None:
    """Measure in a fork of this process; None if the statement is refused."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, json.dumps(peak_of(snippet, find)).encode())
        except Refused as error:
            print(error, file=sys.stderr)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        printed = file.read()
    os.waitpid(child, 0)
    return float(printed) if printed else None


def judge(peaks: dict[str, dict[str, float]]) -> list[Verdict]:
    # Memory is counted in pages: a peak below a megabyte counts as none.
    smallest = 1e6
    return [
        compare(name, "memory", MEMORY, {who: max(peak, smallest) for who, peak in both.items()})
        for name, both in peaks.items()
    ]


def main() -> None:
    options: dict[str, Any] = json.loads(sys.argv[1])
    finders = load(options["paths"], ("anyffi", "nanobind"))
    peaks: dict[str, dict[str, float]] = {}
    for value, (code, key) in VALUES.items():
        setup = f"{SETUP}\nx = {code}\n"
        for name, (ours, theirs) in TASKS.items():
            if theirs == "echo" and key in HANDLES:
                continue
            snippets = {
                "anyffi": Snippet(ours.statement, setup + ours.setup, str(ours.function).format(key)),
                "nanobind": Snippet("f(x)", setup, f"{theirs}_{key}"),
            }
            found = {who: in_child(each, finders[who]) for who, each in snippets.items() if who in finders}
            peaks[name.format(value)] = {who: peak for who, peak in found.items() if peak is not None}
    print(json.dumps(peaks))


if __name__ == "__main__":
    main()
