// A library of functions: the same file serves C++ programs and Python.
#include <anyffi/anyffi.h>

using anyffi::arg;
using anyffi::List;

ANYFFI_EXPORT(
    scale,
    [](List<double> xs, double by) {
      for (int64_t i = 0; i < xs.size(); ++i) xs.set(i, xs[i] * by);
      return xs;
    },
    arg("xs"), arg("by") = 2.0)
    .doc("Scale a list in place and return it.");

ANYFFI_EXPORT(
    find_root,
    [](const anyffi::Function& f, double low, double high) {
      if (!(low < high)) throw anyffi::Error("ValueError", "{} is not below {}", low, high);
      for (int step = 0; step < 60; ++step) {
        double middle = (low + high) / 2;
        (f(middle).cast<double>() < 0 ? low : high) = middle;
      }
      return low;
    },
    arg("f"), arg("low"), arg("high"))
    .doc("A root of a growing function.");

ANYFFI_REGISTER_GLOBAL("plugin.version").def([] { return "1.0"; });
