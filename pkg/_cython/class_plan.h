/// What a class caches about how to call it: an object in its `tp_cache`, which CPython itself no longer uses, but
/// visits, and releases with the class (`type_traverse`, `type_dealloc` in Objects/typeobject.c).

#ifndef ANYFFI_CLASS_PLAN_H_
#define ANYFFI_CLASS_PLAN_H_

#include <Python.h>

#include "layout.h"
#include "sections.h"
#include "state.h"

/// The plan of a class if it is of a type; else NULL.
static inline PyObject* anyffi_py_plan_of(PyTypeObject* cls, PyTypeObject* type) {
  PyObject* plan = (PyObject*)cls->tp_cache;
  return plan != NULL && Py_TYPE(plan) == type ? plan : NULL;
}

/// Returns a new plan, whose references are NULL; NULL, without an exception, if memory is exhausted: calls are then
/// only slower. `type` is the type of such plans, which is created once.
static PyObject* anyffi_py_new_plan(PyTypeObject** type, PyType_Spec* spec, Py_ssize_t num_items) {
  if (*type == NULL) *type = (PyTypeObject*)PyType_FromSpec(spec);
  PyObject* plan = *type == NULL ? NULL : (*type)->tp_alloc(*type, num_items);
  if (plan == NULL) PyErr_Clear();
  return plan;
}

/// Gives a class a plan, which is stolen, and the function that calls the class by this plan.
static void anyffi_py_set_plan(PyTypeObject* cls, PyObject* plan, vectorcallfunc call) {
  // Other threads read the plan from now on.
  anyffi_py_replace((PyObject**)&cls->tp_cache, plan);
  cls->tp_vectorcall = call;
  PyType_Modified(cls);
}

/// The end of the `tp_dealloc` of plans.
static void anyffi_py_free_plan(PyObject* plan) {
  PyTypeObject* type = Py_TYPE(plan);
  type->tp_free(plan);
  Py_DECREF(type);
}

#endif  // ANYFFI_CLASS_PLAN_H_
