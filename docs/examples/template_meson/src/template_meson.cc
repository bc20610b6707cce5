#include <anyffi/anyffi.h>

static double dot(const anyffi::Array<double>& x, const anyffi::Array<double>& y) {
  if (x.size() != y.size()) throw anyffi::Error("ValueError", "the lengths differ");
  double sum = 0;
  for (int64_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

ANYFFI_REGISTER_GLOBAL("template_meson.dot")
    .def(&dot, anyffi::arg("x"), anyffi::arg("y"))
    .doc("The sum of the products of two sequences of numbers.");
