/// Calls of functions with parameters that C++ fills from Python's containers. They are separate from the other calls
/// because they need more registers.

#ifndef ANYFFI_CALL_ITEMS_H_
#define ANYFFI_CALL_ITEMS_H_

#include "call_positional.h"
#include "write_items.h"

/// 1 if some parameter of a function takes items, or it returns some; not for overloads. Never in check mode, where
/// both marshallers convert all containers.
static inline int anyffi_py_has_items(const AnyffiFunction* target) {
  const AnyffiFunctionInfo* info = target->info;
  if (info == NULL || !ANYFFI_HAS(AnyffiFunctionInfo, info, load_items)) return 0;
  if (info->flags & ANYFFI_OVERLOADED) return 0;
  int returns_items = ANYFFI_WRITES_ITEMS && (info->flags & ANYFFI_RETURNS_ITEMS);
  return (info->item_params != 0 || returns_items) && !anyffi_state.is_check_mode;
}

/// Whether the items of parameter `index` may be objects, for which the items are held during the call.
static inline int anyffi_py_takes_objects(const AnyffiFunction* target, Py_ssize_t index) {
  const AnyffiFunctionInfo* info = target->info;
  return ANYFFI_HAS(AnyffiFunctionInfo, info, object_params) && (info->object_params >> index & 1) != 0;
}

/// Shorter lists of objects are packed if there are other arguments, which is faster than copying and reading them.
#define ANYFFI_MIN_HELD 8

/// Memory for an argument that `load_items` constructs: enough for all frequent types.
typedef struct {
  _Alignas(16) char bytes[128];
  PyObject* held; /* owned, or NULL: the copy that the items were read from */
} AnyffiRoom;

/// Converts argument `index`, if it is a container for such a parameter: 1, or 0 if it has to be packed.
static int anyffi_py_load_items(const AnyffiFunction* target, Py_ssize_t index, PyObject* x, AnyffiValue* out,
                                AnyffiRoom* room) {
  if (index >= 64 || (target->info->item_params >> index & 1) == 0) return 0;
  int32_t type_code = anyffi_py_items_code(x, Py_TYPE(x));
  if (type_code == 0) return 0;
  if (__builtin_expect(anyffi_py_takes_objects(target, index), 0) && type_code != ANYFFI_ARRAY) {
    if (type_code != ANYFFI_LIST || Py_SIZE(x) < ANYFFI_MIN_HELD) return 0;
    if ((room->held = PyList_AsTuple(x)) == NULL) PyErr_Clear();
    if (room->held == NULL) return 0;
    x = room->held;
    type_code = ANYFFI_ARRAY;
  }
  *out = anyffi_make_items(x, type_code, 0);
  if (target->info->load_items(target->self, (int32_t)index, out, room->bytes, sizeof(room->bytes)) == 0) return 1;
  Py_CLEAR(room->held);
  return 0;
}

/// Releases the copies that items of arguments were read from.
static inline PyObject* anyffi_py_drop_rooms(const AnyffiFunction* target, PyObject* result, AnyffiRoom* rooms,
                                             Py_ssize_t count) {
  const AnyffiFunctionInfo* info = target->info;
  if (__builtin_expect(!ANYFFI_HAS(AnyffiFunctionInfo, info, object_params) || info->object_params == 0, 1)) {
    return result;
  }
  AnyffiSaved saved = anyffi_py_save_exception();
  for (Py_ssize_t i = 0; i < count; ++i) Py_XDECREF(rooms[i].held);
  anyffi_py_restore_exception(saved);
  return result;
}

/// Calls a function that may create its result as a Python container: its status, and the result if that is 0.
ANYFFI_ALWAYS_INLINE int anyffi_py_run_writing(AnyffiFunction* target, AnyffiValue* values, Py_ssize_t count,
                                               PyObject** out) {
  AnyffiValue result = anyffi_make_none();
  if (ANYFFI_WRITES_ITEMS && (target->info->flags & ANYFFI_RETURNS_ITEMS)) result.aux = ANYFFI_WRITTEN_FLAGS;
  int status = anyffi_py_enter_function(target, values, count, &result);
  if (__builtin_expect(status != 0, 0)) return status;
  *out = result.type_code == ANYFFI_UNSET ? (PyObject*)result.as_pointer : anyffi_py_take_result(0, &result);
  return 0;
}

/// As `anyffi_py_call_given`, for such results.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_writing(AnyffiFunction* target, AnyffiValue* values, Py_ssize_t count,
                                                      PyObject* const* args, const int32_t* places) {
  PyObject* made;
  int status = anyffi_py_run_writing(target, values, count, &made);
  return __builtin_expect(status != 0, 0) ? anyffi_py_fail_call(status, args, places, count) : made;
}

/// The same if arguments may be members of enumerations.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_writing_any(AnyffiFunction* target, AnyffiValue* values, Py_ssize_t count,
                                                          PyObject* const* args, const int32_t* places) {
  if (anyffi_py_name_members(target, values, count, args, places) < 0) return NULL;
  return anyffi_py_call_writing(target, values, count, args, places);
}

/// Calls with memory for all arguments; `args` are those passed, at `places` unless that is NULL.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_loading(AnyffiFunction* target, PyObject* const* args,
                                                      const int32_t* places, Py_ssize_t count, AnyffiValue* values,
                                                      AnyffiRoom* rooms) {
  Py_ssize_t packed = 0;
  int has_run_code = 0;
  for (; packed < count; ++packed) {
    rooms[packed].held = NULL;
    if (places != NULL && places[packed] < 0) {
      values[packed] = anyffi_make_value((uint32_t)ANYFFI_MISSING, 0);
      continue;
    }
    PyObject* x = args[places == NULL ? packed : places[packed]];
    if (anyffi_py_pack_plain_argument(target, packed, x, &values[packed])) continue;
    if (anyffi_py_is_callable_type(Py_TYPE(x))) {
      if (anyffi_py_pack_callable(x, &values[packed]) < 0) break;
    } else if (!anyffi_py_load_items(target, packed, x, &values[packed], &rooms[packed])) {
      if (anyffi_py_pack_rare_argument(target, packed, x, &values[packed]) < 0) break;
      has_run_code |= anyffi_py_may_run_code(x, &values[packed]);
    }
  }
  int is_packed = packed == count && (!has_run_code || anyffi_py_renew_objects(args, places, count, values));
  PyObject* result = is_packed ? anyffi_py_call_writing_any(target, values, count, args, places)
                               : anyffi_py_fail_pack(target, args, places, count);
  return anyffi_py_drop_rooms(target, anyffi_py_finish(result, values, packed), rooms, packed);
}

/// Calls with at most ANYFFI_MAX_SHORT arguments.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_rooms(AnyffiFunction* target, PyObject* const* args, const int32_t* places,
                                                   Py_ssize_t count) {
  AnyffiValue values[ANYFFI_MAX_SHORT];
  AnyffiRoom rooms[ANYFFI_MAX_SHORT];
  return anyffi_py_call_loading(target, args, places, count, values, rooms);
}

/// Calls with at most ANYFFI_MAX_SHORT arguments; containers among them are packed.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_packing(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count) {
  AnyffiValue values[ANYFFI_MAX_SHORT];
  int is_packed;
  Py_ssize_t packed = anyffi_py_pack_arguments(target, args, count, values, &is_packed);
  PyObject* result = is_packed ? anyffi_py_call_writing(target, values, count, args, NULL)
                               : anyffi_py_fail_pack(target, args, NULL, count);
  return anyffi_py_finish(result, values, packed);
}

/// Raises the error of a call whose first argument was read during it, or calls again with that packed if it could not
/// be read (ANYFFI_UNREAD).
ANYFFI_NEVER_INLINE PyObject* anyffi_py_fail_reading(AnyffiFunction* target, PyObject* const* args,
                                                     const int32_t* places, Py_ssize_t count, int status) {
  if (status != ANYFFI_UNREAD) return anyffi_py_fail_call(status, args, places, count);
  return places == NULL ? anyffi_py_call_packing(target, args, count)
                        : anyffi_py_call_rooms(target, args, places, count);
}

/// Calls with arguments whose first one is a container that is read during the call itself.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_read(AnyffiFunction* target, PyObject* const* args, const int32_t* places,
                                                   Py_ssize_t count, AnyffiValue* values) {
  PyObject* made;
  int status = anyffi_py_run_writing(target, values, count, &made);
  return __builtin_expect(status != 0, 0) ? anyffi_py_fail_reading(target, args, places, count, status) : made;
}

#ifndef Py_GIL_DISABLED
/// A tuple of few items on the stack, which only the reader of the items sees.
typedef union {
  PyTupleObject tuple;
  char memory[offsetof(PyTupleObject, ob_item) + ANYFFI_MIN_HELD * sizeof(PyObject*)];
} AnyffiShortTuple;

/// Calls with a list of less than ANYFFI_MIN_HELD items, which may be objects.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_short_list(AnyffiFunction* target, PyObject* const* args) {
  AnyffiShortTuple held;
  PyObject** items = (PyObject**)(held.memory + offsetof(PyTupleObject, ob_item));
  Py_ssize_t count = Py_SIZE(args[0]);
  for (Py_ssize_t i = 0; i < count; ++i) {
    items[i] = PyList_GET_ITEM(args[0], i);
    Py_INCREF(items[i]);
  }
  Py_SET_SIZE(&held.tuple, count);
  AnyffiValue value = anyffi_make_items(&held.tuple, ANYFFI_ARRAY, 0);
  PyObject* made = anyffi_py_call_read(target, args, NULL, 1, &value);
  AnyffiSaved saved;
  if (__builtin_expect(made == NULL, 0)) saved = anyffi_py_save_exception();
  for (Py_ssize_t i = 0; i < count; ++i) Py_DECREF(items[i]);
  if (__builtin_expect(made == NULL, 0)) anyffi_py_restore_exception(saved);
  return made;
}
#endif

/// Calls with a copy of the only argument, which is stolen; NULL with an exception.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_held(AnyffiFunction* target, PyObject* const* args, PyObject* held,
                                                  int32_t type_code) {
  if (held == NULL) return NULL;
  AnyffiValue value = anyffi_make_items(held, type_code, 0);
  PyObject* made = anyffi_py_call_read(target, args, NULL, 1, &value);
  AnyffiSaved saved = anyffi_py_save_exception();
  Py_DECREF(held);
  anyffi_py_restore_exception(saved);
  return made;
}

/// The most frequent call of this kind: with one list, tuple or dict.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_one_container(AnyffiFunction* target, PyObject* const* args,
                                                           int32_t type_code) {
#ifdef Py_GIL_DISABLED
  // In a copy that other threads cannot change.
  PyObject* held = type_code == ANYFFI_DICT ? PyDict_Copy(args[0]) : anyffi_py_hold_items(args[0]);
  return anyffi_py_call_held(target, args, held, type_code);
#else
  if (__builtin_expect(type_code == ANYFFI_LIST && anyffi_py_takes_objects(target, 0), 0)) {
    if (Py_SIZE(args[0]) < ANYFFI_MIN_HELD) return anyffi_py_call_short_list(target, args);
    return anyffi_py_call_held(target, args, PyList_AsTuple(args[0]), ANYFFI_ARRAY);
  }
  AnyffiValue value = anyffi_make_items(args[0], type_code, 0);
  return anyffi_py_call_read(target, args, NULL, 1, &value);
#endif
}

/// Packs an argument that allocates nothing and needs no release or record.
ANYFFI_ALWAYS_INLINE int anyffi_py_pack_simple(PyObject* x, AnyffiValue* out) {
  if (anyffi_py_pack_operand(x, out) || anyffi_py_pack_short_text(x, out)) return 1;
  // Wrappers of the runtime's own types.
  if (!anyffi_py_is_wrapper_class(Py_TYPE(x)) || ((AnyffiWrapper*)x)->object == NULL) return 0;
  return anyffi_py_pack_wrapper(x, out) == 0;
}

/// As `anyffi_py_call_items`, with at most ANYFFI_MAX_SHORT arguments. If the first one is a container and no other has
/// to be packed, the call itself reads it, because it converts that argument before any other.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_read_first(AnyffiFunction* target, PyObject* const* args,
                                                    const int32_t* places, Py_ssize_t count) {
  AnyffiValue values[ANYFFI_MAX_SHORT];
  int32_t code = 0;
  if (count > 0 && (target->info->item_params & 1) && (places == NULL || places[0] >= 0)) {
    PyObject* first = args[places == NULL ? 0 : places[0]];
    code = anyffi_py_items_code(first, Py_TYPE(first));
    if (code != 0 && anyffi_py_takes_objects(target, 0)) return anyffi_py_call_rooms(target, args, places, count);
    if (code != 0) values[0] = anyffi_make_items(first, code, 0);
  }
  for (Py_ssize_t i = code != 0; i < count; ++i) {
    if (places != NULL && places[i] < 0) {
      values[i] = anyffi_make_value((uint32_t)ANYFFI_MISSING, 0);
    } else if (!anyffi_py_pack_simple(args[places == NULL ? i : places[i]], &values[i])) {
      return anyffi_py_call_rooms(target, args, places, count);
    }
  }
  return code != 0 ? anyffi_py_call_read(target, args, places, count, values)
                   : anyffi_py_call_writing(target, values, count, args, places);
}
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_reading(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count) {
  return anyffi_py_read_first(target, args, NULL, count);
}
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_reading_placed(AnyffiFunction* target, PyObject* const* args,
                                                            const int32_t* places, Py_ssize_t count) {
  return anyffi_py_read_first(target, args, places, count);
}

/// The same for a function that reads no items, with one argument that is neither text, an int nor a callable.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_giving_object(AnyffiFunction* target, PyObject* const* args) {
  AnyffiValue value;
  if (anyffi_py_pack_object(args[0], &value) < 0) return anyffi_py_fail_pack(target, args, NULL, 1);
  return anyffi_py_finish(anyffi_py_call_writing_any(target, &value, 1, args, NULL), &value, 1);
}

/// The same for a function that reads no items and has at most one argument, which needs fewer registers.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_giving_one(AnyffiFunction* target, PyObject* const* args,
                                                        Py_ssize_t count) {
  AnyffiValue value;
  if (count > 0 && !anyffi_py_pack_simple(args[0], &value)) {
    int needs_rooms = Py_TYPE(args[0])->tp_flags & (ANYFFI_TEXT_FLAGS | Py_TPFLAGS_LONG_SUBCLASS) ||
                      anyffi_py_is_callable_type(Py_TYPE(args[0]));
    return needs_rooms ? anyffi_py_call_rooms(target, args, NULL, 1) : anyffi_py_call_giving_object(target, args);
  }
  return anyffi_py_call_writing(target, &value, count, args, NULL);
}

/// Calls with more arguments than ANYFFI_MAX_SHORT.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_many_items(AnyffiFunction* target, PyObject* const* args,
                                                        const int32_t* places, Py_ssize_t count) {
  AnyffiValue* values = anyffi_py_allocate(count + (Py_ssize_t)(sizeof(AnyffiRoom) / sizeof(AnyffiValue)) * count);
  if (values == NULL) return NULL;
  PyObject* result = anyffi_py_call_loading(target, args, places, count, values, (AnyffiRoom*)(values + count));
  anyffi_free(values);
  return result;
}

/// Calls a function that `anyffi_py_has_items`, with any arguments. Each path is a tail call.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_items(AnyffiFunction* target, PyObject* const* args,
                                                    const int32_t* places, Py_ssize_t count) {
  if (count > ANYFFI_MAX_SHORT) return anyffi_py_call_many_items(target, args, places, count);
  if (places != NULL) return anyffi_py_call_reading_placed(target, args, places, count);
  uint64_t item_params = target->info->item_params;
  if (item_params == 0 && count <= 1) return anyffi_py_call_giving_one(target, args, count);
  if (count == 1 && (item_params & 1)) {
    PyTypeObject* cls = Py_TYPE(args[0]);
    if (cls == &PyList_Type) return anyffi_py_call_one_container(target, args, ANYFFI_LIST);
    if (cls == &PyTuple_Type) return anyffi_py_call_one_container(target, args, ANYFFI_ARRAY);
    if (cls == &PyDict_Type) return anyffi_py_call_one_container(target, args, ANYFFI_DICT);
  }
  // A function for the callable has to be released after the call.
  int is_callable = count > 0 && anyffi_py_is_callable_type(Py_TYPE(args[0]));
  return is_callable ? anyffi_py_call_rooms(target, args, NULL, count) : anyffi_py_call_reading(target, args, count);
}

#endif  // ANYFFI_CALL_ITEMS_H_
