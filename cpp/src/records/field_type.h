/// \file
/// What the fields of records accept: annotations at run time, checked by the traits of the C++ API.
#ifndef ANYFFI_SRC_RECORDS_FIELD_TYPE_H_
#define ANYFFI_SRC_RECORDS_FIELD_TYPE_H_

#include <anyffi/anyffi.h>

#include <memory>

#include "core/memory.h"

namespace anyffi::runtime {

/// A type of fields.
struct FieldType : Allocated {
  /// Converts a value, as the parameter of a function does; false with `why`.
  bool (*load)(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) = nullptr;
  /// A value that C++ may read while none is set, for fields that are no numbers; NULL: there is none.
  AnyValue (*make_initial)(const FieldType& type) = nullptr;
  String name;  // as the traits of the same C++ type name it
  int32_t storage = ANYFFI_STORED_VALUE;
  uint64_t type_mask = 0;   // of values that `load` does not change
  bool is_guarded = false;  // there is no initial value
  bool refers = true;       // values may refer to objects of the host
  Vector<std::unique_ptr<const FieldType>> parts;
  int32_t type_code = ANYFFI_NONE;  // of objects; ANYFFI_NONE: found by `name`, once it is registered
  Vector<AnyValue> choices;         // of a literal, an enumeration, an instance: as their `load` reads them
  String detail;                    // likewise: what its errors expect
};

/// An object of a record that stands for one that is not set yet. Defined with records.
AnyValue placeholder_of(int32_t type_code);
bool has_placeholder(int32_t type_code) noexcept;

/// The types of fields that are the type which is being declared: its type code is set once it is known. Refers to
/// types that others own.
struct SelfTypes {
  String key;
  Vector<FieldType*> types;
};

/// What describes a type: an Array of its name and its parts, such as `["List", ["int"]]`; the part of an `object` is a
/// type code, of a `named` one the key of a type that may not be registered yet, those of a `literal` are its values,
/// those of an `instance` the name of a class and a function that says whether a value is one, those of an
/// `enumeration` its name, a function that returns the member for any other number, or None, then values and members in
/// turn; `self` is the type that is being declared. Throws a ValueError for other descriptions.
std::unique_ptr<FieldType> make_field_type(const Array<>& description, SelfTypes& selves);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_RECORDS_FIELD_TYPE_H_
