"""Types and functions of the C library.

Declared here rather than imported from Cython, whose files would become dependencies of the build: an
editable installation is compiled in an environment that is deleted afterwards, so it would be recompiled at
each import.
"""

cdef extern from "<stdint.h>" nogil:
    ctypedef signed int int32_t
    ctypedef signed long long int64_t
    ctypedef unsigned char uint8_t
    ctypedef unsigned short uint16_t
    ctypedef unsigned int uint32_t
    ctypedef unsigned long long uint64_t

cdef extern from "<string.h>" nogil:
    void* memset(void*, int, size_t)
