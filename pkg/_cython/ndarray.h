/// NumPy's own arrays to tensors, read from NumPy's structs.
///
/// This packs the same as `lower_array` of the rules, much faster. NumPy's headers are not needed:
/// `anyffi_py_learn_ndarray` checks the structs below with the first array that the rules pack.

#ifndef ANYFFI_NDARRAY_H_
#define ANYFFI_NDARRAY_H_

#include "sections.h"
#include "unpack.h"

/// The first fields of NumPy's objects, in all versions since 1.7.
typedef struct {
  PyObject_HEAD PyTypeObject* scalar_type;
  char kind, character, byte_order, former_flags;
  int number;
} AnyffiNumPyDtype;

typedef struct {
  PyObject_HEAD char* data;
  int ndim;
  Py_ssize_t* shape;
  Py_ssize_t* strides; /* in bytes */
  PyObject* base;
  AnyffiNumPyDtype* dtype;
  int flags;
} AnyffiNumPyArray;

/// NPY_ARRAY_WRITEABLE, and NPY_ARRAY_WARN_ON_WRITE, with which NumPy reports an array as read-only.
#define ANYFFI_NUMPY_ACCESS ((int)(0x0400u | 1u << 31))
#define ANYFFI_NUMPY_WRITABLE 0x0400
#define ANYFFI_NUMPY_MAX_AXES 64

/// Data types by NumPy's type numbers; 0 bits for those without a DLPack code.
#define ANYFFI_NUMPY_INTS(type) {ANYFFI_kDLInt, 8 * sizeof(type), 1}, {ANYFFI_kDLUInt, 8 * sizeof(type), 1}
#define ANYFFI_NUMPY_NONE {0, 0, 0}
static const AnyffiDataType anyffi_numpy_types[] = {
    {ANYFFI_kDLBool, 8, 1},     ANYFFI_NUMPY_INTS(char),     ANYFFI_NUMPY_INTS(short),
    ANYFFI_NUMPY_INTS(int),     ANYFFI_NUMPY_INTS(long),     ANYFFI_NUMPY_INTS(long long),
    {ANYFFI_kDLFloat, 32, 1},   {ANYFFI_kDLFloat, 64, 1},    ANYFFI_NUMPY_NONE,
    {ANYFFI_kDLComplex, 64, 1}, {ANYFFI_kDLComplex, 128, 1}, ANYFFI_NUMPY_NONE,
    ANYFFI_NUMPY_NONE,          ANYFFI_NUMPY_NONE,           ANYFFI_NUMPY_NONE,
    ANYFFI_NUMPY_NONE,          ANYFFI_NUMPY_NONE,           ANYFFI_NUMPY_NONE,
    {ANYFFI_kDLFloat, 16, 1}};
#define ANYFFI_NUMPY_TYPES ((int)(sizeof(anyffi_numpy_types) / sizeof(anyffi_numpy_types[0])))

/// A dtype of another library, such as ml_dtypes, that has a DLPack code. Entries own a reference that is never
/// released.
typedef struct {
  PyObject* dtype;
  AnyffiDataType type;
  uint64_t flags;
  int64_t size;
} AnyffiForeignDtype;
#define ANYFFI_FOREIGN_DTYPES 32
static AnyffiForeignDtype anyffi_foreign_dtypes[ANYFFI_FOREIGN_DTYPES];

static const AnyffiForeignDtype* anyffi_py_find_foreign(const void* dtype) {
  for (int i = 0; i < ANYFFI_FOREIGN_DTYPES && anyffi_foreign_dtypes[i].dtype != NULL; ++i) {
    if (anyffi_foreign_dtypes[i].dtype == dtype) return &anyffi_foreign_dtypes[i];
  }
  return NULL;
}

/// Caches how the rules describe a dtype, while there is room.
static void anyffi_py_learn_dtype(PyObject* dtype, AnyffiDataType type, uint64_t flags, int64_t size) {
  ANYFFI_BEGIN_SECTION
  for (int i = 0; i < ANYFFI_FOREIGN_DTYPES && anyffi_foreign_dtypes[i].dtype != dtype; ++i) {
    if (anyffi_foreign_dtypes[i].dtype != NULL) continue;
    Py_INCREF(dtype);
    anyffi_foreign_dtypes[i] = (AnyffiForeignDtype){NULL, type, flags, size};
    // Stored last, because other threads read entries that have a dtype.
    __atomic_store_n(&anyffi_foreign_dtypes[i].dtype, dtype, __ATOMIC_RELEASE);
    break;
  }
  ANYFFI_END_SECTION
}

/// Creates a tensor on memory that `owner` keeps; always 1, or -1 with an exception. Borrows `owner`.
static inline int anyffi_py_create_tensor(const AnyffiTensorData* data, uint64_t flags, PyObject* owner,
                                          AnyffiValue* out) {
  // The runtime steals the reference, even on failure.
  Py_INCREF(owner);
  return anyffi_tensor_create_host(data, flags, owner, out) != 0 ? anyffi_py_raise_taken() : 1;
}

/// As `anyffi_py_pack_ndarray`, inlined into the one caller where the cost of the call matters.
ANYFFI_ALWAYS_INLINE int anyffi_py_read_ndarray(PyObject* x, AnyffiValue* out) {
  const AnyffiNumPyArray* array = (const AnyffiNumPyArray*)x;
  const AnyffiNumPyDtype* dtype = array->dtype;
  int64_t strides[ANYFFI_NUMPY_MAX_AXES];
  AnyffiTensorData data;
  uint64_t flags = 0;
  int number = dtype->number, shift;
  if (array->ndim > ANYFFI_NUMPY_MAX_AXES) return 0;
  if (__builtin_expect((unsigned)number < ANYFFI_NUMPY_TYPES && anyffi_numpy_types[number].bits != 0, 1)) {
    // Only dtypes of the machine's byte order, or of one byte.
    if (dtype->byte_order != '=' && dtype->byte_order != '|') return 0;
    data.dtype = anyffi_numpy_types[number];
    shift = __builtin_ctz(data.dtype.bits >> 3);
  } else {
    const AnyffiForeignDtype* foreign = anyffi_py_find_foreign(dtype);
    if (foreign == NULL) return 0;
    data.dtype = foreign->type;
    flags = foreign->flags;
    shift = __builtin_ctzll((uint64_t)foreign->size);
  }
  for (int i = 0; i < array->ndim; ++i) {
    if (array->strides[i] & (((Py_ssize_t)1 << shift) - 1)) return 0;
    strides[i] = array->strides[i] >> shift;
  }
  data.data = array->data;
  data.device.type = ANYFFI_kDLCPU;
  data.device.index = 0;
  data.ndim = array->ndim;
  data.shape = (int64_t*)array->shape;
  data.strides = strides;
  data.byte_offset = 0;
  int is_writable = (array->flags & ANYFFI_NUMPY_ACCESS) == ANYFFI_NUMPY_WRITABLE;
  return anyffi_py_create_tensor(&data, is_writable ? flags : flags | ANYFFI_TENSOR_READ_ONLY, x, out);
}

/// Packs an array with NumPy's own storage; 0 for those that only the rules can describe.
ANYFFI_NEVER_INLINE int anyffi_py_pack_ndarray(PyObject* x, AnyffiValue* out) { return anyffi_py_read_ndarray(x, out); }

#endif  // ANYFFI_NDARRAY_H_
