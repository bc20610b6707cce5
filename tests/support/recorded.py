"""A library whose functions behave in another way in ctypes mode, and commands that record and replay its calls."""

from __future__ import annotations

import os
import pathlib
import sys

from programs import run_program
from support import run

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/class.h>

#include <anyffi/stl/string.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

using anyffi::arg;

/// Behaves in another way in ctypes mode, as if a marshaller was wrong.
static bool is_other() {
  const char* mode = std::getenv("FFI_MODE");
  return mode != nullptr && std::strcmp(mode, "ctypes") == 0;
}

struct Point {
  double x = 0;
  double moved(double by) const { return x + by + (is_other() ? 1 : 0); }
};

ANYFFI_EXPORT(same, [](anyffi::AnyValue x) { return x; }, arg("x"));
ANYFFI_EXPORT(scaled, [](double x, double by) { return is_other() ? x : x * by; }, arg("x"), arg("by") = 2.0);
ANYFFI_EXPORT(words, [](int64_t) -> int64_t { throw anyffi::Error("ValueError", is_other() ? "one" : "other"); });
ANYFFI_EXPORT(kind, [](int64_t x) -> int64_t {
  if (is_other()) return x;
  throw anyffi::Error("KeyError", "key");
});
ANYFFI_EXPORT(append, [](anyffi::List<int64_t> xs) { xs.push_back(is_other() ? 1 : 2); });
ANYFFI_EXPORT(deep, [](anyffi::List<int64_t> xs) {
  anyffi::List<anyffi::AnyValue> made;
  made.push_back(anyffi::AnyValue(xs));
  made.push_back(anyffi::AnyValue(is_other() ? 0.0 : -0.0));
  return made;
});
ANYFFI_EXPORT(count, [] {
  static int64_t calls = 0;
  return ++calls;
});
ANYFFI_EXPORT(step, [](anyffi::TypedView<const double, 1> x, anyffi::TypedView<const double, 1> y) {
  return x.stride(0) + (x.data() == y.data() ? 10 : 0);
}, arg("x"), arg("y"));
ANYFFI_EXPORT(wait, [](const std::string& path) {
  while (!std::ifstream(path)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
});
ANYFFI_EXPORT(nested, [](int64_t levels, int64_t leaf) {
  anyffi::AnyValue made(is_other() ? leaf + 1 : leaf);
  for (int64_t i = 0; i < levels; ++i) {
    anyffi::List<anyffi::AnyValue> outer;
    outer.push_back(made);
    made = anyffi::AnyValue(outer);
  }
  return made;
});
ANYFFI_EXPORT(crash, [](int64_t x) {
  if (!is_other() || x == 1) std::abort();
  return x;
}, arg("x"));
ANYFFI_EXPORT(end, [](int64_t x) {
  if (is_other() && x == 1) std::abort();
  return x;
});
ANYFFI_CLASS(Point, "recorded.Point")
    .init([](double x) { return Point{is_other() ? -x : x}; }, arg("x"))
    .field("x", &Point::x)
    .method("moved", &Point::moved, arg("by"))
    .pickle([](const Point& p) { return p.x; }, [](double x) { return Point{x}; });
"""


def record(folder: pathlib.Path, program: str, mode: str = "cython", **variables: str) -> pathlib.Path:
    place = folder / "records"
    run_program(program, mode, FFI_RECORD=os.fspath(place), **variables)
    return place


def replay(place: pathlib.Path, mode: str = "ctypes", *options: str) -> tuple[int, str]:
    done = run([sys.executable, "-m", "anyffi", "replay", place, "--mode", mode, *options])
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


def load(library: pathlib.Path) -> str:
    return f"import anyffi; m = anyffi.load_module({os.fspath(library)!r})\n"


def summary(text: str) -> str:
    return text.splitlines()[-1]
