/// What the class of a value decides: the decisions of the rules (`decide` in pkg/_rules/decisions.py), remembered.
///
/// A class is identified by its address and its version, which changes with the class or a base; no two classes have
/// the same version. So nothing here keeps a class alive. Without versions the rules decide for each value.

#ifndef ANYFFI_KINDS_H_
#define ANYFFI_KINDS_H_

#include "shell.h"
#include "state.h"

/// How values of a class are packed. `kind_of` in core_pack.pxi finds the kind of a decision.
typedef enum AnyffiKind {
  ANYFFI_KIND_UNKNOWN,
  ANYFFI_KIND_LOWERED, /* by `lower` of the rules */
  ANYFFI_KIND_WRAPPER,
  ANYFFI_KIND_INT, /* from here to FROZEN_SET: the builtin and its subclasses */
  ANYFFI_KIND_FLOAT,
  ANYFFI_KIND_COMPLEX,
  ANYFFI_KIND_STR,
  ANYFFI_KIND_BYTES,
  ANYFFI_KIND_BYTEARRAY,
  ANYFFI_KIND_TUPLE,
  ANYFFI_KIND_LIST,
  ANYFFI_KIND_DICT,
  ANYFFI_KIND_SET,
  ANYFFI_KIND_FROZEN_SET,
  ANYFFI_KIND_NDARRAY,
  ANYFFI_KIND_FUNCTION,
  ANYFFI_KIND_ERROR,
  ANYFFI_KIND_PY_OBJECT,
  ANYFFI_KIND_NUMPY_BOOL, /* from here on: NumPy's scalars */
  ANYFFI_KIND_NUMPY_INT8,
  ANYFFI_KIND_NUMPY_INT16,
  ANYFFI_KIND_NUMPY_INT32,
  ANYFFI_KIND_NUMPY_INT64,
  ANYFFI_KIND_NUMPY_UINT8,
  ANYFFI_KIND_NUMPY_UINT16,
  ANYFFI_KIND_NUMPY_UINT32,
  ANYFFI_KIND_NUMPY_UINT64,
  ANYFFI_KIND_NUMPY_FLOAT16,
  ANYFFI_KIND_NUMPY_FLOAT32,
  ANYFFI_KIND_NUMPY_COMPLEX64,
} AnyffiKind;

typedef struct {
  PyTypeObject* cls;
  unsigned int version;
  uint16_t kind;
  uint16_t depends; /* on the classes that are registered with abstract ones */
  uint64_t token;   /* changes with those */
} AnyffiKnownClass;

/// Two places for each class: of more classes at one place, some are forgotten.
#define ANYFFI_KNOWN_CLASSES 512
static AnyffiKnownClass anyffi_known_classes[ANYFFI_KNOWN_CLASSES];

static inline AnyffiKnownClass* anyffi_py_places_of(PyTypeObject* cls) {
  // Addresses are multiples of 16; the multiplication spreads neighbours.
  uint64_t spread = ((uint64_t)(uintptr_t)cls >> 4) * (uint64_t)0x9E3779B97F4A7C15;
  return &anyffi_known_classes[(spread >> 40) % (ANYFFI_KNOWN_CLASSES / 2) * 2];
}

/// Reads the token of abstract classes by the C function behind `abc.get_cache_token`; 0, without an exception, where
/// there is none. A token begins at 0, so it is returned plus 1.
static inline uint64_t anyffi_py_registration_token(void) {
  PyObject* function = anyffi_state.get_cache_token;
  if (function == NULL) return 0;
  PyObject* token = PyCFunction_GET_FUNCTION(function)(PyCFunction_GET_SELF(function), NULL);
  int64_t number = -1;
  if (token == NULL || !anyffi_py_read_short_int(token, &number)) number = -1;
  if (token == NULL) PyErr_Clear();
  Py_XDECREF(token);
  return (uint64_t)(number + 1);
}

/// Remembers the kind of a class.
static void anyffi_py_remember_kind(PyTypeObject* cls, unsigned int version, AnyffiKind kind, int depends,
                                    uint64_t token) {
  AnyffiKnownClass* place = anyffi_py_places_of(cls);
  if (place->cls != cls) {
    // The older of two makes room.
    if (place[1].cls != cls)
      place[1] = place[0];
    else
      ++place;
  }
  place->cls = cls;
  place->version = version;
  place->kind = (uint16_t)kind;
  place->depends = (uint16_t)depends;
  place->token = token;
}

/// The kind of a class that is not remembered: that of a wrapper, or unknown.
ANYFFI_NEVER_INLINE AnyffiKind anyffi_py_forgotten_kind(PyTypeObject* cls) {
  if (!PyType_IsSubtype(cls, anyffi_state.object_core)) return ANYFFI_KIND_UNKNOWN;
  anyffi_py_remember_kind(cls, anyffi_py_version(cls), ANYFFI_KIND_WRAPPER, 0, 0);
  return ANYFFI_KIND_WRAPPER;
}

/// The kind of a class, if it is remembered; runs no Python code.
static inline AnyffiKind anyffi_py_known_kind(PyTypeObject* cls) {
  const AnyffiKnownClass* known = anyffi_py_places_of(cls);
  if (known->cls != cls && (++known)->cls != cls) return anyffi_py_forgotten_kind(cls);
  unsigned int version = anyffi_py_version(cls);
  if (version == 0 || known->version != version) return anyffi_py_forgotten_kind(cls);
  if (known->depends && known->token != anyffi_py_registration_token()) return ANYFFI_KIND_UNKNOWN;
  return (AnyffiKind)known->kind;
}

/// The kind of the class of `x`, by the rules if it is not remembered; -1 with an exception.
static inline int anyffi_py_find_kind(PyObject* x) {
  AnyffiKind known = anyffi_py_known_kind(Py_TYPE(x));
  return known != ANYFFI_KIND_UNKNOWN ? (int)known : anyffi_py_learn_kind(x);
}

#endif  // ANYFFI_KINDS_H_
