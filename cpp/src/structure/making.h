/// \file
/// Making objects of their fields.
#ifndef ANYFFI_SRC_STRUCTURE_MAKING_H_
#define ANYFFI_SRC_STRUCTURE_MAKING_H_

#include <anyffi/inline.h>

#include <memory>
#include <utility>

#include "structure/parts.h"

namespace anyffi::runtime {

/// How objects of a type are made of their fields: by a constructor whose parameters are named like fields; what it
/// does not take is set. Records, which the runtime makes itself, have none, unless they derive from a class of C++:
/// then it is that of the class.
struct Recipe {
  bool is_record = false;
  bool is_overridden = false;          /* there is no way: Python overrides functions of C++ of the base */
  AnyffiObject* constructor = nullptr; /* NULL: there is no way */
  Vector<int32_t> params;              /* of each parameter the number of its field, or -1: its default */
  Vector<int32_t> rest;                /* fields that are set */
  bool is_known() const noexcept { return is_record || constructor != nullptr; }
  const char* missing = nullptr; /* without a constructor: a field that nothing takes, or NULL */

  /// Whether an object can be made before its fields.
  bool is_empty_first() const noexcept {
    if (is_record) return true;
    for (int32_t field : params) {
      if (field >= 0) return false;
    }
    return constructor != nullptr;
  }
};

Recipe find_recipe(const ObjectType& type);

/// Raises TypeError: objects of this type cannot be made. Always -1.
int raise_no_recipe(const ObjectType& type, const Recipe& recipe) noexcept;
/// Calls the constructor with values, one for each field of the type. Unset stands for a default.
int construct(const ObjectType& type, const Recipe& recipe, const AnyffiValue* fields, AnyffiValue* out) noexcept;
/// Sets the fields that it does not take, and those that it has changed, but for those that are Unset.
int set_rest(const ObjectType& type, const Recipe& recipe, const AnyffiValue* fields, AnyffiObject* object) noexcept;
/// Makes an object of what `__getstate__` returned.
int restore(const ObjectType& type, const AnyffiValue& state, AnyffiValue* out) noexcept;

/// The number that `anyffi_structure_replace` has for what `__getstate__` returns.
constexpr int64_t kStatePart = -1;
/// Raises IndexError: a value has no part of this number. Always -1.
int raise_no_part() noexcept;
/// Makes an object like another one of what `__getstate__` returns for that, with another value of the field of a
/// number. The other fields keep their values, also those that are not stored.
int restore_with_field(const ObjectType& type, AnyffiObject* object, int64_t index, const AnyffiValue& value,
                       AnyffiValue* out);

/// Calls a function with one value.
inline int call_function(const AnyffiValue& function, const AnyffiValue& arg, Owned* out) noexcept {
  AnyffiValue args[] = {arg};
  return anyffi_function_call(&function, args, 1, out->out());
}

/// Sets the fields of an object that have other values than these.
int settle_fields(const ObjectType& type, const AnyffiValue* fields, AnyffiObject* object) noexcept;

/// Makes values like others, of other parts. For one operation.
class Maker {
 public:
  explicit Maker(ObjectTypes& types) noexcept : types_(types) {}

  const Recipe& recipe_of(const ObjectType& type);
  /// A value of the form and type of another one, of `parts` in the order of `next_part`. ValueError for equal keys.
  int make_like(const AnyffiValue& value, const AnyffiValue* parts, size_t count, AnyffiValue* out);
  /// The value itself if no part has changed, else one like it.
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
