/// \file
/// The objects of records.
#include <cstring>
#include <utility>

#include "core/errors.h"
#include "records/layout.h"

namespace anyffi::runtime {
namespace {

AnyffiInstance* allocate(int32_t type_code, const AnyffiRecord& record, bool is_draft) {
  int64_t size = record.size();
  auto num_fields = record.num_inherited + record.fields.size();
  if (is_draft) size = (size + 7) / 8 * 8 + static_cast<int64_t>(sizeof(Progress) + num_fields);
  auto* instance = static_cast<AnyffiInstance*>(anyffi_alloc(static_cast<size_t>(kContentOffset + size)));
  if (instance == nullptr) return nullptr;
  instance->header = AnyffiObject{type_code, 1, 1, &anyffi_record_destroy, nullptr};
  instance->content = reinterpret_cast<char*>(instance) + kContentOffset;
  instance->owner = nullptr;
  std::memset(instance->content, 0, static_cast<size_t>(size));
  return instance;
}

/// Sets all fields that have an initial value to it.
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

/// Throws unless `base` is a new object of the class from which a record derives.
void require_base(const AnyffiRecord& record, const AnyffiValue& base) {
  const char* name = anyffi_type_get_info(record.base_code)->type_key;
  if (base.type_code <= 0 || base.as_object->type_code != record.base_code) {
    detail::check(raise_format("TypeError", "the constructor of %s has returned an object of another class", name));
  }
  if (!anyffi_is_held_once(base.as_object)) {
    detail::check(raise_format("TypeError",
                               "the constructor of %s has returned an object to which others refer: it cannot be a "
                               "part of another one",
                               name));
  }
}

/// Makes a new C++ object the base of a record's object. Throws on failure.
void join(AnyffiInstance* instance, const AnyffiValue& base) {
  auto* part = reinterpret_cast<AnyffiInstance*>(base.as_object);
  instance->content = part->content;
  instance->owner = base.as_object;
  anyffi_retain(base.as_object);
  bool is_enrolled = (part->header.weak_count & ANYFFI_IS_ENROLLED) != 0;
  if (is_enrolled && anyffi_instance_enroll(instance, nullptr) != 0) {
    instance->content = nullptr;
    instance->owner = nullptr;
    anyffi_release(base.as_object);
    detail::check(-1);
  }
  // From now on, pointers to the content refer to the whole object.
  anyffi_instance_withdraw(part);
}

}  // namespace

void destroy_draft(AnyffiObject* self, int32_t what) { anyffi_record_destroy(self, what); }

bool has_placeholder(int32_t type_code) noexcept {
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  return info != nullptr && info->record != nullptr && !info->record->has_draft_type();
}

AnyValue placeholder_of(int32_t type_code) {
  const AnyffiRecord& record = record_of(type_code);
  // Never released. If several threads create it, the first one to publish wins.
  AnyffiObject* found = __atomic_load_n(&record.placeholder, __ATOMIC_ACQUIRE);
  if (found == nullptr) {
    AnyffiInstance* made = allocate(type_code, record, false);
    if (made == nullptr) throw std::bad_alloc();
    // Published before it is filled, because its own fields may refer to it.
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
  if (record.has_draft_type() && record.completed == nullptr) throw Error("ValueError", "not a type of drafts");
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

void set_base(AnyffiObject* draft, const AnyffiValue& base) {
  const AnyffiRecord& record = record_of(draft->type_code);
  auto* instance = reinterpret_cast<AnyffiInstance*>(draft);
  if (!record.has_base() || record.completed == nullptr) throw Error("TypeError", "the object has its base already");
  require_base(record, base);
  join(instance, base);
  __atomic_store_n(&draft->type_code, record.completed->type_code, __ATOMIC_RELEASE);
}

AnyValue create_on_base(int32_t type_code, const AnyffiValue& base) {
  const AnyffiRecord& record = record_of(type_code);
  if (record.completed != nullptr) {
    const char* name = anyffi_type_get_info(type_code)->python_name;
    throw Error("TypeError", String("an object of ") + name +
                                 " that is not initialized cannot be made again: the constructor of its base in C++ "
                                 "was not called");
  }
  require_base(record, base);
  AnyffiInstance* made = allocate(type_code, record, false);
  if (made == nullptr) throw std::bad_alloc();
  AnyValue held(detail::Adopt{}, anyffi_make_object(&made->header));
  // Fills the fields before `content` becomes that of the base.
  fill(made, record);
  join(made, base);
  return held;
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_record_create(int32_t type_code, AnyffiValue* out) {
  *out = anyffi_make_none();
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  if (info == nullptr || info->record == nullptr) {
    return anyffi_error_raise("ValueError", "not the type of a record");
  }
  if (info->record->has_base()) {
    return raise_format("TypeError", "objects of '%s' are made by its class", info->type_key);
  }
  AnyffiInstance* made = allocate(type_code, *info->record, false);
  if (made == nullptr) return raise_no_memory();
  *out = anyffi_make_object(&made->header);
  return 0;
}

void anyffi_record_destroy(AnyffiObject* self, int32_t what) {
  auto* instance = reinterpret_cast<AnyffiInstance*>(self);
  if (what & ANYFFI_DELETE_CONTENTS) {
    char* content = content_of_own(self);
    for (const AnyffiRecord::Owner& owner : anyffi_type_get_info(self->type_code)->record->owners) {
      char* member = content + owner.offset;
      if (owner.is_value) {
        anyffi_value_drop(reinterpret_cast<AnyffiValue*>(member));
      } else if (auto* object = *reinterpret_cast<AnyffiObject**>(member)) {
        anyffi_release(object);
      }
    }
    if (instance->owner != nullptr) anyffi_release(std::exchange(instance->owner, nullptr));
  }
  if (what & ANYFFI_DELETE_MEMORY) anyffi_free(self);
}
