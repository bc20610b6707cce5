/// Imports arrays whose library exports DLPack's table of functions to compiled code (DLPack 1.2 and later).
///
/// For memory on the CPU this packs the same as `__dlpack__`, several times as fast. Everything else, errors included,
/// is left to `__dlpack__`, which also synchronises devices.

#ifndef ANYFFI_DLPACK_IMPORT_H_
#define ANYFFI_DLPACK_IMPORT_H_

#include "sections.h"
#include "unpack.h"

/// DLPackExchangeAPI.
typedef struct AnyffiExchangeTable {
  uint32_t major, minor;
  struct AnyffiExchangeTable* former; /* of an older major version, or NULL */
  void* allocate;
  int (*export_object)(void* object, AnyffiManagedTensor** out); /* or -1, with an exception set */
} AnyffiExchangeTable;

/// A class of arrays and its table. The class is identified by its address and by its version; no two classes have
/// the same version, so that nothing here keeps the class alive.
typedef struct {
  PyTypeObject* cls;
  unsigned int version;
  AnyffiExchangeTable* table;
  /// The functions behind attributes of PyTorch's tensors, which take half the time of a look-up; NULL for other
  /// classes.
  PyGetSetDef* requires_grad;
  PyCFunction is_conj, is_neg;
} AnyffiExporter;

static AnyffiExporter anyffi_exporters[8];
#ifdef Py_GIL_DISABLED
static AnyffiSpinLock anyffi_exporter_lock;
#endif

/// The slot of a class, if it is cached.
static inline AnyffiExporter* anyffi_py_exporter_of(PyTypeObject* cls) {
  return &anyffi_exporters[((uintptr_t)cls >> 6) % 8];
}

/// 1 if an attribute's value is anything but False. Steals the reference; clears errors.
static inline int anyffi_py_is_other_than_false(PyObject* value) {
  if (value == NULL)
    PyErr_Clear();
  else
    Py_DECREF(value);
  return value != Py_False;
}

/// Caches a class; replaces another one in the same slot.
static void anyffi_py_remember_exporter(const AnyffiExporter* learned) {
#ifdef Py_GIL_DISABLED
  anyffi_py_take_lock(&anyffi_exporter_lock);
#endif
  *anyffi_py_exporter_of(learned->cls) = *learned;
#ifdef Py_GIL_DISABLED
  anyffi_py_drop_lock(&anyffi_exporter_lock);
#endif
}

static int anyffi_py_requires_grad(const AnyffiExporter* known, PyObject* x) {
  if (known->requires_grad == NULL) return 0;
  return anyffi_py_is_other_than_false(known->requires_grad->get(x, known->requires_grad->closure));
}

/// 1 if the memory does not hold the tensor's actual values, because its conjugate or negative bit is set. Only complex
/// numbers have conjugates.
static int anyffi_py_is_hidden(const AnyffiExporter* known, PyObject* x, int is_complex) {
  if (known->requires_grad == NULL) return 0;
  if (is_complex && anyffi_py_is_other_than_false(known->is_conj(x, NULL))) return 1;
  return anyffi_py_is_other_than_false(known->is_neg(x, NULL));
}

static int anyffi_py_import_from(const AnyffiExporter* known, PyObject* x, AnyffiValue* out) {
  AnyffiManagedTensor* managed = NULL;
  if (anyffi_py_requires_grad(known, x)) return 0;
  if (known->table->export_object(x, &managed) != 0 || managed == NULL) {
    PyErr_Clear();
    return 0;
  }
  if (managed->tensor.device.type != ANYFFI_kDLCPU ||
      anyffi_py_is_hidden(known, x, managed->tensor.dtype.code == ANYFFI_kDLComplex)) {
    if (managed->deleter != NULL) managed->deleter(managed);
    return 0;
  }
  return anyffi_tensor_from_dlpack_host(managed, out) != 0 ? anyffi_py_raise_taken() : 1;
}

/// Packs an array of a known class; 0 for others.
static inline int anyffi_py_import_dlpack(PyObject* x, AnyffiValue* out) {
  PyTypeObject* cls = Py_TYPE(x);
  const AnyffiExporter* place = anyffi_py_exporter_of(cls);
  if (place->cls != cls || place->version != anyffi_py_version(cls)) return 0;
  // Copied, because PyTorch lets other threads run, which may replace the cached class.
#ifdef Py_GIL_DISABLED
  anyffi_py_take_lock(&anyffi_exporter_lock);
  AnyffiExporter known = *place;
  anyffi_py_drop_lock(&anyffi_exporter_lock);
  if (known.cls != cls || known.version != anyffi_py_version(cls)) return 0;
#else
  AnyffiExporter known = *place;
#endif
  return anyffi_py_import_from(&known, x, out);
}

/// Finds the functions behind PyTorch's attributes; 0 if they are not as expected.
static int anyffi_py_learn_hidden(AnyffiExporter* known, PyObject* requires_grad, PyObject* is_conj, PyObject* is_neg) {
  PyObject* const descriptors[] = {requires_grad, is_conj, is_neg};
  known->requires_grad = anyffi_py_getter_of(requires_grad);
  known->is_conj = anyffi_py_method_of(is_conj);
  known->is_neg = anyffi_py_method_of(is_neg);
  if (known->requires_grad == NULL || known->is_conj == NULL || known->is_neg == NULL) return 0;
  for (int i = 0; i < 3; ++i) {
    // The function of another class would misread the instance.
    if (!PyType_IsSubtype(known->cls, PyDescr_TYPE(descriptors[i]))) return 0;
  }
  return 1;
}

/// Finds the table in a capsule; 0 if there is none of DLPack 1.
static int anyffi_py_learn_table(AnyffiExporter* known, PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, "dlpack_exchange_api")) return 0;
  AnyffiExchangeTable* table = (AnyffiExchangeTable*)PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  while (table != NULL && table->major != 1) table = table->former;
  known->table = table;
  return table != NULL && table->export_object != NULL;
}

#endif  // ANYFFI_DLPACK_IMPORT_H_
