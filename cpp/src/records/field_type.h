/// \file
/// The types of record fields: annotations at run time, checked by the traits of the C++ API.
#ifndef ANYFFI_SRC_RECORDS_FIELD_TYPE_H_
#define ANYFFI_SRC_RECORDS_FIELD_TYPE_H_

#include <anyffi/anyffi.h>

#include <memory>

#include "core/memory.h"

namespace anyffi::runtime {

/// A type of fields.
struct FieldType : Allocated {
  /// Converts a value as a function parameter does. Returns false, with `why` filled, if it does not convert.
  bool (*load)(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) = nullptr;
  /// Makes the value that C++ reads before a field is set; NULL for numbers, and where there is none.
  AnyValue (*make_initial)(const FieldType& type) = nullptr;
  String name;  // the name that the C++ traits of the same type have
  int32_t storage = ANYFFI_STORED_VALUE;
  uint64_t type_mask = 0;   // types of values that `load` leaves unchanged
  bool is_guarded = false;  // there is no initial value
  bool refers = true;       // values may refer to objects of the host
  Vector<std::unique_ptr<const FieldType>> parts;
  int32_t type_code = ANYFFI_NONE;  // of objects; ANYFFI_NONE if the type is found by `name` once it is registered
  Vector<AnyValue> choices;         // values for the `load` of a literal, an enumeration or an instance
  String detail;                    // what errors of these types say they expect
};

/// A placeholder object of a record, used as the initial value of fields of that type. Defined with records.
AnyValue placeholder_of(int32_t type_code);
bool has_placeholder(int32_t type_code) noexcept;

/// Field types that refer to the type being declared: its type code is set once it is known. Does not own them.
struct SelfTypes {
  String key;
  Vector<FieldType*> types;
};

/// Makes a type from its description: an Array of its name and its parts, such as `["List", ["int"]]`. The parts are
/// for an `object` a type code, for a `named` type a key that may not be registered yet, for a `literal` its values,
/// for an `instance` the name of the type and a predicate, and for an `enumeration` its name, a function that returns
/// the member for any other number (or None), then values and members in turn; `self` is the type being declared.
/// Throws ValueError for other descriptions.
std::unique_ptr<FieldType> make_field_type(const Array<>& description, SelfTypes& selves);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_RECORDS_FIELD_TYPE_H_
