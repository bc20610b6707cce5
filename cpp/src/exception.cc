/// \file
/// C++ exceptions as errors of the kinds that Python knows.
#include <anyffi/exception.h>
#include <cxxabi.h>

#include <cstdlib>
#include <stdexcept>

#include "internal.h"

namespace {

/// The name of the type being thrown, as C++ spells it.
void raise_unknown() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  char* name = type != nullptr ? abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr) : nullptr;
  anyffi::runtime::raise_format("RuntimeError", "C++ exception of type %s", name != nullptr ? name : "unknown");
  std::free(name);
}

}  // namespace

ANYFFI_UNWINDS void anyffi_error_set_current_exception(void) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    anyffi::runtime::raise_no_memory();
  } catch (const std::out_of_range& error) {
    anyffi_error_raise("IndexError", error.what());
  } catch (const std::invalid_argument& error) {
    anyffi_error_raise("ValueError", error.what());
  } catch (const std::overflow_error& error) {
    anyffi_error_raise("OverflowError", error.what());
  } catch (const std::exception& error) {
    anyffi_error_raise("RuntimeError", error.what());
#if defined(__GLIBCXX__)
  } catch (const abi::__forced_unwind&) {
    throw;
#endif
  } catch (...) {
    raise_unknown();
  }
}
