"""The C ABI, as far as the marshaller uses it. The header says what each function means."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "anyffi/host_api.h" nogil:
    enum:
        ANYFFI_HOST_DONE
        ANYFFI_NONE
        ANYFFI_BOOL
        ANYFFI_INT
        ANYFFI_FLOAT
        ANYFFI_STR
        ANYFFI_BYTES
        ANYFFI_STR_VIEW
        ANYFFI_BYTES_VIEW
        ANYFFI_ELLIPSIS
        ANYFFI_POINTER
        ANYFFI_DATA_TYPE
        ANYFFI_DEVICE
        ANYFFI_TENSOR_VIEW
        ANYFFI_MISSING
        ANYFFI_UNSET
        ANYFFI_OBJECT
        ANYFFI_BOX
        ANYFFI_STR_OBJECT
        ANYFFI_BYTES_OBJECT
        ANYFFI_BIG_INT
        ANYFFI_COMPLEX
        ANYFFI_SLICE
        ANYFFI_ERROR
        ANYFFI_FUNCTION
        ANYFFI_MODULE
        ANYFFI_PY_OBJECT
        ANYFFI_ARRAY
        ANYFFI_LIST
        ANYFFI_MAP
        ANYFFI_DICT
        ANYFFI_FROZEN_SET
        ANYFFI_SET
        ANYFFI_TENSOR
        ANYFFI_SHAPE
        ANYFFI_FIRST_DYNAMIC_TYPE

        ANYFFI_MOVABLE
        ANYFFI_INLINE_BYTES

        ANYFFI_kDLCPU
        ANYFFI_kDLComplex
        ANYFFI_TENSOR_READ_ONLY

        ANYFFI_ASCII
        ANYFFI_LATIN1

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
        int64_t as_int
        double as_float
        void* as_pointer
        AnyffiObject* as_object
        AnyffiDataType as_data_type
        AnyffiDevice as_device

    int anyffi_value_own(const AnyffiValue* value, AnyffiValue* out)

    # ---- memory and objects

    void* anyffi_alloc(size_t size)
    void anyffi_free(void* memory)
    int32_t anyffi_object_compare_exchange_wrapper(AnyffiObject* object, void* expected, void* desired)

    # ---- types

    ctypedef struct AnyffiTypeInfo:
        int32_t depth
        const int32_t* ancestors
        const char* type_key

    const AnyffiTypeInfo* anyffi_type_get_info(int32_t type_code)
    int32_t anyffi_type_list(int32_t* out_codes, int32_t capacity)
    int32_t anyffi_type_is_a(int32_t type_code, int32_t ancestor)

    # ---- text and bytes

    ctypedef struct AnyffiStrObject:
        const void* data

    ctypedef struct AnyffiTextView:
        const void* data
        int64_t length
        int32_t encoding

    int anyffi_str_allocate(int64_t length, int32_t encoding, AnyffiValue* out)
    int anyffi_bytes_create(const void* data, int64_t size, AnyffiValue* out)

    # ---- boxes and slices

    ctypedef struct AnyffiBox:
        AnyffiValue value

    ctypedef struct AnyffiSlice:
        AnyffiValue start
        AnyffiValue stop
        AnyffiValue step

    int anyffi_slice_create(const AnyffiValue* start, const AnyffiValue* stop, const AnyffiValue* step,
                            AnyffiValue* out)

    # ---- numbers that do not fit in place

    ctypedef struct AnyffiBigInt:
        int32_t negative
        int64_t size
        const uint64_t* words

    int anyffi_big_int_create(const uint64_t* words, int64_t size, int32_t negative, AnyffiValue* out)

    ctypedef struct AnyffiComplex:
        double real
        double imag

    int anyffi_complex_create(double real, double imag, AnyffiValue* out)

    # ---- functions

    ctypedef int (*AnyffiCall)(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) noexcept

    ctypedef struct AnyffiParamInfo:
        const char* name
        const AnyffiValue* default_value
        const char* type_name

    ctypedef struct AnyffiFunctionInfo:
        uint32_t flags
        const char* name
        const char* doc
        int32_t num_params
        int32_t num_required
        const AnyffiParamInfo* params
        const char* result_type

    ctypedef struct AnyffiFunction:
        AnyffiCall call
        void* self
        const AnyffiFunctionInfo* info
        void* handle

    int anyffi_function_create_host(AnyffiCall callback, void* handle, AnyffiValue* out)
    void* anyffi_function_get_unique_handle(const AnyffiFunction* function)
    int anyffi_registry_find(const AnyffiValue* name, AnyffiValue* out)
    void anyffi_registry_remove_host_functions()

    # ---- errors

    ctypedef struct AnyffiError:
        AnyffiValue kind
        AnyffiValue message
        AnyffiValue traceback
        AnyffiValue args
        AnyffiValue cause
        void* handle

    int anyffi_error_create_host(void* handle, AnyffiValue* out)
    void anyffi_error_set_raised(AnyffiObject* error)
    void anyffi_error_take_raised(AnyffiValue* out)

    # ---- containers

    ctypedef struct AnyffiSequence:
        AnyffiValue* data
        int64_t size
        uint64_t type_mask

    ctypedef struct AnyffiEntry:
        AnyffiValue key
        AnyffiValue value

    ctypedef struct AnyffiMapping:
        AnyffiEntry* entries
        int64_t size
        int64_t used
        uint64_t key_type_mask
        uint64_t value_type_mask

    int anyffi_sequence_set(AnyffiObject* sequence, int64_t index, const AnyffiValue* value)
    int anyffi_sequence_erase(AnyffiObject* sequence, int64_t index, int64_t count)
    int anyffi_mapping_create(int32_t type_code, int64_t capacity, AnyffiValue* out)
    int anyffi_mapping_finish(AnyffiObject* mapping, int64_t* out_first, int64_t* out_second)
    int anyffi_mapping_set(AnyffiObject* mapping, AnyffiValue* key, AnyffiValue* value, int32_t* out_existed)
    int anyffi_mapping_get(const AnyffiObject* mapping, const AnyffiValue* key, AnyffiValue* out)
    int anyffi_mapping_find(const AnyffiObject* mapping, const AnyffiValue* key, int64_t* out_entry)

    # ---- tensors

    ctypedef struct AnyffiTensorData:
        void* data
        AnyffiDevice device
        int32_t ndim
        AnyffiDataType dtype
        int64_t* shape
        int64_t* strides
        uint64_t byte_offset

    int anyffi_tensor_create_host(const AnyffiTensorData* data, uint64_t flags, void* handle,
                                  AnyffiValue* out)

    int anyffi_tensor_from_capsule(void* handle, AnyffiValue* out)
    ctypedef struct AnyffiManagedTensor:
        void (*deleter)(AnyffiManagedTensor*) noexcept
        AnyffiTensorData tensor
    int anyffi_tensor_from_dlpack_host(AnyffiManagedTensor* managed, AnyffiValue* out)

    # ---- opaque objects, and the host

    ctypedef struct AnyffiPyObject:
        void* handle

    int anyffi_py_object_create(void* handle, AnyffiValue* out)

    ctypedef struct AnyffiExchangeApiHooks:
        AnyffiObject* (*unwrap)(void* wrapper) noexcept
        int (*wrap)(AnyffiObject* tensor, void** out) noexcept
        void (*set_error)(void* exception_class, const char* message) noexcept
        void* exception_class

    const void* anyffi_tensor_create_exchange_api(const AnyffiExchangeApiHooks* hooks)

    ctypedef struct AnyffiHost:
        uint32_t struct_size
        uint32_t flags
        int32_t (*lock)() noexcept
        void (*unlock)(int32_t state) noexcept
        void* (*suspend)() noexcept
        void (*resume)(void* state) noexcept
        void (*handle_release)(void* handle) noexcept
        int (*handle_hash)(void* handle, int64_t* out) noexcept
        int (*handle_equal)(void* handle, const AnyffiValue* other, int32_t* out) noexcept
        int (*handle_repr)(void* handle, AnyffiValue* out) noexcept
        int (*handle_type_name)(void* handle, AnyffiValue* out) noexcept
        int (*error_fill)(void* handle, AnyffiValue* kind, AnyffiValue* message,
                          AnyffiValue* traceback) noexcept
        int (*check_signals)() noexcept
        void* (*capsule_new)(void* pointer, const char* name, void (*destructor)(void*) noexcept) noexcept
        int (*capsule_is_valid)(void* capsule, const char* name) noexcept
        void* (*capsule_get_pointer)(void* capsule, const char* name) noexcept
        int (*capsule_set_name)(void* capsule, const char* name) noexcept

    int32_t ANYFFI_ABI_VERSION
    int32_t anyffi_abi_get_version()
    void anyffi_host_install(const AnyffiHost* host)

cdef extern from "anyffi/inline.h" nogil:
    uint64_t anyffi_type_bit(int32_t type_code)
    int anyffi_encoding_shift(int32_t encoding)
    void anyffi_retain(AnyffiObject* object)
    void anyffi_release(AnyffiObject* object)
    void anyffi_value_retain(const AnyffiValue* value)
    void anyffi_value_drop(const AnyffiValue* value)
    AnyffiValue anyffi_make_value(uint64_t first, uint64_t second)
    AnyffiValue anyffi_make_none()
    AnyffiValue anyffi_make_int(int64_t number)
    AnyffiValue anyffi_make_object(AnyffiObject* object)
    void anyffi_view_text(const AnyffiValue* value, AnyffiTextView* out)
