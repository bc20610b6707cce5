/// \file
/// What static initialisers did while a library was loaded, so that a failed load can be undone and explained.
#include <dlfcn.h>

#include <map>
#include <mutex>

#include "internal.h"

namespace anyffi::runtime {
namespace {

ANYFFI_THREAD_LOCAL LoadJournal* innermost = nullptr;

using Errors = std::map<const void*, Owned, std::less<>, Allocator<std::pair<const void* const, Owned>>>;

/// By the address that the library lies at. Never destroyed, as no library is.
struct LoadErrors {
  std::mutex mutex;
  Errors errors;
};

LoadErrors& load_errors() {
  static auto* errors = new LoadErrors();
  return *errors;
}

}  // namespace

LoadJournal::LoadJournal() noexcept : outer_(std::exchange(innermost, this)) {}

LoadJournal::~LoadJournal() { innermost = outer_; }

LoadJournal* LoadJournal::current() noexcept { return innermost; }

void LoadJournal::begin(const AnyffiValue& name, const AnyffiValue& function) {
  anyffi_value_retain_inline(&name);
  Owned kept_name(name);
  anyffi_value_retain_inline(&function);
  Owned kept_function(function);
  changes_.push_back(Change{std::move(kept_name), std::move(kept_function), Owned()});
}

void LoadJournal::defer(AnyffiValue error) noexcept {
  Owned owner(error);
  if (error_->type_code == ANYFFI_NONE) error_ = std::move(owner);
}

void LoadJournal::undo() noexcept {
  for (; !changes_.empty(); changes_.pop_back()) {
    Change& change = changes_.back();
    registry_restore(*change.name.get(), *change.function.get(), change.former.take());
  }
}

AnyffiValue find_load_error(const void* base) noexcept {
  LoadErrors& all = load_errors();
  std::lock_guard<std::mutex> lock(all.mutex);
  auto found = all.errors.find(base);
  return found != all.errors.end() ? *found->second.get() : anyffi_none_inline();
}

void keep_load_error(const void* base, const AnyffiValue& error) noexcept {
  anyffi_value_retain_inline(&error);
  Owned owner(error);
  LoadErrors& all = load_errors();
  std::lock_guard<std::mutex> lock(all.mutex);
  try {
    // The first one is the cause of the others.
    all.errors.try_emplace(base, std::move(owner));
  } catch (const std::bad_alloc&) {
    // The load that found the error reports it all the same; only a second one would not.
  }
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

void anyffi_registry_defer_error(void) {
  AnyffiValue error;
  anyffi_error_take_raised(&error);
  Owned owner(error);
  if (error.type_code == ANYFFI_NONE) return;
  // Whoever loads the calling library as a module later is told too: by another thread, or after it was loaded
  // by other means, such as a dependency of the program.
  Dl_info caller;
  if (dladdr(__builtin_return_address(0), &caller) != 0) keep_load_error(caller.dli_fbase, error);
  if (LoadJournal* journal = LoadJournal::current()) journal->defer(owner.take());
}
