/// \file
/// The one pair of functions that all memory of the runtime's objects comes from.
#include <atomic>
#include <cstdlib>

#include "internal.h"

namespace {

// Two words, so that the hot path reads one of them without a lock. Between the two stores of an exchange a
// block may come from one pair and go to the other, which the rule "wrap the former pair" already allows.
std::atomic<void* (*)(size_t)> current_alloc{&std::malloc};
std::atomic<void (*)(void*)> current_free{&std::free};

}  // namespace

void* anyffi_alloc(size_t size) { return current_alloc.load(std::memory_order_relaxed)(size); }

void anyffi_free(void* memory) { current_free.load(std::memory_order_relaxed)(memory); }

void anyffi_allocator_exchange(AnyffiAllocator* allocator) {
  allocator->alloc = current_alloc.exchange(allocator->alloc);
  allocator->free = current_free.exchange(allocator->free);
}
