/// \file
/// Memory of the runtime's objects and tables. Each thread keeps free lists of small blocks: most objects are made for
/// one call, and popping a block costs a fifth of `malloc` and `free`.
#ifndef ANYFFI_SRC_CORE_MEMORY_H_
#define ANYFFI_SRC_CORE_MEMORY_H_

#include <anyffi/c_api.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

namespace anyffi::runtime {

/// Blocks have 16 n + 8 bytes, the sizes to which glibc's `malloc` rounds; the largest has 520.
constexpr size_t kGrain = 16;
constexpr size_t kNumSizes = 33;
constexpr size_t size_of_class(size_t size_class) noexcept { return size_class * kGrain + kGrain / 2; }

/// How many free blocks of a size a thread keeps: enough for a container of a thousand small objects, which would
/// otherwise take twice as long to create and destroy.
constexpr uint16_t max_free_of(size_t size_class) noexcept {
  return static_cast<uint16_t>((size_t{1} << 17) / (size_of_class(size_class) + kGrain / 2));
}

struct FreeLists {
  struct Block {
    Block* next;
  };
  Block* first[kNumSizes];
  /// How many more blocks of each size the list accepts; 0 before the thread frees its first block, and when it ends.
  uint16_t room[kNumSizes];
};

#if defined(__linux__)
extern __thread FreeLists free_lists __attribute__((tls_model("initial-exec")));
#else
extern thread_local FreeLists free_lists;
#endif

void free_block_slow(void* memory, size_t size) noexcept;

/// The index of the smallest block size of at least `size` bytes.
inline size_t size_class_of(size_t size) noexcept { return (size + kGrain / 2 - 1) / kGrain; }

/// Pops a block of at least `size` bytes from the thread's free list; NULL where it is empty.
inline void* pop_free_block(size_t size) noexcept {
  size_t size_class = size_class_of(size);
  if (size_class >= kNumSizes) return nullptr;
  FreeLists::Block* block = free_lists.first[size_class];
  if (block == nullptr) return nullptr;
  free_lists.first[size_class] = block->next;
  ++free_lists.room[size_class];
  return block;
}

/// As `allocate_block`, where `pop_free_block` returned NULL.
void* allocate_new_block(size_t size) noexcept;

/// Returns at least `size` bytes for an object, or NULL.
inline void* allocate_block(size_t size) noexcept {
  void* block = pop_free_block(size);
  return block != nullptr ? block : allocate_new_block(size);
}

/// Frees memory of `allocate_block(size)`.
inline void free_block(void* memory, size_t size) noexcept {
  size_t size_class = size_class_of(size);
  if (size_class < kNumSizes && free_lists.room[size_class] != 0) {
    auto* block = static_cast<FreeLists::Block*>(memory);
    block->next = free_lists.first[size_class];
    free_lists.first[size_class] = block;
    --free_lists.room[size_class];
    return;
  }
  free_block_slow(memory, size);
}

/// Makes standard containers of the runtime use the replaceable allocator.
template <class T>
struct Allocator {
  using value_type = T;
  Allocator() noexcept = default;
  template <class U>
  Allocator(const Allocator<U>&) noexcept {}
  T* allocate(size_t count) {
    void* memory = count <= PTRDIFF_MAX / sizeof(T) ? anyffi_alloc(count * sizeof(T)) : nullptr;
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) noexcept { anyffi_free(memory); }
  template <class U>
  bool operator==(const Allocator<U>&) const noexcept {
    return true;
  }
  template <class U>
  bool operator!=(const Allocator<U>&) const noexcept {
    return false;
  }
};

/// The base of classes whose objects `new` makes in memory of the replaceable allocator.
struct Allocated {
  static void* operator new(size_t size) { return Allocator<char>().allocate(size); }
  static void operator delete(void* memory) noexcept { anyffi_free(memory); }
};

using String = std::basic_string<char, std::char_traits<char>, Allocator<char>>;
template <class T>
using Vector = std::vector<T, Allocator<T>>;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_MEMORY_H_
