/// \file
/// The functions that a module's own library defines.
#include <anyffi/inline.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "core/immortal.h"
#include "core/mutex.h"
#include "core/object.h"
#include "modules/library_file.h"
#include "modules/module.h"

namespace anyffi::runtime {
namespace {

struct SymbolFunction {
  AnyffiFunction base;
  AnyffiFunctionInfo info;
  AnyffiValue path; /* None: the program itself */
};

/// Records for libraries, which are never unmapped. Never destroyed.
struct Libraries {
  using Symbol = std::pair<AnyffiCall, String>;
  Mutex mutex;
  /// Function objects of plain symbols: each symbol always gives the same object.
  std::map<Symbol, Owned, std::less<>, Allocator<std::pair<const Symbol, Owned>>> functions;
  /// The paths that tables were loaded from.
  std::map<const AnyffiModuleTable*, Owned, std::less<>, Allocator<std::pair<const AnyffiModuleTable* const, Owned>>>
      tables;
};

Libraries& libraries() {
  static Immortal<Libraries> all;
  return *all;
}

void delete_symbol_function(AnyffiObject* self, int32_t what) {
  if (what & ANYFFI_DELETE_CONTENTS) anyffi_value_release(&reinterpret_cast<SymbolFunction*>(self)->path);
  if (what & ANYFFI_DELETE_MEMORY) anyffi_free(self);
}

AnyffiObject* find_in_table(const AnyffiModuleTable* table, std::string_view name) {
  if (table == nullptr) return nullptr;
  for (const AnyffiModuleEntry* entry = *table->entries; entry != nullptr; entry = entry->next) {
    if (entry->function != nullptr && name == entry->name) return entry->function;
  }
  return nullptr;
}

/// Allocates the function, its record and its name in one block.
AnyffiObject* create_symbol_function(AnyffiCall call, const String& name, const AnyffiValue& path) {
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
  anyffi_value_retain(&path);
  function->path = path;
  return &function->base.header;
}

/// The function of a symbol, the same object each time.
int get_symbol_function(const Module& module, const String& name, AnyffiCall call, AnyffiValue* out) {
  Libraries::Symbol symbol(call, name);
  {
    std::lock_guard<Mutex> lock(libraries().mutex);
    auto found = libraries().functions.find(symbol);
    if (found != libraries().functions.end()) return anyffi_value_own(found->second.get(), out);
  }
  AnyffiObject* made = create_symbol_function(call, name, module.path);
  if (made == nullptr) return -1;
  Owned function(made);
  std::lock_guard<Mutex> lock(libraries().mutex);
  auto place = libraries().functions.try_emplace(std::move(symbol), std::move(function)).first;
  return anyffi_value_own(place->second.get(), out);
}

}  // namespace

int record_table(const AnyffiModuleTable* table, const AnyffiValue* path) {
  Owned owned_path;
  if (anyffi_value_own(path, owned_path.out()) != 0) return -1;
  std::lock_guard<Mutex> lock(libraries().mutex);
  if (table != nullptr) libraries().tables.try_emplace(table, std::move(owned_path));
  return 0;
}

Vector<String> list_own_names(const Module& module) {
  Vector<String> names;
  if (is_program(module)) {
    list_program_functions(String(kFunctionPrefix) + module.prefix, &names);
  } else {
    list_library_functions(module.library.handle, kFunctionPrefix, &names);
  }
  if (module.library.table != nullptr) {
    for (const AnyffiModuleEntry* entry = *module.library.table->entries; entry != nullptr; entry = entry->next) {
      if (entry->function != nullptr) names.emplace_back(entry->name);
    }
  }
  return names;
}

int find_own_function(const Module& module, const String& name, AnyffiValue* out) {
  Library library = module.library;
  AnyffiCall call = nullptr;
  String full = module.prefix + name;
  String symbol = String(kFunctionPrefix) + full;
  if (is_program(module)) {
    if (find_program_function(symbol.c_str(), &library, &call) != 0) return -1;
    if (call == nullptr) return 0;
  }
  if (AnyffiObject* function = find_in_table(library.table, full)) {
    if (is_program(module) && record_table(library.table, &module.path) != 0) return -1;
    anyffi_retain(function);
    *out = anyffi_make_object(function);
    return 0;
  }
  if (call == nullptr) {
    // Only symbols of functions: calling a variable would crash.
    Vector<String> names = list_own_names(module);
    if (std::find(names.begin(), names.end(), name) == names.end()) return 0;
    call = reinterpret_cast<AnyffiCall>(dlsym(library.handle, symbol.c_str()));
    if (call == nullptr) return anyffi_error_raise("RuntimeError", "the symbol tables of the library are inconsistent");
  }
  return get_symbol_function(module, full, call, out);
}

int find_origin(const AnyffiObject* function, AnyffiValue* out) {
  AnyffiValue path{};
  const char* name = nullptr;
  if (function->deleter == &delete_symbol_function) {
    auto* symbol = reinterpret_cast<const SymbolFunction*>(function);
    path = symbol->path;
    name = symbol->info.name;
  } else {
    std::lock_guard<Mutex> lock(libraries().mutex);
    for (const auto& [table, table_path] : libraries().tables) {
      for (const AnyffiModuleEntry* entry = *table->entries; entry != nullptr && name == nullptr; entry = entry->next) {
        if (entry->function == function) path = *table_path.get(), name = entry->name;
      }
    }
  }
  if (name == nullptr) return 0;
  Owned text;
  if (anyffi_str_from_utf8(name, static_cast<int64_t>(std::strlen(name)), text.out()) != 0) return -1;
  AnyffiValue parts[] = {path, *text.get()};
  return anyffi_sequence_create_from(ANYFFI_ARRAY, parts, 2, out);
}

}  // namespace anyffi::runtime
