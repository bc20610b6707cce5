/// Calls of overloaded functions with containers, which the overload that has their types reads itself.

#ifndef ANYFFI_OVERLOADS_H_
#define ANYFFI_OVERLOADS_H_

#include "call_items.h"

/// Up to this many arguments: those that the runtime compares without copies.
#define ANYFFI_FEW_CHOSEN 4

/// Packs arguments of which one is a container, as one that C++ reads; 0 for all others, with nothing to release.
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

/// 1 if the last argument is probably a container.
ANYFFI_ALWAYS_INLINE int anyffi_py_ends_in_container(PyObject* const* args, Py_ssize_t count) {
  if (count == 0) return 0;
  PyTypeObject* cls = Py_TYPE(args[count - 1]);
  return (cls->tp_flags & (Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_TUPLE_SUBCLASS | Py_TPFLAGS_DICT_SUBCLASS)) != 0 ||
         cls == &PySet_Type || cls == &PyFrozenSet_Type;
}

/// Calls an overloaded function with containers: 1, and its result or NULL with an exception in `out`; 0 where they
/// have to be packed, or for other arguments.
static int anyffi_py_call_choosing(PyObject* function, PyObject* const* args, Py_ssize_t count, PyObject** out) {
  AnyffiFunction* target = (AnyffiFunction*)((AnyffiWrapper*)function)->object;
  AnyffiValue values[ANYFFI_FEW_CHOSEN], result = anyffi_py_make_result();
  // Overloads may be added meanwhile.
  if (__atomic_load_n(&target->info->item_params, __ATOMIC_RELAXED) == 0 || anyffi_state.is_check_mode) return 0;
  if (!anyffi_py_pack_for_overloads(args, count, values)) return 0;
  int status = anyffi_py_enter_function(target, values, count, &result);
  if (status == ANYFFI_UNREAD) return 0;
  *out = status != 0 ? anyffi_py_fail_call(status, args, NULL, count) : anyffi_py_take_result(0, &result);
  return 1;
}

#endif  // ANYFFI_OVERLOADS_H_
