"""A C++ file with pointers that are never null, and functions whose parameters and results are functions."""

from __future__ import annotations

PRECISE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

namespace desk {
struct Pen {
  explicit Pen(std::string ink = "blue") : ink(std::move(ink)) {}
  std::string ink;
};
struct Desk {
  Pen* first() { return pens.empty() ? nullptr : &pens.front(); }
  const Pen* find(const std::string& ink) const {
    for (const Pen& pen : pens) {
      if (pen.ink == ink) return &pen;
    }
    return nullptr;
  }
  std::vector<Pen> pens;
};
std::shared_ptr<Pen> kept;
std::shared_ptr<Pen> share() { return kept; }
std::unique_ptr<Pen> make(bool is_there) { return is_there ? std::make_unique<Pen>("new") : nullptr; }
}  // namespace desk

using anyffi::arg;
using anyffi::never_null;
using anyffi::NotNull;

ANYFFI_CLASS(desk::Pen, "desk.Pen")
    .init([](const std::string& ink) -> NotNull<std::shared_ptr<desk::Pen>> {
      return ink.empty() ? nullptr : std::make_shared<desk::Pen>(ink);
    }, arg("ink"))
    .init(never_null(+[](int64_t number) { return number > 0 ? new desk::Pen(std::to_string(number)) : nullptr; }),
          arg("number"))
    .init(never_null(+[](double number) { return std::make_unique<desk::Pen>(std::to_string(number)); }), arg("x"))
    .field("ink", &desk::Pen::ink);
ANYFFI_CLASS(desk::Desk, "desk.Desk")
    .init([](const std::vector<std::string>& inks) {
      desk::Desk made;
      for (const std::string& ink : inks) made.pens.emplace_back(ink);
      return made;
    }, arg("inks"))
    .method("first", never_null(&desk::Desk::first))
    .returns(anyffi::Returns::kReferenceInternal)
    .method("find", never_null(&desk::Desk::find), arg("ink"))
    .returns(anyffi::Returns::kReferenceInternal)
    .method("find_or_none", &desk::Desk::find, arg("ink"))
    .returns(anyffi::Returns::kReferenceInternal)
    .method("all", [](desk::Desk& self) {
      std::vector<NotNull<desk::Pen*>> found;
      for (desk::Pen& pen : self.pens) found.emplace_back(&pen);
      return found;
    })
    .returns(anyffi::Returns::kReferenceInternal)
    .property("last", [](desk::Desk& self) -> NotNull<desk::Pen*> {
      return self.pens.empty() ? nullptr : &self.pens.back();
    });

ANYFFI_EXPORT(keep, [](NotNull<std::shared_ptr<desk::Pen>> pen) { desk::kept = pen; }, arg("pen"));
ANYFFI_EXPORT(drop, [] { desk::kept = nullptr; });
ANYFFI_EXPORT(share, never_null(&desk::share));
ANYFFI_EXPORT(make, never_null(&desk::make), arg("is_there") = true);
ANYFFI_EXPORT(ink, [](NotNull<const desk::Pen*> pen) { return pen->ink; }, arg("pen"));
ANYFFI_EXPORT(inks, [](const std::vector<NotNull<std::shared_ptr<desk::Pen>>>& pens) {
  std::string found;
  for (const auto& pen : pens) found += (*pen).ink;
  return found;
}, arg("pens"));
ANYFFI_EXPORT(take, [](NotNull<std::unique_ptr<desk::Pen>> pen) { return std::move(pen).get()->ink; }, arg("pen"));

ANYFFI_EXPORT(each, [](const std::function<void(int64_t, const std::vector<double>&)>& f) { f(1, {2}); }, arg("f"));
ANYFFI_EXPORT(choose, [](const std::function<std::vector<double>(desk::Pen&)>& f) {
  desk::Pen pen("red");
  return f(pen).size();
}, arg("f"));
ANYFFI_EXPORT(adder, [](double x) -> std::function<double(const std::vector<double>&)> {
  return [x](const std::vector<double>& xs) { return x + xs.at(0); };
}, arg("x"));
ANYFFI_EXPORT(twice, [](const std::function<std::function<int64_t(int64_t)>()>& f) { return f()(2); }, arg("f"));
ANYFFI_EXPORT(maybe, [](const std::map<std::string, std::function<anyffi::AnyValue()>>& fs) {
  std::vector<std::function<anyffi::AnyValue()>> found;
  for (const auto& [name, f] : fs) found.push_back(f);
  return found;
}, arg("fs"));
"""
