/// \file
/// The fields of records: reads, writes and visits them.
#include <utility>

#include "core/errors.h"
#include "records/layout.h"

namespace anyffi::runtime {
namespace {

static_assert(kContentOffset % 16 == 0, "the content is aligned");

/* ---- drafts ---- */

const AnyffiRecord& own_record(const AnyffiObject* self) { return *anyffi_type_get_info(self->type_code)->record; }

/// The index of a field among a record's own fields. The field may belong to an earlier declaration of the same type,
/// which front ends may still hold.
size_t own_index_of(const AnyffiFieldInfo* field, const AnyffiRecord& owner) noexcept {
  const AnyffiFieldInfo* fields = owner.fields.data();
  size_t index = (reinterpret_cast<uintptr_t>(field) - reinterpret_cast<uintptr_t>(fields)) / sizeof(*field);
  if (__builtin_expect(index < owner.fields.size() && fields + index == field, 1)) return index;
  index = 0;
  while (index + 1 < owner.fields.size() && fields[index].offset != field->offset) ++index;
  return index;
}

/// The index of a field among all fields of a record.
size_t index_of(const AnyffiFieldInfo* field, const AnyffiRecord& owner) noexcept {
  return owner.num_inherited + own_index_of(field, owner);
}

/// Returns 0, or -1 with an AttributeError if the field of a draft is not set yet.
__attribute__((noinline)) int check_set(const AnyffiObject* self, const AnyffiFieldInfo* field) {
  const AnyffiTypeInfo* info = anyffi_type_get_info(self->type_code);
  const AnyffiRecord& owner = *anyffi_type_get_info(field->type_code)->record;
  if (progress_of(const_cast<AnyffiObject*>(self), *info->record)->is_set[index_of(field, owner)]) return 0;
  return raise_format("AttributeError", "'%s' object has no attribute '%s'", info->python_name, field->name);
}

/// Records that a field of a draft is set; the last one completes the draft.
__attribute__((noinline)) void note_set(AnyffiObject* self, const AnyffiFieldInfo* field) {
  const AnyffiRecord& record = own_record(self);
  const AnyffiRecord& owner = *anyffi_type_get_info(field->type_code)->record;
  Progress* progress = progress_of(self, record);
  if (std::exchange(progress->is_set[index_of(field, owner)], true)) return;
  if (record.has_base()) {
    if (--progress->missing == 0) self->deleter = &anyffi_record_destroy;
    return;
  }
  progress->guarded -= owner.types[own_index_of(field, owner)]->is_guarded;
  if (progress->guarded == 0 && record.completed != nullptr) {
    __atomic_store_n(&self->type_code, record.completed->type_code, __ATOMIC_RELEASE);
  }
  if (--progress->missing == 0) self->deleter = &anyffi_record_destroy;
}

/* ---- members ---- */

using Place = char* (*)(AnyffiObject* self, const AnyffiFieldInfo* field);

/// The runtime's objects have their content at a fixed offset; objects that C++ made do not.
inline char* find_member(AnyffiObject* self, const AnyffiFieldInfo* field) {
  bool is_own = self->deleter == &anyffi_record_destroy || self->deleter == &destroy_draft;
  if (__builtin_expect(is_own, 1)) return content_of_own(self) + field->offset;
  void* content = self->type_code == field->type_code ? reinterpret_cast<AnyffiInstance*>(self)->content
                                                      : anyffi_instance_get_content(self, field->type_code);
  return static_cast<char*>(content) + field->offset;
}

/// For records that derive from a C++ class, whose objects only the runtime makes.
inline char* find_member_behind(AnyffiObject* self, const AnyffiFieldInfo* field) {
  return content_of_own(self) + field->offset;
}

inline bool is_draft(const AnyffiObject* self) { return __builtin_expect(self->deleter == &destroy_draft, 0); }

template <Place kPlace, class M>
int get_number(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* out) {
  *out = anyffi_make_none();
  if (is_draft(self) && check_set(self, field) != 0) return -1;
  *out = Traits<M>::store(*reinterpret_cast<const M*>(kPlace(self, field)));
  return 0;
}

/// Raises the error about a value, with the name of the completed type for a draft. Always -1.
int refuse(const AnyffiMismatch& why, const AnyffiFieldInfo* field) {
  const AnyffiRecord* completed = anyffi_type_get_info(field->type_code)->record->completed;
  if (completed != nullptr) field = anyffi_type_find_field(completed->type_code, field->name);
  return anyffi_mismatch_raise_field(&why, field);
}

template <Place kPlace, class M>
int set_number(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* value) {
  M number{};
  AnyffiMismatch why;
  if (!Traits<M>::load(*value, number, why)) return refuse(why, field);
  *reinterpret_cast<M*>(kPlace(self, field)) = number;
  if (is_draft(self)) note_set(self, field);
  return 0;
}

template <Place kPlace>
int get_value(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* out) {
  *out = anyffi_make_none();
  if (is_draft(self) && check_set(self, field) != 0) return -1;
  *out = anyffi_own_element(reinterpret_cast<const AnyffiValue*>(kPlace(self, field)));
  return 0;
}

template <Place kPlace>
int get_object(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* out) {
  *out = anyffi_make_none();
  if (is_draft(self) && check_set(self, field) != 0) return -1;
  auto* object = *reinterpret_cast<AnyffiObject**>(kPlace(self, field));
  if (object == nullptr) return 0;
  if (object->type_code == ANYFFI_BOX) {
    *out = anyffi_own_element(&reinterpret_cast<const AnyffiBox*>(object)->value);
    return 0;
  }
  *out = anyffi_make_object(object);
  anyffi_retain(object);
  return 0;
}

/// Converts a value to the type of the field.
bool load(const AnyffiFieldInfo* field, AnyffiValue* value, AnyValue& out, AnyffiMismatch& why) {
  const AnyffiRecord& record = *anyffi_type_get_info(field->type_code)->record;
  const FieldType& type = *record.types[own_index_of(field, record)];
  return type.load(type, *value, out, why);
}

/// Stores a new value in a member, and returns the former one.
AnyValue exchange(AnyffiValue* member, AnyValue made) noexcept {
  return AnyValue(detail::Adopt{}, std::exchange(*member, made.release()));
}
AnyValue exchange(AnyffiObject** member, AnyValue made) noexcept {
  AnyffiObject* former = std::exchange(*member, made.release().as_object);
  return former == nullptr ? AnyValue() : AnyValue(detail::Adopt{}, anyffi_make_object(former));
}

/// For a member that is an owned value (AnyffiValue) or a reference (AnyffiObject*).
template <Place kPlace, class M>
int set_owned(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* value) {
  return detail::catch_all([&] {
    AnyValue made;
    AnyffiMismatch why;
    if (!load(field, value, made, why)) return refuse(why, field);
    // Released last: releasing the former value may run users' code, which must see the new one.
    AnyValue former = exchange(reinterpret_cast<M*>(kPlace(self, field)), std::move(made));
    if (is_draft(self)) note_set(self, field);
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

/// Indexed by AnyffiFieldStorage.
template <Place kPlace>
constexpr Storage kStorages[] = {
    {},
    {8, 8, &get_number<kPlace, int64_t>, &set_number<kPlace, int64_t>, nullptr, ANYFFI_MEMBER_INT64},
    {8, 8, &get_number<kPlace, double>, &set_number<kPlace, double>, nullptr, ANYFFI_MEMBER_FLOAT64},
    {1, 1, &get_number<kPlace, bool>, &set_number<kPlace, bool>, nullptr, ANYFFI_MEMBER_INT8},
    {16, 8, &get_value<kPlace>, &set_owned<kPlace, AnyffiValue>, &visit_value, {}},
    {8, 8, &get_object<kPlace>, &set_owned<kPlace, AnyffiObject*>, &visit_pointer, {}},
};

}  // namespace

const Storage& find_storage(int32_t storage, bool has_base) noexcept {
  return has_base ? kStorages<&find_member_behind>[storage] : kStorages<&find_member>[storage];
}

int visit_owners(const AnyffiValue* self, AnyffiVisit visit, void* context) {
  auto* instance = reinterpret_cast<const AnyffiInstance*>(self->as_object);
  const AnyffiRecord& record = *find_record(self->as_object->type_code);
  if (instance->owner != nullptr) {
    AnyffiValue owner = anyffi_make_object(instance->owner);
    int status = visit(&owner, context);
    // The owner visits the fields, unless it is the C++ base.
    if (status != 0 || !record.has_base()) return status;
  }
  const char* content = record.has_base()
                            ? content_of_own(self->as_object)
                            : static_cast<char*>(anyffi_instance_get_content(self->as_object, record.type_code));
  for (const AnyffiRecord::Owner& owner : record.owners) {
    const char* member = content + owner.offset;
    int status = owner.is_value ? visit_value(member, visit, context) : visit_pointer(member, visit, context);
    if (status != 0) return status;
  }
  return 0;
}

}  // namespace anyffi::runtime
