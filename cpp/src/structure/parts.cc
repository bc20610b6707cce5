/// \file
/// The structure of types, and the parts of their values.
#include "structure/parts.h"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "core/errors.h"
#include "core/immortal.h"
#include "core/mutex.h"
#include "records/record.h"
#include "structure/leaves.h"
#include "values/containers.h"

namespace anyffi::runtime {
namespace {

constexpr const char* kSliceParts[] = {"start", "stop", "step"};

/// The settings of `anyffi_type_set_structure`, by type and field.
struct Structures {
  struct Row {
    String field; /* empty: the type itself */
    int32_t structure;
  };
  Mutex mutex;
  std::map<int32_t, Vector<Row>, std::less<>, Allocator<std::pair<const int32_t, Vector<Row>>>> of_type;
};

/// Whether any type was ever declared as ANYFFI_STRUCTURE_DAG.
std::atomic<bool> has_dags{false};

Structures& structures() {
  static Immortal<Structures> made;
  return *made;
}

}  // namespace

bool may_meet_dags() noexcept { return has_dags.load(std::memory_order_relaxed); }

void reset_structure(int32_t type_code) noexcept {
  Structures& known = structures();
  std::lock_guard<Mutex> lock(known.mutex);
  known.of_type.erase(type_code);
}

AnyffiObject* find_method(const AnyffiTypeInfo& info, const char* name, uint32_t flag) noexcept {
  for (int32_t i = 0; i < info.num_methods; ++i) {
    const AnyffiMethodInfo& method = info.methods[i];
    if (flag != 0 ? (method.flags & flag) != 0 : std::strcmp(method.name, name) == 0) return method.function;
  }
  return nullptr;
}

ObjectTypes::~ObjectTypes() {
  for (ObjectType* type : types_) {
    if (type == nullptr) continue;
    type->~ObjectType();
    anyffi_free(type);
  }
}

/// Applies the settings for a type's ancestors, then those for the type itself.
static void find_structures(ObjectType* type) {
  const AnyffiTypeInfo& info = *type->info;
  Structures& known = structures();
  std::lock_guard<Mutex> lock(known.mutex);
  for (int32_t depth = 0; depth <= info.depth && !known.of_type.empty(); ++depth) {
    auto found = known.of_type.find(depth < info.depth ? info.ancestors[depth] : info.type_code);
    if (found == known.of_type.end()) continue;
    for (const Structures::Row& row : found->second) {
      if (row.field.empty()) type->structure = row.structure;
      for (Part& part : type->fields) {
        if (row.field == part.field->name) part.structure = row.structure;
      }
    }
  }
  for (const Part& part : type->fields) type->is_scope |= part.structure == ANYFFI_STRUCTURE_DEFINES;
}

const ObjectType& ObjectTypes::add(int32_t type_code) {
  auto index = static_cast<size_t>(type_code - ANYFFI_FIRST_DYNAMIC_TYPE);
  if (index >= types_.size()) types_.resize(index + 1, nullptr);
  const AnyffiTypeInfo& info = *anyffi_type_get_info(type_code);
  auto* type =
      new (Allocator<ObjectType>().allocate(1)) ObjectType{&info, Form::kLeaf, 0, false, false, 0, {}, nullptr};
  types_[index] = type;
  for (int32_t depth = 0; depth <= info.depth; ++depth) {
    const AnyffiTypeInfo& owner = depth < info.depth ? *anyffi_type_get_info(info.ancestors[depth]) : info;
    for (int32_t i = 0; i < owner.num_fields; ++i) {
      const AnyffiFieldInfo& field = owner.fields[i];
      if (field.get == nullptr) continue;
      type->fields.push_back(Part{&field, ANYFFI_STRUCTURE_PLAIN});
    }
  }
  type->key_hash = hash_key_of_type(info.type_key);
  if (find_method(info, "", ANYFFI_RESTORE) != nullptr) type->get_state = find_method(info, "__getstate__", 0);
  // A record has nothing but its fields, also if there are none, unless it has a part of C++.
  type->has_fields = !type->fields.empty() || (info.record != nullptr && !info.record->has_base());
  if (type->has_fields) {
    type->form = Form::kFields;
  } else if (type->get_state != nullptr) {
    type->form = Form::kState;
  }
  find_structures(type);
  if (type->structure == ANYFFI_STRUCTURE_IDENTITY) type->form = Form::kLeaf;
  return *type;
}

const char* name_part(const ObjectType* type, int64_t index) noexcept {
  if (type == nullptr) return kSliceParts[index];
  return type->form == Form::kState ? kStateName : type->fields[static_cast<size_t>(index)].field->name;
}

int get_state(const ObjectType& type, AnyffiObject* object, AnyffiValue* out) noexcept {
  *out = anyffi_make_none();
  AnyffiValue self = anyffi_make_object(object);
  AnyffiValue function = anyffi_make_object(type.get_state);
  if (anyffi_function_call(&function, &self, 1, out) != 0) return -1;
  if (out->type_code > 0) out->aux = 0;
  return 0;
}

int get_part(const ObjectType* type, AnyffiObject* object, int64_t index, AnyffiValue* out) noexcept {
  *out = anyffi_make_none();
  if (type == nullptr) {
    auto* slice = reinterpret_cast<AnyffiSlice*>(object);
    *out = anyffi_own_element(index == 0 ? &slice->start : index == 1 ? &slice->stop : &slice->step);
    return 0;
  }
  if (type->form == Form::kState) return get_state(*type, object, out);
  const AnyffiFieldInfo* field = type->fields[static_cast<size_t>(index)].field;
  if (field->get(object, field, out) != 0) return -1;
  // A copied container has flags that tell front ends to convert it; a part must not.
  if (out->type_code > 0) out->aux = 0;
  return 0;
}

int next_part(const AnyffiValue& value, Form form, const ObjectType* type, Position* position, Owned* out,
              bool* out_is_shared) noexcept {
  if (form == Form::kLeaf) return 0;
  int64_t* index = &position->index;
  if (form == Form::kSequence) {
    const AnyffiSequence* sequence = as_sequence(value.as_object);
    if (*index >= sequence->size) return 0;
    *out = retained(unboxed(sequence->data[(*index)++]));
  } else if (form == Form::kMapping || form == Form::kSet) {
    const AnyffiMapping* mapping = as_mapping(value.as_object);
    // Each entry of a mapping has two steps.
    int shift = form == Form::kMapping ? 1 : 0;
    bool is_value = shift != 0 && (*index & 1) != 0;
    if (is_value) {
      const AnyffiEntry* entry = mapping->entries + (*index >> 1);
      bool is_there =
          *index >> 1 < mapping->used && entry->key.type_code != ANYFFI_UNSET && entry->key.as_int == position->key;
      if (!is_there) return anyffi_error_raise("RuntimeError", "a Dict was changed while its parts were read");
    }
    while (*index >> shift < mapping->used && mapping->entries[*index >> shift].key.type_code == ANYFFI_UNSET) {
      *index += 1 + shift;
    }
    if (*index >> shift >= mapping->used) return 0;
    const AnyffiEntry& entry = mapping->entries[*index >> shift];
    *out = retained(is_value ? entry.value : entry.key);
    position->key = entry.key.as_int;
    ++*index;
  } else if (form == Form::kState) {
    if ((*index)++ != 0) return 0;
    if (get_state(*type, value.as_object, out->out()) != 0) return -1;
  } else {
    if (*index >= count_parts(type)) return 0;
    AnyffiValue part;
    if (peek_part(type, value.as_object, *index, &part)) {
      *out = retained(unboxed(part));
    } else {
      if (get_part(type, value.as_object, *index, &part) != 0) return -1;
      *out = Owned(part);
      if (part.type_code == ANYFFI_BOX) *out = retained(unboxed(part));
    }
    ++*index;
  }
  *out_is_shared = is_shared(*out->get(), 1);
  return 1;
}

}  // namespace anyffi::runtime

int anyffi_type_set_structure(int32_t type_code, const char* field, int32_t structure) {
  using namespace anyffi::runtime;
  bool is_plain = structure == ANYFFI_STRUCTURE_PLAIN || structure == ANYFFI_STRUCTURE_IDENTITY;
  bool is_of_types = structure == ANYFFI_STRUCTURE_VARIABLE || structure == ANYFFI_STRUCTURE_DAG;
  bool fits = is_plain || (field == nullptr ? is_of_types : structure > 0 && structure < ANYFFI_STRUCTURE_VARIABLE);
  const AnyffiTypeInfo* info = type_code < ANYFFI_FIRST_DYNAMIC_TYPE ? nullptr : anyffi_type_get_info(type_code);
  if (info == nullptr) return anyffi_error_raise("ValueError", "only registered types have a structure to be set");
  if (!fits) {
    return raise_format("ValueError", "structure of '%s': %s", info->type_key,
                        field == nullptr ? "classes are plain, compared by identity, variables, or nodes of a DAG"
                                         : "fields are plain, ignored, compared by identity, or bind variables");
  }
  if (field != nullptr && anyffi_type_find_field(type_code, field) == nullptr) {
    return raise_format("ValueError", "structure of '%s': there is no field '%s'", info->type_key, field);
  }
  if (structure == ANYFFI_STRUCTURE_DAG) has_dags.store(true, std::memory_order_relaxed);
  return guard([&] {
    Structures& known = structures();
    std::lock_guard<Mutex> lock(known.mutex);
    Vector<Structures::Row>& rows = known.of_type[type_code];
    String name = field == nullptr ? "" : field;
    for (Structures::Row& row : rows) {
      if (row.field == name) return row.structure = structure, 0;
    }
    rows.push_back(Structures::Row{name, structure});
    return 0;
  });
}
