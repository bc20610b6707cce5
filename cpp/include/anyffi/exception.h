/// \file
/// The one C function that only C++ can call.
#ifndef ANYFFI_EXCEPTION_H_
#define ANYFFI_EXCEPTION_H_

extern "C" {
/// Inside `catch (...)`: leaves the exception in the thread's slot, as the Python exception of its kind
/// (std::bad_alloc MemoryError, out_of_range IndexError, invalid_argument ValueError, overflow_error
/// OverflowError, anything else RuntimeError).
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
void anyffi_error_set_current_exception(void);
}

#endif  // ANYFFI_EXCEPTION_H_
