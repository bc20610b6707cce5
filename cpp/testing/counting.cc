/// \file
/// An allocator for tests: it counts, fails on demand, and otherwise calls the previous allocator.

#include <anyffi/anyffi.h>
#if defined(__unix__) || defined(__APPLE__)
#include <dlfcn.h>
#endif

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace {

using anyffi::AnyValue;

/// The runtime's default at first, for threads that allocate during the exchange.
AnyffiAllocator g_former{&std::malloc, &std::free};
std::atomic<int64_t> g_live{0};
std::atomic<int64_t> g_total{0};
std::atomic<int64_t> g_bytes{0};
/// The number of allocations before one fails; negative: none fails.
std::atomic<int64_t> g_fail_after{-1};

/// The live blocks with their sizes, while they are recorded.
struct Record {
  std::mutex mutex;
  std::unordered_map<void*, size_t> blocks;
};
std::atomic<Record*> g_record{nullptr};

void note_alloc(Record* record, void* memory, size_t size) {
  std::lock_guard<std::mutex> lock(record->mutex);
  record->blocks[memory] = size;
}

void note_free(Record* record, void* memory) {
  std::lock_guard<std::mutex> lock(record->mutex);
  record->blocks.erase(memory);
}

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
    if (Record* record = g_record) note_alloc(record, memory, size);
  }
  return memory;
}

void counting_free(void* memory) {
  if (memory) --g_live;
  if (Record* record = memory ? g_record.load() : nullptr) note_free(record, memory);
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

bool is_code(void (*function)(AnyffiObject*, int32_t)) {
#if defined(__unix__) || defined(__APPLE__)
  Dl_info info;
  return function != nullptr && dladdr(reinterpret_cast<void*>(function), &info) != 0;
#else
  return function != nullptr;
#endif
}

constexpr auto kWasWeak = static_cast<uint32_t>(ANYFFI_WAS_WEAK);

/// Blocks also hold elements, text and the memory of tensors, and free ones stay on the runtime's lists.
bool is_live_object(const void* memory, size_t size) {
  if (size < sizeof(AnyffiObject)) return false;
  auto* object = static_cast<const AnyffiObject*>(memory);
  return object->type_code > 0 && anyffi_type_get_info(object->type_code) != nullptr && object->strong_count > 0 &&
         (object->weak_count & ~kWasWeak) > 0 && object->weak_count / 2 < kWasWeak && is_code(object->deleter);
}

/// The objects that were created since the first call, which returns none.
anyffi::List<AnyValue> live_objects() {
  install();
  if (g_record == nullptr) {
    anyffi_memory_trim();
    g_record = new Record();
    return {};
  }
  std::vector<AnyffiObject*> found;
  {
    Record& record = *g_record;
    std::lock_guard<std::mutex> lock(record.mutex);
    for (auto [memory, size] : record.blocks) {
      if (!is_live_object(memory, size)) continue;
      found.push_back(static_cast<AnyffiObject*>(memory));
      anyffi_retain(found.back());
    }
  }
  anyffi::List<AnyValue> objects;
  for (AnyffiObject* object : found) objects.push_back(AnyValue(anyffi::detail::Adopt{}, anyffi_make_object(object)));
  return objects;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("testing.live_objects")
    .def(&live_objects)
    .doc(
        "Return the objects of the runtime that were created since the first call, on this thread, and are alive.\n\n"
        "Without those that garbage collection and a release of everything else would destroy, these are leaked, or "
        "kept by C++.");

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
