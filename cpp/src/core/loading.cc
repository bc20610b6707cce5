/// \file
/// Loads of libraries, and the libraries known so far.
#include "core/loading.h"

#include <dlfcn.h>

#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "core/compiler.h"
#include "core/immortal.h"
#include "core/mutex.h"

namespace anyffi::runtime {
namespace {

ANYFFI_THREAD_LOCAL Loading* innermost = nullptr;

/// Never destroyed. Not allocated by `anyffi_alloc`, whose blocks leak reports count.
struct Libraries {
  Mutex mutex;
  std::map<std::string, int64_t, std::less<>> numbers;
  std::deque<std::string> paths;                         /* by number of the load; they do not move */
  std::map<std::string, Registrant, std::less<>> owners; /* by the name given to the system's loader */
};

Libraries& libraries() {
  static Immortal<Libraries> all;
  return *all;
}

Registrant number_load(const char* file, std::string_view path, std::string_view library, bool is_loaded) {
  Libraries& all = libraries();
  std::lock_guard<Mutex> lock(all.mutex);
  auto place = all.numbers.try_emplace(std::string(library), static_cast<int64_t>(all.numbers.size()) + 1).first;
  if (is_loaded) {
    // Reuses the number: initialisers do not run again, and a new number for each load would use more memory each time,
    // for example for each pickle that names the library.
    auto owner = all.owners.find(std::string_view(file));
    if (owner != all.owners.end() && owner->second.library == place->second &&
        all.paths[static_cast<size_t>(owner->second.load) - 1] == path) {
      return owner->second;
    }
  }
  all.paths.emplace_back(path);
  Registrant registrant{place->second, static_cast<int64_t>(all.paths.size())};
  all.owners.insert_or_assign(file, registrant);
  return registrant;
}

}  // namespace

Loading::Loading(const char* file, std::string_view path, std::string_view library, bool overrides, bool is_loaded)
    : file_(file),
      registrant_(number_load(file, path, library, is_loaded)),
      overrides_(overrides),
      outer_(std::exchange(innermost, this)) {}

Loading::~Loading() { innermost = outer_; }

Registrant Loading::find_registrant(const void* code) noexcept {
  if (innermost == nullptr) return Registrant{};
  // The libraries that a library depends on are loaded with it, but are not it.
  Dl_info info{};
  bool is_own = dladdr(code, &info) != 0 && std::strcmp(info.dli_fname, innermost->file_) == 0;
  return is_own ? innermost->registrant_ : Registrant{};
}

Registrant Loading::find_owner(const void* code) noexcept {
  Dl_info info{};
  if (dladdr(code, &info) == 0) return Registrant{};
  Libraries& all = libraries();
  std::lock_guard<Mutex> lock(all.mutex);
  auto found = all.owners.find(std::string_view(info.dli_fname));
  return found != all.owners.end() ? found->second : Registrant{};
}

std::string_view Loading::find_path(const Registrant& registrant) {
  if (registrant.load == 0) return {};
  Libraries& all = libraries();
  std::lock_guard<Mutex> lock(all.mutex);
  return all.paths[static_cast<size_t>(registrant.load) - 1];
}

bool Loading::is_overriding() noexcept { return innermost != nullptr && innermost->overrides_; }

}  // namespace anyffi::runtime
