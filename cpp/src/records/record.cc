/// \file
/// Records: their declaration and their layout.
#include "records/record.h"

#include <algorithm>
#include <memory>

#include "core/errors.h"
#include "core/type_declarations.h"
#include "core/types.h"
#include "records/layout.h"
#include "records/structs.h"

namespace anyffi::runtime {
namespace {

String text_of(const AnyValue& value) {
  Bytes utf8 = value.cast<anyffi::String>().utf8();
  return String(reinterpret_cast<const char*>(utf8.data()), static_cast<size_t>(utf8.size()));
}

const char* keep_doc(AnyffiRecord& record, const AnyValue& doc) {
  return doc.is_none() ? nullptr : record.keep(text_of(doc));
}

void add_field(AnyffiRecord& record, const Array<>& row, SelfTypes& selves) {
  record.own_types.push_back(make_field_type(row[2].cast<Array<>>(), selves));
  const FieldType* type = record.own_types.back().get();
  const Storage& storage = find_storage(type->storage, record.has_base());
  AnyffiFieldInfo field{};
  field.name = record.keep(text_of(row[0]));
  field.doc = keep_doc(record, row[1]);
  field.type_name = type->name.c_str();
  field.get = storage.get;
  field.set = storage.set;
  field.visit = type->refers ? storage.visit : nullptr;
  field.offset = (record.end + storage.alignment - 1) / storage.alignment * storage.alignment;
  // Without a C++ struct of the fields, nobody else may access the members by offset.
  field.storage = record.has_base() ? ANYFFI_STORED_OTHERWISE : type->storage;
  record.end = field.offset + storage.size;
  record.alignment = std::max(record.alignment, storage.alignment);
  if (storage.visit != nullptr) record.owners.push_back({field.offset, type->storage == ANYFFI_STORED_VALUE});
  record.fields.push_back(field);
  record.types.push_back(type);
}

/// The member types of a struct without a base, encoded as by `members_of` in layout.h.
uint64_t members_of(const AnyffiRecord& record) {
  uint64_t members = 0;
  int shift = 0;
  if (record.parent != nullptr || record.has_base()) return 0;
  for (const AnyffiFieldInfo& field : record.fields) {
    uint64_t member = find_storage(field.storage, false).member_type;
    if (member == 0 || shift == 64) break;
    members |= member << shift;
    shift += ANYFFI_MEMBER_BITS;
  }
  return members;
}

AnyffiTypeInfo describe(const AnyffiRecord& record, const char* key) {
  AnyffiTypeInfo info{};
  info.struct_size = sizeof(info);
  info.type_key = key;
  info.parent = ANYFFI_OBJECT;
  info.num_fields = static_cast<int32_t>(record.fields.size());
  info.instance_size = static_cast<int64_t>(sizeof(AnyffiObject)) + record.size();
  info.alignment = record.alignment;
  info.member_types = members_of(record);
  info.record = &record;
  return info;
}

bool refers(const AnyffiRecord& record) {
  if (record.has_base()) return true;
  for (const AnyffiRecord* x = &record; x != nullptr; x = x->parent) {
    for (const AnyffiFieldInfo& field : x->fields) {
      if (field.visit != nullptr) return true;
    }
  }
  return false;
}

/// The records of a type and its ancestors, the root first.
Vector<const AnyffiRecord*> line_of(const AnyffiRecord& record) {
  Vector<const AnyffiRecord*> line;
  for (const AnyffiRecord* x = &record; x != nullptr; x = x->parent) line.insert(line.begin(), x);
  return line;
}

/// Makes the record of the drafts of `record`, which refers to it.
std::unique_ptr<AnyffiRecord> make_draft(const AnyffiRecord& record) {
  auto draft = std::make_unique<AnyffiRecord>();
  draft->parent = record.parent;
  draft->base_code = record.base_code;
  draft->end = record.end;
  draft->alignment = record.alignment;
  draft->owners = record.owners;
  draft->num_guarded = record.num_guarded;
  draft->completed = &record;
  for (const AnyffiRecord* owner : line_of(record)) {
    draft->fields.insert(draft->fields.end(), owner->fields.begin(), owner->fields.end());
    draft->types.insert(draft->types.end(), owner->types.begin(), owner->types.end());
  }
  return draft;
}

AnyffiTypeInfo describe_draft(AnyffiRecord& draft, const AnyffiTypeInfo& completed) {
  AnyffiTypeInfo info = describe(draft, draft.keep(String(completed.type_key) + " (not initialized)"));
  info.python_name = python_name_of(completed.type_key);
  info.visit_children = completed.visit_children;
  return info;
}

/// Counts the fields without an initial value. If drafts have a type of their own, those of the type itself have none.
void guard(AnyffiRecord& record, const SelfTypes& selves) {
  record.num_guarded = record.parent == nullptr ? 0 : record.parent->num_guarded;
  for (const FieldType* type : record.types) record.num_guarded += type->is_guarded;
  if (!record.has_draft_type()) return;
  for (FieldType* self : selves.types) {
    self->is_guarded = true;
    for (const FieldType* type : record.types) record.num_guarded += type == self;
  }
}

/// Makes a record derive from a type: another record, or a C++ class.
void inherit(AnyffiRecord& record, int32_t parent) {
  const AnyffiTypeInfo* info = anyffi_type_get_info(parent);
  if (info != nullptr && info->record == nullptr && parent >= ANYFFI_FIRST_DYNAMIC_TYPE) {
    record.base_code = parent;
    return;
  }
  record.parent = &record_of(parent);
  record.base_code = record.parent->base_code;
  record.end = record.parent->end == 0 ? 0 : record.parent->size();
  record.alignment = record.parent->alignment;
  record.owners = record.parent->owners;
  record.num_inherited = record.parent->num_inherited + record.parent->fields.size();
}

}  // namespace

const AnyffiRecord* find_record(int32_t type_code) noexcept {
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  while (info != nullptr && info->record == nullptr && info->depth > 0) info = anyffi_type_get_info(info->parent);
  return info == nullptr ? nullptr : info->record;
}

const AnyffiRecord& record_of(int32_t type_code) {
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  if (info == nullptr || info->record == nullptr) throw Error("ValueError", "not the type of a record");
  return *info->record;
}

Array<int64_t> declare_record(const String& key, const AnyValue& doc, int32_t parent, const Array<Array<>>& fields) {
  auto record = std::make_unique<AnyffiRecord>();
  if (parent != ANYFFI_OBJECT) inherit(*record, parent);
  SelfTypes selves{key, {}};
  for (const Array<>& row : fields) add_field(*record, row, selves);
  guard(*record, selves);
  AnyffiTypeInfo info = describe(*record, record->keep(key));
  info.doc = keep_doc(*record, doc);
  info.parent = parent;
  if (refers(*record)) info.visit_children = &visit_owners;
  auto draft = record->has_draft_type() ? make_draft(*record) : nullptr;
  AnyffiTypeInfo draft_info = draft != nullptr ? describe_draft(*draft, info) : AnyffiTypeInfo{};
  // Records that are refused are destroyed after the locks are released: their values may run users' code.
  auto lock = lock_expectations();
  require_expected(info.type_key, *record);
  TypeDeclarations declarations;
  detail::check(declarations.add(info, record->fields.data(), &record->type_code));
  if (draft != nullptr) detail::check(declarations.add(draft_info, draft->fields.data(), &draft->type_code));
  record->draft = draft.get();
  for (FieldType* self : selves.types) self->type_code = record->type_code;
  Array<int64_t> codes{record->type_code, draft != nullptr ? draft->type_code : record->type_code};
  declarations.publish();
  // The types, which are never destroyed, refer to the records from now on.
  record.release();
  draft.release();
  return codes;
}

}  // namespace anyffi::runtime
