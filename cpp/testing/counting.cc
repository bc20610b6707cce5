/// \file
/// An allocator for tests: it counts, fails on demand, and otherwise calls the previous allocator.

#include <anyffi/anyffi.h>

#include <atomic>
#include <cstdlib>

namespace {

/// The runtime's default at first, for threads that allocate during the exchange.
AnyffiAllocator g_former{&std::malloc, &std::free};
std::atomic<int64_t> g_live{0};
std::atomic<int64_t> g_total{0};
std::atomic<int64_t> g_bytes{0};
/// The number of allocations before one fails; negative: none fails.
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

/// Installs the allocator permanently at the first call, since tests compare counts before and after.
void install() {
  static const bool installed = [] {
    AnyffiAllocator allocator{&counting_alloc, &counting_free};
    anyffi_allocator_exchange(&allocator);
    g_former = allocator;
    return true;
  }();
  static_cast<void>(installed);
}

int64_t read(const std::atomic<int64_t>& count) {
  install();
  return count;
}

/// Blocks on free lists are not in use.
int64_t count_live() {
  install();
  int64_t kept = 0, live = 0;
  do {
    kept = anyffi_memory_count_cached();
    live = g_live;
  } while (kept != anyffi_memory_count_cached() || live != g_live);
  return live - kept;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("testing.live_blocks")
    .def([] { return count_live(); })
    .doc("Return how many blocks of runtime memory are in use, less those from before the first count.");

ANYFFI_REGISTER_GLOBAL("testing.total_blocks")
    .def([] { return read(g_total); })
    .doc("Return how many blocks of runtime memory were allocated since the first count.");

ANYFFI_REGISTER_GLOBAL("testing.total_bytes")
    .def([] { return read(g_bytes); })
    .doc("Return how many bytes of runtime memory were allocated since the first count.");

ANYFFI_REGISTER_GLOBAL("testing.fail_allocation")
    .def(
        [](int64_t after) {
          install();
          anyffi_memory_trim();
          g_fail_after = after;
        },
        anyffi::arg("after"))
    .doc("Make allocations fail after `after` more; a negative number makes all succeed again.");
