/// \file
/// The table of types: the fixed ones, and those that are registered at run time.
#include "core/types.h"

#include <anyffi/host_api.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "core/errors.h"
#include "core/loading.h"
#include "core/memory.h"
#include "core/same_types.h"
#include "core/type_rows.h"

namespace anyffi::runtime {
namespace {

constexpr int32_t kChunkSize = 256;
constexpr int32_t kChunks = 1024;

/// Written under the mutex, read without it: a chunk never moves, and the count is published after the record.
struct DynamicTypes {
  struct Entry {
    int32_t code;
    Registrant registrant;
  };
  std::mutex mutex;
  std::map<std::string_view, Entry, std::less<>, Allocator<std::pair<const std::string_view, Entry>>> entries;
  /// Who defined a type, by its code.
  std::map<int32_t, Registrant, std::less<>, Allocator<std::pair<const int32_t, Registrant>>> definers;
  std::atomic<const AnyffiTypeInfo**> chunks[kChunks] = {};
  std::atomic<int32_t> count{0};
};

/// AnyffiInstanceFlag of each registered type; zero for others.
uint8_t instance_flags[kChunkSize * kChunks];

/// Never destroyed: objects may be released while the process exits.
DynamicTypes& dynamic_types() {
  static auto* types = new DynamicTypes();
  return *types;
}

/// Copies a record into one block with the codes of its ancestors.
AnyffiTypeInfo* copy_record(const AnyffiTypeInfo& given, const AnyffiTypeInfo& parent, int32_t code) {
  auto ancestors_size = (static_cast<size_t>(parent.depth) + 1) * sizeof(int32_t);
  void* memory = anyffi_alloc(sizeof(AnyffiTypeInfo) + ancestors_size);
  if (memory == nullptr) throw std::bad_alloc();
  auto* record = new (memory) AnyffiTypeInfo(given);
  auto* ancestors = reinterpret_cast<int32_t*>(record + 1);
  std::copy(parent.ancestors, parent.ancestors + parent.depth, ancestors);
  ancestors[parent.depth] = parent.type_code;
  record->struct_size = sizeof(AnyffiTypeInfo);
  record->type_code = record->family = code;
  record->parent = parent.type_code;
  record->storage = ANYFFI_STORAGE_OBJECT;
  record->depth = parent.depth + 1;
  record->ancestors = ancestors;
  if (record->python_name == nullptr) {
    const char* dot = std::strrchr(record->type_key, '.');
    record->python_name = dot != nullptr ? dot + 1 : record->type_key;
  }
  return record;
}

bool is_defined(const DynamicTypes& types, int32_t type_code) {
  return types.definers.find(type_code) != types.definers.end();
}

/// Adds a type, which is found by its key from now on, and returns its code; ANYFFI_NONE if there are too many. The
/// caller holds the lock.
int32_t append_type(DynamicTypes& types, const AnyffiTypeInfo& given, const AnyffiTypeInfo& parent,
                    const Registrant& registrant) {
  int32_t index = types.count.load(std::memory_order_relaxed);
  if (index == kChunkSize * kChunks) return ANYFFI_NONE;
  auto& chunk = types.chunks[index / kChunkSize];
  if (chunk.load(std::memory_order_relaxed) == nullptr) {
    chunk.store(Allocator<const AnyffiTypeInfo*>().allocate(kChunkSize), std::memory_order_release);
  }
  int32_t code = ANYFFI_FIRST_DYNAMIC_TYPE + index;
  AnyffiTypeInfo* record = copy_record(given, parent, code);
  try {
    // The type of an earlier version of the library keeps its code, but is no longer found by its key.
    types.entries.insert_or_assign(record->type_key, DynamicTypes::Entry{code, registrant});
  } catch (...) {
    anyffi_free(record);
    throw;
  }
  if (parent.type_code >= ANYFFI_FIRST_DYNAMIC_TYPE) {
    instance_flags[index] = instance_flags[parent.type_code - ANYFFI_FIRST_DYNAMIC_TYPE];
  }
  chunk.load(std::memory_order_relaxed)[index % kChunkSize] = record;
  types.count.store(index + 1, std::memory_order_release);
  return code;
}

/// A copy of a record of a library, which may have been built with another header.
AnyffiTypeInfo read_record(const AnyffiTypeInfo& info) {
  AnyffiTypeInfo given{};
  std::memcpy(static_cast<void*>(&given), &info, std::min<size_t>(info.struct_size, sizeof(given)));
  return given;
}

int register_type(const AnyffiTypeInfo& info, const Registrant& registrant, int32_t* out_type_code) {
  AnyffiTypeInfo given = read_record(info);
  if (given.type_key == nullptr || given.type_key[0] == '\0') {
    return anyffi_error_raise("ValueError", "a type needs a type key");
  }
  // The runtime and front ends may append private fields to those of a fixed type.
  const AnyffiTypeInfo* parent = anyffi_type_get_info(given.parent);
  if (parent == nullptr || (given.parent != ANYFFI_OBJECT && given.parent < ANYFFI_FIRST_DYNAMIC_TYPE)) {
    return raise_format("ValueError", "type '%s' cannot derive from %s: only from Object and types that derive from it",
                        given.type_key, parent == nullptr ? "an unknown type" : parent->type_key);
  }
  if (find_fixed(given.type_key) != nullptr) {
    return raise_format("ValueError", "type key '%s' is reserved for the runtime", given.type_key);
  }
  DynamicTypes& types = dynamic_types();
  std::unique_lock<std::mutex> lock(types.mutex);
  auto known = types.entries.find(given.type_key);
  if (known != types.entries.end()) {
    const AnyffiTypeInfo* former = anyffi_type_get_info(known->second.code);
    bool is_followed = known->second.registrant.is_followed_by(registrant);
    // Objects of one version of a class may stand for those of another if also the fields are the same; those of a type
    // that was defined are compared when it is defined again.
    bool may_stay = !is_followed || is_defined(types, former->type_code) || are_same_fields(*former, given);
    if (is_same_class(*former, given) && may_stay) {
      if (is_followed) known->second.registrant = registrant;
      *out_type_code = former->type_code;
      return 0;
    }
    if (!is_followed) {
      lock.unlock();
      return raise_other_class(*former, given);
    }
  }
  int32_t code = append_type(types, given, *parent, registrant);
  if (code == ANYFFI_NONE) {
    lock.unlock();
    return anyffi_error_raise("RuntimeError", "too many types");
  }
  *out_type_code = code;
  return 0;
}

/// Replaces the record of a type, which others may be reading. The caller holds the lock.
void publish(DynamicTypes& types, int32_t type_code, const AnyffiTypeInfo* record) {
  int32_t index = type_code - ANYFFI_FIRST_DYNAMIC_TYPE;
  const AnyffiTypeInfo** chunk = types.chunks[index / kChunkSize].load(std::memory_order_relaxed);
  __atomic_store_n(&chunk[index % kChunkSize], record, __ATOMIC_RELEASE);
}

int raise_defined_twice(const AnyffiTypeInfo& type) {
  return raise_format("ValueError", "type '%s' is defined twice by one library", type.type_key);
}

int raise_defined_by_library(const AnyffiTypeInfo& type) {
  return raise_format("ValueError", "type '%s' is already defined by a library; give one of them another key",
                      type.type_key);
}

}  // namespace

int declare_type(AnyffiTypeInfo given, AnyffiFieldInfo* fields, int32_t* out_type_code) {
  const AnyffiTypeInfo* parent = anyffi_type_get_info(given.parent);
  if (find_fixed(given.type_key) != nullptr) {
    return raise_format("ValueError", "type key '%s' is reserved for the runtime", given.type_key);
  }
  DynamicTypes& types = dynamic_types();
  std::unique_lock<std::mutex> lock(types.mutex);
  int32_t code = ANYFFI_NONE;
  auto known = types.entries.find(given.type_key);
  if (known != types.entries.end()) {
    const AnyffiTypeInfo& former = *anyffi_type_get_info(known->second.code);
    AnyffiTypeInfo compared = given;
    compared.fields = fields;
    bool is_same = is_same_class(former, given);
    if (former.record == nullptr && (!is_same || is_defined(types, former.type_code))) {
      lock.unlock();
      return is_same ? raise_defined_by_library(given) : raise_other_class(former, given);
    }
    if (former.record == nullptr || (is_same && are_same_fields(former, compared))) code = former.type_code;
  }
  if (code == ANYFFI_NONE) {
    AnyffiTypeInfo bare = given;
    bare.num_fields = 0;
    code = append_type(types, bare, *parent, Registrant());
    if (code == ANYFFI_NONE) {
      lock.unlock();
      return anyffi_error_raise("RuntimeError", "too many types");
    }
  }
  for (int32_t i = 0; i < given.num_fields; ++i) fields[i].type_code = code;
  given.fields = fields;
  types.definers.insert_or_assign(code, Registrant());
  *out_type_code = code;
  publish(types, code, copy_record(given, *parent, code));
  return 0;
}

int define_type(const AnyffiTypeInfo& info, const Registrant& registrant, int32_t* type_code, FormerType* former) {
  DynamicTypes& types = dynamic_types();
  const AnyffiTypeInfo* current = *type_code < ANYFFI_FIRST_DYNAMIC_TYPE ? nullptr : anyffi_type_get_info(*type_code);
  if (current == nullptr) return anyffi_error_raise("ValueError", "only types registered at run time can be defined");
  const AnyffiTypeInfo defined = read_record(info);
  AnyffiTypeInfo given = *current;
  given.doc = defined.doc;
  given.fields = defined.fields;
  given.num_fields = defined.num_fields;
  given.methods = defined.methods;
  given.num_methods = defined.num_methods;
  given.visit_children = defined.visit_children;
  if (defined.hash != nullptr) given.hash = defined.hash;
  if (defined.equal != nullptr) given.equal = defined.equal;
  std::unique_lock<std::mutex> lock(types.mutex);
  auto definer = types.definers.find(*type_code);
  bool was_defined = definer != types.definers.end();
  if (was_defined && !definer->second.is_followed_by(registrant)) {
    bool is_same = registrant.load != 0 && definer->second.load == registrant.load;
    lock.unlock();
    return is_same ? raise_defined_twice(given) : 0;
  }
  const AnyffiTypeInfo& parent = *anyffi_type_get_info(given.parent);
  if (was_defined && !are_same_fields(*current, given)) {
    *type_code = append_type(types, given, parent, registrant);
    types.definers.insert_or_assign(*type_code, registrant);
    return 0;
  }
  Registrant former_definer = was_defined ? definer->second : Registrant();
  AnyffiTypeInfo* record = copy_record(given, parent, *type_code);
  try {
    types.definers.insert_or_assign(*type_code, registrant);
  } catch (...) {
    anyffi_free(record);
    throw;
  }
  *former = FormerType{current, was_defined, former_definer};
  publish(types, *type_code, record);
  return 0;
}

void restore_type(const FormerType& former) noexcept {
  DynamicTypes& types = dynamic_types();
  std::lock_guard<std::mutex> lock(types.mutex);
  int32_t type_code = former.record->type_code;
  publish(types, type_code, former.record);
  auto definer = types.definers.find(type_code);
  if (definer == types.definers.end()) return;
  if (former.was_defined) {
    definer->second = former.definer;
  } else {
    types.definers.erase(definer);
  }
}

bool install_type_hooks(int32_t type_code, const TypeHooks& hooks) noexcept {
  AnyffiTypeInfo& row = fixed_rows[row_of(type_code)];
  if (hooks.hash != nullptr) row.hash = hooks.hash;
  if (hooks.equal != nullptr) row.equal = hooks.equal;
  if (hooks.visit_children != nullptr) row.visit_children = hooks.visit_children;
  if (hooks.repr != nullptr) row.repr = hooks.repr;
  return true;
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

const AnyffiTypeInfo* anyffi_type_get_info(int32_t type_code) {
  if (type_code > -kInlineRows && type_code <= kLastFixedObject) return &fixed_rows[row_of(type_code)];
  if (type_code < ANYFFI_FIRST_DYNAMIC_TYPE) return nullptr;
  int32_t index = type_code - ANYFFI_FIRST_DYNAMIC_TYPE;
  DynamicTypes& types = dynamic_types();
  if (index >= types.count.load(std::memory_order_acquire)) return nullptr;
  const AnyffiTypeInfo** chunk = types.chunks[index / kChunkSize].load(std::memory_order_acquire);
  return __atomic_load_n(&chunk[index % kChunkSize], __ATOMIC_ACQUIRE);
}

const AnyffiTypeInfo* anyffi_type_find(const char* type_key) {
  if (const AnyffiTypeInfo* row = find_fixed(type_key)) return row;
  DynamicTypes& types = dynamic_types();
  std::lock_guard<std::mutex> lock(types.mutex);
  auto found = types.entries.find(type_key);
  return found != types.entries.end() ? anyffi_type_get_info(found->second.code) : nullptr;
}

int anyffi_type_register(const AnyffiTypeInfo* info, int32_t* out_type_code) {
  *out_type_code = ANYFFI_NONE;
  // Classes are registered at their first use, mostly after the load.
  Registrant registrant = Loading::find_owner(__builtin_return_address(0));
  return guard([&] { return register_type(*info, registrant, out_type_code); });
}

int32_t anyffi_type_is_a(int32_t type_code, int32_t ancestor) {
  if (type_code == ancestor) return 1;
  if (type_code <= ANYFFI_OBJECT || ancestor <= 0) return 0;
  if (ancestor == ANYFFI_OBJECT) return 1;
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  const AnyffiTypeInfo* wanted = anyffi_type_get_info(ancestor);
  return info != nullptr && wanted != nullptr && wanted->depth < info->depth &&
         info->ancestors[wanted->depth] == ancestor;
}

const AnyffiFieldInfo* anyffi_type_find_field(int32_t type_code, const char* name) {
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  for (int32_t depth = info == nullptr ? -1 : info->depth; depth >= 0; --depth) {
    const AnyffiTypeInfo* owner = depth == info->depth ? info : anyffi_type_get_info(info->ancestors[depth]);
    for (int32_t i = owner->num_fields - 1; i >= 0; --i) {
      if (std::strcmp(owner->fields[i].name, name) == 0) return &owner->fields[i];
    }
  }
  return nullptr;
}

void* anyffi_instance_get_content(const AnyffiObject* object, int32_t type_code) {
  auto* content = static_cast<char*>(reinterpret_cast<const AnyffiInstance*>(object)->content);
  const AnyffiTypeInfo* info = anyffi_type_get_info(object->type_code);
  while (info != nullptr && info->type_code != type_code && info->parent != info->type_code) {
    content += info->parent_offset;
    info = anyffi_type_get_info(info->parent);
  }
  return content;
}

int32_t anyffi_type_list(int32_t* out_codes, int32_t capacity) {
  int32_t num_dynamic = dynamic_types().count.load(std::memory_order_acquire);
  int32_t total = kFixedRows + num_dynamic;
  for (int32_t i = 0; i < total && i < capacity; ++i) {
    int32_t fixed = i < kInlineRows ? i - (kInlineRows - 1) : i - kInlineRows + 1;
    out_codes[i] = i < kFixedRows ? fixed : ANYFFI_FIRST_DYNAMIC_TYPE + (i - kFixedRows);
  }
  return total;
}

int32_t anyffi_type_get_family(int32_t type_code) {
  return type_code > -kInlineRows && type_code <= kLastFixedObject ? fixed_rows[row_of(type_code)].family : type_code;
}

int32_t anyffi_abi_get_version(void) { return ANYFFI_ABI_VERSION; }

void anyffi_type_add_instance_flags(int32_t type_code, uint8_t flags) {
  if (type_code < ANYFFI_FIRST_DYNAMIC_TYPE) return;
  DynamicTypes& types = dynamic_types();
  std::lock_guard<std::mutex> lock(types.mutex);
  int32_t count = types.count.load(std::memory_order_relaxed);
  for (int32_t i = type_code - ANYFFI_FIRST_DYNAMIC_TYPE; i < count; ++i) {
    if (!anyffi_type_is_a(ANYFFI_FIRST_DYNAMIC_TYPE + i, type_code)) continue;
    __atomic_fetch_or(&instance_flags[i], flags, __ATOMIC_RELAXED);
  }
}

const uint8_t* anyffi_type_get_instance_flags(int32_t type_code) {
  return &instance_flags[type_code - ANYFFI_FIRST_DYNAMIC_TYPE];
}
