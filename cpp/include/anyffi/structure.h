/// \file
/// Operations on values and all their parts: elements, keys and values, fields of objects.
#ifndef ANYFFI_STRUCTURE_H_
#define ANYFFI_STRUCTURE_H_

#include <anyffi/container/sequence.h>
#include <anyffi/function.h>

namespace anyffi {

/// Options of comparisons by structure.
struct StructureOptions {
  /// Free variables (which nothing binds) may correspond to each other, one to one.
  bool map_free_vars = false;
  /// Only the types and shapes of tensors are compared.
  bool skip_tensor_content = false;

  uint32_t flags() const noexcept {
    uint32_t flags = 0;
    if (map_free_vars) flags |= ANYFFI_MAP_FREE_VARIABLES;
    if (skip_tensor_content) flags |= ANYFFI_SKIP_TENSOR_CONTENT;
    return flags;
  }
};

/// Whether two values have the same type and the same parts, at all levels. Exceptions of Python's `==` pass through.
inline bool structural_equal(AnyView a, AnyView b, StructureOptions options = {}) {
  int32_t result;
  detail::check(anyffi_structure_equal(&a.raw(), &b.raw(), options.flags(), &result));
  return result != 0;
}

/// A hash that is the same in every process and on every machine, and equal for values with the same structure.
inline int64_t structural_hash(AnyView value, StructureOptions options = {}) {
  int64_t result;
  detail::check(anyffi_structure_hash(&value.raw(), options.flags(), &result));
  return result;
}

/// A part in which two values differ. Converts to false if there is none.
struct Mismatch {
  /// The steps that lead to the part, as Arrays of two: 0 and the name of a field, 1 and an index, 2 and a key, 3 and
  /// an element of a set.
  Array<Array<>> path;
  /// None on a side without such a part.
  AnyValue left;
  AnyValue right;
  bool has_left = false;
  bool has_right = false;

  explicit operator bool() const noexcept { return has_left || has_right; }
};

/// All parts in which two values differ.
class Differences {
 public:
  Differences(AnyView a, AnyView b, StructureOptions options, bool only_first) {
    AnyValue found;
    detail::check(anyffi_structure_diff(&a.raw(), &b.raw(), options.flags(), only_first, found.out()));
    rows_ = found.cast<Array<Array<>>>();
  }
  int64_t size() const noexcept { return rows_.size(); }
  Mismatch operator[](int64_t index) const {
    Array<> row = rows_[index];
    auto sides = row[3].cast<int64_t>();
    return {row[0].cast<Array<Array<>>>(), row[1], row[2], (sides & 1) != 0, (sides & 2) != 0};
  }

 private:
  Array<Array<>> rows_;
};

inline Differences structural_diff(AnyView a, AnyView b, StructureOptions options = {}) {
  return Differences(a, b, options, false);
}

/// The first part in which two values differ, if there is one.
inline Mismatch first_mismatch(AnyView a, AnyView b, StructureOptions options = {}) {
  Differences found(a, b, options, true);
  return found.size() == 0 ? Mismatch{} : found[0];
}

/// Calls a function with a value and all its parts, each shared part once: before its own parts, which are skipped if
/// the function returns false, or after them.
inline void structural_visit(AnyView value, const Function& function, bool is_post = false) {
  AnyView called = function;
  detail::check(anyffi_structure_visit(&value.raw(), &called.raw(), is_post));
}

/// Maps a value: each part is replaced by the function's result for it, then the function is called with the new value.
/// Unchanged values are not copied.
inline AnyValue structural_map(AnyView value, const Function& function) {
  AnyView called = function;
  AnyValue made;
  detail::check(anyffi_structure_map(&value.raw(), &called.raw(), made.out()));
  return made;
}

/// The direct parts of a value in the order of `structural_visit`. Each is an Array of three: the two of the step that
/// leads to it, as in `Mismatch::path`, and the part. A key of a mapping is listed as an element.
inline Array<Array<>> structural_children(AnyView value) {
  AnyValue rows;
  detail::check(anyffi_structure_children(&value.raw(), rows.out()));
  return rows.cast<Array<Array<>>>();
}

/// A value whose direct parts are the function's results for the direct parts of another one; the same value if none
/// changes. The function decides whether to recurse, so that passes with an environment can be recursive functions.
inline AnyValue structural_map_children(AnyView value, const Function& function) {
  AnyView called = function;
  AnyValue made;
  detail::check(anyffi_structure_map_children(&value.raw(), &called.raw(), made.out()));
  return made;
}

/// A copy of a value and all its parts, which may contain itself.
inline AnyValue deep_copy(AnyView value) {
  AnyView none;
  AnyValue made;
  detail::check(anyffi_structure_map(&value.raw(), &none.raw(), made.out()));
  return made;
}

/// The JSON of a value. TypeError for what cannot be written.
inline String to_json(AnyView value) {
  AnyValue text;
  detail::check(anyffi_json_write(&value.raw(), text.out()));
  return text.cast<String>();
}

/// The value of such JSON, a string or bytes. ValueError, with the position, for other text.
inline AnyValue from_json(AnyView text) {
  AnyValue value;
  detail::check(anyffi_json_read(&text.raw(), value.out()));
  return value;
}

}  // namespace anyffi

#endif  // ANYFFI_STRUCTURE_H_
