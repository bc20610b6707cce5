/// Nested containers: shared ones stay shared; cyclic and too deep ones raise errors.

#ifndef ANYFFI_NESTING_H_
#define ANYFFI_NESTING_H_

#include "errors.h"
#include "memo.h"

// ---- the containers found so far in one argument --------------------------------------------------------------------

/// Adds a container, with a reference; the object made of it, NULL at first, is kept alive by the value around it.
static inline int anyffi_py_add_container(AnyffiMemo* memo, PyObject* container) {
  int is_new = anyffi_py_memo_add(memo, container);
  if (is_new > 0) Py_INCREF(container);
  return is_new < 0 ? -1 : 0;
}

static void anyffi_py_release_container(AnyffiMet* met) { Py_DECREF((PyObject*)met->met); }

static inline void anyffi_py_forget_containers(AnyffiMemo* memo) {
  anyffi_py_memo_clear(memo, anyffi_py_release_container);
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

/// Finds the object that `x` became earlier within this argument, borrowed: 1, 0 if there is none, -1 with an exception
/// if `x` contains itself.
static inline int anyffi_py_find_met(PyObject* x, const AnyffiNest* outer, AnyffiObject** out) {
  // The outermost container is added to the memo only when the first nested one is found.
  if (outer->memo->used == 0) {
    if (x != outer->container) return 0;
  } else {
    AnyffiMet* met = anyffi_py_memo_find(outer->memo, x);
    if (met == NULL) return 0;
    *out = (AnyffiObject*)met->made;
    if (met->made != NULL) return 1;
  }
  return anyffi_py_raise_made(anyffi_state.contains_itself, x);
}

static inline int anyffi_py_check_depth(const AnyffiNest* nest) {
  if (nest->depth <= anyffi_state.max_depth) return anyffi_py_need_stack();
  return anyffi_py_raise_made(anyffi_state.nested_too_deep, NULL);
}

static int anyffi_py_remember(const AnyffiNest* nest) {
  if (nest->outer == NULL) return 0;
  if (nest->memo->used == 0 && anyffi_py_add_container(nest->memo, nest->outer->container) < 0) return -1;
  return anyffi_py_add_container(nest->memo, nest->container);
}

/// Checks the depth and adds the container of a nest to the memo, before its items are packed; 0, or -1 with an
/// exception.
static inline int anyffi_py_enter(const AnyffiNest* nest) {
  return anyffi_py_check_depth(nest) < 0 ? -1 : anyffi_py_remember(nest);
}

/// Records the object created for the container, after its items were packed; always 1: the object is new.
static inline int anyffi_py_leave(const AnyffiNest* nest, const AnyffiValue* made) {
  if (nest->outer != NULL) anyffi_py_memo_find(nest->memo, nest->container)->made = made->as_object;
  return 1;
}

#endif  // ANYFFI_NESTING_H_
