/// How values of a class are packed: the decisions of the rules (`decide` in pkg/_rules/decisions.py), cached.
///
/// A class is identified by its address and its version, which changes with the class or a base; no two classes have
/// the same version. So nothing here keeps a class alive. Without versions the rules decide for each value.

#ifndef ANYFFI_DECISIONS_H_
#define ANYFFI_DECISIONS_H_

#include "sections.h"
#include "shell.h"

/// How values of a class are packed. `decision_of` in core_pack.pxi derives it from the function of the rules.
typedef enum AnyffiDecision {
  ANYFFI_DECISION_UNKNOWN,
  ANYFFI_DECISION_LOWERED, /* `lower` of the rules packs it */
  ANYFFI_DECISION_WRAPPER,
  ANYFFI_DECISION_INT, /* from here to FROZEN_SET: the builtin and its subclasses */
  ANYFFI_DECISION_FLOAT,
  ANYFFI_DECISION_COMPLEX,
  ANYFFI_DECISION_STR,
  ANYFFI_DECISION_BYTES,
  ANYFFI_DECISION_BYTEARRAY,
  ANYFFI_DECISION_TUPLE,
  ANYFFI_DECISION_LIST,
  ANYFFI_DECISION_DICT,
  ANYFFI_DECISION_PROXY, /* of a mapping */
  ANYFFI_DECISION_SET,
  ANYFFI_DECISION_FROZEN_SET,
  ANYFFI_DECISION_NDARRAY,
  ANYFFI_DECISION_INDEX, /* an object with `__index__` */
  ANYFFI_DECISION_CLASS, /* a class, which may be one of NumPy's scalars */
  ANYFFI_DECISION_FUNCTION,
  ANYFFI_DECISION_ERROR,
  ANYFFI_DECISION_PY_OBJECT,
  ANYFFI_DECISION_VALUE,    /* an object with `__anyffi_value__` */
  ANYFFI_DECISION_EXPORTED, /* an object with `__dlpack__` */
  ANYFFI_DECISION_DATA_TYPE,
  ANYFFI_DECISION_DEVICE,
  ANYFFI_DECISION_POINTER,
  ANYFFI_DECISION_MEMORY_VIEW,
  ANYFFI_DECISION_NUMPY_BOOL, /* from here on: NumPy's scalars */
  ANYFFI_DECISION_NUMPY_INT8,
  ANYFFI_DECISION_NUMPY_INT16,
  ANYFFI_DECISION_NUMPY_INT32,
  ANYFFI_DECISION_NUMPY_INT64,
  ANYFFI_DECISION_NUMPY_UINT8,
  ANYFFI_DECISION_NUMPY_UINT16,
  ANYFFI_DECISION_NUMPY_UINT32,
  ANYFFI_DECISION_NUMPY_UINT64,
  ANYFFI_DECISION_NUMPY_FLOAT16,
  ANYFFI_DECISION_NUMPY_FLOAT32,
  ANYFFI_DECISION_NUMPY_COMPLEX64,
} AnyffiDecision;

typedef struct {
  PyTypeObject* cls;
  unsigned int version;
  uint16_t decision;
  uint16_t depends;     /* whether it depends on registrations with abstract classes */
  uint64_t token;       /* changes with each registration */
  uint32_t enumeration; /* the type code of the enumeration that C++ describes by the class, or 0 */
  PyObject* reader;     /* the function of the rules that lowers instances, borrowed: never freed */
} AnyffiKnownClass;

/// A two-way associative cache: each class has two possible slots, and a third class there replaces one.
#define ANYFFI_KNOWN_CLASSES 512
static AnyffiKnownClass anyffi_known_classes[ANYFFI_KNOWN_CLASSES];
#ifdef Py_GIL_DISABLED
/// Counters, one for each two slots: odd while a thread writes there.
static unsigned anyffi_known_changes[ANYFFI_KNOWN_CLASSES / 2];
static AnyffiSpinLock anyffi_known_lock;
#endif

static inline AnyffiKnownClass* anyffi_py_places_of(PyTypeObject* cls) {
  // Addresses are multiples of 16; the multiplication spreads neighbouring ones.
  uint64_t spread = ((uint64_t)(uintptr_t)cls >> 4) * (uint64_t)0x9E3779B97F4A7C15;
  return &anyffi_known_classes[(spread >> 40) % (ANYFFI_KNOWN_CLASSES / 2) * 2];
}

/// The record of a class as it was, or NULL. Without the GIL other threads may write the record meanwhile, so it is
/// copied to `*copy`, and a record that is being written is not found.
static inline const AnyffiKnownClass* anyffi_py_find_known(PyTypeObject* cls, AnyffiKnownClass* copy) {
  const AnyffiKnownClass* known = anyffi_py_places_of(cls);
#ifdef Py_GIL_DISABLED
  const unsigned* changes = &anyffi_known_changes[(known - anyffi_known_classes) / 2];
  unsigned before = __atomic_load_n(changes, __ATOMIC_ACQUIRE);
  if (__atomic_load_n(&known->cls, __ATOMIC_RELAXED) != cls &&
      __atomic_load_n(&(++known)->cls, __ATOMIC_RELAXED) != cls) {
    return NULL;
  }
  copy->cls = cls;
  copy->version = __atomic_load_n(&known->version, __ATOMIC_RELAXED);
  copy->decision = __atomic_load_n(&known->decision, __ATOMIC_RELAXED);
  copy->depends = __atomic_load_n(&known->depends, __ATOMIC_RELAXED);
  copy->token = __atomic_load_n(&known->token, __ATOMIC_RELAXED);
  copy->enumeration = __atomic_load_n(&known->enumeration, __ATOMIC_RELAXED);
  copy->reader = __atomic_load_n(&known->reader, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return (before & 1) == 0 && __atomic_load_n(changes, __ATOMIC_RELAXED) == before ? copy : NULL;
#else
  (void)copy;
  return known->cls != cls && (++known)->cls != cls ? NULL : known;
#endif
}

/// Reads the token of abstract classes by the C function behind `abc.get_cache_token`; 0, without an exception, if
/// there is none. Tokens begin at 0, so that 1 is added.
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

static inline void anyffi_py_write_known(AnyffiKnownClass* place, const AnyffiKnownClass* known) {
#ifdef Py_GIL_DISABLED
  __atomic_store_n(&place->cls, known->cls, __ATOMIC_RELAXED);
  __atomic_store_n(&place->version, known->version, __ATOMIC_RELAXED);
  __atomic_store_n(&place->decision, known->decision, __ATOMIC_RELAXED);
  __atomic_store_n(&place->depends, known->depends, __ATOMIC_RELAXED);
  __atomic_store_n(&place->token, known->token, __ATOMIC_RELAXED);
  __atomic_store_n(&place->enumeration, known->enumeration, __ATOMIC_RELAXED);
  __atomic_store_n(&place->reader, known->reader, __ATOMIC_RELAXED);
#else
  *place = *known;
#endif
}

/// The type code of the enumeration that C++ describes by a class: 0 for other classes, -1 with an exception.
static int64_t anyffi_py_look_up_enumeration(PyTypeObject* cls) {
  PyObject* identity = PyLong_FromVoidPtr(cls);
  if (identity == NULL) return -1;
  PyObject* code = PyDict_GetItemWithError(anyffi_state.enumeration_codes, identity);
  Py_DECREF(identity);
  if (code == NULL) return PyErr_Occurred() == NULL ? 0 : -1;
  return (int64_t)PyLong_AsUnsignedLong(code);
}

/// Caches the decision of a class.
static void anyffi_py_remember_decision(PyTypeObject* cls, unsigned int version, AnyffiDecision decision, int depends,
                                        uint64_t token, PyObject* reader) {
  AnyffiKnownClass* place = anyffi_py_places_of(cls);
  AnyffiKnownClass known = {cls, version, (uint16_t)decision, (uint16_t)depends, token, 0, reader};
  if (decision == ANYFFI_DECISION_INT) {
    int64_t code = anyffi_py_look_up_enumeration(cls);
    if (code < 0) PyErr_Clear();
    if (code > 0) known.enumeration = (uint32_t)code;
  }
#ifdef Py_GIL_DISABLED
  anyffi_py_take_lock(&anyffi_known_lock);
  unsigned* changes = &anyffi_known_changes[(place - anyffi_known_classes) / 2];
  __atomic_store_n(changes, *changes + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
#endif
  if (place->cls != cls) {
    // The older of the two is replaced.
    if (place[1].cls != cls)
      anyffi_py_write_known(&place[1], &place[0]);
    else
      ++place;
  }
  anyffi_py_write_known(place, &known);
#ifdef Py_GIL_DISABLED
  __atomic_store_n(changes, *changes + 1, __ATOMIC_RELEASE);
  anyffi_py_drop_lock(&anyffi_known_lock);
#endif
}

/// The decision of a class that is not cached: a wrapper's, which is then cached, or unknown.
ANYFFI_NEVER_INLINE AnyffiDecision anyffi_py_forgotten_decision(PyTypeObject* cls) {
  if (!PyType_IsSubtype(cls, anyffi_state.object_core)) return ANYFFI_DECISION_UNKNOWN;
  anyffi_py_remember_decision(cls, anyffi_py_version(cls), ANYFFI_DECISION_WRAPPER, 0, 0, NULL);
  return ANYFFI_DECISION_WRAPPER;
}

/// The cached record of a class if it is up to date, or NULL.
static inline const AnyffiKnownClass* anyffi_py_known_class(PyTypeObject* cls, AnyffiKnownClass* copy) {
  const AnyffiKnownClass* known = anyffi_py_find_known(cls, copy);
  if (known == NULL) return NULL;
  unsigned int version = anyffi_py_version(cls);
  return version != 0 && known->version == version ? known : NULL;
}

/// The decision of a class, if it is cached; runs no Python code.
static inline AnyffiDecision anyffi_py_known_decision(PyTypeObject* cls) {
  AnyffiKnownClass copy;
  const AnyffiKnownClass* known = anyffi_py_known_class(cls, &copy);
  if (known == NULL) return anyffi_py_forgotten_decision(cls);
  if (known->depends && known->token != anyffi_py_registration_token()) return ANYFFI_DECISION_UNKNOWN;
  return (AnyffiDecision)known->decision;
}

/// The function of the rules that lowers `x`, borrowed: the cached one of its class if that is still valid, else
/// `lower`, which decides.
static inline PyObject* anyffi_py_reader_of(PyObject* x) {
  AnyffiKnownClass copy;
  const AnyffiKnownClass* known = anyffi_state.is_check_mode ? NULL : anyffi_py_known_class(Py_TYPE(x), &copy);
  int is_right =
      known != NULL && known->reader != NULL && (!known->depends || known->token == anyffi_py_registration_token());
  return is_right ? known->reader : anyffi_state.lower;
}

/// The key for the decision for a class that is itself the value, beside that for its instances. No class has this
/// address.
static inline PyTypeObject* anyffi_py_key_of_class(PyObject* cls) { return (PyTypeObject*)((char*)cls + 1); }

/// 1 if a class is packed as a function, as nearly all are, and this is cached.
static inline int anyffi_py_is_known_function(PyObject* cls) {
  AnyffiKnownClass copy;
  const AnyffiKnownClass* known = anyffi_py_find_known(anyffi_py_key_of_class(cls), &copy);
  if (known == NULL) return 0;
  unsigned int version = anyffi_py_version((PyTypeObject*)cls);
  return version != 0 && known->version == version;
}

/// The decision of the class of `x`, by the rules if it is not cached; -1 with an exception.
static inline int anyffi_py_find_decision(PyObject* x) {
  AnyffiDecision known = anyffi_py_known_decision(Py_TYPE(x));
  return known != ANYFFI_DECISION_UNKNOWN ? (int)known : anyffi_py_learn_decision(x);
}

#endif  // ANYFFI_DECISIONS_H_
