/// Calls of functions with parameters that C++ fills from Python's containers. Apart from the others, which would need
/// more registers.

#ifndef ANYFFI_CALL_ITEMS_H_
#define ANYFFI_CALL_ITEMS_H_

#include "call.h"
#include "items.h"

/// 1 if some parameter of a function takes items. In check mode both marshallers pack all containers.
static inline int anyffi_py_has_items(const AnyffiFunction* target) {
  const AnyffiFunctionInfo* info = target->info;
  if (info == NULL || !ANYFFI_HAS(AnyffiFunctionInfo, info, load_items)) return 0;
  return info->item_params != 0 && !anyffi_state.is_check_mode;
}

/// Memory for an argument that `load_items` makes: enough for all frequent types.
typedef struct {
  _Alignas(16) char bytes[128];
} AnyffiRoom;

/// Converts argument `index`, if it is a container for such a parameter: 1, or 0 where it has to be packed.
static int anyffi_py_load_items(const AnyffiFunction* target, Py_ssize_t index, PyObject* x, AnyffiValue* out,
                                AnyffiRoom* room) {
  if (index >= 64 || (target->info->item_params >> index & 1) == 0) return 0;
  int32_t type_code = anyffi_py_items_code(x, Py_TYPE(x));
  if (type_code == 0) return 0;
  *out = anyffi_make_items(x, type_code, 0);
  return target->info->load_items(target->self, (int32_t)index, out, room, sizeof(*room)) == 0;
}

/// Calls with memory for all arguments; `args` are those given, at `places` unless that is NULL.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_call_loading(AnyffiFunction* target, PyObject* const* args,
                                                      const int32_t* places, Py_ssize_t count, AnyffiValue* values,
                                                      AnyffiRoom* rooms) {
  Py_ssize_t packed = 0;
  for (; packed < count; ++packed) {
    if (places != NULL && places[packed] < 0) {
      values[packed] = anyffi_make_value((uint32_t)ANYFFI_MISSING, 0);
      continue;
    }
    PyObject* x = args[places == NULL ? packed : places[packed]];
    if (!anyffi_py_pack_plain_argument(target, packed, x, &values[packed]) &&
        !anyffi_py_load_items(target, packed, x, &values[packed], &rooms[packed]) &&
        anyffi_py_pack_rare_object(x, &values[packed]) < 0) {
      break;
    }
  }
  PyObject* result = packed < count ? NULL : anyffi_py_call_given(target, values, count, args, places);
  return anyffi_py_finish(result, values, packed);
}

/// Calls a function that `anyffi_py_has_items`, with any arguments.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_call_items(AnyffiFunction* target, PyObject* const* args, const int32_t* places,
                                                   Py_ssize_t count) {
  if (count <= ANYFFI_MAX_SHORT) {
    AnyffiValue values[ANYFFI_MAX_SHORT];
    AnyffiRoom rooms[ANYFFI_MAX_SHORT];
    return anyffi_py_call_loading(target, args, places, count, values, rooms);
  }
  AnyffiValue* values = anyffi_py_allocate(count + (Py_ssize_t)(sizeof(AnyffiRoom) / sizeof(AnyffiValue)) * count);
  if (values == NULL) return NULL;
  PyObject* result = anyffi_py_call_loading(target, args, places, count, values, (AnyffiRoom*)(values + count));
  anyffi_free(values);
  return result;
}

#endif  // ANYFFI_CALL_ITEMS_H_
