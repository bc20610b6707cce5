/// \file
/// The parts of values: how they are enumerated and read.
#ifndef ANYFFI_SRC_STRUCTURE_PARTS_H_
#define ANYFFI_SRC_STRUCTURE_PARTS_H_

#include <anyffi/c_api.h>

#include <cstring>

#include "core/memory.h"
#include "core/owned.h"
#include "records/layout.h"

namespace anyffi::runtime {

/// How a value has parts: not at all; elements; keys and values; unordered elements; start, stop and step; fields; or
/// the result of `__getstate__`, for an object without fields that can be pickled.
enum class Form : uint8_t { kLeaf, kSequence, kMapping, kSet, kSlice, kFields, kState };

/// A field, and its AnyffiStructure.
struct Part {
  const AnyffiFieldInfo* field;
  int32_t structure;
};

/// A type of objects, as seen by `structural_equal` and the other operations on structure.
struct ObjectType {
  const AnyffiTypeInfo* info;
  Form form;
  int32_t structure;       /* AnyffiStructure */
  bool is_scope;           /* some field binds variables for the fields after it */
  bool has_fields;         /* its objects consist of their fields; a record may have none */
  uint64_t key_hash;       /* the same in every process */
  Vector<Part> fields;     /* those of ancestors first */
  AnyffiObject* get_state; /* the function `__getstate__`, or NULL */
};

/// Whether the identity of repeated objects matters for a type. An object without parts equals only itself anyway.
inline bool is_dag_node(const ObjectType& type) noexcept {
  return type.structure == ANYFFI_STRUCTURE_DAG && type.form != Form::kLeaf;
}

/// A cache of types, for one operation.
class ObjectTypes {
 public:
  ObjectTypes() = default;
  ObjectTypes(const ObjectTypes&) = delete;
  ObjectTypes& operator=(const ObjectTypes&) = delete;
  ~ObjectTypes();

  const ObjectType& find(int32_t type_code) {
    auto index = static_cast<size_t>(type_code - ANYFFI_FIRST_DYNAMIC_TYPE);
    if (index < types_.size() && types_[index] != nullptr) return *types_[index];
    return add(type_code);
  }

 private:
  const ObjectType& add(int32_t type_code);

  Vector<ObjectType*> types_;
};

/// The form of a type with a fixed code; kFields for registered types, whose form only ObjectTypes knows.
inline Form form_of(int32_t type_code) noexcept {
  switch (type_code) {
    case ANYFFI_ARRAY:
    case ANYFFI_LIST:
    case ANYFFI_SHAPE:
      return Form::kSequence;
    case ANYFFI_MAP:
    case ANYFFI_DICT:
      return Form::kMapping;
    case ANYFFI_SET:
    case ANYFFI_FROZEN_SET:
      return Form::kSet;
    case ANYFFI_SLICE:
      return Form::kSlice;
    default:
      return type_code >= ANYFFI_FIRST_DYNAMIC_TYPE ? Form::kFields : Form::kLeaf;
  }
}

/// Calls `__getstate__` of an object.
int get_state(const ObjectType& type, AnyffiObject* object, AnyffiValue* out) noexcept;

/// The number, name and (owned) value of the parts of a slice or an object. `type` is NULL for a slice.
inline int32_t count_parts(const ObjectType* type) noexcept {
  if (type == nullptr) return 3;
  return type->form == Form::kState ? 1 : static_cast<int32_t>(type->fields.size());
}
/// The name of the only part of a value with the form kState.
constexpr const char* kStateName = "__getstate__()";
const char* name_part(const ObjectType* type, int64_t index) noexcept;
int get_part(const ObjectType* type, AnyffiObject* object, int64_t index, AnyffiValue* out) noexcept;

/// The progress of reading the parts of a value.
struct Position {
  int64_t index = 0;
  /// The entry of the last key, whose value is read next: code of the host may have removed it by then.
  int64_t key = 0;
};

/// Reads the parts of a value one by one, a mapping's keys and values in turn. 1, or 0 after the last; -1 on failure.
/// `out_is_shared`: whether other references to the part exist.
int next_part(const AnyffiValue& value, Form form, const ObjectType* type, Position* position, Owned* out,
              bool* out_is_shared) noexcept;

/// The content of an object, as the type that declares a field sees it.
inline const char* content_for(const AnyffiFieldInfo* field, const AnyffiObject* object) noexcept {
  bool is_own = object->type_code == field->type_code;
  return static_cast<const char*>(is_own ? reinterpret_cast<const AnyffiInstance*>(object)->content
                                         : anyffi_instance_get_content(object, field->type_code));
}
/// The address of a field in an object, unless its storage is ANYFFI_STORED_OTHERWISE.
inline const char* place_of(const AnyffiFieldInfo* field, const AnyffiObject* object) noexcept {
  return content_for(field, object) + field->offset;
}

/// Whether fields of an object may be unset: they hold initial values, which `AnyffiFieldInfo::get` refuses.
inline bool has_unset_fields(const AnyffiObject* object) noexcept { return object->deleter == &destroy_draft; }

/// Whether a field holds the same number, short text or None at two addresses. False may also mean unknown.
inline bool holds_same(const AnyffiFieldInfo* field, const char* a, const char* b) noexcept {
  switch (field->storage) {
    case ANYFFI_STORED_INT:
      return std::memcmp(a, b, sizeof(int64_t)) == 0;
    case ANYFFI_STORED_BOOL:
      return *a == *b;
    case ANYFFI_STORED_VALUE:
      return reinterpret_cast<const AnyffiValue*>(a)->type_code <= 0 && std::memcmp(a, b, sizeof(AnyffiValue)) == 0;
    default:
      return false;
  }
}

/// Whether an object has references besides the one that led to it, `own_references` of the caller, and the wrapper's,
/// which is not part of any value. At the root the caller must own a reference, because the wrapper may hold the only
/// other one.
inline bool is_shared(const AnyffiValue& value, uint64_t own_references) noexcept {
  if (value.type_code <= 0) return false;
  const AnyffiObject* object = value.as_object;
  bool has_wrapper = __atomic_load_n(&object->wrapper, __ATOMIC_RELAXED) != nullptr;
  return __atomic_load_n(&object->strong_count, __ATOMIC_RELAXED) > own_references + 1 + (has_wrapper ? 1 : 0);
}

/// The first field, from an index on, for which `holds_same` is false in two objects of a type; the number of fields if
/// there is none.
inline int64_t skip_same(const ObjectType& type, const AnyffiObject* a, const AnyffiObject* b, int64_t index) noexcept {
  auto at = static_cast<size_t>(index);
  int32_t declared_by = 0;
  const char* left = nullptr;
  const char* right = nullptr;
  bool has_unset = has_unset_fields(a) || has_unset_fields(b);
  for (; at < type.fields.size(); ++at) {
    const Part& part = type.fields[at];
    if (part.structure == ANYFFI_STRUCTURE_IGNORE) continue;
    if (part.field->storage == ANYFFI_STORED_OTHERWISE || has_unset) break;
    if (part.field->type_code != declared_by) {
      declared_by = part.field->type_code;
      left = content_for(part.field, a);
      right = content_for(part.field, b);
    }
    if (!holds_same(part.field, left + part.field->offset, right + part.field->offset)) break;
  }
  return static_cast<int64_t>(at);
}

/// Reads a part in place, borrowed; false if only `get_part` can read it.
inline bool peek_part(const ObjectType* type, const AnyffiObject* object, int64_t index, AnyffiValue* out) noexcept {
  if (type == nullptr || type->form != Form::kFields) return false;
  const AnyffiFieldInfo* field = type->fields[static_cast<size_t>(index)].field;
  if (field->storage == ANYFFI_STORED_OTHERWISE || has_unset_fields(object)) return false;
  const char* place = place_of(field, object);
  AnyffiValue value;
  switch (field->storage) {
    case ANYFFI_STORED_INT:
      value = anyffi_make_int(*reinterpret_cast<const int64_t*>(place));
      break;
    case ANYFFI_STORED_FLOAT:
      value = anyffi_make_value(static_cast<uint32_t>(ANYFFI_FLOAT), *reinterpret_cast<const uint64_t*>(place));
      break;
    case ANYFFI_STORED_BOOL:
      value = anyffi_make_value(static_cast<uint32_t>(ANYFFI_BOOL), *reinterpret_cast<const bool*>(place) ? 1 : 0);
      break;
    case ANYFFI_STORED_VALUE:
      value = anyffi_read_value(reinterpret_cast<const AnyffiValue*>(place));
      if (value.type_code > 0) value.aux = 0;
      break;
    case ANYFFI_STORED_OBJECT: {
      AnyffiObject* part = *reinterpret_cast<AnyffiObject* const*>(place);
      value = part != nullptr ? anyffi_make_object(part) : anyffi_make_none();
      break;
    }
    default:
      return false;
  }
  // Written as two words: storing halves of a word would stall the next read.
  *out = anyffi_read_value(&value);
  return true;
}

inline const AnyffiValue& unboxed(const AnyffiValue& value) noexcept {
  return value.type_code == ANYFFI_BOX ? reinterpret_cast<AnyffiBox*>(value.as_object)->value : value;
}

/// Forgets the settings of `anyffi_type_set_structure` for a type.
void reset_structure(int32_t type_code) noexcept;
/// Whether sharing of objects may matter: then an object must also be compared with itself.
bool may_meet_dags() noexcept;
/// A method that a type itself declares, found by its name or one of its flags; NULL if there is none.
AnyffiObject* find_method(const AnyffiTypeInfo& info, const char* name, uint32_t flag) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_STRUCTURE_PARTS_H_
