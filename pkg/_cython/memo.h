/// A hash table from addresses to addresses, with open addressing, which begins on the stack.

#ifndef ANYFFI_MEMO_H_
#define ANYFFI_MEMO_H_

#include <Python.h>
#include <anyffi/c_api.h>
#include <stdint.h>
#include <string.h>

#define ANYFFI_MEMO_FIRST_CAPACITY 16

typedef struct {
  void* met;   // NULL: a free slot. The user of the table keeps it alive, so that its address is not reused.
  void* made;  // the object created for it, NULL until then
} AnyffiMet;

typedef struct {
  PyObject* (*convert_tensor)(PyObject*);  // converts a tensor that is an element, or NULL; for plain.h
  size_t used;                             // while this is 0, the fields below are not set
  size_t capacity;                         // a power of two
  AnyffiMet* slots;
  AnyffiMet first[ANYFFI_MEMO_FIRST_CAPACITY];
} AnyffiMemo;

/// The slot of an address, used or free; the table must be neither empty nor full.
static inline AnyffiMet* anyffi_py_memo_slot(const AnyffiMemo* memo, const void* address) {
  // Addresses are multiples of 16; the multiplication spreads neighbouring ones.
  size_t at = ((uintptr_t)address >> 4) * (size_t)0x9E3779B97F4A7C15;
  at = (at >> 20) & (memo->capacity - 1);
  while (memo->slots[at].met != NULL && memo->slots[at].met != address) at = (at + 1) & (memo->capacity - 1);
  return &memo->slots[at];
}

/// The record of an address, or NULL.
static inline AnyffiMet* anyffi_py_memo_find(const AnyffiMemo* memo, const void* address) {
  if (memo->used == 0) return NULL;
  AnyffiMet* found = anyffi_py_memo_slot(memo, address);
  return found->met != NULL ? found : NULL;
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
    if (slots[at].met != NULL) *anyffi_py_memo_slot(memo, slots[at].met) = slots[at];
  }
  if (slots != memo->first) anyffi_free(slots);
  return 0;
}

/// Adds an address: 1 if it is new, 0 if not, -1 with an exception.
static int anyffi_py_memo_add(AnyffiMemo* memo, void* address) {
  if (memo->used == 0) {
    memo->capacity = ANYFFI_MEMO_FIRST_CAPACITY;
    memo->slots = memo->first;
    memset(memo->first, 0, sizeof(memo->first));
  } else if (2 * memo->used >= memo->capacity && anyffi_py_memo_grow(memo) < 0) {
    return -1;
  }
  AnyffiMet* slot = anyffi_py_memo_slot(memo, address);
  if (slot->met != NULL) return 0;
  slot->met = address;
  memo->used += 1;
  return 1;
}

/// Frees the table, and calls `release` for each record.
static inline void anyffi_py_memo_clear(AnyffiMemo* memo, void (*release)(AnyffiMet*)) {
  if (memo->used == 0) return;
  for (size_t at = 0; at < memo->capacity; ++at) {
    if (memo->slots[at].met != NULL) release(&memo->slots[at]);
  }
  if (memo->slots != memo->first) anyffi_free(memo->slots);
}

#endif  // ANYFFI_MEMO_H_
