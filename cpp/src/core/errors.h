/// \file
/// Raising errors: each `raise_*` function leaves an error in the thread's slot and returns -1.
#ifndef ANYFFI_SRC_CORE_ERRORS_H_
#define ANYFFI_SRC_CORE_ERRORS_H_

#include <anyffi/c_api.h>
#include <anyffi/error.h>
#include <anyffi/exception.h>

#include "core/memory.h"
#include "core/owned.h"

namespace anyffi::runtime {

/// Raises MemoryError, without allocating.
int raise_no_memory() noexcept;
/// Raises RecursionError, without allocating.
int raise_recursion() noexcept;
/// As `anyffi_error_raise`, with a message in the manner of printf. Bytes that are not UTF-8 are shown as escapes.
int raise_format(const char* kind, const char* format, ...) noexcept __attribute__((format(printf, 2, 3)));
/// As `anyffi_error_raise`; bytes of the text that are not UTF-8 are shown as escapes.
int raise_text(const char* kind, const String& text) noexcept;
/// Raises an error whose class takes several arguments; steals `args`, an Array.
int raise_with_args(const char* kind, const char* message, AnyffiValue args) noexcept;
/// The name of an error's class; -1 if the host cannot provide it, with `lacks_memory` set if the reason is memory.
int get_error_kind(const AnyffiError* error, Owned* out, bool* lacks_memory) noexcept;
/// Returns whether the thread's slot holds an error.
bool has_raised() noexcept;

/// Records that the raised error is about a tensor, identified by the address of its elements; always -1.
int mark_raised_about(const void* elements) noexcept;
/// Takes that address from the raised error; NULL if it has none.
const void* take_raised_about() noexcept;

/// Whether the raised error is the TypeError with which a C++ conversion rejects a value.
bool is_refusal_raised() noexcept;
/// Gives the raised error the traceback, cause and recorded frames of the error that it replaces.
void inherit_raised(AnyffiError* former) noexcept;

/// Saves the thread's raised error and restores it (PyErr_Fetch, PyErr_Restore): for code of the host that runs while
/// an error propagates.
class SavedError {
 public:
  SavedError() noexcept;
  ~SavedError();
  SavedError(const SavedError&) = delete;
  SavedError& operator=(const SavedError&) = delete;

 private:
  AnyffiObject* error_;
};

/// Runs the body of a C function that uses standard containers: an exception becomes the raised error.
template <class Body>
int guard(Body&& body) noexcept {
  return detail::catch_all(body);
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_ERRORS_H_
