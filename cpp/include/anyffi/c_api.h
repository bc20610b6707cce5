/// \file
/// The C ABI of the anyffi runtime, for extensions and for front ends of other languages. C11.
/// What only a front end for a managed language needs is in host_api.h.
///
/// Conventions:
/// - A function that returns `int` returns 0 on success. On failure it leaves an error in the calling thread's slot
///   (`anyffi_error_take_raised`) and None in every `out` parameter.
/// - `const AnyffiValue*` is borrowed for the duration of the call. The caller owns an `out` value and releases it with
///   `anyffi_value_release`.
/// - Every function may be called on any thread. One object must not be modified by two threads at once.
/// - `const char*` is NUL-terminated UTF-8.
///
/// While ANYFFI_ABI_VERSION stays the same, from version 0.1.0 of the package on, the following does not change, so
/// that extensions built with an older header run with a newer runtime:
/// - A function keeps its name, its parameters and what it does. A new version of it gets another name.
/// - Codes, flags and enumerators keep their numbers; numbers of removed ones are not used again.
/// - A struct keeps its size and its members. One that begins with `struct_size` may get new members at its end, for
///   which zero means the former behaviour. Whoever fills it sets `struct_size` to the size in its own header. Whoever
///   reads it uses only members that ANYFFI_HAS reports, and ignores those after the members it knows.
/// - `reserved` members are zero, and have no meaning until they are renamed.
/// Tests enforce these rules: cpp/src/core/layout.cc has all sizes and offsets, tests/abi/frozen the symbols and
/// declarations.
#ifndef ANYFFI_C_API_H_
#define ANYFFI_C_API_H_

#include <stddef.h>
#include <stdint.h>

/// Incremented whenever a struct or a rule in this header changes incompatibly.
#define ANYFFI_ABI_VERSION 1

/// Whether a struct that begins with `struct_size` has a member: it may come from a library with an older header.
#define ANYFFI_HAS(type, pointer, member) ((pointer)->struct_size >= offsetof(type, member) + sizeof((pointer)->member))

/// The type table, one row for each type with a fixed code:
///   X(NAME, code, FAMILY, PARENT, storage, "type key", "Python's name")
/// FAMILY: the row that stands for all codes of one type (a string has three). PARENT: the next more general type.
/// Storage: INLINE (the payload is the value), BORROWED (the payload points to the caller's memory: never stored or
/// returned) or OBJECT. Inline codes grow downwards, object codes upwards; dynamic types start at 128.
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

/// DLPack's type codes (dlpack.h, v1.3): X(NAME, code, "name", bits). `bits`: the width if the name implies it; 0 if it
/// is appended, as in "float32".
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

/// DLPack's device types: X(NAME, number, "name").
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
  X(kDLTrn, 18, "trn")

#define ANYFFI_DATA_TYPE_ROW_(NAME, code, name, bits) ANYFFI_##NAME = (code),
#define ANYFFI_DEVICE_ROW_(NAME, number, name) ANYFFI_##NAME = (number),
typedef enum AnyffiDataTypeCode { ANYFFI_DATA_TYPE_CODES(ANYFFI_DATA_TYPE_ROW_) } AnyffiDataTypeCode;
typedef enum AnyffiDeviceType { ANYFFI_DEVICE_TYPES(ANYFFI_DEVICE_ROW_) } AnyffiDeviceType;

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

// anyffi: plain declarations begin

/// The ABI version that the runtime was built with.
int32_t anyffi_abi_get_version(void);

typedef enum AnyffiStorage {
  ANYFFI_STORAGE_INLINE = 0,
  ANYFFI_STORAGE_BORROWED = 1,
  ANYFFI_STORAGE_OBJECT = 2
} AnyffiStorage;

/* ---- values ------------------------------------------------------------------------------- */

/// DLPack's DLDataType.
typedef struct AnyffiDataType {
  uint8_t code; /* AnyffiDataTypeCode */
  uint8_t bits;
  uint16_t lanes;
} AnyffiDataType;

/// DLPack's DLDevice.
typedef struct AnyffiDevice {
  int32_t type; /* AnyffiDeviceType */
  int32_t index;
} AnyffiDevice;

/// The header of every object. All strong references together hold one weak reference. `deleter(self,
/// ANYFFI_DELETE_CONTENTS)` is called when the last strong reference is released, `deleter(self, ANYFFI_DELETE_MEMORY)`
/// when the last weak one is; or the deleter is called once with both. Whoever allocates the object sets it.
typedef struct AnyffiObject {
  int32_t type_code;
  uint32_t weak_count;
  uint64_t strong_count;
  void (*deleter)(struct AnyffiObject* self, int32_t what);
  void* wrapper; /* the front end's wrapper of this object, or NULL; guarded by the host's lock */
} AnyffiObject;

typedef enum AnyffiDeleteWhat { ANYFFI_DELETE_CONTENTS = 1, ANYFFI_DELETE_MEMORY = 2 } AnyffiDeleteWhat;

/// Bits of `weak_count`; the others count.
typedef enum AnyffiWeakMark {
  /// Set by the first weak reference, and never cleared.
  ANYFFI_WAS_WEAK = 0x40000000,
  /// Set from `anyffi_instance_enroll` to `anyffi_instance_withdraw`: another thread may find the object by its
  /// content.
  ANYFFI_IS_ENROLLED = 0x20000000,
  /// Set by `anyffi_object_keep_alive` where the host's part keeps the object alive, and never cleared: nobody may take
  /// the object's content, even if it has only one strong reference.
  ANYFFI_WAS_KEPT = 0x10000000,
  /// Set for an object whose C++ functions may call overriding methods of the host, and never cleared.
  ANYFFI_HAS_OVERRIDES = 0x08000000,
  /// Set while C++ lends the content for calls (`anyffi_instance_lend`), cleared when it hands it out to be kept.
  ANYFFI_IS_LENT = 0x04000000,
  ANYFFI_WEAK_MARKS = 0x7C000000
} AnyffiWeakMark;

/// 16 bytes; all zero is None; unused bytes are zero. docs/protocol.md has the layout of each type.
typedef struct AnyffiValue {
  int32_t type_code;
  uint32_t
      aux; /* objects: AnyffiValueFlag; views of text and bytes: `length << 2 | encoding`; inline text: bytes 0 to 3 */
  union {
    int64_t as_int; /* also Bool: 0 or 1 */
    double as_float;
    void* as_pointer;
    AnyffiObject* as_object;
    AnyffiDataType as_data_type;
    AnyffiDevice as_device;
  };
} AnyffiValue;

typedef enum AnyffiValueFlag {
  /// An object argument that the caller created for this call alone: the callee may steal it, leaving None.
  ANYFFI_MOVABLE = 1,
  /// An element of a recipe that stands for an object to create (host_api.h).
  ANYFFI_RECIPE = 2,
  /// A result, or an argument of a callback, that is a copy: front ends convert it to a container of their own
  /// language, or a tensor to an array. Of its elements, they convert those with this flag. Others ignore the flag and
  /// do not pass it on.
  ANYFFI_NATIVE = 4,
  /// With ANYFFI_NATIVE: also convert the containers inside, with or without the flag.
  ANYFFI_DEEP = 8,
  /// A tensor argument for which overloads are first tried without `.convert()`.
  ANYFFI_EXACT = 16,
  /// An argument that `load_items` of AnyffiFunctionInfo made. In the Unset value as which the result of a callback
  /// enters: the payload is an AnyffiResultSlot; in None as the result: the slot was filled.
  ANYFFI_LOADED = 32,
  /// In the None as which a result enters, for a function with ANYFFI_RETURNS_ITEMS: the caller accepts a container of
  /// the host, made by `anyffi_items_write`.
  ANYFFI_TAKES_ITEMS = 64,
  /// In the None as which a result enters: the caller keeps the arguments alive, except movable ones, holds the host's
  /// lock from the moment the result is stored, and does not pass the result on. The result may then be an object with
  /// this flag, borrowed from an argument or from the host's wrapper of the object. A function that passes `result` on
  /// with arguments of its own clears the flag first.
  ANYFFI_BORROWED = 128,
  /// In the None as which a result enters: the caller drops the result, so that a host need not convert it. Callbacks
  /// get the flag in an Unset value.
  ANYFFI_DISCARDED = 256,
  /// In an Unset value that is an argument of a callback: the payload is an AnyffiDeferred.
  ANYFFI_IS_DEFERRED = 512,
  /// For `anyffi_instance_find`: if the object is lent, begin one more loan, and return it with this flag.
  ANYFFI_LEND = 1024,
  /// An object argument of an overload that the caller created for this call alone. The callee must not steal it, since
  /// another overload may need it, but may take what it contains.
  ANYFFI_TEMPORARY = 2048
} AnyffiValueFlag;

/// Makes an owned value equal to `value`: copies borrowed text and bytes, unboxes, retains objects, clears flags.
/// TypeError for a tensor view.
int anyffi_value_own(const AnyffiValue* value, AnyffiValue* out);
/// Releases an owned value and sets it to None.
void anyffi_value_release(AnyffiValue* value);

/// The conversions of `anyffi_value_convert`, for parameters that accept more than their own type.
typedef enum AnyffiConversion {
  ANYFFI_AS_SEQUENCE = 1,  /* a List: from a tensor (its rows, if it has several axes), from a sequence of the host */
  ANYFFI_AS_ITERABLE = 2,  /* a List, from anything that can be iterated over, except text */
  ANYFFI_AS_SET = 3,       /* a Set, from a set of the host */
  ANYFFI_AS_PATH = 4,      /* Bytes for the system, from text, bytes or a path of the host */
  ANYFFI_AS_DATE_TIME = 5, /* a List of two ints, seconds since 1970 in UTC and nanoseconds, from a time of the host */
  ANYFFI_AS_DURATION = 6,  /* the same from a duration of the host */
  ANYFFI_AS_PLAIN = 7,     /* an Int, text or another value, from a member of an enumeration of the host */
  ANYFFI_AS_TENSOR = 8,    /* a Tensor, from an object of the host that it can make an array of */
  /// `anyffi_value_create_host` only: a PyObject that keeps alive what the host adds to an object.
  ANYFFI_AS_KEPT = 9,
  ANYFFI_AS_INSTANCE = 10 /* `anyffi_value_create_host` only: a PyObject of the host's instance for an object */
} AnyffiConversion;

/// Converts a value; the result is owned. `out` is None if the value has no such conversion. Runs code of the host. A
/// List in `out` has no other references.
int anyffi_value_convert(const AnyffiValue* value, int32_t conversion, AnyffiValue* out);
/// Creates the host's path, time or duration, from Bytes or from an Int of microseconds (since 1970 in UTC). If
/// `conversion` is the type code of an enumeration: its member with the number `from`. Without a host, a copy of
/// `from`. None if the host has no such object.
int anyffi_value_create_host(int32_t conversion, const AnyffiValue* from, AnyffiValue* out);
/// The family of a type code: `ANYFFI_STR` for the three codes of a string.
int32_t anyffi_type_get_family(int32_t type_code);
/// Python's `hash`: 1, 1.0 and True agree. TypeError for unhashable values.
int anyffi_value_hash(const AnyffiValue* value, int64_t* out);
/// Python's `==`; `out` is 0 or 1. May run code of the host, and so may fail.
int anyffi_value_equal(const AnyffiValue* a, const AnyffiValue* b, int32_t* out);
/// Python's `==` without code of the host: 1 or 0 for numbers up to 64 bits, text, None, Ellipsis and sequences of
/// these; -1 for others.
int32_t anyffi_value_equal_native(const AnyffiValue* a, const AnyffiValue* b);
/// Python's `repr`, as a string.
int anyffi_value_repr(const AnyffiValue* value, AnyffiValue* out);
/// Python's `len`: code points, bytes or elements. TypeError for values without a length.
int anyffi_value_get_size(const AnyffiValue* value, int64_t* out);
/// Python's `value[key]`, with negative indices, KeyError and IndexError.
int anyffi_value_get_item(const AnyffiValue* value, const AnyffiValue* key, AnyffiValue* out);

/* ---- text and bytes -------------------------------------------------------------------------- */

/// Width of the code points, always the narrowest that holds the text. ASCII is also UTF-8.
typedef enum AnyffiTextEncoding {
  ANYFFI_ASCII = 0,
  ANYFFI_LATIN1 = 1,
  ANYFFI_UCS2 = 2,
  ANYFFI_UCS4 = 3
} AnyffiTextEncoding;

/// Text and bytes of at most this many bytes are stored inline, at bytes 4 to 14 of the value.
typedef enum AnyffiInlineLimit { ANYFFI_INLINE_BYTES = 11 } AnyffiInlineLimit;

/// A string that is not stored inline. A zero code point follows `data`.
typedef struct AnyffiStrObject {
  AnyffiObject header;
  int64_t length;   /* code points */
  int32_t encoding; /* AnyffiTextEncoding */
  int32_t reserved;
  int64_t hash; /* 0: not computed yet */
  const void* data;
} AnyffiStrObject;

/// Bytes that are not stored inline. A zero byte follows `data`.
typedef struct AnyffiBytesObject {
  AnyffiObject header;
  int64_t length;
  int64_t hash; /* 0: not computed yet */
  const uint8_t* data;
} AnyffiBytesObject;

/// The text of a string or bytes value, borrowed from it: inline text is read from the value's own memory. A zero code
/// point follows, except behind inline text that fills its 11 bytes and is not all ASCII.
typedef struct AnyffiTextView {
  const void* data;
  int64_t length;
  int32_t encoding; /* ANYFFI_LATIN1 for bytes */
  int32_t reserved;
} AnyffiTextView;

/// Reads any of the six codes of text and bytes; -1, without an error, for other values.
int anyffi_value_get_text_view(const AnyffiValue* value, AnyffiTextView* out);
/// A string of code points in any encoding that holds them; stores them in the narrowest.
int anyffi_str_create(const void* code_points, int64_t length, int32_t encoding, AnyffiValue* out);
/// An uninitialized string object: the caller writes `data` before it shares the object. `length * width` must exceed
/// ANYFFI_INLINE_BYTES, and `encoding` must be the narrowest for the text.
int anyffi_str_allocate(int64_t length, int32_t encoding, AnyffiValue* out);
/// UnicodeDecodeError for invalid UTF-8.
int anyffi_str_from_utf8(const char* utf8, int64_t size, AnyffiValue* out);
/// The UTF-8 of a string as bytes; UnicodeEncodeError for a lone surrogate.
int anyffi_str_to_utf8(const AnyffiValue* str, AnyffiValue* out_bytes);
int anyffi_bytes_create(const void* data, int64_t size, AnyffiValue* out);

/// The methods of Python's `str`; TypeError for other values. `start` and `stop` are slice indices: negative ones count
/// from the end, both are clamped (INT64_MAX: to the end).
int anyffi_str_compare(const AnyffiValue* a, const AnyffiValue* b, int32_t* out); /* -1, 0 or 1, by code point */
int anyffi_str_concat(const AnyffiValue* a, const AnyffiValue* b, AnyffiValue* out);
int anyffi_str_slice(const AnyffiValue* str, int64_t start, int64_t stop, AnyffiValue* out);
int anyffi_str_find(const AnyffiValue* str, const AnyffiValue* needle, int64_t start, int64_t stop, int64_t* out);
int anyffi_str_rfind(const AnyffiValue* str, const AnyffiValue* needle, int64_t start, int64_t stop, int64_t* out);
/// A List of strings, after at most `most` splits (negative: no limit). `separator` None: white space.
int anyffi_str_split(const AnyffiValue* str, const AnyffiValue* separator, int64_t most, AnyffiValue* out);
/// `pieces`: an Array or List of strings.
int anyffi_str_join(const AnyffiValue* separator, const AnyffiValue* pieces, AnyffiValue* out);

typedef enum AnyffiStripSide { ANYFFI_STRIP_LEFT = 1, ANYFFI_STRIP_RIGHT = 2 } AnyffiStripSide;

/// `characters` None: white space. `sides`: AnyffiStripSide, or'ed.
int anyffi_str_strip(const AnyffiValue* str, const AnyffiValue* characters, int32_t sides, AnyffiValue* out);
/// At most `most` replacements (negative: no limit).
int anyffi_str_replace(const AnyffiValue* str, const AnyffiValue* former, const AnyffiValue* replacement, int64_t most,
                       AnyffiValue* out);
/// Change A to Z or a to z only.
int anyffi_str_ascii_lower(const AnyffiValue* str, AnyffiValue* out);
int anyffi_str_ascii_upper(const AnyffiValue* str, AnyffiValue* out);

/* ---- large integers, complex numbers, slices, boxes ------------------------------------------- */

/// An integer outside the range of int64; all others are Int.
typedef struct AnyffiBigInt {
  AnyffiObject header;
  int32_t negative;
  int32_t reserved;
  int64_t size;          /* words of the magnitude; the last is not zero */
  const uint64_t* words; /* least significant first */
} AnyffiBigInt;

/// An Int if the integer fits into int64, else a BigInt. Copies `words`.
int anyffi_big_int_create(const uint64_t* words, int64_t size, int32_t negative, AnyffiValue* out);
/// The nearest double, as Python's `float(x)`; OverflowError if it is too large.
int anyffi_big_int_get_float(const AnyffiObject* big_int, double* out);

typedef struct AnyffiComplex {
  AnyffiObject header;
  double real;
  double imag;
} AnyffiComplex;

int anyffi_complex_create(double real, double imag, AnyffiValue* out);

typedef struct AnyffiSlice {
  AnyffiObject header;
  AnyffiValue start;
  AnyffiValue stop;
  AnyffiValue step;
} AnyffiSlice;

/// Copies its parts as `anyffi_value_own` does; NULL means None.
int anyffi_slice_create(const AnyffiValue* start, const AnyffiValue* stop, const AnyffiValue* step, AnyffiValue* out);

/// An inline value as an object, for code that handles objects only. Unboxed wherever it is stored in a value.
typedef struct AnyffiBox {
  AnyffiObject header;
  AnyffiValue value;
} AnyffiBox;

int anyffi_box_create(const AnyffiValue* value, AnyffiValue* out);

/* ---- errors ---------------------------------------------------------------------------------- */

typedef struct AnyffiError {
  AnyffiObject header;
  AnyffiValue kind; /* name of the exception class */
  AnyffiValue message;
  AnyffiValue traceback; /* text, most recent call last */
  AnyffiValue args;      /* an Array of the arguments of the exception class, or None: only the message */
  AnyffiValue cause;     /* an Error or None */
  void* handle;          /* the host's exception, or NULL; with one, `anyffi_error_fill` sets the fields */
} AnyffiError;

/// Copies the values as `anyffi_value_own` does; `args` may be NULL.
int anyffi_error_create(const AnyffiValue* kind, const AnyffiValue* message, const AnyffiValue* args, AnyffiValue* out);
/// Sets kind, message and traceback from an exception of the host. Does not fail: a field that cannot be read gets an
/// explanatory text.
void anyffi_error_fill(AnyffiObject* error);
/// Replaces a value that is not an error by a RuntimeError; text becomes its message.
void anyffi_error_ensure(AnyffiValue* value);
/// The message of an error in UTF-8, NUL-terminated. It is valid as long as `text`, which must be None at first, and
/// which the caller releases.
const char* anyffi_error_get_text(AnyffiObject* error, AnyffiValue* text);
/// Stores the error in the thread's slot, retaining it. Replaces the former one.
void anyffi_error_set_raised(AnyffiObject* error);
/// Moves the thread's error to `out`; None if there is none.
void anyffi_error_take_raised(AnyffiValue* out);
/// Creates an error in the thread's slot; always returns -1, so that C code can `return` it.
int anyffi_error_raise(const char* kind, const char* message);
/// The same with a message in which each `{}` of `format`, UTF-8, is replaced by the next value: a string as it is, any
/// other value as its `repr`. Bytes that are not UTF-8 become escapes.
int anyffi_error_raise_formatted(const char* kind, const char* format, int64_t format_size, const AnyffiValue* values,
                                 int32_t num_values);

/* ---- functions ------------------------------------------------------------------------------- */

/// The signature of every function. `args` are borrowed; the callee may steal a movable one, leaving None. `result`
/// enters as None; the callee leaves an owned value there, or None on failure. Returns 0, or another number after
/// `anyffi_error_set_raised`: ANYFFI_REFUSED if the error is about the arguments, so that the caller may improve it.
typedef int (*AnyffiCall)(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result);

/// Results of a call that refused its arguments before it had any effect. ANYFFI_UNREAD: without an error, because a
/// container of `anyffi_make_items` must be packed first.
typedef enum AnyffiRefusal { ANYFFI_REFUSED = -2, ANYFFI_UNREAD = -3 } AnyffiRefusal;

typedef struct AnyffiParamInfo {
  const char* name;
  const AnyffiValue* default_value; /* for signatures: the callee itself replaces Missing by it. NULL: required */
  const char* type_name;            /* as an annotation, such as `List[int]`; NULL if unknown */
} AnyffiParamInfo;

/// Results of `try_call` if the arguments do not fit: nothing was called or stolen. ANYFFI_NO_MATCH_RAISED: a
/// conversion left an error in the slot.
typedef enum AnyffiNoMatch { ANYFFI_NO_MATCH = 1, ANYFFI_NO_MATCH_RAISED = 2 } AnyffiNoMatch;

typedef enum AnyffiFunctionFlag {
  /// The body runs without the host's lock, which the callee itself releases.
  ANYFFI_RELEASE_GIL = 1,
  /// Accepts any number of positional arguments after the named ones.
  ANYFFI_VARIADIC = 2,
  /// Several functions under one name: `overloads`.
  ANYFFI_OVERLOADED = 4,
  /// A method: errors about the first argument are worded like those of Python's descriptors. A parameter without a
  /// name is `self`, or `arg0`, `arg1`, and so on, counted after the object; in other functions they are counted from
  /// the first.
  ANYFFI_METHOD = 8,
  /// Its result may be a container of the host, if the caller sets ANYFFI_TAKES_ITEMS: an Unset value whose payload is
  /// the handle, owned.
  ANYFFI_RETURNS_ITEMS = 16,
  /// Has no parameters: as an attribute of a module it stands for its result.
  ANYFFI_CONSTANT = 32,
  /// Its last parameters are keyword-only: `num_keyword_only`.
  ANYFFI_KEYWORD_ONLY = 64
} AnyffiFunctionFlag;

typedef struct AnyffiFunctionInfo {
  uint32_t struct_size;
  uint32_t flags; /* AnyffiFunctionFlag */
  const char* name;
  const char* doc;
  int32_t num_params;
  int32_t num_required;
  const AnyffiParamInfo* params; /* `num_params` of them; a name may be NULL */
  const char* result_type;       /* as `type_name`; NULL if unknown */
  /// Like the function's `call`, with the same `self`, but returns an AnyffiNoMatch where the arguments do not fit.
  /// NULL: not supported.
  AnyffiCall try_call;
  /// For each parameter the type mask (`anyffi_type_bit`) of what it accepts without conversion: an overload that
  /// accepts all arguments without conversion precedes those that convert. NULL: everything.
  const uint64_t* exact_types;
  const struct AnyffiOverload* overloads; /* of a function made by `anyffi_function_create_overloaded` */
  /// Bit i: parameter i (below 64) also accepts text as a value of `anyffi_make_utf8`, which a caller may pass if it
  /// has the UTF-8 of the text anyway.
  uint64_t utf8_params;
  /// Bit i: parameter i (below 64) is a C++ container that `load_items` fills directly from a container of the host.
  /// `call` also accepts a value of `anyffi_make_items` for it, or returns ANYFFI_UNREAD. For an overloaded function,
  /// which has no `load_items`: the bit is set if some overload has it, and `call` accepts one such value.
  uint64_t item_params;
  /// Called with the same `self` as `call`, before it: converts a value of `anyffi_make_items` for a parameter in
  /// `item_params`. The value becomes an object for that call alone, owned, with ANYFFI_MOVABLE and ANYFFI_LOADED; it
  /// lies in `room`, which is aligned to 16 bytes, if `room_size` suffices. Runs no code of the host except
  /// `items_read`. A result other than 0, without an error and with nothing to release: the container must be packed.
  int (*load_items)(void* self, int32_t index, AnyffiValue* value, void* room, size_t room_size);
  /// With ANYFFI_KEYWORD_ONLY: how many of the parameters, the last ones, are keyword-only. `num_required` counts only
  /// the others. A front end that passes keyword-only arguments adds an ANYFFI_MISSING after the last one: without it,
  /// `call` and `try_call` refuse more arguments than there are positional parameters.
  int32_t num_keyword_only;
  int32_t reserved;
  /// Bit i: parameter i (below 64) distinguishes members of enumerations from numbers. For it, `call` and `try_call`
  /// accept an Int with the type code of the member's enumeration in `aux`, which they store nowhere.
  uint64_t member_params;
  /// The parameters of `item_params` whose items may be objects. They borrow the objects from a container that must
  /// hold the same items until the call has ended: a copy, if code of users could change it.
  uint64_t object_params;
  /// Bit i: parameter i (below 64) is an unsigned int of 64 bits. For it, `call` and `try_call` also accept an Int with
  /// ANYFFI_UNSIGNED, so that a caller need not create a BigInt.
  uint64_t unsigned_params;
} AnyffiFunctionInfo;

/// One of several functions with one name, in the order in which they are tried.
typedef struct AnyffiOverload {
  const struct AnyffiOverload* next;
  AnyffiObject* function;
  /// For each parameter of `function` the index of its argument, or -1 if it is omitted. NULL: in order.
  const int32_t* arg_indices;
  int32_t num_arg_indices;
} AnyffiOverload;

typedef struct AnyffiFunction {
  AnyffiObject header;
  AnyffiCall call;
  void* self;                       /* the first argument of `call` */
  void (*release_self)(void* self); /* may be NULL */
  const AnyffiFunctionInfo* info;   /* NULL if unknown; outlives the function */
  void* handle;                     /* the host's callable behind the function, or NULL */
} AnyffiFunction;

typedef enum AnyffiItemsFlag {
  /// The container is part of a key, or of an element of a set.
  ANYFFI_ITEMS_IN_KEY = 1,
  /// Set by `anyffi_items_read`: some of the values that it wrote are owned.
  ANYFFI_ITEMS_OWNED = 2,
  /// Set by the reader: it also accepts objects of the runtime, borrowed from the container.
  ANYFFI_ITEMS_OBJECTS = 4
} AnyffiItemsFlag;

/// A container of the host that is being read, and that does not change meanwhile. From the first call of
/// `anyffi_items_read` on, `size` is the size of the container. `position` begins at 0 and belongs to the host.
typedef struct AnyffiItems {
  void* container;   /* a handle, borrowed */
  int32_t type_code; /* the type as which it would be packed: from ANYFFI_ARRAY to ANYFFI_SET, or ANYFFI_PY_OBJECT */
  int32_t flags;     /* AnyffiItemsFlag */
  int64_t size;
  int64_t position;
} AnyffiItems;

/// Reads the next items, at most `capacity` values; from a mapping keys and values in turn. They borrow from the
/// container, but those with ANYFFI_MOVABLE are owned; a container inside is a value of `anyffi_make_items`. Returns
/// how many there are, 0 at the end, and -1 without an error if the host must pack the container: because it contains
/// something that runs code of users, or a key that does not equal itself. For a PyObject, whose `position` is
/// ANYFFI_AS_DATE_TIME or ANYFFI_AS_DURATION, reads the two ints of that conversion.
int64_t anyffi_items_read(AnyffiItems* items, AnyffiValue* out, int64_t capacity);

/// In `aux` of an Int, during a call or while it is written: its 64 bits are an unsigned number above INT64_MAX, which
/// would be a BigInt anywhere else.
#define ANYFFI_UNSIGNED 1u

/// Passes a value in parts, from which the host makes an object of its own: numbers, None, text by `anyffi_make_utf8`,
/// complex numbers and containers by `anyffi_make_items`. A container has its size in place of the handle, and its
/// items follow it, for a mapping keys and values in turn; a Complex has the address of two doubles, or of two floats
/// with `in_key` 1. Times and durations are values of `anyffi_make_created`; objects of dynamic types are borrowed.
/// `*state` begins as NULL and belongs to the host. Returns 1 once the value is complete: `*state` is its handle,
/// owned. Returns 0 before; -1, without an error and with nothing to release, if the runtime must make the value: for
/// text or a key that is not valid. Borrows until it returns; runs no code of users. If `values` is NULL, abandons the
/// value.
int anyffi_items_write(void** state, const AnyffiValue* values, int64_t count);

/// Steals `self`, also on failure (then `release_self(self)` was called).
int anyffi_function_create(AnyffiCall call, void* self, void (*release_self)(void* self),
                           const AnyffiFunctionInfo* info, AnyffiValue* out);
/// Calls a function; TypeError for any other value. Bounds recursion.
int anyffi_function_call(const AnyffiValue* function, AnyffiValue* args, int32_t num_args, AnyffiValue* result);
/// ValueError, with the function's name, unless its parameters have distinct names that are valid as Python keywords.
int anyffi_function_check_param_names(const AnyffiFunctionInfo* info);
/// A function that calls the first overload that accepts the arguments without conversion, else the first that converts
/// them. TypeError, with a list of all overloads, if there is none. Overloads steal no movable argument. An Int
/// argument may have the type code of an enumeration in `aux`, as for `member_params`: a parameter of the enumeration
/// accepts it without conversion, and precedes one of type int.
int anyffi_function_create_overloaded(const char* name, AnyffiValue* out);
/// Adds `function`, retaining it; TypeError if it has no `info`. Copies `arg_indices`, which may be NULL: front ends
/// that bind keywords provide them.
int anyffi_function_add_overload(AnyffiObject* overloaded, AnyffiObject* function, const int32_t* arg_indices,
                                 int32_t num_arg_indices);

/// Limits recursion, by a counter per thread whose limit follows from the size of the thread's stack. Raises
/// RecursionError beyond it; each successful call must be paired with one leave.
int anyffi_depth_enter(void);
void anyffi_depth_leave(void);

/// Releases the host's lock around a body: `state = suspend(); ...; resume(state)`. NULL without a host. Objects that
/// the body reads must be retained before: the host's garbage collector decides by refcounts, and may run meanwhile.
void* anyffi_host_suspend(void);
void anyffi_host_resume(void* state);
/// Acquires the host's lock in such a body, or on any other thread: `state = lock(); ...; unlock(state)`. Re-entrant.
/// Only one thread at a time holds it, even if the host's own threads run in parallel. Does nothing without a host.
int32_t anyffi_host_lock(void);
void anyffi_host_unlock(int32_t state);
/// Runs pending signal handlers of the host; fails if one raised (Ctrl-C). 0 without a host.
int anyffi_host_check_signals(void);

typedef enum AnyffiMismatchReason {
  ANYFFI_MISMATCH_TYPE = 0,   /* TypeError: expected int, got str */
  ANYFFI_MISMATCH_RANGE = 1,  /* OverflowError: 300 does not fit int8 */
  ANYFFI_MISMATCH_VALUE = 2,  /* ValueError: `detail` */
  ANYFFI_MISMATCH_RAISED = 3, /* an error is in the slot already */
  ANYFFI_MISMATCH_TENSOR = 4  /* TypeError: `detail` is an AnyffiTensorSpec*; NULL: `expected` lists several */
} AnyffiMismatchReason;

/// Why a value could not be converted; filled from the innermost element outwards.
typedef struct AnyffiMismatch {
  int32_t reason; /* AnyffiMismatchReason */
  int32_t path_size;
  const char* expected; /* Python's name of the expected type */
  const char* detail;   /* the narrower type, or the message, depending on `reason` */
  AnyffiValue got;   /* a borrowed copy of the value; with ANYFFI_MOVABLE if it is in a movable argument, or is one */
  char path[112];    /* from the argument to the element, such as [1]["k"] */
  char got_text[64]; /* shown in the message instead of `got`; empty: nothing */
} AnyffiMismatch;

/// Prepends `[key]` to the path; shortens a key that is too long.
void anyffi_mismatch_prepend(AnyffiMismatch* mismatch, const AnyffiValue* key);
/// Replaces `got`, which is about to be released, by the text that the message shows for it.
void anyffi_mismatch_detach(AnyffiMismatch* mismatch);
/// Raises a mismatch of argument `index` of a function; returns ANYFFI_REFUSED, or -1 for another error. If `info` is
/// NULL or `index` is -1, the message is about a value alone.
int anyffi_mismatch_raise(const AnyffiMismatch* mismatch, const AnyffiFunctionInfo* info, int32_t index);
/// The same for the default of a parameter.
int anyffi_mismatch_raise_default(const AnyffiMismatch* mismatch, const AnyffiFunctionInfo* info, int32_t index);
/// The same for the result of a call.
int anyffi_mismatch_raise_result(const AnyffiMismatch* mismatch, const AnyffiObject* function);
/// Prefixes the error that `anyffi_tensor_check_access` raised with the function, and with the argument that is the
/// tensor in question. `args` has `num_args` values.
void anyffi_error_name_argument(const AnyffiFunctionInfo* info, const AnyffiValue* args, int32_t num_args);
/// Raises Python's TypeError for the wrong number of arguments; always returns -1.
int anyffi_error_raise_arg_count(const AnyffiFunctionInfo* info, const AnyffiValue* args, int32_t num_args);

/* ---- arguments and results of callbacks ----------------------------------------------------- */

/// An argument of a callback that is created only when the host's own object for it is needed.
typedef struct AnyffiDeferred {
  /// Makes the value as a function makes its result: `out` enters as None, perhaps with ANYFFI_TAKES_ITEMS. May throw.
  void (*make)(const void* object, AnyffiValue* out);
  const void* object; /* borrowed for the call */
} AnyffiDeferred;

/// Where a host stores the converted result of a callback while it still has its own object for it.
typedef struct AnyffiResultSlot {
  /// Converts a value as `anyffi_items_read` produces it, and returns 1; else fills `why`, whose value is borrowed,
  /// leaves the memory without an object, and returns 0. May throw.
  int (*load)(AnyffiValue* value, AnyffiMismatch* why, void* memory);
  void* memory;
} AnyffiResultSlot;

/// Makes a deferred argument; the lock is held if `out` has ANYFFI_TAKES_ITEMS.
int anyffi_deferred_make(const AnyffiDeferred* deferred, AnyffiValue* out);
/// Loads a result, with the host's lock held: 1, or 0 if it must be packed; never with an error. Borrows `value`.
int32_t anyffi_result_load(const AnyffiResultSlot* slot, AnyffiValue* value);
/// Calls a function, an AnyffiFunction, with arguments of which some may be deferred. They are created before the call
/// unless the function is one of `deferring_callback` of AnyffiHost; the caller releases them. `slot` may be NULL; if
/// it was filled, the result is None with ANYFFI_LOADED.
int anyffi_function_call_deferred(AnyffiFunction* function, AnyffiValue* args, int32_t num_args, AnyffiValue* result,
                                  const AnyffiResultSlot* slot);

/* ---- objects and memory ------------------------------------------------------------------------ */

void anyffi_object_retain(AnyffiObject* object);
/// Releases one strong reference. Destroys chains of any length iteratively.
void anyffi_object_release(AnyffiObject* object);
/// For inline forms of release: the strong count has just become zero.
void anyffi_object_destroy(AnyffiObject* object);
/// As `anyffi_object_release`, for what is probably the last reference to an object that is enrolled, or ever had a
/// weak reference.
void anyffi_object_release_last(AnyffiObject* object);
void anyffi_object_retain_weak(AnyffiObject* object);
void anyffi_object_release_weak(AnyffiObject* object);
/// Adds a strong reference through a weak one: 1 if the object was still alive, else 0.
int32_t anyffi_object_lock_weak(AnyffiObject* object);

/// Allocates the memory of every object of the runtime. NULL, without an error, when it is exhausted.
void* anyffi_alloc(size_t size);
void anyffi_free(void* memory);
/// The same, with the thread's free lists: for objects, most of which are made for one call. `size` must be the same in
/// both calls.
void* anyffi_object_alloc(size_t size);
void anyffi_object_free(void* memory, size_t size);

typedef struct AnyffiAllocator {
  void* (*alloc)(size_t size);
  void (*free)(void* memory);
} AnyffiAllocator;

/// Installs the allocator and writes the former one to `allocator`. The new one must be able to free what the former
/// one allocated.
void anyffi_allocator_exchange(AnyffiAllocator* allocator);
/// Frees the calling thread's free lists, which hold at most 128 KB of blocks of each of 33 sizes.
void anyffi_memory_trim(void);
/// Frees them, and keeps no free blocks from now on, on this thread and on those that begin later: every object is then
/// allocated by the allocator, which may record it.
void anyffi_memory_stop_caching(void);
/// The number of blocks in the free lists of all threads.
int64_t anyffi_memory_count_cached(void);

/* ---- containers ------------------------------------------------------------------------------ */

/// Array, List and Shape share one layout. All elements of a Shape are Int.
typedef struct AnyffiSequence {
  AnyffiObject header;
  AnyffiValue* data; /* after this struct, or in a separate block */
  int64_t size;
  int64_t capacity;
  uint64_t type_mask; /* the bits (`anyffi_type_bit`) of all elements; bits of removed ones may remain */
} AnyffiSequence;

/// An entry of a mapping. The key of a removed entry is Unset.
typedef struct AnyffiEntry {
  AnyffiValue key;
  AnyffiValue value; /* None in a set */
  int64_t hash;
} AnyffiEntry;

/// Map, Dict, FrozenSet and Set share one layout.
typedef struct AnyffiMapping {
  AnyffiObject header;
  AnyffiEntry* entries;   /* in insertion order */
  uint32_t* index;        /* slots that hold an entry's number + 1, 0: free; NULL while `capacity` is small */
  int64_t size;           /* live entries */
  int64_t used;           /* entries up to the last live one */
  int64_t capacity;       /* entries that fit */
  uint64_t index_mask;    /* slots - 1 */
  uint64_t key_type_mask; /* type masks */
  uint64_t value_type_mask;
  int64_t host_hash; /* the front end's hash of a FrozenSet, or 0 if it has not computed one */
} AnyffiMapping;

/// An empty sequence (ANYFFI_ARRAY, ANYFFI_LIST or ANYFFI_SHAPE) with room for `capacity` elements. Before sharing it,
/// the caller may write owned values to `data` and update `size` and `type_mask`.
int anyffi_sequence_create(int32_t type_code, int64_t capacity, AnyffiValue* out);
/// A sequence of copies of `count` values, each copied as by `anyffi_value_own`.
int anyffi_sequence_create_from(int32_t type_code, const AnyffiValue* values, int64_t count, AnyffiValue* out);
/// Inserts a copy of `value` before `index` (0 to size).
int anyffi_sequence_insert(AnyffiObject* sequence, int64_t index, const AnyffiValue* value);
int anyffi_sequence_set(AnyffiObject* sequence, int64_t index, const AnyffiValue* value);
/// Removes `count` elements from `index` on.
int anyffi_sequence_erase(AnyffiObject* sequence, int64_t index, int64_t count);
/// An owned copy of an element, in one call; Unset if `index` is out of range.
void anyffi_sequence_get(const AnyffiObject* sequence, int64_t index, AnyffiValue* out);
/// Reserves capacity for `capacity` elements in total.
int anyffi_sequence_reserve(AnyffiObject* sequence, int64_t capacity);

/// Replaces `count` elements from `index` on by copies of `num_cells` owned values, which must not be elements of this
/// sequence. Changes nothing on failure.
int anyffi_sequence_splice(AnyffiObject* sequence, int64_t index, int64_t count, const AnyffiValue* cells,
                           int64_t num_cells);
/// A new sequence of the `count` elements at `start`, `start + step`, ...; fewer if the sequence ends before.
int anyffi_sequence_slice(const AnyffiObject* sequence, int32_t type_code, int64_t start, int64_t step, int64_t count,
                          AnyffiValue* out);
/// The first position from `start` to below `stop` of an element that equals `value`, or that only code of the host can
/// compare; -1 if there is none. `out_equal`: as `anyffi_value_equal_native`.
int64_t anyffi_sequence_find(const AnyffiObject* sequence, const AnyffiValue* value, int64_t start, int64_t stop,
                             int32_t* out_equal);
/// The first position from `start` on at which two sequences differ, or at which only code of the host can compare; -1
/// if there is none within the shorter one. `out_equal`: as `anyffi_value_equal_native`.
int64_t anyffi_sequence_mismatch(const AnyffiObject* a, const AnyffiObject* b, int64_t start, int32_t* out_equal);
/// Sorts a List stably by Python's `<`. `out_sorted` is 0 if a comparison needs code of the host, or would raise an
/// error there: the List is then unchanged.
int anyffi_sequence_sort(AnyffiObject* list, int32_t is_reverse, int32_t* out_sorted);

/// Typed access remembers which containers it has checked, so that a check costs O(1) until the next change. `begin`
/// marks a container and returns a number for `end`, which records that all elements convert to `type` (any address),
/// unless a marked container changed meanwhile. `is_deep`: the record also depends on containers inside, which the
/// caller has marked by `begin`; any change of a marked container then invalidates it.
int64_t anyffi_container_begin_check(AnyffiObject* container);
void anyffi_container_end_check(AnyffiObject* container, const void* type, int64_t check, int32_t is_deep);
/// 1 if there is such a record.
int32_t anyffi_container_is_checked(const AnyffiObject* container, const void* type);
/// To be called after writing elements: a container with ANYFFI_CHECKED in its type mask (of the values) has changed.
void anyffi_container_forget_checks(AnyffiObject* container);
/// The same after writing elements of a type that it did not contain before, such as its first object: the front end
/// may have to register the container with its garbage collector.
void anyffi_container_note_types(AnyffiObject* container);

/// An empty mapping (ANYFFI_MAP, ANYFFI_DICT) or set (ANYFFI_FROZEN_SET, ANYFFI_SET) with room for `capacity` entries.
/// Before sharing it, the caller may write owned keys and values to `entries`, update `used` and both masks, and call
/// `anyffi_mapping_finish`.
int anyffi_mapping_create(int32_t type_code, int64_t capacity, AnyffiValue* out);
/// Hashes and indexes the `used` entries that the caller wrote. TypeError for an unhashable key. `out_first` and
/// `out_second` are the numbers of two entries with equal keys, or -1. After a failure, or with equal keys, the mapping
/// may only be released.
int anyffi_mapping_finish(AnyffiObject* mapping, int64_t* out_first, int64_t* out_second);
/// A mapping or set of copies of `count` keys and values in turn. Equal keys are reported as by
/// `anyffi_mapping_finish`, with None in `out`.
int anyffi_mapping_create_from(int32_t type_code, const AnyffiValue* items, int64_t count, AnyffiValue* out,
                               int64_t* out_first, int64_t* out_second);
/// Steals both values, also on failure. `out_existed`: 1 if there was an equal key, which is kept, with the new value.
/// TypeError for an unhashable key. In a set the value must be None.
int anyffi_mapping_set(AnyffiObject* mapping, AnyffiValue* key, AnyffiValue* value, int32_t* out_existed);
/// The entry's number, or -1 if there is none.
int anyffi_mapping_find(const AnyffiObject* mapping, const AnyffiValue* key, int64_t* out_entry);
/// The number of an Int's entry, or -1, if comparing words suffices; -2 if only `anyffi_mapping_find` can decide.
int64_t anyffi_mapping_find_int(const AnyffiObject* mapping, int64_t key);
/// An owned copy of a key's value, in one call; Unset if there is none.
int anyffi_mapping_get(const AnyffiObject* mapping, const AnyffiValue* key, AnyffiValue* out);
/// Owned copies, in one call, of the first live entry from number `entry` on (`step` 1) or the last one up to it
/// (`step` -1). Returns its number; -1, with Unset in both, if there is none.
int64_t anyffi_mapping_next(const AnyffiObject* mapping, int64_t entry, int32_t step, AnyffiValue* out_key,
                            AnyffiValue* out_value);
/// Removes an entry by its number.
int anyffi_mapping_erase(AnyffiObject* mapping, int64_t entry);
void anyffi_mapping_clear(AnyffiObject* mapping);
/// Sets every entry of another mapping or set, in the other's order. Allocates before it sets the first one.
int anyffi_mapping_update(AnyffiObject* mapping, const AnyffiObject* from);
/// Reserves capacity for `more` entries.
int anyffi_mapping_reserve(AnyffiObject* mapping, int64_t more);

/// How two sets are combined or related.
typedef enum AnyffiSetOperation {
  ANYFFI_SET_OR = 0,
  ANYFFI_SET_AND = 1,
  ANYFFI_SET_SUB = 2,
  ANYFFI_SET_XOR = 3
} AnyffiSetOperation;

/// A new set of elements of `a`, then of `b`, each in the order of its set. Unset if only code of the host can compare
/// some element.
int anyffi_set_combine(const AnyffiObject* a, const AnyffiObject* b, int32_t operation, int32_t type_code,
                       AnyffiValue* out);
/// 1 if every element of `a` is one of `b` (`wanted` 1), or none is (`wanted` 0), else 0; -1 if only code of the host
/// can compare some element.
int32_t anyffi_set_relate(const AnyffiObject* a, const AnyffiObject* b, int32_t wanted);
/// Counts the borrowed values that a set has. An Array among them may lie in the caller's memory, with a strong count
/// of 0: it is copied where the value is stored. Returns 1; 0 if only code of the host can compare some element; -1
/// with an error.
int32_t anyffi_set_count_values(const AnyffiObject* set, const AnyffiValue* values, int64_t count, int64_t* out);
/// Combines a set with another in place; returns as `anyffi_set_count_values`.
int32_t anyffi_set_change(AnyffiObject* set, const AnyffiObject* other, int32_t operation);
/// As `anyffi_set_combine`, with borrowed values as the other operand, which is the first one if `is_reflected`.
int anyffi_set_combine_values(const AnyffiObject* set, const AnyffiValue* values, int64_t count, int32_t operation,
                              int32_t is_reflected, int32_t type_code, AnyffiValue* out);
/// As `anyffi_set_change`, with borrowed values as the other operand; for ANYFFI_SET_XOR no two may be equal.
int32_t anyffi_set_change_values(AnyffiObject* set, const AnyffiValue* values, int64_t count, int32_t operation);

/// A copy of a container as another type with the same layout. TypeError for a Shape of elements that are not Int.
int anyffi_container_copy(const AnyffiValue* container, int32_t type_code, AnyffiValue* out);
/// The same, but steals `container`, and changes it in place if there is no other reference.
int anyffi_container_convert(AnyffiValue* container, int32_t type_code, AnyffiValue* out);

/* ---- tensors --------------------------------------------------------------------------------- */

/// DLPack's DLTensor. Shape and strides count elements; `strides` is never NULL here.
typedef struct AnyffiTensorData {
  void* data;
  AnyffiDevice device;
  int32_t ndim;
  AnyffiDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} AnyffiTensorData;

/// DLPack's flags of a versioned tensor.
typedef enum AnyffiTensorFlag {
  ANYFFI_TENSOR_READ_ONLY = 1,
  ANYFFI_TENSOR_COPIED = 2, /* a copy that has no other user */
  ANYFFI_TENSOR_PADDED = 4  /* elements of less than a byte are padded to one byte each */
} AnyffiTensorFlag;

typedef struct AnyffiTensor {
  AnyffiObject header;
  AnyffiTensorData tensor;
  uint64_t flags; /* AnyffiTensorFlag */
  void* owner;    /* keeps the memory alive */
  void (*release_owner)(void* owner);
} AnyffiTensor;

/// The name of a data type, such as "float32" or "float8_e4m3fnx4".
int anyffi_data_type_to_str(const AnyffiDataType* data_type, AnyffiValue* out);
/// The name of a device, such as "cuda:1".
int anyffi_device_to_str(const AnyffiDevice* device, AnyffiValue* out);

/// A tensor over memory of `owner`; copies shape and strides. Steals `owner`, also on failure.
int anyffi_tensor_create(const AnyffiTensorData* data, uint64_t flags, void* owner, void (*release_owner)(void* owner),
                         AnyffiValue* out);
/// An uninitialized compact (C-contiguous) tensor in new memory from `anyffi_alloc`, aligned to
/// ANYFFI_TENSOR_ALIGNMENT.
int anyffi_tensor_create_empty(const int64_t* shape, int32_t ndim, const AnyffiDataType* data_type, AnyffiValue* out);
typedef enum AnyffiTensorAlignment { ANYFFI_TENSOR_ALIGNMENT = 64 } AnyffiTensorAlignment;
/// A compact copy. BufferError if the CPU cannot read the elements or they do not fill whole bytes.
int anyffi_tensor_copy(const AnyffiTensorData* data, uint64_t flags, AnyffiValue* out);
/// The size in bytes of a compact tensor with this shape and type; ignores `data` and `strides`. ValueError for a
/// negative extent, MemoryError for overflow.
int anyffi_tensor_get_nbytes(const AnyffiTensorData* data, uint64_t flags, int64_t* out);
/// The distance in elements from the first element to the one at `positions`; negative if it lies before it. IndexError
/// unless there is one position for each axis, from 0 to below its size.
int anyffi_tensor_get_element_offset(const AnyffiTensorData* data, const int64_t* positions, int32_t count,
                                     int64_t* out);

/// How the memory of a tensor is accessed.
typedef enum AnyffiTensorAccess {
  ANYFFI_ACCESS_READ = 0,
  ANYFFI_ACCESS_WRITE = 1,
  ANYFFI_ACCESS_DEVICE = 2 /* by a device: the CPU need not be able to access it */
} AnyffiTensorAccess;

/// BufferError if the CPU cannot access the memory; TypeError if the elements have another type (NULL: any); ValueError
/// if the address is not aligned, or if read-only memory would be written. `access`: AnyffiTensorAccess, or'ed.
int anyffi_tensor_check_access(const AnyffiTensorData* data, uint64_t flags, const AnyffiDataType* data_type,
                               uint64_t alignment, int32_t access);

/// The order of the elements of a tensor in memory.
typedef enum AnyffiTensorOrder {
  ANYFFI_ORDER_STRIDED = 0, /* any strides */
  ANYFFI_ORDER_ROW_MAJOR = 1,
  ANYFFI_ORDER_COL_MAJOR = 2
} AnyffiTensorOrder;

/// What a typed parameter requires of a tensor.
typedef struct AnyffiTensorSpec {
  AnyffiDataType dtype;
  int32_t ndim;         /* -1: any number of axes */
  const int64_t* shape; /* the size of each of the `ndim` axes, -1 for any size */
  int32_t order;        /* AnyffiTensorOrder */
  int32_t device_type;  /* CPU: all memory that the CPU can access; 0: any device */
  int32_t writable;     /* whether the memory must not be read-only */
  uint32_t alignment;   /* of the first element, in bytes */
} AnyffiTensorSpec;

/// 1 if the value is a Tensor or TensorView that meets the requirements; otherwise 0, and `why` is filled.
int32_t anyffi_tensor_match(const AnyffiValue* value, const AnyffiTensorSpec* spec, AnyffiMismatch* why);
/// Makes a tensor that meets the requirements, for a parameter that is only read: from numbers in nested sequences, or
/// from the elements of another tensor. Each element converts as an argument of the element's C++ type would. A value
/// that meets the requirements is retained. Returns 0 if there is no conversion: `why` is filled, and `out` owns the
/// refused value unless the caller does.
int32_t anyffi_tensor_convert(const AnyffiValue* value, const AnyffiTensorSpec* spec, AnyffiValue* out,
                              AnyffiMismatch* why);

/// DLPack's DLManagedTensorVersioned: a reference to a tensor, released by its `deleter`.
typedef struct AnyffiManagedTensor {
  uint32_t major; /* DLPack's version; in another major version, only the members up to `deleter` are the same */
  uint32_t minor;
  void* context;
  void (*deleter)(struct AnyffiManagedTensor* self);
  uint64_t flags; /* AnyffiTensorFlag */
  AnyffiTensorData tensor;
} AnyffiManagedTensor;

/// DLPack's DLManagedTensor, from before version 1.0: it has no read-only flag.
typedef struct AnyffiLegacyTensor {
  AnyffiTensorData tensor;
  void* context;
  void (*deleter)(struct AnyffiLegacyTensor* self);
} AnyffiLegacyTensor;

/// A tensor over another library's memory. Steals `managed`, also on failure.
int anyffi_tensor_from_dlpack(AnyffiManagedTensor* managed, AnyffiValue* out);
int anyffi_tensor_from_dlpack_legacy(AnyffiLegacyTensor* managed, AnyffiValue* out);
/// A new reference to a tensor for another library; NULL in `out` on failure. BufferError for a tensor that the legacy
/// struct cannot express.
int anyffi_tensor_to_dlpack(AnyffiObject* tensor, AnyffiManagedTensor** out);
int anyffi_tensor_to_dlpack_legacy(AnyffiObject* tensor, AnyffiLegacyTensor** out);

/* ---- structure ------------------------------------------------------------------------------- */

/// Options of operations on values and all their parts: elements, keys and values, fields of objects. These operations
/// do not recurse, so they allow any depth, cycles, and objects with several references, which are visited once.
typedef enum AnyffiStructureFlag {
  ANYFFI_MAP_FREE_VARIABLES = 1, /* free variables may also correspond to each other */
  ANYFFI_SKIP_TENSOR_CONTENT = 2
} AnyffiStructureFlag;

/// How a field, or the objects of a type, are compared by structure.
typedef enum AnyffiStructure {
  ANYFFI_STRUCTURE_PLAIN = 0,
  ANYFFI_STRUCTURE_IGNORE = 1,   /* a field: ignored */
  ANYFFI_STRUCTURE_IDENTITY = 2, /* a field or type: compared by identity, not by value */
  /// A field: the objects in it, also in sequences there, are variables, which it binds for the fields after it.
  ANYFFI_STRUCTURE_DEFINES = 3,
  /// The same, but bound for everything that follows in the innermost object with a field of the kind before.
  ANYFFI_STRUCTURE_DECLARES = 4,
  ANYFFI_STRUCTURE_VARIABLE = 5, /* a type: an object that is not bound equals only itself */
  /// A type: an object that occurs again must correspond to the same object as the first time, not just to an equal
  /// one.
  ANYFFI_STRUCTURE_DAG = 6
} AnyffiStructure;

/// Sets how a field of a registered type is compared; if `field` is NULL, how its objects are, including those of
/// derived types. ValueError for an unknown field, and for a setting that does not apply to a field or a type.
int anyffi_type_set_structure(int32_t type_code, const char* field, int32_t structure);

/// Whether two values have the same structure; `out` is 0 or 1. May run code of the host.
int anyffi_structure_equal(const AnyffiValue* a, const AnyffiValue* b, uint32_t flags, int32_t* out);
/// A hash that is the same in every process and on every machine, and equal for values with the same structure.
int anyffi_structure_hash(const AnyffiValue* value, uint32_t flags, int64_t* out);
/// The differences, or only the first one, as an Array. Each is an Array of its path, the value on each side (None if
/// there is none), and 1 if there is one in `a` plus 2 if there is one in `b`. A path is an Array of Arrays of two: 0
/// and the name of a field, 1 and an index, 2 and a key, 3 and an element of a set.
int anyffi_structure_diff(const AnyffiValue* a, const AnyffiValue* b, uint32_t flags, int32_t only_first,
                          AnyffiValue* out);

/// Calls a function with a value and all its parts, each shared part once: before its own parts, which are skipped if
/// the function returns False, or after them (`is_post`).
int anyffi_structure_visit(const AnyffiValue* value, const AnyffiValue* function, int32_t is_post);
/// Maps a value: each part is replaced by the function's result for it, then the function is called with the new value.
/// Unchanged values are not copied. With None instead of a function: a deep copy, which may contain itself. ValueError
/// for cycles through values that are immutable once created, TypeError for objects that cannot be created.
int anyffi_structure_map(const AnyffiValue* value, const AnyffiValue* function, AnyffiValue* out);
/// The direct parts of a value in the order of `anyffi_structure_visit`, as an Array of Arrays: the step that leads to
/// a part, as in `anyffi_structure_diff`, and the part. A key of a mapping is listed as an element, as in a set.
int anyffi_structure_children(const AnyffiValue* value, AnyffiValue* out);
/// A value whose direct parts are the results of a function for the direct parts of another one, in the same order; the
/// value itself if none has changed. Errors are those of `anyffi_structure_map`.
int anyffi_structure_map_children(const AnyffiValue* value, const AnyffiValue* function, AnyffiValue* out);
/// A copy of a value with one part replaced. `index` is the number of an element, in insertion order; the key (2 i) or
/// value (2 i + 1) of entry i of a mapping; the number of a field; or -1 for what `pickle()` stores of an object.
int anyffi_structure_replace(const AnyffiValue* value, int64_t index, const AnyffiValue* part, AnyffiValue* out);

/// The JSON of a value, as a string: a list of nodes (containers, tensors, objects) that refer to each other by number,
/// so that shared parts stay shared. TypeError, with the path, for what cannot be written: functions, pointers, objects
/// of the host. docs/structure.md describes the format.
int anyffi_json_write(const AnyffiValue* value, AnyffiValue* out);
/// The value of such JSON, a string or bytes of UTF-8. ValueError, with the position, for any other text.
int anyffi_json_read(const AnyffiValue* text, AnyffiValue* out);

/* ---- registry -------------------------------------------------------------------------------- */

/// Registers a function by name, a string. ValueError if the name is taken and `override_existing` is 0.
int anyffi_registry_set(const AnyffiValue* name, const AnyffiValue* function, int32_t override_existing);
/// None in `out` if there is no such function.
int anyffi_registry_find(const AnyffiValue* name, AnyffiValue* out);
/// The path of the library whose load registered the function, as a string; None if none did.
int anyffi_registry_find_library(const AnyffiValue* name, AnyffiValue* out);
/// `out_existed` is 1 if there was one.
int anyffi_registry_remove(const AnyffiValue* name, int32_t* out_existed);
/// All names, sorted, as an Array of strings.
int anyffi_registry_list(AnyffiValue* out);
/// For static initialisers, which must not throw: defers the thread's error until `anyffi_module_load` raises it.
void anyffi_registry_defer_error(void);
/// The same for the library that contains an address.
void anyffi_registry_defer_error_of(const void* in_library);

/* ---- modules --------------------------------------------------------------------------------- */

typedef struct AnyffiModuleEntry {
  const struct AnyffiModuleEntry* next;
  const char* name;
  AnyffiObject* function; /* NULL if it could not be created; the error was deferred */
} AnyffiModuleEntry;

/// A class of a library.
typedef struct AnyffiModuleClass {
  const struct AnyffiModuleClass* next;
  int32_t type_code; /* ANYFFI_NONE if it could not be registered; the error was deferred */
} AnyffiModuleClass;

typedef struct AnyffiModuleTable {
  int32_t abi_version;
  uint32_t struct_size;
  const AnyffiModuleEntry* const* entries; /* head of a list, filled by the library's initialisers */
  const AnyffiModuleClass* const* classes; /* likewise */
} AnyffiModuleTable;

/// Loads a shared library, which is never unloaded. Raises errors that its static initialisers deferred, after undoing
/// their registrations. Functions and object types of an earlier version of the library, loaded from the same path, are
/// replaced in the registries. Existing references to them stay valid.
int anyffi_module_load(const AnyffiValue* path, AnyffiValue* out);
/// As above. The string `library` identifies the versions of a library, which may have different paths; if it is empty,
/// the path does. If `override_existing` is not 0, functions that others registered are replaced as well.
int anyffi_module_load_version(const AnyffiValue* path, const AnyffiValue* library, int32_t override_existing,
                               AnyffiValue* out);
/// The program itself as a module: functions with a name prefix, which may be empty, that the program and its globally
/// visible libraries export.
int anyffi_module_get_program(const AnyffiValue* prefix, AnyffiValue* out);
/// Makes `module` search `other`, after earlier imports, for functions that it does not have. ValueError for a cycle.
int anyffi_module_import(const AnyffiValue* module, const AnyffiValue* other);
/// The imported modules, as an Array.
int anyffi_module_get_imports(const AnyffiValue* module, AnyffiValue* out);
/// A function of a module or of its imports; AttributeError, with the most similar name, if there is none.
int anyffi_module_get_function(const AnyffiValue* module, const AnyffiValue* name, AnyffiValue* out);
/// Names of the functions of a module and of its imports, sorted, as an Array of strings.
int anyffi_module_list_functions(const AnyffiValue* module, AnyffiValue* out);
/// The path of a module's library; None for the program itself.
int anyffi_module_get_path(const AnyffiValue* module, AnyffiValue* out);
/// The name prefix of a module of the program; None for a library.
int anyffi_module_get_prefix(const AnyffiValue* module, AnyffiValue* out);
/// The type whose key ends in this name, among the classes of a module and of its imports; ANYFFI_NONE in `out` if
/// there is none.
int anyffi_module_find_class(const AnyffiValue* module, const AnyffiValue* name, int32_t* out);
/// Names of the classes of a module and of its imports, sorted, as an Array of strings.
int anyffi_module_list_classes(const AnyffiValue* module, AnyffiValue* out);
/// The Array (path or None, name) with which a module's function can be found again; None for other functions.
int anyffi_module_find_origin(const AnyffiValue* function, AnyffiValue* out);

/* ---- reflection ------------------------------------------------------------------------------ */

typedef int (*AnyffiVisit)(const AnyffiValue* child, void* context);

/// The layout of objects of C++ classes.
typedef struct AnyffiInstance {
  AnyffiObject header;
  void* content;       /* the C++ object, behind this struct or elsewhere */
  AnyffiObject* owner; /* NULL, or the object of which the content is a part: a reference */
} AnyffiInstance;

/// The content of an object, as one of the type `type_code`, which is the object's type or an ancestor.
void* anyffi_instance_get_content(const AnyffiObject* object, int32_t type_code);

/// Lets `anyffi_instance_find` find an object by its content, until it is withdrawn, or destroyed. If `out_former` is
/// not NULL and there already is such an object, `out_former` is a new reference to it, and this one is not enrolled;
/// else `out_former` is NULL.
int anyffi_instance_enroll(AnyffiInstance* instance, AnyffiInstance** out_former);
/// Does nothing for an object that is not enrolled.
void anyffi_instance_withdraw(AnyffiInstance* instance);
/// An enrolled object whose content, as one of the type, is at this address; None if there is none. A new reference;
/// or, if `flags` is ANYFFI_BORROWED and the object has a wrapper, a borrowed value with that flag. Or ANYFFI_LEND.
AnyffiValue anyffi_instance_find(const void* content, int32_t type_code, uint32_t flags);
/// Enrolls an object whose content C++ lends: it is only sure to exist until the loan ends. `out` steals the reference,
/// or gets what `anyffi_instance_find` with ANYFFI_LEND finds for the content; then the object is not enrolled.
int anyffi_instance_lend(AnyffiInstance* instance, AnyffiValue* out);
/// Ends a loan, by whoever has a reference to the object. After the last loan, unless ANYFFI_IS_LENT was cleared,
/// nobody who kept the object can use it as one of its class: its wrapper is empty, and its type is Object. So it is
/// with the objects that are parts of it.
void anyffi_instance_end_loan(AnyffiInstance* instance);

/// Detaches the front end's wrapper from an object, which the caller keeps alive.
int anyffi_object_empty_wrapper(AnyffiObject* object);
/// A call by the front end of a method that its classes may override. The front end has chosen the C++ function, so the
/// next lookup by C++ of an override with this name, on this thread, must find none. `object` is NULL if there is no
/// such call.
typedef struct AnyffiGuardedCall {
  const AnyffiObject* object;
  const char* name;
} AnyffiGuardedCall;

/// The guarded call of the calling thread.
AnyffiGuardedCall* anyffi_guarded_call(void);

/// Keeps the object of a value alive, with what the host has added to it, until `nurse` is destroyed.
int anyffi_object_keep_alive(AnyffiObject* nurse, const AnyffiValue* patient);
/// Whether `keeper` is an object or keeps it alive: by `anyffi_object_keep_alive`, or as the owner of its content.
int anyffi_object_keeps_alive(const AnyffiObject* keeper, const AnyffiObject* object, int32_t* out);
/// Replaces the deleter of an object if it is `former`, also if the object keeps others alive; returns whether it was.
int32_t anyffi_object_replace_deleter(AnyffiObject* object, void (*former)(AnyffiObject* self, int32_t what),
                                      void (*deleter)(AnyffiObject* self, int32_t what));

/// How libraries create new objects of a type, because functions return or accept pointers to them; and who compares
/// them.
typedef enum AnyffiInstanceFlag {
  ANYFFI_ENROLLED = 1,      /* they are enrolled */
  ANYFFI_SEPARATE = 2,      /* the content has its own memory block, so that an owner in C++ can take it */
  ANYFFI_HOST_COMPARES = 4, /* a class of the host may say when they are equal: `object_hash` of AnyffiHost */
  ANYFFI_HOST_DERIVES = 8   /* a class of the host derives from the type, and may add to its objects: ANYFFI_AS_KEPT */
} AnyffiInstanceFlag;

/// Adds flags to a type and its derived types; built-in types have none.
void anyffi_type_add_instance_flags(int32_t type_code, uint8_t flags);
/// The flags of a type: AnyffiInstanceFlag, or'ed. Never freed.
const uint8_t* anyffi_type_get_instance_flags(int32_t type_code);

/// How a field is stored at its offset in the content of objects.
typedef enum AnyffiFieldStorage {
  ANYFFI_STORED_OTHERWISE = 0, /* known only to its `get` and `set` */
  ANYFFI_STORED_INT = 1,       /* int64_t */
  ANYFFI_STORED_FLOAT = 2,     /* double */
  ANYFFI_STORED_BOOL = 3,      /* bool, one byte */
  ANYFFI_STORED_VALUE = 4,     /* an owned AnyffiValue */
  ANYFFI_STORED_OBJECT = 5,    /* a reference: AnyffiObject* */
  ANYFFI_STORED_MEMBER = 6     /* as ANYFFI_STORED_OTHERWISE; `set` accepts an Int as for `member_params` */
} AnyffiFieldStorage;

/// A field of objects; or a member of an enumeration, without `get`: `type_name` is its base class in Python's `enum`,
/// `offset` its value, and `storage` is 1 if the value is unsigned.
typedef struct AnyffiFieldInfo {
  const char* name;
  const char* doc;
  const char* type_name;
  /// An owned value. `out` enters as None; with ANYFFI_TAKES_ITEMS, as for a function's result, the host may make the
  /// value.
  int (*get)(AnyffiObject* self, const struct AnyffiFieldInfo* field, AnyffiValue* out);
  /// Borrows `value` as a call borrows its arguments. NULL: read-only.
  int (*set)(AnyffiObject* self, const struct AnyffiFieldInfo* field, AnyffiValue* value);
  /// Visits the references that the data member owns; NULL if it owns none.
  int (*visit)(const void* member, AnyffiVisit visit, void* context);
  int64_t offset;    /* in the content as one of the type `type_code` */
  int32_t type_code; /* of the type that declares the field */
  int32_t storage;   /* AnyffiFieldStorage; if that is ANYFFI_STORED_OTHERWISE, `offset` is for `get` and `set` alone */
} AnyffiFieldInfo;

/// The field with a name, of a type or of its nearest ancestor that has one; NULL if there is none.
const AnyffiFieldInfo* anyffi_type_find_field(int32_t type_code, const char* name);
/// Raises a mismatch of the value given for a field; always returns -1.
int anyffi_mismatch_raise_field(const AnyffiMismatch* mismatch, const AnyffiFieldInfo* field);

typedef enum AnyffiMethodFlag {
  ANYFFI_STATIC_METHOD = 1, /* its first argument is not the object */
  ANYFFI_GETTER = 2,        /* of a property; with ANYFFI_STATIC_METHOD, of a constant of the class */
  /// Of a property. The getter of a static property has all three flags, its setter this one and ANYFFI_STATIC_METHOD.
  ANYFFI_SETTER = 4,
  /// Returns a new object of the type; several constructors are overloads.
  ANYFFI_CONSTRUCTOR = 8,
  /// Returns a new object from what the method `__getstate__` returned.
  ANYFFI_RESTORE = 16,
  /// Returns a function that returns one element per call, and ANYFFI_MISSING at the end: an iterator in Python.
  ANYFFI_ITERATES = 32
} AnyffiMethodFlag;

typedef struct AnyffiMethodInfo {
  const char* name;
  AnyffiObject* function; /* its first argument is the object; whoever defines the type keeps it alive */
  uint32_t flags;         /* AnyffiMethodFlag */
  uint32_t reserved;
} AnyffiMethodInfo;

/// The types of an object's first members, in ANYFFI_MEMBER_BITS bits each.
typedef enum AnyffiMemberType {
  ANYFFI_MEMBER_INT8 = 1, /* signed or not; also bool and enumerations of that size */
  ANYFFI_MEMBER_INT16 = 2,
  ANYFFI_MEMBER_INT32 = 3,
  ANYFFI_MEMBER_INT64 = 4,
  ANYFFI_MEMBER_FLOAT32 = 5,
  ANYFFI_MEMBER_FLOAT64 = 6,
  ANYFFI_MEMBER_POINTER = 7
} AnyffiMemberType;
typedef enum AnyffiMemberBits { ANYFFI_MEMBER_BITS = 4 } AnyffiMemberBits;

/// The record of a type. Never freed: one that `anyffi_type_define` has replaced stays valid.
typedef struct AnyffiTypeInfo {
  uint32_t struct_size;
  int32_t type_code;
  int32_t family;           /* the row that stands for all codes of the type */
  int32_t parent;           /* itself at the root */
  int32_t storage;          /* AnyffiStorage */
  int32_t depth;            /* number of ancestors */
  const int32_t* ancestors; /* root first, without the type itself */
  const char* type_key;
  const char* python_name;
  int64_t instance_size; /* 0: unknown; likewise `alignment` and `member_types` */
  /// Hooks, which may fail. NULL: that of the nearest ancestor, else identity. For a type with a method `__eq__` or
  /// `__hash__`, `anyffi_type_define` sets both hooks to call these; objects with `__eq__` alone are unhashable.
  int (*hash)(const AnyffiValue* self, int64_t* out);
  int (*equal)(const AnyffiValue* a, const AnyffiValue* b, int32_t* out);
  /// Calls `visit` once for each reference that the object owns, with a borrowed value. Stops at the first call that
  /// does not return 0, and returns that result. Allocates nothing, and is called with the host's lock held.
  int (*visit_children)(const AnyffiValue* self, AnyffiVisit visit, void* context);
  int (*repr)(const AnyffiValue* self, AnyffiValue* out);
  int32_t num_fields;
  int32_t num_methods;
  const AnyffiFieldInfo* fields;
  const AnyffiMethodInfo* methods;
  const char* doc;
  const char* convertible_from; /* the annotation of values that parameters of this type also accept, or NULL */
  int64_t alignment;
  uint64_t member_types; /* AnyffiMemberType of each leading number or pointer, the first in the lowest bits */
  int64_t parent_offset; /* of the parent's content in the content of this type */
  /// The record of a type whose objects the runtime lays out and creates; NULL for a C++ type.
  const struct AnyffiRecord* record;
  /// Finds the parent's content in the content of an object, for a virtual base, whose place depends on the object.
  /// NULL: it lies at `parent_offset`.
  void* (*get_parent)(void* content);
} AnyffiTypeInfo;

/// NULL if the code is not registered.
const AnyffiTypeInfo* anyffi_type_get_info(int32_t type_code);
/// NULL if the type key is not registered.
const AnyffiTypeInfo* anyffi_type_find(const char* type_key);
/// Allocates a dynamic type below `info->parent` from the key, layout, hooks, fields and methods of `info`, whose
/// strings and tables must never be freed. For the same key, parent and layout, returns the code of the existing type;
/// ValueError if parent or layout differ.
int anyffi_type_register(const AnyffiTypeInfo* info, int32_t* out_type_code);
/// Replaces documentation, fields, methods and `visit_children` of a dynamic type by those of `info`, whose strings and
/// tables must never be freed. Only the first library that defines a type, and later versions of that library, have an
/// effect; other definitions are ignored. ValueError if one library defines a type twice. A later version with other
/// fields gets a new type, and `type_code` is changed to its code.
int anyffi_type_define(int32_t* type_code, const AnyffiTypeInfo* info);
/// Checks that the members of a struct lie where a front end has declared the fields of the type. If the front end
/// declares them later, that declaration fails instead. `fields` has name, type, offset and storage of each, in the
/// order of the members; the table must never be freed. ValueError with the first difference.
int anyffi_type_check_fields(const char* type_key, const AnyffiFieldInfo* fields, int32_t num_fields);
/// 1 if `ancestor` is `type_code` or one of its ancestors.
int32_t anyffi_type_is_a(int32_t type_code, int32_t ancestor);
/// Writes up to `capacity` codes in ascending order, and returns how many types there are.
int32_t anyffi_type_list(int32_t* out_codes, int32_t capacity);

// anyffi: plain declarations end

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // ANYFFI_C_API_H_
