/// \file
/// Errors of the operating system, as Python's OSError and its subclasses.
#include "core/os_errors.h"

#include <cerrno>
#include <string>

#include "core/errors.h"
#include "core/messages.h"
#include "core/owned.h"

namespace anyffi::runtime {
namespace {

/// From Python's documentation of OSError.
const char* class_of_number(int number) {
  switch (number) {
    case EAGAIN:
    case EALREADY:
    case EINPROGRESS:
      return "BlockingIOError";
    case ECHILD:
      return "ChildProcessError";
    case EPIPE:
    case ESHUTDOWN:
      return "BrokenPipeError";
    case ECONNABORTED:
      return "ConnectionAbortedError";
    case ECONNREFUSED:
      return "ConnectionRefusedError";
    case ECONNRESET:
      return "ConnectionResetError";
    case EEXIST:
      return "FileExistsError";
    case ENOENT:
      return "FileNotFoundError";
    case EINTR:
      return "InterruptedError";
    case EISDIR:
      return "IsADirectoryError";
    case ENOTDIR:
      return "NotADirectoryError";
    case EACCES:
    case EPERM:
      return "PermissionError";
    case ESRCH:
      return "ProcessLookupError";
    case ETIMEDOUT:
      return "TimeoutError";
    default:
      return "OSError";
  }
}

}  // namespace

int raise_os_error(int number, const String& reason, const AnyffiValue* path, const AnyffiValue* second_path) {
  Owned args, text;
  AnyffiValue code = anyffi_make_int(number), none = anyffi_make_none();
  if (anyffi_sequence_create(ANYFFI_ARRAY, 5, args.out()) != 0 ||
      str_from_utf8_escaped(reason.data(), static_cast<int64_t>(reason.size()), text.out()) != 0) {
    return -1;
  }
  String message = "[Errno " + String(std::to_string(number).c_str()) + "] " + reason;
  // OSError's fourth argument is an error number of Windows.
  const AnyffiValue* parts[] = {&code, text.get(), path, &none, second_path};
  int64_t count = second_path != nullptr ? 5 : path != nullptr ? 3 : 2;
  for (int64_t i = 0; i < count; ++i) {
    if (anyffi_sequence_insert(args->as_object, i, parts[i]) != 0) return -1;
  }
  for (const AnyffiValue* shown : {path, second_path}) {
    if (shown == nullptr) continue;
    message += shown == path ? ": '" : " -> '";
    append_text(&message, shown);
    message += '\'';
  }
  return raise_with_args(class_of_number(number), message.c_str(), args.take());
}

}  // namespace anyffi::runtime
