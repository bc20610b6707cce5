"""What plain.h offers; it says what each function means."""

from libc.stdint cimport int32_t, int64_t

from c_api cimport AnyffiSequence, AnyffiValue
from python cimport PyObject, PyTypeObject

cdef extern from "plain.h":
    bint anyffi_py_read_short_int(PyObject*, int64_t*)
    int anyffi_py_read_int(PyObject*, int64_t*)
    object new_int "anyffi_py_new_int"(int64_t)
    int anyffi_py_ready(PyObject*) except -1
    int32_t encoding_of "anyffi_py_encoding_of"(PyObject*)
    bint pack_short_str "anyffi_py_pack_short_str"(PyObject*, AnyffiValue*)
    bint pack_short_bytes "anyffi_py_pack_short_bytes"(PyObject*, AnyffiValue*)
    bint pack_constant "anyffi_py_pack_constant"(PyObject*, PyTypeObject*, AnyffiValue*)
    bint pack_inline "anyffi_py_pack_inline"(PyObject*, AnyffiValue*)
    bint pack_plain "anyffi_py_pack_plain"(PyObject*, AnyffiValue*)
    Py_ssize_t fill_plain "anyffi_py_fill_plain"(PyObject**, Py_ssize_t, AnyffiSequence*)
    int pack_plain_items "anyffi_py_pack_plain_items"(PyObject**, Py_ssize_t, int32_t, AnyffiValue*)
