/// Builds without the GIL: critical sections for operations on containers, and spin locks.
///
/// A section is a critical section of CPython on one object that all share. A thread that blocks or runs the
/// interpreter's periodic work leaves it meanwhile, just as the GIL is released there, so that code that is correct
/// with the GIL is correct within a section. In builds with the GIL sections cost nothing.

#ifndef ANYFFI_SECTIONS_H_
#define ANYFFI_SECTIONS_H_

#include <sched.h>

#include "state.h"

#ifdef Py_GIL_DISABLED

typedef struct {
  PyCriticalSection memory;
  int is_open;  // 0 if the thread was in one already
} AnyffiSection;

/// The innermost critical section of this thread, if it is a section and was not left; else NULL.
static inline PyCriticalSection* anyffi_py_current_section(void) {
#if ANYFFI_KNOWN_LAYOUT
  uintptr_t innermost = PyThreadState_GetUnchecked()->critical_section;
  // The lowest bits mark critical sections that were left, and those on two objects.
  if (innermost == 0 || (innermost & 3) != 0) return NULL;
  PyCriticalSection* found = (PyCriticalSection*)innermost;
  return found->_cs_mutex == &anyffi_state.section_object->ob_mutex ? found : NULL;
#else
  return NULL;
#endif
}

static inline void anyffi_py_begin_section(AnyffiSection* section) {
  // Nested sections would deadlock in CPython 3.13.
  section->is_open = anyffi_py_current_section() == NULL;
  if (section->is_open) PyCriticalSection_Begin(&section->memory, anyffi_state.section_object);
}

static inline void anyffi_py_end_section(AnyffiSection* section) {
  if (section->is_open) PyCriticalSection_End(&section->memory);
}

/// Leaves the section, if the thread is in one, before running Python code that may wait for other threads in a loop.
static inline PyCriticalSection* anyffi_py_leave_section(void) {
  PyCriticalSection* left = anyffi_py_current_section();
  if (left != NULL) PyCriticalSection_End(left);
  return left;
}

static inline void anyffi_py_return_to_section(PyCriticalSection* left) {
  if (left != NULL) PyCriticalSection_Begin(left, anyffi_state.section_object);
}

/// A spin lock for a few instructions that neither block nor run Python code.
typedef struct {
  int is_held;
} AnyffiSpinLock;

static inline void anyffi_py_take_lock(AnyffiSpinLock* lock) {
  for (int tries = 0; __atomic_exchange_n(&lock->is_held, 1, __ATOMIC_ACQUIRE); ++tries) {
    if (tries > 16) sched_yield();
  }
}

static inline void anyffi_py_drop_lock(AnyffiSpinLock* lock) { __atomic_store_n(&lock->is_held, 0, __ATOMIC_RELEASE); }

#define ANYFFI_BEGIN_SECTION   \
  AnyffiSection anyffi_within; \
  anyffi_py_begin_section(&anyffi_within);
#define ANYFFI_END_SECTION anyffi_py_end_section(&anyffi_within);

#else

typedef int AnyffiSection;
static inline void anyffi_py_begin_section(AnyffiSection* section) { (void)section; }
static inline void anyffi_py_end_section(AnyffiSection* section) { (void)section; }

#define ANYFFI_BEGIN_SECTION
#define ANYFFI_END_SECTION

#endif

/// Sets a reference that other threads may read. Without the GIL they read it without a reference of their own, so that
/// the former object is never released. Steals `x`.
static inline void anyffi_py_replace(PyObject** place, PyObject* x) {
#ifdef Py_GIL_DISABLED
  __atomic_store_n(place, x, __ATOMIC_RELEASE);
#else
  Py_XSETREF(*place, x);
#endif
}

/// Lets threads use an object that lives as long as its class without counting references. Without the GIL CPython 3.14
/// only specializes look-ups of such methods.
static inline void anyffi_py_defer(PyObject* x) {
#if defined(Py_GIL_DISABLED) && PY_VERSION_HEX >= 0x030E0000
  PyUnstable_Object_EnableDeferredRefcount(x);
#else
  (void)x;
#endif
}

/// Defines `anyffi_py_within_<name>`, which calls `anyffi_py_<name>` within a section.
#define ANYFFI_PY_DEFINE_WITHIN(type, name, params, args)     \
  ANYFFI_ALWAYS_INLINE type anyffi_py_within_##name params {  \
    ANYFFI_BEGIN_SECTION type result = anyffi_py_##name args; \
    ANYFFI_END_SECTION return result;                         \
  }

#endif  // ANYFFI_SECTIONS_H_
