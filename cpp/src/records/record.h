/// \file
/// Records: types whose fields a front end declares at run time, with the layout of the C++ struct of the same members.
#ifndef ANYFFI_SRC_RECORDS_RECORD_H_
#define ANYFFI_SRC_RECORDS_RECORD_H_

#include <forward_list>

#include "records/field_type.h"

/// The runtime's data about a record type besides its AnyffiTypeInfo. Never freed once the type is declared. An object
/// of the type is an AnyffiInstance followed by the content: the fields of the parent, then its own.
///
/// While fields are set one by one, an object is a draft. Unset fields have initial values, so that C++ can read the
/// draft as a struct. If a field has no possible initial value (it is guarded), drafts have a separate type without a
/// parent, which no C++ function accepts.
///
/// A record may derive from a C++ class. Its object then owns a second object, of that class, and refers to its
/// content; the record's fields lie at the usual place, and C++ has no struct for them. No field is guarded: until it
/// has its base, such an object is a draft of a separate type.
struct AnyffiRecord : anyffi::runtime::Allocated {
  using FieldType = anyffi::runtime::FieldType;
  using String = anyffi::runtime::String;

  /// A member that owns a reference.
  struct Owner {
    int64_t offset;
    bool is_value;  // else a pointer
  };

  const AnyffiRecord* parent = nullptr;
  int32_t type_code = ANYFFI_NONE;
  int32_t base_code = ANYFFI_NONE;                  // the C++ class from which it derives, or ANYFFI_NONE
  int64_t end = 0;                                  // of the last member
  int64_t alignment = 1;                            // of the content
  anyffi::runtime::Vector<AnyffiFieldInfo> fields;  // own fields; for a type of drafts, all fields
  anyffi::runtime::Vector<const FieldType*> types;  // of `fields`
  anyffi::runtime::Vector<Owner> owners;            // own and inherited
  size_t num_inherited = 0;                         // number of inherited fields
  int32_t num_guarded = 0;                          // number of guarded fields, inherited ones included
  const AnyffiRecord* completed = nullptr;          // for a type of drafts: the record of the completed type
  const AnyffiRecord* draft = nullptr;              // the record of its drafts, if they have a type of their own
  mutable AnyffiObject* placeholder = nullptr;      // see `placeholder_of`
  /// Owns the objects in `types`; empty for a type of drafts, which uses those of the completed type and its ancestors.
  anyffi::runtime::Vector<std::unique_ptr<const FieldType>> own_types;
  /// Names and docstrings of the type and its fields; a list, because they must not move.
  std::forward_list<String, anyffi::runtime::Allocator<String>> texts;

  /// As `sizeof`: a struct without members has size 1.
  int64_t size() const noexcept { return end == 0 ? 1 : (end + alignment - 1) / alignment * alignment; }
  bool has_base() const noexcept { return base_code != ANYFFI_NONE; }
  /// Whether its drafts have a type of their own.
  bool has_draft_type() const noexcept { return num_guarded != 0 || has_base(); }
  int32_t draft_code() const noexcept { return draft == nullptr ? type_code : draft->type_code; }
  /// Copies a text for the lifetime of the record.
  const char* keep(const String& text) { return texts.emplace_front(text).c_str(); }
};

namespace anyffi::runtime {

/// Declares a type. `fields` has for each new field its name, its docstring or None, and the description of its type;
/// they follow the parent's fields. Declaring a key again gives the same type if the fields are the same, and a new one
/// otherwise. Returns the codes of the type and of its drafts, which are equal unless drafts have a type of their own.
/// If it throws, nothing is declared.
Array<int64_t> declare_record(const String& key, const AnyValue& doc, int32_t parent, const Array<Array<>>& fields);

/// Makes fields that were declared with the name of a class accept objects of a type with another key. Throws.
void name_type(const String& name, int32_t type_code);

/// A new draft of a type of drafts. Throws.
AnyValue create_draft(int32_t type_code);

/// Gives a draft its C++ base object, which must be new and have no other reference. Throws.
void set_base(AnyffiObject* draft, const AnyffiValue& base);

/// Makes an object of a record type that derives from a C++ class; its fields are not set yet. Throws.
AnyValue create_on_base(int32_t type_code, const AnyffiValue& base);

/// The record of a type; throws a ValueError for others.
const AnyffiRecord& record_of(int32_t type_code);
/// Returns the record of a type, or of the nearest ancestor that has one; NULL if there is none.
const AnyffiRecord* find_record(int32_t type_code) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_RECORDS_RECORD_H_
