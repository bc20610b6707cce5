/// \file
/// Maps and copies values, with a stack of its own. A part with several references is visited once.
#include <anyffi/inline.h>

#include "core/errors.h"
#include "core/host.h"
#include "core/value.h"
#include "structure/changes.h"
#include "structure/making.h"
#include "structure/tables.h"
#include "values/containers.h"

namespace anyffi::runtime {
namespace {

/// The C++ copy constructor of a class, which also copies what is not a field; NULL if there is none.
AnyffiObject* find_copy(const ObjectType& type) noexcept {
  return type.info->record != nullptr ? nullptr : find_method(*type.info, "__copy__", 0);
}

/// Copies an object with the `__copy__` of its class, a function of the library that may return anything.
int call_copy(const ObjectType& type, AnyffiObject* copy, const AnyffiValue& value, Owned* out) noexcept {
  Owned made;
  if (call_function(anyffi_make_object(copy), value, &made) != 0) return -1;
  if (made->type_code <= 0 || !anyffi_type_is_a(made->type_code, type.info->type_code)) {
    return raise_format("TypeError",
                        "objects of '%s' cannot be copied: the __copy__ of the class returned another type",
                        type.info->type_key);
  }
  *out = std::move(made);
  return 0;
}

/// Creates a value from what a function returns for each part; without a function, a deep copy.
class Mapper {
 public:
  /// `function` is NULL for a copy.
  explicit Mapper(const AnyffiValue* function) : function_(function) {}
  Mapper(const Mapper&) = delete;
  Mapper& operator=(const Mapper&) = delete;
  ~Mapper();
  int run(const AnyffiValue& value, AnyffiValue* out);

 private:
  struct Frame {
    Owned value;
    const ObjectType* type;
    Position position;
    size_t first; /* index of its first part in `parts_`, which holds old and new parts in turn */
    int32_t row;  /* in `made_`, or -1 */
    Form form;
    bool is_changed;
    bool is_late;
  };

  int meet(Owned value, bool is_shared);
  int begin_copy(Frame* frame);
  int postpone();
  int advance();
  int finish(Owned* out);
  int make(Frame& frame, Owned* out);
  int fill(Frame& frame, const AnyffiValue& object);
  void add(const Owned& old, Owned result);
  void share_members(const AnyffiValue& original, AnyffiObject* copy) noexcept;

  const AnyffiValue* function_;
  ObjectTypes types_;
  Maker maker_{types_};
  Vector<Frame> stack_;
  Vector<Owned> parts_;
  PairTable rows_;
  Vector<Owned> made_;
  Vector<Owned> kept_; /* the originals of `made_` */
  Vector<Frame> late_; /* frames that are filled after everything else is created */
  Owned result_;
  bool is_done_ = false;
};

Mapper::~Mapper() {
  if (is_done_ || function_ != nullptr) return;
  SavedError saved;
  // Breaks cycles between incomplete copies.
  for (size_t i = 0; i < made_.size() && i < kept_.size(); ++i) {
    Owned& value = made_[i];
    if (value->type_code == ANYFFI_LIST)
      anyffi_sequence_erase(value->as_object, 0, as_sequence(value->as_object)->size);
    if (value->type_code == ANYFFI_DICT || value->type_code == ANYFFI_SET) anyffi_mapping_clear(value->as_object);
    if (value->type_code >= ANYFFI_FIRST_DYNAMIC_TYPE) share_members(*kept_[i].get(), value->as_object);
  }
}

/// Makes a copy refer to the parts of the original, and so no longer to other copies. Only through data members:
/// setters of properties may have side effects.
void Mapper::share_members(const AnyffiValue& original, AnyffiObject* copy) noexcept {
  guard([&] {
    for (const auto& each : types_.find(original.type_code).fields) {
      const AnyffiFieldInfo* field = each.field;
      if (field->visit == nullptr || field->set == nullptr) continue;
      Owned value;
      if (field->get(original.as_object, field, value.out()) != 0) continue;
      AnyffiValue given = *value.get();
      if (given.type_code > 0) given.aux = 0;  // not movable
      field->set(copy, field, &given);
    }
    return 0;
  });
}

/// Adds the result for a part, or for the root.
void Mapper::add(const Owned& old, Owned result) {
  if (stack_.empty()) {
    result_ = std::move(result);
    return;
  }
  Frame& frame = stack_.back();
  if (function_ != nullptr) {
    frame.is_changed |= add_result(*old.get(), std::move(result), &parts_);
    return;
  }
  frame.is_changed |= !is_identical(*old.get(), *result.get());
  parts_.push_back(std::move(result));
}

int Mapper::meet(Owned value, bool is_shared) {
  const ObjectType* type;
  Form form = maker_.form_of_value(*value.get(), &type);
  bool is_node =
      form != Form::kLeaf || value->type_code == ANYFFI_TENSOR || value->type_code >= ANYFFI_FIRST_DYNAMIC_TYPE;
  int32_t row = -1;
  if (is_node && is_shared) {
    int32_t& known = rows_.insert(value->as_object, nullptr);
    if (known >= 0) {
      const Owned& made = made_[static_cast<size_t>(known)];
      if (made->type_code == ANYFFI_UNSET) {
        int status = function_ == nullptr ? postpone() : 0;
        if (status != 0) return status < 0 ? -1 : 0;
        return anyffi_error_raise("ValueError",
                                  function_ != nullptr
                                      ? "a value that contains itself cannot be mapped: its parts are mapped before it"
                                      : "a value that contains itself by a part that cannot change cannot be copied");
      }
      return add(value, retained(*made.get())), 0;
    }
    known = row = static_cast<int32_t>(made_.size());
    made_.push_back(Owned(anyffi_make_value(static_cast<uint32_t>(ANYFFI_UNSET), 0)));
    kept_.push_back(retained(*value.get()));
  }
  Frame frame{std::move(value), type, Position{}, parts_.size(), row, form, false, false};
  if (form == Form::kLeaf) {
    Owned result;
    if (make(frame, &result) != 0) return -1;
    if (row >= 0) made_[static_cast<size_t>(row)] = retained(*result.get());
    return add(frame.value, std::move(result)), 0;
  }
  if (function_ == nullptr && row >= 0 && begin_copy(&frame) != 0) return -1;
  stack_.push_back(std::move(frame));
  return 0;
}

/// Creates a value that a cycle refers to before it is filled.
int Mapper::begin_copy(Frame* frame) {
  Owned& made = made_[static_cast<size_t>(frame->row)];
  int32_t code = frame->value->type_code;
  if (code == ANYFFI_LIST) return anyffi_sequence_create(code, as_sequence(frame->value->as_object)->size, made.out());
  if (code == ANYFFI_DICT || code == ANYFFI_SET) {
    return anyffi_mapping_create(code, as_mapping(frame->value->as_object)->size, made.out());
  }
  if (frame->form != Form::kFields) return 0;
  if (AnyffiObject* copy = find_copy(*frame->type)) return call_copy(*frame->type, copy, *frame->value.get(), &made);
  const Recipe& recipe = maker_.recipe_of(*frame->type);
  return recipe.is_empty_first() ? construct(*frame->type, recipe, nullptr, made.out()) : 0;
}

int Mapper::fill(Frame& frame, const AnyffiValue& object) {
  const AnyffiValue* parts = reinterpret_cast<const AnyffiValue*>(parts_.data()) + frame.first;
  auto count = static_cast<int64_t>(parts_.size() - frame.first);
  if (object.type_code == ANYFFI_LIST) return anyffi_sequence_splice(object.as_object, 0, 0, parts, count);
  if (object.type_code == ANYFFI_DICT || object.type_code == ANYFFI_SET) {
    int64_t step = object.type_code == ANYFFI_DICT ? 2 : 1;
    for (int64_t i = 0; i < count; i += step) {
      AnyffiValue key = retained(parts[i]).take();
      AnyffiValue value = step == 2 ? retained(parts[i + 1]).take() : anyffi_make_none();
      int32_t existed;
      if (anyffi_mapping_set(object.as_object, &key, &value, &existed) != 0) return -1;
    }
    return 0;
  }
  if (find_copy(*frame.type) != nullptr) return settle_fields(*frame.type, parts, object.as_object);
  return set_rest(*frame.type, maker_.recipe_of(*frame.type), parts, object.as_object);
}

int Mapper::make(Frame& frame, Owned* out) {
  const AnyffiValue& value = *frame.value.get();
  static_assert(sizeof(Owned) == sizeof(AnyffiValue));
  const AnyffiValue* parts = reinterpret_cast<const AnyffiValue*>(parts_.data()) + frame.first;
  size_t count = parts_.size() - frame.first;
  if (function_ != nullptr) {
    Owned changed;
    if (maker_.remake(value, frame.is_changed, parts, count, changed.out()) != 0) return -1;
    return call_function(*function_, *changed.get(), out);
  }
  if (frame.row >= 0 && made_[static_cast<size_t>(frame.row)]->type_code != ANYFFI_UNSET) {
    *out = retained(*made_[static_cast<size_t>(frame.row)].get());
    return fill(frame, *out->get());
  }
  if (value.type_code == ANYFFI_TENSOR) {
    auto* tensor = reinterpret_cast<AnyffiTensor*>(value.as_object);
    return anyffi_tensor_copy(&tensor->tensor, tensor->flags, out->out());
  }
  if (frame.form == Form::kLeaf && value.type_code >= ANYFFI_FIRST_DYNAMIC_TYPE) {
    const ObjectType& type = types_.find(value.type_code);
    AnyffiObject* copy = find_copy(type);
    if (copy == nullptr) return raise_no_recipe(type, Recipe());
    return call_copy(type, copy, value, out);
  }
  bool is_immutable = frame.form == Form::kLeaf || frame.form == Form::kSlice || value.type_code == ANYFFI_ARRAY ||
                      value.type_code == ANYFFI_SHAPE || value.type_code == ANYFFI_MAP ||
                      value.type_code == ANYFFI_FROZEN_SET;
  if (is_immutable && !frame.is_changed) return *out = retained(value), 0;
  if (frame.form == Form::kFields) {
    if (AnyffiObject* copy = find_copy(*frame.type)) {
      if (call_copy(*frame.type, copy, value, out) != 0) return -1;
      return settle_fields(*frame.type, parts, out->get()->as_object);
    }
  }
  return maker_.make_like(value, parts, count, out->out());
}

/// For a part of a copy that is reached again before it can be created: creates the innermost enclosing container or
/// object that can be created empty, and schedules it to be filled when the part exists. 0 if there is none; -1 on
/// failure.
int Mapper::postpone() {
  size_t at = stack_.size();
  do {
    if (at == 0) return 0;
    Frame& frame = stack_[--at];
    if (frame.row >= 0) continue;
    frame.row = static_cast<int32_t>(made_.size());
    made_.push_back(Owned(anyffi_make_value(static_cast<uint32_t>(ANYFFI_UNSET), 0)));
    kept_.push_back(retained(*frame.value.get()));
    if (begin_copy(&frame) != 0) return -1;
  } while (made_[static_cast<size_t>(stack_[at].row)]->type_code == ANYFFI_UNSET);
  if (stack_[at].is_late) return 0;
  for (size_t i = at + 1; i < stack_.size(); ++i) {
    // An enclosing value created now would lack the part, so it begins anew.
    rows_.insert(stack_[i].value->as_object, nullptr) = PairTable::kAbsent;
  }
  Frame frame = std::move(stack_[at]);
  stack_.erase(stack_.begin() + static_cast<ptrdiff_t>(at), stack_.end());
  parts_.resize(frame.first);
  add(frame.value, retained(*made_[static_cast<size_t>(frame.row)].get()));
  frame.is_late = true;
  frame.position = Position{};
  late_.push_back(std::move(frame));
  return 1;
}

/// Processes the frames on the stack.
int Mapper::advance() {
  for (uint32_t steps = 1; !stack_.empty(); ++steps) {
    if ((steps & 0xFFFF) == 0 && anyffi_host_check_signals() != 0) return -1;
    Frame& frame = stack_.back();
    Owned part;
    bool is_shared;
    int status = next_part(*frame.value.get(), frame.form, frame.type, &frame.position, &part, &is_shared);
    if (status > 0) {
      if (meet(std::move(part), is_shared) != 0) return -1;
      continue;
    }
    Owned result;
    if (status < 0 || make(frame, &result) != 0) return -1;
    Frame done = std::move(frame);
    stack_.pop_back();
    parts_.resize(done.first);
    if (done.row >= 0) made_[static_cast<size_t>(done.row)] = retained(*result.get());
    if (!done.is_late) add(done.value, std::move(result));
  }
  return 0;
}

int Mapper::run(const AnyffiValue& value, AnyffiValue* out) {
  Owned root;
  if (anyffi_value_own(&value, root.out()) != 0 || meet(std::move(root), true) != 0 || advance() != 0) return -1;
  while (!late_.empty()) {
    stack_.push_back(std::move(late_.back()));
    late_.pop_back();
    stack_.back().first = parts_.size();
    if (advance() != 0) return -1;
  }
  is_done_ = true;
  *out = result_.take();
  return 0;
}

}  // namespace
}  // namespace anyffi::runtime

int anyffi_structure_map(const AnyffiValue* value, const AnyffiValue* function, AnyffiValue* out) {
  using namespace anyffi::runtime;
  *out = anyffi_make_none();
  return guard([&] {
    Mapper mapper(function->type_code == ANYFFI_NONE ? nullptr : function);
    return mapper.run(*value, out);
  });
}
