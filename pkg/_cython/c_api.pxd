"""The part of the C ABI that Cython files use; the header documents each function."""

from c_types cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "anyffi/host_api.h" nogil:
    enum:
        ANYFFI_HOST_DONE
        ANYFFI_NONE
        ANYFFI_POINTER
        ANYFFI_DATA_TYPE
        ANYFFI_DEVICE
        ANYFFI_TENSOR_VIEW
        ANYFFI_TENSOR_PADDED
        ANYFFI_MISSING
        ANYFFI_OVERLOADED
        ANYFFI_KEYWORD_ONLY
        ANYFFI_BIG_INT
        ANYFFI_COMPLEX
        ANYFFI_ERROR
        ANYFFI_FUNCTION
        ANYFFI_MODULE
        ANYFFI_OBJECT
        ANYFFI_ARRAY
        ANYFFI_LIST
        ANYFFI_MAP
        ANYFFI_DICT
        ANYFFI_FROZEN_SET
        ANYFFI_SET
        ANYFFI_SHAPE
        ANYFFI_FIRST_DYNAMIC_TYPE
        ANYFFI_kDLCPU
        ANYFFI_SET_OR
        ANYFFI_SET_AND
        ANYFFI_SET_SUB
        ANYFFI_SET_XOR

    int32_t ANYFFI_ABI_VERSION
    int32_t anyffi_abi_get_version()

    # ---- values

    ctypedef struct AnyffiDataType:
        uint8_t code
        uint8_t bits
        uint16_t lanes

    ctypedef struct AnyffiDevice:
        int32_t type
        int32_t index

    ctypedef struct AnyffiObject:
        int32_t type_code
        void* wrapper

    ctypedef struct AnyffiValue:
        int32_t type_code
        uint32_t aux
        AnyffiObject* as_object
        AnyffiDataType as_data_type
        AnyffiDevice as_device

    int anyffi_big_int_create(const uint64_t* words, int64_t size, int32_t negative, AnyffiValue* out)
    int anyffi_complex_create(double real, double imag, AnyffiValue* out)

    # ---- memory, objects and types

    void anyffi_free(void* memory)
    ctypedef void (*AnyffiDeleter)(AnyffiObject* self, int32_t what) noexcept
    AnyffiDeleter anyffi_object_nurse_deleter()
    int32_t anyffi_object_compare_exchange_wrapper(AnyffiObject* object, void* expected, void* desired)

    ctypedef struct AnyffiFieldInfo:
        const char* name
    ctypedef struct AnyffiTypeInfo:
        const char* type_key

    const AnyffiTypeInfo* anyffi_type_get_info(int32_t type_code)
    int32_t anyffi_type_list(int32_t* out_codes, int32_t capacity)

    # ---- errors

    void anyffi_error_record_frames(int32_t on)
    void anyffi_error_set_raised(AnyffiObject* error)
    void anyffi_error_take_raised(AnyffiValue* out)

    # ---- functions

    ctypedef int (*AnyffiCall)(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) noexcept

    ctypedef struct AnyffiParamInfo:
        const char* name
        const AnyffiValue* default_value
        const char* type_name

    ctypedef struct AnyffiOverload:
        const AnyffiOverload* next
        AnyffiObject* function

    ctypedef struct AnyffiFunctionInfo:
        uint32_t flags
        const char* name
        const char* doc
        int32_t num_params
        int32_t num_required
        const AnyffiParamInfo* params
        const char* result_type
        const AnyffiOverload* overloads
        int32_t num_keyword_only

    ctypedef struct AnyffiFunction:
        AnyffiCall call
        void* self
        const AnyffiFunctionInfo* info

    int anyffi_registry_find(const AnyffiValue* name, AnyffiValue* out)
    void anyffi_registry_remove_host_functions()

    # ---- containers

    ctypedef struct AnyffiSequence:
        AnyffiValue* data
        int64_t size
        uint64_t type_mask

    ctypedef struct AnyffiEntry:
        AnyffiValue key
        AnyffiValue value

    ctypedef struct AnyffiMapping:
        AnyffiObject header
        AnyffiEntry* entries
        int64_t size
        int64_t used
        uint64_t key_type_mask
        uint64_t value_type_mask
        int64_t host_hash

    int anyffi_sequence_set(AnyffiObject* sequence, int64_t index, const AnyffiValue* value)
    int anyffi_sequence_erase(AnyffiObject* sequence, int64_t index, int64_t count)

    # ---- tensors

    ctypedef struct AnyffiTensorData:
        void* data
        AnyffiDevice device
        int32_t ndim
        AnyffiDataType dtype
        int64_t* shape
        int64_t* strides

    # ---- the host

    ctypedef struct AnyffiHost:
        uint32_t struct_size

    void anyffi_host_install(const AnyffiHost* host)
    int32_t anyffi_host_has_ended()

cdef extern from "anyffi/inline.h" nogil:
    void anyffi_release(AnyffiObject* object)
    void anyffi_value_retain(const AnyffiValue* value)
    void anyffi_value_drop(const AnyffiValue* value)
    AnyffiValue anyffi_make_value(uint64_t first, uint64_t second)
    AnyffiValue anyffi_make_none()
