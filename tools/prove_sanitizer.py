"""Prove that a sanitizer build detects faults: each planted fault must end its process with a report.

Run by `tools/dev.py asan` in its environment; exits with 1 if a fault is not detected in either mode.
"""

from __future__ import annotations

import os
import subprocess
import sys

FAULTS = {
    "planted_read_past": ("'x' * 1000", "heap-buffer-overflow"),
    "planted_use_after_release": ("7", "heap-use-after-free"),
}


def run_call(mode: str, call: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"import anyffi.testing as t; t.{call}; print('alive')"],
        env={**os.environ, "FFI_MODE": mode},
        capture_output=True,
        text=True,
        check=False,
    )


def main() -> int:
    missed = 0
    for mode in ("cython", "ctypes"):
        harmless = run_call(mode, "add_one(1)")
        if harmless.stdout.strip() != "alive" or harmless.returncode != 0:
            print(f"{mode}: a call without a fault fails:\n{harmless.stderr}")
            return 1
        for fault, (argument, expected) in FAULTS.items():
            done = run_call(mode, f"{fault}({argument})")
            caught = done.returncode != 0 and f"AddressSanitizer: {expected}" in done.stderr
            missed += not caught
            outcome = f"is detected: {expected}" if caught else f"IS NOT DETECTED:\n{done.stderr[-2000:]}"
            print(f"{mode}: {fault} {outcome}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
