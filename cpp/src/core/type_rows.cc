/// \file
/// The rows of fixed types.
#include "core/type_rows.h"

#include <anyffi/host_api.h>

namespace anyffi::runtime {
namespace {

constexpr int32_t kAncestors[] = {ANYFFI_OBJECT, ANYFFI_ARRAY};

constexpr int64_t instance_size_of(int32_t type_code) {
  switch (type_code) {
    case ANYFFI_BOX:
      return sizeof(AnyffiBox);
    case ANYFFI_STR_OBJECT:
      return sizeof(AnyffiStrObject);
    case ANYFFI_BYTES_OBJECT:
      return sizeof(AnyffiBytesObject);
    case ANYFFI_BIG_INT:
      return sizeof(AnyffiBigInt);
    case ANYFFI_COMPLEX:
      return sizeof(AnyffiComplex);
    case ANYFFI_SLICE:
      return sizeof(AnyffiSlice);
    case ANYFFI_ERROR:
      return sizeof(AnyffiError);
    case ANYFFI_FUNCTION:
      return sizeof(AnyffiFunction);
    case ANYFFI_PY_OBJECT:
      return sizeof(AnyffiPyObject);
    case ANYFFI_ARRAY:
    case ANYFFI_LIST:
    case ANYFFI_SHAPE:
      return sizeof(AnyffiSequence);
    case ANYFFI_MAP:
    case ANYFFI_DICT:
    case ANYFFI_FROZEN_SET:
    case ANYFFI_SET:
      return sizeof(AnyffiMapping);
    case ANYFFI_TENSOR:
      return sizeof(AnyffiTensor);
    default:
      return type_code <= 0 ? sizeof(AnyffiValue) : sizeof(AnyffiObject);
  }
}

/// The docstring of a fixed type; NULL for borrowed and internal types.
constexpr const char* doc_of(int32_t type_code) {
  switch (type_code) {
    case ANYFFI_NONE:
      return "The absence of a value.";
    case ANYFFI_BOOL:
      return "True or false.";
    case ANYFFI_INT:
      return "An integer of 64 bits.";
    case ANYFFI_FLOAT:
      return "A double.";
    case ANYFFI_STR:
    case ANYFFI_STR_OBJECT:
      return "Text: code points of one, two or four bytes, always of the narrowest width that holds it.";
    case ANYFFI_BYTES:
    case ANYFFI_BYTES_OBJECT:
      return "Immutable bytes.";
    case ANYFFI_ELLIPSIS:
      return "Python's `...`.";
    case ANYFFI_POINTER:
      return "An address, not owned.";
    case ANYFFI_DATA_TYPE:
      return "The type of a tensor's elements, as DLPack defines it.";
    case ANYFFI_DEVICE:
      return "Where a tensor is stored, as DLPack defines it.";
    case ANYFFI_OBJECT:
      return "A reference-counted object; all object types derive from it.";
    case ANYFFI_BOX:
      return "An inline value as an object.";
    case ANYFFI_BIG_INT:
      return "An integer that does not fit 64 bits.";
    case ANYFFI_COMPLEX:
      return "A complex number of two doubles.";
    case ANYFFI_SLICE:
      return "Start, stop and step.";
    case ANYFFI_ERROR:
      return "An error: its kind, message and traceback.";
    case ANYFFI_FUNCTION:
      return "A function of any language.";
    case ANYFFI_MODULE:
      return "The functions of a shared library.";
    case ANYFFI_PY_OBJECT:
      return "An object of the host's language, opaque to the runtime.";
    case ANYFFI_ARRAY:
      return "An immutable sequence.";
    case ANYFFI_LIST:
      return "A mutable sequence.";
    case ANYFFI_MAP:
      return "An immutable mapping, in order of insertion.";
    case ANYFFI_DICT:
      return "A mutable mapping, in order of insertion.";
    case ANYFFI_FROZEN_SET:
      return "An immutable set, in order of insertion.";
    case ANYFFI_SET:
      return "A mutable set, in order of insertion.";
    case ANYFFI_TENSOR:
      return "An n-dimensional array, whose memory may be shared.";
    case ANYFFI_SHAPE:
      return "An Array whose elements are all Int.";
    default:
      return nullptr;
  }
}

constexpr AnyffiTypeInfo make_row(int32_t code, int32_t family, int32_t parent, int32_t storage, const char* type_key,
                                  const char* python_name) {
  AnyffiTypeInfo row{};
  row.struct_size = sizeof(AnyffiTypeInfo);
  row.type_code = code;
  row.family = family;
  row.parent = parent;
  row.storage = storage;
  row.depth = parent == code ? 0 : parent == ANYFFI_OBJECT ? 1 : 2;
  row.ancestors = kAncestors;
  row.type_key = type_key;
  row.python_name = python_name;
  row.instance_size = instance_size_of(code);
  row.doc = doc_of(code);
  return row;
}

// Rows are in the order of their codes, and the only parents are the type itself, Object and Array.
#define CHECK(NAME, code, FAMILY, PARENT, storage, key, python) \
  &&code >= -(kInlineRows - 1) && code <= kLastFixedObject &&   \
      (ANYFFI_##PARENT == code ||                               \
       ((ANYFFI_##PARENT == ANYFFI_OBJECT || ANYFFI_##PARENT == ANYFFI_ARRAY) && code > ANYFFI_##PARENT))
static_assert(true ANYFFI_TYPES(CHECK), "ANYFFI_TYPES has a row out of order, or with a parent that is not allowed");
#undef CHECK

}  // namespace

#define ROW(NAME, code, FAMILY, PARENT, storage, key, python) \
  make_row(code, ANYFFI_##FAMILY, ANYFFI_##PARENT, ANYFFI_STORAGE_##storage, key, python),

AnyffiTypeInfo fixed_rows[kFixedRows] = {ANYFFI_TYPES(ROW)};

#undef ROW

const AnyffiTypeInfo* find_fixed(std::string_view key) noexcept {
  for (const AnyffiTypeInfo& row : fixed_rows) {
    if (key == row.type_key) return &row;
  }
  return nullptr;
}

}  // namespace anyffi::runtime
