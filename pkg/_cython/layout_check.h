/// The check at import that this interpreter's structs are as layout.h assumes.

#ifndef ANYFFI_LAYOUT_CHECK_H_
#define ANYFFI_LAYOUT_CHECK_H_

#include "big_ints.h"

/// Raises an ImportError; always -1.
static int anyffi_py_refuse_layout(const char* what) {
  PyErr_Format(PyExc_ImportError,
               "anyffi does not know how this Python (%s) stores %s; build anyffi with -DANYFFI_KNOWN_LAYOUT=0, or set "
               "FFI_MODE=ctypes",
               PY_VERSION, what);
  return -1;
}

static int anyffi_py_check_int(int64_t number) {
  int64_t read = ~number;
  PyObject* made = PyLong_FromLongLong(number);
  if (made == NULL) return -1;
  int is_right = !anyffi_py_read_short_int(made, &read) || read == number;
  // The fast path must read small ints.
  is_right = is_right && (read == number || number >= (int64_t)1 << 30 || number <= -((int64_t)1 << 30));
  Py_DECREF(made);
  return is_right ? 0 : anyffi_py_refuse_layout("an int");
}

static int anyffi_py_check_ints(void) {
  for (int shift = 0; shift < 63; ++shift) {
    for (int64_t step = -1; step <= 1; ++step) {
      int64_t number = ((int64_t)1 << shift) + step;
      if (anyffi_py_check_int(number) < 0 || anyffi_py_check_int(-number) < 0) return -1;
    }
  }
  if (anyffi_py_check_int(INT64_MIN) < 0) return -1;
  int64_t read;
  PyObject* longer = PyLong_FromString("0x1000000000000000000000001", NULL, 16);
  if (longer == NULL) return -1;
  int is_right = !anyffi_py_read_short_int(longer, &read);
#if ANYFFI_KNOWN_LAYOUT
  const digit* digits;
  int is_negative;
  is_right = is_right && anyffi_py_read_digits(longer, &digits, &is_negative) == 96 / PyLong_SHIFT + 1;
  is_right = is_right && digits[0] == 1 && digits[96 / PyLong_SHIFT] == (digit)1 << 96 % PyLong_SHIFT && !is_negative;
  const uint64_t words[] = {1, (uint64_t)1 << 32};
  PyObject* same = anyffi_py_new_big_int(words, 2, 0);
  int is_equal = same == NULL ? -1 : PyObject_RichCompareBool(same, longer, Py_EQ);
  Py_XDECREF(same);
  is_right = is_right && is_equal == 1;
#endif
  Py_DECREF(longer);
  return is_right ? 0 : anyffi_py_refuse_layout("an int");
}

/// Compares the storage of a string of three code points with what the interpreter reads.
static int anyffi_py_check_str(Py_UCS4 highest) {
  Py_UCS4 points[3] = {highest, 'a', highest}, read[3];
  PyObject* text = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, points, 3);
  if (text == NULL) return -1;
  int kind = (int)PyUnicode_KIND(text);
  const void* data = PyUnicode_DATA(text);
  int is_right = PyUnicode_GET_LENGTH(text) == 3 && PyUnicode_AsUCS4(text, read, 3, 0) != NULL;
  is_right = is_right && kind == (highest < 0x100 ? 1 : highest < 0x10000 ? 2 : 4);
  is_right = is_right && !PyUnicode_IS_ASCII(text) == !(highest < 0x80);
  for (int i = 0; is_right && i < 3; ++i) {
    Py_UCS4 stored = kind == 1   ? ((const Py_UCS1*)data)[i]
                     : kind == 2 ? ((const Py_UCS2*)data)[i]
                                 : ((const Py_UCS4*)data)[i];
    is_right = stored == points[i] && read[i] == points[i];
  }
  Py_DECREF(text);
  return is_right ? 0 : anyffi_py_refuse_layout("a str");
}

static int anyffi_py_check_list(void) {
  PyObject* list = anyffi_py_reserve_list(2);
  if (list == NULL) return -1;
  int is_right = PyList_Size(list) == 0;
  for (Py_ssize_t i = 0; is_right && i < 3; ++i) {
    is_right = anyffi_py_append(list, i == 1 ? Py_None : Py_Ellipsis) == 0 && PyList_Size(list) == i + 1;
  }
  is_right = is_right && PyList_GetItem(list, 0) == Py_Ellipsis && PyList_GetItem(list, 1) == Py_None;
  is_right = is_right && PySequence_Fast_ITEMS(list)[2] == Py_Ellipsis && PyList_GetItem(list, 2) == Py_Ellipsis;
  Py_DECREF(list);
  return is_right ? 0 : anyffi_py_refuse_layout("a list");
}

static int anyffi_py_check_slice(void) {
  static const char* const names[] = {"start", "stop", "step"};
  PyObject* parts[3];
  PyObject* slice = PySlice_New(Py_True, Py_Ellipsis, Py_False);
  if (slice == NULL) return -1;
  int is_right = anyffi_py_read_slice(slice, parts) == 0;
  for (int i = 0; is_right && i < 3; ++i) {
    PyObject* part = PyObject_GetAttrString(slice, names[i]);
    is_right = part == parts[i];
    Py_XDECREF(part);
  }
  Py_DECREF(slice);
  return is_right ? 0 : anyffi_py_refuse_layout("a slice");
}

static int anyffi_py_check_set(void) {
#if ANYFFI_KNOWN_LAYOUT
  PyObject* set = PyObject_CallFunction((PyObject*)&PySet_Type, "s", "abc");
  PyObject* removed = PyUnicode_FromString("b");
  int is_right = set != NULL && removed != NULL && PySet_Discard(set, removed) == 1;
  PyObject* iterator = is_right ? PyObject_GetIter(set) : NULL;
  PyObject *read = NULL, *element;
  Py_ssize_t position = 0;
  is_right = iterator != NULL;
  while (is_right && (element = PyIter_Next(iterator)) != NULL) {
    is_right = anyffi_py_next_element(set, &position, &read) && read == element;
    Py_DECREF(element);
  }
  is_right = is_right && !anyffi_py_next_element(set, &position, &read);
  Py_XDECREF(iterator);
  Py_XDECREF(removed);
  Py_XDECREF(set);
  return is_right ? 0 : anyffi_py_refuse_layout("a set");
#else
  return 0;
#endif
}

static int anyffi_py_check_proxy(void) {
  PyObject* dict = PyDict_New();
  PyObject* proxy = dict == NULL ? NULL : PyDictProxy_New(dict);
  int is_right = proxy != NULL && (!ANYFFI_KNOWN_LAYOUT || anyffi_py_proxied(proxy) == dict);
  Py_XDECREF(proxy);
  Py_XDECREF(dict);
  return is_right ? 0 : anyffi_py_refuse_layout("a mappingproxy");
}

/// Checks that a class loses its version when it changes.
static int anyffi_py_check_version(void) {
  PyObject* name = PyUnicode_InternFromString("anyffi");
  PyObject* cls = PyObject_CallFunction((PyObject*)&PyType_Type, "s(){}", "anyffi");
  int is_right = 0;
  if (name != NULL && cls != NULL) {
    anyffi_py_look_up((PyTypeObject*)cls, name);
    unsigned int former = anyffi_py_version((PyTypeObject*)cls);
    is_right = PyObject_SetAttr(cls, name, Py_None) == 0;
    is_right = is_right && (former == 0 || anyffi_py_version((PyTypeObject*)cls) != former);
  }
  Py_XDECREF(cls);
  Py_XDECREF(name);
  return is_right ? 0 : anyffi_py_refuse_layout("the version of a class");
}

/// Calls the C functions behind a method and a getter.
static int anyffi_py_check_descriptors(void) {
  PyObject* text = PyUnicode_FromString("text");
  PyObject* number = PyLong_FromLong(1000);
  PyObject* method = PyObject_GetAttrString((PyObject*)&PyUnicode_Type, "isascii");
  PyObject* attribute = PyObject_GetAttrString((PyObject*)&PyLong_Type, "real");
  int is_right = text != NULL && number != NULL && method != NULL && attribute != NULL;
  if (is_right && ANYFFI_KNOWN_LAYOUT) {
    PyCFunction found = anyffi_py_method_of(method);
    PyGetSetDef* getter = anyffi_py_getter_of(attribute);
    is_right = found != NULL && getter != NULL && anyffi_py_getter_of(method) == NULL;
    PyObject* answer = is_right ? found(text, NULL) : NULL;
    PyObject* real = is_right ? getter->get(number, getter->closure) : NULL;
    is_right = answer == Py_True && real == number;
    Py_XDECREF(answer);
    Py_XDECREF(real);
  }
  Py_XDECREF(text);
  Py_XDECREF(number);
  Py_XDECREF(method);
  Py_XDECREF(attribute);
  return is_right ? 0 : anyffi_py_refuse_layout("a method");
}

/// Compares the garbage collector's words before an object with the results of its functions.
static int anyffi_py_check_collected(void) {
  PyObject* list = PyList_New(0);
  if (list == NULL) return -1;
  int is_right = 1;
#if ANYFFI_KNOWN_LAYOUT && !defined(Py_GIL_DISABLED)
  uintptr_t* words = (uintptr_t*)list;
  is_right = PyObject_GC_IsTracked(list) && words[-2] != 0 && (words[-1] & 1) == 0;
  PyObject_GC_UnTrack(list);
  is_right = is_right && words[-2] == 0 && !PyObject_GC_IsFinalized(list);
  words[-1] |= 1;
  is_right = is_right && PyObject_GC_IsFinalized(list);
  words[-1] &= ~(uintptr_t)1;
#endif
  Py_DECREF(list);
  return is_right ? 0 : anyffi_py_refuse_layout("an object of the garbage collector");
}

/// Returns 0, or -1 with an ImportError that names the object whose layout is unknown.
static int anyffi_py_check_layout(void) {
  static const Py_UCS4 highest[] = {'z', 0xE9, 0x20AC, 0xDC80, 0x1F600};
  for (size_t i = 0; i < sizeof(highest) / sizeof(highest[0]); ++i) {
    if (anyffi_py_check_str(highest[i]) < 0) return -1;
  }
  if (anyffi_py_check_ints() < 0 || anyffi_py_check_list() < 0 || anyffi_py_check_slice() < 0) return -1;
  if (anyffi_py_check_set() < 0 || anyffi_py_check_proxy() < 0) return -1;
  int former = anyffi_py_lock();
  if (ANYFFI_KNOWN_LAYOUT && former != ANYFFI_PY_HELD) return anyffi_py_refuse_layout("the state of a thread");
  anyffi_py_unlock(former);
  if (anyffi_py_check_version() < 0 || anyffi_py_check_collected() < 0) return -1;
  return anyffi_py_check_descriptors();
}

#endif  // ANYFFI_LAYOUT_CHECK_H_
