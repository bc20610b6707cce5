/// 16-byte values to Python values.
///
/// Functions return a new reference, or NULL with an exception.

#ifndef ANYFFI_UNPACK_H_
#define ANYFFI_UNPACK_H_

#include <string.h>

#include "big_ints.h"
#include "borrowed.h"
#include "dtype.h"
#include "errors.h"
#include "state.h"
#include "wrapper.h"

static int anyffi_py_raise_taken(void);
static PyObject* anyffi_py_unpack_object(AnyffiObject* target);
static PyObject* anyffi_py_read_scalar(AnyffiObject* target);

/// Returns the value that the rules create from a type code and a payload. Steals the payload, which may be NULL with
/// an exception.
static PyObject* anyffi_py_lift(int32_t code, PyObject* payload) {
  PyObject* args[] = {payload == NULL ? NULL : PyLong_FromLong(code), payload};
  PyObject* made = args[0] == NULL ? NULL : PyObject_Vectorcall(anyffi_state.lift, args, 2, NULL);
  Py_XDECREF(args[0]);
  Py_XDECREF(payload);
  return made;
}

/// 1 if a value is an inline string of one code point below 256, which is then its `aux`.
static inline int anyffi_py_is_latin_character(const AnyffiValue* value) {
  uint64_t encoding_and_length = (uint64_t)value->as_int >> 56;
  return value->type_code == ANYFFI_STR && value->aux < 256 &&
         (encoding_and_length & ~((uint64_t)ANYFFI_LATIN1 << 4)) == ANYFFI_INLINE_BYTES - 1;
}

static PyObject* anyffi_py_unpack_str(const AnyffiValue* value) {
  AnyffiTextView text;
  anyffi_view_text(value, &text);
  if (text.encoding == ANYFFI_ASCII && text.length > 1) {
    PyObject* made = PyUnicode_New((Py_ssize_t)text.length, 127);
    if (made != NULL) memcpy(PyUnicode_DATA(made), text.data, (size_t)text.length);
    return made;
  }
  // Narrows text that C code stored too wide, and returns the interpreter's cached strings of one character.
  return PyUnicode_FromKindAndData(1 << anyffi_encoding_shift(text.encoding), text.data, (Py_ssize_t)text.length);
}

static PyObject* anyffi_py_unpack_bytes(const AnyffiValue* value) {
  AnyffiTextView text;
  anyffi_view_text(value, &text);
  return PyBytes_FromStringAndSize((const char*)text.data, (Py_ssize_t)text.length);
}

/// Unpacks borrowed text or bytes.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_unpack_view(const AnyffiValue* value) {
  PyObject* found = anyffi_py_find_borrowed(value);
  if (found != NULL) return found;
  return value->type_code == ANYFFI_STR_VIEW ? anyffi_py_unpack_str(value) : anyffi_py_unpack_bytes(value);
}

/// Returns a new `ctypes.c_void_p`.
static PyObject* anyffi_py_unpack_pointer(void* pointer) {
  if (anyffi_state.pointer_class == NULL) {
    PyObject* module = PyImport_ImportModule("ctypes");
    PyObject* cls = module == NULL ? NULL : PyObject_GetAttrString(module, "c_void_p");
    Py_XDECREF(module);
    if (cls == NULL) return NULL;
    anyffi_state.pointer_class = cls;
  }
  PyObject* address = PyLong_FromVoidPtr(pointer);
  PyObject* made = address == NULL ? NULL : PyObject_CallOneArg(anyffi_state.pointer_class, address);
  Py_XDECREF(address);
  return made;
}

static PyObject* anyffi_py_unpack_tensor_view(const AnyffiValue* value) {
  AnyffiValue owned;
  if (anyffi_value_own(value, &owned) != 0) {
    anyffi_py_raise_taken();
    return NULL;
  }
  return anyffi_py_unpack_object(owned.as_object);
}

/// Unpacks a value that holds no object; a borrowed value must still be valid.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_unpack_inline(const AnyffiValue* value) {
  int32_t code = value->type_code;
  switch (code) {
    case ANYFFI_FLOAT:
      return PyFloat_FromDouble(value->as_float);
    case ANYFFI_BOOL:
      return PyBool_FromLong(value->as_int != 0);
    case ANYFFI_STR:
      return anyffi_py_unpack_str(value);
    case ANYFFI_BYTES:
      return anyffi_py_unpack_bytes(value);
    case ANYFFI_STR_VIEW:
    case ANYFFI_BYTES_VIEW:
      return anyffi_py_unpack_view(value);
    case ANYFFI_ELLIPSIS:
      Py_INCREF(Py_Ellipsis);
      return Py_Ellipsis;
    case ANYFFI_TENSOR_VIEW:
      return anyffi_py_unpack_tensor_view(value);
    case ANYFFI_POINTER:
      return anyffi_py_unpack_pointer(value->as_pointer);
    case ANYFFI_DATA_TYPE:
      return anyffi_py_new_dtype(value->as_data_type);
    case ANYFFI_DEVICE:
      return anyffi_py_new_device(value->as_device);
    default:
      Py_INCREF(Py_None);
      return anyffi_py_lift(code, Py_None);
  }
}

/// Unpacks an owned value. Releases it, also on failure.
static inline PyObject* anyffi_py_unpack(AnyffiValue* value) {
  if (value->type_code == ANYFFI_NONE) Py_RETURN_NONE;
  if (value->type_code == ANYFFI_INT) return anyffi_py_new_int(value->as_int);
  return value->type_code > 0 ? anyffi_py_unpack_object(value->as_object) : anyffi_py_unpack_inline(value);
}

/// Unpacks a borrowed object.
static inline PyObject* anyffi_py_unpack_object_copy(AnyffiObject* object) {
  if (object->type_code >= ANYFFI_ARRAY) {
    // Saves the two atomic instructions of a reference.
    PyObject* found = anyffi_py_get_wrapper(object);
    if (found != NULL) return found;
  }
  if (object->type_code == ANYFFI_PY_OBJECT) {
    PyObject* handle = (PyObject*)((AnyffiPyObject*)object)->handle;
    Py_INCREF(handle);
    return handle;
  }
  // Creating a str, bytes, int or complex runs no code.
  if (object->type_code >= ANYFFI_STR_OBJECT && object->type_code <= ANYFFI_COMPLEX) {
    return anyffi_py_read_scalar(object);
  }
  // Creating another object may run code that changes the container that holds the value.
  anyffi_retain(object);
  return anyffi_py_unpack_object(object);
}

/// Unpacks a borrowed value.
static inline PyObject* anyffi_py_unpack_copy(const AnyffiValue* value) {
  AnyffiValue held = anyffi_read_value(value);
  return held.type_code > 0 ? anyffi_py_unpack_object_copy(held.as_object) : anyffi_py_unpack(&held);
}

// ---- objects --------------------------------------------------------------------------------------------------------

static PyObject* anyffi_py_unpack_slice(const AnyffiSlice* parts) {
  PyObject* made = NULL;
  PyObject* start = anyffi_py_unpack_copy(&parts->start);
  PyObject* stop = start == NULL ? NULL : anyffi_py_unpack_copy(&parts->stop);
  PyObject* step = stop == NULL ? NULL : anyffi_py_unpack_copy(&parts->step);
  if (step != NULL) made = PySlice_New(start, stop, step);
  Py_XDECREF(start);
  Py_XDECREF(stop);
  Py_XDECREF(step);
  return made;
}

/// Returns an exception of one of the interpreter's own classes; NULL, without an exception, for other kinds or if the
/// class refuses the message.
///
/// `make_error` would return the same in five times the time. No users' code runs here.
static PyObject* anyffi_py_make_builtin(PyObject* kind, PyObject* message) {
  if (anyffi_state.class_of_kind == NULL) return NULL;
  PyObject* cls = PyDict_GetItemWithError(anyffi_state.class_of_kind, kind);
  if (cls == NULL || PyType_HasFeature((PyTypeObject*)cls, Py_TPFLAGS_HEAPTYPE)) return NULL;
  PyObject* made = PyObject_CallOneArg(cls, message);
  if (made == NULL) {
    if (PyErr_ExceptionMatches(PyExc_Exception)) PyErr_Clear();
  } else if (!PyExceptionInstance_Check(made)) {
    Py_CLEAR(made);
  }
  return made;
}

/// Returns the exception that the rules create for an error with arguments or a cause, or whose kind is not built in.
static PyObject* anyffi_py_make_error(const AnyffiError* error, PyObject* kind, PyObject* message) {
  PyObject *made = NULL, *cause = NULL;
  PyObject* args = anyffi_py_unpack_copy(&error->args);
  if (args != NULL && args != Py_None) Py_SETREF(args, PySequence_Tuple(args));
  if (args != NULL) cause = anyffi_py_unpack_copy(&error->cause);
  if (cause != NULL) {
    made = PyObject_CallFunctionObjArgs(anyffi_state.make_error, kind, message, args, cause, NULL);
  }
  Py_XDECREF(args);
  Py_XDECREF(cause);
  return made;
}

/// Returns the name of an error's class. Most are TypeErrors, whose name needs neither a new str nor its hash.
static PyObject* anyffi_py_unpack_kind(const AnyffiValue* kind) {
  AnyffiValue usual = anyffi_make_inline_text(ANYFFI_STR, ANYFFI_ASCII, "TypeError", 9, 9);
  if (memcmp(kind, &usual, sizeof(usual)) != 0) return anyffi_py_unpack_copy(kind);
  Py_INCREF(anyffi_state.type_error_name);
  return anyffi_state.type_error_name;
}

/// Returns the original exception if it came from Python, else a new one for the error.
static PyObject* anyffi_py_unpack_error(const AnyffiError* error) {
  if (error->handle != NULL) {
    Py_INCREF((PyObject*)error->handle);
    return (PyObject*)error->handle;
  }
  PyObject* made = NULL;
  PyObject* kind = anyffi_py_unpack_kind(&error->kind);
  PyObject* message = kind == NULL ? NULL : anyffi_py_unpack_copy(&error->message);
  if (message != NULL) {
    if (error->args.type_code == ANYFFI_NONE && error->cause.type_code == ANYFFI_NONE) {
      made = anyffi_py_make_builtin(kind, message);
    }
    if (made == NULL && !PyErr_Occurred()) made = anyffi_py_make_error(error, kind, message);
  }
  Py_XDECREF(kind);
  Py_XDECREF(message);
  return made;
}

/// Unpacks an object that has no wrapper; the caller keeps it alive.
ANYFFI_ALWAYS_INLINE PyObject* anyffi_py_read_object(AnyffiObject* target) {
  AnyffiValue value = anyffi_make_object(target);
  PyObject* handle;
  switch (target->type_code) {
    case ANYFFI_STR_OBJECT:
      return anyffi_py_unpack_str(&value);
    case ANYFFI_BYTES_OBJECT:
      return anyffi_py_unpack_bytes(&value);
    case ANYFFI_PY_OBJECT:
      handle = (PyObject*)((AnyffiPyObject*)target)->handle;
      Py_INCREF(handle);
      return handle;
    case ANYFFI_FUNCTION:
      handle = (PyObject*)((AnyffiFunction*)target)->handle;
      Py_INCREF(handle);
      return handle;
    case ANYFFI_BIG_INT:
      return anyffi_py_new_big_int(((AnyffiBigInt*)target)->words, ((AnyffiBigInt*)target)->size,
                                   ((AnyffiBigInt*)target)->negative);
    case ANYFFI_COMPLEX:
      return PyComplex_FromDoubles(((AnyffiComplex*)target)->real, ((AnyffiComplex*)target)->imag);
    case ANYFFI_SLICE:
      return anyffi_py_unpack_slice((AnyffiSlice*)target);
    case ANYFFI_ERROR:
      return anyffi_py_unpack_error((AnyffiError*)target);
    case ANYFFI_BOX:
      return anyffi_py_unpack_copy(&((AnyffiBox*)target)->value);
    default:
      // The others get a wrapper, which owns a reference.
      anyffi_retain(target);
      return anyffi_py_wrap(target);
  }
}

ANYFFI_NEVER_INLINE PyObject* anyffi_py_read_scalar(AnyffiObject* target) { return anyffi_py_read_object(target); }

/// Unpacks an object. Steals the reference, also on failure.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_unpack_object(AnyffiObject* target) {
  int32_t code = target->type_code;
  if (code >= ANYFFI_ARRAY) return anyffi_py_wrap(target);
  if (code == ANYFFI_FUNCTION && ((AnyffiFunction*)target)->handle == NULL) return anyffi_py_wrap(target);
  PyObject* made = anyffi_py_read_object(target);
  if (made == NULL) {
    AnyffiValue held = anyffi_make_object(target);
    anyffi_py_discard(&held);
  } else {
    anyffi_release(target);
  }
  return made;
}

/// Returns the text of the C++ frames of an error; NULL, without an exception, if it cannot be made.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_read_frames(const AnyffiValue* error) {
  if (error->type_code != ANYFFI_ERROR) return NULL;
  AnyffiValue text;
  anyffi_error_get_frames(error->as_object, &text);
  PyObject* read = anyffi_py_unpack(&text);
  PyErr_Clear();
  return read;
}

/// Adds C++ frames to the traceback of an exception. Steals both references; returns the exception, or NULL if a signal
/// handler raised another one.
ANYFFI_NEVER_INLINE PyObject* anyffi_py_add_frames(PyObject* exception, PyObject* frames) {
  if (frames != NULL && frames != Py_None && exception != NULL) {
    PyObject* done = PyObject_CallFunctionObjArgs(anyffi_state.add_frames, exception, frames, NULL);
    if (done != NULL) {
      Py_DECREF(done);
    } else if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_MemoryError) ||
               PyErr_ExceptionMatches(PyExc_RecursionError)) {
      // The function could not even be called; the error itself matters more.
      PyErr_Clear();
    } else {
      Py_CLEAR(exception);
    }
  }
  Py_XDECREF(frames);
  return exception;
}

/// Raises the error that a function of the C ABI left; always -1.
ANYFFI_NEVER_INLINE int anyffi_py_raise_taken(void) {
  AnyffiValue error;
  anyffi_error_take_raised(&error);
  int is_from_python = error.type_code == ANYFFI_ERROR && ((AnyffiError*)error.as_object)->handle != NULL;
  PyObject* frames = anyffi_state.add_frames == NULL ? NULL : anyffi_py_read_frames(&error);
  PyObject* exception = anyffi_py_unpack(&error);
  if (exception != NULL && !PyExceptionInstance_Check(exception)) {
    Py_SETREF(exception, PyObject_CallNoArgs(anyffi_state.unexplained));
  }
  if (anyffi_state.add_frames != NULL) exception = anyffi_py_add_frames(exception, frames);
  if (!is_from_python || exception == NULL) return anyffi_py_raise(exception);
  // The exception was raised before: its traceback and context must not change.
  PyObject* cls = (PyObject*)Py_TYPE(exception);
  Py_INCREF(cls);
  PyErr_Restore(cls, exception, PyException_GetTraceback(exception));
  return -1;
}

#endif  // ANYFFI_UNPACK_H_
