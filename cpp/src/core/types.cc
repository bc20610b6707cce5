/// \file
/// The table of types, the fixed ones and those that are registered at run time: changes, searches and reads.
#include "core/types.h"

#include <anyffi/host_api.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/immortal.h"
#include "core/mutex.h"
#include "core/type_rows.h"
#include "core/type_table.h"

namespace anyffi::runtime {
namespace {

/// AnyffiInstanceFlag of each registered type; zero for others.
uint8_t instance_flags[kChunkSize * kChunks];

/// The parent of each registered type, which never changes; ANYFFI_NONE for others.
int32_t parents[kChunkSize * kChunks];

/// Copies a record into one block with the codes of its ancestors.
std::unique_ptr<AnyffiTypeInfo, FreeMemory> copy_record(const AnyffiTypeInfo& given, const AnyffiTypeInfo& parent,
                                                        int32_t code) {
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
  if (record->python_name == nullptr) record->python_name = python_name_of(record->type_key);
  return std::unique_ptr<AnyffiTypeInfo, FreeMemory>(record);
}

std::atomic<const AnyffiTypeInfo**>& chunk_of(DynamicTypes& types, int32_t type_code) noexcept {
  return types.chunks[(type_code - ANYFFI_FIRST_DYNAMIC_TYPE) / kChunkSize];
}

/// A node for a map, which then takes it without an allocation.
template <class Map>
typename Map::node_type make_node(const typename Map::key_type& key, const typename Map::mapped_type& value) {
  Map made;
  made.emplace(key, value);
  return made.extract(made.begin());
}

/// Inserts a node, or gives its value to the one of the same key.
template <class Map>
void put_node(Map& map, typename Map::node_type node) noexcept {
  if (node.empty()) return;
  auto done = map.insert(std::move(node));
  if (!done.inserted) done.position->second = done.node.mapped();
}

}  // namespace

DynamicTypes& dynamic_types() {
  static Immortal<DynamicTypes> types;
  return *types;
}

const char* python_name_of(const char* type_key) noexcept {
  const char* dot = std::strrchr(type_key, '.');
  return dot != nullptr ? dot + 1 : type_key;
}

bool names_exception_base(const AnyffiFieldInfo& field) noexcept {
  // A data member has a getter, even if its class is called Exception.
  return field.get == nullptr && field.type_name != nullptr && std::strcmp(field.type_name, "Exception") == 0;
}

int32_t find_next_code(const DynamicTypes& types, int32_t num_before) noexcept {
  int32_t index = types.count.load(std::memory_order_relaxed) + num_before;
  return index < kChunkSize * kChunks ? ANYFFI_FIRST_DYNAMIC_TYPE + index : ANYFFI_NONE;
}

TypeChange prepare_record(const AnyffiTypeInfo& given, const AnyffiTypeInfo& parent, int32_t type_code) {
  return {type_code, copy_record(given, parent, type_code), {}, {}, {}};
}

TypeChange prepare_type(DynamicTypes& types, const AnyffiTypeInfo& given, const AnyffiTypeInfo& parent,
                        int32_t type_code, const Registrant& registrant) {
  TypeChange change = prepare_record(given, parent, type_code);
  if (chunk_of(types, type_code).load(std::memory_order_relaxed) == nullptr) {
    change.chunk.reset(Allocator<const AnyffiTypeInfo*>().allocate(kChunkSize));
  }
  change.entry = make_node<DynamicTypes::Entries>(change.record->type_key, DynamicTypes::Entry{type_code, registrant});
  return change;
}

void prepare_definer(TypeChange& change, const Registrant& definer) {
  change.definer = make_node<DynamicTypes::Definers>(change.type_code, definer);
}

void publish_type(DynamicTypes& types, TypeChange change) noexcept {
  put_node(types.entries, std::move(change.entry));
  put_node(types.definers, std::move(change.definer));
  auto& chunk = chunk_of(types, change.type_code);
  if (chunk.load(std::memory_order_relaxed) == nullptr) chunk.store(change.chunk.release(), std::memory_order_release);
  const AnyffiTypeInfo* record = change.record.release();
  publish_record(types, change.type_code, record);
  int32_t index = change.type_code - ANYFFI_FIRST_DYNAMIC_TYPE;
  if (index < types.count.load(std::memory_order_relaxed)) return;
  __atomic_store_n(&parents[index], record->parent, __ATOMIC_RELAXED);
  if (record->parent >= ANYFFI_FIRST_DYNAMIC_TYPE) {
    instance_flags[index] = instance_flags[record->parent - ANYFFI_FIRST_DYNAMIC_TYPE];
  }
  types.count.store(index + 1, std::memory_order_release);
}

void publish_record(DynamicTypes& types, int32_t type_code, const AnyffiTypeInfo* record) {
  int32_t index = type_code - ANYFFI_FIRST_DYNAMIC_TYPE;
  const AnyffiTypeInfo** chunk = chunk_of(types, type_code).load(std::memory_order_relaxed);
  __atomic_store_n(&chunk[index % kChunkSize], record, __ATOMIC_RELEASE);
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
  std::lock_guard<Mutex> lock(types.mutex);
  auto found = types.entries.find(type_key);
  return found != types.entries.end() ? anyffi_type_get_info(found->second.code) : nullptr;
}

int32_t anyffi_type_is_a(int32_t type_code, int32_t ancestor) {
  if (type_code == ancestor) return 1;
  if (type_code <= ANYFFI_OBJECT || ancestor <= 0) return 0;
  if (ancestor == ANYFFI_OBJECT) return 1;
  // Follows the parents first: this runs for each argument of a derived class, and most classes have at most one base.
  while (type_code >= ANYFFI_FIRST_DYNAMIC_TYPE) {
    if (type_code - ANYFFI_FIRST_DYNAMIC_TYPE >= kChunkSize * kChunks) return 0;
    type_code = __atomic_load_n(&parents[type_code - ANYFFI_FIRST_DYNAMIC_TYPE], __ATOMIC_RELAXED);
    if (type_code == ancestor) return 1;
  }
  if (type_code <= ANYFFI_OBJECT) return 0;
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
  void* content = reinterpret_cast<const AnyffiInstance*>(object)->content;
  const AnyffiTypeInfo* info = anyffi_type_get_info(object->type_code);
  while (info != nullptr && info->type_code != type_code && info->parent != info->type_code) {
    content =
        info->get_parent != nullptr ? info->get_parent(content) : static_cast<char*>(content) + info->parent_offset;
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
  std::lock_guard<Mutex> lock(types.mutex);
  int32_t count = types.count.load(std::memory_order_relaxed);
  for (int32_t i = type_code - ANYFFI_FIRST_DYNAMIC_TYPE; i < count; ++i) {
    if (!anyffi_type_is_a(ANYFFI_FIRST_DYNAMIC_TYPE + i, type_code)) continue;
    __atomic_fetch_or(&instance_flags[i], flags, __ATOMIC_RELAXED);
  }
}

const uint8_t* anyffi_type_get_instance_flags(int32_t type_code) {
  return &instance_flags[type_code - ANYFFI_FIRST_DYNAMIC_TYPE];
}
