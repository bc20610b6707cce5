/// \file
/// Conversion of C++ exceptions to errors.
#include <anyffi/c_api.h>
#include <anyffi/error.h>
#include <anyffi/exception.h>
#include <anyffi/inline.h>
#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <ios>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "core/compiler.h"
#include "core/errors.h"
#include "core/messages.h"
#include "core/mutex.h"
#include "core/os_errors.h"
#include "core/owned.h"

namespace {

/// Whether this library's C++ runtime has a current exception. A library that was linked with -static-libstdc++ has a
/// runtime of its own, whose exceptions cannot be rethrown here.
bool has_current() { return *reinterpret_cast<void**>(abi::__cxa_get_globals()) != nullptr; }

/// Raises RuntimeError with the demangled type of the current exception.
void raise_unknown() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  char* name = type != nullptr ? abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr) : nullptr;
  anyffi::runtime::raise_format("RuntimeError", "C++ exception of type %s", name != nullptr ? name : "unknown");
  std::free(name);
}

template <class E>
bool is_a(const std::exception& exception) {
  return dynamic_cast<const E*>(&exception) != nullptr;
}

/// The Python class that stands for a C++ exception: those that pybind11 and nanobind choose.
const char* class_of(const std::exception& exception) {
  if (is_a<std::out_of_range>(exception)) return "IndexError";
  if (is_a<std::invalid_argument>(exception) || is_a<std::domain_error>(exception) ||
      is_a<std::length_error>(exception) || is_a<std::range_error>(exception)) {
    return "ValueError";
  }
  return is_a<std::overflow_error>(exception) ? "OverflowError" : "RuntimeError";
}

int raise_system_error(const std::system_error& error) {
  using anyffi::runtime::Owned, anyffi::runtime::raise_os_error;
  if (error.code().category() == std::iostream_category()) return anyffi_error_raise("OSError", error.what());
  if (error.code().category() != std::generic_category() && error.code().category() != std::system_category()) {
    return anyffi_error_raise("RuntimeError", error.what());
  }
  auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error);
  if (file == nullptr) return raise_os_error(error.code().value(), error.what());
  Owned paths[2];
  const AnyffiValue* given[2] = {};
  for (int i = 0; i < 2; ++i) {
    const std::string& path = (i == 0 ? file->path1() : file->path2()).native();
    if (path.empty()) continue;
    if (anyffi::runtime::str_from_utf8_escaped(path.data(), static_cast<int64_t>(path.size()), paths[i].out()) != 0) {
      return -1;
    }
    given[i] = paths[i].get();
  }
  return raise_os_error(error.code().value(), error.code().message().c_str(), given[0], given[1]);
}

/// Raises an exception whose class was not registered.
void raise_standard(const std::exception& exception) {
  if (is_a<std::bad_alloc>(exception)) {
    anyffi::runtime::raise_no_memory();
  } else if (auto* error = dynamic_cast<const std::system_error*>(&exception)) {
    anyffi::runtime::guard([error] { return raise_system_error(*error); });
  } else {
    anyffi_error_raise(class_of(exception), exception.what());
  }
}

/// Makes the exception that `std::throw_with_nested` stored the cause of the thread's error.
void keep_nested(const std::exception& exception) {
  auto* nested = dynamic_cast<const std::nested_exception*>(&exception);
  if (nested == nullptr || nested->nested_ptr() == nullptr) return;
  anyffi::runtime::Owned outer, inner;
  anyffi_error_take_raised(outer.out());
  anyffi::detail::catch_all([nested]() -> int { nested->rethrow_nested(); });
  anyffi_error_take_raised(inner.out());
  if (outer->type_code != ANYFFI_ERROR) return;
  auto* error = reinterpret_cast<AnyffiError*>(outer->as_object);
  if (inner->type_code == ANYFFI_ERROR && error->handle == nullptr && error->cause.type_code == ANYFFI_NONE) {
    error->cause = *inner.get();
    anyffi_value_retain(&error->cause);
  }
  anyffi_error_set_raised(outer->as_object);
}

/// In order: derived classes precede their bases.
AnyffiException* first_class = nullptr;

AnyffiException* load_row(AnyffiException** row) { return __atomic_load_n(row, __ATOMIC_ACQUIRE); }

/// Raises the current exception if its class was registered; false if not.
bool raise_registered() {
  AnyffiException* row = load_row(&first_class);
  const std::type_info* thrown = abi::__cxa_current_exception_type();
  // Several libraries may register classes of the same name: prefer the row with exactly the thrown type.
  for (AnyffiException* same = row; same != nullptr; same = load_row(&same->next)) {
    if (thrown != nullptr && same->type == thrown && same->raise_current(same->kind)) return true;
  }
  for (; row != nullptr; row = load_row(&row->next)) {
    if (row->raise_current(row->kind)) return true;
  }
  return false;
}

}  // namespace

void anyffi_exception_register(AnyffiException* row) {
  static anyffi::runtime::Mutex mutex;
  std::lock_guard<anyffi::runtime::Mutex> lock(mutex);
  for (AnyffiException* other = first_class; other != nullptr; other = other->next) {
    if (other == row) return;
  }
  // Inserts before the first base of the class: classes that derive from this one are already in front of that base.
  AnyffiException** place = &first_class;
  while (*place != nullptr && !(*place)->catches_pointer(row->throw_pointer)) place = &(*place)->next;
  row->next = *place;
  __atomic_store_n(place, row, __ATOMIC_RELEASE);
}

void anyffi_exception_throw(AnyffiValue* error) {
  AnyffiException* row = load_row(&first_class);
  if (row == nullptr || error->type_code != ANYFFI_ERROR) return;
  // Reads only the kind: filling in the whole error would format a traceback that grows with each level of recursion.
  anyffi::runtime::Owned name;
  AnyffiTextView kind;
  bool lacks_memory;
  auto* raised = reinterpret_cast<const AnyffiError*>(error->as_object);
  if (anyffi::runtime::get_error_kind(raised, &name, &lacks_memory) != 0) {
    if (lacks_memory) {
      anyffi_value_release(error);
      anyffi::runtime::raise_no_memory();
      anyffi_error_take_raised(error);
    }
    return;
  }
  anyffi_view_text(name.get(), &kind);
  if (kind.encoding != ANYFFI_ASCII) return;
  std::string_view wanted(static_cast<const char*>(kind.data), static_cast<size_t>(kind.length));
  AnyffiException* found = nullptr;
  for (; row != nullptr; row = load_row(&row->next)) {
    // A class that cannot be constructed from a message is thrown as its nearest base that can.
    if (wanted != row->kind && (found == nullptr || !row->catches_pointer(found->throw_pointer))) continue;
    row->throw_as(error);
    found = row;
  }
}

void anyffi_error_set_exception(const std::exception* exception) {
  if (!raise_registered()) raise_standard(*exception);
  keep_nested(*exception);
}

ANYFFI_UNWINDS void anyffi_error_set_current_exception(void) {
  if (!has_current()) {
    if (raise_registered()) return;
    anyffi_error_raise("RuntimeError", "C++ exception of unknown type, from a library with a C++ runtime of its own");
    return;
  }
  // A class that derives from several of these has an ambiguous base std::exception, which no handler catches.
  try {
    throw;
  } catch (const std::bad_alloc& error) {
    anyffi_error_set_exception(&error);
  } catch (const std::logic_error& error) {
    anyffi_error_set_exception(&error);
  } catch (const std::runtime_error& error) {
    anyffi_error_set_exception(&error);
  } catch (const std::exception& error) {
    anyffi_error_set_exception(&error);
#if defined(__GLIBCXX__)
  } catch (const abi::__forced_unwind&) {
    throw;
#endif
  } catch (...) {
    if (!raise_registered()) raise_unknown();
  }
}
