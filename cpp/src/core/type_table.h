/// \file
/// The table of the types that are registered at run time, for those who add to it.
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
  /// Who defined a type, by its code.
  Definers definers;
  std::atomic<const AnyffiTypeInfo**> chunks[kChunks] = {};
  std::atomic<int32_t> count{0};
};

DynamicTypes& dynamic_types();

struct FreeMemory {
  void operator()(const void* memory) const noexcept { anyffi_free(const_cast<void*>(memory)); }
};

/// A change of the table that is ready: `publish_type` cannot fail, since all memory is here. One that is not published
/// leaves nothing behind.
struct TypeChange {
  int32_t type_code;
  std::unique_ptr<AnyffiTypeInfo, FreeMemory> record;
  /// NULL: the table has the chunk. Freed if an earlier change has brought one.
  std::unique_ptr<const AnyffiTypeInfo*, FreeMemory> chunk;
  /// Empty: the type is found by its key as before.
  DynamicTypes::Entries::node_type entry;
  /// Empty: the type is not defined.
  DynamicTypes::Definers::node_type definer;
};

/// The code of the type that is published next but `num_before`; ANYFFI_NONE if there are too many. The caller holds
/// the lock.
int32_t find_next_code(const DynamicTypes& types, int32_t num_before = 0) noexcept;

/// Prepares a new record of a type. May throw bad_alloc. The caller holds the lock, until it has published the change.
TypeChange prepare_record(const AnyffiTypeInfo& given, const AnyffiTypeInfo& parent, int32_t type_code);

/// Prepares a new type of the code, which is found by its key. Otherwise as `prepare_record`. A type that has the key
/// already keeps its code, but is no longer found by it.
TypeChange prepare_type(DynamicTypes& types, const AnyffiTypeInfo& given, const AnyffiTypeInfo& parent,
                        int32_t type_code, const Registrant& registrant);

/// Lets a change define the type. May throw bad_alloc.
void prepare_definer(TypeChange& change, const Registrant& definer);

/// Makes a change. New types are published in the order of their codes.
void publish_type(DynamicTypes& types, TypeChange change) noexcept;

/// The caller holds the lock.
bool is_defined(const DynamicTypes& types, int32_t type_code);

/// Raises a RuntimeError, without the lock. Always -1.
int raise_too_many_types();

/// Replaces the record of a type, which others may be reading. The caller holds the lock.
void publish_record(DynamicTypes& types, int32_t type_code, const AnyffiTypeInfo* record);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_TYPE_TABLE_H_
