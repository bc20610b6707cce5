/// \file
/// Records: their layout, their fields, and their objects.
#include "records/record.h"

#include <anyffi/host_api.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "core/errors.h"
#include "core/types.h"

namespace anyffi::runtime {
namespace {

static_assert(kContentOffset % 16 == 0, "the content is aligned");

const AnyffiRecord* find_record(int32_t type_code) noexcept {
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  while (info != nullptr && info->record == nullptr && info->depth > 0) info = anyffi_type_get_info(info->parent);
  return info == nullptr ? nullptr : info->record;
}

void destroy(AnyffiObject* self, int32_t what);

/* ---- drafts ---- */

/// Behind the content of a draft: which of its fields are set.
struct Progress {
  int32_t missing;
  int32_t guarded;  // missing ones that have no initial value
  bool is_set[];
};

void destroy_draft(AnyffiObject* self, int32_t what) { destroy(self, what); }

const AnyffiRecord& own_record(const AnyffiObject* self) { return *anyffi_type_get_info(self->type_code)->record; }

Progress* progress_of(const AnyffiObject* self, const AnyffiRecord& record) {
  auto* content = static_cast<char*>(reinterpret_cast<const AnyffiInstance*>(self)->content);
  return reinterpret_cast<Progress*>(content + (record.size() + 7) / 8 * 8);
}

/// The number of a field among all fields of a record.
size_t index_of(const AnyffiFieldInfo* field, const AnyffiRecord& owner) {
  return owner.num_inherited + static_cast<size_t>(field - owner.fields.data());
}

/// 0, or -1 with an AttributeError, for a field of a draft that is to be read.
__attribute__((noinline)) int check_set(const AnyffiObject* self, const AnyffiFieldInfo* field) {
  const AnyffiTypeInfo* info = anyffi_type_get_info(self->type_code);
  const AnyffiRecord& owner = *anyffi_type_get_info(field->type_code)->record;
  if (progress_of(self, *info->record)->is_set[index_of(field, owner)]) return 0;
  return raise_format("AttributeError", "'%s' object has no attribute '%s'", info->python_name, field->name);
}

/// Notes that a field of a draft is set.
__attribute__((noinline)) void note_set(AnyffiObject* self, const AnyffiFieldInfo* field) {
  const AnyffiRecord& record = own_record(self);
  const AnyffiRecord& owner = *anyffi_type_get_info(field->type_code)->record;
  Progress* progress = progress_of(self, record);
  if (std::exchange(progress->is_set[index_of(field, owner)], true)) return;
  progress->guarded -= owner.types[static_cast<size_t>(field - owner.fields.data())]->is_guarded;
  if (progress->guarded == 0 && record.completed != nullptr) {
    __atomic_store_n(&self->type_code, record.completed->type_code, __ATOMIC_RELEASE);
  }
  if (--progress->missing == 0) self->deleter = &destroy;
}

/* ---- members ---- */

/// Objects that the runtime made have their content at a fixed place; C++ has made others.
inline char* member_of(const AnyffiObject* self, const AnyffiFieldInfo* field) {
  auto* instance = reinterpret_cast<const AnyffiInstance*>(self);
  bool is_own = self->deleter == &destroy || self->deleter == &destroy_draft || self->type_code == field->type_code;
  void* content = is_own ? instance->content : anyffi_instance_get_content(self, field->type_code);
  return static_cast<char*>(content) + field->offset;
}

inline bool is_draft(const AnyffiObject* self) { return __builtin_expect(self->deleter == &destroy_draft, 0); }

template <class M>
int get_number(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* out) {
  *out = anyffi_make_none();
  if (is_draft(self) && check_set(self, field) != 0) return -1;
  *out = Traits<M>::store(*reinterpret_cast<const M*>(member_of(self, field)));
  return 0;
}

template <class M>
int set_number(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* value) {
  M number{};
  AnyffiMismatch why;
  if (!Traits<M>::load(*value, number, why)) return anyffi_mismatch_raise_field(&why, field);
  *reinterpret_cast<M*>(member_of(self, field)) = number;
  if (is_draft(self)) note_set(self, field);
  return 0;
}

int get_value(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* out) {
  *out = anyffi_make_none();
  if (is_draft(self) && check_set(self, field) != 0) return -1;
  *out = anyffi_own_element(reinterpret_cast<const AnyffiValue*>(member_of(self, field)));
  return 0;
}

int get_object(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* out) {
  *out = anyffi_make_none();
  if (is_draft(self) && check_set(self, field) != 0) return -1;
  auto* object = *reinterpret_cast<AnyffiObject**>(member_of(self, field));
  if (object == nullptr) return 0;
  *out = anyffi_make_object(object);
  anyffi_retain(object);
  return 0;
}

/// Converts a value to what the field holds.
bool load(const AnyffiFieldInfo* field, AnyffiValue* value, AnyValue& out, AnyffiMismatch& why) {
  const AnyffiRecord& record = *anyffi_type_get_info(field->type_code)->record;
  const FieldType& type = *record.types[static_cast<size_t>(field - record.fields.data())];
  return type.load(type, *value, out, why);
}

int set_value(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* value) {
  return detail::catch_all([&] {
    AnyValue made;
    AnyffiMismatch why;
    if (!load(field, value, made, why)) return anyffi_mismatch_raise_field(&why, field);
    // Once the field has the new value: releasing the former one may run code of users.
    auto* member = reinterpret_cast<AnyffiValue*>(member_of(self, field));
    AnyValue former(detail::Adopt{}, std::exchange(*member, made.release()));
    if (is_draft(self)) note_set(self, field);
    return 0;
  });
}

int set_object(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* value) {
  return detail::catch_all([&] {
    AnyValue made;
    AnyffiMismatch why;
    if (!load(field, value, made, why)) return anyffi_mismatch_raise_field(&why, field);
    auto** member = reinterpret_cast<AnyffiObject**>(member_of(self, field));
    AnyffiObject* former = std::exchange(*member, made.release().as_object);
    if (is_draft(self)) note_set(self, field);
    if (former != nullptr) anyffi_release(former);
    return 0;
  });
}

int visit_value(const void* member, AnyffiVisit visit, void* context) {
  auto* value = static_cast<const AnyffiValue*>(member);
  return value->type_code > 0 ? visit(value, context) : 0;
}

int visit_pointer(const void* member, AnyffiVisit visit, void* context) {
  AnyffiObject* object = *static_cast<AnyffiObject* const*>(member);
  if (object == nullptr) return 0;
  AnyffiValue value = anyffi_make_object(object);
  return visit(&value, context);
}

struct Storage {
  int64_t size;
  int64_t alignment;
  int (*get)(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* out);
  int (*set)(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* value);
  int (*visit)(const void* member, AnyffiVisit visit, void* context);
  AnyffiMemberType member_type; /* 0: of a class */
};

/// By AnyffiFieldStorage.
constexpr Storage kStorages[] = {
    {},
    {8, 8, &get_number<int64_t>, &set_number<int64_t>, nullptr, ANYFFI_MEMBER_INT64},
    {8, 8, &get_number<double>, &set_number<double>, nullptr, ANYFFI_MEMBER_FLOAT64},
    {1, 1, &get_number<bool>, &set_number<bool>, nullptr, ANYFFI_MEMBER_INT8},
    {16, 8, &get_value, &set_value, &visit_value, {}},
    {8, 8, &get_object, &set_object, &visit_pointer, {}},
};

/* ---- objects ---- */

void destroy(AnyffiObject* self, int32_t what) {
  auto* instance = reinterpret_cast<AnyffiInstance*>(self);
  if (what & ANYFFI_DELETE_CONTENTS) {
    if (self->weak_count & ANYFFI_WAS_WEAK) anyffi_instance_withdraw(instance);
    auto* content = static_cast<char*>(instance->content);
    for (const AnyffiRecord::Owner& owner : anyffi_type_get_info(self->type_code)->record->owners) {
      char* member = content + owner.offset;
      if (owner.is_value) {
        anyffi_value_drop(reinterpret_cast<AnyffiValue*>(member));
      } else if (auto* object = *reinterpret_cast<AnyffiObject**>(member)) {
        anyffi_release(object);
      }
    }
  }
  if (what & ANYFFI_DELETE_MEMORY) anyffi_free(self);
}

int visit_owners(const AnyffiValue* self, AnyffiVisit visit, void* context) {
  auto* instance = reinterpret_cast<const AnyffiInstance*>(self->as_object);
  if (instance->owner != nullptr) {
    AnyffiValue owner = anyffi_make_object(instance->owner);
    return visit(&owner, context);
  }
  const AnyffiRecord& record = *find_record(self->type_code);
  auto* content = static_cast<const char*>(anyffi_instance_get_content(self->as_object, record.type_code));
  for (const AnyffiRecord::Owner& owner : record.owners) {
    const char* member = content + owner.offset;
    int status = owner.is_value ? visit_value(member, visit, context) : visit_pointer(member, visit, context);
    if (status != 0) return status;
  }
  return 0;
}

/* ---- declarations ---- */

/// Text that is never freed.
const char* keep(const String& text) {
  auto* kept = static_cast<char*>(anyffi_alloc(text.size() + 1));
  if (kept == nullptr) throw std::bad_alloc();
  std::memcpy(kept, text.c_str(), text.size() + 1);
  return kept;
}

String text_of(const AnyValue& value) {
  Bytes utf8 = value.cast<anyffi::String>().utf8();
  return String(reinterpret_cast<const char*>(utf8.data()), static_cast<size_t>(utf8.size()));
}

const char* keep_doc(const AnyValue& doc) { return doc.is_none() ? nullptr : keep(text_of(doc)); }

void add_field(AnyffiRecord& record, const Array<>& row, SelfTypes& selves) {
  const FieldType* type = make_field_type(row[2].cast<Array<>>(), selves);
  const Storage& storage = kStorages[type->storage];
  AnyffiFieldInfo field{};
  field.name = keep(text_of(row[0]));
  field.doc = keep_doc(row[1]);
  field.type_name = type->name.c_str();
  field.get = storage.get;
  field.set = storage.set;
  field.visit = type->refers ? storage.visit : nullptr;
  field.offset = (record.end + storage.alignment - 1) / storage.alignment * storage.alignment;
  field.storage = type->storage;
  record.end = field.offset + storage.size;
  record.alignment = std::max(record.alignment, storage.alignment);
  if (storage.visit != nullptr) record.owners.push_back({field.offset, type->storage == ANYFFI_STORED_VALUE});
  record.fields.push_back(field);
  record.types.push_back(type);
}

/// The leading numbers of a struct without a base, as `members_of` in layout.h finds them.
uint64_t members_of(const AnyffiRecord& record) {
  uint64_t members = 0;
  int shift = 0;
  if (record.parent != nullptr) return 0;
  for (const AnyffiFieldInfo& field : record.fields) {
    uint64_t member = kStorages[field.storage].member_type;
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
  for (const AnyffiRecord* x = &record; x != nullptr; x = x->parent) {
    for (const AnyffiFieldInfo& field : x->fields) {
      if (field.visit != nullptr) return true;
    }
  }
  return false;
}

/// The records of a type, those of its ancestors first.
Vector<const AnyffiRecord*> line_of(const AnyffiRecord& record) {
  Vector<const AnyffiRecord*> line;
  for (const AnyffiRecord* x = &record; x != nullptr; x = x->parent) line.insert(line.begin(), x);
  return line;
}

/* ---- structs of C++ ---- */

/// What a struct in a library expects of the type of a key.
struct Expected {
  String key;
  const AnyffiFieldInfo* fields;
  int32_t num_fields;
};

/// Never destroyed, as types.
struct Expectations {
  std::mutex mutex;
  Vector<Expected> list;
};

Expectations& expectations() {
  static auto* made = new Expectations();
  return *made;
}

/// `x: int at 0`
String show_field(const AnyffiFieldInfo* field) {
  if (field == nullptr) return "no field";
  String text = field->name;
  return text + ": " + field->type_name + " at " + std::to_string(field->offset).c_str();
}

bool agrees(const AnyffiFieldInfo& declared, const AnyffiFieldInfo& expected) {
  if (std::strcmp(declared.name, expected.name) != 0 || declared.offset != expected.offset) return false;
  if (declared.storage != expected.storage) return false;
  // An AnyValue holds values of all types, and an ObjectRef all objects.
  bool is_any = std::strcmp(expected.type_name, "Any") == 0 || std::strcmp(expected.type_name, "Object") == 0;
  return is_any || std::strcmp(declared.type_name, expected.type_name) == 0;
}

/// Raises the first difference between the fields of a type and those that a struct expects.
int compare_fields(const char* key, const AnyffiRecord& record, const AnyffiFieldInfo* fields, int32_t num_fields) {
  auto num_declared = static_cast<int32_t>(record.fields.size());
  for (int32_t i = 0; i < std::max(num_fields, num_declared); ++i) {
    const AnyffiFieldInfo* declared = i < num_declared ? &record.fields[static_cast<size_t>(i)] : nullptr;
    const AnyffiFieldInfo* expected = i < num_fields ? &fields[i] : nullptr;
    if (declared != nullptr && expected != nullptr && agrees(*declared, *expected)) continue;
    return raise_format(
        "ValueError",
        "the struct in C++ of type '%s' differs from the class in Python: field %d is %s in C++, and %s "
        "in Python; write the struct again by python -m anyffi stubgen --cpp",
        key, i, show_field(expected).c_str(), show_field(declared).c_str());
  }
  return 0;
}

/// The type of the drafts of a record with guarded fields.
int32_t declare_drafts(const AnyffiRecord& record, const AnyffiTypeInfo& completed) {
  auto* draft = new AnyffiRecord(record);
  draft->completed = &record;
  draft->num_inherited = 0;
  draft->fields.clear();
  draft->types.clear();
  for (const AnyffiRecord* owner : line_of(record)) {
    draft->fields.insert(draft->fields.end(), owner->fields.begin(), owner->fields.end());
    draft->types.insert(draft->types.end(), owner->types.begin(), owner->types.end());
  }
  AnyffiTypeInfo info = describe(*draft, keep(String(completed.type_key) + " (not initialized)"));
  info.python_name = anyffi_type_get_info(record.type_code)->python_name;
  info.visit_children = completed.visit_children;
  detail::check(declare_type(info, draft->fields.data(), &draft->type_code));
  return draft->type_code;
}

/// Marks the types of fields for which there is no initial value. That of the type itself is one without such fields.
void guard(AnyffiRecord& record, const SelfTypes& selves) {
  record.num_guarded = record.parent == nullptr ? 0 : record.parent->num_guarded;
  for (const FieldType* type : record.types) record.num_guarded += type->is_guarded;
  if (record.num_guarded == 0) return;
  for (FieldType* self : selves.types) {
    self->is_guarded = true;
    for (const FieldType* type : record.types) record.num_guarded += type == self;
  }
}

AnyffiInstance* allocate(int32_t type_code, const AnyffiRecord& record, bool is_draft) {
  int64_t size = record.size();
  auto num_fields = record.num_inherited + record.fields.size();
  if (is_draft) size = (size + 7) / 8 * 8 + static_cast<int64_t>(sizeof(Progress) + num_fields);
  auto* instance = static_cast<AnyffiInstance*>(anyffi_alloc(static_cast<size_t>(kContentOffset + size)));
  if (instance == nullptr) return nullptr;
  instance->header = AnyffiObject{type_code, 1, 1, &destroy, nullptr};
  instance->content = reinterpret_cast<char*>(instance) + kContentOffset;
  instance->owner = nullptr;
  std::memset(instance->content, 0, static_cast<size_t>(size));
  return instance;
}

/// Gives all fields that can have one an initial value.
void fill(AnyffiInstance* instance, const AnyffiRecord& record) {
  for (const AnyffiRecord* owner = &record; owner != nullptr; owner = owner->completed ? nullptr : owner->parent) {
    for (size_t i = 0; i < owner->fields.size(); ++i) {
      const FieldType& type = *owner->types[i];
      char* member = static_cast<char*>(instance->content) + owner->fields[i].offset;
      if (type.is_guarded) continue;
      if (type.storage == ANYFFI_STORED_VALUE) {
        *reinterpret_cast<AnyffiValue*>(member) = type.make_initial(type).release();
      } else if (type.storage == ANYFFI_STORED_OBJECT) {
        *reinterpret_cast<AnyffiObject**>(member) = type.make_initial(type).release().as_object;
      }
    }
  }
}

}  // namespace

const AnyffiRecord& record_of(int32_t type_code) {
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  if (info == nullptr || info->record == nullptr) throw Error("ValueError", "not the type of a record");
  return *info->record;
}

DeclaredRecord declare_record(const String& key, const AnyValue& doc, int32_t parent, const Array<Array<>>& fields) {
  auto* record = new AnyffiRecord();
  if (parent != ANYFFI_OBJECT) {
    record->parent = &record_of(parent);
    record->end = record->parent->end == 0 ? 0 : record->parent->size();
    record->alignment = record->parent->alignment;
    record->owners = record->parent->owners;
    record->num_inherited = record->parent->num_inherited + record->parent->fields.size();
  }
  SelfTypes selves{key, {}};
  for (const Array<>& row : fields) add_field(*record, row, selves);
  guard(*record, selves);
  AnyffiTypeInfo info = describe(*record, keep(key));
  info.doc = keep_doc(doc);
  info.parent = parent;
  if (refers(*record)) info.visit_children = &visit_owners;
  Expectations& all = expectations();
  std::lock_guard<std::mutex> lock(all.mutex);
  for (const Expected& expected : all.list) {
    if (expected.key != key) continue;
    detail::check(compare_fields(info.type_key, *record, expected.fields, expected.num_fields));
  }
  detail::check(declare_type(info, record->fields.data(), &record->type_code));
  for (FieldType* self : selves.types) self->type_code = record->type_code;
  return {record->type_code, record->num_guarded == 0 ? record->type_code : declare_drafts(*record, info)};
}

bool has_placeholder(int32_t type_code) noexcept {
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  return info != nullptr && info->record != nullptr && info->record->num_guarded == 0;
}

AnyValue placeholder_of(int32_t type_code) {
  const AnyffiRecord& record = record_of(type_code);
  // Never released. Of several threads one prevails.
  AnyffiObject* found = __atomic_load_n(&record.placeholder, __ATOMIC_ACQUIRE);
  if (found == nullptr) {
    AnyffiInstance* made = allocate(type_code, record, false);
    if (made == nullptr) throw std::bad_alloc();
    // Before it is filled: its own fields may refer to it.
    AnyffiObject* expected = nullptr;
    if (__atomic_compare_exchange_n(&record.placeholder, &expected, &made->header, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
      fill(made, record);
      found = &made->header;
    } else {
      anyffi_release(&made->header);
      found = expected;
    }
  }
  anyffi_retain(found);
  return AnyValue(detail::Adopt{}, anyffi_make_object(found));
}

AnyValue create_draft(int32_t type_code) {
  const AnyffiRecord& record = record_of(type_code);
  AnyffiInstance* made = allocate(type_code, record, true);
  if (made == nullptr) throw std::bad_alloc();
  AnyValue held(detail::Adopt{}, anyffi_make_object(&made->header));
  fill(made, record);
  Progress* progress = progress_of(&made->header, record);
  progress->missing = static_cast<int32_t>(record.num_inherited + record.fields.size());
  progress->guarded = record.num_guarded;
  if (progress->missing > 0) made->header.deleter = &destroy_draft;
  return held;
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_type_check_fields(const char* type_key, const AnyffiFieldInfo* fields, int32_t num_fields) {
  return guard([&] {
    Expectations& all = expectations();
    std::lock_guard<std::mutex> lock(all.mutex);
    const AnyffiTypeInfo* info = anyffi_type_find(type_key);
    if (info != nullptr && info->record != nullptr) {
      if (int status = compare_fields(type_key, *info->record, fields, num_fields)) return status;
    }
    all.list.push_back({type_key, fields, num_fields});
    return 0;
  });
}

int anyffi_record_create(int32_t type_code, AnyffiValue* out) {
  *out = anyffi_make_none();
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  if (info == nullptr || info->record == nullptr) {
    return anyffi_error_raise("ValueError", "not the type of a record");
  }
  AnyffiInstance* made = allocate(type_code, *info->record, false);
  if (made == nullptr) return raise_no_memory();
  *out = anyffi_make_object(&made->header);
  return 0;
}
