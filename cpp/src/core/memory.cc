/// \file
/// The allocator of the runtime's objects, and the threads' free lists.
#include "core/memory.h"

#include <anyffi/c_api.h>
#include <cxxabi.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "core/compiler.h"
#include "core/immortal.h"
#include "core/mutex.h"

namespace anyffi::runtime {

#if defined(__linux__)
__thread FreeLists free_lists;
#else
thread_local FreeLists free_lists;
#endif

namespace {

// Two words, so that the fast path reads one of them without a lock. Between the two stores of an exchange a thread may
// combine both allocators, which is safe: `anyffi_allocator_exchange` requires the new one to free the former one's
// blocks.
std::atomic<void* (*)(size_t)> current_alloc{&std::malloc};
std::atomic<void (*)(void*)> current_free{&std::free};

// GCC defines a macro, Clang has a feature.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
/// Under AddressSanitizer, a block on a free list would hide a use after free.
constexpr bool kUseFreeLists = false;
#else
constexpr bool kUseFreeLists = true;
#endif

void trim(FreeLists& lists) {
  for (size_t size_class = 0; size_class < kNumSizes; ++size_class) {
    while (FreeLists::Block* block = lists.first[size_class]) {
      lists.first[size_class] = block->next;
      ++lists.room[size_class];
      anyffi_free(block);
    }
  }
}

/// Whether free blocks are kept at all.
std::atomic<bool> keeps_free{kUseFreeLists};

/// One large block shared by all threads, which begins with its size; or NULL. For a call that creates a large text
/// each time, `malloc` would return the pages to the system, and touching new pages takes ten times as long as copying
/// the text.
std::atomic<size_t*> spare{nullptr};
constexpr size_t kMinSpare = size_t{1} << 16;
constexpr size_t kMaxSpare = size_t{1} << 22;

/// Keeps a block instead of the former one.
void keep_spare(void* memory, size_t size) {
  auto* block = static_cast<size_t*>(memory);
  *block = size;
  if (size_t* former = spare.exchange(block, std::memory_order_acq_rel)) anyffi_free(former);
}

/// Returns the spare block if it has at least `size` bytes, and not many more; else NULL.
void* take_spare(size_t size) {
  if (size < kMinSpare || size > kMaxSpare || spare.load(std::memory_order_relaxed) == nullptr) return nullptr;
  size_t* block = spare.exchange(nullptr, std::memory_order_acq_rel);
  if (block == nullptr || (*block >= size && *block / 2 <= size)) return block;
  keep_spare(block, *block);
  return nullptr;
}

Mutex& threads_mutex() {
  // Threads may end after static destructors have run.
  static Immortal<Mutex> mutex;
  return *mutex;
}

/// A thread's registration in the list of threads with free lists, from its first freed block until it ends.
class Registration {
 public:
  /// The registration of the calling thread.
  static Registration& current() noexcept {
    ANYFFI_THREAD_LOCAL Registration registration;
    return registration;
  }

  /// Whether the thread has, or had, free lists: a thread that is ending may still free blocks.
  bool is_open() const noexcept { return lists_ != nullptr; }

  /// Gives the thread free lists. Returns false if the system cannot report the end of the thread.
  bool open() noexcept {
    // No `thread_local` with a destructor: glibc aborts the process where it cannot allocate the entry for that.
    if (!has_key || pthread_setspecific(key, this) != 0) return false;
    // Otherwise allocated when the thread first throws: if that is a std::bad_alloc, memory for them may be exhausted,
    // too, and glibc then aborts the process. Volatile, since compilers drop the call if its result is not used.
    [[maybe_unused]] void* volatile globals = abi::__cxa_get_globals();
    std::lock_guard<Mutex> lock(threads_mutex());
    lists_ = &free_lists;
    if (!keeps_free.load(std::memory_order_relaxed)) return false;
    link();
    for (size_t i = 0; i < kNumSizes; ++i) lists_->room[i] = max_free_of(i);
    return true;
  }

  /// Leaves the lists of this thread empty from now on.
  static void close() noexcept {
    std::lock_guard<Mutex> lock(threads_mutex());
    current().unlink();
  }

  static int64_t count() {
    std::lock_guard<Mutex> lock(threads_mutex());
    int64_t found = spare.load(std::memory_order_relaxed) != nullptr;
    for (const Registration* registration = all; registration != nullptr; registration = registration->next_) {
      for (size_t i = 0; i < kNumSizes; ++i)
        found += max_free_of(i) - __atomic_load_n(&registration->lists_->room[i], __ATOMIC_RELAXED);
    }
    return found;
  }

 private:
  void link() noexcept {
    previous_ = nullptr;
    next_ = all;
    if (next_ != nullptr) next_->previous_ = this;
    all = this;
    is_linked_ = true;
  }

  void unlink() noexcept {
    if (!is_linked_) return;
    is_linked_ = false;
    for (uint16_t& room : lists_->room) room = 0;
    (previous_ == nullptr ? all : previous_->next_) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
  }

  /// Called when a thread ends.
  static void end(void* ended) noexcept {
    auto* registration = static_cast<Registration*>(ended);
    std::lock_guard<Mutex> lock(threads_mutex());
    trim(*registration->lists_);
    registration->unlink();
  }

  /// After `fork` the child has only this thread: the registrations of the others are dropped, and new threads reuse
  /// their memory.
  static void forget_others() noexcept {
    all = nullptr;
    if (current().is_linked_) current().link();
  }

  static Registration* all;
  static pthread_key_t key;
  static const bool has_key;

  FreeLists* lists_;
  bool is_linked_;
  Registration* next_;
  Registration* previous_;
};

Registration* Registration::all = nullptr;
pthread_key_t Registration::key;
const bool Registration::has_key =
    pthread_key_create(&key, &Registration::end) == 0 && pthread_atfork(nullptr, nullptr, &forget_others) == 0;

}  // namespace

void* allocate_new_block(size_t size) noexcept {
  size_t size_class = size_class_of(size);
  if (size_class < kNumSizes) return anyffi_alloc(size_of_class(size_class));
  void* block = take_spare(size);
  return block != nullptr ? block : anyffi_alloc(size);
}

__attribute__((noinline)) void free_block_slow(void* memory, size_t size) noexcept {
  bool keeps = keeps_free.load(std::memory_order_relaxed);
  if (keeps && size >= kMinSpare && size <= kMaxSpare) {
    keep_spare(memory, size);
    return;
  }
  Registration& thread = Registration::current();
  if (!keeps || size_class_of(size) >= kNumSizes || thread.is_open() || !thread.open()) {
    anyffi_free(memory);
    return;
  }
  free_block(memory, size);
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

void* anyffi_alloc(size_t size) { return current_alloc.load(std::memory_order_relaxed)(size); }

void anyffi_free(void* memory) { current_free.load(std::memory_order_relaxed)(memory); }

void* anyffi_object_alloc(size_t size) { return allocate_block(size); }

void anyffi_object_free(void* memory, size_t size) { free_block(memory, size); }

void anyffi_allocator_exchange(AnyffiAllocator* allocator) {
  allocator->alloc = current_alloc.exchange(allocator->alloc);
  allocator->free = current_free.exchange(allocator->free);
}

void anyffi_memory_trim(void) {
  trim(free_lists);
  if (size_t* block = spare.exchange(nullptr, std::memory_order_acq_rel)) anyffi_free(block);
}

void anyffi_memory_stop_caching(void) {
  keeps_free.store(false, std::memory_order_relaxed);
  anyffi_memory_trim();
  Registration::close();
}

int64_t anyffi_memory_count_cached(void) { return Registration::count(); }
