/// \file
/// The allocator of tests: it counts, fails on demand, and otherwise does what the allocator before it does.

#include <anyffi/anyffi.h>

#include <atomic>
#include <cstdlib>

namespace {

/// At first what the runtime starts with, for a thread that allocates while the allocators are exchanged.
AnyffiAllocator g_former{&std::malloc, &std::free};
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

/// Puts the allocator in place. Only who asks for counts pays for them; from then on it stays, since tests compare
/// counts before and after.
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

/// What threads keep for their next objects is not in use.
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
    .doc("Blocks of runtime memory that are in use now, less those from before these were first counted.");

ANYFFI_REGISTER_GLOBAL("testing.total_blocks")
    .def([] { return read(g_total); })
    .doc("Blocks of runtime memory that were allocated since these were first counted.");

ANYFFI_REGISTER_GLOBAL("testing.total_bytes")
    .def([] { return read(g_bytes); })
    .doc("Bytes of runtime memory that were allocated since these were first counted.");

ANYFFI_REGISTER_GLOBAL("testing.fail_allocation")
    .def(
        [](int64_t after) {
          install();
          anyffi_memory_trim();
          g_fail_after = after;
        },
        anyffi::arg("after"))
    .doc("Let allocations fail once `after` more have succeeded; a negative number lets all succeed again.");
