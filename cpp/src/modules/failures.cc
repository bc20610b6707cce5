/// \file
/// Libraries whose loading failed.
#include "modules/failures.h"

#include <anyffi/c_api.h>
#include <dlfcn.h>

#include <map>
#include <mutex>
#include <utility>

#include "core/immortal.h"
#include "core/memory.h"
#include "core/mutex.h"
#include "core/owned.h"
#include "registry/journal.h"

namespace anyffi::runtime {
namespace {

struct Failure {
  Owned error;
  Owned taken_name;            /* the taken name, if that was the error */
  bool is_undone = false;      /* the load was undone, so it may be repeated */
  void* replacement = nullptr; /* handle of the copy that replaces the library */
};

/// By the load addresses of the libraries. Never destroyed, as libraries are never unmapped.
struct Failures {
  Mutex mutex;
  std::map<const void*, Failure, std::less<>, Allocator<std::pair<const void* const, Failure>>> by_base;
};

Failures& failures() {
  static Immortal<Failures> all;
  return *all;
}

/// Applies `change` to the record of a library.
template <class Change>
void change_failure(const void* base, Change change) noexcept {
  Failures& all = failures();
  std::lock_guard<Mutex> lock(all.mutex);
  try {
    change(all.by_base[base]);
  } catch (const std::bad_alloc&) {
    // This load reports its error anyway; only later loads do not know it.
  }
}

}  // namespace

Owned find_load_error(const void* base) noexcept {
  Failures& all = failures();
  std::lock_guard<Mutex> lock(all.mutex);
  auto found = all.by_base.find(base);
  return found != all.by_base.end() ? retained(*found->second.error.get()) : Owned();
}

void keep_load_error(const void* base, const AnyffiValue& error) noexcept {
  Owned reference = retained(error);
  change_failure(base, [&](Failure& failure) {
    // The first error causes the others.
    if (failure.error->type_code == ANYFFI_NONE) failure.error = std::move(reference);
  });
}

void keep_undone_load(const void* base, const LoadJournal& journal) noexcept {
  Owned error = retained(*journal.error()), name = retained(*journal.taken_name());
  change_failure(base, [&](Failure& failure) {
    std::swap(failure.error, error);
    std::swap(failure.taken_name, name);
    failure.is_undone = true;
  });
}

bool begin_new_load(const void* base) noexcept {
  Failures& all = failures();
  Owned name, function;
  {
    std::lock_guard<Mutex> lock(all.mutex);
    auto found = all.by_base.find(base);
    if (found == all.by_base.end() || !found->second.is_undone) return false;
    name = retained(*found->second.taken_name.get());
  }
  bool is_taken = name->type_code != ANYFFI_NONE && anyffi_registry_find(name.get(), function.out()) == 0 &&
                  function->type_code != ANYFFI_NONE;
  if (is_taken) return false;
  std::lock_guard<Mutex> lock(all.mutex);
  return std::exchange(all.by_base.find(base)->second.is_undone, false);
}

void end_new_load(const void* base, void* copy) noexcept {
  change_failure(base, [&](Failure& failure) {
    failure.replacement = copy;
    failure.is_undone = copy == nullptr;
  });
}

void* find_replacement(const void* base) noexcept {
  Failures& all = failures();
  std::lock_guard<Mutex> lock(all.mutex);
  auto found = all.by_base.find(base);
  return found != all.by_base.end() ? found->second.replacement : nullptr;
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

void anyffi_registry_defer_error(void) { anyffi_registry_defer_error_of(__builtin_return_address(0)); }

void anyffi_registry_defer_error_of(const void* in_library) {
  AnyffiValue error;
  anyffi_error_take_raised(&error);
  Owned owner(error);
  if (error.type_code == ANYFFI_NONE) return;
  // For later loads of the calling library: by another thread, or after it was first loaded in another way, such as by
  // the dynamic linker as a dependency of the program.
  Dl_info caller{};
  if (dladdr(in_library, &caller) != 0) keep_load_error(caller.dli_fbase, error);
  if (LoadJournal* journal = LoadJournal::current()) journal->defer(owner.take(), caller.dli_fbase);
}
