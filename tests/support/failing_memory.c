/* Preloaded into a Python with PYTHONMALLOC=malloc: all memory of the process comes from here, and one allocation
 * fails on demand, or several in a row. Python changes the cells through a memoryview, which allocates nothing itself.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

/* How many more succeed before one fails, negative if none fails; how many have failed; how many fail in a row. */
_Atomic long failing_memory_cells[3] = {-1, 0, 1};

static int is_failing(void) {
  if (atomic_load_explicit(&failing_memory_cells[0], memory_order_relaxed) < 0) return 0;
  if (atomic_fetch_sub(&failing_memory_cells[0], 1) != 0) return 0;
  if (atomic_fetch_add(&failing_memory_cells[1], 1) + 1 < failing_memory_cells[2]) failing_memory_cells[0] = 0;
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) { return is_failing() ? NULL : __libc_malloc(size); }

void* calloc(size_t count, size_t size) { return is_failing() ? NULL : __libc_calloc(count, size); }

void* realloc(void* old, size_t size) { return is_failing() ? NULL : __libc_realloc(old, size); }

void* aligned_alloc(size_t alignment, size_t size) { return is_failing() ? NULL : __libc_memalign(alignment, size); }

int posix_memalign(void** out, size_t alignment, size_t size) {
  void* memory = aligned_alloc(alignment, size);
  if (memory == NULL) return ENOMEM;
  *out = memory;
  return 0;
}
