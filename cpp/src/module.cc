/// \file
/// Shared libraries of users as modules. A library, once loaded, stays for ever.
#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>

#include "internal.h"

#if defined(__ELF__)
#include <link.h>
#endif

namespace anyffi::runtime {
namespace {

constexpr std::string_view kPrefix = "__anyffi_";

/// Functions made of plain symbols, so that a name means the same object each time.
using SymbolCache = std::map<String, Owned, std::less<>, Allocator<std::pair<const String, Owned>>>;

struct Module {
  AnyffiObject header;
  AnyffiValue path;
  void* library;
  const AnyffiModuleTable* table; /* NULL in plain C */
  std::mutex mutex;
  SymbolCache functions;
};

struct SymbolFunction {
  AnyffiFunction base;
  AnyffiFunctionInfo info;
};

void delete_module(AnyffiObject* self, int32_t what) {
  auto* module = reinterpret_cast<Module*>(self);
  if (what & ANYFFI_DELETE_CONTENTS) {
    anyffi_value_release(&module->path);
    module->functions.~SymbolCache();
    module->mutex.~mutex();
  }
  if (what & ANYFFI_DELETE_MEMORY) anyffi_free(self);
}

void delete_symbol_function(AnyffiObject* self, int32_t what) {
  if (what & ANYFFI_DELETE_MEMORY) anyffi_free(self);
}

/// Where a loaded library lies: what tells its own symbols from those of its dependencies.
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

int raise_load_failure(const String& file) {
  const char* given = dlerror();
  String reason = given != nullptr ? given : "the system gives no reason";
  // The loader's text begins with the path, in most cases.
  if (reason.compare(0, file.size() + 2, file + ": ") == 0) reason.erase(0, file.size() + 2);
  bool needs_runtime = reason.find("undefined symbol: anyffi_") != String::npos;
  return raise_format("OSError", "%s: %s%s", file.c_str(), reason.c_str(),
                      needs_runtime ? "; link the library with -lanyffi" : "");
}

/// ImportError unless the library was built for this version of the ABI.
int check_version(void* library, const void* base, const AnyffiModuleTable* table, const String& file) {
  auto* version = static_cast<const int32_t*>(find_own_symbol(library, base, "__anyffi_abi_version"));
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
  return 0;
}

Module* create_module(const AnyffiValue* path, void* library, const AnyffiModuleTable* table) {
  Owned owned_path;
  if (anyffi_value_own(path, owned_path.out()) != 0) return nullptr;
  auto* module = allocate_object<Module>(ANYFFI_MODULE, &delete_module);
  if (module == nullptr) return nullptr;
  module->path = owned_path.take();
  module->library = library;
  module->table = table;
  new (&module->mutex) std::mutex();
  new (&module->functions) SymbolCache();
  return module;
}

int load(const AnyffiValue* path, AnyffiValue* out) {
  String file;
  if (path_to_native(path, &file) != 0) return -1;
  // A path is a path: without a slash the loader would search its own directories.
  if (file.find('/') == String::npos) file.insert(0, "./");
  if (check_library_file(path, file) != 0) return -1;
  LoadJournal journal;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    journal.undo();
    return raise_load_failure(file);
  }
  const void* base = base_of(library);
  auto* table = static_cast<const AnyffiModuleTable*>(find_own_symbol(library, base, "__anyffi_module"));
  if (check_version(library, base, table, file) != 0) {
    journal.undo();
    return -1;
  }
  if (journal.error()->type_code != ANYFFI_NONE) {
    journal.undo();
    keep_load_error(base, *journal.error());
  }
  AnyffiValue error = find_load_error(base);
  if (error.type_code == ANYFFI_NONE) error = *journal.error();
  if (error.type_code != ANYFFI_NONE) {
    anyffi_error_set_raised(error.as_object);
    return -1;
  }
  Module* module = create_module(path, library, table);
  if (module == nullptr) return -1;
  *out = anyffi_object_inline(&module->header);
  return 0;
}

AnyffiObject* find_in_table(const Module& module, std::string_view name) {
  if (module.table == nullptr) return nullptr;
  for (const AnyffiModuleEntry* entry = *module.table->entries; entry != nullptr; entry = entry->next) {
    if (entry->function != nullptr && name == entry->name) return entry->function;
  }
  return nullptr;
}

Vector<String> list_names(const Module& module) {
  Vector<String> names;
  list_library_functions(module.library, kPrefix, &names);
  if (module.table != nullptr) {
    for (const AnyffiModuleEntry* entry = *module.table->entries; entry != nullptr; entry = entry->next) {
      if (entry->function != nullptr) names.emplace_back(entry->name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// One block for the function, its record and its name.
AnyffiObject* create_symbol_function(AnyffiCall call, const String& name) {
  auto* function = allocate_object<SymbolFunction>(ANYFFI_FUNCTION, &delete_symbol_function,
                                                   sizeof(SymbolFunction) + name.size() + 1);
  if (function == nullptr) return nullptr;
  auto* name_copy = reinterpret_cast<char*>(function + 1);
  std::memcpy(name_copy, name.c_str(), name.size() + 1);
  function->info = AnyffiFunctionInfo{};
  function->info.struct_size = sizeof(AnyffiFunctionInfo);
  function->info.flags = ANYFFI_VARIADIC;
  function->info.name = name_copy;
  function->base.call = call;
  function->base.self = nullptr;
  function->base.release_self = nullptr;
  function->base.info = &function->info;
  function->base.handle = nullptr;
  return &function->base.header;
}

int get_symbol_function(Module* module, const String& name, AnyffiValue* out) {
  {
    std::lock_guard<std::mutex> lock(module->mutex);
    auto known = module->functions.find(name);
    if (known != module->functions.end()) return anyffi_value_own(known->second.get(), out);
  }
  String symbol = String(kPrefix) + name;
  auto call = reinterpret_cast<AnyffiCall>(dlsym(module->library, symbol.c_str()));
  if (call == nullptr) return anyffi_error_raise("RuntimeError", "the library's tables contradict each other");
  AnyffiObject* made = create_symbol_function(call, name);
  if (made == nullptr) return -1;
  Owned function(made);
  std::lock_guard<std::mutex> lock(module->mutex);
  auto place = module->functions.try_emplace(name, std::move(function)).first;
  return anyffi_value_own(place->second.get(), out);
}

int raise_no_function(const Module& module, const String& name, const Vector<String>& names) {
  String path;
  append_text(&path, &module.path);
  return raise_format("AttributeError", "module '%s' has no function '%s'%s", path.c_str(), name.c_str(),
                      did_you_mean(name, names).c_str());
}

int get_function(Module* module, const AnyffiValue* name, AnyffiValue* out) {
  if (!anyffi_is_str(name->type_code)) return anyffi_error_raise("TypeError", "the name of a function is a str");
  String wanted;
  append_text(&wanted, name);
  if (AnyffiObject* function = find_in_table(*module, wanted)) {
    anyffi_retain_inline(function);
    *out = anyffi_object_inline(function);
    return 0;
  }
  // Of plain symbols only the functions: calling a variable would end the process.
  Vector<String> names = list_names(*module);
  if (!std::binary_search(names.begin(), names.end(), wanted)) return raise_no_function(*module, wanted, names);
  return get_symbol_function(module, wanted, out);
}

int list_functions(const Module& module, AnyffiValue* out) {
  Vector<String> names = list_names(module);
  Owned array;
  if (anyffi_sequence_create(ANYFFI_ARRAY, static_cast<int64_t>(names.size()), array.out()) != 0) return -1;
  int64_t index = 0;
  for (const String& name : names) {
    Owned text;
    if (str_from_utf8_escaped(name.data(), static_cast<int64_t>(name.size()), text.out()) != 0) return -1;
    if (anyffi_sequence_insert(array->as_object, index++, text.get()) != 0) return -1;
  }
  *out = array.take();
  return 0;
}

Module* as_module(const AnyffiValue* value) {
  if (value->type_code == ANYFFI_MODULE) return reinterpret_cast<Module*>(value->as_object);
  anyffi_error_raise("TypeError", "expected a Module");
  return nullptr;
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_module_load(const AnyffiValue* path, AnyffiValue* out) {
  AnyffiValue given = *path;
  *out = anyffi_none_inline();
  return guard([&] { return load(&given, out); });
}

int anyffi_module_get_function(const AnyffiValue* module, const AnyffiValue* name, AnyffiValue* out) {
  AnyffiValue wanted = *name;
  Module* loaded = as_module(module);
  *out = anyffi_none_inline();
  return loaded != nullptr ? guard([&] { return get_function(loaded, &wanted, out); }) : -1;
}

int anyffi_module_list(const AnyffiValue* module, AnyffiValue* out) {
  Module* loaded = as_module(module);
  *out = anyffi_none_inline();
  return loaded != nullptr ? guard([&] { return list_functions(*loaded, out); }) : -1;
}

int anyffi_module_get_path(const AnyffiValue* module, AnyffiValue* out) {
  Module* loaded = as_module(module);
  *out = anyffi_none_inline();
  return loaded != nullptr ? anyffi_value_own(&loaded->path, out) : -1;
}
