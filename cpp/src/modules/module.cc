/// \file
/// Modules: the functions of a shared library or of the program, and of imported modules.
#include "modules/module.h"

#include <anyffi/inline.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>

#include "core/errors.h"
#include "core/immortal.h"
#include "core/messages.h"
#include "core/mutex.h"
#include "core/object.h"
#include "core/types.h"
#include "modules/classes.h"
#include "text/suggest.h"

namespace anyffi::runtime {
namespace {

/// One mutex for all modules, so that two threads cannot create an import cycle.
Mutex& import_mutex() {
  static Immortal<Mutex> mutex;
  return *mutex;
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

int load(const AnyffiValue* path, const LoadOptions& options, AnyffiValue* out) {
  Library library;
  if (open_library(path, options, &library) != 0 || record_table(library.table, path) != 0) return -1;
  return create_module(path, library, String(), out);
}

Module* to_module(const Owned& value) { return reinterpret_cast<Module*>(value->as_object); }

/// A module and its direct and indirect imports, each once, in the order of lookup. All live as long as the first.
/// Called with the lock held.
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
  std::lock_guard<Mutex> lock(import_mutex());
  return flatten_locked(module);
}

int import_module(Module* module, Module* other) {
  anyffi_object_retain(&other->header);
  Owned reference(&other->header);
  std::lock_guard<Mutex> lock(import_mutex());
  Vector<Module*> reached = flatten_locked(other);
  if (std::find(reached.begin(), reached.end(), module) != reached.end()) {
    return anyffi_error_raise("ValueError", "a module cannot import itself, nor one that imports it");
  }
  for (const Owned& imported : module->imports) {
    if (to_module(imported) == other) return 0;
  }
  module->imports.push_back(std::move(reference));
  return 0;
}

void sort_names(Vector<String>* names) {
  std::sort(names->begin(), names->end());
  names->erase(std::unique(names->begin(), names->end()), names->end());
}

/// The names of a module's functions, including those of its imports, sorted.
Vector<String> list_all_names(Module* module) {
  Vector<String> names;
  for (Module* reached : flatten(module)) {
    for (String& name : list_own_names(*reached)) names.push_back(std::move(name));
  }
  sort_names(&names);
  return names;
}

/// Calls `visit` with each class of a module and its attribute name, then with those of the imports, until it returns
/// true. Nested classes are left out.
template <class Visit>
void visit_classes(Module* module, Visit visit) {
  for (Module* reached : flatten(module)) {
    for (const AnyffiModuleClass* row = first_class(reached->library.table); row != nullptr; row = row->next) {
      const AnyffiTypeInfo* info = class_of(*row);
      if (info == nullptr || is_nested(*info)) continue;
      if (visit(*info, attribute_of_class(*info, reached->library.table))) return;
    }
  }
}

/// The names of the classes of a module and of its imports, sorted.
Vector<String> list_class_names(Module* module) {
  Vector<String> names;
  visit_classes(module, [&](const AnyffiTypeInfo&, const String& name) {
    names.push_back(name);
    return false;
  });
  sort_names(&names);
  return names;
}

int raise_no_function(Module* module, const String& name) {
  String place = "the program";
  if (!is_program(*module)) {
    place = "module '";
    append_text(&place, &module->path);
    place += "'";
  }
  Vector<String> known = list_all_names(module);
  for (String& other : list_class_names(module)) known.push_back(std::move(other));
  return raise_text("AttributeError", place + " has no function '" + name + "'" + did_you_mean(name, known));
}

int get_function(Module* module, const AnyffiValue* name, AnyffiValue* out) {
  if (!anyffi_is_str(name->type_code)) return raise_about_type(name, "the name of a function must be a str, not %s");
  String wanted;
  append_text(&wanted, name);
  for (Module* reached : flatten(module)) {
    if (find_own_function(*reached, wanted, out) != 0) return -1;
    if (out->type_code != ANYFFI_NONE) return 0;
  }
  return raise_no_function(module, wanted);
}

int find_class(Module* module, const AnyffiValue* name, int32_t* out) {
  String wanted;
  append_text(&wanted, name);
  visit_classes(module, [&](const AnyffiTypeInfo& info, const String& known) {
    if (wanted != known) return false;
    *out = info.type_code;
    return true;
  });
  return 0;
}

int list_names(const Vector<String>& names, AnyffiValue* out) {
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
    std::lock_guard<Mutex> lock(import_mutex());
    for (const Owned& imported : module->imports) imports.push_back(*imported.get());
  }
  // The module owns its imports, which are never removed.
  return anyffi_sequence_create_from(ANYFFI_ARRAY, imports.data(), static_cast<int64_t>(imports.size()), out);
}

/// Modules are equal if they have the same library, or are both the program, and have the same prefix.
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

int load_module(const AnyffiValue& path, const AnyffiValue& library, bool overrides, const Vector<String>* exceptions,
                AnyffiValue* out) noexcept {
  AnyffiValue given = path, given_library = library;
  *out = anyffi_make_none();
  if (!anyffi_is_str(given_library.type_code)) {
    return anyffi_error_raise("TypeError", "the name of a library must be a str");
  }
  return guard([&] {
    String name;
    append_text(&name, &given_library);
    return load(&given, LoadOptions{name, overrides, exceptions}, out);
  });
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_module_load(const AnyffiValue* path, AnyffiValue* out) {
  AnyffiValue given = *path;
  *out = anyffi_make_none();
  return guard([&] { return load(&given, LoadOptions(), out); });
}

int anyffi_module_load_version(const AnyffiValue* path, const AnyffiValue* library, int32_t override_existing,
                               AnyffiValue* out) {
  return load_module(*path, *library, override_existing != 0, nullptr, out);
}

int anyffi_module_get_program(const AnyffiValue* prefix, AnyffiValue* out) {
  AnyffiValue given = *prefix;
  *out = anyffi_make_none();
  if (!anyffi_is_str(given.type_code)) return anyffi_error_raise("TypeError", "the prefix of names must be a str");
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
  return loaded != nullptr ? guard([&] { return list_names(list_all_names(loaded), out); }) : -1;
}

int anyffi_module_find_class(const AnyffiValue* module, const AnyffiValue* name, int32_t* out) {
  Module* loaded = as_module(module);
  *out = ANYFFI_NONE;
  return loaded != nullptr ? guard([&] { return find_class(loaded, name, out); }) : -1;
}

int anyffi_module_list_classes(const AnyffiValue* module, AnyffiValue* out) {
  Module* loaded = as_module(module);
  *out = anyffi_make_none();
  return loaded != nullptr ? guard([&] { return list_names(list_class_names(loaded), out); }) : -1;
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
