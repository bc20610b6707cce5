"""Instructions of calls, recorded in the tree: a change that makes a call slower fails or is recorded on purpose."""

from __future__ import annotations

import pytest
from bench import instructions
from bench.callgrind import find_valgrind
from support import CPYTHON, SANITIZED


@pytest.mark.slow("callgrind")
def test_calls_execute_the_recorded_instructions() -> None:
    if not CPYTHON or SANITIZED or find_valgrind() is None:
        pytest.skip("counts instructions with valgrind, of CPython's compiled marshaller without sanitizers")
    where, recorded = instructions.read_record()
    if where != instructions.environment():
        pytest.skip(f"the counts were recorded with {where}")
    found = instructions.differences(instructions.count(), recorded, 0.03)
    assert not found, (
        "\n".join(found) + "\nIf that is meant, run `python3 tools/dev.py instructions --update`."
    )
