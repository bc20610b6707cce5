/// \file
/// The C ABI for front ends of a managed language, such as Python: its handles, hooks and wrappers. C11. Extensions
/// need c_api.h only, whose conventions hold here too.
///
/// A handle is a pointer to an object of the host (the managed language's interpreter), refcounted by the host.
/// Functions that take a handle steal one reference to it, also on failure, unless they say otherwise.
#ifndef ANYFFI_HOST_API_H_
#define ANYFFI_HOST_API_H_

#include <anyffi/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

// anyffi: plain declarations begin

/* ---- hooks ----------------------------------------------------------------------------------- */

typedef enum AnyffiHostFlag {
  /// `check_signals` is called with the lock held, returns 0 on success, and leaves an exception of a handler pending
  /// in the host, which raises it when the current call returns there (PyErr_CheckSignals).
  ANYFFI_HOST_SIGNALS_STAY_PENDING = 1,
  /// A slice of hashable parts is hashable, as in Python 3.12 and later.
  ANYFFI_HOST_HASHES_SLICES = 2,
  /// Only the host knows which objects have wrappers; their headers do not say so. It may have no addresses for its
  /// objects, or be unable to tell whether the object at an address is being destroyed.
  ANYFFI_HOST_KEEPS_WRAPPERS = 4,
  /// Callbacks and hooks catch exceptions of signal handlers from their first instruction on. The host still swallows a
  /// lack of memory: the runtime then raises MemoryError instead of KeyboardInterrupt.
  ANYFFI_HOST_CATCHES_SIGNALS = 8
} AnyffiHostFlag;

/// The result of callbacks and hooks of the host on success; on failure they leave an error in the slot and return -1.
/// Hooks written in the host's own language (ctypes) return an arbitrary number if a signal interrupts them before
/// their first or after their last line, where the host swallows the exception: the runtime then raises
/// KeyboardInterrupt, or MemoryError (ANYFFI_HOST_CATCHES_SIGNALS). Since any number is possible, hooks of a host with
/// this flag always set their results before they return success; no hash is -1.
typedef enum AnyffiHostStatus {
  ANYFFI_HOST_DONE = 1,
  ANYFFI_HOST_DECLINED = 2 /* of `object_hash` and `object_equal`: the runtime decides */
} AnyffiHostStatus;

/// The hooks of a host. Each acquires the host's lock itself where it needs it. Those that may fail return
/// ANYFFI_HOST_DONE or -1.
typedef struct AnyffiHost {
  uint32_t struct_size;
  uint32_t flags; /* AnyffiHostFlag */
  /// Acquire the host's lock on any thread, and release it (PyGILState_Ensure, PyGILState_Release).
  int32_t (*lock)(void);
  void (*unlock)(int32_t state);
  /// Release the lock for other threads, and acquire it again (PyEval_SaveThread, PyEval_RestoreThread).
  void* (*suspend)(void);
  void (*resume)(void* state);
  /// Releases one reference. Called with the lock held.
  void (*handle_release)(void* handle);
  int (*handle_hash)(void* handle, int64_t* out);
  int (*handle_equal)(void* handle, const AnyffiValue* other, int32_t* out);
  int (*handle_repr)(void* handle, AnyffiValue* out);
  /// `type(x).__name__`, as a string.
  int (*handle_type_name)(void* handle, AnyffiValue* out);
  /// Kind, message and traceback of an exception, as owned strings. `message` and `traceback` may be NULL, to get only
  /// the kind.
  int (*error_fill)(void* handle, AnyffiValue* kind, AnyffiValue* message, AnyffiValue* traceback);
  /// Runs pending signal handlers; fails if one raised.
  int (*check_signals)(void);
  /// Capsules: objects of the host that hold a pointer under a name (PyCapsule_New and so on). Called with the lock
  /// held; NULL if the host has none.
  void* (*capsule_new)(void* pointer, const char* name, void (*destructor)(void* capsule));
  int (*capsule_is_valid)(void* capsule, const char* name);
  void* (*capsule_get_pointer)(void* capsule, const char* name);
  int (*capsule_set_name)(void* capsule, const char* name);
  /// Releases one reference and returns 1, unless it is the last one; acquires the lock itself. For most handles it
  /// suffices, because the caller keeps the callable alive. May be NULL.
  int32_t (*handle_release_shared)(void* handle);
  /// 1 if the wrapper of a container compares and hashes as the runtime does, since its class is not a user's. Called
  /// with the lock held. NULL: no wrapper does.
  int32_t (*is_own_wrapper)(const AnyffiObject* container);
  /// Converts an object (AnyffiConversion): the result is a List, Set, Str or Bytes; None if it has no such conversion;
  /// a Slice of ints start, count and step; or an Array of a data type and Bytes with the elements.
  int (*handle_convert)(void* handle, int32_t conversion, AnyffiValue* out);
  /// The inverse, for paths and times: creates a value that refers to an object of the host.
  int (*handle_create)(int32_t conversion, const AnyffiValue* from, AnyffiValue* out);
  /// Called, with the lock held, when a container with this wrapper gets something for the garbage collector to visit
  /// (`anyffi_object_traverse`). NULL if every wrapper is visited anyway; the former host's hook then stays, because
  /// its wrappers may still exist.
  void (*wrapper_track)(void* wrapper);
  /// Leaves the wrapper of an object empty, if it has one, which releases its reference to the object.
  int (*wrapper_empty)(AnyffiObject* object);
  /// `anyffi_items_read`, called with the lock held. NULL for a host that never calls `load_items`; the former host's
  /// hook then stays.
  int64_t (*items_read)(AnyffiItems* items, AnyffiValue* out, int64_t capacity);
  /// `anyffi_items_write`, called with the lock held. NULL for a host that never sets ANYFFI_TAKES_ITEMS; the former
  /// host's hook then stays.
  int (*items_write)(void** state, const AnyffiValue* values, int64_t count);
  /// Hash an object of a type with ANYFFI_HOST_COMPARES, and compare two values of which at least one is such an
  /// object, as the host's classes define it. ANYFFI_HOST_DECLINED if they do not define it.
  int (*object_hash)(const AnyffiValue* object, int64_t* out);
  int (*object_equal)(const AnyffiValue* a, const AnyffiValue* b, int32_t* out);
  /// Begin and end a critical section, for a host whose lock several threads hold at once (PyCriticalSection_Begin,
  /// PyCriticalSection_End). `section` has ANYFFI_SECTION_SIZE bytes, `object` is the next member. Called with the lock
  /// held; sections may be nested, and a waiting thread leaves its own meanwhile. NULL if the lock excludes other
  /// threads.
  void (*section_begin)(void* section, void* object);
  void (*section_end)(void* section);
  void* section_object;
  /// The callback (`anyffi_function_create_host`) whose functions take deferred arguments (AnyffiDeferred), and load
  /// their results (AnyffiResultSlot). May be NULL.
  AnyffiCall deferring_callback;
} AnyffiHost;

typedef enum AnyffiSectionLimit { ANYFFI_SECTION_SIZE = 32 } AnyffiSectionLimit;

/// A function that works on containers, by its name in the C ABI, and a version that runs within a critical section.
typedef struct AnyffiSectioned {
  const char* name;
  void* function;
} AnyffiSectioned;

/// The functions that a front end must call instead of those with these names if its host has critical sections; ends
/// with NULL.
const AnyffiSectioned* anyffi_host_list_sectioned(void);
/// Calls a function, an AnyffiFunction: within a critical section if other threads can reach containers in the
/// arguments. An AnyffiCall.
int anyffi_function_call_sectioned(void* function, AnyffiValue* args, int32_t num_args, AnyffiValue* result);

/// Installs a copy of the host's hooks. NULL removes them, when the host exits: handles are then leaked, not released.
void anyffi_host_install(const AnyffiHost* host);
/// 1 after `anyffi_host_install(NULL)` has removed a host: some of its objects may still exist.
int32_t anyffi_host_has_ended(void);
/// Removes all registered functions that hold a handle, when the host exits.
void anyffi_registry_remove_host_functions(void);
/// The bytes left on the calling thread's stack, for front ends that bound recursion themselves. If the system does not
/// report the stack's size, only differences between results are meaningful.
size_t anyffi_stack_get_remaining(void);
/// How much stack a host must leave free when it walks nested values: for one level of its own code, and for its
/// garbage collector.
#define ANYFFI_STACK_RESERVE 24576

/// Moves an owned value to one that owns nothing, and leaves None. A single call, for front ends that a signal handler
/// may interrupt between two calls.
void anyffi_value_move(AnyffiValue* from, AnyffiValue* to);

/* ---- objects that own a handle --------------------------------------------------------------- */

/// An object of the host, opaque to the runtime.
typedef struct AnyffiPyObject {
  AnyffiObject header;
  void* handle;
} AnyffiPyObject;

int anyffi_py_object_create(void* handle, AnyffiValue* out);
/// An error that represents an exception of the host; `anyffi_error_fill` sets its fields.
int anyffi_error_create_host(void* handle, AnyffiValue* out);
/// Sets whether C++ frames are recorded when an error is created or raised; initially 0. Recording takes some
/// microseconds for each error.
void anyffi_error_record_frames(int32_t on);
/// The recorded frames of an error as text; None if there are none, or no memory. Parts end in NUL: first "1" for an
/// exception of the host, else "0"; then for each frame, innermost first, the file of its library (empty for the
/// program's own), the offset in it as hexadecimal digits, and the function's name (empty if the dynamic symbols do not
/// have it). All but the digits are empty for code outside of any library.
void anyffi_error_get_frames(AnyffiObject* error, AnyffiValue* out);
/// A function that calls a callable of the host: `callback` receives the handle as `self`. The runtime bounds
/// recursion, and sets `result` to Unset before the call: if it is still Unset afterwards, a signal arrived before the
/// callback's first line, or there was no memory, which is reported like an exception that a hook swallowed.
int anyffi_function_create_host(AnyffiCall callback, void* handle, AnyffiValue* out);
/// A tensor over memory of an object of the host, otherwise as `anyffi_tensor_create`.
int anyffi_tensor_create_host(const AnyffiTensorData* data, uint64_t flags, void* handle, AnyffiValue* out);

/* ---- the memory of tensors, for the buffer protocol of Python ---------------------------------- */

/// 1 if a tensor is C-contiguous, 0 if not.
int32_t anyffi_tensor_is_contiguous(const AnyffiTensorData* data);

/// CPython's Py_buffer.
typedef struct AnyffiBuffer {
  void* data;
  void* owner;
  ptrdiff_t size; /* in bytes */
  ptrdiff_t item_size;
  int read_only;
  int ndim;
  char* format; /* of the module struct, with Z for complex numbers */
  ptrdiff_t* shape;
  ptrdiff_t* strides; /* in bytes */
  ptrdiff_t* suboffsets;
  void* internal;
} AnyffiBuffer;

/// Describes the memory of a tensor as the flags (of PEP 3118) request. Shape and strides are those of the tensor,
/// which the caller keeps alive; `owner` is not set. BufferError if the object is NULL or not a tensor, if the CPU
/// cannot access the memory, if there is no memory, if the flags exclude the layout, or if they request a format and
/// the elements have none.
int anyffi_tensor_get_buffer(const AnyffiObject* tensor, AnyffiBuffer* out, int flags);

/* ---- wrappers -------------------------------------------------------------------------------- */

/// Sets the object's `wrapper` to `desired` if it is `expected`; 1 if it was.
int32_t anyffi_object_compare_exchange_wrapper(AnyffiObject* object, void* expected, void* desired);

/// The reference of a wrapper to its object.
typedef struct AnyffiWrapperRef {
  AnyffiObject* object; /* NULL: none */
  void* wrapper;
} AnyffiWrapperRef;

/// Fills an empty AnyffiWrapperRef, retaining the object, in one step.
void anyffi_wrapper_attach(AnyffiWrapperRef* hold, AnyffiObject* object, void* wrapper);
/// The reference of a wrapper, with its object as a value.
typedef struct AnyffiWrapperHold {
  AnyffiWrapperRef ref;
  AnyffiValue value;
} AnyffiWrapperHold;

/// Makes the wrapper named in `hold` the wrapper of an object that has none, fills the reference, and returns 1.
/// Retains the object, or steals it from `owner` if that is not NULL. Returns 0, and changes nothing, if the object has
/// a wrapper.
int32_t anyffi_wrapper_claim(AnyffiWrapperHold* hold, AnyffiValue* owner);
/// Clears the object's `wrapper` if it is this one, and releases the reference. Has a single parameter, so that a front
/// end can install it as a finalizer.
void anyffi_wrapper_detach(AnyffiWrapperRef* hold);
/// For a garbage collector that visits wrappers, as CPython's does: visits each handle that only the caller's reference
/// to the object keeps alive, possibly through other objects, once for each reference to the handle. Stops at the first
/// visit that does not return 0, and returns that result.
int anyffi_object_traverse(const AnyffiObject* object, int (*visit)(void* handle, void* context), void* context);
/// 0 if there is nothing to visit, whatever the refcounts; changes only where `wrapper_track` of AnyffiHost is called.
int32_t anyffi_object_may_refer(const AnyffiObject* object);
/// 0 if objects of the type have nothing to visit by themselves. An object that keeps others alive by
/// `anyffi_object_keep_alive` has something to visit; its deleter is `anyffi_object_nurse_deleter`. So may an enrolled
/// AnyffiInstance with an owner.
int32_t anyffi_type_may_refer(int32_t type_code);
typedef void (*AnyffiDeleter)(AnyffiObject* self, int32_t what);
AnyffiDeleter anyffi_object_nurse_deleter(void);

/// Describes the wrappers of a front end whose classes have no C code of their own. Such a wrapper points to a second
/// object, its memory, which contains an AnyffiWrapperRef. Offsets are in bytes from an object's address.
typedef struct AnyffiWrapperLayout {
  uint32_t struct_size;
  /// In a wrapper: the pointer to its class.
  uint32_t type_offset;
  /// In a wrapper: the pointer to its memory object, NULL if it has none.
  uint32_t memory_offset;
  /// In a memory object: the content.
  uint32_t content_offset;
  /// Take the host's pending exception, if any, and set it again (PyErr_Fetch, PyErr_Restore).
  void (*exception_save)(void** type, void** value, void** traceback);
  void (*exception_restore)(void* type, void* value, void* traceback);
  /// Adds a reference to an object (Py_IncRef).
  void (*retain)(void* object);
  /// Sets the host's exception (PyErr_SetString); followed by the exception classes that `anyffi_wrapper_get_buffer`
  /// raises.
  void (*set_error)(void* exception_class, const char* message);
  void* buffer_error;
  void* memory_error;
  /// In a wrapper: its reference count, of 4 or 8 bytes; and the object that represents no wrapper (Py_None).
  uint32_t count_offset;
  uint32_t count_size;
  void* nothing;
  /// Create text of code points of 1, 2 or 4 bytes (PyUnicode_FromKindAndData), and bytes (PyBytes_FromStringAndSize).
  void* (*make_text)(int width, const void* data, intptr_t length);
  void* (*make_bytes)(const char* data, intptr_t size);
  /// Create numbers (PyLong_FromLongLong, PyFloat_FromDouble, PyBool_FromLong, PyComplex_FromDoubles) and a tuple
  /// (PyTuple_Pack).
  void* (*make_int)(long long number);
  void* (*make_float)(double number);
  void* (*make_bool)(long number);
  void* (*make_complex)(double real, double imag);
  void* (*make_tuple)(intptr_t size, ...);
  /// Create an instance of a class with a number of items (PyType_GenericAlloc), and release an object (Py_DecRef).
  void* (*allocate)(void* object_class, intptr_t size);
  void (*release)(void* object);
  /// The class of memory objects, and the object that represents a value that only the host can read.
  void* memory_class;
  void* unread;
  /// Create containers, and add to them (PyList_New, PyDict_New, PyList_AsTuple, PySet_New, PyFrozenSet_New;
  /// PyDictProxy_New of a dict; PyList_Append, PyDict_SetItem). All but the first two are created from a list.
  void* (*make_list)(intptr_t size);
  void* (*make_dict)(void);
  void* (*list_as_tuple)(void* list);
  void* (*make_set)(void* list);
  void* (*make_frozen_set)(void* list);
  void* (*make_proxy)(void* dict);
  int (*list_append)(void* list, void* item);
  int (*dict_set)(void* dict, void* key, void* item);
} AnyffiWrapperLayout;

/// Declares the layout, which is copied, before the first call of a function below. Only one front end of a process may
/// use it.
void anyffi_wrapper_set_layout(const AnyffiWrapperLayout* layout);
/// The object of a wrapper, borrowed; NULL if it has none.
AnyffiObject* anyffi_wrapper_get_object(void* wrapper);
/// Moves the memory object of a wrapper, and so its object, to an empty wrapper: returns 1. 0 if the target is not
/// empty, if the source is, or if the runtime creates no wrappers.
int32_t anyffi_wrapper_move(void* from, void* to);
/// A new reference to the wrapper in an object's `wrapper`, or to `nothing` if there is none, or if it is being
/// destroyed. The host's lock must be held.
void* anyffi_wrapper_get_current(void* const* word);
/// Sets the wrapper class of a type, which the caller keeps alive. Functions that read objects create instances of it
/// without calling its constructor; if it is NULL they create none. After `anyffi_wrapper_let_create(0)` they leave all
/// objects to the host.
void anyffi_wrapper_set_class(int32_t type_code, void* wrapper_class);
void anyffi_wrapper_let_create(int32_t on);
/// A new reference to the wrapper of an owned object: the current one, or a new one. The object is released. Returns
/// `unread` if the host must create the wrapper; NULL with an exception of the host on failure.
void* anyffi_wrapper_take(AnyffiValue* owner);
/// The same for an object that the caller keeps alive.
void* anyffi_wrapper_share(AnyffiObject* object);
/// The same for any value: the host's number, text or bytes for it, the object of a handle, or the wrapper.
void* anyffi_wrapper_take_value(AnyffiValue* owner);

typedef enum AnyffiPlainMode {
  ANYFFI_PLAIN_ALL = 0,
  ANYFFI_PLAIN_TRANSFERRED = 1 /* containers with the flag ANYFFI_NATIVE that have no other references */
} AnyffiPlainMode;

typedef enum AnyffiPlainLimit { ANYFFI_MAX_PLAIN = 200 } AnyffiPlainLimit;

/// The host's own container for a container of exactly this type, at all levels, at most ANYFFI_MAX_PLAIN; `unread` if
/// it contains anything except such containers, numbers, text and bytes, or if it contains itself.
void* anyffi_wrapper_make_plain(const AnyffiWrapperRef* self, int32_t type_code, int32_t mode);
/// Visits a wrapper's class, and what `anyffi_object_traverse` visits: a `tp_traverse` of CPython.
int anyffi_wrapper_traverse(void* wrapper, int (*visit)(void* object, void* context), void* context);
/// Releases an object that has no other reference and may have something to visit, and empties the wrapper: a
/// `tp_clear` of CPython.
int anyffi_wrapper_clear(void* wrapper);
/// `anyffi_tensor_get_buffer` for a wrapper, which the buffer retains: a `bf_getbuffer` of CPython. Failures are
/// exceptions of the host.
int anyffi_wrapper_get_buffer(void* wrapper, AnyffiBuffer* out, int flags);
/// Finalizers of memory objects (`tp_finalize` of CPython), called with the host's lock held. They preserve the host's
/// pending exception, do not depend on the interpreter's state, and may run twice. The content is an AnyffiWrapperRef,
/// one owned value, or a recipe.
void anyffi_wrapper_finalize(void* memory);
void anyffi_value_finalize(void* memory);
void anyffi_recipe_finalize(void* memory);

/* ---- DLPack with libraries of the host --------------------------------------------------------- */

/// `anyffi_tensor_from_dlpack` for a library of the host: its deleter is not called after the host has shut down.
int anyffi_tensor_from_dlpack_host(AnyffiManagedTensor* managed, AnyffiValue* out);
/// The same from a capsule with either struct. TypeError if it is not a DLPack capsule, or was consumed before. A
/// tensor in the legacy struct, which has no flags, becomes read-only.
int anyffi_tensor_from_capsule(void* handle, AnyffiValue* out);
/// The same from a value that holds a capsule; a tensor in the legacy struct is writable.
int anyffi_tensor_from_writable_capsule(const AnyffiValue* capsule, AnyffiValue* out);
/// A new capsule, as a handle that the caller owns; with the legacy struct if `legacy` is not 0. NULL on failure.
int anyffi_tensor_to_capsule(AnyffiObject* tensor, int32_t legacy, void** out);

/// The hooks of a DLPackExchangeAPI, with which compiled code of other libraries reads and creates the front end's
/// wrappers of tensors. Called with the host's lock held.
typedef struct AnyffiExchangeApiHooks {
  AnyffiObject* (*unwrap)(void* wrapper);        /* the tensor, borrowed; NULL if there is none */
  int (*wrap)(AnyffiObject* tensor, void** out); /* a new reference to the wrapper; returns as hooks of AnyffiHost */
  void (*set_error)(void* exception_class, const char* message); /* PyErr_SetString */
  void* exception_class;                                         /* for operations that are not supported */
} AnyffiExchangeApiHooks;

typedef enum AnyffiExchangeApiLimit { ANYFFI_MAX_EXCHANGE_APIS = 4 } AnyffiExchangeApiLimit;

/// A DLPackExchangeAPI of DLPack 1.3, never freed. NULL, without an error, after ANYFFI_MAX_EXCHANGE_APIS of them.
const void* anyffi_tensor_create_exchange_api(const AnyffiExchangeApiHooks* hooks);

/* ---- overloads with keywords ------------------------------------------------------------------- */

/// Binds keywords for one overload, at `index`: writes for each parameter the index of its argument, or -1 if it is
/// omitted. Returns how many it wrote, at most the number of parameters; -1 if the arguments do not fit.
typedef int32_t (*AnyffiPlaceArgs)(void* context, const AnyffiOverload* overload, int32_t index, int32_t* arg_indices);

/// Calls a function made by `anyffi_function_create_overloaded` with keyword arguments, which `place` binds, possibly
/// several times. Returns ANYFFI_NO_MATCH, without an error, if they fit no overload: the front end raises the error.
int anyffi_function_call_placed(AnyffiFunction* overloaded, AnyffiPlaceArgs place, void* context, AnyffiValue* args,
                                int32_t num_args, AnyffiValue* result);

/* ---- fields of wrappers ----------------------------------------------------------------------- */

/// A field of a wrapper's object, as an owned value: 1, 0 if there is no such field, -1 on failure.
int32_t anyffi_wrapper_get_field(const AnyffiWrapperRef* self, const char* name, AnyffiValue* out);
/// Sets a field: 1; 2 if that changed the object's type; 0 if there is no such field, or it cannot be set; -1 on
/// failure.
int32_t anyffi_wrapper_set_field(const AnyffiWrapperRef* self, const char* name, const AnyffiValue* value);

/* ---- containers of wrappers ------------------------------------------------------------------- */

/// Operations on the containers of wrappers, for front ends in which a call costs more than the operation: wrappers are
/// given by their references, which the caller keeps alive, and ints have 32 bits. They refuse wrappers of other types,
/// and leave what they refuse to the host. Values and elements of the host are given as recipes of `size` values.

typedef enum AnyffiComparison {
  ANYFFI_UNDECIDED = -1, /* code of the host is needed */
  ANYFFI_DIFFERS = 2     /* they differ; also sets the first position whose elements decide */
} AnyffiComparison;

typedef enum AnyffiWrappedLimit { ANYFFI_MAX_WRAPPED = 4 } AnyffiWrappedLimit;

/// An Array of the elements of all elements, if these are Arrays of one size that contain only inline values, text and
/// bytes, and have no wrappers of users' classes. Returns that size; 0 for others, -1 on failure.
int64_t anyffi_wrapper_flatten(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* out);
/// The number of elements or entries; -1 for other types.
int64_t anyffi_wrapper_get_size(const AnyffiWrapperRef* self, int32_t type_code);
/// An owned copy of an element; a negative index counts from the end. Returns 1; or 0, with None or Unset in `out`.
int32_t anyffi_wrapper_get_element(const AnyffiWrapperRef* self, int32_t type_code, int32_t index, AnyffiValue* out);
/// Replace or remove an element of a List: 1, 0 if there is none, -1 on failure.
int32_t anyffi_wrapper_set_element(const AnyffiWrapperRef* self, int32_t index, AnyffiValue* recipe, int32_t size);
int32_t anyffi_wrapper_erase_element(const AnyffiWrapperRef* self, int32_t index);
/// The first position from `start` to below `stop` (-1: the end) of an equal element; -1 if there is none, -2 if code
/// of the host is needed, -3 on failure.
int64_t anyffi_wrapper_find_element(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe, int32_t size,
                                    int32_t start, int32_t stop);
/// The number of equal elements; -1 if code of the host is needed, -2 on failure.
int64_t anyffi_wrapper_count_elements(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe,
                                      int32_t size);
/// A new sequence from the elements of two sequences, or of one sequence and values, which come first if
/// `is_reflected`: 1; 0 for other types, -1 on failure.
int32_t anyffi_wrapper_concat(const AnyffiWrapperRef* self, const AnyffiWrapperRef* other, int32_t type_code,
                              AnyffiValue* out);
int32_t anyffi_wrapper_concat_values(const AnyffiWrapperRef* self, AnyffiValue* recipe, int32_t size, int32_t type_code,
                                     int32_t is_reflected, AnyffiValue* out);
/// An owned copy of a key's value: 1, 0 if the key is absent, -1 on failure, -2 for other types.
int32_t anyffi_wrapper_get_item(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe, int32_t size,
                                AnyffiValue* out);
/// 1 if a mapping or set has a key, else as `anyffi_wrapper_get_item`.
int32_t anyffi_wrapper_has_key(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe, int32_t size);
/// Sets the value of a key, or adds an element to a set: 1, -1 on failure, -2 for other types.
int32_t anyffi_wrapper_set_item(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe, int32_t size);
/// Removes a key or an element; returns as `anyffi_wrapper_get_item`.
int32_t anyffi_wrapper_erase_key(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe, int32_t size);
/// Compares two sequences, mappings or sets by `<`, `<=`, `==`, `!=`, `>` or `>=`, operations 0 to 5: 1 or 0, or an
/// AnyffiComparison.
int32_t anyffi_wrapper_compare(const AnyffiWrapperRef* self, const AnyffiWrapperRef* other, int32_t type_code,
                               int32_t operation);
/// The same with values instead of a second sequence; -2 on failure.
int32_t anyffi_wrapper_compare_values(const AnyffiWrapperRef* self, AnyffiValue* recipe, int32_t size,
                                      int32_t type_code, int32_t operation);
/// The same for a mapping with `count` distinct keys and values in turn; for equality only.
int32_t anyffi_wrapper_compare_pairs(const AnyffiWrapperRef* self, AnyffiValue* recipe, int32_t size, int32_t count,
                                     int32_t type_code, int32_t operation);
/// Whether two mappings have the same keys: 1, 0 or ANYFFI_UNDECIDED.
int32_t anyffi_wrapper_compare_keys(const AnyffiWrapperRef* self, const AnyffiWrapperRef* other);
/// Whether two sets have no element in common: 1, 0 or ANYFFI_UNDECIDED.
int32_t anyffi_wrapper_is_disjoint(const AnyffiWrapperRef* self, const AnyffiWrapperRef* other, int32_t type_code);
/// `anyffi_set_combine` and `anyffi_set_combine_values`; -2 for other types.
int32_t anyffi_wrapper_combine(const AnyffiWrapperRef* self, const AnyffiWrapperRef* other, int32_t type_code,
                               int32_t operation, AnyffiValue* out);
int32_t anyffi_wrapper_combine_values(const AnyffiWrapperRef* self, AnyffiValue* recipe, int32_t size,
                                      int32_t type_code, int32_t operation, int32_t is_reflected, AnyffiValue* out);
/// `anyffi_set_change` and `anyffi_set_change_values`; 0 for other types.
int32_t anyffi_wrapper_change(const AnyffiWrapperRef* self, const AnyffiWrapperRef* other, int32_t operation);
int32_t anyffi_wrapper_change_values(const AnyffiWrapperRef* self, AnyffiValue* recipe, int32_t size,
                                     int32_t operation);
/// The number of the values that a set has; ANYFFI_UNDECIDED, or -2 on failure.
int32_t anyffi_wrapper_count_values(const AnyffiWrapperRef* self, AnyffiValue* recipe, int32_t size, int32_t type_code);
/// Calls a function with the objects of one or two wrappers (the second may be NULL), followed by at most
/// ANYFFI_MAX_WRAPPED arguments, which are borrowed.
int anyffi_function_call_wrapped(void* function, const AnyffiWrapperRef* first, const AnyffiWrapperRef* second,
                                 AnyffiValue* recipe, int32_t size, AnyffiValue* result);

/// Creates a container as the object of the wrapper named in `hold`: from a recipe, as a set of values some of which
/// may be equal, or as a copy of another wrapper's container. 1; 0 for what the host must handle, -1 on failure.
int32_t anyffi_wrapper_create(AnyffiWrapperHold* hold, AnyffiValue* recipe, int32_t size);
int32_t anyffi_wrapper_create_set(AnyffiWrapperHold* hold, AnyffiValue* recipe, int32_t size, int32_t type_code);
int32_t anyffi_wrapper_create_copy(AnyffiWrapperHold* hold, const AnyffiWrapperRef* other, int32_t type_code);

/// An iterator over the container of a wrapper. If `self` names the wrapper, the iteration ends when the wrapper is
/// cleared; otherwise the caller keeps the container alive.
typedef struct AnyffiCursor {
  AnyffiWrapperRef self;
  int64_t index;
  int64_t size; /* for mappings and sets: the number of entries at the beginning, and those left */
  int64_t left;
  int32_t type_code;
  int32_t step; /* 1 or -1 */
} AnyffiCursor;

typedef enum AnyffiCursorEnd {
  ANYFFI_OTHER_SIZE = -2, /* the size of the mapping has changed since the beginning */
  ANYFFI_OTHER_KEYS = -3  /* there are more entries than at the beginning */
} AnyffiCursorEnd;

/// Begins an iteration at the first element or entry (`step` 1), or at the last one (`step` -1). A wrapper named in
/// `self` must have the declared layout.
void anyffi_cursor_open(AnyffiCursor* cursor, const AnyffiWrapperRef* self, int32_t step);
/// An owned copy of the next element: 1, or 0 at the end.
int32_t anyffi_cursor_next_element(AnyffiCursor* cursor, AnyffiValue* out);
/// Owned copies of the next key and value (NULL: not needed): 1; 0 at the end, or an AnyffiCursorEnd.
int32_t anyffi_cursor_next_entry(AnyffiCursor* cursor, AnyffiValue* out_key, AnyffiValue* out_value);

/// As the functions without `read`, but the result is the host's object for the value; or `unread`, and `out` is the
/// owned value, or Unset with the other function's status as the payload.
void* anyffi_cursor_read_element(AnyffiCursor* cursor, AnyffiValue* out);
void* anyffi_wrapper_read_element(const AnyffiWrapperRef* self, int32_t type_code, int32_t index, AnyffiValue* out);
void* anyffi_wrapper_read_field(const AnyffiWrapperRef* self, const char* name, AnyffiValue* out);
void* anyffi_wrapper_read_item(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe, int32_t size,
                               AnyffiValue* out);
/// Removes what a key names: an element of a List by its index, an entry of a Dict, or without a key the last entry of
/// a Dict or Set. Returns the host's object for the element, value, pair or key. It is created first, so that nothing
/// has changed on failure; or `unread`, and `out` is an Array to unpack, and to pass to `anyffi.container.erase_peeked`
/// together with the container; or Unset with the status 0 if there is nothing, -1 on failure, -2 for other types and
/// for containers that were changed meanwhile.
void* anyffi_wrapper_pop(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe, int32_t size,
                         AnyffiValue* out);
typedef enum AnyffiReadPart {
  ANYFFI_READ_VALUE = 1 /* else the key */
} AnyffiReadPart;

/// The same for a key or a value. If `out_item` is not NULL, the result is a tuple of both; it contains `unread` in
/// place of a key, which is then in `out`, or of a value, which is then in `out_item`.
void* anyffi_cursor_read_entry(AnyffiCursor* cursor, int32_t what, AnyffiValue* out, AnyffiValue* out_item);

/* ---- recipes --------------------------------------------------------------------------------- */

/// A Tensor in a recipe: the arguments of `anyffi_tensor_create_host`, which is called after `retain(handle)`.
typedef struct AnyffiTensorRecipe {
  AnyffiTensorData tensor;
  uint64_t flags; /* AnyffiTensorFlag */
  void* handle;
  void (*retain)(void* handle);
} AnyffiTensorRecipe;

/// A Function in a recipe: the arguments of `anyffi_function_create_host`, which is called after `retain(handle)`.
typedef struct AnyffiFunctionRecipe {
  AnyffiCall callback;
  void* handle;
  void (*retain)(void* handle);
} AnyffiFunctionRecipe;

/// A PyObject or an Error in a recipe: the argument of `anyffi_py_object_create` or `anyffi_error_create_host`, which
/// is called after `retain(handle)`.
typedef struct AnyffiPyObjectRecipe {
  void* handle;
  void (*retain)(void* handle);
} AnyffiPyObjectRecipe;

/// A BigInt in a recipe: the arguments of `anyffi_big_int_create`.
typedef struct AnyffiBigIntRecipe {
  const uint64_t* words;
  int64_t size;
  int32_t negative;
} AnyffiBigIntRecipe;

/// A Complex in a recipe: the arguments of `anyffi_complex_create`.
typedef struct AnyffiComplexRecipe {
  double real;
  double imag;
} AnyffiComplexRecipe;

/// Creates the arguments that a recipe describes, calls the function, and releases what it did not steal: a single
/// call, for front ends whose calls into the runtime are slow. An AnyffiCall. A result that borrows from an argument
/// becomes owned.
///
/// A recipe is an array of `size` values, consumed by the call. A value with the flag ANYFFI_RECIPE stands for a
/// container or slice made from the `as_int` values before it (keys and values in turn; start, stop and step), or for
/// what `as_pointer` points to: an AnyffiTensorRecipe, AnyffiFunctionRecipe or AnyffiPyObjectRecipe; for a string or
/// bytes object a view, which is copied; or for ANYFFI_OBJECT an owned value, which is moved. All other values are
/// borrowed. The values that remain are the arguments; the created ones are movable.
int anyffi_function_call_recipe(void* function, AnyffiValue* recipe, int32_t size, AnyffiValue* result);
/// Only the first step: replaces a recipe by the arguments. Returns their number; -1 on failure, with nothing to
/// release.
int32_t anyffi_recipe_build(AnyffiValue* recipe, int32_t size);
/// The single value that a recipe describes, owned.
int anyffi_recipe_create(AnyffiValue* recipe, int32_t size, AnyffiValue* out);
/// Only the last step, for arguments that are followed by an Unset value: releases the movable ones, and leaves None.
/// Has a single parameter, so that a front end can install it as a finalizer.
void anyffi_recipe_release(AnyffiValue* recipe);

/* ---- values of the host ------------------------------------------------------------------------ */

/// How a host stores its own numbers, text and containers, for front ends whose calls into the runtime are slow: a
/// single call then reads everything in a list. Offsets are in bytes from an object's address. Only instances of
/// exactly the classes named here are read, so that the functions run no code of users.
typedef struct AnyffiHostValues {
  uint32_t struct_size;
  /// In any object: the pointer to its class, and its reference count, of 4 or 8 bytes.
  uint32_t class_offset;
  uint32_t count_offset;
  uint32_t count_size;
  /// In bytes, tuples and lists: the size; then the content of bytes, the items of a tuple, and the pointer to the
  /// items of a list.
  uint32_t size_offset;
  uint32_t bytes_offset;
  uint32_t tuple_offset;
  uint32_t list_offset;
  /// In text: the number of code points, and a word of flags: three bits, from `width_shift` on, for the width of a
  /// code point; one bit that is set if the code points follow the object's struct; and one for ASCII.
  uint32_t length_offset;
  uint32_t state_offset;
  uint32_t width_shift;
  /// In text: the code points of ASCII text, and those of other text.
  uint32_t ascii_offset;
  uint32_t text_offset;
  /// How many levels of containers are read.
  int32_t max_depth;
  void* none;
  void* true_object;
  void* bool_class;
  void* int_class;
  void* float_class;
  void* complex_class;
  void* text_class;
  void* bytes_class;
  void* tuple_class;
  void* list_class;
  void* dict_class;
  /// The number; or an arbitrary one, with `overflow` not 0, if it does not fit (PyLong_AsLongLongAndOverflow). The
  /// others never fail (PyFloat_AsDouble, PyComplex_RealAsDouble, PyComplex_ImagAsDouble).
  long long (*read_int)(void* x, int* overflow);
  double (*read_float)(void* x);
  double (*read_real)(void* x);
  double (*read_imag)(void* x);
  /// The number of entries, and an iteration over them: 0 at its end (PyDict_Size, PyDict_Next).
  ptrdiff_t (*dict_size)(void* dict);
  int (*dict_next)(void* dict, ptrdiff_t* position, void** key, void** value);
} AnyffiHostValues;

/// Declares the layout, which is copied, before the first call of a function below. All of them need the host's lock.
/// They take the address of a pointer to an object, since hosts pass bytes faster than addresses.
void anyffi_host_declare_values(const AnyffiHostValues* values);
/// Writes a tuple's items as borrowed values into a recipe, followed by the step for a container of `type_code`: one
/// value more than items. Returns 1 if all items are bools, 64-bit ints, floats, text, bytes and None. Otherwise other
/// items are Unset values, and the result is -1 if `anyffi_host_create_object` can handle some of them, else 0.
int32_t anyffi_host_write_items(void* const* tuple, int32_t type_code, AnyffiValue* out);
/// Creates the object for a list, tuple or dict that contains such values, complex numbers and further containers, at
/// all levels. `type_code` is that of the object, or 0 for the one that an argument becomes. A container that occurs
/// twice becomes one object. Returns 1; 0 for what only the host can convert, -1 on failure.
int32_t anyffi_host_create_object(void* const* container, int32_t type_code, AnyffiValue* out);

/* ---- records --------------------------------------------------------------------------------- */

/// A new object of a type that a front end declared (`anyffi.record.declare`). Until all fields are set, by `set` of
/// each field, it may only be released.
int anyffi_record_create(int32_t type_code, AnyffiValue* out);
/// The deleter of such an object once all its fields are set. From then on each field of a type with a `record`, except
/// one that is ANYFFI_STORED_OTHERWISE, lies at `sizeof(AnyffiInstance) + offset` bytes from the start of the object.
void anyffi_record_destroy(AnyffiObject* self, int32_t what);

// anyffi: plain declarations end

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // ANYFFI_HOST_API_H_
