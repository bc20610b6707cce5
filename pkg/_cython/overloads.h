/// Calls of overloaded functions with containers, which the matching overload reads itself.

#ifndef ANYFFI_OVERLOADS_H_
#define ANYFFI_OVERLOADS_H_

#include "call.h"
#include "items.h"

/// The number of arguments that the runtime compares without copies.
#define ANYFFI_FEW_CHOSEN 4

/// Packs arguments if exactly one is a container, which C++ reads itself; 0 otherwise, with nothing to release.
static int anyffi_py_pack_for_overloads(PyObject* const* args, Py_ssize_t count, AnyffiValue* values) {
  int found = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (anyffi_py_pack_operand(args[i], &values[i]) || anyffi_py_pack_short_text(args[i], &values[i])) continue;
    int32_t code = found ? 0 : anyffi_py_items_code(args[i], Py_TYPE(args[i]));
    if (code == 0) return 0;
    values[i] = anyffi_make_items(args[i], code, 0);
    found = 1;
  }
  return found;
}

/// The flags of containers, with their subclasses.
#define ANYFFI_CONTAINER_FLAGS (Py_TPFLAGS_TUPLE_SUBCLASS | Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_DICT_SUBCLASS)

/// 1 if one of a few arguments is probably a container.
static int anyffi_py_may_hold_container(PyObject* const* args, Py_ssize_t count) {
  if (count > ANYFFI_FEW_CHOSEN) return 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyTypeObject* cls = Py_TYPE(args[i]);
    if ((cls->tp_flags & ANYFFI_CONTAINER_FLAGS) != 0 || cls == &PySet_Type || cls == &PyFrozenSet_Type) return 1;
  }
  return 0;
}

/// Calls an overloaded function with a container: 1, and its result or NULL with an exception in `out`; 0 if it has to
/// be packed, or for other arguments.
static int anyffi_py_call_choosing(AnyffiFunction* target, PyObject* const* args, Py_ssize_t count, PyObject** out) {
  AnyffiValue values[ANYFFI_FEW_CHOSEN], result = anyffi_py_make_result();
  if (!anyffi_py_may_hold_container(args, count)) return 0;
  // Other threads may add overloads.
  if (__atomic_load_n(&target->info->item_params, __ATOMIC_RELAXED) == 0 || anyffi_state.is_check_mode) return 0;
  if (!anyffi_py_pack_for_overloads(args, count, values)) return 0;
  int status = anyffi_py_enter_function(target, values, count, &result);
  if (status == ANYFFI_UNREAD) return 0;
  *out = status != 0 ? anyffi_py_fail_call(status, args, NULL, count) : anyffi_py_take_result(0, &result);
  return 1;
}

#endif  // ANYFFI_OVERLOADS_H_
