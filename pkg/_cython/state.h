/// The state of the marshaller: classes and functions of Python, set at import by `_core.pyx`.
///
/// References held here are never released, so that reading needs neither a lock nor a reference.

#ifndef ANYFFI_STATE_H_
#define ANYFFI_STATE_H_

#include <Python.h>
#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include "layout.h"

/// The cached class of a dynamic type.
typedef struct {
  PyObject* cls;  // the class of its wrappers, or of an ancestor's, borrowed; or NULL
  int refers;     // `anyffi_type_may_refer`
} AnyffiFoundClass;

typedef struct {
  PyTypeObject* object_core;
  PyTypeObject* function_core;
  /// The callback of functions over Python callables; another one in check mode.
  AnyffiCall callback;
  PyObject* missing;            // the value of an omitted argument
  PyObject* no_arguments;       // ()
  int max_depth;                // of nested containers
  AnyffiDeleter nurse_deleter;  // of objects that keep others alive
  PyObject* characters[256];    // the strings of one code point below U+0100
  /// Classes of wrappers by type code: an array for the static types, a dict for the others. Classes are added later,
  /// under the GIL.
  PyObject* classes[ANYFFI_FIRST_DYNAMIC_TYPE];
  PyObject* dynamic_classes;
  /// The types of the plans of classes (class_plan.h); NULL at first.
  PyTypeObject* bound_class;
  PyTypeObject* record_plan;
  /// Called with a dynamic type without a class, to set one; NULL at first.
  PyObject* make_class;
  /// The compiled classes of containers, by type code.
  PyObject* cores[ANYFFI_FIRST_DYNAMIC_TYPE];
  /// The classes of `_objects` with the methods of containers, by type code.
  PyObject* methods[ANYFFI_FIRST_DYNAMIC_TYPE];
  /// The package's own classes, which users may replace, and their names, by type code.
  PyObject* public_classes[ANYFFI_FIRST_DYNAMIC_TYPE];
  PyObject* public_names[ANYFFI_FIRST_DYNAMIC_TYPE];
  PyObject* unpickle_container;  // the function that pickles of containers call
  PyObject* copy_name;           // "copy"
  PyObject* range_names;         // ("start", "stop", "step")
  PyObject* sort_name;           // "sort"
  PyObject* sort_keywords;       // ("key", "reverse")
  /// By the number of a dynamic type; see found_classes.h.
#ifdef Py_GIL_DISABLED
  struct AnyffiFoundClasses* found;
#else
  AnyffiFoundClass* found_classes;
  size_t num_found;
#endif
  /// Functions of the rules.
  PyObject* lower;
  PyObject* lift;
  /// `abc.get_cache_token`, a C function, or NULL.
  PyObject* get_cache_token;
  /// In check mode containers that only `lower` records are read by it.
  int is_check_mode;
  PyObject* make_error;
  /// Adds C++ frames to the traceback of an exception; NULL unless this was asked for.
  PyObject* add_frames;
  PyObject* fill_error;
  PyObject* explain;
  PyObject* locate;
  PyObject* locate_method;
  PyObject* called_convert;
  PyObject* locate_result;
  PyObject* locate_field;
  PyObject* blame;
  PyObject* explain_field;
  PyObject* name_keywords;
  PyObject* convert;
  PyObject* type_error_name;  // the kind of most errors
  PyObject* listed;           // a tuple of classes, `LISTED` of the rules
  PyObject* fspath_name;      // "__fspath__"
  PyObject* timestamp_name;   // "timestamp"
  PyObject* type_key_name;    // attributes of classes made for a type, and of dataclasses
  PyObject* record_name;
  PyObject* create;
  PyObject* enumeration_codes;
  /// 1 once an instance of a subclass of int was packed: only such instances may be members of enumerations.
  int has_packed_members;
  /// Exception classes by kind; NULL in check mode, where `make_error` makes every exception.
  PyObject* class_of_kind;
  /// Functions of the rules that return an exception to raise.
  PyObject* nested_too_deep;
  PyObject* contains_itself;
  PyObject* equal_keys;
  PyObject* empty_wrapper;
  PyObject* cleared_function;
  PyObject* plain_contains_itself;
  PyObject* wrong_object;
  PyObject* index_out_of_range;
  PyObject* assignment_out_of_range;
  PyObject* unexplained;
  PyObject* unexpected_keyword;
  /// Functions of the rules for tensors.
  PyObject* share_dtype;
  PyObject* share_device;
  PyObject* export_tensor;
  PyObject* make_array;
  /// NumPy's class of arrays, once its struct was checked.
  PyTypeObject* ndarray;
  /// `ctypes.c_void_p.value` and the class, once needed.
  PyGetSetDef* pointer_value;
  PyObject* pointer_class;
  PyObject* missing_name;  // "__missing__"
  PyObject* missing_item;
  PyObject* changed_size;
  PyObject* changed_keys;
  /// The name of the attribute that has the classes of views, and their base class.
  PyObject* views_name;
  PyTypeObject* view_core;
  /// The observer called before and after calls and callbacks, and its functions; NULL if there is none.
  PyObject* observer;
  PyObject* begin_call;
  PyObject* begin_callback;
  PyObject* end_call;
  PyObject* lost_calls;  // iterators, each step of which counts one
  PyObject* lost_ends;
  PyObject* fail_call;
  /// The object that sections lock, in builds without the GIL.
  PyObject* section_object;
} AnyffiState;

static AnyffiState anyffi_state;

#endif  // ANYFFI_STATE_H_
