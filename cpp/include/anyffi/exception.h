/// \file
/// The C functions that only C++ can call.
#ifndef ANYFFI_EXCEPTION_H_
#define ANYFFI_EXCEPTION_H_

#include <exception>

extern "C" {
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/// Inside `catch (...)`: leaves the exception in the thread's slot, as the Python exception of its kind
/// (std::bad_alloc MemoryError, out_of_range IndexError, invalid_argument ValueError, overflow_error
/// OverflowError, anything else RuntimeError).
void anyffi_error_set_current_exception(void);
/// The same for an exception that was caught as a std::exception. It is not thrown again to find out what it is, which
/// would cost as much as to throw it did.
void anyffi_error_set_exception(const std::exception* exception);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
}

#endif  // ANYFFI_EXCEPTION_H_
