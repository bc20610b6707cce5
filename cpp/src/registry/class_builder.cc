/// \file
/// Builds class descriptions, which libraries make in static initialisers.
#include <anyffi/error.h>

#include <cstring>

#include "core/errors.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/types.h"
#include "functions/native.h"
#include "registry/definitions.h"
#include "registry/overloads.h"
#include "text/identifier.h"

namespace anyffi::runtime {
namespace {

using VisitChildren = decltype(AnyffiTypeInfo::visit_children);

/// A growing table, which is never freed once a type was defined with it.
template <class Row>
struct Table {
  Row* rows = nullptr;
  int32_t size = 0;

  /// Returns NULL, with an error, if memory is exhausted.
  Row* add(const Row& row) noexcept {
    // Grows at each power of two.
    if ((size & (size - 1)) == 0) {
      auto* grown = static_cast<Row*>(anyffi_alloc(sizeof(Row) * static_cast<size_t>(size > 0 ? 2 * size : 1)));
      if (grown == nullptr) return raise_no_memory(), nullptr;
      if (size > 0) std::memcpy(grown, rows, sizeof(Row) * static_cast<size_t>(size));
      anyffi_free(rows);
      rows = grown;
    }
    rows[size] = row;
    return &rows[size++];
  }
};

/// A setting of `structural`; `field` is NULL for the class itself.
struct StructureRow {
  const char* field;
  int32_t structure;
};

/// The member to which a following `doc` or `structural` applies.
enum class Last { kClass, kField, kFunction, kNothing };

struct ClassState : Allocated {
  int32_t* slot;
  AnyffiModuleClass* listed;
  const char* doc;
  VisitChildren visit;
  VisitChildren visit_fields;
  Last last = Last::kClass;
  bool is_guarded = false;
  bool has_fields = false;  // other than those that the class declares itself
  Table<AnyffiFieldInfo> fields;
  Table<AnyffiMethodInfo> methods;
  Table<StructureRow> structures;

  ~ClassState() { anyffi_free(structures.rows); }
};

ClassState* state_of(const AnyffiClassBuilder* builder) noexcept { return static_cast<ClassState*>(builder->state); }

/// Prepends the key of the class to the message of the raised error, unless the message is empty.
void name_class(const ClassState& state) noexcept {
  Owned raised, message, named;
  anyffi_error_take_raised(raised.out());
  auto* error = reinterpret_cast<const AnyffiError*>(raised->as_object);
  const AnyffiTypeInfo* info = anyffi_type_get_info(*state.slot);
  AnyffiTextView text;
  bool has_text =
      error->handle == nullptr && anyffi_value_get_text_view(&error->message, &text) == 0 && text.length > 0;
  if (info != nullptr && has_text) {
    int status = guard([&] {
      String whole = String(info->type_key) + ": ";
      append_text(&whole, &error->message);
      return str_from_utf8_escaped(whole.data(), static_cast<int64_t>(whole.size()), message.out());
    });
    if (status == 0) status = anyffi_error_create(&error->kind, message.get(), nullptr, named.out());
    if (status != 0) anyffi_error_take_raised(named.out());  // without memory for a new error, the former one is raised
    if (status == 0) return anyffi_error_set_raised(named->as_object);
  }
  anyffi_error_set_raised(raised->as_object);
}

void defer(const ClassState& state) noexcept {
  name_class(state);
  anyffi_registry_defer_error_of(state.slot);
}

/// Ends the description of the last member.
void check_last(AnyffiClassBuilder* builder) noexcept {
  if (builder->function != nullptr && check_native(*builder->function) != 0) defer(*state_of(builder));
  builder->function = nullptr;
}

constexpr uint32_t kIsProperty = ANYFFI_GETTER | ANYFFI_SETTER;

/// Whether the flags are those of a property's setter and getter, both static or both not.
bool is_pair(uint32_t setter, uint32_t getter) noexcept {
  if (setter == ANYFFI_SETTER) return getter == ANYFFI_GETTER;
  return setter == (ANYFFI_STATIC_METHOD | ANYFFI_SETTER) && getter == (ANYFFI_STATIC_METHOD | kIsProperty);
}

/// Raises an error for a name that is not a Python identifier.
int check_identifier(const char* name, const char* of_what) noexcept {
  if (is_identifier(name)) return 0;
  return raise_format("ValueError", "a %s cannot have the name '%s': it is not an identifier", of_what, name);
}

/// Raises an error if a name is used twice, since Python has one attribute for it. Methods of one kind are overloads,
/// and constructors have no name.
int check_name(const ClassState& state, const char* name, uint32_t flags) noexcept {
  constexpr uint32_t kIsUnnamed = ANYFFI_CONSTRUCTOR | ANYFFI_RESTORE;
  if ((flags & kIsUnnamed) == 0 && check_identifier(name, "member") != 0) return -1;
  bool is_taken = false;
  for (int32_t i = 0; i < state.fields.size; ++i) is_taken |= std::strcmp(state.fields.rows[i].name, name) == 0;
  for (int32_t i = 0; i < state.methods.size; ++i) {
    const AnyffiMethodInfo& other = state.methods.rows[i];
    if (((other.flags | flags) & kIsUnnamed) != 0 || std::strcmp(other.name, name) != 0) continue;
    bool are_methods = ((other.flags | flags) & kIsProperty) == 0;
    if (are_methods && other.flags != flags) {
      return raise_format("ValueError",
                          "%s: a method and a static method have this name, which in Python is that of one attribute: "
                          "give one of them another name",
                          name);
    }
    is_taken |= !are_methods && !is_pair(other.flags, flags) && !is_pair(flags, other.flags);
  }
  if (!is_taken) return 0;
  return raise_format("ValueError", "%s: there is a member of this name already, which is no overload", name);
}

int add_method(ClassState* state, const char* name, uint32_t flags, const Owned& function) noexcept {
  for (int32_t i = 0; i < state->methods.size; ++i) {
    AnyffiMethodInfo& method = state->methods.rows[i];
    if (method.flags != flags || std::strcmp(method.name, name) != 0) continue;
    Owned all;
    if (add_overload(name, anyffi_make_object(method.function), *function.get(), &all) != 0) return -1;
    // Owned by the type, which is never freed.
    method.function = all.take().as_object;
    return 0;
  }
  return state->methods.add({name, function->as_object, flags, 0}) != nullptr ? 0 : -1;
}

/// The setter of the last property, if nothing was added after the property's getter; the getter if it has no setter.
AnyffiNativeFunction* setter_before_last(const ClassState& state, AnyffiNativeFunction* getter) noexcept {
  int32_t size = state.methods.size;
  if (size < 2) return getter;
  const AnyffiMethodInfo &setter = state.methods.rows[size - 2], &last = state.methods.rows[size - 1];
  if (setter.flags != ANYFFI_SETTER || std::strcmp(setter.name, last.name) != 0) return getter;
  return reinterpret_cast<AnyffiNativeFunction*>(setter.function);
}

int define(const ClassState& state) noexcept {
  AnyffiTypeInfo info{};
  info.struct_size = sizeof(info);
  info.doc = state.doc;
  info.fields = state.fields.rows;
  info.num_fields = state.fields.size;
  info.methods = state.methods.rows;
  info.num_methods = state.methods.size;
  info.visit_children = state.visit;
  int32_t code = *state.slot;
  if (define_type_in(state.slot, &code, &info) != 0) return -1;
  for (int32_t i = 0; i < state.fields.size; ++i) state.fields.rows[i].type_code = code;
  *state.slot = code;
  return 0;
}

/// Visits the references in the fields of a class; a member that several fields name is visited once.
int visit_fields(const AnyffiTypeInfo& info, const AnyffiObject* self, AnyffiVisit visit, void* context) {
  for (int32_t i = 0; i < info.num_fields; ++i) {
    const AnyffiFieldInfo& field = info.fields[i];
    bool is_visited = field.visit == nullptr;
    for (int32_t j = 0; j < i; ++j) {
      is_visited |= info.fields[j].visit != nullptr && info.fields[j].offset == field.offset;
    }
    if (is_visited) continue;
    auto* content = static_cast<const char*>(anyffi_instance_get_content(self, field.type_code));
    if (int status = field.visit(content + field.offset, visit, context)) return status;
  }
  return 0;
}

void list_class(AnyffiModuleClass* row, int32_t type_code, const AnyffiModuleClass** classes) noexcept {
  bool is_listed = row->type_code != ANYFFI_NONE;
  row->type_code = type_code;
  if (is_listed) return;
  row->next = *classes;
  *classes = row;
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

void anyffi_class_begin(AnyffiClassBuilder* builder, int32_t (*type_code_of)(void), int32_t* slot,
                        AnyffiModuleClass* listed, void (*describe)(AnyffiTypeInfo* declared),
                        int (*visit_fields)(const AnyffiValue* self, AnyffiVisit visit, void* context)) {
  *builder = {};
  int status = anyffi::detail::catch_all([&] {
    auto* state = new ClassState{};
    builder->state = state;
    state->slot = slot;
    state->listed = listed;
    state->visit_fields = visit_fields;
    AnyffiTypeInfo declared{};
    if (describe != nullptr) describe(&declared);
    state->doc = declared.doc;
    state->visit = declared.visit_children;
    type_code_of();
    if (const AnyffiTypeInfo* info = anyffi_type_get_info(*slot)) {
      if (check_identifier(python_name_of(info->type_key), "class") != 0) return name_class(*state), -1;
    }
    for (int32_t i = 0; i < declared.num_fields; ++i) {
      if (state->fields.add(declared.fields[i]) == nullptr) return -1;
    }
    return 0;
  });
  if (status != 0) anyffi_registry_defer_error_of(slot);
}

AnyffiNativeFunction* anyffi_class_add_function(AnyffiClassBuilder* builder, const char* name, uint32_t signature,
                                                AnyffiCall call, void* callable, const char* result_type, ...) {
  ClassState* state = state_of(builder);
  if (state == nullptr) return nullptr;
  check_last(builder);
  state->last = Last::kNothing;
  Owned created;
  va_list rest;
  va_start(rest, result_type);
  int status = create_native({name, signature, call, callable, result_type}, rest, &created);
  va_end(rest);
  auto* function = reinterpret_cast<AnyffiNativeFunction*>(created->as_object);
  bool is_static = (builder->flags & ANYFFI_STATIC_METHOD) != 0;
  if (status == 0 && !is_static) declaration_of(*function).info.flags |= ANYFFI_METHOD;
  if (status == 0) status = check_name(*state, name, builder->flags);
  if (status == 0) status = add_method(state, name, builder->flags, created);
  if (status != 0) return defer(*state), nullptr;
  // Never released: the type refers to it.
  created.take();
  bool is_of_overrides = std::strncmp(name, "__anyffi_", 9) == 0;  // an internal method, not a member
  state->last = is_of_overrides ? Last::kClass : Last::kFunction;
  if (state->is_guarded && !is_static) guard_native(function, name == std::string_view("__anyffi_bind__"));
  // By default, the result of a property refers into the object.
  if (builder->flags == ANYFFI_GETTER) anyffi_native_set_returns(function, ANYFFI_RETURNS_REFERENCE_INTERNAL);
  return builder->function = function;
}

void anyffi_class_add_field(AnyffiClassBuilder* builder, const AnyffiFieldInfo* field) {
  ClassState* state = state_of(builder);
  if (state == nullptr) return;
  check_last(builder);
  state->last = Last::kNothing;
  // An exception's first field names its base class.
  bool is_base = state->fields.size == 0 && names_exception_base(*field);
  if ((!is_base && check_name(*state, field->name, 0) != 0) || state->fields.add(*field) == nullptr)
    return defer(*state);
  state->last = Last::kField;
  state->has_fields = true;
  if (state->visit == nullptr && field->visit != nullptr) state->visit = state->visit_fields;
}

void anyffi_class_set_field_types(AnyffiClassBuilder* builder, const char* type_name) {
  ClassState* state = state_of(builder);
  for (int32_t i = 0; state != nullptr && i < state->fields.size; ++i) state->fields.rows[i].type_name = type_name;
}

void anyffi_class_set_doc(AnyffiClassBuilder* builder, const char* doc) {
  ClassState* state = state_of(builder);
  if (state == nullptr) return;
  if (state->last == Last::kClass) state->doc = doc;
  if (state->last == Last::kField) state->fields.rows[state->fields.size - 1].doc = doc;
  if (state->last == Last::kFunction) anyffi_native_set_doc(builder->function, doc);
}

AnyffiNativeFunction* anyffi_class_get_function(const AnyffiClassBuilder* builder, const char* option) {
  ClassState* state = state_of(builder);
  if (state == nullptr) return nullptr;
  if (state->last == Last::kFunction) return builder->function;
  if (state->last == Last::kField) {
    const char* field = state->fields.rows[state->fields.size - 1].name;
    raise_format("ValueError", "%s: %s stands behind a method, constructor or property, and not behind a field", field,
                 option);
    defer(*state);
  } else if (state->last == Last::kClass) {
    raise_format("ValueError", "%s stands behind the method, constructor or property that it is about", option);
    defer(*state);
  }
  return nullptr;
}

void anyffi_class_keep_alive(AnyffiClassBuilder* builder, int32_t nurse, int32_t patient) {
  ClassState* state = state_of(builder);
  if (state == nullptr) return;
  // In a constructor's signature the object is the result, so the indices shift by one.
  int32_t shift = (builder->flags & ANYFFI_CONSTRUCTOR) != 0 ? 1 : 0;
  AnyffiNativeFunction* function = anyffi_class_get_function(builder, "keep_alive()");
  // A property's value is the argument of its setter, which was added before the getter.
  if (builder->flags == ANYFFI_GETTER && (nurse == 2 || patient == 2)) function = setter_before_last(*state, function);
  if (function != nullptr &&
      keep_alive_native(function, nurse > 0 ? nurse - shift : nurse, patient > 0 ? patient - shift : patient)) {
    defer(*state);
  }
  // An object that keeps others alive needs a visit function, so that the garbage collector visits it.
  if (nurse == 1 && state->visit == nullptr) state->visit = state->visit_fields;
}

void anyffi_class_add_structure(AnyffiClassBuilder* builder, const char* field, int32_t structure) {
  ClassState* state = state_of(builder);
  if (state == nullptr) return;
  bool is_of_last = field == nullptr && state->last != Last::kClass;
  if (is_of_last && state->last != Last::kField) {
    anyffi_error_raise("ValueError", "structural() stands behind a field, or before all members");
    return defer(*state);
  }
  if (is_of_last) field = state->fields.rows[state->fields.size - 1].name;
  if (state->structures.add({field, structure}) == nullptr) defer(*state);
}

void anyffi_class_begin_overridable(AnyffiClassBuilder* builder,
                                    int (*visit)(const AnyffiValue* self, AnyffiVisit visit, void* context)) {
  ClassState* state = state_of(builder);
  if (state == nullptr) return;
  state->is_guarded = true;
  if (visit == nullptr) return;
  state->visit = visit;
  if (state->methods.size == 0 && !state->has_fields) return;
  anyffi_error_raise("ValueError", "overridable() stands before the members of the class");
  defer(*state);
}

int anyffi_class_visit(int32_t type_code, int32_t has_visited, const AnyffiValue* self, AnyffiVisit visit,
                       void* context) {
  auto* instance = reinterpret_cast<const AnyffiInstance*>(self->as_object);
  if (instance->owner != nullptr) {
    AnyffiValue owner = anyffi_make_object(instance->owner);
    return visit(&owner, context);
  }
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  if (has_visited == 0) {
    if (int status = visit_fields(*info, self->as_object, visit, context)) return status;
  }
  while (info->depth > 0) {
    info = anyffi_type_get_info(info->parent);
    if (info->visit_children != nullptr) return info->visit_children(self, visit, context);
  }
  return 0;
}

void anyffi_class_finish(AnyffiClassBuilder* builder, const AnyffiModuleClass** classes) {
  ClassState* state = state_of(builder);
  if (state == nullptr) return;
  check_last(builder);
  builder->state = nullptr;
  // A failed registration was deferred already.
  if (*state->slot != ANYFFI_NONE) {
    if (define(*state) != 0) {
      defer(*state);
    } else {
      for (int32_t i = 0; i < state->structures.size; ++i) {
        const StructureRow& row = state->structures.rows[i];
        if (anyffi_type_set_structure(*state->slot, row.field, row.structure) != 0) defer(*state);
      }
      list_class(state->listed, *state->slot, classes);
    }
  }
  delete state;
}
