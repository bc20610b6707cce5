/// \file
/// Opening shared libraries. A loaded one is never unmapped.
#include <anyffi/c_api.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "core/errors.h"
#include "core/immortal.h"
#include "core/loading.h"
#include "core/memory.h"
#include "core/mutex.h"
#include "modules/classes.h"
#include "modules/failures.h"
#include "modules/library.h"
#include "modules/library_file.h"
#include "registry/journal.h"
#include "text/text.h"

#if defined(__ELF__)
#include <link.h>
#endif

namespace anyffi::runtime {
namespace {

/// Identifies a file and its version.
struct Identity {
  dev_t device;
  ino_t number;
  off_t size;
  int64_t changed; /* ns */

  bool is_same_file(const Identity& other) const { return device == other.device && number == other.number; }
  bool operator==(const Identity& other) const {
    return is_same_file(other) && size == other.size && changed == other.changed;
  }
};

/// The opened files, by the name given to the loader: it does not open a name twice, even if the file was replaced.
/// Never destroyed. Does not use `anyffi_alloc`, because leak reports count its blocks.
struct Opened {
  Mutex mutex;
  std::map<std::string, Identity> names;
};

Opened& opened() {
  static Immortal<Opened> all;
  return *all;
}

/// Returns false if there is no such file.
bool identify(const String& file, Identity* out) {
  struct stat status;
  if (stat(file.c_str(), &status) != 0) return false;
#if defined(__APPLE__)
  const timespec& time = status.st_mtimespec;
#else
  const timespec& time = status.st_mtim;
#endif
  *out = Identity{status.st_dev, status.st_ino, status.st_size, int64_t{time.tv_sec} * 1000000000 + time.tv_nsec};
  return true;
}

/// Changes `file` to a name under which the loader has opened no other file; `is_new` is false if this file is already
/// open under the name. Raises ValueError if the file was modified since it was opened, which corrupts the mapped
/// library.
int choose_name(String* file, bool* is_new) {
  Identity now;
  *is_new = false;
  if (!identify(*file, &now)) return 0;  // the loader reports the reason
  String shown = *file;
  Opened& all = opened();
  std::lock_guard<Mutex> lock(all.mutex);
  for (const auto& [name, then] : all.names) {
    if (then.is_same_file(now) && !(then == now)) {
      return raise_format("ValueError",
                          "%s: was written to after this process had loaded it; put a new file in its place instead, "
                          "as linkers do, or start a new process",
                          shown.c_str());
    }
  }
  for (;;) {
    auto [place, is_added] = all.names.try_emplace(file->c_str(), now);
    *is_new = is_added;
    if (is_added || place->second == now) return 0;
    file->insert(file->rfind('/'), "/.");
  }
}

/// Forgets a file that the loader rejected, so that it may be overwritten.
void forget_name(const String& name) {
  Opened& all = opened();
  std::lock_guard<Mutex> lock(all.mutex);
  all.names.erase(name.c_str());
}

/// The load address of a library, which distinguishes its own symbols from those of its dependencies.
const void* base_of(void* library) {
  Dl_info info{};
#if defined(__ELF__)
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || dladdr(map->l_ld, &info) == 0) return nullptr;
#else
  void* symbol = dlsym(library, "__anyffi_module");
  if (symbol == nullptr) symbol = dlsym(library, "__anyffi_abi_version");
  if (symbol == nullptr || dladdr(symbol, &info) == 0) return nullptr;
#endif
  return info.dli_fbase;
}

void* find_own_symbol(void* library, const void* base, const char* name) {
  void* symbol = dlsym(library, name);
  Dl_info info;
  return symbol != nullptr && dladdr(symbol, &info) != 0 && info.dli_fbase == base ? symbol : nullptr;
}

/// Prepends the demangled name of an undefined symbol: `f(int) (_Z1fi)`.
void demangle(String* reason) {
  constexpr std::string_view kBefore = "undefined symbol: ";
  size_t begin = reason->find(kBefore);
  if (begin == String::npos) return;
  begin += kBefore.size();
  size_t end = std::min(reason->find_first_of(",; \t\n(", begin), reason->size());
  String symbol = reason->substr(begin, end - begin);
  int status = 0;
  char* name = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  if (name == nullptr) return;
  reason->replace(begin, symbol.size(), String(name) + " (" + symbol + ")");
  std::free(name);
}

int raise_load_failure(const String& file) {
  const char* message = dlerror();
  String reason = message != nullptr ? message : "unknown reason";
  // The loader's message usually begins with the path.
  if (reason.compare(0, file.size() + 2, file + ": ") == 0) reason.erase(0, file.size() + 2);
  demangle(&reason);
  bool needs_runtime = reason.find("undefined symbol: anyffi_") != String::npos;
  return raise_format("OSError", "%s: %s%s", file.c_str(), reason.c_str(),
                      needs_runtime ? "; link the library with -lanyffi, behind its sources" : "");
}

/// Reads the metadata of a loaded library. Raises ImportError if it was built for another version of the ABI.
int read_library(void* handle, const void* base, const String& file, Library* out) {
  auto* table = static_cast<const AnyffiModuleTable*>(find_own_symbol(handle, base, "__anyffi_module"));
  auto* version = static_cast<const int32_t*>(find_own_symbol(handle, base, "__anyffi_abi_version"));
  if (table == nullptr && version == nullptr) {
    return raise_format("ImportError",
                        "%s: not a module of anyffi: it exports neither __anyffi_module nor __anyffi_abi_version",
                        file.c_str());
  }
  int32_t built_for = table != nullptr ? table->abi_version : *version;
  if (built_for != ANYFFI_ABI_VERSION) {
    return raise_format("ImportError",
                        "%s: built for version %d of anyffi's ABI, which is %s than version %d of this "
                        "runtime; build it again",
                        file.c_str(), static_cast<int>(built_for), built_for < ANYFFI_ABI_VERSION ? "older" : "newer",
                        ANYFFI_ABI_VERSION);
  }
  if (table != nullptr && table->struct_size < offsetof(AnyffiModuleTable, entries) + sizeof(table->entries)) {
    return raise_format("ImportError", "%s: its __anyffi_module is too small to be one", file.c_str());
  }
  *out = Library{handle, table};
  return 0;
}

/// The outcome of one dlopen call.
struct LoadResult {
  void* handle = nullptr;
  const void* base = nullptr;
  bool has_failed = false; /* whether an initialiser that it ran failed */
};

/// Loads the library `name`, called `file` in messages. If an initialiser fails, undoes all registrations of the load,
/// and records the error for the library at `original`, or for the loaded one if that is NULL. Returns -1 if the
/// library is not a module.
int load_library(const String& name, const String& file, const void* original, const LoadOptions& options, Library* out,
                 LoadResult* result) {
  LoadJournal journal;
  // This raises the loader's count, which does not matter, since libraries are never unmapped.
  bool is_loaded = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) != nullptr;
  Loading loading(name.c_str(), file, options.library.empty() ? std::string_view(file) : options.library,
                  options.overrides, is_loaded);
  result->handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (result->handle == nullptr) {
    journal.undo();
    return raise_load_failure(name);
  }
  result->base = base_of(result->handle);
  if (read_library(result->handle, result->base, file, out) != 0) {
    journal.undo();
    return -1;
  }
  auto check = [&] {
    if (int status = check_names(out->table)) return status;
    return options.exceptions != nullptr ? check_exceptions(out->table, *options.exceptions) : 0;
  };
  if (journal.error()->type_code == ANYFFI_NONE && guard(check) != 0) {
    // The names were valid at the first load, so either memory is exhausted, or C++ loaded the library first and it
    // works.
    if (is_loaded) return -1;
    AnyffiValue raised;
    anyffi_error_take_raised(&raised);
    journal.defer(raised, result->base);
  }
  if (journal.error()->type_code == ANYFFI_NONE) return 0;
  result->has_failed = true;
  journal.undo();
  // If a dependency failed, its error is permanent: its initialisers cannot run again.
  const void* failed = original != nullptr ? original : result->base;
  keep_load_error(failed, *journal.error());
  if (journal.base() == result->base) keep_undone_load(failed, journal);
  return 0;
}

int raise_load_error(const void* base) {
  anyffi_error_set_raised(find_load_error(base)->as_object);
  return -1;
}

/// Ends a new load of a library when the scope ends, also by an exception.
struct NewLoad {
  const void* base;
  void* copy = nullptr;
  bool has_failed = false;
  ~NewLoad() {
    if (!has_failed) end_new_load(base, copy);
  }
};

/// Loads a copy of a library whose initialisers failed, since they run only once.
int load_copy(const void* base, const String& file, const LoadOptions& options, Library* out) {
  NewLoad load{base};
  String copy;
  LoadResult result;
  int status = copy_library_file(file, &copy);
  if (status == 0) {
    status = load_library(copy, file, base, options, out, &result);
    unlink(copy.c_str());
  }
  load.has_failed = result.has_failed;
  if (load.has_failed) return raise_load_error(base);
  if (status == 0) load.copy = result.handle;
  return status;
}

}  // namespace

int open_library(const AnyffiValue* path, const LoadOptions& options, Library* out) {
  String file;
  if (path_to_native(path, &file) != 0) return -1;
  // For a name without a slash, the loader would search its own directories.
  if (file.find('/') == String::npos) file.insert(0, "./");
  if (check_library_file(path, file) != 0) return -1;
  String name = file;
  bool is_new = false;
  if (choose_name(&name, &is_new) != 0) return -1;
  LoadResult result;
  if (load_library(name, file, nullptr, options, out, &result) != 0) {
    if (is_new && result.handle == nullptr) forget_name(name);
    return -1;
  }
  if (find_load_error(result.base)->type_code == ANYFFI_NONE) return 0;
  if (void* copy = find_replacement(result.base)) return read_library(copy, base_of(copy), file, out);
  if (!result.has_failed && begin_new_load(result.base)) return load_copy(result.base, file, options, out);
  return raise_load_error(result.base);
}

#if defined(__ELF__)

int find_program_function(const char* symbol, Library* out, AnyffiCall* call) {
  *call = nullptr;
  void* found = dlsym(dlopen(nullptr, RTLD_NOW), symbol);
  Dl_info info;
  ElfW(Sym)* entry = nullptr;
  link_map* owner = nullptr;
  if (found == nullptr || dladdr1(found, &info, reinterpret_cast<void**>(&entry), RTLD_DL_SYMENT) == 0 ||
      entry == nullptr || (entry->st_info & 15) != STT_FUNC ||
      dladdr1(found, &info, reinterpret_cast<void**>(&owner), RTLD_DL_LINKMAP) == 0) {
    return 0;
  }
  // The program itself has an empty name.
  void* handle = dlopen(owner->l_name[0] != 0 ? owner->l_name : nullptr, RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) return 0;
  if (read_library(handle, info.dli_fbase, info.dli_fname, out) != 0) return -1;
  *call = reinterpret_cast<AnyffiCall>(found);
  return 0;
}

#else

int find_program_function(const char*, Library*, AnyffiCall* call) {
  *call = nullptr;
  return 0;
}

#endif

}  // namespace anyffi::runtime
