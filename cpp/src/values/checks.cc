/// \file
/// Remembers typed access: containers whose elements were all checked against one type.
///
/// A fixed-size table in which new records displace old ones. A record is valid while its container has the mark
/// ANYFFI_CHECKED: code that writes an element removes both. Marking a container also removes a record left behind by
/// an earlier container at the same address.
#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <atomic>
#include <cstddef>
#include <mutex>

#include "core/host.h"
#include "core/mutex.h"
#include "values/containers.h"

namespace anyffi::runtime {
namespace {

constexpr int64_t kAnyChange = -1;
constexpr size_t kRecords = 512;

/// Read without the lock: a reader that finds the same even version before and after read what was written together.
struct Record {
  std::atomic<uint32_t> version;  // odd while the record is written
  std::atomic<const AnyffiObject*> container;
  std::atomic<const void*> type;
  std::atomic<int64_t> change;  // for a deep check the value of `changes` when it began, else kAnyChange
};

Record records[kRecords];
/// The number of changes of marked containers. Each change invalidates all deep records.
std::atomic<int64_t> changes;
/// Held to write a record.
Mutex mutex;

Record& record_of(const AnyffiObject* container) {
  return records[(reinterpret_cast<uintptr_t>(container) * 0x9E3779B97F4A7C15) >> (64 - 9)];
}

uint64_t& mask_of(AnyffiObject* container) {
  return is_sequence(container->type_code) ? as_sequence(container)->type_mask : as_mapping(container)->value_type_mask;
}

bool is_marked(const AnyffiObject* container) {
  return (__atomic_load_n(&mask_of(const_cast<AnyffiObject*>(container)), __ATOMIC_RELAXED) & ANYFFI_CHECKED) != 0;
}

void remove_record(const AnyffiObject* container) {
  Record& record = record_of(container);
  if (record.container.load(std::memory_order_acquire) != container) return;
  std::lock_guard<Mutex> lock(mutex);
  if (record.container.load(std::memory_order_relaxed) == container) record.container = nullptr;
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int64_t anyffi_container_begin_check(AnyffiObject* container) {
  int64_t check = changes.load(std::memory_order_acquire);
  if (!is_marked(container)) {
    remove_record(container);
    __atomic_fetch_or(&mask_of(container), ANYFFI_CHECKED, __ATOMIC_ACQ_REL);
  }
  return check;
}

void anyffi_container_end_check(AnyffiObject* container, const void* type, int64_t check, int32_t is_deep) {
  std::lock_guard<Mutex> lock(mutex);
  if (changes.load(std::memory_order_acquire) != check || !is_marked(container)) return;
  Record& record = record_of(container);
  uint32_t version = record.version.load(std::memory_order_relaxed);
  record.version.store(version + 1, std::memory_order_relaxed);
  record.container.store(container, std::memory_order_release);
  record.type.store(type, std::memory_order_release);
  record.change.store(is_deep ? check : kAnyChange, std::memory_order_release);
  record.version.store(version + 2, std::memory_order_release);
}

int32_t anyffi_container_is_checked(const AnyffiObject* container, const void* type) {
  if (!is_marked(container)) return 0;
  const Record& record = record_of(container);
  uint32_t version = record.version.load(std::memory_order_acquire);
  bool is_same = record.container.load(std::memory_order_acquire) == container &&
                 record.type.load(std::memory_order_acquire) == type;
  int64_t change = record.change.load(std::memory_order_acquire);
  // If another thread is writing the record, the elements are checked again.
  bool is_whole = version % 2 == 0 && record.version.load(std::memory_order_relaxed) == version;
  return is_same && is_whole && (change == kAnyChange || change == changes.load(std::memory_order_acquire));
}

void anyffi_container_forget_checks(AnyffiObject* container) {
  changes.fetch_add(1, std::memory_order_acq_rel);
  __atomic_fetch_and(&mask_of(container), ~ANYFFI_CHECKED, __ATOMIC_ACQ_REL);
  remove_record(container);
}

void anyffi_container_note_types(AnyffiObject* container) {
  if (is_marked(container)) anyffi_container_forget_checks(container);
  // The host's lock protects changes of a container with a wrapper.
  const AnyffiHost* hooks = container->wrapper != nullptr ? host() : nullptr;
  if (hooks != nullptr && hooks->wrapper_track != nullptr) hooks->wrapper_track(container->wrapper);
}
