/// \file
/// Helpers of the operations on containers of wrappers.
#ifndef ANYFFI_SRC_FUNCTIONS_WRAPPED_H_
#define ANYFFI_SRC_FUNCTIONS_WRAPPED_H_

#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include "values/containers.h"

namespace anyffi::runtime {

/// Python's comparison operators, numbered as the front ends number them.
enum Comparison : int32_t { kLess, kLessEqual, kEqual, kNotEqual, kGreater, kGreaterEqual };

/// The object of a wrapper; null if it is of another type.
inline AnyffiObject* find(const AnyffiWrapperRef* ref, int32_t type_code) {
  AnyffiObject* object = ref->object;
  if (object == nullptr || object->type_code == type_code) return object;
  return anyffi_type_is_a(object->type_code, type_code) != 0 ? object : nullptr;
}

template <typename T>
bool holds(int32_t operation, T a, T b) {
  switch (operation) {
    case kLess:
      return a < b;
    case kLessEqual:
      return a <= b;
    case kEqual:
      return a == b;
    case kNotEqual:
      return a != b;
    case kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

/// As `anyffi_wrapper_compare`, for sets and for mappings.
int32_t compare_sets(const AnyffiObject* a, const AnyffiObject* b, int32_t operation);
int32_t equal_mappings(const AnyffiObject* a, const AnyffiObject* b);

/// The values that a recipe describes. The destructor releases those that it created.
class Built {
 public:
  Built(AnyffiValue* recipe, int32_t size) : values_(recipe), count_(size) {
    for (int32_t i = 0; i < size; ++i) is_recipe_ = is_recipe_ || (recipe[i].type_code > 0 && recipe[i].aux != 0);
    if (is_recipe_) count_ = anyffi_recipe_build(recipe, size);
  }
  ~Built() {
    for (int32_t i = 0; is_recipe_ && i < count_; ++i) {
      if (values_[i].type_code > 0 && values_[i].aux == ANYFFI_MOVABLE) anyffi_value_release(&values_[i]);
    }
  }
  Built(const Built&) = delete;
  Built& operator=(const Built&) = delete;

  /// False if an error was raised.
  bool is_built() const { return count_ >= 0; }
  AnyffiValue* values() const { return values_; }
  int32_t count() const { return count_; }

 private:
  AnyffiValue* values_;
  int32_t count_;
  bool is_recipe_ = false;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_FUNCTIONS_WRAPPED_H_
