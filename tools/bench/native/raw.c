// The cost of a call in Python itself: METH_FASTCALL functions that do nothing else.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject* nop(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  (void)self, (void)args, (void)count;
  Py_RETURN_NONE;
}

static PyObject* echo(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  (void)self, (void)count;
  Py_INCREF(args[0]);
  return args[0];
}

static PyObject* add_one(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  (void)self, (void)count;
  long long value = PyLong_AsLongLong(args[0]);
  if (value == -1 && PyErr_Occurred()) return NULL;
  return PyLong_FromLongLong(value + 1);
}

static PyObject* apply(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  (void)self;
  return PyObject_Vectorcall(args[0], args + 1, (size_t)(count - 1), NULL);
}

static PyObject* refuse(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  (void)self, (void)args, (void)count;
  PyErr_SetString(PyExc_ValueError, "refused");
  return NULL;
}

#define METHOD(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}

static PyMethodDef methods[] = {METHOD(nop), METHOD(echo), METHOD(add_one), METHOD(apply), METHOD(refuse), {0}};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "bench_raw", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit_bench_raw(void) { return PyModule_Create(&definition); }
