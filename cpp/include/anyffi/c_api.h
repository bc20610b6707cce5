/// \file
/// The C ABI of the anyffi runtime: C11-clean, and all that another language needs.
///
/// Conventions, stated once:
/// - A function that returns `int` returns 0 for success; otherwise an error was left in the calling
///   thread's slot (`anyffi_error_take_raised`) and every `out` parameter holds None.
/// - `const AnyffiValue*` borrows for the duration of the call. An `out` value is owned by the caller,
///   who gives it back with `anyffi_value_release`.
/// - Any thread may call any function. One object is not to be changed by two threads at once.
/// - Text given as `const char*` is NUL-terminated UTF-8.
#ifndef ANYFFI_C_API_H_
#define ANYFFI_C_API_H_

#include <stddef.h>
#include <stdint.h>

/// Raised by one whenever a struct or a rule in this header changes incompatibly.
#define ANYFFI_ABI_VERSION 1

/// The type table, one row for every type that has a fixed code:
///   X(NAME, code, FAMILY, PARENT, storage, "type key", "Python's name for it")
/// FAMILY is the row that stands for all representations of one type: a string has three codes, one family.
/// PARENT is the next more general type. Storage: `INLINE` (the payload is the value), `BORROWED`
/// (in place, but pointing to memory of the caller: never stored, never returned) or `OBJECT`.
/// Negative codes grow downwards, object codes upwards; dynamic types start at 128.
#define ANYFFI_TYPES(X)                                                      \
  X(NONE, 0, NONE, NONE, INLINE, "None", "NoneType")                         \
  X(BOOL, -1, BOOL, BOOL, INLINE, "Bool", "bool")                            \
  X(INT, -2, INT, INT, INLINE, "Int", "int")                                 \
  X(FLOAT, -3, FLOAT, FLOAT, INLINE, "Float", "float")                       \
  X(STR, -4, STR, STR, INLINE, "Str", "str")                                 \
  X(BYTES, -5, BYTES, BYTES, INLINE, "Bytes", "bytes")                       \
  X(STR_VIEW, -6, STR, STR_VIEW, BORROWED, "StrView", "str")                 \
  X(BYTES_VIEW, -7, BYTES, BYTES_VIEW, BORROWED, "BytesView", "bytes")       \
  X(ELLIPSIS, -8, ELLIPSIS, ELLIPSIS, INLINE, "Ellipsis", "ellipsis")        \
  X(POINTER, -9, POINTER, POINTER, INLINE, "Pointer", "c_void_p")            \
  X(DATA_TYPE, -10, DATA_TYPE, DATA_TYPE, INLINE, "DataType", "dtype")       \
  X(DEVICE, -11, DEVICE, DEVICE, INLINE, "Device", "Device")                 \
  X(TENSOR_VIEW, -12, TENSOR, TENSOR_VIEW, BORROWED, "TensorView", "Tensor") \
  X(MISSING, -13, MISSING, MISSING, INLINE, "Missing", "Missing")            \
  X(UNSET, -14, UNSET, UNSET, INLINE, "Unset", "Unset")                      \
  X(OBJECT, 1, OBJECT, OBJECT, OBJECT, "Object", "Object")                   \
  X(BOX, 2, BOX, OBJECT, OBJECT, "Box", "Box")                               \
  X(STR_OBJECT, 3, STR, OBJECT, OBJECT, "StrObject", "str")                  \
  X(BYTES_OBJECT, 4, BYTES, OBJECT, OBJECT, "BytesObject", "bytes")          \
  X(BIG_INT, 5, BIG_INT, OBJECT, OBJECT, "BigInt", "int")                    \
  X(COMPLEX, 6, COMPLEX, OBJECT, OBJECT, "Complex", "complex")               \
  X(SLICE, 7, SLICE, OBJECT, OBJECT, "Slice", "slice")                       \
  X(ERROR, 8, ERROR, OBJECT, OBJECT, "Error", "Exception")                   \
  X(FUNCTION, 9, FUNCTION, OBJECT, OBJECT, "Function", "Function")           \
  X(MODULE, 10, MODULE, OBJECT, OBJECT, "Module", "Module")                  \
  X(PY_OBJECT, 11, PY_OBJECT, OBJECT, OBJECT, "PyObject", "object")          \
  X(ARRAY, 12, ARRAY, OBJECT, OBJECT, "Array", "Array")                      \
  X(LIST, 13, LIST, OBJECT, OBJECT, "List", "List")                          \
  X(MAP, 14, MAP, OBJECT, OBJECT, "Map", "Map")                              \
  X(DICT, 15, DICT, OBJECT, OBJECT, "Dict", "Dict")                          \
  X(FROZEN_SET, 16, FROZEN_SET, OBJECT, OBJECT, "FrozenSet", "FrozenSet")    \
  X(SET, 17, SET, OBJECT, OBJECT, "Set", "Set")                              \
  X(TENSOR, 18, TENSOR, OBJECT, OBJECT, "Tensor", "Tensor")                  \
  X(SHAPE, 19, ARRAY, ARRAY, OBJECT, "Shape", "Shape")

#define ANYFFI_TYPE_CODE_ROW_(NAME, code, FAMILY, PARENT, storage, key, python) ANYFFI_##NAME = (code),
typedef enum AnyffiTypeCode { ANYFFI_TYPES(ANYFFI_TYPE_CODE_ROW_) ANYFFI_FIRST_DYNAMIC_TYPE = 128 } AnyffiTypeCode;
#undef ANYFFI_TYPE_CODE_ROW_

/// DLPack's type codes (dlpack.h, v1.3): X(NAME, code, "name", bits). `bits` is the width that the name says, or 0
/// where it follows the name, as in "float32".
#define ANYFFI_DATA_TYPE_CODES(X)                      \
  X(kDLInt, 0, "int", 0)                               \
  X(kDLUInt, 1, "uint", 0)                             \
  X(kDLFloat, 2, "float", 0)                           \
  X(kDLOpaqueHandle, 3, "handle", 0)                   \
  X(kDLBfloat, 4, "bfloat", 0)                         \
  X(kDLComplex, 5, "complex", 0)                       \
  X(kDLBool, 6, "bool", 0)                             \
  X(kDLFloat8_e3m4, 7, "float8_e3m4", 8)               \
  X(kDLFloat8_e4m3, 8, "float8_e4m3", 8)               \
  X(kDLFloat8_e4m3b11fnuz, 9, "float8_e4m3b11fnuz", 8) \
  X(kDLFloat8_e4m3fn, 10, "float8_e4m3fn", 8)          \
  X(kDLFloat8_e4m3fnuz, 11, "float8_e4m3fnuz", 8)      \
  X(kDLFloat8_e5m2, 12, "float8_e5m2", 8)              \
  X(kDLFloat8_e5m2fnuz, 13, "float8_e5m2fnuz", 8)      \
  X(kDLFloat8_e8m0fnu, 14, "float8_e8m0fnu", 8)        \
  X(kDLFloat6_e2m3fn, 15, "float6_e2m3fn", 6)          \
  X(kDLFloat6_e3m2fn, 16, "float6_e3m2fn", 6)          \
  X(kDLFloat4_e2m1fn, 17, "float4_e2m1fn", 4)

/// DLPack's types of devices: X(NAME, number, "name").
#define ANYFFI_DEVICE_TYPES(X)          \
  X(kDLCPU, 1, "cpu")                   \
  X(kDLCUDA, 2, "cuda")                 \
  X(kDLCUDAHost, 3, "cuda_host")        \
  X(kDLOpenCL, 4, "opencl")             \
  X(kDLVulkan, 7, "vulkan")             \
  X(kDLMetal, 8, "metal")               \
  X(kDLVPI, 9, "vpi")                   \
  X(kDLROCM, 10, "rocm")                \
  X(kDLROCMHost, 11, "rocm_host")       \
  X(kDLExtDev, 12, "ext_dev")           \
  X(kDLCUDAManaged, 13, "cuda_managed") \
  X(kDLOneAPI, 14, "oneapi")            \
  X(kDLWebGPU, 15, "webgpu")            \
  X(kDLHexagon, 16, "hexagon")          \
  X(kDLMAIA, 17, "maia")                \
  X(kDLTrn, 18, "trainium")

#define ANYFFI_DATA_TYPE_ROW_(NAME, code, name, bits) ANYFFI_##NAME = (code),
#define ANYFFI_DEVICE_ROW_(NAME, number, name) ANYFFI_##NAME = (number),
typedef enum AnyffiDataTypeCode { ANYFFI_DATA_TYPE_CODES(ANYFFI_DATA_TYPE_ROW_) } AnyffiDataTypeCode;
typedef enum AnyffiDeviceType { ANYFFI_DEVICE_TYPES(ANYFFI_DEVICE_ROW_) } AnyffiDeviceType;
#undef ANYFFI_DATA_TYPE_ROW_
#undef ANYFFI_DEVICE_ROW_

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

// anyffi: plain declarations begin

typedef enum AnyffiStorage {
  ANYFFI_STORAGE_INLINE = 0,
  ANYFFI_STORAGE_BORROWED = 1,
  ANYFFI_STORAGE_OBJECT = 2
} AnyffiStorage;

/* ---- values ------------------------------------------------------------------------------- */

/// Byte for byte DLPack's DLDataType.
typedef struct AnyffiDataType {
  uint8_t code; /* AnyffiDataTypeCode */
  uint8_t bits;
  uint16_t lanes;
} AnyffiDataType;

/// Byte for byte DLPack's DLDevice.
typedef struct AnyffiDevice {
  int32_t type; /* AnyffiDeviceType */
  int32_t index;
} AnyffiDevice;

/// What every counted object begins with.
///
/// The strong references together hold one weak reference. When the last strong one goes, the runtime
/// calls `deleter(self, ANYFFI_DELETE_CONTENTS)`, and when the last weak one goes,
/// `deleter(self, ANYFFI_DELETE_MEMORY)`; both in one call where both go at once. The deleter was set by
/// whoever allocated the object, so memory returns to the library that it came from.
typedef struct AnyffiObject {
  int32_t type_code;
  uint32_t weak_count;
  uint64_t strong_count;
  void (*deleter)(struct AnyffiObject* self, int32_t what);
  /// The front end's current wrapper of this object, or NULL. Belongs to the front end, guarded by its lock.
  void* wrapper;
} AnyffiObject;

/// A bit of `weak_count` that says that there was a weak reference once; the other bits count.
typedef enum AnyffiWeakMark { ANYFFI_WAS_WEAK = 0x40000000 } AnyffiWeakMark;

typedef enum AnyffiDeleteWhat { ANYFFI_DELETE_CONTENTS = 1, ANYFFI_DELETE_MEMORY = 2 } AnyffiDeleteWhat;

/// 16 bytes; all zero is None; unused bytes are zero. See docs/protocol.md for the layout of every kind.
typedef struct AnyffiValue {
  int32_t type_code;
  /// Objects: flags (`ANYFFI_MOVABLE`). Views of text and bytes: `length << 2 | encoding`.
  /// Text and bytes in place: the first four bytes.
  uint32_t aux;
  union {
    int64_t as_int; /* also Bool: 0 or 1 */
    double as_float;
    void* as_pointer;
    AnyffiObject* as_object;
    AnyffiDataType as_data_type;
    AnyffiDevice as_device;
  };
} AnyffiValue;

typedef enum AnyffiFlag {
  /// On an object argument: the caller made it for this call alone, so the callee may take it, leaving None.
  ANYFFI_MOVABLE = 1,
  /// In a recipe (`anyffi_function_call_recipe`): no object, but what one is to be made of.
  ANYFFI_RECIPE = 2
} AnyffiFlag;

/// Makes `out` an owned value equal to `value`: text and bytes that are borrowed are copied, boxes opened, objects
/// retained, flags cleared. TypeError for a tensor view.
int anyffi_value_own(const AnyffiValue* value, AnyffiValue* out);
/// Gives an owned value back and leaves None in its place.
void anyffi_value_release(AnyffiValue* value);
/// Moves an owned value to a place that owns none, and leaves None: in one step, for front ends that a signal handler
/// may interrupt between two of their own.
void anyffi_value_move(AnyffiValue* from, AnyffiValue* to);
/// The type that a code is a representation of: `ANYFFI_STR` for the three codes of a string, and so on.
int32_t anyffi_type_get_family(int32_t type_code);
/// Hashes as Python does numbers, so that 1, 1.0 and True agree. TypeError for what is unhashable.
int anyffi_value_hash(const AnyffiValue* value, int64_t* out);
/// `==` as Python has it; `out` is 0 or 1. May run the front end's code, and so may fail.
int anyffi_value_equal(const AnyffiValue* a, const AnyffiValue* b, int32_t* out);
/// The text that Python's `repr` gives, as an owned string.
int anyffi_value_repr(const AnyffiValue* value, AnyffiValue* out);
/// `len(value)`: code points, bytes, elements. TypeError where there is no length.
int anyffi_value_get_size(const AnyffiValue* value, int64_t* out);
/// `value[key]`, with Python's meaning of negative indices, KeyError and IndexError.
int anyffi_value_get_item(const AnyffiValue* value, const AnyffiValue* key, AnyffiValue* out);

/* ---- memory -------------------------------------------------------------------------------- */

/// All memory of the runtime's own objects comes from here; NULL (without an error set) when it is exhausted.
void* anyffi_alloc(size_t size);
void anyffi_free(void* memory);

typedef struct AnyffiAllocator {
  void* (*alloc)(size_t size);
  void (*free)(void* memory);
} AnyffiAllocator;

/// Installs the pair and returns the former one in its place. The new pair must be able to free what the
/// former one gave out: wrap it.
void anyffi_allocator_exchange(AnyffiAllocator* allocator);

/// Each thread keeps a few small blocks, at most 70 KB, for its next objects until it ends. This gives back what the
/// calling one keeps.
void anyffi_memory_trim(void);
/// How many blocks all threads keep.
int64_t anyffi_memory_count_cached(void);

/* ---- objects ------------------------------------------------------------------------------- */

void anyffi_object_retain(AnyffiObject* object);
/// Gives one strong reference back. Chains of any length are destroyed iteratively.
void anyffi_object_release(AnyffiObject* object);
/// For inline copies of release: the strong count has just become zero.
void anyffi_object_destroy(AnyffiObject* object);
void anyffi_object_retain_weak(AnyffiObject* object);
void anyffi_object_release_weak(AnyffiObject* object);
/// Turns a weak reference into an additional strong one: 1 if the object was still alive, else 0.
int32_t anyffi_object_lock_weak(AnyffiObject* object);
/// Sets `wrapper` to `desired` if it is `expected`; returns 1 if it did.
int32_t anyffi_object_compare_exchange_wrapper(AnyffiObject* object, void* expected, void* desired);

/// A strong reference that a wrapper holds.
typedef struct AnyffiWrapperRef {
  AnyffiObject* object;
  void* wrapper;
} AnyffiWrapperRef;

/// Fills an empty hold, with a reference of its own, in one step.
void anyffi_wrapper_attach(AnyffiWrapperRef* hold, AnyffiObject* object, void* wrapper);
/// Empties the object's `wrapper` if it is that of the hold, and gives the reference back: the end of a wrapper in
/// one call with one argument, so that a front end can make it a finalizer as it stands. There may be no object.
void anyffi_wrapper_detach(AnyffiWrapperRef* hold);

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
} AnyffiWrapperLayout;

/// Declares the layout, copied, before the first use of a function below. One front end of a process uses it.
void anyffi_wrapper_set_layout(const AnyffiWrapperLayout* layout);
/// The object of a wrapper, borrowed; NULL if it has none.
AnyffiObject* anyffi_wrapper_get_object(void* wrapper);
/// Visits a wrapper's class, and the callable of a function that has no other reference: a `tp_traverse` of CPython.
int anyffi_wrapper_traverse(void* wrapper, int (*visit)(void* object, void* context), void* context);
/// Finalizers of memory (`tp_finalize` of CPython), called with the host's lock held. They preserve the host's pending
/// exception, do not depend on the interpreter's state, and may run twice. The content is what the wrapper holds, one
/// owned value, or a recipe.
void anyffi_wrapper_finalize(void* memory);
void anyffi_value_finalize(void* memory);
void anyffi_recipe_finalize(void* memory);

/* ---- types --------------------------------------------------------------------------------- */

typedef int (*AnyffiVisit)(const AnyffiValue* child, void* context);

typedef struct AnyffiFieldInfo {
  const char* name;
  const char* doc;
  const char* type_name;
  /// Reads the field: an owned value in `out`.
  int (*get)(AnyffiObject* self, AnyffiValue* out);
} AnyffiFieldInfo;

typedef struct AnyffiMethodInfo {
  const char* name;
  const char* doc;
  AnyffiObject* function; /* takes the object as its first argument */
} AnyffiMethodInfo;

/// The members that a type tells of, in ANYFFI_MEMBER_BITS bits each.
typedef enum AnyffiMember {
  ANYFFI_MEMBER_INT8 = 1, /* signed or not, and what is as large: bool, enumerations */
  ANYFFI_MEMBER_INT16 = 2,
  ANYFFI_MEMBER_INT32 = 3,
  ANYFFI_MEMBER_INT64 = 4,
  ANYFFI_MEMBER_FLOAT32 = 5,
  ANYFFI_MEMBER_FLOAT64 = 6,
  ANYFFI_MEMBER_POINTER = 7
} AnyffiMember;
typedef enum AnyffiMemberBits { ANYFFI_MEMBER_BITS = 4 } AnyffiMemberBits;

/// One record per type; lives for ever once registered.
typedef struct AnyffiTypeInfo {
  uint32_t struct_size;
  int32_t type_code;
  int32_t family;           /* the type that this code is a representation of */
  int32_t parent;           /* itself at the root */
  int32_t storage;          /* AnyffiStorage */
  int32_t depth;            /* number of ancestors */
  const int32_t* ancestors; /* root first, without the type itself */
  const char* type_key;
  const char* python_name;
  int64_t instance_size; /* 0: not told; likewise `alignment` and `members` */
  /// Hooks, each may be NULL (then the nearest ancestor's is used, else identity) and may fail.
  int (*hash)(const AnyffiValue* self, int64_t* out);
  int (*equal)(const AnyffiValue* a, const AnyffiValue* b, int32_t* out);
  int (*children)(const AnyffiValue* self, AnyffiVisit visit, void* context);
  int (*repr)(const AnyffiValue* self, AnyffiValue* out);
  int32_t num_fields;
  int32_t num_methods;
  const AnyffiFieldInfo* fields;
  const AnyffiMethodInfo* methods;
  const char* doc;
  /// The name of the type of values that parameters of this type take in place of an object, or NULL.
  const char* convertible_from;
  int64_t alignment;
  uint64_t members; /* AnyffiMember of each number or pointer that begins an object, the first in the lowest bits */
} AnyffiTypeInfo;

/// The record of a code, or NULL for a code that nobody has registered.
const AnyffiTypeInfo* anyffi_type_get_info(int32_t type_code);
/// The record of a type key, or NULL.
const AnyffiTypeInfo* anyffi_type_find(const char* type_key);
/// Allocates a dynamic type below `info->parent` from `info`'s key, layout, hooks, fields and methods (the rest of
/// `info` is ignored; strings and tables must live for ever). The same key with the same parent and layout returns the
/// code that it already has. ValueError if the parents or the layouts differ.
int anyffi_type_register(const AnyffiTypeInfo* info, int32_t* out_type_code);
/// 1 if `ancestor` is `type_code` or among its ancestors.
int32_t anyffi_type_is_a(int32_t type_code, int32_t ancestor);
/// Writes up to `capacity` known codes, ascending, and returns how many there are.
int32_t anyffi_type_list(int32_t* out_codes, int32_t capacity);

/* ---- text and bytes -------------------------------------------------------------------------- */

/// Width of the code points; always the narrowest that holds the text. ASCII is UTF-8 as it stands.
typedef enum AnyffiTextEncoding {
  ANYFFI_ASCII = 0,
  ANYFFI_LATIN1 = 1,
  ANYFFI_UCS2 = 2,
  ANYFFI_UCS4 = 3
} AnyffiTextEncoding;

typedef enum AnyffiInlineLimit {
  ANYFFI_INLINE_BYTES = 11 /* code points fit in place while length * width <= 11, at bytes 4 to 14 */
} AnyffiInlineLimit;

/// A string longer than fits in place. `data` is followed by one zero code point.
typedef struct AnyffiStrObject {
  AnyffiObject header;
  int64_t length;   /* code points */
  int32_t encoding; /* AnyffiTextEncoding */
  int32_t reserved;
  int64_t hash; /* 0: not computed yet */
  const void* data;
} AnyffiStrObject;

/// Bytes longer than fit in place. `data` is followed by one zero byte.
typedef struct AnyffiBytesObject {
  AnyffiObject header;
  int64_t length;
  int64_t hash;
  const uint8_t* data;
} AnyffiBytesObject;

/// Any string or bytes value, unfolded. Borrows from the value: in place, `data` points into it. A zero code
/// point follows the last one wherever text lies, borrowed text included; but not in place where 11 one-byte, 5
/// two-byte or 2 four-byte code points that are not all ASCII leave no room for it.
typedef struct AnyffiTextView {
  const void* data;
  int64_t length;
  int32_t encoding; /* ANYFFI_LATIN1 for bytes */
  int32_t reserved;
} AnyffiTextView;

/// Unfolds any code of a string or bytes value; 0 if it is one, else -1 without an error set.
int anyffi_value_get_text_view(const AnyffiValue* value, AnyffiTextView* out);
/// A string from code points of the width that `encoding` says, stored at the narrowest.
int anyffi_str_create(const void* code_points, int64_t length, int32_t encoding, AnyffiValue* out);
/// A string object with room for `length` code points of exactly `encoding`, to be filled through `data` by the
/// caller before anybody else sees it. `length * width` must be above ANYFFI_INLINE_BYTES, and what is
/// written must need `encoding`.
int anyffi_str_allocate(int64_t length, int32_t encoding, AnyffiValue* out);
/// UnicodeDecodeError for invalid UTF-8.
int anyffi_str_from_utf8(const char* utf8, int64_t size, AnyffiValue* out);
/// As bytes; UnicodeEncodeError for a lone surrogate.
int anyffi_str_to_utf8(const AnyffiValue* str, AnyffiValue* out_bytes);
int anyffi_bytes_create(const void* data, int64_t size, AnyffiValue* out);

/// What Python's `str` methods do. `start` and `stop` are read as Python reads them: negative ones count from the
/// end, all are cut to the text (INT64_MAX: to the end). TypeError for what is no string.
int anyffi_str_compare(const AnyffiValue* a, const AnyffiValue* b, int32_t* out); /* -1, 0 or 1, by code point */
int anyffi_str_concat(const AnyffiValue* a, const AnyffiValue* b, AnyffiValue* out);
int anyffi_str_slice(const AnyffiValue* str, int64_t start, int64_t stop, AnyffiValue* out);
/// The first, or last, place of `needle`; -1 if it is nowhere.
int anyffi_str_find(const AnyffiValue* str, const AnyffiValue* needle, int64_t start, int64_t stop, int64_t* out);
int anyffi_str_rfind(const AnyffiValue* str, const AnyffiValue* needle, int64_t start, int64_t stop, int64_t* out);
/// A List of the pieces, after at most `most` cuts (negative: no limit). `separator` None: white space.
int anyffi_str_split(const AnyffiValue* str, const AnyffiValue* separator, int64_t most, AnyffiValue* out);
/// `pieces` is an Array or a List of strings.
int anyffi_str_join(const AnyffiValue* separator, const AnyffiValue* pieces, AnyffiValue* out);

typedef enum AnyffiStripSide { ANYFFI_STRIP_LEFT = 1, ANYFFI_STRIP_RIGHT = 2 } AnyffiStripSide;

/// `characters` None: white space.
int anyffi_str_strip(const AnyffiValue* str, const AnyffiValue* characters, int32_t sides, AnyffiValue* out);
/// At most `most` replacements (negative: no limit).
int anyffi_str_replace(const AnyffiValue* str, const AnyffiValue* former, const AnyffiValue* replacement, int64_t most,
                       AnyffiValue* out);
/// A to Z and a to z alone; every other code point stays.
int anyffi_str_ascii_lower(const AnyffiValue* str, AnyffiValue* out);
int anyffi_str_ascii_upper(const AnyffiValue* str, AnyffiValue* out);

/* ---- boxes and slices ------------------------------------------------------------------------ */

/// An in-place value as an object, for code that works on objects alone.
typedef struct AnyffiBox {
  AnyffiObject header;
  AnyffiValue value;
} AnyffiBox;

int anyffi_box_create(const AnyffiValue* value, AnyffiValue* out);

typedef struct AnyffiSlice {
  AnyffiObject header;
  AnyffiValue start;
  AnyffiValue stop;
  AnyffiValue step;
} AnyffiSlice;

/// Copies its parts as `anyffi_value_own` does; NULL stands for None.
int anyffi_slice_create(const AnyffiValue* start, const AnyffiValue* stop, const AnyffiValue* step, AnyffiValue* out);

/* ---- numbers that do not fit in place -------------------------------------------------------- */

/// An integer outside of int64; inside of it every integer is an Int.
typedef struct AnyffiBigInt {
  AnyffiObject header;
  int32_t negative;
  int32_t reserved;
  int64_t size;          /* words of the magnitude, of which the last is not zero */
  const uint64_t* words; /* the least significant first */
} AnyffiBigInt;

/// The integer of a sign and a magnitude: an Int if it fits, else a BigInt.
int anyffi_big_int_create(const uint64_t* words, int64_t size, int32_t negative, AnyffiValue* out);
/// Rounded to the nearest double as Python's `float(x)`; OverflowError if it is too large.
int anyffi_big_int_get_float(const AnyffiObject* big_int, double* out);

typedef struct AnyffiComplex {
  AnyffiObject header;
  double real;
  double imag;
} AnyffiComplex;

int anyffi_complex_create(double real, double imag, AnyffiValue* out);

/* ---- functions ------------------------------------------------------------------------------- */

/// How every function is called. `args` are borrowed for the call, except that the callee may take one that
/// is marked movable and leave None there. `result` enters as None; the callee leaves an owned value there,
/// or None on failure. Returns 0, or another number after `anyffi_error_set_raised`.
typedef int (*AnyffiCall)(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result);

typedef struct AnyffiParamInfo {
  const char* name;
  /// What an omitted argument means, for signatures: the callee itself fills it when given Missing. NULL: required.
  const AnyffiValue* default_value;
  const char* type_name; /* Python's name for the type, such as `List[int]`; NULL if nothing is known */
} AnyffiParamInfo;

/// What a `try_call` returns where the arguments do not fit: nothing was called or taken. With ANYFFI_NO_MATCH_RAISED a
/// conversion left an error in the slot.
typedef enum AnyffiNoMatch { ANYFFI_NO_MATCH = 1, ANYFFI_NO_MATCH_RAISED = 2 } AnyffiNoMatch;

typedef enum AnyffiFunctionFlag {
  /// The host's lock is released while the body runs (the callee does so itself, see docs/protocol.md).
  ANYFFI_RELEASE_GIL = 1,
  /// Takes any number of positional arguments after the named ones.
  ANYFFI_VARIADIC = 2,
  /// Several functions under one name: `overloads`.
  ANYFFI_OVERLOADED = 4
} AnyffiFunctionFlag;

typedef struct AnyffiFunctionInfo {
  uint32_t struct_size;
  uint32_t flags; /* AnyffiFunctionFlag */
  const char* name;
  const char* doc;
  int32_t num_params;
  int32_t num_required;
  const AnyffiParamInfo* params; /* `num_params` of them; a name may be NULL */
  const char* result_type;       /* as `type_name`; NULL if nothing is known */
  /// As the function's `call`, with the same `self`, but tells arguments that do not fit from failing: AnyffiNoMatch.
  /// NULL: cannot tell.
  AnyffiCall try_call;
  /// For each parameter the bits (`anyffi_type_bit`) of the kinds that it holds as they are; where all arguments are of
  /// those, this one goes before overloads that convert them. NULL: all.
  const uint64_t* exact_types;
  const struct AnyffiOverload* overloads; /* of a function made by `anyffi_function_create_overloaded` */
} AnyffiFunctionInfo;

/// One of several functions under one name, in the order in which they are tried.
typedef struct AnyffiOverload {
  const struct AnyffiOverload* next;
  AnyffiObject* function;
  /// For each argument of `function` which of the given ones it is, -1: left out. NULL: they come as they are given.
  const int32_t* places;
  int32_t num_places;
} AnyffiOverload;

typedef struct AnyffiFunction {
  AnyffiObject header;
  AnyffiCall call;
  void* self;                       /* the first argument of `call` */
  void (*release_self)(void* self); /* may be NULL */
  const AnyffiFunctionInfo* info;   /* NULL where nothing is known; outlives the function */
  void* handle;                     /* the host's callable where this is a function of the host, else NULL */
} AnyffiFunction;

/// Takes over `self`, also on failure (then `release_self(self)` was called).
int anyffi_function_create(AnyffiCall call, void* self, void (*release_self)(void* self),
                           const AnyffiFunctionInfo* info, AnyffiValue* out);
/// ValueError, which says the function, unless each of its parameters has a name that Python's keyword arguments can
/// have, and no two the same.
int anyffi_function_check_param_names(const AnyffiFunctionInfo* info);
/// A function over a callable of the host; takes over one count of `handle`, also on failure.
/// `callback` gets the handle as `self`. The runtime bounds recursion, marks `result` unset before the call
/// and, when it is still unset afterwards, reports KeyboardInterrupt: a signal came before the callback's
/// first line.
int anyffi_function_create_host(AnyffiCall callback, void* handle, AnyffiValue* out);
/// The callable of the host, borrowed, if the function is over one and has no other reference than the caller's; else
/// NULL. What a wrapper's traversal by a garbage collector visits.
void* anyffi_function_get_unique_handle(const AnyffiFunction* function);
/// A function that calls one of several: the first that holds all arguments as they are, else the first that takes
/// them. TypeError, listing them all, where none does. Arguments are lent: none of them takes a movable one.
int anyffi_function_create_overloaded(const char* name, AnyffiValue* out);
/// Adds one that describes itself by `info`, with a reference of its own; TypeError for one that does not. Copies
/// `places`, which may be NULL: for a front end that has bound keywords.
int anyffi_function_add_overload(AnyffiObject* overloaded, AnyffiObject* function, const int32_t* places,
                                 int32_t num_places);
/// Calls any value that is a function; TypeError otherwise.
int anyffi_function_call(const AnyffiValue* function, AnyffiValue* args, int32_t num_args, AnyffiValue* result);

/* ---- registry -------------------------------------------------------------------------------- */

/// ValueError if the name is taken and `override_existing` is 0. `name` is a string value.
int anyffi_registry_set(const AnyffiValue* name, const AnyffiValue* function, int32_t override_existing);
/// None in `out` if there is no such function.
int anyffi_registry_find(const AnyffiValue* name, AnyffiValue* out);
/// `out_existed` is 1 if there was one.
int anyffi_registry_remove(const AnyffiValue* name, int32_t* out_existed);
/// All names as an Array of strings, sorted.
int anyffi_registry_list(AnyffiValue* out);
/// Drops every function that holds a handle of the host; for the host's exit.
void anyffi_registry_remove_host_functions(void);
/// For static initialisers, which must not throw: leaves the thread's raised error for `anyffi_module_load`.
void anyffi_registry_defer_error(void);

/* ---- errors ---------------------------------------------------------------------------------- */

typedef struct AnyffiError {
  AnyffiObject header;
  AnyffiValue kind; /* name of the exception class */
  AnyffiValue message;
  AnyffiValue traceback; /* text, most recent call last */
  AnyffiValue args;      /* an Array of what the class is made from, or None: the message alone */
  AnyffiValue cause;     /* an Error or None */
  void* handle;          /* the host's exception, or NULL; then the fields above are filled on demand */
} AnyffiError;

/// Values are copied as `anyffi_value_own` does; `args` may be NULL.
int anyffi_error_create(const AnyffiValue* kind, const AnyffiValue* message, const AnyffiValue* args, AnyffiValue* out);
/// An error over an exception of the host; takes over one count of `handle`, also on failure.
int anyffi_error_create_host(void* handle, AnyffiValue* out);
/// Fills kind, message and traceback of a host's exception. Does not fail: what cannot be told is said so.
void anyffi_error_fill(AnyffiObject* error);
/// Leaves the error in the thread's slot, taking a reference of its own; replaces one that was there.
void anyffi_error_set_raised(AnyffiObject* error);
/// Moves the thread's error to `out` (None if there is none).
void anyffi_error_take_raised(AnyffiValue* out);
/// Makes an error and leaves it in the slot; always returns -1, so that C code can `return` it.
int anyffi_error_raise(const char* kind, const char* message);

typedef enum AnyffiMismatchReason {
  ANYFFI_WRONG_TYPE = 0,   /* TypeError: expected int, got str */
  ANYFFI_OUT_OF_RANGE = 1, /* OverflowError: 300 does not fit int8 */
  ANYFFI_WRONG_VALUE = 2,  /* ValueError: what `detail` says */
  ANYFFI_RAISED = 3        /* an error is in the slot already */
} AnyffiMismatchReason;

/// Why a value was refused; filled while a conversion unwinds, innermost first.
typedef struct AnyffiMismatch {
  int32_t reason;
  int32_t path_size;
  const char* expected; /* Python's name of the wanted type */
  const char* detail;   /* the narrower type, or the sentence, that `reason` asks for */
  AnyffiValue got;      /* a copy of the refused value; borrowed. Movable: it is a movable argument, or lies in one */
  char path[112];       /* from the value to the element, such as [1]["k"] */
} AnyffiMismatch;

/// Puts `[key]` before the path; a key too long for it is shortened.
void anyffi_mismatch_prepend(AnyffiMismatch* mismatch, const AnyffiValue* key);
/// Raises what a mismatch says of argument `index` of a function; always returns -1. `info` may be NULL, or
/// `index` -1: then the message speaks of a value alone.
int anyffi_mismatch_raise(const AnyffiMismatch* mismatch, const AnyffiFunctionInfo* info, int32_t index);
/// The same of the default of a parameter.
int anyffi_mismatch_raise_default(const AnyffiMismatch* mismatch, const AnyffiFunctionInfo* info, int32_t index);
/// The same of the result of a function that was called.
int anyffi_mismatch_raise_result(const AnyffiMismatch* mismatch, const AnyffiObject* function);
/// Raises Python's TypeError for a call with the wrong number of arguments; always returns -1.
int anyffi_error_raise_arg_count(const AnyffiFunctionInfo* info, const AnyffiValue* args, int32_t num_args);

/* ---- containers ------------------------------------------------------------------------------ */

/// Array, List and Shape: one layout, told apart by the type code. A Shape is an Array whose elements are all Int.
typedef struct AnyffiSequence {
  AnyffiObject header;
  AnyffiValue* data; /* just behind this struct, or memory of its own */
  int64_t size;
  int64_t capacity;
  /// Summary: every kind among the elements has its bit (`anyffi_type_bit`) set; some bits may be stale.
  uint64_t type_mask;
} AnyffiSequence;

/// An entry of a mapping, in insertion order. A removed entry has the key Unset.
typedef struct AnyffiEntry {
  AnyffiValue key;
  AnyffiValue value;
  int64_t hash;
} AnyffiEntry;

/// Map, Dict, FrozenSet and Set: one layout, told apart by the type code. The elements of a set are the keys of
/// entries whose value is None.
typedef struct AnyffiMapping {
  AnyffiObject header;
  AnyffiEntry* entries;
  uint32_t* index;  /* NULL while `capacity` is small; else slots holding entry number + 1, 0 is free */
  int64_t size;     /* live entries */
  int64_t used;     /* entries up to the last live one */
  int64_t capacity; /* entries that fit */
  uint64_t mask;    /* slots - 1 */
  uint64_t key_types;
  uint64_t value_types;
} AnyffiMapping;

/// An empty sequence (`ANYFFI_ARRAY`, `ANYFFI_LIST` or `ANYFFI_SHAPE`) with room for `capacity` elements. Until
/// anybody else sees it the caller may write owned, canonical values to `data` and keep `size` and `type_mask` true.
int anyffi_sequence_create(int32_t type_code, int64_t capacity, AnyffiValue* out);
/// A sequence of copies of `count` values, made as `anyffi_value_own` makes them.
int anyffi_sequence_create_from(int32_t type_code, const AnyffiValue* values, int64_t count, AnyffiValue* out);
/// Copies `value` in as `anyffi_value_own` does, before position `index` (0 to size).
int anyffi_sequence_insert(AnyffiObject* sequence, int64_t index, const AnyffiValue* value);
int anyffi_sequence_set(AnyffiObject* sequence, int64_t index, const AnyffiValue* value);
/// Removes `count` elements from `index` on.
int anyffi_sequence_erase(AnyffiObject* sequence, int64_t index, int64_t count);
/// An owned copy of an element; Unset where `index` is out of range. For front ends that other threads may interrupt
/// between two reads of their own.
void anyffi_sequence_get(const AnyffiObject* sequence, int64_t index, AnyffiValue* out);
/// Room for at least `capacity` elements in all.
int anyffi_sequence_reserve(AnyffiObject* sequence, int64_t capacity);

/// An empty mapping (`ANYFFI_MAP`, `ANYFFI_DICT`) or set (`ANYFFI_FROZEN_SET`, `ANYFFI_SET`) with room for
/// `capacity` entries. Until anybody else sees it the caller may write owned, canonical keys and values to `entries`,
/// keep `used` and both summaries true, and call `anyffi_mapping_finish`.
int anyffi_mapping_create(int32_t type_code, int64_t capacity, AnyffiValue* out);
/// Makes a mapping of the `used` entries that its maker wrote: hashes and indexes the keys. TypeError for an unhashable
/// one. Where a key equals an earlier one, the numbers of the two are in `out_first` and `out_second`, else -1. A
/// mapping that failed, or that has equal keys, is good for nothing but its release.
int anyffi_mapping_finish(AnyffiObject* mapping, int64_t* out_first, int64_t* out_second);
/// A mapping or set of copies of `count` keys and values in turn, made as `anyffi_value_own` makes them. Equal keys are
/// told as `anyffi_mapping_finish` tells them; `out` is None then.
int anyffi_mapping_create_from(int32_t type_code, const AnyffiValue* items, int64_t count, AnyffiValue* out,
                               int64_t* out_first, int64_t* out_second);
/// Takes over both values, also on failure. `out_existed`: 1 if the key was there, which then stays, with
/// the new value. TypeError for an unhashable key. The value of a set's entry must be None.
int anyffi_mapping_set(AnyffiObject* mapping, AnyffiValue* key, AnyffiValue* value, int32_t* out_existed);
/// The entry's number, or -1 if there is none.
int anyffi_mapping_find(const AnyffiObject* mapping, const AnyffiValue* key, int64_t* out_entry);
/// An owned copy of a key's value; Unset if the key is not there.
int anyffi_mapping_get(const AnyffiObject* mapping, const AnyffiValue* key, AnyffiValue* out);
/// Owned copies of the first live entry from number `entry` on or, with `step` -1 instead of 1, of the last one up to
/// it. Returns its number; -1, with Unset in both, if there is none.
int64_t anyffi_mapping_next(const AnyffiObject* mapping, int64_t entry, int32_t step, AnyffiValue* out_key,
                            AnyffiValue* out_value);
/// Removes an entry by its number.
int anyffi_mapping_erase(AnyffiObject* mapping, int64_t entry);
void anyffi_mapping_clear(AnyffiObject* mapping);

/// A copy of a container as another one of the same layout: `type_code` says which. TypeError for a Shape of what
/// is no Int.
int anyffi_container_copy(const AnyffiValue* container, int32_t type_code, AnyffiValue* out);
/// The same, but in place where `container` is held by nobody else; takes over `container`.
int anyffi_container_convert(AnyffiValue* container, int32_t type_code, AnyffiValue* out);

/* ---- tensors --------------------------------------------------------------------------------- */

/// Byte for byte DLPack's DLTensor. Shape and strides count elements; `strides` is never NULL here.
typedef struct AnyffiTensorData {
  void* data;
  AnyffiDevice device;
  int32_t ndim;
  AnyffiDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} AnyffiTensorData;

/// What is known of a tensor's memory: bit for bit the flags of DLPack's versioned exchange.
typedef enum AnyffiTensorFlag {
  ANYFFI_TENSOR_READ_ONLY = 1,
  /// Copied for whoever asked for it: nobody else knows the memory.
  ANYFFI_TENSOR_COPIED = 2,
  /// Elements of less than a byte take a byte each.
  ANYFFI_TENSOR_PADDED = 4
} AnyffiTensorFlag;

typedef struct AnyffiTensor {
  AnyffiObject header;
  AnyffiTensorData tensor;
  uint64_t flags; /* AnyffiTensorFlag */
  void* owner;    /* what keeps the memory alive */
  void (*release_owner)(void* owner);
} AnyffiTensor;

/// The name of a data type, such as "float32" or "float8_e4m3fnx4", as a string.
int anyffi_data_type_to_str(const AnyffiDataType* data_type, AnyffiValue* out);
/// The name of a device, such as "cuda:1", as a string.
int anyffi_device_to_str(const AnyffiDevice* device, AnyffiValue* out);

/// A tensor over memory that `owner` keeps alive; copies shape and strides. Takes over `owner`, also on failure.
int anyffi_tensor_create(const AnyffiTensorData* data, uint64_t flags, void* owner, void (*release_owner)(void* owner),
                         AnyffiValue* out);
/// The same over memory of an object of the host; takes over one count of `handle`, also on failure.
int anyffi_tensor_create_host(const AnyffiTensorData* data, uint64_t flags, void* handle, AnyffiValue* out);
/// A compact tensor, last axis first, in new memory of `anyffi_alloc`, which begins at a multiple of
/// ANYFFI_TENSOR_ALIGNMENT bytes; its elements are not set to anything.
int anyffi_tensor_create_empty(const int64_t* shape, int32_t ndim, const AnyffiDataType* data_type, AnyffiValue* out);
typedef enum AnyffiTensorAlignment { ANYFFI_TENSOR_ALIGNMENT = 64 } AnyffiTensorAlignment;

/// Bytes that a compact tensor of the same shape and elements takes; `data` and `strides` are not looked at.
/// ValueError for a negative shape, MemoryError if there cannot be so many.
int anyffi_tensor_get_nbytes(const AnyffiTensorData* data, uint64_t flags, int64_t* out);

/// What is to be done with the memory of a tensor.
typedef enum AnyffiTensorAccess {
  ANYFFI_TENSOR_READS = 0,
  ANYFFI_TENSOR_WRITES = 1,
  /// The address is for a device: the CPU need not be able to read there.
  ANYFFI_TENSOR_ANYWHERE = 2
} AnyffiTensorAccess;

/// Raises BufferError unless the CPU can read the memory, TypeError unless the elements are of the type (NULL: any),
/// and ValueError if the address is no multiple of `alignment`, or if the memory is read-only and is to be written to.
/// `access` is AnyffiTensorAccess, or'ed.
int anyffi_tensor_check_access(const AnyffiTensorData* data, uint64_t flags, const AnyffiDataType* data_type,
                               uint64_t alignment, int32_t access);
/// How many elements behind the first one the one lies that has these positions along the axes; before it, if
/// negative. IndexError unless there are as many positions as axes, each from 0 to below the size of its axis.
int anyffi_tensor_get_element_offset(const AnyffiTensorData* data, const int64_t* positions, int32_t count,
                                     int64_t* out);
/// A compact copy, last axis first, in memory like that of `anyffi_tensor_create_empty`. BufferError unless the CPU can
/// read the elements and they lie in whole bytes.
int anyffi_tensor_copy(const AnyffiTensorData* data, uint64_t flags, AnyffiValue* out);

/// Byte for byte DLPack's DLManagedTensorVersioned: a share of a tensor, which whoever holds it gives back by
/// `deleter`.
typedef struct AnyffiManagedTensor {
  uint32_t major; /* of DLPack's version; another major one has another layout behind `deleter` */
  uint32_t minor;
  void* context;
  void (*deleter)(struct AnyffiManagedTensor* self);
  uint64_t flags; /* AnyffiTensorFlag */
  AnyffiTensorData tensor;
} AnyffiManagedTensor;

/// Byte for byte DLPack's DLManagedTensor, from before version 1.0: it cannot say that memory is read-only.
typedef struct AnyffiLegacyTensor {
  AnyffiTensorData tensor;
  void* context;
  void (*deleter)(struct AnyffiLegacyTensor* self);
} AnyffiLegacyTensor;

/// A tensor on the memory of another library's. Takes over `managed`, also on failure.
int anyffi_tensor_from_dlpack(AnyffiManagedTensor* managed, AnyffiValue* out);
int anyffi_tensor_from_dlpack_legacy(AnyffiLegacyTensor* managed, AnyffiValue* out);
/// The same for a library of the host's, which is not called any more once the host has shut down.
int anyffi_tensor_from_dlpack_host(AnyffiManagedTensor* managed, AnyffiValue* out);
/// A share of a tensor for another library; NULL in `out` on failure. The legacy form refuses with BufferError what it
/// cannot say.
int anyffi_tensor_to_dlpack(AnyffiObject* tensor, AnyffiManagedTensor** out);
int anyffi_tensor_to_dlpack_legacy(AnyffiObject* tensor, AnyffiLegacyTensor** out);
/// The same for the capsules in which the host's libraries hand tensors on. Takes over one count of `handle`, also on
/// failure; TypeError for what is no capsule of DLPack, or one that was used.
int anyffi_tensor_from_capsule(void* handle, AnyffiValue* out);
/// A capsule as an opaque object of the host, in the legacy form if `legacy` is not 0.
int anyffi_tensor_to_capsule(AnyffiObject* tensor, int32_t legacy, AnyffiValue* out);

/// What a front end gives for DLPack's table of functions that compiled code of other libraries calls with its
/// wrappers of tensors. Called with the host's lock held.
typedef struct AnyffiExchangeApiHooks {
  /// The tensor of a wrapper, borrowed; NULL for what has none. `anyffi_wrapper_get_object` is one.
  AnyffiObject* (*unwrap)(void* wrapper);
  /// A new reference to the wrapper of a tensor; returns as hooks of AnyffiHost do.
  int (*wrap)(AnyffiObject* tensor, void** out);
  /// Raises an exception of a class in the host (PyErr_SetString), and the class for what a table cannot do.
  void (*set_error)(void* exception_class, const char* message);
  void* exception_class;
} AnyffiExchangeApiHooks;

typedef enum AnyffiExchangeLimit { ANYFFI_EXCHANGE_TABLES = 4 } AnyffiExchangeLimit;

/// A DLPackExchangeAPI of DLPack 1.3, which lives for ever; NULL, without an error, if ANYFFI_EXCHANGE_TABLES were made
/// before.
const void* anyffi_tensor_create_exchange_api(const AnyffiExchangeApiHooks* hooks);

/* ---- recipes ------------------------------------------------------------------------------ */

/// A Tensor in a recipe: what `anyffi_tensor_create_host` is called with, after `retain(handle)`.
typedef struct AnyffiTensorRecipe {
  AnyffiTensorData tensor;
  uint64_t flags; /* AnyffiTensorFlag */
  void* handle;
  void (*retain)(void* handle);
} AnyffiTensorRecipe;
/// The same of a Function and `anyffi_function_create_host`.
typedef struct AnyffiFunctionRecipe {
  AnyffiCall callback;
  void* handle;
  void (*retain)(void* handle);
} AnyffiFunctionRecipe;
/// Makes the arguments of a call as a recipe says, calls, and gives back what it made and the function did not take:
/// for front ends to which each call of the runtime is dear. An AnyffiCall, so that it is called as functions are.
///
/// A recipe is an array of `size` values, which is used up. Those with the flag ANYFFI_RECIPE say what to make: a
/// container, of the `as_int` values before them (keys and values in turn; start, stop and step of a slice), or what
/// `as_pointer` points to: an AnyffiTensorRecipe, an AnyffiFunctionRecipe, or for ANYFFI_OBJECT an owned value, which
/// is moved. All others are borrowed. What remains are the arguments; those that were made are movable. A result that
/// is a view is made an owned value, since it may be one of an argument.
int anyffi_function_call_recipe(void* function, AnyffiValue* recipe, int32_t size, AnyffiValue* result);
/// Its first step: turns a recipe into arguments in the same place. Their number, or -1 with nothing left.
int32_t anyffi_recipe_build(AnyffiValue* recipe, int32_t size);
/// Its last step, for a recipe with an Unset value behind it, made or not: gives back what is movable there, and leaves
/// None. A call with one argument, so that a front end can make it a finalizer.
void anyffi_recipe_release(AnyffiValue* recipe);

/* ---- opaque objects, and the host ------------------------------------------------------------ */

/// An object of the front end's language, opaque to the runtime.
typedef struct AnyffiPyObject {
  AnyffiObject header;
  void* handle;
} AnyffiPyObject;

/// Takes over one count of `handle`, also on failure.
int anyffi_py_object_create(void* handle, AnyffiValue* out);

typedef enum AnyffiHostFlag {
  /// `check_signals` is called with the lock held, returns 0 when done, and leaves what a handler raised pending in
  /// the host, which raises it when the call that is under way returns there (PyErr_CheckSignals).
  ANYFFI_HOST_KEEPS_SIGNALS = 1,
  /// A slice of hashable parts is hashable, as Python has it since 3.12.
  ANYFFI_HOST_HASHES_SLICES = 2
} AnyffiHostFlag;

/// What callbacks and hooks of the host return when they are done, in place of 0; -1 when they left an error in the
/// slot. Where they are written in the host's own language (ctypes), a signal can hit before their first line or after
/// their last: the exception is swallowed then, and they return anything. That is taken for KeyboardInterrupt.
typedef enum AnyffiHostStatus { ANYFFI_HOST_DONE = 1 } AnyffiHostStatus;

/// What a front end gives the runtime, which knows nothing of Python. Handles are counted by the host.
/// Every hook takes the host's lock itself where it needs it. Those that may fail return ANYFFI_HOST_DONE or -1.
typedef struct AnyffiHost {
  uint32_t struct_size;
  uint32_t flags; /* AnyffiHostFlag */
  /// Takes the host's lock from any thread, and gives it back (PyGILState_Ensure, PyGILState_Release).
  int32_t (*lock)(void);
  void (*unlock)(int32_t state);
  /// Lets other threads run, and takes the lock again (PyEval_SaveThread, PyEval_RestoreThread).
  void* (*suspend)(void);
  void (*resume)(void* state);
  /// Gives one count back. Called with the lock held.
  void (*handle_release)(void* handle);
  int (*handle_hash)(void* handle, int64_t* out);
  int (*handle_equal)(void* handle, const AnyffiValue* other, int32_t* out);
  int (*handle_repr)(void* handle, AnyffiValue* out);
  /// The name of the handle's type, as `type(x).__name__` gives it.
  int (*handle_type_name)(void* handle, AnyffiValue* out);
  /// Writes kind, message and traceback of an exception, as owned strings.
  int (*error_fill)(void* handle, AnyffiValue* kind, AnyffiValue* message, AnyffiValue* traceback);
  /// Runs pending signal handlers; fails if one raised.
  int (*check_signals)(void);
  /// Capsules, the host's objects that hold a pointer under a name (PyCapsule_New and so on). Called with the lock
  /// held; NULL where the host has none.
  void* (*capsule_new)(void* pointer, const char* name, void (*destructor)(void* capsule));
  int (*capsule_is_valid)(void* capsule, const char* name);
  void* (*capsule_get_pointer)(void* capsule, const char* name);
  int (*capsule_set_name)(void* capsule, const char* name);
} AnyffiHost;

/// Installs the host's hooks, copied; NULL removes them: from then on handles are leaked, not released.
void anyffi_host_install(const AnyffiHost* host);
/// For a body that runs without the host's lock: `state = suspend(); ...; resume(state)`. NULL without a host.
void* anyffi_host_suspend(void);
void anyffi_host_resume(void* state);
/// Takes the host's lock in such a body, or on any other thread, and gives it back: `state = lock(); ...;
/// unlock(state)`. A thread that has it may take it again. Does nothing without a host.
int32_t anyffi_host_lock(void);
void anyffi_host_unlock(int32_t state);
/// Fails if a signal handler raised (Ctrl-C); 0 without a host.
int anyffi_host_check_signals(void);

/* ---- recursion ------------------------------------------------------------------------------- */

/// One counter per thread bounds recursion in the runtime and across the border; its limit follows from the
/// size of the thread's stack. RecursionError beyond it; every success is paired with one leave.
int anyffi_depth_enter(void);
void anyffi_depth_leave(void);
/// How many bytes of the calling thread's stack lie below the caller, for front ends that bound recursion by
/// themselves. Where the system does not tell the stack's size, all that matters is by how much two answers differ.
size_t anyffi_stack_get_remaining(void);

/* ---- modules --------------------------------------------------------------------------------- */

typedef struct AnyffiModuleEntry {
  const struct AnyffiModuleEntry* next;
  const char* name;
  AnyffiObject* function; /* NULL when making it failed; the error was deferred */
} AnyffiModuleEntry;

/// What a library that uses the C++ macros exports under the name `__anyffi_module`.
typedef struct AnyffiModuleTable {
  int32_t abi_version;
  uint32_t struct_size;
  const AnyffiModuleEntry* const* entries; /* head of a list, filled by the library's initialisers */
} AnyffiModuleTable;

/// Loads a shared library and never unmaps it. Reports what its static initialisers deferred, and undoes
/// their registrations then.
int anyffi_module_load(const AnyffiValue* path, AnyffiValue* out);
/// The program itself as a module: the functions that it, and the libraries that it sees as a whole, export under names
/// with a prefix, which may be empty.
int anyffi_module_get_program(const AnyffiValue* prefix, AnyffiValue* out);
/// Makes a module look in another one, after those that it imports already, for functions that it has not itself.
/// ValueError if the other one would come to import itself.
int anyffi_module_import(const AnyffiValue* module, const AnyffiValue* other);
/// The modules that a module imports, as an Array.
int anyffi_module_get_imports(const AnyffiValue* module, AnyffiValue* out);
/// The function `name` of a module or of what it imports; AttributeError, naming the nearest, if there is none.
int anyffi_module_get_function(const AnyffiValue* module, const AnyffiValue* name, AnyffiValue* out);
/// Names of the functions of a module and of what it imports as an Array of strings, sorted.
int anyffi_module_list(const AnyffiValue* module, AnyffiValue* out);
/// The path that the module was loaded from, as a string; None for the program itself.
int anyffi_module_get_path(const AnyffiValue* module, AnyffiValue* out);
/// What begins the names of functions in a module of the program, as a string; None for a library.
int anyffi_module_get_prefix(const AnyffiValue* module, AnyffiValue* out);
/// Where a function of a module is to be found again: an Array of the path, None for the program itself, and the name.
/// None for other functions.
int anyffi_module_find_origin(const AnyffiValue* function, AnyffiValue* out);

/// The ABI version that the runtime was built for.
int32_t anyffi_abi_get_version(void);

// anyffi: plain declarations end

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // ANYFFI_C_API_H_
