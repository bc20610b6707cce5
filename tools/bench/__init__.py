"""What calls cost, beside other ways to bind C++: `python3 tools/dev.py bench`.

`rows` says what is measured and `bars` what is wanted of it; `worker` measures in a process for each mode.
"""
