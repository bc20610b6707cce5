/// \file
/// Lists the direct parts of values, and makes values with other parts.
#include <anyffi/inline.h>

#include <cstring>

#include "core/errors.h"
#include "structure/arrays.h"
#include "structure/changes.h"
#include "structure/making.h"

namespace anyffi::runtime {
namespace {

/// Reads the direct parts of a value.
class Children {
 public:
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  int open(const AnyffiValue& value) {
    if (anyffi_value_own(&unboxed(value), owner_.out()) != 0) return -1;
    form_ = maker_.form_of_value(*owner_.get(), &type_);
    return 0;
  }

  /// 1, or 0 after the last; -1 on failure.
  int next(Owned* out) noexcept {
    bool is_shared;
    return next_part(*owner_.get(), form_, type_, &position_, out, &is_shared);
  }
  int read_all(Vector<Owned>* out) {
    Owned part;
    int status;
    while ((status = next(&part)) > 0) out->push_back(std::move(part));
    return status;
  }

  /// Makes a value like this one, with one part replaced; see `anyffi_structure_replace`.
  int replace(int64_t index, const AnyffiValue& part, AnyffiValue* out) {
    bool is_object = form_ == Form::kFields || form_ == Form::kState;
    if (is_object && index == kStatePart && type_->get_state != nullptr) return restore(*type_, part, out);
    if (form_ == Form::kState && !type_->fields.empty()) {
      return restore_with_field(*type_, owner_->as_object, index, part, out);
    }
    Vector<Owned> parts;
    if (read_all(&parts) != 0) return -1;
    if (index < 0 || index >= static_cast<int64_t>(parts.size())) return raise_no_part();
    parts[static_cast<size_t>(index)] = retained(part);
    return remake(true, parts, out);
  }

  /// Makes a value with these parts; returns the value itself if no part changed.
  int remake(bool is_changed, const Vector<Owned>& parts, AnyffiValue* out) {
    static_assert(sizeof(Owned) == sizeof(AnyffiValue));
    const auto* values = reinterpret_cast<const AnyffiValue*>(parts.data());
    return maker_.remake(*owner_.get(), is_changed, values, parts.size(), out);
  }

  /// The row of the part that was read last: the kind of its step, the step's key, and the part.
  int make_row(int64_t index, const Vector<Owned>& parts, AnyffiValue* out) const {
    const AnyffiValue& part = *parts[static_cast<size_t>(index)].get();
    if (form_ == Form::kSequence) return make_row(StepType::kIndex, anyffi_make_int(index), part, out);
    if (form_ == Form::kSet) return make_row(StepType::kElement, part, part, out);
    if (form_ == Form::kMapping) {
      // A mapping's keys are its elements, as in a `for` loop.
      if (index % 2 == 0) return make_row(StepType::kElement, part, part, out);
      return make_row(StepType::kKey, *parts[static_cast<size_t>(index - 1)].get(), part, out);
    }
    const char* text = form_ == Form::kState ? kStateName : name_part(type_, index);
    Owned name;
    if (anyffi_str_from_utf8(text, static_cast<int64_t>(std::strlen(text)), name.out()) != 0) return -1;
    return make_row(StepType::kField, *name.get(), part, out);
  }

 private:
  static int make_row(StepType kind, const AnyffiValue& key, const AnyffiValue& part, AnyffiValue* out) noexcept {
    return make_array({anyffi_make_int(static_cast<int64_t>(kind)), key, part}, out);
  }

  ObjectTypes types_;
  Maker maker_{types_};
  Owned owner_;
  const ObjectType* type_ = nullptr;
  Form form_ = Form::kLeaf;
  Position position_;
};

int list_children(const AnyffiValue& value, AnyffiValue* out) {
  Children children;
  if (children.open(value) != 0) return -1;
  Vector<Owned> parts;
  Owned rows;
  if (children.read_all(&parts) != 0) return -1;
  auto size = static_cast<int64_t>(parts.size());
  if (anyffi_sequence_create(ANYFFI_ARRAY, size, rows.out()) != 0) return -1;
  for (int64_t i = 0; i < size; ++i) {
    AnyffiValue row;
    if (children.make_row(i, parts, &row) != 0) return -1;
    append_owned(rows->as_object, row);
  }
  *out = rows.take();
  return 0;
}

int map_children(const AnyffiValue& value, const AnyffiValue& function, AnyffiValue* out) {
  Children children;
  if (children.open(value) != 0) return -1;
  Vector<Owned> parts;
  bool is_changed = false;
  Owned part;
  int status;
  while ((status = children.next(&part)) > 0) {
    Owned result;
    if (call_function(function, *part.get(), &result) != 0) return -1;
    is_changed |= add_result(*part.get(), std::move(result), &parts);
  }
  return status < 0 ? -1 : children.remake(is_changed, parts, out);
}

int replace_child(const AnyffiValue& value, int64_t index, const AnyffiValue& part, AnyffiValue* out) {
  Children children;
  Owned owned;
  if (children.open(value) != 0 || anyffi_value_own(&part, owned.out()) != 0) return -1;
  return children.replace(index, *owned.get(), out);
}

}  // namespace
}  // namespace anyffi::runtime

int anyffi_structure_children(const AnyffiValue* value, AnyffiValue* out) {
  *out = anyffi_make_none();
  return anyffi::runtime::guard([&] { return anyffi::runtime::list_children(*value, out); });
}

int anyffi_structure_map_children(const AnyffiValue* value, const AnyffiValue* function, AnyffiValue* out) {
  *out = anyffi_make_none();
  return anyffi::runtime::guard([&] { return anyffi::runtime::map_children(*value, *function, out); });
}

int anyffi_structure_replace(const AnyffiValue* value, int64_t index, const AnyffiValue* part, AnyffiValue* out) {
  *out = anyffi_make_none();
  return anyffi::runtime::guard([&] { return anyffi::runtime::replace_child(*value, index, *part, out); });
}
