/// \file
/// Allocation of the runtime's objects.
#ifndef ANYFFI_SRC_CORE_OBJECT_H_
#define ANYFFI_SRC_CORE_OBJECT_H_

#include <anyffi/c_api.h>

#include <cstddef>
#include <cstdint>

#include "core/errors.h"
#include "core/memory.h"

namespace anyffi::runtime {

/// Fills the header of an object in its memory: one strong reference, owned by the caller.
template <class T>
T* begin_object(void* memory, int32_t type_code, void (*deleter)(AnyffiObject*, int32_t)) noexcept {
  auto* header = static_cast<AnyffiObject*>(memory);
  header->type_code = type_code;
  header->weak_count = 1;
  header->strong_count = 1;
  header->deleter = deleter;
  header->wrapper = nullptr;
  return static_cast<T*>(memory);
}

/// Allocates an object and fills its header: one strong reference, owned by the caller. NULL after MemoryError.
template <class T>
T* allocate_object(int32_t type_code, void (*deleter)(AnyffiObject*, int32_t), size_t size = sizeof(T)) noexcept {
  void* memory = allocate_block(size);
  if (memory == nullptr) {
    raise_no_memory();
    return nullptr;
  }
  return begin_object<T>(memory, type_code, deleter);
}

/// Frees the memory of an object; `size` is the size that it was allocated with.
template <class T>
void free_object(AnyffiObject* object, size_t size = sizeof(T)) noexcept {
  free_block(object, size);
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_OBJECT_H_
