/// \file
/// The table of the types that are registered at run time, for those who add to it.
#ifndef ANYFFI_SRC_CORE_TYPE_TABLE_H_
#define ANYFFI_SRC_CORE_TYPE_TABLE_H_

#include <anyffi/c_api.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string_view>

#include "core/loading.h"
#include "core/memory.h"

namespace anyffi::runtime {

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

DynamicTypes& dynamic_types();

/// Adds a type, which is found by its key from now on, and returns its code; ANYFFI_NONE if there are too many. The
/// caller holds the lock.
int32_t append_type(DynamicTypes& types, const AnyffiTypeInfo& given, const AnyffiTypeInfo& parent,
                    const Registrant& registrant);

/// Copies a record into one block with the codes of its ancestors.
AnyffiTypeInfo* copy_record(const AnyffiTypeInfo& given, const AnyffiTypeInfo& parent, int32_t code);

/// Replaces the record of a type, which others may be reading. The caller holds the lock.
void publish_record(DynamicTypes& types, int32_t type_code, const AnyffiTypeInfo* record);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_TYPE_TABLE_H_
