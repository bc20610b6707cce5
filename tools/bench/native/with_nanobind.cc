// The functions bound with nanobind: each parameter has a C++ type.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <stdexcept>

namespace nb = nanobind;
using nb::arg;

NB_MODULE(bench_nanobind, m) {
  m.def("nop", [] {});
  m.def("nop_any", [](const nb::args&) {});
  m.def("nop_int", [](int64_t) {});
  m.def("nop_ints", [](int64_t, int64_t, int64_t) {});
  m.def("nop_float", [](double) {});
  m.def("nop_none", [](std::optional<int64_t>) {}, arg().none());
  m.def("nop_bool", [](bool) {});
  m.def("nop_str", [](const std::string&) {});
  m.def("nop_bytes", [](const nb::bytes&) {});
  m.def("nop_int_list", [](const std::vector<int64_t>&) {});
  m.def("nop_str_list", [](const std::vector<std::string>&) {});
  m.def("nop_int_dict", [](const std::map<std::string, int64_t>&) {});
  m.def("nop_array", [](const nb::ndarray<>&) {});
  m.def("nop_arrays", [](const nb::ndarray<>&, const nb::ndarray<>&, const nb::ndarray<>&) {});
  m.def("add_one", [](int64_t x) { return x + 1; });
  m.def("echo_str", [](const std::string& x) { return x; });
  m.def("apply", [](const std::function<int64_t(int64_t)>& f, int64_t x) { return f(x); });
  m.def("subtract", [](int64_t a, int64_t b) { return a - b; }, arg("a"), arg("b"));
  m.def("fail", [] { throw std::runtime_error("thrown"); });

  m.def("sum_lazy", [](const nb::list& xs) {
    int64_t sum = 0;
    for (nb::handle x : xs) sum += nb::cast<int64_t>(x);
    return sum;
  });
  m.def("sum_some_lazy", [](const nb::list& xs) {
    int64_t sum = 0;
    for (size_t i = 0; i < 10; i++) sum += nb::cast<int64_t>(xs[i]);
    return sum;
  });
  m.def("len_lazy", [](const nb::list& xs) { return nb::len(xs); });
}
