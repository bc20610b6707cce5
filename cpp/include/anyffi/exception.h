/// \file
/// C functions that take C++ exceptions.
#ifndef ANYFFI_EXCEPTION_H_
#define ANYFFI_EXCEPTION_H_

#include <anyffi/detail/base.h>

#include <exception>
#include <typeinfo>

namespace anyffi::detail {

/// Never thrown. With a handler for it before the `catch (...)` at a language boundary, the runtime can record where an
/// exception was thrown, and whether it is a std::exception: the unwinder asks each handler's type whether it catches
/// the exception, while the stack is still intact.
class ANYFFI_EXPORT_SYMBOL ThrowWatch {
 public:
#if defined(__GLIBCXX__)
  virtual ~ThrowWatch();  // not defined here, so that the type information is the runtime's
#else
  virtual ~ThrowWatch() = default;
#endif
};

}  // namespace anyffi::detail

extern "C" {
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/// Inside `catch (...)`: stores the exception in the thread's slot, as the corresponding Python exception
/// (std::bad_alloc: MemoryError; out_of_range: IndexError; invalid_argument, domain_error, length_error, range_error:
/// ValueError; overflow_error: OverflowError; system_error of an errno, filesystem_error: OSError's subclass;
/// ios_base::failure: OSError; others: RuntimeError).
void anyffi_error_set_current_exception(void);
/// The same for an exception that was caught as a std::exception; faster, since it is not rethrown.
void anyffi_error_set_exception(const std::exception* exception);
/// Inside the `catch (...)` after a handler for ThrowWatch: the exception, without rethrowing it. NULL if it is not a
/// std::exception, or if the library has its own C++ runtime.
const std::exception* anyffi_exception_get_caught(void);

/// An exception class that front ends represent by a class of their own.
typedef struct AnyffiException {
  const char* kind;
  /// Inside a handler: raises the current exception if it is of this class.
  bool (*raise_current)(const char* kind);
  /// Throws an exception of this class for an error of this kind; returns if it cannot.
  void (*throw_as)(const AnyffiValue* error);
  void (*throw_pointer)();
  /// Whether a function throws a pointer to this class or one that derives from it.
  bool (*catches_pointer)(void (*thrower)());
  /// Distinguishes classes with the same name in two libraries, by address. May be NULL.
  const std::type_info* type;
  struct AnyffiException* next; /* set by the runtime */
} AnyffiException;

/// Adds a class, which must never be freed. Derived classes precede their bases, in any order of registration.
void anyffi_exception_register(AnyffiException* row);
/// Throws the C++ exception for an error whose kind is a registered class: that class, or its nearest base that can be
/// constructed from a message. If the kind cannot be found for lack of memory, the error becomes a MemoryError, because
/// handlers for its class would not catch it anyway.
void anyffi_exception_throw(AnyffiValue* error);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
}

#endif  // ANYFFI_EXCEPTION_H_
