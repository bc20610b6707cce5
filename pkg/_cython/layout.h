/// Every assumption about CPython beyond its documented C API: private structs and functions, and their versions.
///
/// Known for CPython 3.9 to 3.15, including builds with Py_GIL_DISABLED. For any other version the other branches use
/// public functions. `anyffi_py_check_layout` compares both at import. All other files only use documented macros, and
/// the documented fields of PyTypeObject.

#ifndef ANYFFI_LAYOUT_H_
#define ANYFFI_LAYOUT_H_

#include <Python.h>
#include <stdint.h>

#if PY_VERSION_HEX < 0x030B0000
#include <longintrepr.h>
#endif

#ifndef ANYFFI_KNOWN_LAYOUT
#define ANYFFI_KNOWN_LAYOUT (PY_VERSION_HEX >= 0x03090000 && PY_VERSION_HEX < 0x03100000)
#endif

#define ANYFFI_ALWAYS_INLINE __attribute__((always_inline)) static inline
#define ANYFFI_NEVER_INLINE __attribute__((noinline)) static
/// Of a thread-local variable: it exists as long as its thread. Others glibc allocates when they are first used, and
/// aborts the process if it cannot.
#define ANYFFI_STATIC_TLS __attribute__((tls_model("initial-exec")))

/// Reads an exact int, if it has at most two digits (60 bits); 0 for others.
///
/// An int is its absolute value in digits of PyLong_SHIFT bits, lowest first. Its sign and the number of digits are
/// one word: `ob_size`, negative for negative ints, before 3.12; from then on `lv_tag`, whose lowest two bits are
/// 1 - sign, whose third bit is a flag, and whose other bits are the number.
ANYFFI_ALWAYS_INLINE int anyffi_py_read_short_int(PyObject* x, int64_t* out) {
#if !ANYFFI_KNOWN_LAYOUT
  int overflow = 0;
  *out = PyLong_AsLongLongAndOverflow(x, &overflow);
  return overflow == 0;
#else
#if PY_VERSION_HEX >= 0x030C0000
  const digit* digits = ((PyLongObject*)x)->long_value.ob_digit;
  uintptr_t tag = ((PyLongObject*)x)->long_value.lv_tag;
  int64_t sign = 1 - (int64_t)(tag & 3);
  size_t count = (size_t)(tag >> 3);
  if (__builtin_expect(count <= 1, 1)) {
    *out = sign * (int64_t)digits[0];
    return 1;
  }
#else
  const digit* digits = ((PyLongObject*)x)->ob_digit;
  Py_ssize_t size = Py_SIZE(x);
  if (__builtin_expect(size >= -1 && size <= 1, 1)) {
    *out = size * (int64_t)digits[0];
    return 1;
  }
  int64_t sign = size < 0 ? -1 : 1;
  Py_ssize_t count = sign * size;
#endif
  if (count != 2) return 0;
  *out = sign * ((int64_t)digits[1] << PyLong_SHIFT | (int64_t)digits[0]);
  return 1;
#endif
}

#if ANYFFI_KNOWN_LAYOUT
/// Returns the number of digits of an int and, borrowed, the digits.
static inline Py_ssize_t anyffi_py_read_digits(PyObject* x, const digit** digits, int* is_negative) {
#if PY_VERSION_HEX >= 0x030C0000
  uintptr_t tag = ((PyLongObject*)x)->long_value.lv_tag;
  *digits = ((PyLongObject*)x)->long_value.ob_digit;
  *is_negative = (tag & 3) == 2;
  return (Py_ssize_t)(tag >> 3);
#else
  Py_ssize_t size = Py_SIZE(x);
  *digits = ((PyLongObject*)x)->ob_digit;
  *is_negative = size < 0;
  return size < 0 ? -size : size;
#endif
}
#endif

/// Visits the elements of a set in their order, borrowed; 0 after the last one, or if the layout is not known.
/// `position` begins at 0.
static inline int anyffi_py_next_element(PyObject* set, Py_ssize_t* position, PyObject** element) {
#if ANYFFI_KNOWN_LAYOUT
  const PySetObject* table = (const PySetObject*)set;
  while (*position <= table->mask) {
    const setentry* entry = &table->table[(*position)++];
    // The hash of a removed element is -1, which no element has.
    if (entry->key != NULL && entry->hash != -1) {
      *element = entry->key;
      return 1;
    }
  }
#endif
  (void)set, (void)position, (void)element;
  return 0;
}

/// Returns the mapping below a `mappingproxy`, borrowed; NULL if the layout is not known.
static inline PyObject* anyffi_py_proxied(PyObject* proxy) {
#if ANYFFI_KNOWN_LAYOUT
  return *(PyObject**)((char*)proxy + sizeof(PyObject));
#else
  (void)proxy;
  return NULL;
#endif
}

/// As `anyffi_py_read_int`, for an int of more than two digits.
ANYFFI_NEVER_INLINE int anyffi_py_read_long_int(PyObject* x, int64_t* out) {
  int overflow = 0;
#if ANYFFI_KNOWN_LAYOUT && PyLong_SHIFT == 30
  const digit* digits;
  int is_negative;
  Py_ssize_t count = anyffi_py_read_digits(x, &digits, &is_negative);
  if (count == 3 && digits[2] >> (63 - 2 * PyLong_SHIFT) == 0) {
    uint64_t number = (uint64_t)digits[2] << (2 * PyLong_SHIFT) | (uint64_t)digits[1] << PyLong_SHIFT | digits[0];
    *out = is_negative ? -(int64_t)number : (int64_t)number;
    return 0;
  }
  // -2**63 has three digits.
  if (count > 3 || digits[2] >> (63 - 2 * PyLong_SHIFT) != 1 || !is_negative) return is_negative ? -1 : 1;
#endif
  *out = PyLong_AsLongLongAndOverflow(x, &overflow);
  return overflow;
}

/// Reads an int; -1 or 1 if it is below or above the range of int64.
static inline int anyffi_py_read_int(PyObject* x, int64_t* out) {
  return anyffi_py_read_short_int(x, out) ? 0 : anyffi_py_read_long_int(x, out);
}

/// Returns a new int. Python 3.11 makes one of a `long` in two thirds of the time that one of a `long long` takes.
static inline PyObject* anyffi_py_new_int(int64_t number) {
  return sizeof(long) == sizeof(int64_t) ? PyLong_FromLong((long)number) : PyLong_FromLongLong(number);
}

/// Strings made by deprecated functions have no final storage before Python 3.12.
#if PY_VERSION_HEX < 0x030C0000
#define anyffi_py_ready PyUnicode_READY
#define anyffi_py_is_ready PyUnicode_IS_READY
#else
#define anyffi_py_ready(x) ((void)(x), 0)
#define anyffi_py_is_ready(x) ((void)(x), 1)
#endif

/// The storage of a tuple's and of a list's items.
#if ANYFFI_KNOWN_LAYOUT
#define anyffi_py_tuple_items(x) (((PyTupleObject*)(x))->ob_item)
#define anyffi_py_list_items(x) (((PyListObject*)(x))->ob_item)
#else
#define anyffi_py_tuple_items(x) PySequence_Fast_ITEMS(x)
#define anyffi_py_list_items(x) PySequence_Fast_ITEMS(x)
#endif

/// Returns an empty list with storage for some items. Unlike a list of that size whose items are set later, it is
/// complete for code that finds it meanwhile (by `gc.get_objects`).
static inline PyObject* anyffi_py_reserve_list(Py_ssize_t capacity) {
  PyObject* list = PyList_New(ANYFFI_KNOWN_LAYOUT ? capacity : 0);
#if ANYFFI_KNOWN_LAYOUT
  if (list != NULL) Py_SET_SIZE((PyVarObject*)list, 0);
#endif
  return list;
}

/// Appends to a list made by `anyffi_py_reserve_list`: two stores, while it has storage left. Borrows the item.
static inline int anyffi_py_append(PyObject* list, PyObject* item) {
#if ANYFFI_KNOWN_LAYOUT
  Py_ssize_t size = Py_SIZE(list);
  if (size < ((PyListObject*)list)->allocated) {
    Py_INCREF(item);
    anyffi_py_list_items(list)[size] = item;
    Py_SET_SIZE((PyVarObject*)list, size + 1);
    return 0;
  }
#endif
  return PyList_Append(list, item);
}

/// Reads start, stop and step of a slice, borrowed: they are immutable.
static inline int anyffi_py_read_slice(PyObject* slice, PyObject* parts[3]) {
#if ANYFFI_KNOWN_LAYOUT
  parts[0] = ((PySliceObject*)slice)->start;
  parts[1] = ((PySliceObject*)slice)->stop;
  parts[2] = ((PySliceObject*)slice)->step;
#else
  static const char* const names[] = {"start", "stop", "step"};
  for (int i = 0; i < 3; ++i) {
    parts[i] = PyObject_GetAttrString(slice, names[i]);
    if (parts[i] == NULL) return -1;
    Py_DECREF(parts[i]);
  }
#endif
  return 0;
}

/// Calls with arguments by position; a Python function directly, as the interpreter does.
static inline PyObject* anyffi_py_invoke(PyObject* function, PyObject* const* args, size_t flags) {
#if ANYFFI_KNOWN_LAYOUT
  if (Py_IS_TYPE(function, &PyFunction_Type)) {
    return ((PyFunctionObject*)function)->vectorcall(function, args, flags, NULL);
  }
#endif
  return PyObject_Vectorcall(function, args, flags, NULL);
}

/// As `PyObject_GC_UnTrack`, and `PyObject_GC_IsFinalized`, for an object that is probably not tracked. Of the two
/// words before the object, the first is 0 if it is not tracked, and bit 0 of the second is set if its finalizer ran.
static inline void anyffi_py_untrack(PyObject* x) {
#if ANYFFI_KNOWN_LAYOUT && !defined(Py_GIL_DISABLED)
  if (((uintptr_t*)x)[-2] == 0) return;
#endif
  PyObject_GC_UnTrack(x);
}
static inline int anyffi_py_is_finalized(PyObject* x) {
#if ANYFFI_KNOWN_LAYOUT && !defined(Py_GIL_DISABLED)
  return (int)(((uintptr_t*)x)[-1] & 1);
#else
  return PyObject_GC_IsFinalized(x);
#endif
}

/// Returns a new reference to an object.
static inline PyObject* anyffi_py_return_new(PyObject* x) {
  Py_INCREF(x);
  return x;
}

/// 1 unless an object is in its `tp_dealloc`, where its refcount is 0.
static inline int anyffi_py_is_alive(PyObject* x) { return Py_REFCNT(x) > 0; }

/// Returns the version of a class, a number that no two classes share and that changes with the class or a base; 0 if
/// it has none.
static inline unsigned int anyffi_py_version(PyTypeObject* cls) {
#if !ANYFFI_KNOWN_LAYOUT
  (void)cls;
  return 0;
#elif PY_VERSION_HEX < 0x030B0000
  return PyType_HasFeature(cls, Py_TPFLAGS_VALID_VERSION_TAG) ? cls->tp_version_tag : 0;
#else
  return cls->tp_version_tag;
#endif
}

/// Returns an attribute of a class, unbound and borrowed, and makes the interpreter assign the class a version; NULL,
/// without an exception, if there is none.
static inline PyObject* anyffi_py_look_up(PyTypeObject* cls, PyObject* name) {
#if ANYFFI_KNOWN_LAYOUT
  return _PyType_Lookup(cls, name);
#else
  (void)cls, (void)name;
  return NULL;
#endif
}

/// The same for a caller that uses the attribute afterwards, until `anyffi_py_drop_found`: without the GIL another
/// thread may remove it from the class.
static inline PyObject* anyffi_py_find_attribute_of(PyTypeObject* cls, PyObject* name) {
#if ANYFFI_KNOWN_LAYOUT && defined(Py_GIL_DISABLED)
  return _PyType_LookupRef(cls, name);
#else
  return anyffi_py_look_up(cls, name);
#endif
}

static inline void anyffi_py_drop_found(PyObject* found) {
#if ANYFFI_KNOWN_LAYOUT && defined(Py_GIL_DISABLED)
  Py_XDECREF(found);
#else
  (void)found;
#endif
}

/// Reads the C function behind a method without arguments; NULL for anything else.
static inline PyCFunction anyffi_py_method_of(PyObject* descriptor) {
#if ANYFFI_KNOWN_LAYOUT
  if (Py_IS_TYPE(descriptor, &PyMethodDescr_Type)) {
    PyMethodDef* method = ((PyMethodDescrObject*)descriptor)->d_method;
    if (method->ml_flags == METH_NOARGS) return method->ml_meth;
  }
#endif
  (void)descriptor;
  return NULL;
}

/// Reads the getter behind an attribute, with its closure; NULL for anything else.
static inline PyGetSetDef* anyffi_py_getter_of(PyObject* descriptor) {
#if ANYFFI_KNOWN_LAYOUT
  if (Py_IS_TYPE(descriptor, &PyGetSetDescr_Type)) {
    PyGetSetDef* found = ((PyGetSetDescrObject*)descriptor)->d_getset;
    if (found->get != NULL) return found;
  }
#endif
  (void)descriptor;
  return NULL;
}

#define ANYFFI_PY_HELD 2

#if ANYFFI_KNOWN_LAYOUT && PY_VERSION_HEX < 0x030C0000
/// The identity and the state of this thread, as of the last look-up; the state may have been freed since.
typedef struct {
  unsigned long identity;
  PyThreadState* state;
} AnyffiThread;
static __thread AnyffiThread anyffi_py_thread ANYFFI_STATIC_TLS;

/// 1 if this thread has the GIL, given the state of the thread that has it. Looking up the state of this thread would
/// take longer than everything else that taking the GIL in a callback does.
static inline int anyffi_py_is_own_state(PyThreadState* holder) {
  // Another thread's state, at the address of the freed one, has another identity.
  if (holder == anyffi_py_thread.state && holder->thread_id == anyffi_py_thread.identity) return 1;
  if (holder != PyGILState_GetThisThreadState()) return 0;
  anyffi_py_thread.identity = PyThread_get_thread_ident();
  anyffi_py_thread.state = holder;
  return 1;
}
#endif

/// Takes the GIL. If this thread has it, as in most callbacks, comparing the state takes half the time of
/// PyGILState_Ensure and PyGILState_Release.
static inline int anyffi_py_lock(void) {
#if !ANYFFI_KNOWN_LAYOUT
  /* With an unknown layout PyGILState_Ensure is used. */
#elif PY_VERSION_HEX >= 0x030D0000
  if (PyThreadState_GetUnchecked() != NULL) return ANYFFI_PY_HELD;
#elif PY_VERSION_HEX >= 0x030C0000
  if (_PyThreadState_UncheckedGet() != NULL) return ANYFFI_PY_HELD;
#else
  PyThreadState* holder = _PyThreadState_UncheckedGet();
  if (holder != NULL && anyffi_py_is_own_state(holder)) return ANYFFI_PY_HELD;
#endif
  return (int)PyGILState_Ensure();
}

static inline void anyffi_py_unlock(int former) {
  if (former != ANYFFI_PY_HELD) PyGILState_Release((PyGILState_STATE)former);
}

/// Whether results are created with the collector disabled (write_items.h): before Python 3.10 C code cannot disable
/// it.
#define ANYFFI_WRITES_ITEMS (PY_VERSION_HEX >= 0x030A0000)
/// The flags of the None that is the initial value of a result of such values. Not borrowed without the GIL, where
/// another thread may destroy the wrapper that an object is borrowed from.
#ifdef Py_GIL_DISABLED
#define ANYFFI_WRITTEN_FLAGS (uint32_t)ANYFFI_TAKES_ITEMS
#else
#define ANYFFI_WRITTEN_FLAGS ((uint32_t)ANYFFI_TAKES_ITEMS | (uint32_t)ANYFFI_BORROWED)
#endif

#endif  // ANYFFI_LAYOUT_H_
