/// \file
/// Array, List and Shape: their elements are in one block, which is allocated with the object and moves when it grows.
#include <anyffi/inline.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/errors.h"
#include "core/memory.h"
#include "core/object.h"
#include "core/value.h"
#include "values/containers.h"

namespace anyffi::runtime {
namespace {

constexpr int64_t kMaxCapacity = (PTRDIFF_MAX - sizeof(AnyffiSequence)) / sizeof(AnyffiValue);
/// The number of erased objects kept on the stack. They are released when the sequence is consistent again, since
/// finalizers may use it.
constexpr int64_t kErasedOnStack = 16;

AnyffiValue* inline_cells(AnyffiSequence* sequence) { return reinterpret_cast<AnyffiValue*>(sequence + 1); }

size_t cell_bytes(int64_t count) { return static_cast<size_t>(count) * sizeof(AnyffiValue); }

size_t sequence_bytes(int64_t capacity) { return sizeof(AnyffiSequence) + cell_bytes(capacity); }

void release_all(const AnyffiValue* cells, int64_t count) {
  for (int64_t i = 0; i < count; ++i) anyffi_value_drop(&cells[i]);
}

// Slow paths are separate functions in tail position, so that destroying a sequence of inline values saves no
// registers.

__attribute__((noinline)) void free_moved_sequence(AnyffiSequence* sequence, int32_t what) {
  if (what & ANYFFI_DELETE_CONTENTS) anyffi_free(sequence->data);
  // The size of the object's block is no longer known, so the block cannot go to a free list.
  if (what & ANYFFI_DELETE_MEMORY) anyffi_free(sequence);
}

void free_sequence(AnyffiSequence* sequence, int32_t what) {
  if (sequence->data != inline_cells(sequence)) return free_moved_sequence(sequence, what);
  if (what & ANYFFI_DELETE_MEMORY) free_block(sequence, sequence_bytes(sequence->capacity));
}

__attribute__((noinline)) void delete_sequence_of_objects(AnyffiSequence* sequence, int32_t what) {
  release_all(sequence->data, sequence->size);
  free_sequence(sequence, what);
}

void delete_sequence(AnyffiObject* self, int32_t what) {
  AnyffiSequence* sequence = as_sequence(self);
  if ((what & ANYFFI_DELETE_CONTENTS) && (sequence->type_mask & kObjectTypes)) {
    return delete_sequence_of_objects(sequence, what);
  }
  free_sequence(sequence, what);
}

int create_sequence(void* memory, int32_t type_code, int64_t capacity, AnyffiValue* out) {
  auto* sequence = begin_object<AnyffiSequence>(memory, type_code, &delete_sequence);
  sequence->data = inline_cells(sequence);
  sequence->size = 0;
  sequence->capacity = capacity;
  sequence->type_mask = 0;
  *out = anyffi_make_object(&sequence->header);
  return 0;
}

__attribute__((noinline)) int create_in_new_memory(int32_t type_code, int64_t capacity, AnyffiValue* out) {
  *out = anyffi_make_none();
  void* memory = allocate_new_block(sequence_bytes(capacity));
  return memory == nullptr ? raise_no_memory() : create_sequence(memory, type_code, capacity, out);
}

int set_capacity(AnyffiSequence* sequence, int64_t capacity) {
  auto* cells = capacity > kMaxCapacity ? nullptr : static_cast<AnyffiValue*>(anyffi_alloc(cell_bytes(capacity)));
  if (cells == nullptr) return raise_no_memory();
  if (sequence->size > 0) std::memcpy(cells, sequence->data, cell_bytes(sequence->size));
  if (sequence->data != inline_cells(sequence)) anyffi_free(sequence->data);
  sequence->data = cells;
  sequence->capacity = capacity;
  return 0;
}

__attribute__((noinline)) int grow(AnyffiSequence* sequence) {
  // Doubles while that adds less than 64 KB, then grows by half.
  int64_t size = sequence->size, more = size < 4096 ? size : size / 2;
  return set_capacity(sequence, size + std::max<int64_t>(more, 4));
}

__attribute__((noinline)) int raise_no_index() {
  return anyffi_error_raise("IndexError", "sequence index out of range");
}

__attribute__((noinline)) int raise_bad_create(int64_t capacity, AnyffiValue* out) {
  *out = anyffi_make_none();
  if (capacity > kMaxCapacity) return raise_no_memory();
  return anyffi_error_raise("ValueError",
                            "expected the type code of an Array, List or Shape, and a capacity of at least 0");
}

/// The slow path of insertion; `anyffi_sequence_insert` appends inline values itself if there is room.
__attribute__((noinline)) int insert(AnyffiSequence* sequence, int64_t index, const AnyffiValue* value) {
  if (static_cast<uint64_t>(index) > static_cast<uint64_t>(sequence->size)) return raise_no_index();
  // Copied first, because the value may be an element of this sequence.
  AnyffiValue owned;
  if (own_value(value, &owned) != 0) return -1;
  if (sequence->size == sequence->capacity && grow(sequence) != 0) {
    anyffi_value_drop(&owned);
    return -1;
  }
  AnyffiValue* cell = sequence->data + index;
  if (index < sequence->size) std::memmove(cell + 1, cell, cell_bytes(sequence->size - index));
  *cell = owned;
  ++sequence->size;
  anyffi_add_types(&sequence->header, &sequence->type_mask, anyffi_type_bit(owned.type_code));
  return 0;
}

/// Empties the sequence before it releases the elements, since finalizers may use it.
void clear(AnyffiSequence* sequence) {
  AnyffiValue* cells = sequence->data;
  int64_t size = sequence->size;
  int64_t capacity = sequence->capacity;
  bool has_objects = (sequence->type_mask & kObjectTypes) != 0;
  sequence->size = 0;
  // Must happen before the mark is cleared.
  if (sequence->type_mask & ANYFFI_CHECKED) anyffi_container_forget_checks(&sequence->header);
  sequence->type_mask = 0;
  if (!has_objects) return;
  sequence->data = nullptr;
  sequence->capacity = 0;
  release_all(cells, size);
  if (sequence->data == nullptr) {
    sequence->data = cells;
    sequence->capacity = capacity;
  } else if (cells != inline_cells(sequence)) {
    anyffi_free(cells);
  }
}

}  // namespace

int copy_sequence(const AnyffiSequence* from, int32_t type_code, AnyffiValue* out) noexcept {
  if (anyffi_sequence_create(type_code, from->size, out) != 0) return -1;
  AnyffiSequence* copy = as_sequence(out->as_object);
  if (from->size > 0) std::memcpy(copy->data, from->data, cell_bytes(from->size));
  copy->size = from->size;
  copy->type_mask = from->type_mask & ~ANYFFI_CHECKED;
  if (from->type_mask & kObjectTypes) {
    for (int64_t i = 0; i < copy->size; ++i) anyffi_value_retain(&copy->data[i]);
  }
  return 0;
}

int splice_sequence(AnyffiSequence* sequence, int64_t index, int64_t count, const AnyffiValue* cells,
                    int64_t num_cells) noexcept {
  int64_t size = sequence->size;
  if (index < 0 || count < 0 || index > size || count > size - index) return raise_no_index();
  if (num_cells > kMaxCapacity - size) return raise_no_memory();
  int64_t new_size = size - count + num_cells;
  if (new_size > sequence->capacity && set_capacity(sequence, std::max(new_size, size + size / 2)) != 0) return -1;
  AnyffiValue on_stack[kErasedOnStack];
  AnyffiValue* erased = on_stack;
  int64_t num_erased = 0;
  AnyffiValue* first = sequence->data + index;
  if (sequence->type_mask & kObjectTypes) {
    if (count > kErasedOnStack) erased = static_cast<AnyffiValue*>(anyffi_alloc(cell_bytes(count)));
    if (erased == nullptr) return raise_no_memory();
    for (int64_t i = 0; i < count; ++i) {
      if (first[i].type_code > 0) erased[num_erased++] = first[i];
    }
  }
  std::memmove(first + num_cells, first + count, cell_bytes(size - index - count));
  for (int64_t i = 0; i < num_cells; ++i) {
    first[i] = cells[i];
    anyffi_value_retain(&cells[i]);
    anyffi_add_types(&sequence->header, &sequence->type_mask, anyffi_type_bit(cells[i].type_code));
  }
  sequence->size = new_size;
  release_all(erased, num_erased);
  if (erased != on_stack) anyffi_free(erased);
  return 0;
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_sequence_create(int32_t type_code, int64_t capacity, AnyffiValue* out) {
  if (!is_sequence(type_code) || static_cast<uint64_t>(capacity) > static_cast<uint64_t>(kMaxCapacity)) {
    return raise_bad_create(capacity, out);
  }
  void* memory = pop_free_block(sequence_bytes(capacity));
  // A tail call, so that the fast path saves no registers.
  if (memory == nullptr) return create_in_new_memory(type_code, capacity, out);
  return create_sequence(memory, type_code, capacity, out);
}

int anyffi_sequence_insert(AnyffiObject* object, int64_t index, const AnyffiValue* value) {
  AnyffiSequence* sequence = as_sequence(object);
  int64_t size = sequence->size;
  bool counted = value->type_code > ANYFFI_BOX;
  if (index != size || size == sequence->capacity || !(counted || is_plain(*value))) {
    return insert(sequence, index, value);
  }
  if (counted) anyffi_retain(value->as_object);
  AnyffiValue* cell = sequence->data + size;
  anyffi_copy_value(value, cell);
  // Clears the flags that an argument may have.
  if (counted) cell->aux = 0;
  sequence->size = size + 1;
  anyffi_add_types(object, &sequence->type_mask, anyffi_type_bit(value->type_code));
  return 0;
}

int anyffi_sequence_set(AnyffiObject* object, int64_t index, const AnyffiValue* value) {
  AnyffiSequence* sequence = as_sequence(object);
  if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(sequence->size)) return raise_no_index();
  AnyffiValue owned;
  if (own_value(value, &owned) != 0) return -1;
  AnyffiValue former = std::exchange(sequence->data[index], owned);
  anyffi_add_types(&sequence->header, &sequence->type_mask, anyffi_type_bit(owned.type_code));
  anyffi_value_drop(&former);
  return 0;
}

int anyffi_sequence_erase(AnyffiObject* object, int64_t index, int64_t count) {
  AnyffiSequence* sequence = as_sequence(object);
  if (count > 0 && count == sequence->size && index == 0) {
    clear(sequence);
    return 0;
  }
  return splice_sequence(sequence, index, count, nullptr, 0);
}

void anyffi_sequence_get(const AnyffiObject* object, int64_t index, AnyffiValue* out) {
  const AnyffiSequence* sequence = as_sequence(object);
  if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(sequence->size)) {
    *out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_UNSET), 0);
    return;
  }
  *out = anyffi_own_element(&sequence->data[index]);
}

int anyffi_sequence_reserve(AnyffiObject* object, int64_t capacity) {
  AnyffiSequence* sequence = as_sequence(object);
  return capacity <= sequence->capacity ? 0 : set_capacity(sequence, capacity);
}

int anyffi_sequence_splice(AnyffiObject* sequence, int64_t index, int64_t count, const AnyffiValue* cells,
                           int64_t num_cells) {
  return splice_sequence(as_sequence(sequence), index, count, cells, num_cells);
}

int anyffi_sequence_slice(const AnyffiObject* object, int32_t type_code, int64_t start, int64_t step, int64_t count,
                          AnyffiValue* out) {
  const AnyffiSequence* from = as_sequence(object);
  if (start < 0 || start >= from->size || step == 0) count = 0;
  if (count > 0) {
    int64_t distance = step > 0 ? from->size - 1 - start : start;
    uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
    count = std::min(count, static_cast<int64_t>(static_cast<uint64_t>(distance) / stride) + 1);
  }
  count = std::max<int64_t>(count, 0);
  if (anyffi_sequence_create(type_code, count, out) != 0) return -1;
  AnyffiSequence* made = as_sequence(out->as_object);
  if (step == 1) {
    if (count > 0) std::memcpy(made->data, from->data + start, cell_bytes(count));
  } else {
    for (int64_t i = 0; i < count; ++i) anyffi_copy_value(&from->data[start + i * step], &made->data[i]);
  }
  if (from->type_mask & kObjectTypes) {
    for (int64_t i = 0; i < count; ++i) anyffi_value_retain(&made->data[i]);
  }
  made->size = count;
  if (count > 0) made->type_mask = from->type_mask & ~ANYFFI_CHECKED;
  return 0;
}
