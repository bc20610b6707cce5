/// \file
/// Creates objects from the values of their fields.
#ifndef ANYFFI_SRC_STRUCTURE_MAKING_H_
#define ANYFFI_SRC_STRUCTURE_MAKING_H_

#include <anyffi/inline.h>

#include <memory>
#include <utility>

#include "structure/parts.h"

namespace anyffi::runtime {

/// How to create objects of a type from field values: with a constructor whose parameters have the names of fields; the
/// other fields are set afterwards. Records need no constructor, since the runtime creates them; those that derive from
/// a C++ class use the constructor of that class.
struct Recipe {
  bool is_record = false;
  bool is_overridden = false;          /* impossible: a class of Python overrides functions of its C++ base */
  AnyffiObject* constructor = nullptr; /* NULL: impossible */
  Vector<int32_t> params;              /* for each parameter the index of its field, or -1 for its default */
  Vector<int32_t> rest;                /* fields that are set after construction */
  bool is_known() const noexcept { return is_record || constructor != nullptr; }
  const char* missing = nullptr; /* without a constructor: the name of a field that no constructor takes, or NULL */

  /// Whether an object can be created before the values of its fields.
  bool is_empty_first() const noexcept {
    if (is_record) return true;
    for (int32_t field : params) {
      if (field >= 0) return false;
    }
    return constructor != nullptr;
  }
};

Recipe find_recipe(const ObjectType& type);

/// Whether the constructor has a default for a field.
bool has_default(const Recipe& recipe, int32_t field) noexcept;
/// Raises TypeError: objects of this type cannot be made. Always -1.
int raise_no_recipe(const ObjectType& type, const Recipe& recipe) noexcept;
/// Calls the constructor with `fields`, one value for each field of the type. Unset means the default.
int construct(const ObjectType& type, const Recipe& recipe, const AnyffiValue* fields, AnyffiValue* out) noexcept;
/// Sets the fields that the constructor does not take, and those that it changed, except where the value is Unset.
int set_rest(const ObjectType& type, const Recipe& recipe, const AnyffiValue* fields, AnyffiObject* object) noexcept;
/// Creates an object from the result of `__getstate__`.
int restore(const ObjectType& type, const AnyffiValue& state, AnyffiValue* out) noexcept;

/// The part number with which `anyffi_structure_replace` refers to the result of `__getstate__`.
constexpr int64_t kStatePart = -1;
/// Raises IndexError for a part number that does not exist. Always -1.
int raise_no_part() noexcept;
/// Creates an object from the state of another one, with another value in the field with this index. The other fields
/// keep their values, even those that are not stored.
int restore_with_field(const ObjectType& type, AnyffiObject* object, int64_t index, const AnyffiValue& value,
                       AnyffiValue* out);

/// Calls a function with one value.
inline int call_function(const AnyffiValue& function, const AnyffiValue& arg, Owned* out) noexcept {
  AnyffiValue args[] = {arg};
  return anyffi_function_call(&function, args, 1, out->out());
}

/// Sets the fields of an object that differ from these values.
int settle_fields(const ObjectType& type, const AnyffiValue* fields, AnyffiObject* object) noexcept;

/// Creates values that are like other values but have other parts. For one operation.
class Maker {
 public:
  explicit Maker(ObjectTypes& types) noexcept : types_(types) {}

  const Recipe& recipe_of(const ObjectType& type);
  /// Creates a value with the form and type of `value` from `parts`, in the order of `next_part`. ValueError for equal
  /// keys.
  int make_like(const AnyffiValue& value, const AnyffiValue* parts, size_t count, AnyffiValue* out);
  /// Returns the value itself if no part changed, else a value with the new parts.
  int remake(const AnyffiValue& value, bool is_changed, const AnyffiValue* parts, size_t count, AnyffiValue* out) {
    if (is_changed) return make_like(value, parts, count, out);
    *out = retained(value).take();
    return 0;
  }
  Form form_of_value(const AnyffiValue& value, const ObjectType** out_type);

 private:
  ObjectTypes& types_;
  Vector<std::pair<int32_t, std::unique_ptr<Recipe>>> recipes_;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_STRUCTURE_MAKING_H_
