/// \file
/// Allocators for tests: one that counts, and one that fails on demand. Both wrap the allocator before them.

#include <anyffi/anyffi.h>

#include <atomic>

namespace {

AnyffiAllocator g_former{};
std::atomic<int64_t> g_live{0};
std::atomic<int64_t> g_total{0};
std::atomic<int64_t> g_bytes{0};
/// Allocations until one fails; negative: none does.
std::atomic<int64_t> g_fail_after{-1};

void* counting_alloc(size_t size) {
  if (g_fail_after.load(std::memory_order_relaxed) >= 0 && g_fail_after.fetch_sub(1) == 0) {
    g_fail_after = 0;
    return nullptr;
  }
  void* memory = g_former.alloc(size);
  if (memory) {
    ++g_live;
    ++g_total;
    g_bytes += static_cast<int64_t>(size);
  }
  return memory;
}

void counting_free(void* memory) {
  if (memory) --g_live;
  g_former.free(memory);
}

/// Installed when the library loads and never taken out: tests compare counts before and after.
const bool g_installed = [] {
  AnyffiAllocator allocator{&counting_alloc, &counting_free};
  anyffi_allocator_exchange(&allocator);
  g_former = allocator;
  return true;
}();

}  // namespace

ANYFFI_REGISTER_GLOBAL("testing.live_blocks")
    .def([] { return g_live.load(); })
    .doc("Blocks of runtime memory that are allocated now, less those from before this library was loaded.");

ANYFFI_REGISTER_GLOBAL("testing.total_blocks")
    .def([] { return g_total.load(); })
    .doc("Blocks of runtime memory that were ever allocated.");

ANYFFI_REGISTER_GLOBAL("testing.total_bytes")
    .def([] { return g_bytes.load(); })
    .doc("Bytes of runtime memory that were ever allocated.");

ANYFFI_REGISTER_GLOBAL("testing.fail_allocation")
    .def([](int64_t after) { g_fail_after = after; }, anyffi::arg("after"))
    .doc("Let allocations fail once `after` more have succeeded; a negative number lets all succeed again.");
