/// \file
/// The global registry of functions by name.
#include "registry/registry.h"

#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <map>
#include <mutex>

#include "core/errors.h"
#include "core/immortal.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/mutex.h"
#include "core/owned.h"
#include "registry/journal.h"
#include "text/text.h"

namespace anyffi::runtime {
namespace {

AnyffiTextView text_of(const AnyffiValue& name) {
  AnyffiTextView text;
  anyffi_view_text(&name, &text);
  return text;
}

/// Orders by code point, as Python does, for all encodings.
struct NameLess {
  using is_transparent = void;
  bool operator()(const Owned& a, const Owned& b) const {
    return compare_text(text_of(*a.get()), text_of(*b.get())) < 0;
  }
  bool operator()(const Owned& a, const AnyffiTextView& b) const { return compare_text(text_of(*a.get()), b) < 0; }
  bool operator()(const AnyffiTextView& a, const Owned& b) const { return compare_text(a, text_of(*b.get())) < 0; }
};

struct Entry {
  Owned function;
  Registrant registrant;
};

using Functions = std::map<Owned, Entry, NameLess, Allocator<std::pair<const Owned, Entry>>>;

/// While the mutex is held, nothing is released and no error raised: both may call the host, which takes its lock, and
/// the thread with that lock may be waiting for this mutex.
struct Registry {
  Mutex mutex;
  Functions functions;
};

Registry& registry() {
  static Immortal<Registry> instance;
  return *instance;
}

int check_name(const AnyffiValue* name) {
  if (anyffi_is_str(name->type_code)) return 0;
  return raise_about_type(name, "the name of a function must be a str, not %s");
}

int raise_taken(const AnyffiValue* name) {
  String text;
  append_text(&text, name);
  return raise_format("ValueError", "function '%s' is already registered; override=True replaces it", text.c_str());
}

int set_function(const AnyffiValue* name, const AnyffiValue* function, bool override_existing,
                 const Registrant& registrant) {
  Owned key, value;
  if (anyffi_value_own(name, key.out()) != 0 || anyffi_value_own(function, value.out()) != 0) return -1;
  LoadJournal* journal = LoadJournal::current();
  if (journal != nullptr) journal->begin(*key.get(), *value.get());
  bool taken = false;
  Entry former;
  try {
    Registry& all = registry();
    std::lock_guard<Mutex> lock(all.mutex);
    auto [place, added] = all.functions.try_emplace(std::move(key));
    taken = !added && !override_existing && !Loading::is_overriding() &&
            !place->second.registrant.is_followed_by(registrant);
    if (!taken) former = std::exchange(place->second, Entry{std::move(value), registrant});
  } catch (...) {
    if (journal != nullptr) journal->cancel();
    throw;
  }
  if (taken) {
    raise_taken(name);
    if (journal != nullptr) journal->cancel(), journal->record_taken(*name);
    return -1;
  }
  if (journal != nullptr) journal->replaced(former.function.take(), former.registrant);
  return 0;
}

/// Copies all names, under the mutex.
Vector<Owned> copy_names() {
  Registry& all = registry();
  Vector<Owned> names;
  std::lock_guard<Mutex> lock(all.mutex);
  names.reserve(all.functions.size());
  for (const auto& [name, function] : all.functions) {
    anyffi_value_retain(name.get());
    names.emplace_back(*name.get());
  }
  return names;
}

}  // namespace

int registry_set(const AnyffiValue& name, const AnyffiValue& function, bool override_existing,
                 const void* in_library) noexcept {
  Registrant registrant = Loading::find_registrant(in_library);
  return guard([&] { return set_function(&name, &function, override_existing, registrant); });
}

void registry_restore(const AnyffiValue& name, const AnyffiValue& function, AnyffiValue former,
                      const Registrant& registrant) noexcept {
  Registry& all = registry();
  Entry former_entry{Owned(former), registrant};
  Functions::node_type dropped;
  std::lock_guard<Mutex> lock(all.mutex);
  auto place = all.functions.find(text_of(name));
  if (place == all.functions.end() || place->second.function->as_object != function.as_object) return;
  if (former.type_code == ANYFFI_NONE) {
    dropped = all.functions.extract(place);
  } else {
    std::swap(place->second, former_entry);
  }
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_registry_set(const AnyffiValue* name, const AnyffiValue* function, int32_t override_existing) {
  if (check_name(name) != 0) return -1;
  if (function->type_code != ANYFFI_FUNCTION) {
    return anyffi_error_raise("TypeError", "only a function can be registered");
  }
  return registry_set(*name, *function, override_existing != 0, __builtin_return_address(0));
}

int anyffi_registry_find(const AnyffiValue* name, AnyffiValue* out) {
  AnyffiValue wanted = *name;
  *out = anyffi_make_none();
  if (check_name(&wanted) != 0) return -1;
  Registry& all = registry();
  std::lock_guard<Mutex> lock(all.mutex);
  auto place = all.functions.find(text_of(wanted));
  if (place == all.functions.end()) return 0;
  const AnyffiValue* function = place->second.function.get();
  anyffi_value_retain(function);
  *out = *function;
  return 0;
}

int anyffi_registry_find_library(const AnyffiValue* name, AnyffiValue* out) {
  AnyffiValue wanted = *name;
  *out = anyffi_make_none();
  if (check_name(&wanted) != 0) return -1;
  Registrant registrant;
  {
    Registry& all = registry();
    std::lock_guard<Mutex> lock(all.mutex);
    auto place = all.functions.find(text_of(wanted));
    if (place != all.functions.end()) registrant = place->second.registrant;
  }
  std::string_view path = Loading::find_path(registrant);
  if (path.empty()) return 0;
  return guard([&] { return path_from_native(path, out); });
}

int anyffi_registry_remove(const AnyffiValue* name, int32_t* out_existed) {
  *out_existed = 0;
  if (check_name(name) != 0) return -1;
  Functions::node_type dropped;
  Registry& all = registry();
  std::lock_guard<Mutex> lock(all.mutex);
  auto place = all.functions.find(text_of(*name));
  if (place == all.functions.end()) return 0;
  dropped = all.functions.extract(place);
  *out_existed = 1;
  return 0;
}

int anyffi_registry_list(AnyffiValue* out) {
  *out = anyffi_make_none();
  return guard([&] {
    Vector<Owned> names = copy_names();
    Owned array;
    if (anyffi_sequence_create(ANYFFI_ARRAY, static_cast<int64_t>(names.size()), array.out()) != 0) return -1;
    auto* sequence = reinterpret_cast<AnyffiSequence*>(array->as_object);
    for (Owned& name : names) {
      sequence->type_mask |= anyffi_type_bit(name->type_code);
      sequence->data[sequence->size++] = name.take();
    }
    *out = array.take();
    return 0;
  });
}

void anyffi_registry_remove_host_functions(void) {
  Registry& all = registry();
  // Moves nodes, because that allocates nothing. The functions are released after the mutex.
  Functions dropped;
  std::lock_guard<Mutex> lock(all.mutex);
  for (auto place = all.functions.begin(); place != all.functions.end();) {
    auto next = std::next(place);
    if (reinterpret_cast<AnyffiFunction*>(place->second.function->as_object)->handle != nullptr) {
      dropped.insert(all.functions.extract(place));
    }
    place = next;
  }
}
