/// \file
/// Modules: the functions of a shared library, or of the program itself, and of the modules that one imports.
#include <anyffi/inline.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "core/errors.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/object.h"
#include "core/owned.h"
#include "core/types.h"
#include "modules/library.h"
#include "modules/library_file.h"
#include "text/suggest.h"

namespace anyffi::runtime {
namespace {

struct Module {
  AnyffiObject header;
  AnyffiValue path; /* None: the program itself */
  Library library;
  String prefix;         /* of the names in the program */
  Vector<Owned> imports; /* guarded by `import_mutex` */
};

/// One for all modules, so that no two threads close a circle.
std::mutex& import_mutex() {
  static auto* mutex = new std::mutex();
  return *mutex;
}

struct SymbolFunction {
  AnyffiFunction base;
  AnyffiFunctionInfo info;
  AnyffiValue path; /* of the library; None: the program */
};

/// What is known for ever of libraries, which are never unmapped.
struct Known {
  using Symbol = std::pair<AnyffiCall, String>;
  std::mutex mutex;
  /// Functions made of plain symbols, so that a symbol means the same object each time.
  std::map<Symbol, Owned, std::less<>, Allocator<std::pair<const Symbol, Owned>>> functions;
  /// Tables of functions, and the paths that they were loaded from.
  std::map<const AnyffiModuleTable*, Owned, std::less<>, Allocator<std::pair<const AnyffiModuleTable* const, Owned>>>
      tables;
};

Known& known() {
  static auto* all = new Known();
  return *all;
}

void delete_module(AnyffiObject* self, int32_t what) {
  auto* module = reinterpret_cast<Module*>(self);
  if (what & ANYFFI_DELETE_CONTENTS) {
    anyffi_value_release(&module->path);
    module->imports.~Vector<Owned>();
    module->prefix.~String();
  }
  if (what & ANYFFI_DELETE_MEMORY) anyffi_free(self);
}

void delete_symbol_function(AnyffiObject* self, int32_t what) {
  if (what & ANYFFI_DELETE_CONTENTS) anyffi_value_release(&reinterpret_cast<SymbolFunction*>(self)->path);
  if (what & ANYFFI_DELETE_MEMORY) anyffi_free(self);
}

int create_module(const AnyffiValue* path, const Library& library, String prefix, AnyffiValue* out) {
  Owned owned_path;
  if (anyffi_value_own(path, owned_path.out()) != 0) return -1;
  auto* module = allocate_object<Module>(ANYFFI_MODULE, &delete_module);
  if (module == nullptr) return -1;
  module->path = owned_path.take();
  module->library = library;
  new (&module->prefix) String(std::move(prefix));
  new (&module->imports) Vector<Owned>();
  *out = anyffi_make_object(&module->header);
  return 0;
}

/// Notes where the functions of a table come from; the first path serves as well as any other.
int note_table(const AnyffiModuleTable* table, const AnyffiValue* path) {
  Owned kept;
  if (anyffi_value_own(path, kept.out()) != 0) return -1;
  std::lock_guard<std::mutex> lock(known().mutex);
  if (table != nullptr) known().tables.try_emplace(table, std::move(kept));
  return 0;
}

int load(const AnyffiValue* path, AnyffiValue* out) {
  Library library;
  if (open_library(path, &library) != 0 || note_table(library.table, path) != 0) return -1;
  return create_module(path, library, String(), out);
}

bool is_program(const Module& module) { return module.path.type_code == ANYFFI_NONE; }

Module* to_module(const Owned& value) { return reinterpret_cast<Module*>(value->as_object); }

/// A module and all that it imports, each once, in the order that they are asked for a function. All live as long as
/// the first one. Called with the lock held.
Vector<Module*> flatten_locked(Module* module) {
  Vector<Module*> flat;
  std::set<Module*, std::less<>, Allocator<Module*>> seen;
  Vector<Module*> waiting{module};
  while (!waiting.empty()) {
    Module* next = waiting.back();
    waiting.pop_back();
    if (!seen.insert(next).second) continue;
    flat.push_back(next);
    for (auto imported = next->imports.rbegin(); imported != next->imports.rend(); ++imported) {
      waiting.push_back(to_module(*imported));
    }
  }
  return flat;
}

Vector<Module*> flatten(Module* module) {
  std::lock_guard<std::mutex> lock(import_mutex());
  return flatten_locked(module);
}

int import_module(Module* module, Module* other) {
  anyffi_object_retain(&other->header);
  Owned kept(&other->header);
  std::lock_guard<std::mutex> lock(import_mutex());
  Vector<Module*> reached = flatten_locked(other);
  if (std::find(reached.begin(), reached.end(), module) != reached.end()) {
    return anyffi_error_raise("ValueError", "a module cannot import itself, nor one that imports it");
  }
  for (const Owned& imported : module->imports) {
    if (to_module(imported) == other) return 0;
  }
  module->imports.push_back(std::move(kept));
  return 0;
}

AnyffiObject* find_in_table(const AnyffiModuleTable* table, std::string_view name) {
  if (table == nullptr) return nullptr;
  for (const AnyffiModuleEntry* entry = *table->entries; entry != nullptr; entry = entry->next) {
    if (entry->function != nullptr && name == entry->name) return entry->function;
  }
  return nullptr;
}

/// Names of the module's own functions.
Vector<String> list_names(const Module& module) {
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

/// Names of all functions that a module gives, sorted.
Vector<String> list_all_names(Module* module) {
  Vector<String> names;
  for (Module* reached : flatten(module)) {
    for (String& name : list_names(*reached)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// One block for the function, its record and its name.
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

/// The function made of a symbol, the same one each time.
int get_symbol_function(const Module& module, const String& name, AnyffiCall call, AnyffiValue* out) {
  Known::Symbol symbol(call, name);
  {
    std::lock_guard<std::mutex> lock(known().mutex);
    auto found = known().functions.find(symbol);
    if (found != known().functions.end()) return anyffi_value_own(found->second.get(), out);
  }
  AnyffiObject* made = create_symbol_function(call, name, module.path);
  if (made == nullptr) return -1;
  Owned function(made);
  std::lock_guard<std::mutex> lock(known().mutex);
  auto place = known().functions.try_emplace(std::move(symbol), std::move(function)).first;
  return anyffi_value_own(place->second.get(), out);
}

/// The module's own function of a name; None in `out` if there is none.
int find_function(Module* module, const String& name, AnyffiValue* out) {
  Library library = module->library;
  AnyffiCall call = nullptr;
  String full = module->prefix + name;
  String symbol = String(kFunctionPrefix) + full;
  if (is_program(*module)) {
    if (find_program_function(symbol.c_str(), &library, &call) != 0) return -1;
    if (call == nullptr) return 0;
  }
  if (AnyffiObject* function = find_in_table(library.table, full)) {
    if (is_program(*module) && note_table(library.table, &module->path) != 0) return -1;
    anyffi_retain(function);
    *out = anyffi_make_object(function);
    return 0;
  }
  if (call == nullptr) {
    // Of plain symbols only the functions: calling a variable would end the process.
    Vector<String> names = list_names(*module);
    if (std::find(names.begin(), names.end(), name) == names.end()) return 0;
    call = reinterpret_cast<AnyffiCall>(dlsym(library.handle, symbol.c_str()));
    if (call == nullptr) return anyffi_error_raise("RuntimeError", "the library's tables contradict each other");
  }
  return get_symbol_function(*module, full, call, out);
}

int raise_no_function(Module* module, const String& name) {
  String place = "the program";
  if (!is_program(*module)) {
    place = "module '";
    append_text(&place, &module->path);
    place += "'";
  }
  return raise_text("AttributeError",
                    place + " has no function '" + name + "'" + did_you_mean(name, list_all_names(module)));
}

int get_function(Module* module, const AnyffiValue* name, AnyffiValue* out) {
  if (!anyffi_is_str(name->type_code)) return anyffi_error_raise("TypeError", "the name of a function is a str");
  String wanted;
  append_text(&wanted, name);
  for (Module* reached : flatten(module)) {
    if (find_function(reached, wanted, out) != 0) return -1;
    if (out->type_code != ANYFFI_NONE) return 0;
  }
  return raise_no_function(module, wanted);
}

int list_functions(Module* module, AnyffiValue* out) {
  Vector<String> names = list_all_names(module);
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

int list_imports(Module* module, AnyffiValue* out) {
  Vector<AnyffiValue> imports;
  {
    std::lock_guard<std::mutex> lock(import_mutex());
    for (const Owned& imported : module->imports) imports.push_back(*imported.get());
  }
  // The module holds them, and lets none go.
  return anyffi_sequence_create_from(ANYFFI_ARRAY, imports.data(), static_cast<int64_t>(imports.size()), out);
}

/// The path and name of a function of a module, or None.
int find_origin(const AnyffiObject* function, AnyffiValue* out) {
  AnyffiValue path{};
  const char* name = nullptr;
  if (function->deleter == &delete_symbol_function) {
    auto* symbol = reinterpret_cast<const SymbolFunction*>(function);
    path = symbol->path;
    name = symbol->info.name;
  } else {
    std::lock_guard<std::mutex> lock(known().mutex);
    for (const auto& [table, table_path] : known().tables) {
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

/// Two modules are equal if they are of one library, or both of the program, under one prefix.
int hash_module(const AnyffiValue* self, int64_t* out) {
  auto* module = reinterpret_cast<const Module*>(self->as_object);
  size_t number = is_program(*module) ? std::hash<std::string_view>()(module->prefix)
                                      : std::hash<void*>()(module->library.handle) >> 4;
  *out = static_cast<int64_t>(number >> 1);
  return 0;
}

int equal_modules(const AnyffiValue* a, const AnyffiValue* b, int32_t* out) {
  *out = 0;
  if (b->type_code != ANYFFI_MODULE) return 0;
  auto* first = reinterpret_cast<const Module*>(a->as_object);
  auto* second = reinterpret_cast<const Module*>(b->as_object);
  *out = is_program(*first) == is_program(*second) && first->library.handle == second->library.handle &&
         first->prefix == second->prefix;
  return 0;
}

[[maybe_unused]] const bool hooks_installed = install_type_hooks(ANYFFI_MODULE, {&hash_module, &equal_modules});

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
  *out = anyffi_make_none();
  return guard([&] { return load(&given, out); });
}

int anyffi_module_get_program(const AnyffiValue* prefix, AnyffiValue* out) {
  AnyffiValue given = *prefix;
  *out = anyffi_make_none();
  if (!anyffi_is_str(given.type_code)) return anyffi_error_raise("TypeError", "the prefix of names is a str");
  return guard([&] {
    String text;
    append_text(&text, &given);
    AnyffiValue path = anyffi_make_none();
    return create_module(&path, Library(), std::move(text), out);
  });
}

int anyffi_module_import(const AnyffiValue* module, const AnyffiValue* other) {
  Module* importer = as_module(module);
  Module* imported = importer != nullptr ? as_module(other) : nullptr;
  return imported != nullptr ? guard([&] { return import_module(importer, imported); }) : -1;
}

int anyffi_module_get_imports(const AnyffiValue* module, AnyffiValue* out) {
  Module* importer = as_module(module);
  *out = anyffi_make_none();
  return importer != nullptr ? guard([&] { return list_imports(importer, out); }) : -1;
}

int anyffi_module_get_function(const AnyffiValue* module, const AnyffiValue* name, AnyffiValue* out) {
  AnyffiValue wanted = *name;
  Module* loaded = as_module(module);
  *out = anyffi_make_none();
  return loaded != nullptr ? guard([&] { return get_function(loaded, &wanted, out); }) : -1;
}

int anyffi_module_list_functions(const AnyffiValue* module, AnyffiValue* out) {
  Module* loaded = as_module(module);
  *out = anyffi_make_none();
  return loaded != nullptr ? guard([&] { return list_functions(loaded, out); }) : -1;
}

int anyffi_module_get_path(const AnyffiValue* module, AnyffiValue* out) {
  Module* loaded = as_module(module);
  *out = anyffi_make_none();
  return loaded != nullptr ? anyffi_value_own(&loaded->path, out) : -1;
}

int anyffi_module_get_prefix(const AnyffiValue* module, AnyffiValue* out) {
  Module* loaded = as_module(module);
  *out = anyffi_make_none();
  if (loaded == nullptr) return -1;
  if (!is_program(*loaded)) return 0;
  return anyffi_str_from_utf8(loaded->prefix.data(), static_cast<int64_t>(loaded->prefix.size()), out);
}

int anyffi_module_find_origin(const AnyffiValue* function, AnyffiValue* out) {
  AnyffiValue given = *function;
  *out = anyffi_make_none();
  if (given.type_code != ANYFFI_FUNCTION) return anyffi_error_raise("TypeError", "expected a Function");
  return guard([&] { return find_origin(given.as_object, out); });
}
