"""A small language of expressions in C++, whose objects bind variables."""

from __future__ import annotations

IR = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>

using anyffi::arg;
using anyffi::AnyValue;
using anyffi::List;
using anyffi::ObjectRef;
using anyffi::Structure;

struct Var { std::string name; };
struct Pair { AnyValue a, b; };
struct Lambda { List<> params; AnyValue body; };
struct Let { AnyValue var, value, body; };
struct Bind { AnyValue var, value; };
struct Note { std::string text; AnyValue value; AnyValue origin; };
struct Unique { int64_t number; };
struct Saved { int64_t a = 1, b = 2; };
struct Plain { int64_t x = 0; };
struct PlainNode { int64_t x = 0; };

ANYFFI_CLASS(Var, "calculus.Var").structural(Structure::kVariable)
    .init<std::string>(arg("name")).field("name", &Var::name).structural(Structure::kIgnore);
ANYFFI_CLASS(Pair, "calculus.Pair").init<AnyValue, AnyValue>(arg("a"), arg("b")).field("a", &Pair::a).field("b", &Pair::b);
ANYFFI_CLASS(Lambda, "calculus.Lambda").init<List<>, AnyValue>(arg("params"), arg("body"))
    .field("params", &Lambda::params).structural(Structure::kDefines).field("body", &Lambda::body);
ANYFFI_CLASS(Let, "calculus.Let").init<AnyValue, AnyValue, AnyValue>(arg("var"), arg("value"), arg("body"))
    .field("value", &Let::value).field("var", &Let::var).structural(Structure::kDefines).field("body", &Let::body);
ANYFFI_CLASS(Bind, "calculus.Bind").init<AnyValue, AnyValue>(arg("var"), arg("value"))
    .field("value", &Bind::value).field("var", &Bind::var).structural(Structure::kDeclares);
ANYFFI_CLASS(Note, "calculus.Note").init<std::string, AnyValue, AnyValue>(arg("text"), arg("value"), arg("origin") = nullptr)
    .field("text", &Note::text).structural(Structure::kIgnore)
    .field("value", &Note::value).field("origin", &Note::origin).structural(Structure::kIdentity);
ANYFFI_CLASS(Unique, "calculus.Unique").structural(Structure::kIdentity)
    .init<int64_t>(arg("number")).field("number", &Unique::number);
ANYFFI_CLASS(Saved, "calculus.Saved").init<>().init<int64_t, int64_t>(arg("a"), arg("b"))
    .pickle([](const Saved& s) { return anyffi::Array<int64_t>{s.a, s.b}; },
            [](const anyffi::Array<int64_t>& s) { return Saved{s[0], s[1]}; });
ANYFFI_CLASS(Plain, "calculus.Plain").init<>();
ANYFFI_CLASS(PlainNode, "calculus.PlainNode").structural(Structure::kDag).init<>();

/// Trees and chains without wrappers in Python.
static AnyValue make_tree(int64_t depth, int64_t seed) {
  if (depth == 0) return AnyValue(seed);
  AnyValue left = make_tree(depth - 1, 2 * seed), right = make_tree(depth - 1, 2 * seed + 1);
  return AnyValue(anyffi::make_object<Pair>(Pair{left, right}));
}
ANYFFI_EXPORT(tree, &make_tree, arg("depth"), arg("seed") = 1);
ANYFFI_EXPORT(chain, [](int64_t length, AnyValue end) {
  for (int64_t i = 0; i < length; ++i) end = AnyValue(anyffi::make_object<Pair>(Pair{AnyValue(i), end}));
  return end;
}, arg("length"), arg("end"));
ANYFFI_EXPORT(lists, [](int64_t length) {
  AnyValue end = List<>();
  for (int64_t i = 0; i < length; ++i) end = AnyValue(List<>{end});
  return end;
}, arg("length"));
ANYFFI_EXPORT(equal, [](AnyValue a, AnyValue b) {
  return anyffi::structural_equal(a, b) && !anyffi::first_mismatch(a, b) && anyffi::structural_diff(a, b).size() == 0 &&
         anyffi::structural_hash(a) == anyffi::structural_hash(b);
}, arg("a"), arg("b"));
ANYFFI_EXPORT(walk, [](AnyValue value) {
  int64_t count = 0;
  anyffi::structural_visit(value, anyffi::Function::from([&count](AnyValue) { ++count; }));
  AnyValue made = anyffi::structural_map(value, anyffi::Function::from([](AnyValue x) { return x; }));
  AnyValue copy = anyffi::deep_copy(value), read = anyffi::from_json(anyffi::to_json(value));
  bool is_same = anyffi::structural_equal(made, value) && anyffi::structural_equal(copy, read);
  return is_same && anyffi::structural_equal(copy, value) ? count : -1;
}, arg("value"));
ANYFFI_EXPORT(differ, [](AnyValue a, AnyValue b) {
  anyffi::Mismatch first = anyffi::first_mismatch(a, b);
  return anyffi::Array<>{first.path, first.left, first.right, first.has_left, first.has_right};
}, arg("a"), arg("b"));
"""
