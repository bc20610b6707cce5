"""A library with exception classes, in C++."""

from __future__ import annotations

__all__ = ["FAILURES", "MISSPELT", "WRONG"]

FAILURES = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

#include <stdexcept>

namespace mart {
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct SoldOut : Failure {
  explicit SoldOut(const std::string& item) : Failure(item) {}
};
struct Rarely : SoldOut {
  Rarely() : SoldOut("rarely") {}
};
struct Code {
  int number;
};
struct Final final : std::logic_error {
  using std::logic_error::logic_error;
};
struct Spoilt : Failure {
  Spoilt(const char* text, int64_t days, std::vector<std::string> names)
      : Failure(text), days(days), names_(std::move(names)) {}
  const std::vector<std::string>& names() const { return names_; }
  int64_t days;

 private:
  std::vector<std::string> names_;
};
struct Frozen : Spoilt {
  Frozen() : Spoilt("frozen", 9, {"ice"}) {}
};
struct Locked : std::exception {};
struct Fixed : std::exception {
  const char* what() const noexcept override { return "fixed"; }
};
struct Fault {
  virtual ~Fault() = default;
  virtual std::string report() { return "a fault"; }
};
struct Crack : Fault {
  std::string report() override { return "a crack"; }
};
struct Leak : Crack {};
struct Puddle : Leak {};
struct Untold : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Mishap {  // without virtual functions
  explicit Mishap(std::string text) : text(std::move(text)) {}
  std::string text;
  int64_t place = -1;
};
std::string report_fault(const Fault& fault) { return const_cast<Fault&>(fault).report(); }
std::string report_leak(const Leak&) { return "a leak"; }
}  // namespace mart

using anyffi::arg;

ANYFFI_EXCEPTION(mart::Failure, "mart.Failure", "ValueError");
ANYFFI_EXCEPTION(mart::SoldOut, "mart.SoldOut", "mart.Failure").doc("No more of it.");
ANYFFI_EXCEPTION(mart::Code, "mart.Code", "Exception").text([](const mart::Code& code) {
  return "code " + std::to_string(code.number);
});
ANYFFI_EXCEPTION(mart::Final, "mart.Final", "mart.SoldOut");
ANYFFI_EXCEPTION(mart::Mishap, "mart.Mishap", "Exception")
    .text([](const mart::Mishap& mishap) { return mishap.text; })
    .attribute("place", &mart::Mishap::place);
ANYFFI_EXCEPTION(mart::Spoilt, "mart.Spoilt", "mart.Failure")
    .doc("It cannot be eaten.")
    .attribute("days", &mart::Spoilt::days)
    .doc("For how long.")
    .attribute("names", &mart::Spoilt::names)
    .attribute("total", [](const mart::Spoilt& error) {
      if (error.days < 0) throw std::out_of_range("days");
      return error.days * static_cast<int64_t>(error.names().size());
    });
ANYFFI_EXCEPTION(mart::Frozen, "mart.Frozen", "mart.Spoilt").attribute("degrees", [](const mart::Frozen&) {
  return -18;
});
ANYFFI_EXCEPTION(mart::Locked, "mart.Locked", "OSError")
    .text([](const mart::Locked&) { return "locked"; })
    .attribute("until", [](const mart::Locked&) { return 12; });
ANYFFI_EXCEPTION(mart::Fixed, "mart.Fixed", "OSError");
ANYFFI_EXCEPTION(mart::Leak, "mart.Leak", "mart.Crack")
    .text([](const mart::Leak&) { return std::string("replaced by the next"); })
    .text(&mart::report_leak);
ANYFFI_EXCEPTION(mart::Fault, "mart.Fault", "Exception").text(&mart::report_fault);
ANYFFI_EXCEPTION(mart::Crack, "mart.Crack", "mart.Fault");
ANYFFI_EXCEPTION(mart::Puddle, "mart.Puddle", "mart.Leak");
ANYFFI_EXCEPTION(mart::Untold, "mart.Untold", "Exception").text([](const mart::Untold&) -> std::string {
  throw std::out_of_range("text");
});

ANYFFI_EXPORT(fail, [](const std::string& name) {
  if (name == "failure") throw mart::Failure("it failed");
  if (name == "sold out") throw mart::SoldOut("péar");
  if (name == "rarely") throw mart::Rarely();
  if (name == "code") throw mart::Code{7};
  if (name == "final") throw mart::Final("at last");
  if (name == "fixed") throw mart::Fixed();
  if (name == "spoilt") throw mart::Spoilt("spoilt", 3, {"pear", "fig"});
  if (name == "frozen") throw mart::Frozen();
  if (name == "unreadable") throw mart::Spoilt("spoilt", -1, {"pear"});
  if (name == "locked") throw mart::Locked();
  if (name == "fault") throw mart::Fault();
  if (name == "crack") throw mart::Crack();
  if (name == "leak") throw mart::Leak();
  if (name == "puddle") throw mart::Puddle();
  if (name == "untold") throw mart::Untold("what");
  if (name == "kind") throw anyffi::Error("mart.SoldOut", "by kind");
  throw std::out_of_range(name);
});
ANYFFI_EXPORT(unlocked, []() -> void { throw mart::SoldOut("unlocked"); }).release_gil();
ANYFFI_EXPORT(call, [](const anyffi::Function& f) { return f(); });
ANYFFI_EXPORT(caught, [](const anyffi::Function& f) -> std::string {
  try {
    f();
  } catch (const mart::SoldOut& error) {
    return std::string("sold out: ") + error.what();
  } catch (const mart::Failure& error) {
    return std::string("failure: ") + error.what();
  } catch (const mart::Final& error) {
    return std::string("final: ") + error.what();
  } catch (const anyffi::Error& error) {
    return "error " + error.kind().cast<std::string>();
  }
  return "nothing";
});
ANYFFI_EXPORT(displaced, [](const anyffi::Function& f) {
  try {
    f();
  } catch (mart::Mishap& mishap) {
    mishap.place = 5;
    throw;
  }
});
ANYFFI_EXPORT(as_std, [](const anyffi::Function& f) -> std::string {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
});
"""

#: An exception class whose base is replaced for each test.
MISSPELT = """
#include <anyffi/anyffi.h>
namespace { struct Refused { const char* what() const { return "refused"; } }; struct Other {}; }
ANYFFI_EXCEPTION(Refused, "misspelt.Refused", "BASE");
ANYFFI_EXCEPTION(Other, "MisspeltOther", "Exception");
ANYFFI_REGISTER_GLOBAL("misspelt.fail").def([] { throw Refused(); });
"""

#: Exceptions that are no classes: one with a missing base, one whose base is no exception, and one that is
#: its own base.
WRONG = """
#include <anyffi/anyffi.h>
struct Thing {};
ANYFFI_CLASS(Thing, "wrong.Thing");
ANYFFI_EXCEPTION(int, "wrong.Lost", "wrong.Nothing");
ANYFFI_EXCEPTION(long, "wrong.Odd", "wrong.Thing");
ANYFFI_EXCEPTION(double, "wrong.Self", "wrong.Self");
ANYFFI_EXPORT(fail, [](int64_t which) {
  if (which == 0) throw 5;
  if (which == 1) throw 5L;
  if (which == 2) throw 2.5;
});
"""
