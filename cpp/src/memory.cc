/// \file
/// The one pair of functions that all memory of the runtime's objects comes from, and what threads keep of it.
#include <atomic>
#include <cstdlib>
#include <mutex>

#include "blocks.h"

namespace anyffi::runtime {

#if defined(__linux__)
__thread KeptBlocks kept_blocks;
#else
thread_local KeptBlocks kept_blocks;
#endif

namespace {

// Two words, so that the hot path reads one of them without a lock. Between the two stores of an exchange a
// block may come from one pair and go to the other, which the rule "wrap the former pair" already allows.
std::atomic<void* (*)(size_t)> current_alloc{&std::malloc};
std::atomic<void (*)(void*)> current_free{&std::free};

#if defined(__SANITIZE_ADDRESS__)
/// A block that is kept would hide its use after the end of the object.
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif

void trim(KeptBlocks& kept) {
  for (size_t number = 0; number < kKeptSizes; ++number) {
    while (KeptBlocks::Block* block = kept.first[number]) {
      kept.first[number] = block->next;
      ++kept.room[number];
      anyffi_free(block);
    }
  }
}

std::mutex& threads_mutex() {
  // Never destroyed: threads may end after this library's static objects have.
  static auto* mutex = new std::mutex;
  return *mutex;
}

/// A thread that keeps blocks, from the first one until its end.
class Keeper {
 public:
  Keeper() noexcept {
    std::lock_guard<std::mutex> lock(threads_mutex());
    next_ = all;
    if (next_ != nullptr) next_->previous_ = this;
    all = this;
    for (uint8_t& room : kept_->room) room = kKeptBlocks;
    opened = true;
  }

  ~Keeper() {
    std::lock_guard<std::mutex> lock(threads_mutex());
    trim(*kept_);
    for (uint8_t& room : kept_->room) room = 0;
    (previous_ == nullptr ? all : previous_->next_) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
  }

  static int64_t count() {
    std::lock_guard<std::mutex> lock(threads_mutex());
    int64_t found = 0;
    for (const Keeper* keeper = all; keeper != nullptr; keeper = keeper->next_) {
      for (const uint8_t& room : keeper->kept_->room) found += kKeptBlocks - __atomic_load_n(&room, __ATOMIC_RELAXED);
    }
    return found;
  }

  /// Whether this thread has or had one. A thread that ends may still give blocks back afterwards.
  static thread_local bool opened;

 private:
  static Keeper* all;

  KeptBlocks* kept_ = &kept_blocks;
  Keeper* next_;
  Keeper* previous_ = nullptr;
};

thread_local bool Keeper::opened = false;
Keeper* Keeper::all = nullptr;

}  // namespace

__attribute__((noinline)) void give_block_slowly(void* memory, size_t number) noexcept {
  if (!kKeeps || number >= kKeptSizes || Keeper::opened) {
    anyffi_free(memory);
    return;
  }
  static thread_local Keeper keeper;
  static_cast<void>(keeper);
  give_block(memory, number * kGrain);
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

void* anyffi_alloc(size_t size) { return current_alloc.load(std::memory_order_relaxed)(size); }

void anyffi_free(void* memory) { current_free.load(std::memory_order_relaxed)(memory); }

void anyffi_allocator_exchange(AnyffiAllocator* allocator) {
  allocator->alloc = current_alloc.exchange(allocator->alloc);
  allocator->free = current_free.exchange(allocator->free);
}

void anyffi_memory_trim(void) { trim(kept_blocks); }

int64_t anyffi_memory_count_cached(void) { return Keeper::count(); }
