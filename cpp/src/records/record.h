/// \file
/// Records: types whose fields a front end declares at run time, with the layout of the C++ struct of the same members.
#ifndef ANYFFI_SRC_RECORDS_RECORD_H_
#define ANYFFI_SRC_RECORDS_RECORD_H_

#include <forward_list>

#include "records/field_type.h"

/// What a type of records has besides its AnyffiTypeInfo. Never freed once the type is declared. The objects of the
/// type are an AnyffiInstance and, behind it, the content: the fields of the parent, then its own.
///
/// An object whose fields get their values one after another is a draft until all are set. Its fields have initial
/// values meanwhile, so that C++ can take it for a struct. Where a field is guarded, because there is no such value,
/// the draft is of a type of its own, below no other, which no C++ function accepts.
///
/// A record may derive from a class of C++. Its objects refer to the content of another one, an object of that class,
/// which they own; the fields lie where they always do, and C++ has no struct of them. So no field is guarded: such an
/// object is a draft of a type of its own until it has its base.
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
  int32_t base_code = ANYFFI_NONE;                  // of the class of C++ from which it derives, if there is one
  int64_t end = 0;                                  // of the last member
  int64_t alignment = 1;                            // of the content
  anyffi::runtime::Vector<AnyffiFieldInfo> fields;  // own; of a type of drafts all
  anyffi::runtime::Vector<const FieldType*> types;  // of `fields`
  anyffi::runtime::Vector<Owner> owners;            // also in the parent
  size_t num_inherited = 0;                         // fields
  int32_t num_guarded = 0;                          // of all fields
  const AnyffiRecord* completed = nullptr;          // of a type of drafts: the record of the type that they get
  const AnyffiRecord* draft = nullptr;              // the reverse, if drafts have a type of their own
  mutable AnyffiObject* placeholder = nullptr;      // see `placeholder_of`
  /// What `types` refers to; none of a type of drafts, which has those of the completed type and its ancestors.
  anyffi::runtime::Vector<std::unique_ptr<const FieldType>> own_types;
  /// Of the type and its fields, in a list: they must not move.
  std::forward_list<String, anyffi::runtime::Allocator<String>> texts;

  /// As `sizeof`: a struct without members has one byte.
  int64_t size() const noexcept { return end == 0 ? 1 : (end + alignment - 1) / alignment * alignment; }
  bool has_base() const noexcept { return base_code != ANYFFI_NONE; }
  /// Whether its drafts have a type of their own.
  bool has_draft_type() const noexcept { return num_guarded != 0 || has_base(); }
  int32_t draft_code() const noexcept { return draft == nullptr ? type_code : draft->type_code; }
  /// A copy of a text, which lives as long as the record.
  const char* keep(const String& text) { return texts.emplace_front(text).c_str(); }
};

namespace anyffi::runtime {

/// Declares a type, whose fields follow those of its parent: of each name, docstring or None, and what describes its
/// type. A key may be declared again: with the same fields it is the same type, with others a new one. Returns the
/// codes of the type and of its drafts, which are the same if it has no guarded fields. Throws; then nothing is
/// declared.
Array<int64_t> declare_record(const String& key, const AnyValue& doc, int32_t parent, const Array<Array<>>& fields);

/// Lets fields that were declared earlier, by the name of a class, hold objects of a type of another key. Throws.
void name_type(const String& name, int32_t type_code);

/// A new draft of a type of drafts. Throws.
AnyValue create_draft(int32_t type_code);

/// Gives a draft the object of C++ from which it derives: a new one, to which there is no other reference. Throws.
void set_base(AnyffiObject* draft, const AnyffiValue& base);

/// A new object of a type of records that derives from a class of C++, whose fields are to be set. Throws.
AnyValue create_on_base(int32_t type_code, const AnyffiValue& base);

/// The record of a type; throws a ValueError for others.
const AnyffiRecord& record_of(int32_t type_code);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_RECORDS_RECORD_H_
