/// \file
/// The table of types registered at run time, for the files that add to it.
#ifndef ANYFFI_SRC_CORE_TYPE_TABLE_H_
#define ANYFFI_SRC_CORE_TYPE_TABLE_H_

#include <anyffi/c_api.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "core/loading.h"
#include "core/memory.h"
#include "core/mutex.h"

namespace anyffi::runtime {

constexpr int32_t kChunkSize = 256;
constexpr int32_t kChunks = 1024;

/// Written under the mutex, read without it: a chunk never moves, and the count is published after the record.
struct DynamicTypes {
  struct Entry {
    int32_t code;
    Registrant registrant;
  };
  using Entries = std::map<std::string_view, Entry, std::less<>, Allocator<std::pair<const std::string_view, Entry>>>;
  using Definers = std::map<int32_t, Registrant, std::less<>, Allocator<std::pair<const int32_t, Registrant>>>;
  Mutex mutex;
  Entries entries;
  /// The registrant that defined a type, by type code.
  Definers definers;
  std::atomic<const AnyffiTypeInfo**> chunks[kChunks] = {};
  std::atomic<int32_t> count{0};
};

DynamicTypes& dynamic_types();

struct FreeMemory {
  void operator()(const void* memory) const noexcept { anyffi_free(const_cast<void*>(memory)); }
};

/// A prepared change of the table: `publish_type` cannot fail, since all memory is allocated. A change that is not
/// published has no effect.
struct TypeChange {
  int32_t type_code;
  std::unique_ptr<AnyffiTypeInfo, FreeMemory> record;
  /// NULL if the table has the chunk already. Freed if an earlier change allocated the same chunk.
  std::unique_ptr<const AnyffiTypeInfo*, FreeMemory> chunk;
  /// Empty if the type's key does not change.
  DynamicTypes::Entries::node_type entry;
  /// Empty if the type is not defined by this change.
  DynamicTypes::Definers::node_type definer;
};

/// The code that a new type gets after `num_before` others; ANYFFI_NONE if the table is full. The caller holds the
/// lock.
int32_t find_next_code(const DynamicTypes& types, int32_t num_before = 0) noexcept;

/// Prepares a new record of a type. May throw bad_alloc. The caller holds the lock until it has published the change.
TypeChange prepare_record(const AnyffiTypeInfo& given, const AnyffiTypeInfo& parent, int32_t type_code);

/// Prepares a new type with this code, found by its key. Otherwise as `prepare_record`. An existing type with the key
/// keeps its code, but is no longer found by the key.
TypeChange prepare_type(DynamicTypes& types, const AnyffiTypeInfo& given, const AnyffiTypeInfo& parent,
                        int32_t type_code, const Registrant& registrant);

/// Adds to a change that it defines the type. May throw bad_alloc.
void prepare_definer(TypeChange& change, const Registrant& definer);

/// Makes a change. New types are published in the order of their codes.
void publish_type(DynamicTypes& types, TypeChange change) noexcept;

/// The caller holds the lock.
bool is_defined(const DynamicTypes& types, int32_t type_code);

/// Raises a RuntimeError. Must be called without the lock. Always -1.
int raise_too_many_types();

/// Replaces the record of a type, which other threads may be reading. The caller holds the lock.
void publish_record(DynamicTypes& types, int32_t type_code, const AnyffiTypeInfo* record);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_TYPE_TABLE_H_
