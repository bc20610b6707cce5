/// \file
/// Loads of libraries, and the libraries known so far.
#include "core/loading.h"

#include <dlfcn.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "core/compiler.h"

namespace anyffi::runtime {
namespace {

ANYFFI_THREAD_LOCAL Loading* innermost = nullptr;

/// Never destroyed. Not allocated by `anyffi_alloc`, whose blocks leak reports count.
struct Libraries {
  std::mutex mutex;
  std::map<std::string, int64_t, std::less<>> numbers;
  int64_t loads = 0;
};

Registrant number_load(std::string_view library) {
  static auto* all = new Libraries();
  std::lock_guard<std::mutex> lock(all->mutex);
  auto place = all->numbers.try_emplace(std::string(library), static_cast<int64_t>(all->numbers.size()) + 1).first;
  return Registrant{place->second, ++all->loads};
}

}  // namespace

Loading::Loading(const char* file, std::string_view library, bool overrides)
    : file_(file), registrant_(number_load(library)), overrides_(overrides), outer_(std::exchange(innermost, this)) {}

Loading::~Loading() { innermost = outer_; }

Registrant Loading::find_registrant(const void* code) noexcept {
  if (innermost == nullptr) return Registrant{};
  // The libraries that a library depends on are loaded with it, but are not it.
  Dl_info info{};
  bool is_own = dladdr(code, &info) != 0 && std::strcmp(info.dli_fname, innermost->file_) == 0;
  return is_own ? innermost->registrant_ : Registrant{};
}

bool Loading::is_overriding() noexcept { return innermost != nullptr && innermost->overrides_; }

}  // namespace anyffi::runtime
