/// \file
/// Error: what C++ code throws and catches, for errors of either side.
#ifndef ANYFFI_ERROR_H_
#define ANYFFI_ERROR_H_

#include <anyffi/any.h>
#include <anyffi/exception.h>

namespace anyffi {

/// An exception with Python's name for its kind. A Python exception that passes through C++ is one too, and is
/// the same Python object again when it comes out.
class ANYFFI_EXPORT_SYMBOL Error : public std::exception {
 public:
  /// `kind` names a builtin exception or one registered with `anyffi.register_error`.
  Error(const char* kind, const char* message) {
    anyffi_error_raise(kind, message);
    anyffi_error_take_raised(error_.out());
  }
  /// The same with a message of any text.
  Error(const char* kind, const AnyView& message) {
    AnyValue name(kind);
    detail::check(anyffi_error_create(&name.raw(), &message.raw(), nullptr, error_.out()));
  }
  /// An error that already is a value, such as one given by Python. Text is taken as RuntimeError's message.
  explicit Error(AnyValue error) : error_(std::move(error)) {
    if (error_.type_code() == ANYFFI_ERROR) return;
    *this = error_.family() == ANYFFI_STR ? Error("RuntimeError", error_)
                                          : Error("RuntimeError", "a function failed without saying why");
  }

  AnyView kind() const { return AnyView(fields().kind); }
  AnyView message() const { return AnyView(fields().message); }
  /// As Python prints it, most recent call last; empty if it has none.
  AnyView traceback() const { return AnyView(fields().traceback); }
  const AnyValue& value() const noexcept { return error_; }

  /// The message in UTF-8.
  const char* what() const noexcept override {
    if (text_.is_none()) {
      AnyffiValue message = fields().message;
      if (anyffi_str_to_utf8(&message, text_.out()) != 0) {
        AnyValue ignored;
        anyffi_error_take_raised(ignored.out());
        return "(the message is not UTF-8)";
      }
    }
    AnyffiTextView text;
    anyffi_view_text(&text_.raw(), &text);
    return static_cast<const char*>(text.data);
  }

 private:
  const AnyffiError& fields() const {
    anyffi_error_fill(error_.raw().as_object);
    return *reinterpret_cast<const AnyffiError*>(error_.raw().as_object);
  }
  AnyValue error_;
  mutable AnyValue text_;
};

/// Runs pending signal handlers of the host; throws what one of them raised, such as KeyboardInterrupt. Call it
/// now and then in long loops, so that Ctrl-C can end them.
inline void check_signals() { detail::check(anyffi_host_check_signals()); }

namespace detail {

[[noreturn]] inline void throw_raised() {
  AnyValue error;
  anyffi_error_take_raised(error.out());
  throw Error(std::move(error));
}

[[noreturn]] inline void throw_mismatch(const AnyffiMismatch& why) {
  anyffi_mismatch_raise(&why, nullptr, -1);
  throw_raised();
}

/// Leaves an error in the thread's slot. Always returns -1.
__attribute__((noinline)) inline int leave(const Error& error) noexcept {
  anyffi_error_set_raised(error.value().raw().as_object);
  return -1;
}
__attribute__((noinline)) inline int leave(const std::exception& exception) noexcept {
  anyffi_error_set_exception(&exception);
  return -1;
}
__attribute__((noinline)) inline int leave_current() noexcept {
  anyffi_error_set_current_exception();
  return -1;
}

/// What `body` returns, which is the status of a C function; where it throws, the exception goes to the thread's slot.
///
/// A handler for each kind: one for all would have to throw again to learn the kind, and did so twice, each time for
/// a third of what the whole way of an exception to Python costs now.
template <class Body>
inline int catch_all(Body&& body) noexcept {
  try {
    return body();
  } catch (const Error& error) {
    return leave(error);
  } catch (const std::exception& exception) {
    return leave(exception);
  } catch (...) {
    return leave_current();
  }
}

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_ERROR_H_
