/// \file
/// C functions that take C++ exceptions.
#ifndef ANYFFI_EXCEPTION_H_
#define ANYFFI_EXCEPTION_H_

#include <exception>

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

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
}

#endif  // ANYFFI_EXCEPTION_H_
