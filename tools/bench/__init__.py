"""Benchmarks against other ways to bind C++: `python3 tools/dev.py bench`.

`rows` lists what is measured and `bars` the limits; `worker` measures one mode in a process.
"""
