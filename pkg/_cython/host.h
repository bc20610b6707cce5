/// The hooks through which the runtime uses Python: hash, equality and text of opaque objects, errors, signals,
/// capsules.

#ifndef ANYFFI_HOST_H_
#define ANYFFI_HOST_H_

#include "callback.h"
#include "conversions.h"
#include "errors.h"
#include "unpack.h"
#include "wrapper_memory.h"

static int32_t anyffi_py_host_lock(void) { return anyffi_py_lock(); }

static void anyffi_py_host_unlock(int32_t former) { anyffi_py_unlock(former); }

static void* anyffi_py_host_suspend(void) { return PyEval_SaveThread(); }

static void anyffi_py_host_resume(void* suspended) { PyEval_RestoreThread((PyThreadState*)suspended); }

static void anyffi_py_handle_release(void* handle) { Py_DECREF((PyObject*)handle); }

#ifndef Py_GIL_DISABLED
static int32_t anyffi_py_handle_release_shared(void* handle) {
  int former = anyffi_py_lock();
  int is_shared = Py_REFCNT((PyObject*)handle) > 1;
  if (is_shared) Py_DECREF((PyObject*)handle);
  anyffi_py_unlock(former);
  return is_shared;
}
#endif

/// Ends a hook that may fail: releases the GIL and returns the hook's status. 0 means success, -1 an exception.
static inline int anyffi_py_end_hook(int status, int former) {
  status = status < 0 ? anyffi_py_leave_raised() : ANYFFI_HOST_DONE;
  anyffi_py_unlock(former);
  return status;
}

static int anyffi_py_handle_hash(void* handle, int64_t* out) {
  int former = anyffi_py_lock();
  Py_hash_t hash = PyObject_Hash((PyObject*)handle);
  if (hash != -1) *out = hash;
  return anyffi_py_end_hook(hash == -1 ? -1 : 0, former);
}

static int anyffi_py_handle_equal(void* handle, const AnyffiValue* other, int32_t* out) {
  int former = anyffi_py_lock();
  int is_equal = -1;
  PyObject* value = anyffi_py_unpack_copy(other);
  // Not PyObject_RichCompareBool, which assumes that an object equals itself.
  PyObject* answer = value == NULL ? NULL : PyObject_RichCompare((PyObject*)handle, value, Py_EQ);
  if (answer != NULL) is_equal = PyObject_IsTrue(answer);
  if (is_equal >= 0) *out = is_equal;
  Py_XDECREF(answer);
  Py_XDECREF(value);
  return anyffi_py_end_hook(is_equal, former);
}

typedef int (*AnyffiHandleHash)(void* handle, int64_t* out);
typedef int (*AnyffiHandleEqual)(void* handle, const AnyffiValue* other, int32_t* out);

/// The installed hooks of opaque objects, which also hash and compare objects of the runtime whose classes define that.
static AnyffiHandleHash anyffi_hash_handle;
static AnyffiHandleEqual anyffi_equal_handle;

static int anyffi_py_object_hash(const AnyffiValue* object, int64_t* out) {
  int former = anyffi_py_lock();
  PyObject* x = anyffi_py_unpack_copy(object);
  int status = x == NULL ? anyffi_py_leave_raised() : ANYFFI_HOST_DECLINED;
  if (x != NULL && Py_TYPE(x)->tp_hash != PyBaseObject_Type.tp_hash) status = anyffi_hash_handle(x, out);
  Py_XDECREF(x);
  anyffi_py_unlock(former);
  return status;
}

static int anyffi_py_object_equal(const AnyffiValue* a, const AnyffiValue* b, int32_t* out) {
  int former = anyffi_py_lock();
  PyObject* x = anyffi_py_unpack_copy(a);
  PyObject* y = x == NULL ? NULL : anyffi_py_unpack_copy(b);
  int status = y == NULL ? anyffi_py_leave_raised() : ANYFFI_HOST_DECLINED;
  richcmpfunc identity = PyBaseObject_Type.tp_richcompare;
  if (y != NULL && (Py_TYPE(x)->tp_richcompare != identity || Py_TYPE(y)->tp_richcompare != identity)) {
    status = anyffi_equal_handle(x, b, out);
  }
  Py_XDECREF(y);
  Py_XDECREF(x);
  anyffi_py_unlock(former);
  return status;
}

/// Packs a new reference, which it steals; NULL means that an exception is set.
static int anyffi_py_pack_new(PyObject* made, AnyffiValue* out) {
  int status = made == NULL ? -1 : anyffi_py_pack_owned(made, out);
  Py_XDECREF(made);
  return status;
}

static int anyffi_py_handle_repr(void* handle, AnyffiValue* out) {
  int former = anyffi_py_lock();
  return anyffi_py_end_hook(anyffi_py_pack_new(PyObject_Repr((PyObject*)handle), out), former);
}

static int anyffi_py_handle_type_name(void* handle, AnyffiValue* out) {
  int former = anyffi_py_lock();
  PyObject* name = PyObject_GetAttrString((PyObject*)Py_TYPE((PyObject*)handle), "__name__");
  return anyffi_py_end_hook(anyffi_py_pack_new(name, out), former);
}

static int anyffi_py_error_fill(void* handle, AnyffiValue* kind, AnyffiValue* message, AnyffiValue* traceback) {
  int former = anyffi_py_lock();
  int status = -1;
  PyObject* is_whole = message != NULL ? Py_True : Py_False;
  PyObject* texts = PyObject_CallFunctionObjArgs(anyffi_state.fill_error, (PyObject*)handle, is_whole, NULL);
  if (texts != NULL) {
    // Always a tuple of three: `fill_error` is our own function.
    status = anyffi_py_pack_owned(PyTuple_GET_ITEM(texts, 0), kind);
    if (status == 0 && message != NULL) {
      status = anyffi_py_pack_owned(PyTuple_GET_ITEM(texts, 1), message);
      if (status == 0) status = anyffi_py_pack_owned(PyTuple_GET_ITEM(texts, 2), traceback);
    }
    Py_DECREF(texts);
  }
  return anyffi_py_end_hook(status, former);
}

static int anyffi_py_check_signals(void) {
  int former = anyffi_py_lock();
  return anyffi_py_end_hook(PyErr_CheckSignals(), former);
}

static void* anyffi_py_capsule_new(void* pointer, const char* name, void (*destructor)(void*)) {
  return PyCapsule_New(pointer, name, (PyCapsule_Destructor)destructor);
}

static int anyffi_py_capsule_is_valid(void* capsule, const char* name) {
  return PyCapsule_IsValid((PyObject*)capsule, name);
}

static void* anyffi_py_capsule_get_pointer(void* capsule, const char* name) {
  return PyCapsule_GetPointer((PyObject*)capsule, name);
}

static int anyffi_py_capsule_set_name(void* capsule, const char* name) {
  return PyCapsule_SetName((PyObject*)capsule, name);
}

static int anyffi_py_handle_convert(void* handle, int32_t conversion, AnyffiValue* out) {
  int former = anyffi_py_lock();
  int status = anyffi_py_convert_directly((PyObject*)handle, conversion, out);
  if (status != 0) return anyffi_py_end_hook(status < 0 ? -1 : 0, former);
  PyObject* number = PyLong_FromLong(conversion);
  PyObject* made =
      number == NULL ? NULL : PyObject_CallFunctionObjArgs(anyffi_state.convert, (PyObject*)handle, number, NULL);
  Py_XDECREF(number);
  return anyffi_py_end_hook(anyffi_py_pack_new(made, out), former);
}

/// Packs the object that keeps another one alive: its wrapper, if that is of a Python class. The rules do the same, but
/// would be slow, because this is needed for each reference to the inside of an object.
static int anyffi_py_create_kept(AnyffiObject* object, AnyffiValue* out) {
  PyObject* wrapper = anyffi_py_get_wrapper(object);
  if (wrapper == NULL) return 0;
  PyObject* members = Py_TYPE(wrapper)->tp_dict;
  PyObject* usual = anyffi_py_class_of(object->type_code);
  int is_made_again = usual == NULL ? -1 : (PyObject*)Py_TYPE(wrapper) == usual;
  if (is_made_again == 0) is_made_again = PyDict_Contains(members, anyffi_state.type_key_name);
  if (is_made_again == 0) is_made_again = PyDict_Contains(members, anyffi_state.record_name);
  int status = is_made_again != 0 ? is_made_again : anyffi_py_pack_handle(ANYFFI_PY_OBJECT, wrapper, out);
  Py_DECREF(wrapper);
  return status < 0 ? -1 : 0;
}

static int anyffi_py_handle_create(int32_t conversion, const AnyffiValue* from, AnyffiValue* out) {
  int former = anyffi_py_lock();
  if (conversion == ANYFFI_AS_KEPT) return anyffi_py_end_hook(anyffi_py_create_kept(from->as_object, out), former);
  PyObject* known = anyffi_py_create_directly(conversion, from);
  if (known != NULL || PyErr_Occurred()) return anyffi_py_end_hook(anyffi_py_pack_new(known, out), former);
  PyObject* number = PyLong_FromLong(conversion);
  PyObject* value = number == NULL ? NULL : anyffi_py_unpack_copy(from);
  PyObject* made = value == NULL ? NULL : PyObject_CallFunctionObjArgs(anyffi_state.create, number, value, NULL);
  Py_XDECREF(number);
  Py_XDECREF(value);
  return anyffi_py_end_hook(anyffi_py_pack_new(made, out), former);
}

/// 1 if the wrapper is of the public class itself, whose methods call those of the runtime.
static int32_t anyffi_py_is_own_wrapper(const AnyffiObject* container) {
  return (PyObject*)anyffi_py_class_of_wrapper(container) == anyffi_state.classes[container->type_code];
}

static int anyffi_py_wrapper_empty(AnyffiObject* target) {
  int former = anyffi_py_lock();
  int status = 0;
  PyObject* found = anyffi_py_get_wrapper(target);
  if (found != NULL && PyObject_TypeCheck(found, anyffi_state.object_core)) {
    // Not by looking up an attribute: a user's class may have one of this name.
    anyffi_py_release_wrapped(found);
  } else if (found != NULL) {
    // The wrapper is of another backend.
    PyObject* done = PyObject_CallMethod(found, "_anyffi_release", NULL);
    if (done == NULL) status = -1;
    Py_XDECREF(done);
  }
  Py_XDECREF(found);
  return anyffi_py_end_hook(status, former);
}

#ifdef Py_GIL_DISABLED
static void anyffi_py_section_begin(void* section, void* object) {
  (void)object;
  anyffi_py_begin_section((AnyffiSection*)section);
}

static void anyffi_py_section_end(void* section) { anyffi_py_end_section((AnyffiSection*)section); }
_Static_assert(sizeof(AnyffiSection) <= ANYFFI_SECTION_SIZE, "the runtime has memory for a section");
#else
static void anyffi_py_wrapper_track(void* wrapper) {
  // An object may still refer to its wrapper while that is being destroyed.
  PyObject* x = (PyObject*)wrapper;
  if (anyffi_py_is_alive(x) && !PyObject_GC_IsTracked(x)) PyObject_GC_Track(x);
}
#endif

/// Installs the hooks; check mode hashes and compares opaque objects with different functions.
static void anyffi_py_install_host(uint32_t flags, AnyffiHandleHash hash, AnyffiHandleEqual equal) {
  anyffi_hash_handle = hash;
  anyffi_equal_handle = equal;
  AnyffiHost host;
  memset(&host, 0, sizeof(host));
  host.struct_size = sizeof(AnyffiHost);
  host.flags = flags;
  host.lock = anyffi_py_host_lock;
  host.unlock = anyffi_py_host_unlock;
  host.suspend = anyffi_py_host_suspend;
  host.resume = anyffi_py_host_resume;
  host.handle_release = anyffi_py_handle_release;
  host.handle_hash = hash;
  host.handle_equal = equal;
  host.handle_repr = anyffi_py_handle_repr;
  host.handle_type_name = anyffi_py_handle_type_name;
  host.error_fill = anyffi_py_error_fill;
  host.check_signals = anyffi_py_check_signals;
  host.capsule_new = anyffi_py_capsule_new;
  host.capsule_is_valid = anyffi_py_capsule_is_valid;
  host.capsule_get_pointer = anyffi_py_capsule_get_pointer;
  host.capsule_set_name = anyffi_py_capsule_set_name;
  host.is_own_wrapper = anyffi_py_is_own_wrapper;
  host.handle_convert = anyffi_py_handle_convert;
  host.handle_create = anyffi_py_handle_create;
  host.wrapper_empty = anyffi_py_wrapper_empty;
  host.items_read = anyffi_py_read_items;
  host.items_write = anyffi_py_write_items;
  host.object_hash = anyffi_py_object_hash;
  host.object_equal = anyffi_py_object_equal;
  host.deferring_callback = anyffi_py_callback;
#ifdef Py_GIL_DISABLED
  host.section_begin = anyffi_py_section_begin;
  host.section_end = anyffi_py_section_end;
#else
  // Not without the GIL: another thread may release a reference between reading the count and the release, and wrappers
  // are tracked at once.
  host.handle_release_shared = anyffi_py_handle_release_shared;
  host.wrapper_track = anyffi_py_wrapper_track;
#endif
  anyffi_host_install(&host);
}

#endif  // ANYFFI_HOST_H_
