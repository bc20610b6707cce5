"""How values of a class are packed; kinds.h documents it."""

from libc.stdint cimport uint64_t

from python cimport PyTypeObject

cdef extern from "kinds.h":
    enum:
        LOWERED "ANYFFI_KIND_LOWERED"
        INT "ANYFFI_KIND_INT"
        FLOAT "ANYFFI_KIND_FLOAT"
        COMPLEX "ANYFFI_KIND_COMPLEX"
        STR "ANYFFI_KIND_STR"
        BYTES "ANYFFI_KIND_BYTES"
        BYTEARRAY "ANYFFI_KIND_BYTEARRAY"
        TUPLE "ANYFFI_KIND_TUPLE"
        LIST "ANYFFI_KIND_LIST"
        DICT "ANYFFI_KIND_DICT"
        SET "ANYFFI_KIND_SET"
        FROZEN_SET "ANYFFI_KIND_FROZEN_SET"
        NDARRAY "ANYFFI_KIND_NDARRAY"
        FUNCTION "ANYFFI_KIND_FUNCTION"
        ERROR "ANYFFI_KIND_ERROR"
        PY_OBJECT "ANYFFI_KIND_PY_OBJECT"
        NUMPY_BOOL "ANYFFI_KIND_NUMPY_BOOL"
        NUMPY_INT8 "ANYFFI_KIND_NUMPY_INT8"
        NUMPY_INT16 "ANYFFI_KIND_NUMPY_INT16"
        NUMPY_INT32 "ANYFFI_KIND_NUMPY_INT32"
        NUMPY_INT64 "ANYFFI_KIND_NUMPY_INT64"
        NUMPY_UINT8 "ANYFFI_KIND_NUMPY_UINT8"
        NUMPY_UINT16 "ANYFFI_KIND_NUMPY_UINT16"
        NUMPY_UINT32 "ANYFFI_KIND_NUMPY_UINT32"
        NUMPY_UINT64 "ANYFFI_KIND_NUMPY_UINT64"
        NUMPY_FLOAT16 "ANYFFI_KIND_NUMPY_FLOAT16"
        NUMPY_FLOAT32 "ANYFFI_KIND_NUMPY_FLOAT32"
        NUMPY_COMPLEX64 "ANYFFI_KIND_NUMPY_COMPLEX64"

    uint64_t registration_token "anyffi_py_registration_token"()
    void remember_kind "anyffi_py_remember_kind"(PyTypeObject*, unsigned int, int, int, uint64_t)
