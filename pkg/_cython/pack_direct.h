/// Packs values as owned values without running Python code, which is possible for nearly all.
///
/// Nothing changes meanwhile: containers are read in place, and one with a single reference, which cannot occur twice,
/// is not added to the memo. If Python code would have to run (users' hooks, the rules, hashes of opaque keys), the
/// functions return 0, with nothing in `out`, and pack.h packs the whole argument again. Otherwise they return 1, or -1
/// with an exception.

#ifndef ANYFFI_PACK_DIRECT_H_
#define ANYFFI_PACK_DIRECT_H_

#include "decisions.h"
#include "ndarray.h"
#include "nesting.h"
#include "scalars.h"
#include "snapshots.h"
#include "wrapper.h"

/// The state of packing one argument.
typedef struct {
  PyObject* outermost;
  int holds_objects;  // whether an object was packed whose hash may run Python code
  AnyffiMemo memo;    // of containers with several references, except for the outermost
} AnyffiDirect;

/// Types of keys that hold nothing else, so that hashing and comparing them runs no Python code.
#define ANYFFI_SCALAR_KEYS                                                                                          \
  (0xFFFF | 1ULL << (15 + ANYFFI_STR_OBJECT) | 1ULL << (15 + ANYFFI_BYTES_OBJECT) | 1ULL << (15 + ANYFFI_BIG_INT) | \
   1ULL << (15 + ANYFFI_COMPLEX))

static int anyffi_py_direct_object(PyObject* x, AnyffiValue* out, AnyffiDirect* direct, int depth);

ANYFFI_ALWAYS_INLINE int anyffi_py_direct(PyObject* x, AnyffiValue* out, AnyffiDirect* direct, int depth) {
  int packed = anyffi_py_pack_scalar(x, out);
  return packed != 0 ? packed : anyffi_py_direct_object(x, out, direct, depth);
}

/// 1 for classes whose objects are packed as functions, without looking up the decision.
static inline int anyffi_py_is_callable_type(PyTypeObject* cls) {
  return cls == &PyFunction_Type || cls == &PyMethod_Type || cls == &PyCFunction_Type;
}

/// Packs an object that holds a Python object; always 1, or -1 with an exception. Borrows `handle`.
static int anyffi_py_pack_handle(int32_t code, PyObject* handle, AnyffiValue* out) {
  int status;
  // The runtime steals the reference, even on failure.
  Py_INCREF(handle);
  if (code == ANYFFI_FUNCTION) {
    status = anyffi_function_create_host(anyffi_state.callback, handle, out);
  } else if (code == ANYFFI_ERROR) {
    status = anyffi_error_create_host(handle, out);
  } else if (code == ANYFFI_TENSOR) {
    status = anyffi_tensor_from_capsule(handle, out);
  } else {
    status = anyffi_py_object_create(handle, out);
  }
  return status != 0 ? anyffi_py_raise_taken() : 1;
}

// ---- containers that occur twice ------------------------------------------------------------------------------------

/// 0 for a nested container that has no other reference.
static inline int anyffi_py_may_occur_twice(PyObject* x) {
#ifdef Py_GIL_DISABLED
  // Other threads may add references between two reads of the count.
  (void)x;
  return 1;
#else
  return Py_REFCNT(x) > 1;
#endif
}

/// Called before the items of a container are packed: 0, 1 if it was packed before and is shared now, -1 with an
/// exception.
static inline int anyffi_py_direct_enter(PyObject* x, AnyffiValue* out, AnyffiDirect* direct, int depth) {
  AnyffiMemo* memo = &direct->memo;
  int is_shared = depth > 1 && anyffi_py_may_occur_twice(x);
  if (is_shared) {
    AnyffiMet* met = anyffi_py_memo_find(memo, x);
    if (met != NULL && met->made != NULL) {
      anyffi_py_share((AnyffiObject*)met->made, out);
      return 1;
    }
    if (met != NULL || x == direct->outermost) return anyffi_py_raise_made(anyffi_state.contains_itself, x);
  }
  if (depth > anyffi_state.max_depth) return anyffi_py_raise_made(anyffi_state.nested_too_deep, NULL);
  return is_shared ? anyffi_py_add_container(memo, x) : 0;
}

/// Called after the items of a container were packed; always 1.
static inline int anyffi_py_direct_leave(PyObject* x, const AnyffiValue* out, AnyffiDirect* direct, int depth) {
  // The memo's own reference does not change which containers have several.
  if (depth > 1 && anyffi_py_may_occur_twice(x)) anyffi_py_memo_find(&direct->memo, x)->made = out->as_object;
  return 1;
}

// ---- slices ---------------------------------------------------------------------------------------------------------

/// Packs a slice whose parts are inline values, as nearly all are; 0 for others.
static int anyffi_py_pack_inline_slice(PyObject* x, AnyffiValue* out) {
  PyObject* parts[3];
  if (anyffi_py_read_slice(x, parts) < 0) return -1;
  if (anyffi_slice_create(NULL, NULL, NULL, out) != 0) return anyffi_py_raise_taken();
  // The three parts are adjacent.
  AnyffiValue* cells = &((AnyffiSlice*)out->as_object)->start;
  if (anyffi_py_pack_inline(parts[0], &cells[0]) && anyffi_py_pack_inline(parts[1], &cells[1]) &&
      anyffi_py_pack_inline(parts[2], &cells[2])) {
    return 1;
  }
  anyffi_value_drop(out);
  return 0;
}

/// Packs an inline slice as an element: a new object for each occurrence is faster than using the memo.
static int anyffi_py_direct_slice(PyObject* x, AnyffiValue* out, int depth) {
  // One level deeper is an error, which pack.h raises.
  return depth > anyffi_state.max_depth ? 0 : anyffi_py_pack_inline_slice(x, out);
}

// ---- lists and tuples -----------------------------------------------------------------------------------------------

/// The decision of a class, used for consecutive elements of that class; UNKNOWN for containers and text.
static inline AnyffiDecision anyffi_py_repeated_decision(PyTypeObject* cls) {
  if (cls == &PyComplex_Type) return ANYFFI_DECISION_COMPLEX;
  const unsigned long frequent = Py_TPFLAGS_UNICODE_SUBCLASS | Py_TPFLAGS_BYTES_SUBCLASS | Py_TPFLAGS_TUPLE_SUBCLASS |
                                 Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_DICT_SUBCLASS;
  return cls->tp_flags & frequent ? ANYFFI_DECISION_UNKNOWN : anyffi_py_known_decision(cls);
}

/// Packs an element of the same class as the element before.
static inline int anyffi_py_direct_again(PyObject* x, AnyffiDecision decision, AnyffiValue* out, AnyffiDirect* direct,
                                         int depth) {
  if (decision == ANYFFI_DECISION_UNKNOWN) return anyffi_py_direct(x, out, direct, depth);
  if (decision == ANYFFI_DECISION_INT) return anyffi_py_pack_any_int(x, out);
  if (decision == ANYFFI_DECISION_COMPLEX) {
    return anyffi_py_pack_complex(((PyComplexObject*)x)->cval.real, ((PyComplexObject*)x)->cval.imag, out);
  }
  if (decision == ANYFFI_DECISION_FLOAT || decision >= ANYFFI_DECISION_NUMPY_BOOL) {
    return anyffi_py_pack_decided_scalar(x, decision, out);
  }
  return anyffi_py_direct_object(x, out, direct, depth);
}

/// Packs consecutive items that are wrappers of class `cls`, up to the first other item or empty wrapper: a third of
/// the instructions that `anyffi_py_direct` takes.
static inline void anyffi_py_direct_wrappers(PyObject* const* items, Py_ssize_t size, PyTypeObject* cls,
                                             AnyffiSequence* sequence, AnyffiDirect* direct) {
  int64_t number = sequence->size;
  direct->holds_objects = 1;
  for (; number < size && Py_IS_TYPE(items[number], cls); ++number) {
    AnyffiObject* found = ((AnyffiWrapper*)items[number])->object;
    if (found == NULL) break;
    anyffi_py_share(found, &sequence->data[number]);
    sequence->type_mask |= anyffi_type_bit(found->type_code);
  }
  sequence->size = number;
}

/// Packs the elements that the new sequence in `out` does not have yet.
ANYFFI_ALWAYS_INLINE int anyffi_py_direct_fill_inline(PyObject* const* items, Py_ssize_t size, AnyffiValue* out,
                                                      AnyffiDirect* direct, int depth) {
  AnyffiSequence* sequence = (AnyffiSequence*)out->as_object;
  int decision = -1;
  PyTypeObject* cls = NULL;
  while (sequence->size < size) {
    PyObject* item = items[sequence->size];
    AnyffiValue* cell = &sequence->data[sequence->size];
    int packed;
    if (Py_IS_TYPE(item, cls)) {
      // Usually the elements are of one class.
      if (decision < 0) decision = anyffi_py_repeated_decision(cls);
      packed = anyffi_py_direct_again(item, (AnyffiDecision)decision, cell, direct, depth + 1);
    } else {
      cls = Py_TYPE(item);
      decision = -1;
      if (anyffi_py_is_wrapper_class(cls)) {
        int64_t before = sequence->size;
        anyffi_py_direct_wrappers(items, size, cls, sequence, direct);
        if (sequence->size > before) {
          anyffi_py_fill_inline(items, size, sequence);
          continue;
        }
      }
      packed = PySlice_Check(item) ? anyffi_py_direct_slice(item, cell, depth + 1)
                                   : anyffi_py_direct(item, cell, direct, depth + 1);
    }
    if (packed <= 0) {
      anyffi_py_discard(out);
      return packed;
    }
    sequence->size += 1;
    sequence->type_mask |= anyffi_type_bit(cell->type_code);
    // Usually that element was the only one that is not inline.
    if (sequence->size < size && !Py_IS_TYPE(items[sequence->size], cls)) {
      anyffi_py_fill_inline(items, size, sequence);
    }
  }
  return 1;
}

ANYFFI_NEVER_INLINE int anyffi_py_direct_fill(PyObject* const* items, Py_ssize_t size, AnyffiValue* out,
                                              AnyffiDirect* direct, int depth) {
  return anyffi_py_direct_fill_inline(items, size, out, direct, depth);
}

#ifdef Py_GIL_DISABLED
/// Creates a List of the items of a list up to the first that is not inline, while the list is locked and nothing
/// blocks. Returns as `anyffi_py_pack_inline_items`; if that is 0, `held` is a tuple of all items.
static int anyffi_py_pack_locked_list(PyObject* x, AnyffiValue* out, PyObject** held) {
  int packed;
  *held = NULL;
  Py_BEGIN_CRITICAL_SECTION(x);
  PyObject* const* items = anyffi_py_list_items(x);
  Py_ssize_t size = Py_SIZE(x);
  packed = anyffi_py_pack_inline_items(items, size, ANYFFI_LIST, out);
  if (packed == 0 && (*held = PyTuple_New(size)) != NULL) {
    for (Py_ssize_t i = 0; i < size; ++i) PyTuple_SET_ITEM(*held, i, Py_NewRef(items[i]));
  }
  Py_END_CRITICAL_SECTION();
  if (packed < 0) return anyffi_py_raise_taken();
  return packed == 0 && *held == NULL ? anyffi_py_discard(out) : packed;
}

/// Packs any list.
static int anyffi_py_direct_list(PyObject* x, AnyffiValue* out, AnyffiDirect* direct, int depth) {
  PyObject* held;
  int packed = anyffi_py_direct_enter(x, out, direct, depth);
  if (packed != 0) return packed;
  packed = anyffi_py_pack_locked_list(x, out, &held);
  if (packed == 0) packed = anyffi_py_direct_fill(anyffi_py_tuple_items(held), Py_SIZE(held), out, direct, depth);
  anyffi_py_drop_held(held);
  return packed <= 0 ? packed : anyffi_py_direct_leave(x, out, direct, depth);
}
#endif

static int anyffi_py_direct_sequence(PyObject* x, int32_t type_code, AnyffiValue* out, AnyffiDirect* direct,
                                     int depth) {
#ifdef Py_GIL_DISABLED
  if (type_code == ANYFFI_LIST) return anyffi_py_direct_list(x, out, direct, depth);
#endif
  PyObject* const* items = type_code == ANYFFI_ARRAY ? anyffi_py_tuple_items(x) : anyffi_py_list_items(x);
  int packed = anyffi_py_direct_enter(x, out, direct, depth);
  if (packed != 0) return packed;
  packed = anyffi_py_pack_inline_items(items, Py_SIZE(x), type_code, out);
  if (packed < 0) return anyffi_py_raise_taken();
  if (packed == 0) packed = anyffi_py_direct_fill(items, Py_SIZE(x), out, direct, depth);
  return packed <= 0 ? packed : anyffi_py_direct_leave(x, out, direct, depth);
}

// ---- dicts and sets -------------------------------------------------------------------------------------------------

/// Packs a key or a value that is neither text nor immediate.
ANYFFI_NEVER_INLINE int anyffi_py_direct_part_slow(PyObject* x, AnyffiValue* out, AnyffiDirect* direct, int depth) {
  if (PyBytes_CheckExact(x)) return anyffi_py_own_bytes(x, out);
  return anyffi_py_direct_object(x, out, direct, depth);
}

/// Packs a key or a value. Most are packed without a function call, which saves a third of the instructions.
ANYFFI_ALWAYS_INLINE int anyffi_py_direct_part(PyObject* x, AnyffiValue* out, AnyffiDirect* direct, int depth) {
  PyTypeObject* cls = Py_TYPE(x);
  if (cls == &PyUnicode_Type) {
    return anyffi_py_is_ready(x) && anyffi_py_pack_short_str(x, out) ? 1 : anyffi_py_own_str(x, out);
  }
  return anyffi_py_pack_immediate(x, cls, out) ? 1 : anyffi_py_direct_part_slow(x, out, direct, depth);
}

/// Packs one more entry of a new mapping; an element of a set has no `item`.
ANYFFI_ALWAYS_INLINE int anyffi_py_direct_entry(PyObject* key, PyObject* item, int has_item, AnyffiMapping* mapping,
                                                AnyffiDirect* direct, int depth) {
  AnyffiEntry* entry = &mapping->entries[mapping->used];
  int packed = anyffi_py_direct_part(key, &entry->key, direct, depth + 1);
  if (packed <= 0) return packed;
  if (!has_item) {
    entry->value = anyffi_make_none();
  } else {
    packed = anyffi_py_direct_part(item, &entry->value, direct, depth + 1);
    if (packed <= 0) {
      anyffi_py_discard(&entry->key);
      return packed;
    }
  }
  mapping->key_type_mask |= anyffi_type_bit(entry->key.type_code);
  mapping->value_type_mask |= anyffi_type_bit(entry->value.type_code);
  // When the mapping is destroyed, only the first `used` entries are, so that each must be complete.
  mapping->used += 1;
  return 1;
}

/// Hashes the keys; 0 also if two are equal, for which pack.h raises the error.
static int anyffi_py_direct_finish(AnyffiValue* out, const AnyffiDirect* direct) {
  AnyffiMapping* mapping = (AnyffiMapping*)out->as_object;
  int64_t first = -1, second = -1;
  int packed = 0;
  if ((mapping->key_type_mask & ~ANYFFI_SCALAR_KEYS) == 0 || !direct->holds_objects) {
    if (anyffi_mapping_finish(out->as_object, &first, &second) != 0) {
      packed = anyffi_py_raise_taken();
    } else {
      packed = first < 0;
    }
  }
  if (packed <= 0) anyffi_py_discard(out);
  return packed;
}

#ifdef Py_GIL_DISABLED
/// Packs the items `items` in the order of the mapping or set `x`: two for each entry of a mapping, one for each
/// element of a set.
static int anyffi_py_direct_entries(PyObject* x, PyObject* items, int has_item, int32_t type_code, AnyffiValue* out,
                                    AnyffiDirect* direct, int depth) {
  Py_ssize_t step = has_item ? 2 : 1;
  PyObject* const* held = PySequence_Fast_ITEMS(items);
  int packed = anyffi_py_direct_enter(x, out, direct, depth);
  if (packed != 0) return packed;
  if (anyffi_mapping_create(type_code, Py_SIZE(items) / step, out) != 0) return anyffi_py_raise_taken();
  for (Py_ssize_t i = 0; i < Py_SIZE(items); i += step) {
    packed = anyffi_py_direct_entry(held[i], has_item ? held[i + 1] : NULL, has_item, (AnyffiMapping*)out->as_object,
                                    direct, depth);
    if (packed > 0) continue;
    anyffi_py_discard(out);
    return packed;
  }
  packed = anyffi_py_direct_finish(out, direct);
  return packed <= 0 ? packed : anyffi_py_direct_leave(x, out, direct, depth);
}

static int anyffi_py_direct_dict(PyObject* x, PyObject* entries, int32_t type_code, AnyffiValue* out,
                                 AnyffiDirect* direct, int depth) {
  PyObject* held = anyffi_py_copy_entries(entries);
  int packed = held == NULL ? -1 : anyffi_py_direct_entries(x, held, 1, type_code, out, direct, depth);
  anyffi_py_drop_held(held);
  return packed;
}

static int anyffi_py_direct_set(PyObject* x, int32_t type_code, AnyffiValue* out, AnyffiDirect* direct, int depth) {
#if ANYFFI_KNOWN_LAYOUT
  PyObject* held = anyffi_py_copy_elements(x);
  int packed = held == NULL ? -1 : anyffi_py_direct_entries(x, held, 0, type_code, out, direct, depth);
  anyffi_py_drop_held(held);
  return packed;
#else
  (void)x, (void)type_code, (void)out, (void)direct, (void)depth;
  return 0;
#endif
}
#else
/// Packs the entries of the dict `x`, or of the dict `entries` below the mappingproxy `x`.
static int anyffi_py_direct_dict(PyObject* x, PyObject* entries, int32_t type_code, AnyffiValue* out,
                                 AnyffiDirect* direct, int depth) {
  PyObject *key, *item;
  Py_ssize_t position = 0;
  int packed = anyffi_py_direct_enter(x, out, direct, depth);
  if (packed != 0) return packed;
  if (anyffi_mapping_create(type_code, PyDict_Size(entries), out) != 0) return anyffi_py_raise_taken();
  while (PyDict_Next(entries, &position, &key, &item)) {
    packed = anyffi_py_direct_entry(key, item, 1, (AnyffiMapping*)out->as_object, direct, depth);
    if (packed > 0) continue;
    anyffi_py_discard(out);
    return packed;
  }
  packed = anyffi_py_direct_finish(out, direct);
  return packed <= 0 ? packed : anyffi_py_direct_leave(x, out, direct, depth);
}

static int anyffi_py_direct_set(PyObject* x, int32_t type_code, AnyffiValue* out, AnyffiDirect* direct, int depth) {
#if !ANYFFI_KNOWN_LAYOUT
  (void)x, (void)type_code, (void)out, (void)direct, (void)depth;
  return 0;
#else
  PyObject* element;
  Py_ssize_t position = 0;
  int packed = anyffi_py_direct_enter(x, out, direct, depth);
  if (packed != 0) return packed;
  if (anyffi_mapping_create(type_code, PySet_GET_SIZE(x), out) != 0) return anyffi_py_raise_taken();
  while (anyffi_py_next_element(x, &position, &element)) {
    packed = anyffi_py_direct_entry(element, NULL, 0, (AnyffiMapping*)out->as_object, direct, depth);
    if (packed > 0) continue;
    anyffi_py_discard(out);
    return packed;
  }
  packed = anyffi_py_direct_finish(out, direct);
  return packed <= 0 ? packed : anyffi_py_direct_leave(x, out, direct, depth);
#endif
}
#endif

static int anyffi_py_direct_proxy(PyObject* x, AnyffiValue* out, AnyffiDirect* direct, int depth) {
  PyObject* entries = anyffi_py_proxied(x);
  if (entries == NULL || !PyDict_CheckExact(entries)) return 0;
  return anyffi_py_direct_dict(x, entries, ANYFFI_MAP, out, direct, depth);
}

// ---- the rest -------------------------------------------------------------------------------------------------------

static int anyffi_py_direct_handle(int32_t code, PyObject* x, AnyffiValue* out, AnyffiDirect* direct) {
  direct->holds_objects = 1;
  return anyffi_py_pack_handle(code, x, out);
}

/// Packs an instance of a class that is no exact builtin.
static int anyffi_py_direct_instance(PyObject* x, AnyffiValue* out, AnyffiDirect* direct, int depth) {
  AnyffiObject* found;
  PyTypeObject* cls = Py_TYPE(x);
  AnyffiDecision decision = anyffi_py_is_wrapper_class(cls) ? ANYFFI_DECISION_WRAPPER : anyffi_py_known_decision(cls);
  // In check mode only `lower` records the items of these.
  if (anyffi_state.is_check_mode && decision >= ANYFFI_DECISION_TUPLE && decision <= ANYFFI_DECISION_FROZEN_SET)
    return 0;
  switch (decision) {
    case ANYFFI_DECISION_WRAPPER:
      found = anyffi_py_unwrap(x);
      if (found == NULL) return -1;
      direct->holds_objects = 1;
      anyffi_py_share(found, out);
      return 1;
    case ANYFFI_DECISION_TUPLE:
      return anyffi_py_direct_sequence(x, ANYFFI_ARRAY, out, direct, depth);
    case ANYFFI_DECISION_LIST:
      return anyffi_py_direct_sequence(x, ANYFFI_LIST, out, direct, depth);
    case ANYFFI_DECISION_DICT:
      return anyffi_py_direct_dict(x, x, ANYFFI_DICT, out, direct, depth);
    case ANYFFI_DECISION_PROXY:
      return anyffi_py_direct_proxy(x, out, direct, depth);
    case ANYFFI_DECISION_SET:
      return anyffi_py_direct_set(x, ANYFFI_SET, out, direct, depth);
    case ANYFFI_DECISION_FROZEN_SET:
      return anyffi_py_direct_set(x, ANYFFI_FROZEN_SET, out, direct, depth);
    case ANYFFI_DECISION_NDARRAY:
      direct->holds_objects = 1;
      return anyffi_py_pack_ndarray(x, out);
    case ANYFFI_DECISION_CLASS:
      if (anyffi_py_is_known_function(x)) return anyffi_py_direct_handle(ANYFFI_FUNCTION, x, out, direct);
      return anyffi_py_pack_data_type(x, out);
    case ANYFFI_DECISION_FUNCTION:
      return anyffi_py_direct_handle(ANYFFI_FUNCTION, x, out, direct);
    case ANYFFI_DECISION_ERROR:
      return anyffi_py_direct_handle(ANYFFI_ERROR, x, out, direct);
    case ANYFFI_DECISION_PY_OBJECT:
      return anyffi_py_direct_handle(ANYFFI_PY_OBJECT, x, out, direct);
    default:
      return anyffi_py_pack_decided_scalar(x, decision, out);
  }
}

/// Packs a value that is no scalar.
static int anyffi_py_direct_object(PyObject* x, AnyffiValue* out, AnyffiDirect* direct, int depth) {
  PyTypeObject* cls = Py_TYPE(x);
  if (cls == &PyTuple_Type) return anyffi_py_direct_sequence(x, ANYFFI_ARRAY, out, direct, depth);
  if (cls == &PyList_Type) return anyffi_py_direct_sequence(x, ANYFFI_LIST, out, direct, depth);
  if (cls == &PyDict_Type) return anyffi_py_direct_dict(x, x, ANYFFI_DICT, out, direct, depth);
  if (cls == &PySlice_Type) return anyffi_py_direct_slice(x, out, depth);
  if (cls == &PyLong_Type) return anyffi_py_pack_big_int(x, out);
  if (cls == &PyComplex_Type) return anyffi_py_pack_decided_scalar(x, ANYFFI_DECISION_COMPLEX, out);
  if (anyffi_py_is_callable_type(cls)) return anyffi_py_direct_handle(ANYFFI_FUNCTION, x, out, direct);
  if (cls == anyffi_state.ndarray) {
    direct->holds_objects = 1;
    return anyffi_py_pack_ndarray(x, out);
  }
  return anyffi_py_direct_instance(x, out, direct, depth);
}

static inline void anyffi_py_direct_open(AnyffiDirect* direct, PyObject* outermost) {
  direct->outermost = outermost;
  direct->holds_objects = 0;
  direct->memo.used = 0;
}

/// Packs a value that is neither a scalar nor an element of a container.
static int anyffi_py_pack_directly(PyObject* x, AnyffiValue* out) {
  AnyffiDirect direct;
  anyffi_py_direct_open(&direct, x);
  int packed = anyffi_py_direct_object(x, out, &direct, 1);
  anyffi_py_forget_containers(&direct.memo);
  return packed;
}

/// Packs the elements of a list or tuple that the new sequence in `out` does not have yet.
static inline int anyffi_py_finish_directly(PyObject* x, PyObject* const* items, Py_ssize_t size, AnyffiValue* out) {
  AnyffiDirect direct;
  anyffi_py_direct_open(&direct, x);
  int packed = anyffi_py_direct_fill_inline(items, size, out, &direct, 1);
  anyffi_py_forget_containers(&direct.memo);
  return packed;
}

#endif  // ANYFFI_PACK_DIRECT_H_
