/// \file
/// The C ABI for front ends of a managed language, such as Python: its handles, hooks and wrappers. C11. Extensions
/// need c_api.h only, whose conventions hold here too.
///
/// A handle is a pointer to an object of the host (the managed language's interpreter), counted by the host. Functions
/// that take one steal one reference to it, also on failure, unless they say otherwise.
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
  /// The host alone knows which objects have wrappers: their headers name none, since its objects have no addresses, or
  /// since it cannot tell whether an object at an address is being destroyed.
  ANYFFI_HOST_KEEPS_WRAPPERS = 4,
  /// Callbacks and hooks catch what signal handlers raise from their first instruction on. What the host still swallows
  /// is a lack of memory: the runtime raises MemoryError then instead of KeyboardInterrupt.
  ANYFFI_HOST_CATCHES_SIGNALS = 8
} AnyffiHostFlag;

/// The result of callbacks and hooks of the host on success; on failure they leave an error in the slot and return -1.
/// Hooks written in the host's own language (ctypes) return any other number if a signal interrupts them before their
/// first line or after their last, where the host swallows the exception: the runtime raises KeyboardInterrupt then, or
/// MemoryError (ANYFFI_HOST_CATCHES_SIGNALS). Since that number may be any, hooks of a host with this flag also set
/// their results whenever they return a status of success; no hash is -1.
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
  /// Kind, message and traceback of an exception, as owned strings. `message` and `traceback` may be NULL: the kind
  /// alone.
  int (*error_fill)(void* handle, AnyffiValue* kind, AnyffiValue* message, AnyffiValue* traceback);
  /// Runs pending signal handlers; fails if one raised.
  int (*check_signals)(void);
  /// Capsules: objects of the host that hold a pointer under a name (PyCapsule_New and so on). Called with the lock
  /// held; NULL where the host has none.
  void* (*capsule_new)(void* pointer, const char* name, void (*destructor)(void* capsule));
  int (*capsule_is_valid)(void* capsule, const char* name);
  void* (*capsule_get_pointer)(void* capsule, const char* name);
  int (*capsule_set_name)(void* capsule, const char* name);
  /// Releases one reference and returns 1, if it is not the last one; acquires the lock itself. Most handles are of
  /// callables that their caller keeps. May be NULL.
  int32_t (*handle_release_shared)(void* handle);
  /// 1 if the wrapper of a container compares and hashes as the runtime does: if its class is no user's. Called with
  /// the lock held. NULL: none does.
  int32_t (*is_own_wrapper)(const AnyffiObject* container);
  /// What an object is as another type (AnyffiConversion): a List, Set, Str or Bytes. Or None: it is not that. Or a
  /// Slice of start, number and step of ints, or an Array of a data type and Bytes that hold the elements.
  int (*handle_convert)(void* handle, int32_t conversion, AnyffiValue* out);
  /// The inverse, for paths and times: a value that stands for an object of the host.
  int (*handle_create)(int32_t conversion, const AnyffiValue* from, AnyffiValue* out);
  /// A container with this wrapper may have something to visit from now on (`anyffi_object_traverse`). Called with the
  /// lock held. NULL where every wrapper is visited; then that of the former host remains, whose wrappers may exist.
  void (*wrapper_track)(void* wrapper);
  /// Leaves the wrapper of an object empty, if it has one, which releases its reference to the object.
  int (*wrapper_empty)(AnyffiObject* object);
  /// `anyffi_items_read`, called with the lock held. NULL for a host that calls no `load_items`; then that of the
  /// former host remains.
  int64_t (*items_read)(AnyffiItems* items, AnyffiValue* out, int64_t capacity);
  /// `anyffi_items_write`, called with the lock held. NULL for a host that never sets ANYFFI_TAKES_ITEMS; then that of
  /// the former host remains.
  int (*items_write)(void** state, const AnyffiValue* values, int64_t count);
  /// Hash an object of a type with ANYFFI_HOST_COMPARES, and compare two values of which at least one is such, as the
  /// host's classes say. ANYFFI_HOST_DECLINED where these say nothing.
  int (*object_hash)(const AnyffiValue* object, int64_t* out);
  int (*object_equal)(const AnyffiValue* a, const AnyffiValue* b, int32_t* out);
  /// Begin and end a section, of which one thread at a time executes one, in a host whose lock several threads hold at
  /// once (PyCriticalSection_Begin, PyCriticalSection_End). `section` has ANYFFI_SECTION_SIZE bytes, `object` is the
  /// next member. Called with the lock held; sections are nested, and a thread that waits leaves its own meanwhile.
  /// NULL where the lock keeps other threads out.
  void (*section_begin)(void* section, void* object);
  void (*section_end)(void* section);
  void* section_object;
  /// The callback (`anyffi_function_create_host`) whose functions take deferred arguments (AnyffiDeferred), and load
  /// their results (AnyffiResultSlot). May be NULL.
  AnyffiCall deferring_callback;
} AnyffiHost;

typedef enum AnyffiSectionLimit { ANYFFI_SECTION_SIZE = 32 } AnyffiSectionLimit;

/// A function that works on containers, by its name in the C ABI, and one that does the same within a section.
typedef struct AnyffiSectioned {
  const char* name;
  void* function;
} AnyffiSectioned;

/// What a front end calls, in the place of the functions of these names, whose host has sections; ends with NULL.
const AnyffiSectioned* anyffi_host_list_sectioned(void);
/// Calls a function, an AnyffiFunction, with these arguments: within a section, if other threads may reach containers
/// in them. An AnyffiCall.
int anyffi_function_call_sectioned(void* function, AnyffiValue* args, int32_t num_args, AnyffiValue* result);

/// Installs a copy of the host's hooks. NULL removes them, at the host's exit: handles are then leaked, not released.
void anyffi_host_install(const AnyffiHost* host);
/// Returns 1 after `anyffi_host_install(NULL)` has removed a host: objects of it may be left.
int32_t anyffi_host_has_ended(void);
/// Removes every registered function that holds a handle; for the host's exit.
void anyffi_registry_remove_host_functions(void);
/// The bytes left on the calling thread's stack, for front ends that bound recursion themselves. Where the system does
/// not report the stack's size, only differences between two results are meaningful.
size_t anyffi_stack_get_remaining(void);
/// What a host leaves of a stack where it walks through nested values: for a level of its own code, and its collector.
#define ANYFFI_STACK_RESERVE 24576

/// Moves an owned value to one that owns nothing, and leaves None: in one call, for front ends that a signal handler
/// may interrupt between two calls.
void anyffi_value_move(AnyffiValue* from, AnyffiValue* to);

/* ---- objects that own a handle --------------------------------------------------------------- */

/// An object of the host, opaque to the runtime.
typedef struct AnyffiPyObject {
  AnyffiObject header;
  void* handle;
} AnyffiPyObject;

int anyffi_py_object_create(void* handle, AnyffiValue* out);
/// An error over an exception of the host; `anyffi_error_fill` sets its fields.
int anyffi_error_create_host(void* handle, AnyffiValue* out);
/// Whether C++ frames are recorded where an error is made or raised; 0 until it is called. Then raising one takes some
/// microseconds more.
void anyffi_error_record_frames(int32_t on);
/// The recorded frames of an error as text; None if there are none, or no memory. Parts end in NUL: first "1" for an
/// exception of the host, else "0"; then for each frame, innermost first, the file of its library (empty: the program's
/// own), the place in it in hexadecimal digits, and the function's name, empty if the dynamic symbols have none. Both
/// are empty for code of no library.
void anyffi_error_get_frames(AnyffiObject* error, AnyffiValue* out);
/// A function over a callable of the host: `callback` receives the handle as `self`. The runtime bounds recursion and
/// sets `result` to Unset before the call; if it is still Unset afterwards, a signal came before the callback's first
/// line, or there was no memory, which is reported as a hook's swallowed exception.
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

/// Describes the memory of a tensor as the flags, those of PEP 3118, ask for. Shape and strides are those of the
/// tensor, which the caller keeps alive; `owner` is not touched. BufferError if the object is NULL or no tensor, the
/// CPU cannot read the memory, there is none, the flags exclude its layout, or they ask for a format and the elements
/// have none.
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

/// Makes the named wrapper that of an object without one, and fills the reference: returns 1. Retains the object, or
/// steals it from `owner`, where that is not NULL. 0, with nothing changed, if the object has a wrapper.
int32_t anyffi_wrapper_claim(AnyffiWrapperHold* hold, AnyffiValue* owner);
/// Clears the object's `wrapper` if it is this one, and releases the reference. It takes one argument, so that a front
/// end can install it as a finalizer.
void anyffi_wrapper_detach(AnyffiWrapperRef* hold);
/// For a garbage collector that visits wrappers, as CPython's does: visits each handle that only the caller's reference
/// to the object keeps alive, through any number of other objects, once for each reference to it. Stops at the first
/// visit that does not return 0, and returns that.
int anyffi_object_traverse(const AnyffiObject* object, int (*visit)(void* handle, void* context), void* context);
/// 0 if there is nothing to visit, whatever the refcounts; changes by `wrapper_track` of AnyffiHost alone.
int32_t anyffi_object_may_refer(const AnyffiObject* object);
/// 0 if no object of the type has anything to visit by itself. What keeps others alive by `anyffi_object_keep_alive`
/// has; its deleter is that of `anyffi_object_nurse_deleter`. So may an enrolled AnyffiInstance with an owner.
int32_t anyffi_type_may_refer(int32_t type_code);
typedef void (*AnyffiDeleter)(AnyffiObject* self, int32_t what);
AnyffiDeleter anyffi_object_nurse_deleter(void);

/// Describes the wrappers of a front end whose classes have no C code of their own. Such a wrapper points to a second
/// object, its memory, whose content is an AnyffiWrapperRef. Offsets count bytes from an object's address.
typedef struct AnyffiWrapperLayout {
  uint32_t struct_size;
  /// In a wrapper: the pointer to its class.
  uint32_t type_offset;
  /// In a wrapper: the pointer to its memory, NULL while it has none.
  uint32_t memory_offset;
  /// In memory: the content.
  uint32_t content_offset;
  /// Take the host's pending exception, if any, and set it again (PyErr_Fetch, PyErr_Restore).
  void (*exception_save)(void** type, void** value, void** traceback);
  void (*exception_restore)(void* type, void* value, void* traceback);
  /// Adds a reference to an object (Py_IncRef).
  void (*retain)(void* object);
  /// Sets the host's exception (PyErr_SetString); the classes of those of `anyffi_wrapper_get_buffer`.
  void (*set_error)(void* exception_class, const char* message);
  void* buffer_error;
  void* memory_error;
  /// In a wrapper: its reference count, of 4 or 8 bytes; and what stands for no wrapper (Py_None).
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
  /// Create an instance of a class, of some items (PyType_GenericAlloc), and release an object (Py_DecRef).
  void* (*allocate)(void* object_class, intptr_t size);
  void (*release)(void* object);
  /// The class of memory, and what stands for a value that only the host can read.
  void* memory_class;
  void* unread;
  /// Create containers, of a list but for the first two, and add to them (PyList_New, PyDict_New, PyList_AsTuple,
  /// PySet_New, PyFrozenSet_New; PyDictProxy_New of a dict; PyList_Append, PyDict_SetItem).
  void* (*make_list)(intptr_t size);
  void* (*make_dict)(void);
  void* (*list_as_tuple)(void* list);
  void* (*make_set)(void* list);
  void* (*make_frozen_set)(void* list);
  void* (*make_proxy)(void* dict);
  int (*list_append)(void* list, void* item);
  int (*dict_set)(void* dict, void* key, void* item);
} AnyffiWrapperLayout;

/// Declares the layout, copied, before the first use of a function below. One front end of a process uses it.
void anyffi_wrapper_set_layout(const AnyffiWrapperLayout* layout);
/// The object of a wrapper, borrowed; NULL if it has none.
AnyffiObject* anyffi_wrapper_get_object(void* wrapper);
/// Moves the memory of a wrapper, and so its object, to an empty one: 1. 0 if that is not empty, the first one is, or
/// the runtime creates no wrappers.
int32_t anyffi_wrapper_move(void* from, void* to);
/// A new reference to the wrapper that an object's `wrapper` names, or to `nothing` if there is none or it is being
/// destroyed. The host's lock is held.
void* anyffi_wrapper_get_current(void* const* word);
/// The class of the wrappers of a type, which the caller keeps alive. Functions that read objects create instances of
/// it, without calling its constructor; NULL: they create none. After `anyffi_wrapper_let_create(0)` they leave all
/// objects to the host.
void anyffi_wrapper_set_class(int32_t type_code, void* wrapper_class);
void anyffi_wrapper_let_create(int32_t on);
/// A new reference to the wrapper of an owned object, the current or a new one; then the object is released. `unread`
/// if the host must create it; NULL with an exception of the host on failure.
void* anyffi_wrapper_take(AnyffiValue* owner);
/// The same of an object that the caller keeps alive.
void* anyffi_wrapper_share(AnyffiObject* object);
/// The same of any value: the host's number, text or bytes for it, the object of a handle, or the wrapper.
void* anyffi_wrapper_take_value(AnyffiValue* owner);

typedef enum AnyffiPlainMode {
  ANYFFI_PLAIN_ALL = 0,
  ANYFFI_PLAIN_TRANSFERRED = 1 /* containers with the flag ANYFFI_NATIVE, of which others have no reference */
} AnyffiPlainMode;

typedef enum AnyffiPlainLimit { ANYFFI_MAX_PLAIN = 200 } AnyffiPlainLimit;

/// The host's own container for one of this very type, at all levels, at most ANYFFI_MAX_PLAIN; `unread` if it holds
/// anything but such containers, numbers, text and bytes, or itself.
void* anyffi_wrapper_make_plain(const AnyffiWrapperRef* self, int32_t type_code, int32_t mode);
/// Visits a wrapper's class, and what `anyffi_object_traverse` visits: a `tp_traverse` of CPython.
int anyffi_wrapper_traverse(void* wrapper, int (*visit)(void* object, void* context), void* context);
/// Releases an object that has no other reference and may have something to visit, and leaves the wrapper empty: a
/// `tp_clear` of CPython.
int anyffi_wrapper_clear(void* wrapper);
/// `anyffi_tensor_get_buffer` of a wrapper, which the buffer then retains: a `bf_getbuffer` of CPython. Failure is an
/// exception of the host.
int anyffi_wrapper_get_buffer(void* wrapper, AnyffiBuffer* out, int flags);
/// Finalizers of memory (`tp_finalize` of CPython), called with the host's lock held. They preserve the host's pending
/// exception, do not depend on the interpreter's state, and may run twice. The content is an AnyffiWrapperRef, one
/// owned value, or a recipe.
void anyffi_wrapper_finalize(void* memory);
void anyffi_value_finalize(void* memory);
void anyffi_recipe_finalize(void* memory);

/* ---- DLPack with libraries of the host --------------------------------------------------------- */

/// `anyffi_tensor_from_dlpack` for a library of the host: its deleter is not called after the host has shut down.
int anyffi_tensor_from_dlpack_host(AnyffiManagedTensor* managed, AnyffiValue* out);
/// The same from a capsule, of either form. TypeError if it is not a DLPack capsule, or was used before.
/// A tensor of the legacy form, which cannot say whether its memory may be written, is read-only.
int anyffi_tensor_from_capsule(void* handle, AnyffiValue* out);
/// The same from a value that holds a capsule, and a tensor of the legacy form is writable.
int anyffi_tensor_from_writable_capsule(const AnyffiValue* capsule, AnyffiValue* out);
/// A new capsule, as a handle that the caller owns; of the legacy form if `legacy` is not 0. NULL on failure.
int anyffi_tensor_to_capsule(AnyffiObject* tensor, int32_t legacy, void** out);

/// The hooks behind a DLPackExchangeAPI, by which compiled code of other libraries reads and creates the front end's
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

/// Binds keywords for one overload, the one at `index`: writes for each parameter the index of its argument, or -1 if
/// it is omitted, and returns how many it wrote, at most as many as there are parameters; -1 if they do not fit.
typedef int32_t (*AnyffiPlaceArgs)(void* context, const AnyffiOverload* overload, int32_t index, int32_t* arg_indices);

/// Calls a function made by `anyffi_function_create_overloaded` with arguments by keyword, which `place` binds, as
/// often as it needs to. Returns ANYFFI_NO_MATCH, without an error, if they fit none: the front end explains why.
int anyffi_function_call_placed(AnyffiFunction* overloaded, AnyffiPlaceArgs place, void* context, AnyffiValue* args,
                                int32_t num_args, AnyffiValue* result);

/* ---- fields of wrappers ----------------------------------------------------------------------- */

/// A field of a wrapper's object, as an owned value: 1, 0 if there is no such field, -1 on failure.
int32_t anyffi_wrapper_get_field(const AnyffiWrapperRef* self, const char* name, AnyffiValue* out);
/// Sets a field: 1, 2 if the object has another type since, 0 if there is no such field that can be set, -1 on failure.
int32_t anyffi_wrapper_set_field(const AnyffiWrapperRef* self, const char* name, const AnyffiValue* value);

/* ---- containers of wrappers ------------------------------------------------------------------- */

/// Operations on the containers of wrappers, for front ends whose calls take longer than the operations: wrappers are
/// given by their references, which the caller keeps alive, and ints have 32 bits. They refuse wrappers of other types,
/// and the host handles what they refuse. Values and elements of the host are given as recipes of `size` values.

typedef enum AnyffiComparison {
  ANYFFI_UNDECIDED = -1, /* takes code of the host */
  ANYFFI_DIFFERS = 2     /* and the first position whose elements decide */
} AnyffiComparison;

typedef enum AnyffiWrappedLimit { ANYFFI_MAX_WRAPPED = 4 } AnyffiWrappedLimit;

/// An Array of the elements of all elements, where these are Arrays of one size, which is returned, that hold inline
/// values, text and bytes alone, and have no wrappers of users' classes. 0 for others, -1 on failure.
int64_t anyffi_wrapper_flatten(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* out);
/// The number of elements or entries; -1 for other types.
int64_t anyffi_wrapper_get_size(const AnyffiWrapperRef* self, int32_t type_code);
/// An owned copy of an element, from the end for a negative index: returns 1, else 0 with `out` None or Unset.
int32_t anyffi_wrapper_get_element(const AnyffiWrapperRef* self, int32_t type_code, int32_t index, AnyffiValue* out);
/// Replace or remove an element of a List: 1, 0 if there is none, -1 on failure.
int32_t anyffi_wrapper_set_element(const AnyffiWrapperRef* self, int32_t index, AnyffiValue* recipe, int32_t size);
int32_t anyffi_wrapper_erase_element(const AnyffiWrapperRef* self, int32_t index);
/// The first position from `start` to below `stop` (all for -1) of an equal element; -1 if there is none, -2 if it
/// takes code of the host, -3 on failure.
int64_t anyffi_wrapper_find_element(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe, int32_t size,
                                    int32_t start, int32_t stop);
/// How many elements are equal; -1 if that takes code of the host, -2 on failure.
int64_t anyffi_wrapper_count_elements(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe,
                                      int32_t size);
/// A new sequence of the elements of two, or of one and of others, which come first if `is_reflected`: 1, 0 for other
/// types, -1 on failure.
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
/// Removes the last entry: 1 with its key and value (NULL: not wanted), 0 if there is none.
int32_t anyffi_wrapper_pop_entry(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* out_key,
                                 AnyffiValue* out_value);
/// Compares two sequences, mappings or sets by `<`, `<=`, `==`, `!=`, `>` or `>=`, operations 0 to 5: 1 or 0, or an
/// AnyffiComparison.
int32_t anyffi_wrapper_compare(const AnyffiWrapperRef* self, const AnyffiWrapperRef* other, int32_t type_code,
                               int32_t operation);
/// The same with values in the place of a second sequence; -2 on failure.
int32_t anyffi_wrapper_compare_values(const AnyffiWrapperRef* self, AnyffiValue* recipe, int32_t size,
                                      int32_t type_code, int32_t operation);
/// The same of a mapping with `count` keys, which are distinct, and values in turn; equality alone.
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
/// How many of the values a set has; ANYFFI_UNDECIDED, or -2 on failure.
int32_t anyffi_wrapper_count_values(const AnyffiWrapperRef* self, AnyffiValue* recipe, int32_t size, int32_t type_code);
/// Calls a function with the objects of one or two wrappers (the second may be NULL), and at most ANYFFI_MAX_WRAPPED
/// more arguments, which it borrows.
int anyffi_function_call_wrapped(void* function, const AnyffiWrapperRef* first, const AnyffiWrapperRef* second,
                                 AnyffiValue* recipe, int32_t size, AnyffiValue* result);

/// Creates a container that a recipe describes, a set of values of which some may be equal, or a copy of another
/// wrapper's, as the object of the wrapper that `hold` names: 1, 0 for what the host handles, -1 on failure.
int32_t anyffi_wrapper_create(AnyffiWrapperHold* hold, AnyffiValue* recipe, int32_t size);
int32_t anyffi_wrapper_create_set(AnyffiWrapperHold* hold, AnyffiValue* recipe, int32_t size, int32_t type_code);
int32_t anyffi_wrapper_create_copy(AnyffiWrapperHold* hold, const AnyffiWrapperRef* other, int32_t type_code);

/// An iterator over the container of a wrapper, which its caller keeps alive. Where it names the wrapper, the iteration
/// ends when that is cleared; else the caller keeps the container alive.
typedef struct AnyffiCursor {
  AnyffiWrapperRef self;
  int64_t index;
  int64_t size; /* of entries: their number at the beginning, and how many are left */
  int64_t left;
  int32_t type_code;
  int32_t step; /* 1 or -1 */
} AnyffiCursor;

typedef enum AnyffiCursorEnd {
  ANYFFI_OTHER_SIZE = -2, /* the mapping has another size than at the beginning */
  ANYFFI_OTHER_KEYS = -3  /* there are more entries than there were */
} AnyffiCursorEnd;

/// Begins an iteration at the first element or entry (`step` 1) or at the last one (`step` -1).
/// A wrapper named in `self` has the declared layout.
void anyffi_cursor_open(AnyffiCursor* cursor, const AnyffiWrapperRef* self, int32_t step);
/// An owned copy of the next element: 1, or 0 at the end.
int32_t anyffi_cursor_next_element(AnyffiCursor* cursor, AnyffiValue* out);
/// Owned copies of the next key and value (NULL: not wanted): 1, 0 at the end, or an AnyffiCursorEnd.
int32_t anyffi_cursor_next_entry(AnyffiCursor* cursor, AnyffiValue* out_key, AnyffiValue* out_value);

/// The same as the functions without `read`, but the result is the host's object for the value, or `unread`, and
/// then `out` is the owned value, or Unset with the other one's status.
void* anyffi_cursor_read_element(AnyffiCursor* cursor, AnyffiValue* out);
void* anyffi_wrapper_read_element(const AnyffiWrapperRef* self, int32_t type_code, int32_t index, AnyffiValue* out);
void* anyffi_wrapper_read_field(const AnyffiWrapperRef* self, const char* name, AnyffiValue* out);
void* anyffi_wrapper_read_item(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe, int32_t size,
                               AnyffiValue* out);
typedef enum AnyffiReadPart {
  ANYFFI_READ_VALUE = 1 /* else the key */
} AnyffiReadPart;

/// The same for a key or a value. Unless `out_item` is NULL, a tuple of both, which holds `unread` in the place of the
/// key that is in `out`, or the value in `out_item`.
void* anyffi_cursor_read_entry(AnyffiCursor* cursor, int32_t what, AnyffiValue* out, AnyffiValue* out_item);

/* ---- recipes --------------------------------------------------------------------------------- */

/// A Tensor in a recipe: the arguments of `anyffi_tensor_create_host`, called after `retain(handle)`.
typedef struct AnyffiTensorRecipe {
  AnyffiTensorData tensor;
  uint64_t flags; /* AnyffiTensorFlag */
  void* handle;
  void (*retain)(void* handle);
} AnyffiTensorRecipe;

/// A Function in a recipe: the arguments of `anyffi_function_create_host`, called after `retain(handle)`.
typedef struct AnyffiFunctionRecipe {
  AnyffiCall callback;
  void* handle;
  void (*retain)(void* handle);
} AnyffiFunctionRecipe;

/// A PyObject or an Error in a recipe: the argument of `anyffi_py_object_create` or `anyffi_error_create_host`, called
/// after `retain(handle)`.
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

/// Creates the arguments that a recipe describes, calls the function and releases what it did not steal: one call for
/// front ends whose calls into the runtime are slow. An AnyffiCall. Owns a result that borrows from an argument.
///
/// A recipe is an array of `size` values, consumed by the call. A value with the flag ANYFFI_RECIPE stands for a
/// container or slice, of the `as_int` values before it (keys and values in turn; start, stop and step), or for what
/// `as_pointer` points to: an AnyffiTensorRecipe, AnyffiFunctionRecipe or AnyffiPyObjectRecipe, for the object of a
/// string or bytes a view, which is copied, or for ANYFFI_OBJECT an owned value, which is moved. All others are
/// borrowed. The remaining values are the arguments; the created ones are movable.
int anyffi_function_call_recipe(void* function, AnyffiValue* recipe, int32_t size, AnyffiValue* result);
/// The first step alone: replaces a recipe by the arguments. Returns their number; -1 on failure, with nothing to
/// release.
int32_t anyffi_recipe_build(AnyffiValue* recipe, int32_t size);
/// The one value that a recipe describes, owned.
int anyffi_recipe_create(AnyffiValue* recipe, int32_t size, AnyffiValue* out);
/// The last step alone, for a recipe that is followed by an Unset value: releases the movable values, and leaves None.
/// It takes one argument, so that a front end can install it as a finalizer.
void anyffi_recipe_release(AnyffiValue* recipe);

/* ---- values of the host ------------------------------------------------------------------------ */

/// How a host stores its own numbers, text and containers, for front ends whose calls into the runtime are slow: one
/// call then reads all that a list holds. Offsets count bytes from an object's address. Objects are of the very classes
/// named here, so that the functions run no code of users.
typedef struct AnyffiHostValues {
  uint32_t struct_size;
  /// In any object: the pointer to its class, and its reference count, of 4 or 8 bytes.
  uint32_t class_offset;
  uint32_t count_offset;
  uint32_t count_size;
  /// In bytes, tuples and lists: the size; then the content of bytes, a tuple's items, and the pointer to a list's
  /// items.
  uint32_t size_offset;
  uint32_t bytes_offset;
  uint32_t tuple_offset;
  uint32_t list_offset;
  /// In text: the number of code points, and a word of flags: from `width_shift` on three bits with the width of a code
  /// point, one that is set if the code points follow the object's struct, and one for ASCII.
  uint32_t length_offset;
  uint32_t state_offset;
  uint32_t width_shift;
  /// In text: the code points, of ASCII and of others.
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
  /// The number, or any if it does not fit, and `overflow` is not 0 then (PyLong_AsLongLongAndOverflow); the others
  /// never fail (PyFloat_AsDouble, PyComplex_RealAsDouble, PyComplex_ImagAsDouble).
  long long (*read_int)(void* x, int* overflow);
  double (*read_float)(void* x);
  double (*read_real)(void* x);
  double (*read_imag)(void* x);
  /// The number of entries, and an iteration over them: 0 at its end (PyDict_Size, PyDict_Next).
  ptrdiff_t (*dict_size)(void* dict);
  int (*dict_next)(void* dict, ptrdiff_t* position, void** key, void** value);
} AnyffiHostValues;

/// Declares the layout, copied, before the first use of a function below. The host's lock is held in all of them. They
/// get the place of a pointer to an object, since hosts pass bytes faster than addresses.
void anyffi_host_declare_values(const AnyffiHostValues* values);
/// Writes a tuple's items as borrowed values, in a recipe: with the step of a container of `type_code`, one value more
/// than items. Returns 1 if all are bools, ints of 64 bits, floats, text, bytes and None; else Unset values stand for
/// the others, and the result is -1 if `anyffi_host_create_object` handles some of them, 0 if none.
int32_t anyffi_host_write_items(void* const* tuple, int32_t type_code, AnyffiValue* out);
/// Creates the object for a list, tuple or dict that holds such values, complex numbers and containers like itself, at
/// all levels. `type_code` is that of the object, or 0 for the one that an argument becomes. A container that occurs
/// twice becomes one object. Returns 1, 0 for what only the host can convert, -1 on failure.
int32_t anyffi_host_create_object(void* const* container, int32_t type_code, AnyffiValue* out);

/* ---- records --------------------------------------------------------------------------------- */

/// A new object of a type that a front end declared (`anyffi.record.declare`). Each of its fields must be set, by `set`
/// of the field, before anything else is done with it, but for releasing it.
int anyffi_record_create(int32_t type_code, AnyffiValue* out);
/// The deleter of such an object once all its fields are set. From then on each field of a type with a `record`, unless
/// it is ANYFFI_STORED_OTHERWISE, lies `sizeof(AnyffiInstance) + offset` bytes behind the start of the object.
void anyffi_record_destroy(AnyffiObject* self, int32_t what);

// anyffi: plain declarations end

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // ANYFFI_HOST_API_H_
