/// \file
/// The hooks of the host, if there is one.
#include "core/host.h"

#include <anyffi/host_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

#include "core/errors.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/mutex.h"
#include "core/owned.h"

namespace anyffi::runtime {
namespace {

std::atomic<const AnyffiHost*> current{nullptr};
std::atomic<bool> has_ended{false};

}  // namespace

const AnyffiHost* host() noexcept { return current.load(std::memory_order_acquire); }

bool keeps_wrappers() noexcept {
  const AnyffiHost* hooks = host();
  return hooks != nullptr && (hooks->flags & ANYFFI_HOST_KEEPS_WRAPPERS) != 0;
}

void release_handle(void* handle) noexcept {
  if (handle == nullptr) return;
  // Read once: at the host's exit another thread may remove the hooks at any moment.
  const AnyffiHost* hooks = host();
  if (hooks == nullptr || hooks->handle_release == nullptr) return;
  auto* release_shared = hooks->handle_release_shared;
  if (release_shared != nullptr && enter_host([&] { return release_shared(handle); }) != 0) return;
  // The release may run finalizers, which may raise errors.
  SavedError saved;
  HostLock lock;
  enter_host([&] { hooks->handle_release(handle); });
}

int finish_hook(int status) noexcept {
  if (__builtin_expect(status == ANYFFI_HOST_DONE, 1)) return 0;
  if (status == -1 && has_raised()) return -1;
  // Any other status: the host swallowed an exception.
  const AnyffiHost* hooks = host();
  bool is_interrupt = hooks == nullptr || !(hooks->flags & ANYFFI_HOST_CATCHES_SIGNALS);
  return anyffi_error_raise(is_interrupt ? "KeyboardInterrupt" : "MemoryError", "");
}

int raise_in_host(void (*set_error)(void* exception_class, const char* message), void* exception_class,
                  void* memory_error) noexcept {
  Owned error;
  anyffi_error_take_raised(error.out());
  String kind, text;
  int status = guard([&] {
    if (error->type_code == ANYFFI_ERROR) {
      anyffi_error_fill(error->as_object);
      append_text(&kind, &reinterpret_cast<const AnyffiError*>(error->as_object)->kind);
      append_text(&text, &reinterpret_cast<const AnyffiError*>(error->as_object)->message);
    }
    return 0;
  });
  if (status != 0) anyffi_error_take_raised(error.out());
  if (status != 0 || kind == "MemoryError") {
    set_error(memory_error, "out of memory");
  } else {
    set_error(exception_class, text.c_str());
  }
  return -1;
}

void park_thread() noexcept {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace anyffi::runtime

using anyffi::runtime::call_hook;
using anyffi::runtime::enter_host;
using anyffi::runtime::finish_hook;
using anyffi::runtime::host;
using anyffi::runtime::keeps_wrappers;

void anyffi_host_install(const AnyffiHost* hooks) {
  // Readers hold no lock, so a copy in use must not be overwritten. A process installs one host, or two where tests use
  // both backends, so that 16 copies are enough.
  static AnyffiHost copies[16];
  static unsigned next = 0;
  static anyffi::runtime::Mutex mutex;
  std::lock_guard<anyffi::runtime::Mutex> guard(mutex);
  if (hooks == nullptr) {
    if (anyffi::runtime::host() != nullptr) anyffi::runtime::has_ended.store(true, std::memory_order_relaxed);
    anyffi::runtime::current.store(nullptr, std::memory_order_release);
    return;
  }
  AnyffiHost& copy = copies[next++ % 16];
  copy = AnyffiHost{};
  std::memcpy(&copy, hooks, std::min<size_t>(hooks->struct_size, sizeof(copy)));
  const AnyffiHost* former = anyffi::runtime::host();
  if (copy.wrapper_track == nullptr && former != nullptr) copy.wrapper_track = former->wrapper_track;
  if (copy.items_read == nullptr && former != nullptr) copy.items_read = former->items_read;
  if (copy.items_write == nullptr && former != nullptr) copy.items_write = former->items_write;
  anyffi::runtime::current.store(&copy, std::memory_order_release);
}

int32_t anyffi_host_has_ended(void) { return anyffi::runtime::has_ended.load(std::memory_order_relaxed); }

void* anyffi_host_suspend(void) {
  const AnyffiHost* hooks = host();
  return hooks != nullptr && hooks->suspend != nullptr ? hooks->suspend() : nullptr;
}

void anyffi_host_resume(void* state) {
  if (state == nullptr) return;
  const AnyffiHost* hooks = host();
  // The host has shut down while this thread waited, and must not be called again.
  if (hooks == nullptr) anyffi::runtime::park_thread();
  if (hooks->resume != nullptr) enter_host([&] { hooks->resume(state); });
}

/// The state returned where no lock was taken; the host's states are never negative.
constexpr int32_t kNoLock = -1;

namespace {

/// The nested locks of a thread.
struct Sections {
  static constexpr int kMost = 8;
  struct Memory {
    alignas(void*) char bytes[ANYFFI_SECTION_SIZE];
  };
  Memory memory[kMost];
  int depth;
};

ANYFFI_THREAD_LOCAL Sections sections;

}  // namespace

int32_t anyffi_host_lock(void) {
  const AnyffiHost* hooks = host();
  if (hooks == nullptr || hooks->lock == nullptr) return kNoLock;
  int32_t state = enter_host(hooks->lock);
  if (hooks->section_begin != nullptr && sections.depth++ < Sections::kMost) {
    hooks->section_begin(&sections.memory[sections.depth - 1], hooks->section_object);
  }
  return state;
}

void anyffi_host_unlock(int32_t state) {
  const AnyffiHost* hooks = host();
  if (state == kNoLock || hooks == nullptr || hooks->unlock == nullptr) return;
  if (sections.depth > 0 && hooks->section_end != nullptr && --sections.depth < Sections::kMost) {
    hooks->section_end(&sections.memory[sections.depth]);
  }
  hooks->unlock(state);
}

int anyffi_host_check_signals(void) {
  const AnyffiHost* hooks = host();
  if (hooks == nullptr || hooks->check_signals == nullptr) return 0;
  if (hooks->flags & ANYFFI_HOST_SIGNALS_STAY_PENDING) {
    anyffi::runtime::HostLock lock;
    return enter_host(hooks->check_signals) == 0 ? 0 : anyffi_error_raise("KeyboardInterrupt", "");
  }
  return call_hook(hooks->check_signals);
}

int64_t anyffi_items_read(AnyffiItems* items, AnyffiValue* out, int64_t capacity) {
  const AnyffiHost* hooks = host();
  return hooks != nullptr && hooks->items_read != nullptr ? hooks->items_read(items, out, capacity) : -1;
}

int anyffi_items_write(void** state, const AnyffiValue* values, int64_t count) {
  const AnyffiHost* hooks = host();
  return hooks != nullptr && hooks->items_write != nullptr ? hooks->items_write(state, values, count) : -1;
}

int anyffi_object_empty_wrapper(AnyffiObject* object) {
  const AnyffiHost* hooks = host();
  if (object->wrapper == nullptr && !keeps_wrappers()) return 0;
  if (hooks == nullptr || hooks->wrapper_empty == nullptr) {
    return anyffi_error_raise("RuntimeError", "the front end cannot release this object");
  }
  if (call_hook([&] { return hooks->wrapper_empty(object); }) != 0) return -1;
  // The host may have swallowed an exception, as in `get_status`.
  bool is_left = (hooks->flags & ANYFFI_HOST_CATCHES_SIGNALS) && object->wrapper != nullptr;
  return is_left ? finish_hook(0) : 0;
}
