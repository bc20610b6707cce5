/// \file
/// Functions of `anyffi.testing` for calls, errors and callbacks.

#include <anyffi/anyffi.h>

#include <cerrno>
#include <filesystem>
#include <future>
#include <ios>
#include <new>
#include <stdexcept>
#include <system_error>
#include <typeinfo>

#include "describe.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::Args;
using anyffi::Array;
using anyffi::Error;
using anyffi::Function;
using anyffi::List;
using anyffi::String;

/// The arguments after the first one.
Args rest(Args args, int32_t from) { return Args(args.data() + from, args.size() - from); }

int64_t add(int64_t x, int64_t y) {
  int64_t sum;
  if (__builtin_add_overflow(x, y, &sum)) throw Error("OverflowError", "the sum does not fit int64");
  return sum;
}

AnyValue held;

/// Has two bases std::exception, so that no handler of `std::exception` catches it.
struct ParseError : std::runtime_error, std::invalid_argument {
  ParseError() : std::runtime_error("stopped"), std::invalid_argument("not that either") {}
};

}  // namespace

ANYFFI_REGISTER_GLOBAL("testing.nop").def_packed([](Args, AnyValue*) {}).doc("Do nothing with any arguments.");

ANYFFI_REGISTER_GLOBAL("testing.echo")
    .def_packed([](Args args, AnyValue* result) {
      if (args.size() != 1) throw Error("TypeError", "echo() takes exactly 1 argument");
      *result = args[0];
    })
    .doc("Return the argument.");

ANYFFI_REGISTER_GLOBAL("testing.describe")
    .def_packed([](Args args, AnyValue* result) { *result = anyffi_testing::describe_all(args); })
    .doc("Return the arguments as the callee got them, a line for each.");

ANYFFI_REGISTER_GLOBAL("testing.add_one").def([](int64_t x) { return add(x, 1); }, arg("x")).doc("Return x + 1.");

ANYFFI_REGISTER_GLOBAL("testing.apply")
    .def_packed([](Args args, AnyValue* result) {
      if (args.size() == 0) throw Error("TypeError", "apply() missing 1 required positional argument: 'f'");
      *result = args[0].call_packed(rest(args, 1));
    })
    .doc("Call the first argument with the others.");

ANYFFI_REGISTER_GLOBAL("testing.raise_error")
    .def([](const String& kind,
            const AnyView& message) { throw Error(reinterpret_cast<const char*>(kind.utf8().data()), message); },
         arg("kind"), arg("message"))
    .doc("Throw anyffi::Error(kind, message).");

ANYFFI_REGISTER_GLOBAL("testing.throw_std")
    .def(
        [](const String& what) {
          if (what == "bad_alloc") throw std::bad_alloc();
          if (what == "out_of_range") throw std::out_of_range("too far");
          if (what == "invalid_argument") throw std::invalid_argument("not that");
          if (what == "overflow_error") throw std::overflow_error("too big");
          if (what == "domain_error") throw std::domain_error("not defined there");
          if (what == "length_error") throw std::length_error("too long");
          if (what == "range_error") throw std::range_error("not in range");
          if (what == "underflow_error") throw std::underflow_error("too small");
          if (what == "system_error") throw std::system_error(EACCES, std::generic_category(), "locked");
          if (what == "future_error") throw std::future_error(std::future_errc::broken_promise);
          if (what == "failure") throw std::ios_base::failure("no file");
          if (what == "filesystem_error") std::filesystem::rename("/no such file", "/nor this one");
          if (what == "path") static_cast<void>(std::filesystem::file_size("/no such file"));
          if (what == "bad_cast") throw std::bad_cast();
          if (what == "runtime_error") throw std::runtime_error("went wrong");
          if (what == "several") throw ParseError();
          throw 42;
        },
        arg("what"))
    .doc("Throw a standard exception, or an int for any other name.");

ANYFFI_REGISTER_GLOBAL("testing.catch_error")
    .def_packed([](Args args, AnyValue* result) {
      if (args.size() == 0) throw Error("TypeError", "catch_error() missing 1 required positional argument: 'f'");
      try {
        *result = args[0].cast<Function>().call_packed(rest(args, 1));
      } catch (const Error& error) {
        *result = Array<AnyValue>{error.kind(), error.message(), error.traceback()};
      }
    })
    .doc("Call the first argument with the others; an error becomes (kind, message, traceback).");

ANYFFI_REGISTER_GLOBAL("testing.rethrow")
    .def_packed([](Args args, AnyValue* result) {
      if (args.size() == 0) throw Error("TypeError", "rethrow() missing 1 required positional argument: 'f'");
      try {
        *result = args[0].cast<Function>().call_packed(rest(args, 1));
      } catch (const Error& error) {
        throw Error(error.value());
      }
    })
    .doc("Call the first argument with the others; an error is caught and thrown again.");

ANYFFI_REGISTER_GLOBAL("testing.catch_repeatedly")
    .def(
        [](const Function& f, int64_t times) {
          int64_t caught = 0;
          for (int64_t i = 0; i < times; ++i) {
            try {
              f(i);
            } catch (const Error&) {
              ++caught;
            }
          }
          return caught;
        },
        arg("f"), arg("times"))
    .doc("Call f(0), f(1), ... and return how many calls raised.");

ANYFFI_REGISTER_GLOBAL("testing.type_code")
    .def([](AnyView x) { return int64_t{x.type_code()}; }, arg("x"))
    .doc("Return the type code that the callee got.");

ANYFFI_REGISTER_GLOBAL("testing.use_count")
    .def_packed([](Args args, AnyValue* result) {
      if (args.size() != 1) throw Error("TypeError", "use_count() takes exactly 1 argument");
      if (args[0].type_code() <= 0) throw Error("TypeError", "use_count() takes an object");
      *result = static_cast<int64_t>(args[0].raw().as_object->strong_count);
    })
    .doc("Return the strong reference count of an object during the call.");

ANYFFI_REGISTER_GLOBAL("testing.is_movable")
    .def_packed([](Args args, AnyValue* result) {
      if (args.size() != 1) throw Error("TypeError", "is_movable() takes exactly 1 argument");
      const AnyffiValue& value = args.data()[0];
      *result = value.type_code > 0 && (value.aux & ANYFFI_MOVABLE) != 0;
    })
    .doc("Return whether the argument is movable: made for this call alone.");

ANYFFI_REGISTER_GLOBAL("testing.hold")
    .def([](AnyValue x) { held = std::move(x); }, arg("x"))
    .doc("Keep a value in C++ until the next call.");

ANYFFI_REGISTER_GLOBAL("testing.held").def([] { return held; }).doc("Return the value that `hold` keeps.");

ANYFFI_REGISTER_GLOBAL("testing.hash")
    .def([](AnyView x) { return x.hash(); }, arg("x"))
    .doc("Return the runtime's hash of a value.");

ANYFFI_REGISTER_GLOBAL("testing.equal")
    .def([](AnyView a, AnyView b) { return a == b; }, arg("a"), arg("b"))
    .doc("Return the runtime's == of two values.");

ANYFFI_REGISTER_GLOBAL("testing.size")
    .def([](AnyView x) { return x.size(); }, arg("x"))
    .doc("Return the size of an untyped value.");

ANYFFI_REGISTER_GLOBAL("testing.item")
    .def([](AnyView x, AnyView key) { return x[key]; }, arg("x"), arg("key"))
    .doc("Return x[key] of an untyped value.");

ANYFFI_REGISTER_GLOBAL("testing.iterate")
    .def(
        [](AnyView x) {
          List<AnyValue> items;
          for (AnyValue item : x) items.push_back(item);
          return items;
        },
        arg("x"))
    .doc("Return a List of the elements of an untyped value.");

ANYFFI_REGISTER_GLOBAL("testing.make_chain")
    .def(
        [](int64_t length) {
          AnyValue chain;
          for (int64_t i = 0; i < length; ++i) {
            List<AnyValue> link;
            link.push_back(chain);
            chain = std::move(link);
          }
          return chain;
        },
        arg("length"))
    .doc("Return a chain of Lists, each the only element of the next.");

ANYFFI_REGISTER_GLOBAL("testing.without_lock")
    .def([](const Function& f) { return f(); }, arg("f"))
    .doc("Call f with the host's lock released around the body.")
    .release_gil();

ANYFFI_REGISTER_GLOBAL("testing.poll_signals")
    .def(
        [](int64_t times) {
          for (int64_t i = 0; i < times; ++i) anyffi::check_signals();
        },
        arg("times"))
    .doc("Poll for signals repeatedly.");

ANYFFI_REGISTER_GLOBAL("testing.make_counter")
    .def(
        [](int64_t start) {
          return Function::from([start](int64_t step) { return add(start, step); }, arg("step") = int64_t{1});
        },
        arg("start"))
    .doc("Return a native function that is not registered.");
