/// Nested containers: shared ones stay shared, cyclic and too deep ones raise errors.

#ifndef ANYFFI_NESTING_H_
#define ANYFFI_NESTING_H_

#include <string.h>

#include "errors.h"

// ---- the memo -------------------------------------------------------------------------------------------------------

#define ANYFFI_MEMO_FIRST_CAPACITY 16

typedef struct {
  PyObject* container;  // NULL: a free slot. Owned, so that no other object gets its address.
  AnyffiObject* made;   // NULL while the container is being packed; the value around it keeps it alive.
} AnyffiMet;

/// The containers found so far in one argument, by address: a hash table with open addressing.
typedef struct {
  size_t used;      // while this is 0, nothing else is set
  size_t capacity;  // a power of two
  AnyffiMet* slots;
  AnyffiMet first[ANYFFI_MEMO_FIRST_CAPACITY];
} AnyffiMemo;

/// The slot in which the container is, or would be; the table must not be full.
static inline AnyffiMet* anyffi_py_memo_slot(const AnyffiMemo* memo, PyObject* container) {
  // Addresses are multiples of 16; the multiplication spreads neighbours.
  size_t at = ((uintptr_t)container >> 4) * (size_t)0x9E3779B97F4A7C15;
  at = (at >> 20) & (memo->capacity - 1);
  while (memo->slots[at].container != NULL && memo->slots[at].container != container) {
    at = (at + 1) & (memo->capacity - 1);
  }
  return &memo->slots[at];
}

/// The record of a container, or NULL; the memo must not be empty.
static inline AnyffiMet* anyffi_py_memo_find(const AnyffiMemo* memo, PyObject* container) {
  AnyffiMet* found = anyffi_py_memo_slot(memo, container);
  return found->container != NULL ? found : NULL;
}

static int anyffi_py_memo_grow(AnyffiMemo* memo) {
  size_t capacity = memo->capacity;
  AnyffiMet* slots = memo->slots;
  AnyffiMet* grown = (AnyffiMet*)anyffi_alloc(4 * capacity * sizeof(AnyffiMet));
  if (grown == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  memset(grown, 0, 4 * capacity * sizeof(AnyffiMet));
  memo->capacity = 4 * capacity;
  memo->slots = grown;
  for (size_t at = 0; at < capacity; ++at) {
    if (slots[at].container != NULL) *anyffi_py_memo_slot(memo, slots[at].container) = slots[at];
  }
  if (slots != memo->first) anyffi_free(slots);
  return 0;
}

static int anyffi_py_memo_add(AnyffiMemo* memo, PyObject* container) {
  if (memo->used == 0) {
    memo->capacity = ANYFFI_MEMO_FIRST_CAPACITY;
    memo->slots = memo->first;
    memset(memo->first, 0, sizeof(memo->first));
  } else if (2 * memo->used >= memo->capacity && anyffi_py_memo_grow(memo) < 0) {
    return -1;
  }
  AnyffiMet* slot = anyffi_py_memo_slot(memo, container);
  if (slot->container == NULL) {
    Py_INCREF(container);
    slot->container = container;
    memo->used += 1;
  }
  return 0;
}

static void anyffi_py_memo_clear(AnyffiMemo* memo) {
  if (memo->used == 0) return;
  for (size_t at = 0; at < memo->capacity; ++at) Py_XDECREF(memo->slots[at].container);
  if (memo->slots != memo->first) anyffi_free(memo->slots);
}

// ---- the levels -----------------------------------------------------------------------------------------------------

/// One level of containers around the value that is being packed; allocated on the stack.
typedef struct AnyffiNest {
  const struct AnyffiNest* outer;
  PyObject* container;
  AnyffiMemo* memo;
  int depth;
} AnyffiNest;

/// Fills in a nest for the outermost container.
static inline void anyffi_py_open_nest(AnyffiNest* nest, PyObject* container, AnyffiMemo* memo) {
  memo->used = 0;
  nest->outer = NULL;
  nest->container = container;
  nest->memo = memo;
  nest->depth = 1;
}

/// Packs a new reference to an object; always 0.
static inline int anyffi_py_share(AnyffiObject* found, AnyffiValue* out) {
  *out = anyffi_make_object(found);
  anyffi_retain(found);
  return 0;
}

/// Finds what `x` became earlier within this argument, borrowed: 1, 0 if it was not met, -1 with an exception if it
/// contains itself.
static inline int anyffi_py_find_met(PyObject* x, const AnyffiNest* outer, AnyffiObject** out) {
  // The outermost container is added to the memo only with the first one inside of it.
  if (outer->memo->used == 0) {
    if (x != outer->container) return 0;
  } else {
    AnyffiMet* met = anyffi_py_memo_find(outer->memo, x);
    if (met == NULL) return 0;
    *out = met->made;
    if (met->made != NULL) return 1;
  }
  return anyffi_py_raise_made(anyffi_state.contains_itself, x);
}

static inline int anyffi_py_check_depth(const AnyffiNest* nest) {
  if (nest->depth <= anyffi_state.max_depth) return 0;
  return anyffi_py_raise_made(anyffi_state.nested_too_deep, NULL);
}

static int anyffi_py_remember(const AnyffiNest* nest) {
  if (nest->outer == NULL) return 0;
  if (nest->memo->used == 0 && anyffi_py_memo_add(nest->memo, nest->outer->container) < 0) return -1;
  return anyffi_py_memo_add(nest->memo, nest->container);
}

/// Checks the depth and remembers the container of a nest, before its items are packed; 0, or -1 with an exception.
static inline int anyffi_py_enter(const AnyffiNest* nest) {
  return anyffi_py_check_depth(nest) < 0 ? -1 : anyffi_py_remember(nest);
}

/// Records the object created for it, after its items were packed; always 1: the object is new.
static inline int anyffi_py_leave(const AnyffiNest* nest, const AnyffiValue* made) {
  if (nest->outer != NULL) anyffi_py_memo_find(nest->memo, nest->container)->made = made->as_object;
  return 1;
}

#endif  // ANYFFI_NESTING_H_
