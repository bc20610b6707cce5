// The functions bound with pybind11: each parameter has a C++ type.
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <stdexcept>

namespace py = pybind11;
using py::arg;

PYBIND11_MODULE(bench_pybind11, m) {
  m.def("nop", [] {});
  m.def("nop_int", [](int64_t) {});
  m.def("nop_ints", [](int64_t, int64_t, int64_t) {});
  m.def("nop_float", [](double) {});
  m.def("nop_none", [](std::optional<int64_t>) {});
  m.def("nop_bool", [](bool) {});
  m.def("nop_str", [](const std::string&) {});
  m.def("nop_bytes", [](const py::bytes&) {});
  m.def("nop_int_list", [](const std::vector<int64_t>&) {});
  m.def("nop_str_list", [](const std::vector<std::string>&) {});
  m.def("nop_int_dict", [](const std::map<std::string, int64_t>&) {});
  m.def("nop_array", [](const py::array&) {});
  m.def("nop_arrays", [](const py::array&, const py::array&, const py::array&) {});
  m.def("add_one", [](int64_t x) { return x + 1; });
  m.def("echo_str", [](const std::string& x) { return x; });
  m.def("apply", [](const std::function<int64_t(int64_t)>& f, int64_t x) { return f(x); });
  m.def("subtract", [](int64_t a, int64_t b) { return a - b; }, arg("a"), arg("b"));
  m.def("fail", [] { throw std::runtime_error("thrown"); });
}
