/// \file
/// Memory of the runtime's own objects. Each thread keeps a few small blocks for its next ones: most objects are made
/// for one call, and taking a block from a list costs a fifth of `malloc` and `free`.
#pragma once

#include <anyffi/c_api.h>

#include <cstddef>
#include <cstdint>

namespace anyffi::runtime {

/// Blocks of 16 n + 8 bytes, which is what `malloc` has room for anyway (glibc): up to 520 bytes, 8 of each size.
constexpr size_t kGrain = 16;
constexpr size_t kKeptSizes = 33;
constexpr uint8_t kKeptBlocks = 8;

struct KeptBlocks {
  struct Block {
    Block* next;
  };
  Block* first[kKeptSizes];
  /// How many more of a size are kept; 0 until the thread gives its first block back, and once it ends.
  uint8_t room[kKeptSizes];
};

#if defined(__linux__)
extern __thread KeptBlocks kept_blocks __attribute__((tls_model("initial-exec")));
#else
extern thread_local KeptBlocks kept_blocks;
#endif

void give_block_slowly(void* memory, size_t number) noexcept;

/// Number of the size that blocks of at least `size` bytes have.
inline size_t size_number(size_t size) noexcept { return (size + kGrain / 2 - 1) / kGrain; }

/// A kept block of at least `size` bytes, or NULL where the thread has none.
inline void* take_kept_block(size_t size) noexcept {
  size_t number = size_number(size);
  if (number >= kKeptSizes) return nullptr;
  KeptBlocks::Block* block = kept_blocks.first[number];
  if (block == nullptr) return nullptr;
  kept_blocks.first[number] = block->next;
  ++kept_blocks.room[number];
  return block;
}

/// As `take_block`, where `take_kept_block` found none.
inline void* take_new_block(size_t size) noexcept {
  size_t number = size_number(size);
  return anyffi_alloc(number >= kKeptSizes ? size : number * kGrain + kGrain / 2);
}

/// Memory of at least `size` bytes for an object, or NULL.
inline void* take_block(size_t size) noexcept {
  void* block = take_kept_block(size);
  return block != nullptr ? block : take_new_block(size);
}

/// Gives back what `take_block(size)` gave.
inline void give_block(void* memory, size_t size) noexcept {
  size_t number = size_number(size);
  if (number < kKeptSizes && kept_blocks.room[number] != 0) {
    auto* block = static_cast<KeptBlocks::Block*>(memory);
    block->next = kept_blocks.first[number];
    kept_blocks.first[number] = block;
    --kept_blocks.room[number];
    return;
  }
  give_block_slowly(memory, number);
}

}  // namespace anyffi::runtime
