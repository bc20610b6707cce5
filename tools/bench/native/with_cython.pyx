# cython: language_level=3, embedsignature=False
"""The functions as a plain Cython extension."""

from libc.stdint cimport int64_t


def nop():
    pass


def nop_int(int64_t x):
    pass


def nop_ints(int64_t x, int64_t y, int64_t z):
    pass


def nop_float(double x):
    pass


def nop_bool(bint x):
    pass


def nop_str(str x):
    pass


def nop_bytes(bytes x):
    pass


def add_one(int64_t x):
    return x + 1


def echo_str(str x):
    return x


def apply(f, int64_t x):
    return f(x)


def subtract(int64_t a, int64_t b):
    return a - b


def fail():
    raise RuntimeError("thrown")
