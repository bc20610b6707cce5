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

namespace anyffi::runtime {
namespace {

ANYFFI_THREAD_LOCAL Loading* innermost = nullptr;

/// Never destroyed. Not allocated by `anyffi_alloc`, whose blocks leak reports count.
struct Libraries {
  std::mutex mutex;
  std::map<std::string, int64_t, std::less<>> numbers;
  std::deque<std::string> paths; /* by number of the load; they do not move */
};

Libraries& libraries() {
  static auto* all = new Libraries();
  return *all;
}

Registrant number_load(std::string_view path, std::string_view library) {
  Libraries& all = libraries();
  std::lock_guard<std::mutex> lock(all.mutex);
  auto place = all.numbers.try_emplace(std::string(library), static_cast<int64_t>(all.numbers.size()) + 1).first;
  all.paths.emplace_back(path);
  return Registrant{place->second, static_cast<int64_t>(all.paths.size())};
}

}  // namespace

Loading::Loading(const char* file, std::string_view path, std::string_view library, bool overrides)
    : file_(file),
      registrant_(number_load(path, library)),
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

std::string_view Loading::find_path(const Registrant& registrant) {
  if (registrant.load == 0) return {};
  Libraries& all = libraries();
  std::lock_guard<std::mutex> lock(all.mutex);
  return all.paths[static_cast<size_t>(registrant.load) - 1];
}

bool Loading::is_overriding() noexcept { return innermost != nullptr && innermost->overrides_; }

}  // namespace anyffi::runtime
