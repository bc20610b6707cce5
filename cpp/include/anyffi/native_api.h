/// \file
/// The C ABI below the C++ headers: functions over C++ callables, exports, descriptions of classes. C11. The templates
/// generate only what depends on types; everything else is in the runtime, so that libraries are small and compile
/// fast. The conventions of c_api.h apply here too.
///
/// The function pointers in these structs may throw C++ exceptions only where their comments say so.
#ifndef ANYFFI_NATIVE_API_H_
#define ANYFFI_NATIVE_API_H_

#include <anyffi/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

// anyffi: plain declarations begin

/* ---- conversions ----------------------------------------------------------------------------- */

/* These return 1; or fill `why` and return 0, as `load` of AnyffiParamType does. */

/// Views text as UTF-8: ASCII directly, other text encoded into `encoded`, which must be None at first.
int anyffi_load_utf8(const AnyffiValue* value, AnyffiValue* encoded, AnyffiTextView* text, AnyffiMismatch* why);
/// Converts a Float or a BigInt; errors say that the number is too large for `type_name`.
int anyffi_load_float(const AnyffiValue* value, const char* type_name, double* out, AnyffiMismatch* why);

/// For a member of an enumeration of the host, returns 1 and its plain value, which the caller owns; 0 for other
/// values.
int anyffi_load_member(const AnyffiValue* value, AnyffiValue* out);

/* ---- native functions ------------------------------------------------------------------------ */

typedef enum AnyffiParamFlag {
  ANYFFI_PARAM_TAKES_UTF8 = 1, /* `utf8_params` of AnyffiFunctionInfo */
  /// `load` accepts containers of the host, and objects that `load_items` made from them.
  ANYFFI_PARAM_READS_ITEMS = 2,
  /// Refers to the text of the argument, which nothing keeps alive after the call.
  ANYFFI_PARAM_VIEWS_TEXT = 4,
  ANYFFI_PARAM_READS_MEMBERS = 8, /* `member_params` of AnyffiFunctionInfo */
  /// `object_params` of AnyffiFunctionInfo. Without ANYFFI_PARAM_READS_ITEMS, `load` copies the objects, which may run
  /// code of users, so `load_items` leaves them to `call`, and the container is read directly only if it is the only
  /// parameter.
  ANYFFI_PARAM_READS_OBJECTS = 16,
  ANYFFI_PARAM_IS_OBJECT = 32,     /* accepts only objects of a class, not values that convert to one */
  ANYFFI_PARAM_TAKES_UNSIGNED = 64 /* `unsigned_params` of AnyffiFunctionInfo */
} AnyffiParamFlag;

/// What a function needs to know about a parameter's type.
typedef struct AnyffiParamType {
  /// Converts an argument into the slot and returns 1; or fills `why`, with an owned value, leaves the slot without an
  /// object, and returns 0. May throw.
  int (*load)(AnyffiValue* value, AnyffiMismatch* why, void* slot);
  /// Destroys the slot's object; NULL if there is nothing to do.
  void (*destroy)(void* slot);
  /// For numbers: replaces a value by one that the fast path accepts; returns as `load`.
  int (*normalize)(AnyffiValue* value, AnyffiMismatch* why);
  const char* name;
  uint64_t exact_types;
  uint32_t size; /* of the slot */
  uint32_t alignment;
  uint32_t flags; /* AnyffiParamFlag */
  uint32_t reserved;
} AnyffiParamType;

/// How to move and destroy a callable that is large or not trivially copyable.
typedef struct AnyffiCallableType {
  /// May throw.
  void (*move)(void* to, void* from);
  void (*destroy)(void* callable);
  uint64_t size;
} AnyffiCallableType;

/// The properties that functions of one signature share, in 32 bits: flags, including those of AnyffiFunctionFlag, and
/// two numbers.
typedef enum AnyffiSignature {
  ANYFFI_SIGNATURE_PLAIN = 1 << 8, /* all parameters are numbers: the call needs no frame */
  ANYFFI_SIGNATURE_NAMED = 1 << 9,
  ANYFFI_SIGNATURE_DEFAULTS = 1 << 10,
  ANYFFI_SIGNATURE_NEEDS_RETURNS = 1 << 11, /* the result points to an object: the declaration says who owns it */
  ANYFFI_SIGNATURE_ENROLLS = 1 << 12,
  ANYFFI_SIGNATURE_MOVES = 1 << 13,
  /// The first parameter is an object, and all others are numbers: see `anyffi_native_normalize`.
  ANYFFI_SIGNATURE_PLAIN_METHOD = 1 << 14,
  ANYFFI_SIGNATURE_SIZE_SHIFT = 16,  /* 8 bits: the size of a callable that is copied, in bytes */
  ANYFFI_SIGNATURE_PARAMS_SHIFT = 24 /* 8 bits: the number of parameters */
} AnyffiSignature;

/// Who owns the object to which the result of a function points or refers.
typedef enum AnyffiReturns {
  ANYFFI_RETURNS_UNSPECIFIED = 0,
  ANYFFI_RETURNS_COPY = 1,
  ANYFFI_RETURNS_MOVE = 2,
  ANYFFI_RETURNS_REFERENCE = 3,
  ANYFFI_RETURNS_REFERENCE_INTERNAL = 4,
  ANYFFI_RETURNS_TAKE_OWNERSHIP = 5
} AnyffiReturns;

/// A function over a C++ callable. The callable follows this struct, aligned to 16 bytes.
typedef struct AnyffiNativeFunction {
  AnyffiFunction base;
  /// The number of arguments with which a call takes the fast path: none is missing, and the lock is kept. -1: no fast
  /// path.
  int32_t plain_size;
  int32_t returns;       /* AnyffiReturns */
  int32_t releases_lock; /* the body runs without the host's lock */
  int32_t reserved;
  void* declaration; /* private data of the runtime */
} AnyffiNativeFunction;

/// The state of the host's lock while the body of a function runs without it.
typedef struct AnyffiReleasedLock {
  int32_t is_released; /* 0 at first */
  int32_t num_args;
  const AnyffiValue* args;
  void* state;
} AnyffiReleasedLock;

/// The state of a call that converts its arguments in memory, in a slot for each parameter.
typedef struct AnyffiCallFrame {
  int32_t num_loaded; /* the number of slots that hold something */
  int32_t reserved;
  AnyffiReleasedLock lock;
  AnyffiMismatch why; /* filled by a failed conversion */
} AnyffiCallFrame;

/// An argument that `load_items` converted before the call, which then moves it into the slot. The converted argument
/// follows this struct, aligned to 16 bytes.
typedef struct AnyffiLoadedArgument {
  AnyffiObject header;
  const AnyffiParamType* type;
  int32_t is_in_room; /* it lies in memory of the caller, which must not be freed */
  int32_t reserved;
} AnyffiLoadedArgument;

/// Makes a function over a callable, which is copied, or moved with ANYFFI_SIGNATURE_MOVES. `callable` is the
/// callable's address; or its bytes, if it is copied and no larger than a pointer. `name` may be NULL. `signature`:
/// AnyffiSignature. `result_type`: the annotation of the result.
///
/// Further arguments follow if `signature` has the flag. They are variadic because code that passes them is smaller
/// than tables with relocations:
/// - MOVES: a `const AnyffiCallableType*`;
/// - ENROLLS, for a function that returns a T&: a `void (*)(void)` that makes objects findable by their addresses;
/// - for each parameter a `const AnyffiParamType*`;
/// - NAMED: the name of each parameter; with ANYFFI_KEYWORD_ONLY also a NULL before the first keyword-only one;
/// - DEFAULTS: for each name, and for that NULL, an `AnyffiValue*`: NULL, or the default, which is moved.
///
/// ValueError for invalid names; conversion errors for defaults.
int anyffi_native_create(AnyffiValue* out, const char* name, uint32_t signature, AnyffiCall call, void* callable,
                         const char* result_type, ...);
/// The slow path of a call: for defaults, a wrong number of arguments, numbers of other types, and `releases_lock`.
int anyffi_native_call(AnyffiNativeFunction* function, AnyffiValue* args, int32_t num_args, AnyffiValue* result);
/// Calls a function of numbers, or a plain method, after converting numbers of other types.
int anyffi_native_normalize(AnyffiNativeFunction* function, const AnyffiValue* args, AnyffiValue* result);
/// Ends a call whose argument number `num_loaded` was refused; returns the call's status.
int anyffi_native_refuse(const AnyffiNativeFunction* function, AnyffiCallFrame* frame, void* slots,
                         const AnyffiValue* args, AnyffiValue* result);
/// Ends a call whose body threw: acquires the lock, and destroys the content of the slots.
void anyffi_native_abandon(const AnyffiNativeFunction* function, AnyffiCallFrame* frame, void* slots);
/// Releases the host's lock. Retains arguments that the body borrows, because the host's garbage collector may run
/// meanwhile, and decides by refcounts.
void anyffi_native_release_lock(AnyffiReleasedLock* lock, const AnyffiValue* args, int32_t num_args);
/// Acquires it again; does nothing where it was not released.
void anyffi_native_acquire_lock(AnyffiReleasedLock* lock);

/* Declarations, made by static initialisers: errors are deferred (`anyffi_registry_defer_error`), and a function that
 * is NULL, because it could not be created, is ignored. */

/// `doc` is never freed.
void anyffi_native_set_doc(AnyffiNativeFunction* function, const char* doc);
void anyffi_native_release_gil(AnyffiNativeFunction* function);
void anyffi_native_set_constant(AnyffiNativeFunction* function);
void anyffi_native_set_returns(AnyffiNativeFunction* function, int32_t returns);
/// Keeps the patient alive until the nurse is destroyed: 0 is the result, 1 the first argument.
void anyffi_native_keep_alive(AnyffiNativeFunction* function, int32_t nurse, int32_t patient);

/* ---- exports and global functions ------------------------------------------------------------- */

/// The functions with one name; never freed for an export. Zero-initialized, except for the name of a global function.
typedef struct AnyffiRegistration {
  const char* name;
  AnyffiNativeFunction* function; /* the last one added; NULL if it could not be created */
  AnyffiObject* published;        /* the published function: the only one, or all overloads */
  AnyffiModuleEntry entry;        /* for an export; otherwise its name is NULL */
} AnyffiRegistration;

/// Adds a function, or an overload; for the other arguments see `anyffi_native_create`. `name`: for the first function
/// of an export, else NULL. Returns the function, which the caller does not own, or NULL.
AnyffiNativeFunction* anyffi_registration_add(AnyffiRegistration* registration, const char* name, uint32_t signature,
                                              AnyffiCall call, void* callable, const char* result_type, ...);
/// Ends the declaration, and lists an export. `entries`: the head of the list of the library's exports.
void anyffi_registration_finish(AnyffiRegistration* registration, const AnyffiModuleEntry** entries);

/* ---- classes ---------------------------------------------------------------------------------- */

/// A class description to which members are being added.
typedef struct AnyffiClassBuilder {
  uint32_t flags; /* for the next method: AnyffiMethodFlag */
  uint32_t reserved;
  AnyffiNativeFunction* function; /* the last member, if it is a function that could be created; else NULL */
  void* state;                    /* private data of the runtime; NULL if the description could not begin */
} AnyffiClassBuilder;

/// Begins the description of the type returned by `type_code_of`, which may throw. `slot`: the library's copy of the
/// code, which changes if an earlier version of the library defined the type. `describe` sets the documentation, fields
/// and `visit_children` that the class itself declares; it may throw, or be NULL. `visit_fields`: the `visit_children`
/// to use if fields that own references are added.
void anyffi_class_begin(AnyffiClassBuilder* builder, int32_t (*type_code_of)(void), int32_t* slot,
                        AnyffiModuleClass* listed, void (*describe)(AnyffiTypeInfo* declared),
                        int (*visit_fields)(const AnyffiValue* self, AnyffiVisit visit, void* context));
/// Adds a method; for the arguments see `anyffi_native_create`. Returns `builder->function`.
AnyffiNativeFunction* anyffi_class_add_function(AnyffiClassBuilder* builder, const char* name, uint32_t signature,
                                                AnyffiCall call, void* callable, const char* result_type, ...);
void anyffi_class_add_field(AnyffiClassBuilder* builder, const AnyffiFieldInfo* field);
/// Sets `type_name` of all fields added so far.
void anyffi_class_set_field_types(AnyffiClassBuilder* builder, const char* type_name);
/// Sets the documentation of the last member, or of the class if there is none; never freed.
void anyffi_class_set_doc(AnyffiClassBuilder* builder, const char* doc);
/// The last member, to which `option`, such as "release_gil()", applies. NULL if it is not a function, which raises
/// ValueError when the library is loaded, or if the function could not be created.
AnyffiNativeFunction* anyffi_class_get_function(const AnyffiClassBuilder* builder, const char* option);
/// As `anyffi_native_keep_alive`, for the last member; 1 is the object, also for a constructor.
void anyffi_class_keep_alive(AnyffiClassBuilder* builder, int32_t nurse, int32_t patient);
/// Sets how the field with a name is compared by structure; if `field` is NULL, the last member or the class.
void anyffi_class_add_structure(AnyffiClassBuilder* builder, const char* field, int32_t structure);
/// The host may override the methods that are added from now on. `visit`, which may be NULL, replaces `visit_children`.
void anyffi_class_begin_overridable(AnyffiClassBuilder* builder,
                                    int (*visit)(const AnyffiValue* self, AnyffiVisit visit, void* context));
/// The `visit_children` of a described class: visits the fields that own references, unless `has_visited`, and those of
/// ancestors; or, for an object that is part of another one, only that object.
int anyffi_class_visit(int32_t type_code, int32_t has_visited, const AnyffiValue* self, AnyffiVisit visit,
                       void* context);
/// Defines the type, and lists the class. `classes`: the head of the list of the library's classes.
void anyffi_class_finish(AnyffiClassBuilder* builder, const AnyffiModuleClass** classes);

// anyffi: plain declarations end

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // ANYFFI_NATIVE_API_H_
