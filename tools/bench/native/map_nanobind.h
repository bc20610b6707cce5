// What the generated functions of nanobind use.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/chrono.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unordered_map.h>
#include <nanobind/stl/unordered_set.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "map_make.h"

namespace nb = nanobind;
using nb::arg;
using Callable = nb::callable;

template <typename R, typename... Args>
R call(const Callable& f, const Args&... args) {
  if constexpr (std::is_void_v<R>) {
    f(args...);
  } else {
    return nb::cast<R>(f(args...));
  }
}

template <>
struct Make<nb::str> {
  static nb::str of(int64_t n) { return nb::str(Make<std::string>::of(n).c_str()); }
};

template <>
struct Make<nb::bytes> {
  static nb::bytes of(int64_t n) { return nb::bytes(Make<std::string>::of(n).data(), static_cast<size_t>(n)); }
};

/// A `const char*` that refuses an embedded NUL, as Python's own functions in C do.
struct CheckedText {
  const char* text;
};

template <>
struct nb::detail::type_caster<CheckedText> {
  NB_TYPE_CASTER(CheckedText, const_name("str"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    Py_ssize_t size;
    value.text = PyUnicode_AsUTF8AndSize(source.ptr(), &size);
    if (value.text == nullptr) PyErr_Clear();
    return value.text != nullptr && strlen(value.text) == static_cast<size_t>(size);
  }
};

struct Point {
  Point(double x_, double y_) : x(x_), y(y_) {}
  double x = 0, y = 0;
  int64_t number = 0;
  std::string name = "mystr";
  std::vector<int64_t> items{1, 2, 3};
  double norm() const { return x * x + y * y; }
};

/// Bind what is not generated.
inline void bind_more(nb::module_& m) {
  m.def("released", [](int64_t x) { return x + 1; }, nb::call_guard<nb::gil_scoped_release>());
  nb::class_<Point>(m, "Point")
      .def(nb::init<double, double>(), arg("x"), arg("y"))
      .def("norm", &Point::norm)
      .def_ro("x", &Point::x)
      .def_ro("number", &Point::number)
      .def_ro("name", &Point::name)
      .def_ro("items", &Point::items);
}
