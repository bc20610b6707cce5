/// \file
/// Creates objects from the values of their fields.
#include "structure/making.h"

#include <anyffi/host_api.h>

#include <cstring>

#include "core/errors.h"
#include "core/value.h"
#include "records/record.h"
#include "structure/leaves.h"
#include "values/equal.h"

namespace anyffi::runtime {
namespace {

int32_t find_field(const ObjectType& type, const char* name) noexcept {
  for (size_t i = type.fields.size(); name != nullptr && i-- > 0;) {
    if (std::strcmp(type.fields[i].field->name, name) == 0) return static_cast<int32_t>(i);
  }
  return -1;
}

/// Matches a constructor with the fields. False if a parameter is not a field and has no default, or if a field that
/// the constructor does not take cannot be set.
bool fit(const ObjectType& type, AnyffiObject* constructor, Recipe* out) {
  const AnyffiFunctionInfo* info = reinterpret_cast<AnyffiFunction*>(constructor)->info;
  if (info == nullptr) return false;
  Recipe found;
  found.constructor = constructor;
  Vector<bool> is_taken(type.fields.size(), false);
  for (int32_t i = 0; i < info->num_params; ++i) {
    int32_t field = find_field(type, info->params[i].name);
    if (field < 0 && info->params[i].default_value == nullptr) return false;
    found.params.push_back(field);
    if (field >= 0) is_taken[static_cast<size_t>(field)] = true;
  }
  for (size_t i = 0; i < type.fields.size(); ++i) {
    if (is_taken[i]) continue;
    if (type.fields[i].field->set == nullptr) {
      out->missing = type.fields[i].field->name;
      return false;
    }
    found.rest.push_back(static_cast<int32_t>(i));
  }
  *out = std::move(found);
  return true;
}

/// Whether a field only has C++'s type for a number: a float for an int, or 32 bits for a float. -1 with an error.
int is_converted(const AnyffiValue& made, const AnyffiValue& value) noexcept {
  constexpr uint64_t kNumbers = anyffi_type_bit(ANYFFI_BOOL) | anyffi_type_bit(ANYFFI_INT) |
                                anyffi_type_bit(ANYFFI_FLOAT) | anyffi_type_bit(ANYFFI_BIG_INT);
  if (((anyffi_type_bit(made.type_code) | anyffi_type_bit(value.type_code)) & ~kNumbers) != 0) return 0;
  if (made.type_code == ANYFFI_FLOAT && value.type_code == ANYFFI_FLOAT) {
    return static_cast<int>(made.as_float == static_cast<double>(static_cast<float>(value.as_float)));
  }
  int32_t are_equal = 0;
  return elements_equal(made, value, &are_equal) != 0 ? -1 : are_equal;
}

/// Sets a field that does not have the given value: one of a copy, or one that the constructor converted, rounded or
/// clamped. Raises ValueError if such a field is read-only.
int settle_field(const ObjectType& type, const AnyffiFieldInfo* field, const AnyffiValue& value, AnyffiObject* object) {
  Owned made;
  if (field->get(object, field, made.out()) != 0) return -1;
  if (is_identical(*made.get(), value)) return 0;
  bool are_leaves = form_of(made->type_code) == Form::kLeaf && form_of(value.type_code) == Form::kLeaf;
  int is_same = are_leaves ? compare_leaves(*made.get(), value, 0) : 0;
  if (is_same != 0) return is_same < 0 ? -1 : 0;
  if (field->set != nullptr) {
    AnyffiValue given = value;
    if (given.type_code > 0) given.aux = 0;  // not movable: the caller keeps its reference
    return field->set(object, field, &given);
  }
  if (!are_leaves) return 0;
  is_same = is_converted(*made.get(), value);
  if (is_same != 0) return is_same < 0 ? -1 : 0;
  return raise_format("ValueError",
                      "objects of '%s' cannot be made of their fields: the constructor makes another value of '%s', "
                      "which is read-only; describe the class with pickle()",
                      type.info->type_key, field->name);
}

}  // namespace

Recipe find_recipe(const ObjectType& type) {
  Recipe best;
  const AnyffiTypeInfo* maker = type.info;
  if (maker->record != nullptr && maker->record->has_base()) {
    maker = anyffi_type_get_info(maker->record->base_code);
    best.is_overridden = find_method(*maker, "__anyffi_bind__", 0) != nullptr;
    if (best.is_overridden) return best;
  } else if (maker->record != nullptr) {
    best.is_record = true;
    for (size_t i = 0; i < type.fields.size(); ++i) best.rest.push_back(static_cast<int32_t>(i));
    return best;
  }
  AnyffiObject* constructor = find_method(*maker, "", ANYFFI_CONSTRUCTOR);
  if (constructor == nullptr) return best;
  const AnyffiFunctionInfo* info = reinterpret_cast<AnyffiFunction*>(constructor)->info;
  if (info == nullptr || (info->flags & ANYFFI_OVERLOADED) == 0) return fit(type, constructor, &best), best;
  for (const AnyffiOverload* each = info->overloads; each != nullptr; each = each->next) {
    // Prefers the overload that takes the fewest fields, because then the object can more often be created before its
    // fields.
    Recipe other;
    if (!fit(type, each->function, &other)) {
      if (best.constructor == nullptr) best.missing = other.missing;
    } else if (best.constructor == nullptr || other.rest.size() > best.rest.size()) {
      best = std::move(other);
    }
  }
  return best;
}

bool has_default(const Recipe& recipe, int32_t field) noexcept {
  for (size_t i = 0; i < recipe.params.size(); ++i) {
    if (recipe.params[i] != field) continue;
    return reinterpret_cast<AnyffiFunction*>(recipe.constructor)->info->params[i].default_value != nullptr;
  }
  return false;
}

int raise_no_recipe(const ObjectType& type, const Recipe& recipe) noexcept {
  if (recipe.is_overridden) {
    return raise_format("TypeError",
                        "objects of '%s' cannot be made of their fields: Python overrides functions of C++ of those "
                        "alone that it makes itself",
                        type.info->type_key);
  }
  if (recipe.missing != nullptr) {
    return raise_format(
        "TypeError",
        "objects of '%s' cannot be made of their fields: no constructor takes '%s', which is read-only; "
        "describe the class with pickle(), or with a constructor whose parameters are named as the fields",
        type.info->type_key, recipe.missing);
  }
  return raise_format("TypeError",
                      "objects of '%s' cannot be made of their fields: describe the class with pickle(), or with a "
                      "constructor whose parameters are named as the fields",
                      type.info->type_key);
}

int construct(const ObjectType& type, const Recipe& recipe, const AnyffiValue* fields, AnyffiValue* out) noexcept {
  *out = anyffi_make_none();
  if (recipe.is_record) {
    if (fields != nullptr) return anyffi_record_create(type.info->type_code, out);
    // Other code may reach the object before its fields are set.
    return guard([&] {
      *out = create_draft(type.info->record->draft_code()).release();
      return 0;
    });
  }
  if (recipe.constructor == nullptr) return raise_no_recipe(type, recipe);
  return guard([&] {
    Vector<AnyffiValue> args;
    for (int32_t field : recipe.params) {
      AnyffiValue arg = field < 0 ? anyffi_make_none() : fields[field];
      if (field < 0 || arg.type_code == ANYFFI_UNSET) arg = anyffi_make_value(static_cast<uint32_t>(ANYFFI_MISSING), 0);
      args.push_back(arg);
    }
    const AnyffiFunctionInfo* info = reinterpret_cast<AnyffiFunction*>(recipe.constructor)->info;
    bool names_some = (info->flags & ANYFFI_KEYWORD_ONLY) != 0;
    if (names_some) args.push_back(anyffi_make_value(static_cast<uint32_t>(ANYFFI_MISSING), 0));
    AnyffiValue function = anyffi_make_object(recipe.constructor);
    if (anyffi_function_call(&function, args.data(), static_cast<int32_t>(args.size()), out) != 0) return -1;
    if (type.info->record != nullptr) {
      Owned base(std::exchange(*out, anyffi_make_none()));
      *out = create_on_base(type.info->type_code, *base.get()).release();
      return 0;
    }
    return out->type_code > 0 && anyffi_type_is_a(out->type_code, type.info->type_code)
               ? 0
               : (anyffi_value_drop(out), *out = anyffi_make_none(),
                  anyffi_error_raise("TypeError", "a constructor did not return an object"));
  });
}

int set_rest(const ObjectType& type, const Recipe& recipe, const AnyffiValue* fields, AnyffiObject* object) noexcept {
  for (int32_t index : recipe.params) {
    if (index < 0 || fields[index].type_code == ANYFFI_UNSET) continue;
    if (settle_field(type, type.fields[static_cast<size_t>(index)].field, fields[index], object) != 0) return -1;
  }
  for (int32_t index : recipe.rest) {
    AnyffiValue value = fields[index];
    const AnyffiFieldInfo* field = type.fields[static_cast<size_t>(index)].field;
    if (value.type_code != ANYFFI_UNSET && field->set(object, field, &value) != 0) return -1;
  }
  return 0;
}

int settle_fields(const ObjectType& type, const AnyffiValue* fields, AnyffiObject* object) noexcept {
  for (size_t i = 0; i < type.fields.size(); ++i) {
    if (settle_field(type, type.fields[i].field, fields[i], object) != 0) return -1;
  }
  return 0;
}

int restore(const ObjectType& type, const AnyffiValue& state, AnyffiValue* out) noexcept {
  *out = anyffi_make_none();
  AnyffiValue function = anyffi_make_object(find_method(*type.info, "", ANYFFI_RESTORE));
  AnyffiValue arg = state;
  return anyffi_function_call(&function, &arg, 1, out);
}

int raise_no_part() noexcept { return anyffi_error_raise("IndexError", "there is no such part"); }

int restore_with_field(const ObjectType& type, AnyffiObject* object, int64_t index, const AnyffiValue& value,
                       AnyffiValue* out) {
  auto count = static_cast<int64_t>(type.fields.size());
  if (index < 0 || index >= count) return raise_no_part();
  const AnyffiFieldInfo* replaced = type.fields[static_cast<size_t>(index)].field;
  if (replaced->set == nullptr) {
    return raise_format("TypeError",
                        "objects of '%s' cannot be made of their fields: '%s' is read-only; describe the class with a "
                        "constructor whose parameters are named as the fields",
                        type.info->type_key, replaced->name);
  }
  Owned state, made;
  Vector<Owned> fields(type.fields.size());
  for (int64_t i = 0; i < count; ++i) {
    const AnyffiFieldInfo* field = type.fields[static_cast<size_t>(i)].field;
    if (i != index && field->get(object, field, fields[static_cast<size_t>(i)].out()) != 0) return -1;
  }
  fields[static_cast<size_t>(index)] = retained(value);
  if (get_state(type, object, state.out()) != 0 || restore(type, *state.get(), made.out()) != 0) return -1;
  static_assert(sizeof(Owned) == sizeof(AnyffiValue));
  const auto* values = reinterpret_cast<const AnyffiValue*>(fields.data());
  if (settle_fields(type, values, made->as_object) != 0) return -1;
  *out = made.take();
  return 0;
}

const Recipe& Maker::recipe_of(const ObjectType& type) {
  for (auto& [code, recipe] : recipes_) {
    if (code == type.info->type_code) return *recipe;
  }
  recipes_.emplace_back(type.info->type_code, std::make_unique<Recipe>(find_recipe(type)));
  return *recipes_.back().second;
}

Form Maker::form_of_value(const AnyffiValue& value, const ObjectType** out_type) {
  *out_type = nullptr;
  Form form = form_of(value.type_code);
  if (form != Form::kFields) return form;
  *out_type = &types_.find(value.type_code);
  const ObjectType& type = **out_type;
  if (!type.has_fields) return type.form;
  // Values that are compared by identity have parts here, too.
  bool has_state_only = type.get_state != nullptr && !recipe_of(type).is_known();
  return has_state_only ? Form::kState : Form::kFields;
}

int Maker::make_like(const AnyffiValue& value, const AnyffiValue* parts, size_t count, AnyffiValue* out) {
  const ObjectType* type;
  auto size = static_cast<int64_t>(count);
  *out = anyffi_make_none();
  switch (form_of_value(value, &type)) {
    case Form::kSequence: {
      // A Shape may only contain ints; with other parts, an Array is made.
      bool is_shape = value.type_code == ANYFFI_SHAPE;
      for (size_t i = 0; i < count && is_shape; ++i) is_shape = parts[i].type_code == ANYFFI_INT;
      int32_t code = value.type_code == ANYFFI_SHAPE && !is_shape ? ANYFFI_ARRAY : value.type_code;
      return anyffi_sequence_create_from(code, parts, size, out);
    }
    case Form::kMapping:
    case Form::kSet: {
      Vector<AnyffiValue> items;
      for (size_t i = 0; i < count && form_of(value.type_code) == Form::kSet; ++i) {
        items.push_back(parts[i]);
        items.push_back(anyffi_make_none());
      }
      int64_t first, second;
      bool is_set = !items.empty();
      if (anyffi_mapping_create_from(value.type_code, is_set ? items.data() : parts, is_set ? size : size / 2, out,
                                     &first, &second) != 0) {
        return -1;
      }
      return first < 0 ? 0 : anyffi_error_raise("ValueError", "two keys or elements have become equal");
    }
    case Form::kSlice:
      return anyffi_slice_create(&parts[0], &parts[1], &parts[2], out);
    case Form::kState:
      return restore(*type, parts[0], out);
    case Form::kFields: {
      const Recipe& recipe = recipe_of(*type);
      if (construct(*type, recipe, parts, out) != 0) return -1;
      if (set_rest(*type, recipe, parts, out->as_object) == 0) return 0;
      anyffi_value_drop(out);
      return fail(out);
    }
    default:
      return anyffi_error_raise("TypeError", "a value without parts");
  }
}

}  // namespace anyffi::runtime
