"""Prove that a sanitizer build notices faults: each planted one must end its process with a report.

Run by `tools/dev.py asan` in its environment; exits non-zero when a fault goes unnoticed in either mode.
"""

from __future__ import annotations

import os
import subprocess
import sys

FAULTS = {
    "planted_read_past": ("'x' * 1000", "heap-buffer-overflow"),
    "planted_use_after_release": ("7", "heap-use-after-free"),
}


def report_of(mode: str, call: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"import anyffi.testing as t; t.{call}; print('alive')"],
        env={**os.environ, "FFI_MODE": mode},
        capture_output=True,
        text=True,
        check=False,
    )


def main() -> int:
    blind = 0
    for mode in ("cython", "ctypes"):
        harmless = report_of(mode, "add_one(1)")
        if harmless.stdout.strip() != "alive" or harmless.returncode != 0:
            print(f"{mode}: a harmless call fails already:\n{harmless.stderr}")
            return 1
        for fault, (argument, expected) in FAULTS.items():
            done = report_of(mode, f"{fault}({argument})")
            caught = done.returncode != 0 and f"AddressSanitizer: {expected}" in done.stderr
            blind += not caught
            outcome = f"is caught: {expected}" if caught else f"GOES UNNOTICED:\n{done.stderr[-2000:]}"
            print(f"{mode}: {fault} {outcome}")
    return 1 if blind else 0


if __name__ == "__main__":
    sys.exit(main())
