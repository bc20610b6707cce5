"""Measure time and memory of text.py and of plain.py for a large file. Run it next to libtext.so.

    python benchmark.py [MEGABYTES]         100 by default

Each figure is measured in its own process. The file holds lines of Python's own help in random order, and
some unique words.
"""

import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pydoc_data.topics import topics
from typing import Any, BinaryIO

WAYS = ("text", "plain")


def write_file(path: str, megabytes: int) -> None:
    """Fill a file with lines of the help, and a unique word after every hundredth line."""
    draw = random.Random(1)
    lines = [line for text in topics.values() for line in text.splitlines() if line]
    new = (f" new{number}\n" for number in itertools.count())
    with open(path, "w", encoding="utf-8") as file:
        while file.tell() < megabytes << 20:
            file.writelines("\n".join(draw.choices(lines, k=100)) + next(new) for _ in range(100))


def tokens(way: Any, file: BinaryIO, rule: str) -> int:
    """Count the tokens."""
    return sum(len(batch) for batch in way.read_tokens(file, rule))


def codes(way: Any, file: BinaryIO, rule: str) -> int:
    """Count the tokens that are in a vocabulary of the help's words."""
    words = {word for text in topics.values() for word in text.split()}
    vocabulary = {word: number for number, word in enumerate(sorted(words))}
    known = 0
    for batch in way.read_codes(file, vocabulary, len(words), rule):
        known += len(batch) if isinstance(batch, list) else batch.shape[0]
    return known


def unigrams(way: Any, file: BinaryIO, rule: str) -> int:
    """Count the distinct tokens."""
    return len(way.count_ngrams(file, 1, rule))


def bigrams(way: Any, file: BinaryIO, rule: str) -> int:
    """Count the distinct pairs of tokens."""
    return len(way.count_ngrams(file, 2, rule))


TASKS = {task.__name__: task for task in (tokens, codes, unigrams, bigrams)}


def most_memory() -> int:
    """Return the peak memory of this process in kilobytes (Linux)."""
    with open("/proc/self/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def measure(task: str, way: str, rule: str, path: str) -> None:
    """Print the result of a task, its seconds of CPU, and its memory in megabytes."""
    module = __import__(way)
    before = most_memory()
    with open(path, "rb") as file:
        start = time.process_time()
        result = TASKS[task](module, file, rule)
        seconds = time.process_time() - start
    print(json.dumps([result, seconds, (most_memory() - before) / 1024]))


def main(megabytes: int) -> None:
    """Measure all tasks with both implementations."""
    print(f"{megabytes} MB; seconds of CPU and MB of memory, by text.py and by plain.py")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "words.txt")
        write_file(path, megabytes)
        for task, rule in itertools.product(TASKS, ("split", "words")):
            rows = []
            for way in WAYS:
                command = [sys.executable, __file__, task, way, rule, path]
                rows.append(json.loads(subprocess.check_output(command)))
            (result, seconds, memory), (expected, plain_seconds, plain_memory) = rows
            if result != expected:
                sys.exit(f"{task}, {rule}: {result} is not {expected}")
            print(
                f"{task:9} {rule:6} {result:10} {seconds:7.2f} s {plain_seconds:7.2f} s"
                f" {plain_seconds / seconds:5.1f} times as fast {memory:6.0f} MB {plain_memory:6.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    if len(sys.argv) > 2:
        measure(*sys.argv[1:])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
