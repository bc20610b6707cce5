/// Errors about refused arguments. Most messages are complete already, so that the rules, which complete the others
/// (see pkg/_rules/refusals.py), are not called: they take ten times as long as the rest of the error, and exceptions
/// are also used as control flow.

#ifndef ANYFFI_REFUSED_H_
#define ANYFFI_REFUSED_H_

#include <string.h>

#include "state.h"

/// Reads an index of at most six digits, and advances past it; -1 if there is none.
static Py_ssize_t anyffi_read_index(const char** text) {
  const char* at = *text;
  Py_ssize_t index = 0;
  while (*at >= '0' && *at <= '9' && at - *text < 6) index = 10 * index + (*at++ - '0');
  if (at == *text) return -1;
  *text = at;
  return index;
}

/// The value of the dict's item with the key in `["key"]`, without escapes, borrowed; advances past it. NULL if there
/// is none. Searches without a look-up, which could call methods of users' keys.
static PyObject* anyffi_py_find_text_item(PyObject* dict, const char** text) {
  const char* key = *text + 2;
  const char* end = strstr(key, "\"]");
  if ((*text)[1] != '"' || end == NULL || !PyDict_CheckExact(dict)) return NULL;
  *text = end + 2;
  PyObject *name, *item;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &name, &item);) {
    if (PyUnicode_CheckExact(name) && PyUnicode_IS_COMPACT_ASCII(name) && PyUnicode_GET_LENGTH(name) == end - key &&
        memcmp(PyUnicode_1BYTE_DATA(name), key, (size_t)(end - key)) == 0) {
      return item;
    }
  }
  return NULL;
}

/// The object that a message is about, borrowed: an argument, or an element found by indices and keys; NULL if it
/// cannot be found. `expected` is set to the end of the message.
static PyObject* anyffi_py_find_refused(const char* message, PyObject* const* args, const int32_t* places,
                                        Py_ssize_t count, const char** expected) {
  static const char argument[] = ": argument ", element[] = ", at ", end[] = ": expected ";
  const char* at = strstr(message, argument);
  *expected = message;
  Py_ssize_t index = 1;
  if (at == NULL) {
    // `shop.Item.price, at [1]`: the value of a property.
    at = message + strcspn(message, "(,:");
  } else {
    at += sizeof(argument) - 1;
    index = anyffi_read_index(&at);
    at = strchr(at, ')');
    if (at != NULL) ++at;
  }
  if (index < 0 || index >= count || at == NULL || (places != NULL && places[index] < 0)) return NULL;
  PyObject* found = args[places == NULL ? index : places[index]];
  if (strncmp(at, element, sizeof(element) - 1) == 0) at += sizeof(element) - 1;
  while (*at == '[') {
#ifdef Py_GIL_DISABLED
    // Other threads may change the container meanwhile.
    return NULL;
#endif
    // The rules cannot follow such a path either, and leave the message unchanged.
    if (strncmp(at, "[key ", 5) == 0) return Py_None;
    if (at[1] == '"') {
      found = anyffi_py_find_text_item(found, &at);
      if (found == NULL) return NULL;
      continue;
    }
    ++at;
    index = anyffi_read_index(&at);
    if (index < 0 || *at++ != ']' || !(PyList_CheckExact(found) || PyTuple_CheckExact(found))) return NULL;
    if (index >= PySequence_Fast_GET_SIZE(found)) return NULL;
    found = PySequence_Fast_GET_ITEM(found, index);
  }
  *expected = at;
  return strncmp(at, end, sizeof(end) - 1) == 0 ? found : NULL;
}

/// 1 if a float or complex itself is expected, not only as an element of something.
static int anyffi_is_number_expected(const char* expected) {
  int depth = 0;
  for (; *expected != '\0'; ++expected) {
    depth += (*expected == '[') - (*expected == ']');
    // Most letters start none of these; calling strncmp for each would take a sixth of the time of the whole error.
    if (depth != 0 || (*expected != ',' && *expected != 'c' && *expected != 'f')) continue;
    // The rest of the message describes the given value.
    if (strncmp(expected, ", got ", 6) == 0) return 0;
    if (strncmp(expected, "float", 5) == 0 || strncmp(expected, "complex", 7) == 0) return 1;
  }
  return 0;
}

/// 1 if the expected type may be a container that accepts a list or tuple.
static int anyffi_is_container_expected(const char* expected) {
  static const char* const names[] = {"Array", "Iterable", "List", "Sequence", "Set", "ensor"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (strstr(expected, names[i]) != NULL) return 1;
  }
  return 0;
}

/// 1 for an object about which the rules would add nothing to the message: see pkg/_rules/advice.py.
static int anyffi_py_is_final(PyObject* x, const char* expected) {
  if (PyUnicode_CheckExact(x) || PyBytes_CheckExact(x) || PyDict_CheckExact(x) || x == Py_None) return 1;
  if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) return !anyffi_is_container_expected(expected);
  return (PyLong_CheckExact(x) || PyFloat_CheckExact(x) || PyBool_Check(x)) && !anyffi_is_number_expected(expected);
}

/// 1 for a class that Python and the runtime give the same name.
static int anyffi_py_is_plain_class(PyTypeObject* cls) {
  return cls == &PyUnicode_Type || cls == &PyBytes_Type || cls == &PyLong_Type || cls == &PyFloat_Type ||
         cls == &PyBool_Type || cls == &PyList_Type || cls == &PyTuple_Type || cls == &PyDict_Type ||
         cls == Py_TYPE(Py_None);
}

/// 1 if all arguments are of such classes. For a single argument the rules may add advice.
static int anyffi_py_are_plain(PyObject* const* args, const int32_t* places, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (places != NULL && places[i] < 0) return 0;
    if (!anyffi_py_is_plain_class(Py_TYPE(args[places == NULL ? i : places[i]]))) return 0;
  }
  return count > 1;
}

/// 1 if the rules would not change the message of the exception that is set, because it is no TypeError, or all objects
/// are of classes that have the same name in the runtime and for which there is no advice.
static int anyffi_py_is_complete(PyObject* exception, PyObject* const* args, const int32_t* places, Py_ssize_t count) {
  static const char overloads[] = "(): no overload takes (";
  if ((PyObject*)Py_TYPE(exception) != PyExc_TypeError) return 1;
  PyObject* given = ((PyBaseExceptionObject*)exception)->args;
  PyObject* message = PyTuple_GET_SIZE(given) == 1 ? PyTuple_GET_ITEM(given, 0) : NULL;
  if (message == NULL || !PyUnicode_CheckExact(message) || !PyUnicode_IS_COMPACT_ASCII(message)) return 0;
  const char* text = (const char*)PyUnicode_1BYTE_DATA(message);
  const char* parameters = strchr(text, '(');
  if (parameters != NULL && strncmp(parameters, overloads, sizeof(overloads) - 1) == 0) {
    return anyffi_py_are_plain(args, places, count);
  }
  const char* expected;
  PyObject* refused = anyffi_py_find_refused(text, args, places, count, &expected);
  return refused != NULL && anyffi_py_is_final(refused, expected);
}

#endif  // ANYFFI_REFUSED_H_
