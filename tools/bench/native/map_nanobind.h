// Included by the generated functions of nanobind.
#pragma once

#include <nanobind/make_iterator.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/operators.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/chrono.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/unordered_map.h>
#include <nanobind/stl/unordered_set.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <nanobind/trampoline.h>

#include "map_classes.h"
#include "map_make.h"
#include "map_members.h"

namespace nb = nanobind;
using nb::arg;
using nb::kw_only;
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

/// A `const char*` that refuses an embedded NUL, as Python's own C functions do.
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
};

struct PyRunner : Runner {
  NB_TRAMPOLINE(Runner, 1);
  int64_t run(int64_t k) override { NB_OVERRIDE(run, k); }
};

inline void bind_classes(nb::module_& m) {
  nb::class_<Part>(m, "Part").def(nb::init<int64_t>(), arg("number")).def_rw("number", &Part::number);
  nb::class_<Body>(m, "Body")
      .def(nb::init<int64_t, int64_t>(), arg("a"), arg("b"))
      .def_rw("x", &Body::x)
      .def_rw("y", &Body::y)
      .def_rw("weight", &Body::weight)
      .def_rw("is_open", &Body::is_open)
      .def_rw("name", &Body::name)
      .def_rw("items", &Body::items)
      .def_rw("part", &Body::part)
      .def_rw("pointer", &Body::pointer)
      .def_rw("shared", &Body::shared)
      .def_prop_ro("sum", &Body::sum)
      .def("nothing", &Body::nothing)
      .def("add", &Body::add, arg("k"))
      .def("scale", &Body::scale, arg("by"), arg("label"))
      .def("pick", nb::overload_cast<int64_t>(&Body::pick, nb::const_), arg("k"))
      .def("pick", nb::overload_cast<const std::string&>(&Body::pick, nb::const_), arg("k"))
      .def_static("count", &Body::count)
      .def("itself", &Body::itself, nb::rv_policy::reference)
      .def("inner", &Body::inner, nb::rv_policy::reference_internal)
      .def("get_pointer", &Body::get_pointer, nb::rv_policy::reference_internal)
      .def("copy", &Body::copy)
      .def(nb::self == nb::self)
      .def(nb::self < nb::self)
      .def(nb::self + nb::self)
      .def("__len__", &Body::size)
      .def("__getitem__", &Body::at, arg("i"));
  nb::class_<Moving, Body>(m, "Moving")
      .def(nb::init<int64_t, int64_t>(), arg("a"), arg("b"))
      .def_rw("speed", &Moving::speed);
  nb::class_<Runner, PyRunner>(m, "Runner").def(nb::init<>()).def("run", &Runner::run, arg("k"));
  m.def("global_part", &global_part, nb::rv_policy::reference);
  m.def("other_global_part", &other_global_part, nb::rv_policy::reference);
  m.def("shared_part", &shared_part);
  m.def("other_shared_part", &other_shared_part);
  m.def("sum_of", &sum_of, arg("parts"));
  m.def("sum_of_copies", &sum_of_copies, arg("parts"));
  m.def("sum_of_shared", &sum_of_shared, arg("parts"));
  m.def("make_parts", &make_parts, arg("count"));
  m.def("shared_parts", &shared_parts, arg("count"));
  m.def("take_body", [](const Body&) {}, arg("body"));
  m.def("same_part", [](Part& part) -> Part& { return part; }, arg("part"), nb::rv_policy::reference);
  m.def("hold_part", [](std::shared_ptr<Part> part) { return part; }, arg("part"));
  m.def("run", [](Runner& runner, int64_t k) { return runner.run(k); }, arg("runner"), arg("k"));
}

struct PyShape : Shape {
  NB_TRAMPOLINE(Shape, 1);
  double area() const override { NB_OVERRIDE(area); }
};

inline void bind_members(nb::module_& m) {
  nb::enum_<Suit>(m, "Suit").value("Clubs", Suit::kClubs).value("Hearts", Suit::kHearts).value("Spades", Suit::kSpades);
  nb::exception<CardError>(m, "CardError", PyExc_RuntimeError);
  nb::class_<Vec>(m, "Vec")
      .def(nb::init<>())
      .def(nb::init<double, double>(), arg("x"), arg("y"))
      .def_rw("x", &Vec::x)
      .def_rw("y", &Vec::y)
      .def_prop_rw("first", &Vec::get_first, &Vec::set_first)
      .def(-nb::self)
      .def("__mul__", &Vec::operator*, arg("by"))
      .def(
          "__rmul__", [](const Vec& vec, double by) { return vec * by; }, arg("by"))
      .def(nb::self += nb::self, nb::rv_policy::none)
      .def(nb::self == nb::self)
      .def(nb::self != nb::self)
      .def("__hash__", &Vec::hash)
      .def("__str__", &Vec::text)
      .def("__repr__", &Vec::text)
      .def("__abs__", &Vec::norm)
      .def("__float__", &Vec::norm)
      .def("__getstate__", [](const Vec& vec) { return std::make_pair(vec.x, vec.y); })
      .def("__setstate__",
           [](Vec& vec, std::pair<double, double> state) { new (&vec) Vec(state.first, state.second); });
  nb::class_<Deck>(m, "Deck")
      .def(nb::init<>())
      .def_rw("cards", &Deck::cards)
      .def_rw("prices", &Deck::prices)
      .def_rw("places", &Deck::places)
      .def_rw("limit", &Deck::limit)
      .def_rw("label", &Deck::label)
      .def_rw("range", &Deck::range)
      .def_rw("rule", &Deck::rule)
      .def_rw("suit", &Deck::suit)
      .def("__bool__", [](const Deck& deck) { return static_cast<bool>(deck); })
      .def("__getitem__", &Deck::get, arg("i"))
      .def("__setitem__", &Deck::set, arg("i"), arg("card"))
      .def("__contains__", &Deck::has, arg("card"))
      .def("__call__", &Deck::play, arg("card"))
      .def(
          "__iter__",
          [](const Deck& deck) {
            return nb::make_iterator(nb::type<Deck>(), "iterator", deck.cards.begin(), deck.cards.end());
          },
          nb::keep_alive<0, 1>())
      .def("each", &Deck::each, arg("f"))
      .def("place", &Deck::place, arg("i"), nb::rv_policy::reference_internal)
      .def("find", &Deck::find, arg("i"), nb::rv_policy::reference_internal)
      .def("maybe", &Deck::maybe, arg("i"))
      .def("both", &Deck::both)
      .def("named", &Deck::named)
      .def("made", &Deck::made)
      .def("cut", &Deck::cut, arg("card"), nb::rv_policy::reference)
      .def("total", &Deck::total, arg("a"), arg("b"), arg("by") = 1.0)
      .def_static("of", &Deck::of, arg("cards"));
  nb::class_<Shape, PyShape>(m, "Shape")
      .def(nb::init<std::string>(), arg("name"))
      .def_rw("name", &Shape::name)
      .def_rw("next", &Shape::next)
      .def_rw("parts", &Shape::parts)
      .def("area", &Shape::area);
  nb::class_<Circle, Shape>(m, "Circle").def(nb::init<std::string>(), arg("name"));
  m.def("make_shape", &make_shape, arg("is_circle"));
  m.def("area_of", &area_of, arg("shape"));
  m.def("throw_card", &throw_card);
  m.def("take_pointer", &take_pointer, arg("vec").none());
  m.def("take_optional", &take_optional, arg("vec"));
  m.def("take_copies", &take_copies, arg("a"), arg("b"));
  m.def("take_either", &take_either, arg("x"));
  m.def("take_named", &take_named, arg("vecs"));
  m.def("take_marked", &take_marked, arg("pair"));
  m.def("same_suit", &same_suit, arg("suit"));
  m.def("take_suits", &take_suits, arg("suits"));
  m.def("all_suits", &all_suits);
  m.def("apply_to_vec", &apply_to_vec, arg("f"));
  m.def("apply_to_number", &apply_to_number, arg("f"));
}

/// Binds functions and classes that are not generated.
inline void bind_more(nb::module_& m) {
  // Names of the statements live until the process ends.
  nb::set_leak_warnings(false);
  bind_classes(m);
  bind_members(m);
  m.def("released", [](int64_t x) { return x + 1; }, nb::call_guard<nb::gil_scoped_release>());
  nb::class_<Point>(m, "Point")
      .def(nb::init<double, double>(), arg("x"), arg("y"))
      .def_ro("x", &Point::x)
      .def_ro("number", &Point::number)
      .def_ro("name", &Point::name)
      .def_ro("items", &Point::items);
}
