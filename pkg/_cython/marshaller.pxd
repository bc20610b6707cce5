"""The functions of the C headers that the Cython files use; each header documents them."""

from c_types cimport int32_t, int64_t, uint32_t, uint64_t

from c_api cimport (
    AnyffiCall, AnyffiDataType, AnyffiDeleter, AnyffiFieldInfo, AnyffiFunction, AnyffiFunctionInfo,
    AnyffiMapping, AnyffiObject, AnyffiSequence, AnyffiTensorData, AnyffiValue,
)
from python cimport (
    PyCFunction, PyGetSetDef, PyObject, PySequenceMethods, PyTypeObject, binaryfunc, vectorcallfunc,
)

cdef extern from "layout.h":
    bint is_known_layout "ANYFFI_KNOWN_LAYOUT"
    PyObject* look_up "anyffi_py_look_up"(PyTypeObject*, PyObject*)
    PyObject* find_attribute_of "anyffi_py_find_attribute_of"(PyTypeObject*, PyObject*)
    void drop_found "anyffi_py_drop_found"(PyObject*)
    PyGetSetDef* getter_of "anyffi_py_getter_of"(PyObject*)
    unsigned int version_of "anyffi_py_version"(PyTypeObject*)
    int lock "anyffi_py_lock"() noexcept
    void unlock "anyffi_py_unlock"(int) noexcept

cdef extern from "layout_check.h":
    int check_layout "anyffi_py_check_layout"() except -1

cdef extern from "state.h":
    ctypedef struct State "AnyffiState":
        PyTypeObject* object_core
        PyTypeObject* function_core
        AnyffiCall callback
        PyObject* missing
        PyObject* no_arguments
        int max_depth
        AnyffiDeleter nurse_deleter
        PyObject** characters
        PyObject** classes
        PyObject* dynamic_classes
        PyObject* make_class
        PyObject** cores
        PyObject** methods
        PyObject** public_classes
        PyObject** public_names
        PyObject* lower
        PyObject* lift
        PyObject* get_cache_token
        int is_check_mode
        PyObject* make_error
        PyObject* add_frames
        PyObject* fill_error
        PyObject* explain
        PyObject* locate
        PyObject* locate_method
        PyObject* called_convert
        PyObject* locate_result
        PyObject* locate_field
        PyObject* blame
        PyObject* explain_field
        PyObject* name_keywords
        PyObject* convert
        PyObject* listed
        PyObject* fspath_name
        PyObject* timestamp_name
        PyObject* type_error_name
        PyObject* type_key_name
        PyObject* record_name
        PyObject* create
        PyObject* enumeration_codes
        PyObject* class_of_kind
        PyObject* nested_too_deep
        PyObject* contains_itself
        PyObject* equal_keys
        PyObject* empty_wrapper
        PyObject* cleared_function
        PyObject* plain_contains_itself
        PyObject* wrong_object
        PyObject* index_out_of_range
        PyObject* assignment_out_of_range
        PyObject* unexplained
        PyObject* unexpected_keyword
        PyObject* share_dtype
        PyObject* share_device
        PyObject* export_tensor
        PyObject* make_array
        PyTypeObject* ndarray
        PyGetSetDef* pointer_value
        PyObject* copy_name
        PyObject* range_names
        PyObject* sort_name
        PyObject* sort_keywords
        PyObject* unpickle_container
        PyObject* missing_name
        PyObject* missing_item
        PyObject* changed_size
        PyObject* changed_keys
        PyObject* views_name
        PyTypeObject* view_core
        PyObject* observer
        PyObject* begin_call
        PyObject* begin_callback
        PyObject* end_call
        PyObject* lost_calls
        PyObject* lost_ends
        PyObject* fail_call
        PyObject* section_object

    State state "anyffi_state"

cdef extern from "errors.h":
    int leave_exception "anyffi_py_leave_exception"(PyObject*) noexcept

cdef extern from "wrapper.h":
    ctypedef struct Wrapper "AnyffiWrapper":
        AnyffiObject* object
    ctypedef struct FunctionWrapper "AnyffiFunctionWrapper":
        Wrapper base
        vectorcallfunc vectorcall
        PyObject* parameters

    AnyffiObject* unwrap "anyffi_py_unwrap"(PyObject*) except NULL
    AnyffiObject* unwrap_as "anyffi_py_unwrap_as"(PyObject*, int32_t) except NULL
    AnyffiFunction* unwrap_function "anyffi_py_unwrap_function"(PyObject*) except NULL
    object wrap "anyffi_py_wrap"(AnyffiObject*)
    void move_object "anyffi_py_move_object"(PyObject*, PyObject*)
    object wrap_here "anyffi_py_wrap_here"(AnyffiObject*)

cdef extern from "unpack.h":
    object unpack "anyffi_py_unpack"(AnyffiValue*)
    object unpack_copy "anyffi_py_unpack_copy"(const AnyffiValue*)
    int raise_taken "anyffi_py_raise_taken"() except -1
    int check_stack "anyffi_py_need_stack"() except -1

cdef extern from "native.h":
    object unpack_argument "anyffi_py_unpack_argument"(const AnyffiValue*)

cdef extern from "attributes.h":
    ctypedef struct FieldGetterLayout "AnyffiFieldGetter":
        vectorcallfunc vectorcall
        PyObject* name
        PyObject* slow
        const AnyffiFieldInfo* field
        int32_t type_code
        int32_t is_in_place
    void set_late_slot "anyffi_py_set_late_slot"(PyTypeObject*)
    void set_module_alloc "anyffi_py_set_module_alloc"(PyTypeObject*)
    void set_field_slots "anyffi_py_set_field_slots"(PyTypeObject*, PyTypeObject*)
    void set_constant_slot "anyffi_py_set_constant_slot"(PyTypeObject*)
    PyObject* read_field "anyffi_py_read_field"(PyObject*, PyObject* const*, size_t, PyObject*) noexcept
    PyObject* write_field "anyffi_py_write_field"(PyObject*, PyObject* const*, size_t, PyObject*) noexcept

cdef extern from "value_objects.h":
    ctypedef struct DeviceLayout "AnyffiDeviceObject":
        PyObject* pair
    void remember_data_type "anyffi_py_remember_data_type"(PyObject*, AnyffiDataType)

cdef extern from "scalars.h":
    int pack_scalar "anyffi_py_pack_scalar"(PyObject*, AnyffiValue*) except -1

cdef extern from "ndarray.h":
    enum:
        MAX_AXES "ANYFFI_NUMPY_MAX_AXES"
    ctypedef struct NumPyDtype "AnyffiNumPyDtype":
        char byte_order
        int number
    ctypedef struct NumPyArray "AnyffiNumPyArray":
        char* data
        int ndim
        Py_ssize_t* shape
        Py_ssize_t* strides
        NumPyDtype* dtype
        int flags
    void learn_dtype "anyffi_py_learn_dtype"(PyObject*, AnyffiDataType, uint64_t, int64_t)
    int create_tensor "anyffi_py_create_tensor"(
        const AnyffiTensorData*, uint64_t, PyObject*, AnyffiValue*
    ) except -1

cdef extern from "new_array.h":
    bint read_numpy "anyffi_py_read_numpy"(PyObject*, PyTypeObject*)

cdef extern from "dlpack_import.h":
    ctypedef struct Exporter "AnyffiExporter":
        PyTypeObject* cls
        unsigned int version
        void* requires_grad
    void remember_exporter "anyffi_py_remember_exporter"(const Exporter*)
    bint learn_table "anyffi_py_learn_table"(Exporter*, PyObject*)
    bint learn_hidden "anyffi_py_learn_hidden"(Exporter*, PyObject*, PyObject*, PyObject*)

cdef extern from "dlpack_export.h":
    object create_exchange_capsule "anyffi_py_create_exchange"()

cdef extern from "tensor.h":
    Py_ssize_t tensor_length "anyffi_py_tensor_length"(PyObject*) except -1
    int get_buffer "anyffi_py_get_buffer"(PyObject*, Py_buffer*, int) except -1
    int add_tensor_methods "anyffi_py_add_tensor_methods"(PyTypeObject*, const char*) except -1

cdef extern from "value_compare.h":
    void set_value_slots "anyffi_py_set_value_slots"(PyTypeObject*, PyTypeObject*)

cdef extern from "pack.h":
    bint pack "anyffi_py_pack"(PyObject*, AnyffiValue*) except -1
    int pack_owned "anyffi_py_pack_owned"(PyObject*, AnyffiValue*) except -1

cdef extern from "keywords.h":
    Py_ssize_t place_named "anyffi_py_place"(
        PyObject*, const AnyffiFunctionInfo*, Py_ssize_t, PyObject*, int32_t*
    ) noexcept

cdef extern from "call_positional.h":
    enum:
        MAX_SHORT "ANYFFI_MAX_SHORT"

    AnyffiValue* allocate "anyffi_py_allocate"(Py_ssize_t) except NULL
    object call "anyffi_py_call"(AnyffiFunction*, PyObject**, Py_ssize_t)
    int name_enumerations "anyffi_py_name_enumerations"(
        const AnyffiFunction*, AnyffiValue*, Py_ssize_t, PyObject**, const int32_t*
    ) except -1

cdef extern from "call_named.h":
    object call_named "anyffi_py_call_named"(PyObject*, PyObject* const*, Py_ssize_t, PyObject*)

cdef extern from "bound.h":
    int plan_class "anyffi_py_plan_class"(PyTypeObject*, object) except -1
    void set_constructor_slots "anyffi_py_set_constructor_slots"(PyTypeObject*)
    void set_method_flags "anyffi_py_set_method_flags"(PyTypeObject*)

cdef extern from "dataclass.h":
    object create_record_of "anyffi_py_create_record"(PyObject*)
    int set_attribute "anyffi_py_set_attribute"(object, object, object) except -1
    void plan_record_call "anyffi_py_plan_record"(PyTypeObject*, int32_t, object, int, int, int)
    int set_record_slots "anyffi_py_set_record_class"(PyTypeObject*, object, object) except -1

cdef extern from "vectorcall.h":
    object call_tuple "anyffi_py_call_tuple"(PyObject*, PyObject*, PyObject*)
    object call_observed "anyffi_py_call_observed"(PyObject*, PyObject*, PyObject*)

cdef extern from "callback.h":
    int callback "anyffi_py_callback"(void*, AnyffiValue*, int32_t, AnyffiValue*) noexcept nogil

cdef extern from "host.h":
    ctypedef int (*HandleHash "AnyffiHandleHash")(void*, int64_t*) noexcept
    ctypedef int (*HandleEqual "AnyffiHandleEqual")(void*, const AnyffiValue*, int32_t*) noexcept
    int handle_hash "anyffi_py_handle_hash"(void*, int64_t*) noexcept
    int handle_equal "anyffi_py_handle_equal"(void*, const AnyffiValue*, int32_t*) noexcept
    void install_host "anyffi_py_install_host"(uint32_t, HandleHash, HandleEqual)

cdef extern from "containers.h":
    enum:
        IS_SET "ANYFFI_IS_SET"

    AnyffiSequence* unwrap_sequence "anyffi_py_unwrap_sequence"(PyObject*, int32_t) except NULL
    object get_item "anyffi_py_within_get_item"(PyObject*, int32_t, PyObject*)
    list list_elements "anyffi_py_within_list_elements"(const AnyffiSequence*)
    AnyffiMapping* unwrap_mapping "anyffi_py_unwrap_mapping"(PyObject*, int32_t) except NULL
    bint find_item "anyffi_py_within_find_item"(PyObject*, int32_t, PyObject*, AnyffiValue*) except -1
    object map_item "anyffi_py_within_map_item"(PyObject*, PyObject*)
    object dict_item "anyffi_py_within_dict_item"(PyObject*, PyObject*)
    PyObject* c_map_item "anyffi_py_within_map_item"(PyObject*, PyObject*) noexcept
    PyObject* c_dict_item "anyffi_py_within_dict_item"(PyObject*, PyObject*) noexcept
    bint has_key "anyffi_py_within_has_key"(PyObject*, int32_t, PyObject*) except -1
    int has_element "anyffi_py_within_has_element"(PyObject*, int32_t, PyObject*) except -1
    int put_item "anyffi_py_within_put_item"(PyObject*, int32_t, PyObject*, PyObject*) except -1

cdef extern from "entry_iterator.h":
    ctypedef struct EntryIteratorLayout "AnyffiEntryIterator":
        PyObject* container
        int64_t position
        int step
    PyObject* next_item "anyffi_py_within_next_item"(PyObject*) noexcept
    PySequenceMethods no_sequence "anyffi_py_no_sequence"

cdef extern from "element_iterator.h":
    ctypedef struct ElementIteratorLayout "AnyffiElementIterator":
        PyObject* get_next
    PyObject* next_element_of "anyffi_py_next_element_of"(PyObject*) noexcept

cdef extern from "plain.h":
    object plain "anyffi_py_plain"(PyObject*)

cdef extern from "sections.h":
    ctypedef struct Section "AnyffiSection":
        pass
    void begin_section "anyffi_py_begin_section"(Section*)
    void end_section "anyffi_py_end_section"(Section*)
    void defer_references "anyffi_py_defer"(PyObject*)

cdef extern from "found_classes.h":
    void forget_classes "anyffi_py_forget_classes"()

cdef extern from "wrapper_names.h":
    void enable_retain "anyffi_py_enable_retain"(PyObject*)
    void unname_wrapper "anyffi_py_unname_wrapper"(AnyffiObject*, PyObject*)

cdef extern from "within.h":
    int set_step "anyffi_py_set_step"(PyTypeObject*) except -1

cdef extern from "wrapper_memory.h":
    void set_wrapper_slots "anyffi_py_set_wrapper_slots"(PyTypeObject*)

cdef extern from "public.h":
    ctypedef struct PublicFunctionLayout "AnyffiPublicFunction":
        vectorcallfunc vectorcall
        PyObject* shared
    ctypedef struct PublicRow "AnyffiPublicRow":
        const char* name
        vectorcallfunc call
    const PublicRow* public_functions "anyffi_py_public_functions"
    object get_registered "anyffi_py_get_function"(PyObject*)
    object wrapper_for "anyffi_py_to_object"(PyObject*)

cdef extern from "methods.h":
    ctypedef struct MethodRow "AnyffiMethodRow":
        const char* name
    ctypedef struct OperatorRow "AnyffiOperatorRow":
        const char* name
        const char* reflected_name
        binaryfunc call
    const MethodRow* object_methods "anyffi_py_object_methods"
    const OperatorRow* object_operators "anyffi_py_object_operators"
    object new_method "anyffi_py_new_method"(PyTypeObject*, const MethodRow*, const char*)
    int add_method "anyffi_py_add_method"(PyTypeObject*, const char*, PyCFunction, int, const char*) except -1
    int set_special "anyffi_py_set_special"(PyTypeObject*, PyTypeObject*, const char*, void*) except -1
    object new_operator "anyffi_py_new_operator"(PyTypeObject*, const char*, binaryfunc)

cdef extern from "sequence_hash.h":
    Py_hash_t sequence_hash "anyffi_py_within_sequence_hash"(PyObject*, int32_t) except -1

cdef extern from "compare.h":
    object sequence_compare "anyffi_py_within_sequence_compare"(PyObject*, PyObject*, int, int32_t)
    bint sequence_has "anyffi_py_within_sequence_has"(PyObject*, PyObject*, int32_t) except -1
    int64_t find_value "anyffi_py_within_search"(
        PyObject*, AnyffiSequence*, PyObject*, int64_t, int64_t
    ) except -2

cdef extern from "list_methods.h":
    object list_add_in_place "anyffi_py_within_list_add_in_place"(PyObject*, PyObject*)
    object list_multiply_in_place "anyffi_py_within_list_multiply_in_place"(PyObject*, PyObject*)
    const MethodRow* list_methods "anyffi_py_list_methods"
    const OperatorRow* list_operators "anyffi_py_list_operators"
    const MethodRow* array_methods "anyffi_py_array_methods"
    const OperatorRow* array_operators "anyffi_py_array_operators"

cdef extern from "elements.h":
    int set_item "anyffi_py_within_set_item"(PyObject*, PyObject*, PyObject*) except -1
    int delete_item "anyffi_py_within_delete_item"(PyObject*, PyObject*) except -1

cdef extern from "mapping_compare.h":
    object mapping_compare "anyffi_py_within_mapping_compare"(PyObject*, PyObject*, int, int32_t)

cdef extern from "views.h":
    ctypedef struct ViewLayout "AnyffiView":
        PyObject* mapping
    AnyffiMapping* viewed "anyffi_py_viewed"(PyObject*)
    Py_ssize_t view_size "anyffi_py_view_size"(PyObject*) except -1
    bint view_has_key "anyffi_py_within_view_has_key"(PyObject*, PyObject*) except -1
    bint view_has_pair "anyffi_py_within_view_has_pair"(PyObject*, PyObject*) except -1
    int views_equal "anyffi_py_within_views_equal"(PyObject*, PyObject*, int) except -2
    object common_keys "anyffi_py_within_common_keys"(PyObject*, PyObject*)

cdef extern from "dict_methods.h":
    int dict_delete "anyffi_py_within_dict_delete"(PyObject*, PyObject*) except -1
    object dict_or_in_place "anyffi_py_within_dict_or_in_place"(PyObject*, PyObject*)
    const MethodRow* map_methods "anyffi_py_map_methods"
    const OperatorRow* map_operators "anyffi_py_map_operators"
    const MethodRow* dict_methods "anyffi_py_dict_methods"
    const OperatorRow* dict_operators "anyffi_py_dict_operators"

cdef extern from "set_operators.h":
    object set_compare "anyffi_py_within_set_compare"(PyObject*, PyObject*, int, int32_t)

cdef extern from "construct.h":
    void set_class_slots "anyffi_py_set_class_slots"(PyTypeObject*, int32_t)

cdef extern from "set_methods.h":
    Py_hash_t set_hash "anyffi_py_within_set_hash"(PyObject*) except -1
    object set_in_place "anyffi_py_within_set_in_place"(PyObject*, PyObject*, int)
    const MethodRow* set_methods "anyffi_py_set_methods"
    const OperatorRow* set_operators "anyffi_py_set_operators"
    const MethodRow* frozen_set_methods "anyffi_py_frozen_set_methods"
    const OperatorRow* frozen_set_operators "anyffi_py_frozen_set_operators"
