/// \file
/// Conversion of C++ exceptions to errors.
#include <anyffi/c_api.h>
#include <anyffi/exception.h>
#include <cxxabi.h>

#include <cstdlib>
#include <stdexcept>

#include "core/compiler.h"
#include "core/errors.h"

namespace {

/// Raises RuntimeError with the demangled type of the current exception.
void raise_unknown() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  char* name = type != nullptr ? abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr) : nullptr;
  anyffi::runtime::raise_format("RuntimeError", "C++ exception of type %s", name != nullptr ? name : "unknown");
  std::free(name);
}

}  // namespace

void anyffi_error_set_exception(const std::exception* exception) {
  if (dynamic_cast<const std::bad_alloc*>(exception) != nullptr) {
    anyffi::runtime::raise_no_memory();
  } else if (dynamic_cast<const std::out_of_range*>(exception) != nullptr) {
    anyffi_error_raise("IndexError", exception->what());
  } else if (dynamic_cast<const std::invalid_argument*>(exception) != nullptr) {
    anyffi_error_raise("ValueError", exception->what());
  } else if (dynamic_cast<const std::overflow_error*>(exception) != nullptr) {
    anyffi_error_raise("OverflowError", exception->what());
  } else {
    anyffi_error_raise("RuntimeError", exception->what());
  }
}

ANYFFI_UNWINDS void anyffi_error_set_current_exception(void) {
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
    raise_unknown();
  }
}
