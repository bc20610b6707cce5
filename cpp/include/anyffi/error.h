/// \file
/// Error: the exception that C++ code throws and catches, for errors of C++ and of Python.
#ifndef ANYFFI_ERROR_H_
#define ANYFFI_ERROR_H_

#include <anyffi/any.h>
#include <anyffi/exception.h>

#include <string_view>

namespace anyffi {

namespace detail {
/// Whether S is plain text for a message. Must not ask whether a value converts to S before the traits of text are
/// known.
template <class S, size_t kNumValues>
inline constexpr bool kIsMessage = std::conjunction_v<
    std::negation<std::is_base_of<AnyView, S>>, std::is_convertible<const S&, std::string_view>,
    std::disjunction<std::bool_constant<(kNumValues > 0)>, std::negation<std::is_convertible<const S&, const char*>>>>;
}  // namespace detail

namespace detail {
/// Selects the constructor that takes the thread's error.
struct Raised {};

/// A value in code that rarely runs: its destructor is not inlined.
class ColdValue : public AnyValue {
 public:
  ColdValue() noexcept = default;
  ColdValue(const ColdValue&) noexcept = default;
  ColdValue(ColdValue&&) noexcept = default;
  ColdValue& operator=(const ColdValue&) noexcept = default;
  ColdValue& operator=(ColdValue&&) noexcept = default;
  ~ColdValue() {
    anyffi_value_release(&raw_);
    raw_ = AnyffiValue{};
  }
};
}  // namespace detail

/// An exception that is raised in Python as the class named by its kind. A Python exception that passes through C++
/// stays the same Python object.
class ANYFFI_EXPORT_SYMBOL Error : public std::exception {
 public:
  /// `kind` names a builtin exception or one registered with `anyffi.register_error`.
  Error(const char* kind, const char* message) {
    anyffi_error_raise(kind, message);
    anyffi_error_take_raised(error_.out());
  }
  /// The same with any text in UTF-8, such as a std::string. Each `{}` in it stands for the next of the values, if
  /// there are any: strings as they are, others as Python shows them.
  template <class S, class... V, std::enable_if_t<detail::kIsMessage<S, sizeof...(V)>, int> = 0>
  Error(const char* kind, const S& text, const V&... values) {
    std::string_view format(text);
    const AnyValue owned[] = {AnyValue(values)..., AnyValue()};
    AnyffiValue raw[sizeof...(values) + 1] = {};
    for (size_t i = 0; i < sizeof...(values); ++i) raw[i] = owned[i].raw();
    anyffi_error_raise_formatted(kind, format.data(), static_cast<int64_t>(format.size()), raw, sizeof...(values));
    anyffi_error_take_raised(error_.out());
  }
  /// The same with a message that is a string value.
  Error(const char* kind, const AnyView& message) {
    AnyValue name(kind);
    detail::check(anyffi_error_create(&name.raw(), &message.raw(), nullptr, error_.out()));
  }
  /// From a value, such as an error received from Python. Text becomes the message of a RuntimeError.
  explicit Error(AnyValue error) {
    *error_.out() = error.release();
    anyffi_error_ensure(error_.out());
  }
  /// Takes the error from the thread's slot. Throws the C++ exception that was registered for its class, if there is
  /// one.
  explicit Error(detail::Raised) {
    anyffi_error_take_raised(error_.out());
    anyffi_error_ensure(error_.out());
    anyffi_exception_throw(error_.out());
  }

  AnyView kind() const { return AnyView(fields().kind); }
  AnyView message() const { return AnyView(fields().message); }
  /// As Python prints it, most recent call last; empty if it has none.
  AnyView traceback() const { return AnyView(fields().traceback); }
  const AnyValue& value() const noexcept { return error_; }

  ANYFFI_HIDDEN_ Error(const Error&) = default;
  ANYFFI_HIDDEN_ Error(Error&&) = default;
  ANYFFI_HIDDEN_ Error& operator=(const Error&) = default;
  ANYFFI_HIDDEN_ Error& operator=(Error&&) = default;
  ANYFFI_HIDDEN_ ~Error() override = default;

  /// The message in UTF-8.
  ANYFFI_HIDDEN_ const char* what() const noexcept override {
    return anyffi_error_get_text(error_.raw().as_object, text_.out());
  }

 private:
  const AnyffiError& fields() const {
    anyffi_error_fill(error_.raw().as_object);
    return *reinterpret_cast<const AnyffiError*>(error_.raw().as_object);
  }
  detail::ColdValue error_;
  mutable detail::ColdValue text_;
};

/// Runs pending signal handlers of the host; throws what one of them raised, such as KeyboardInterrupt. Call it
/// regularly in long loops, so that Ctrl-C can end them.
inline void check_signals() { detail::check(anyffi_host_check_signals()); }

namespace detail {

[[noreturn]] __attribute__((cold, noinline)) inline void throw_raised() { throw Error(Raised{}); }

inline bool is_of_kind(const AnyffiError& error, std::string_view kind) {
  AnyffiTextView text;
  return anyffi_value_get_text_view(&error.kind, &text) == 0 && text.encoding == ANYFFI_ASCII &&
         std::string_view(static_cast<const char*>(text.data), static_cast<size_t>(text.length)) == kind;
}

/// Takes from the thread's slot an OverflowError, since another type may be able to hold the number, or a TypeError
/// with which a C++ conversion refused the value. False for other errors.
inline bool take_refusal(AnyValue& error) {
  anyffi_error_take_raised(error.out());
  if (error.is_none()) return false;
  bool is_refusal = false;
  if (error.type_code() == ANYFFI_ERROR) {
    auto& raised = *reinterpret_cast<const AnyffiError*>(error.raw().as_object);
    is_refusal = is_of_kind(raised, "OverflowError") || (!raised.handle && is_of_kind(raised, "TypeError"));
  }
  if (!is_refusal) anyffi_error_set_raised(error.raw().as_object);
  return is_refusal;
}

[[noreturn]] inline void throw_mismatch(const AnyffiMismatch& why) {
  anyffi_mismatch_raise(&why, nullptr, -1);
  throw_raised();
}

/// Stores an exception in the thread's slot. Always returns -1.
__attribute__((noinline)) inline int set_raised(const std::exception& exception) noexcept {
  if (auto* error = dynamic_cast<const Error*>(&exception)) {
    anyffi_error_set_raised(error->value().raw().as_object);
  } else {
    anyffi_error_set_exception(&exception);
  }
  return -1;
}
__attribute__((noinline)) inline int set_current_raised() noexcept {
  // An exception with several bases std::exception is not caught as one.
  try {
    throw;
  } catch (const Error& error) {
    anyffi_error_set_raised(error.value().raw().as_object);
  } catch (const std::exception& exception) {
    anyffi_error_set_exception(&exception);
  } catch (...) {
    anyffi_error_set_current_exception();
  }
  return -1;
}

/// To be called in the `catch (...)` at a language boundary: stores the exception in the thread's slot. Always returns
/// -1.
__attribute__((cold, noinline)) inline int set_caught() noexcept {
  // Rethrowing the exception to learn its type would cost a third of a failing call.
  const std::exception* exception = anyffi_exception_get_caught();
  return exception ? set_raised(*exception) : set_current_raised();
}

/// Returns the status of `body`; stores an exception that it throws in the thread's slot.
template <class Body>
inline int catch_all(Body&& body) noexcept {
  try {
    return body();
  } catch (const ThrowWatch&) {
    __builtin_unreachable();
  } catch (...) {
    return set_caught();
  }
}

}  // namespace detail

template <class T>
Optional<T> AnyView::try_cast() const {
  static_assert(!detail::kIsView<T>, "anyffi: a view would dangle here: convert to a String or a Tensor");
  AnyffiValue value;
  anyffi_copy_value(&raw_, &value);
  if (value.type_code > 0) value.aux = 0;
  typename Traits<T>::Holder holder{};
  AnyffiMismatch why;
  if (Traits<T>::load(value, holder, why)) return Traits<T>::take(holder);
  AnyValue ignored;
  if (why.reason == ANYFFI_MISMATCH_RAISED && !detail::take_refusal(ignored)) detail::throw_raised();
  return nullptr;
}

}  // namespace anyffi

#endif  // ANYFFI_ERROR_H_
