/// \file
/// C functions that take C++ exceptions.
#ifndef ANYFFI_EXCEPTION_H_
#define ANYFFI_EXCEPTION_H_

#include <anyffi/detail/base.h>

#include <exception>
#include <typeinfo>

namespace anyffi::detail {

/// Never thrown. A handler for it, before `catch (...)` of a border, lets the runtime record where an exception was
/// thrown, and whether it is a std::exception: the unwinder asks the type of each handler whether it catches the
/// exception while the stack is still whole.
class ANYFFI_EXPORT_SYMBOL ThrowWatch {
 public:
#if defined(__GLIBCXX__)
  virtual ~ThrowWatch();  // defined nowhere, so that the type is the runtime's
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
/// Inside the `catch (...)` behind a handler for ThrowWatch: the exception, without rethrowing it. NULL if it is no
/// std::exception, and where a library has a C++ runtime of its own.
const std::exception* anyffi_exception_get_caught(void);

/// A class of exceptions that front ends have as a class of their own.
typedef struct AnyffiException {
  const char* kind;
  /// Inside a handler: raises the current exception if it is of this class.
  bool (*raise_current)(const char* kind);
  /// Throws an exception of this class for an error of this kind; returns if there is none for it.
  void (*throw_as)(const AnyffiValue* error);
  void (*throw_pointer)();
  /// Whether a function throws a pointer to this class or one that derives from it.
  bool (*catches_pointer)(void (*thrower)());
  /// Two libraries may have classes of one name, which only the addresses of these tell apart. May be NULL.
  const std::type_info* type;
  struct AnyffiException* next; /* of the runtime */
} AnyffiException;

/// Adds a class, which must never be freed. Derived classes precede their bases, whoever is registered first.
void anyffi_exception_register(AnyffiException* row);
/// Throws what stands for an error in C++, if its kind is that of a class of exceptions: that class, or the nearest of
/// its bases that can be made of a message. Where the kind cannot be found for lack of memory, the error becomes a
/// MemoryError: handlers of its class would not catch it as it is.
void anyffi_exception_throw(AnyffiValue* error);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
}

#endif  // ANYFFI_EXCEPTION_H_
