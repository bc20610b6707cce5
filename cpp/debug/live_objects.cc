/// \file
/// Objects of the runtime that are alive, for `anyffi.debug`: an allocator that records its blocks.

#include <anyffi/anyffi.h>
#if defined(__unix__) || defined(__APPLE__)
#include <dlfcn.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

using anyffi::AnyValue;

struct Block {
  size_t size;
  int64_t number; /* blocks are numbered in their order */
};

struct Record {
  AnyffiAllocator former{&std::malloc, &std::free};
  std::mutex mutex;
  std::unordered_map<void*, Block> blocks;
  int64_t count = 0;
};

/// Never destroyed, because the process frees blocks until it ends.
std::atomic<Record*> g_record{nullptr};

void* recording_alloc(size_t size) {
  Record* record = g_record;
  void* memory = record->former.alloc(size);
  if (memory != nullptr) {
    // Remains of a freed object must not look like an object.
    std::memset(memory, 0, size);
    std::lock_guard<std::mutex> lock(record->mutex);
    try {
      record->blocks[memory] = {size, ++record->count};
    } catch (const std::bad_alloc&) {
      // The block is not recorded. No exception may escape, because C code allocates, too.
    }
  }
  return memory;
}

void recording_free(void* memory) {
  Record* record = g_record;
  if (memory != nullptr) {
    std::lock_guard<std::mutex> lock(record->mutex);
    record->blocks.erase(memory);
  }
  record->former.free(memory);
}

/// Begins to record at the first call.
Record& record() {
  static Record* made = [] {
    anyffi_memory_stop_caching();
    // Threads that allocate meanwhile use the default functions.
    g_record = new Record();
    AnyffiAllocator allocator{&recording_alloc, &recording_free};
    anyffi_allocator_exchange(&allocator);
    g_record.load()->former = allocator;
    return g_record.load();
  }();
  return *made;
}

bool is_code(void (*function)(AnyffiObject*, int32_t)) {
#if defined(__unix__) || defined(__APPLE__)
  Dl_info info;
  return function != nullptr && dladdr(reinterpret_cast<void*>(function), &info) != 0;
#else
  return function != nullptr;
#endif
}

constexpr auto kMarks = static_cast<uint32_t>(ANYFFI_WEAK_MARKS);

/// Blocks may also hold elements, text or tensor memory, and freed blocks may be on the runtime's free lists.
bool is_live_object(const void* memory, size_t size) {
  if (size < sizeof(AnyffiObject)) return false;
  auto* object = static_cast<const AnyffiObject*>(memory);
  return object->type_code > 0 && anyffi_type_get_info(object->type_code) != nullptr && object->strong_count > 0 &&
         (object->weak_count & ~kMarks) > 0 && (object->weak_count & ~kMarks) < kMarks / 2 && is_code(object->deleter);
}

struct Live {
  AnyffiObject* object;
  int64_t number;
  bool is_wrapped;
};

/// References to objects. Those not passed on are released by the destructor, which frees blocks and so needs the mutex
/// unlocked.
struct References {
  References() = default;
  References(const References&) = delete;
  References& operator=(const References&) = delete;
  ~References() {
    for (size_t i = num_taken; i < live.size(); ++i) anyffi_object_release(live[i].object);
  }
  std::vector<Live> live;
  size_t num_taken = 0;
};

/// The live objects, in the order of allocation. Call with the mutex locked.
std::vector<Live> find_live(const Record& record) {
  std::map<int64_t, AnyffiObject*> found;
  for (auto [memory, block] : record.blocks) {
    if (is_live_object(memory, block.size)) found[block.number] = static_cast<AnyffiObject*>(memory);
  }
  std::vector<Live> live;
  for (auto [number, object] : found) live.push_back({object, number, false});
  return live;
}

/// Retains an object unless its last reference is being released; other threads may run without the host's lock.
bool try_retain(AnyffiObject* object) {
  uint64_t count = __atomic_load_n(&object->strong_count, __ATOMIC_RELAXED);
  while (count > 0) {
    if (__atomic_compare_exchange_n(&object->strong_count, &count, count + 1, true, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
      return true;
    }
  }
  return false;
}

/// Returns `[value, type key, number of its memory, whether it has a wrapper]` for each object of a type, or of all
/// types if that is 0; an empty list at the first call.
anyffi::List<anyffi::List<AnyValue>> live_objects(int32_t type_code) {
  bool is_first = g_record == nullptr;
  Record& blocks = record();
  if (is_first) return {};
  References references;
  std::vector<Live>& live = references.live;
  {
    // No block is freed while the mutex is locked.
    std::lock_guard<std::mutex> lock(blocks.mutex);
    std::vector<Live> found = find_live(blocks);
    live.reserve(found.size());
    for (const Live& each : found) {
      if (type_code != 0 && each.object->type_code != type_code) continue;
      if (try_retain(each.object)) live.push_back(each);
    }
    // A thread that releases the last reference sets the count to 0 a few instructions after reading it.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    live.erase(std::remove_if(
                   live.begin(), live.end(),
                   [](const Live& each) { return __atomic_load_n(&each.object->strong_count, __ATOMIC_ACQUIRE) == 0; }),
               live.end());
    for (Live& each : live) each.is_wrapped = each.object->wrapper != nullptr;
  }
  anyffi::List<anyffi::List<AnyValue>> rows;
  while (references.num_taken < live.size()) {
    const Live& each = live[references.num_taken++];
    AnyValue value(anyffi::detail::Adopt{}, anyffi_make_object(each.object));
    anyffi::List<AnyValue> row;
    row.push_back(value);
    row.push_back(AnyValue(anyffi::String(anyffi_type_get_info(each.object->type_code)->type_key)));
    row.push_back(AnyValue(each.number));
    row.push_back(AnyValue(each.is_wrapped));
    rows.push_back(row);
  }
  return rows;
}

int64_t last_number() {
  Record& blocks = record();
  std::lock_guard<std::mutex> lock(blocks.mutex);
  return blocks.count;
}

void forget_objects(int64_t after, int64_t last) {
  Record& blocks = record();
  std::lock_guard<std::mutex> lock(blocks.mutex);
  for (auto block = blocks.blocks.begin(); block != blocks.blocks.end();) {
    int64_t number = block->second.number;
    block = after < number && number <= last ? blocks.blocks.erase(block) : std::next(block);
  }
}

/// Whether a library or the runtime keeps an object until the process ends, like the functions that a library exports.
bool is_permanent(const AnyffiObject* object) {
  if (object->type_code == ANYFFI_MODULE) return true;
  if (object->type_code != ANYFFI_FUNCTION) return false;
  auto* function = reinterpret_cast<const AnyffiFunction*>(object);
  return function->handle == nullptr && function->info != nullptr;
}

/// Writes the live objects to stderr. Python has ended by now.
void report() {
  Record& blocks = record();
  std::map<std::string, int64_t> counts;
  {
    std::lock_guard<std::mutex> lock(blocks.mutex);
    for (const Live& each : find_live(blocks)) {
      if (!is_permanent(each.object)) ++counts[anyffi_type_get_info(each.object->type_code)->type_key];
    }
  }
  std::fprintf(stderr, counts.empty() ? "anyffi: no object is alive at exit\n" : "anyffi: objects alive at exit:\n");
  for (const auto& [key, count] : counts) {
    std::fprintf(stderr, "%8lld %s\n", static_cast<long long>(count), key.c_str());
  }
}

void report_at_exit() {
  static const bool is_registered = [] {
    record();
    return std::atexit(&report) == 0;
  }();
  static_cast<void>(is_registered);
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.debug.live_objects")
    .def(&live_objects, anyffi::arg("type_code") = 0)
    .doc(
        "Return a row for each object of the runtime that was created since the first call, on this thread, and is "
        "alive, or for those of one type: its value, the key of its type, the number of its memory, and whether it has "
        "a wrapper.");

ANYFFI_REGISTER_GLOBAL("anyffi.debug.report_at_exit")
    .def(&report_at_exit)
    .doc("Write the number of objects by type that are alive when the process ends, of those created from now on.");

ANYFFI_REGISTER_GLOBAL("anyffi.debug.last_number")
    .def(&last_number)
    .doc("Return the number of the last block of memory, as `live_objects` numbers them.");

ANYFFI_REGISTER_GLOBAL("anyffi.debug.forget")
    .def(&forget_objects, anyffi::arg("after"), anyffi::arg("last"))
    .doc("Leave out the objects in blocks of memory after a number, to another: those that a library keeps for good.");
