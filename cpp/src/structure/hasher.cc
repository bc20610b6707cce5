/// \file
/// Hashes of values by their structure.
#include "structure/hasher.h"

#include <anyffi/inline.h>

#include "core/errors.h"
#include "values/containers.h"

namespace anyffi::runtime {

int Hasher::run(const AnyffiValue& value, uint64_t* out) {
  has_cycle_ = false;
  int status = run_once(value, kNoLimit, out);
  if (status == 0 && has_cycle_) status = run_once(value, kLevelsOfCycles, out);
  return status;
}

int Hasher::run_once(const AnyffiValue& value, int32_t levels, uint64_t* out) {
  size_t base = stack_.size();
  size_t height = scopes_.height();
  results_.uses.clear();
  int status = 0;
  const AnyffiValue& given = unboxed(value);
  Owned root = retained(given);
  limit_ = levels;
  bool may_return = is_shared(given, 0);
  status = meet(std::move(root), may_return, false);
  for (uint32_t steps = 0; status >= 0 && stack_.size() > base;) {
    if ((++steps & 0xFFFF) == 0 && anyffi_host_check_signals() != 0) status = -1;
    if (status < 0 || (has_cycle_ && levels == kNoLimit)) break;
    status = advance();
    if (status != 0) continue;
    finish();
    if (stack_.size() > base) absorb();
  }
  scopes_.pop_to(height);
  stack_.erase(stack_.begin() + static_cast<ptrdiff_t>(base), stack_.end());
  *out = result_;
  return status < 0 ? -1 : 0;
}

void Hasher::absorb() noexcept {
  Frame& frame = stack_.back();
  if (frame.form == Form::kMapping) {
    // The hash of a key is kept until its value is hashed.
    bool is_key = (frame.position.index & 1) != 0;
    if (is_key) {
      frame.key = result_;
      return;
    }
    frame.sum += add_hash(add_hash(begin_hash(ANYFFI_MAP), frame.key), result_);
  } else if (frame.form == Form::kSet) {
    frame.sum += add_hash(begin_hash(ANYFFI_SET), result_);
  } else {
    frame.sum = add_hash(frame.sum, result_);
  }
  if (frame.form == Form::kMapping || frame.form == Form::kSet) scopes_.pop_to(frame.height);
}

Use Hasher::use_of(const AnyffiObject* variable, int32_t number) const noexcept {
  return side_ == 0 ? Use{variable, nullptr, number} : Use{nullptr, variable, number};
}

int Hasher::meet_variable(AnyffiObject* object, const ObjectType& type, bool binds, Variable* variable) {
  if (binds) return *variable = Variable::kBound, 1;
  bool is_dag = is_dag_node(type);
  if (scopes_.may_be_bound(object)) {
    int32_t number = scopes_.find(side_, object);
    if (number != Scopes::kFree) {
      // A DAG node keeps its number for good, so the hash does not depend on the scope.
      if (!is_dag || number < Scopes::kFirstMapped) results_.meet(use_of(object, number));
      result_ = add_hash(begin_hash(kBoundTag), static_cast<uint64_t>(number));
      return 0;
    }
  }
  if (type.structure != ANYFFI_STRUCTURE_VARIABLE && !is_dag) return 1;
  results_.meet(use_of(object, Scopes::kFree));
  if (is_dag || (flags_ & ANYFFI_MAP_FREE_VARIABLES) != 0) *variable = Variable::kMapped;
  return 1;
}

int Hasher::meet(Owned value, bool is_shared, bool binds) {
  Form form = form_of(value->type_code);
  if (form == Form::kLeaf) return hash_leaf(*value.get(), flags_, &result_);
  AnyffiObject* object = value->as_object;
  const ObjectType* type = nullptr;
  auto variable = Variable::kNone;
  if (form == Form::kFields) {
    type = &types_.find(value->type_code);
    form = type->form;
    if (meet_variable(object, *type, binds, &variable) == 0) return 0;
    if (form == Form::kLeaf && variable == Variable::kNone) return result_ = type->key_hash, 0;
  }
  const Frame* outer = stack_.empty() ? nullptr : &stack_.back();
  int32_t levels = outer == nullptr ? limit_ : outer->levels == kNoLimit ? kNoLimit : outer->levels - 1;
  if (levels == 0) return result_ = begin_hash(kCutTag), 0;
  bool is_unordered = outer == nullptr
                          ? serves_comparison_
                          : outer->is_unordered || outer->form == Form::kMapping || outer->form == Form::kSet;
  // In an unordered container the object has no position, so it gets no number, and its parts are hashed each time.
  if (is_unordered && type != nullptr && is_dag_node(*type) && !binds) variable = Variable::kNone;
  int32_t row = -1;
  if (is_shared || serves_comparison_) {
    // Objects have addresses at multiples of 16, so adding `levels` gives distinct keys.
    const char* key = reinterpret_cast<const char*>(object) + levels;
    // An object that binds variables must bind them again, except inside of itself.
    bool only_begun = variable != Variable::kNone || binds;
    const Results::Row* known = results_.find(key, nullptr, scopes_, true, only_begun);
    if (known != nullptr) {
      has_cycle_ |= !known->is_done;
      if (outer != nullptr) stack_.back().needs_all |= known->needs_all;
      return result_ = known->is_done ? known->value : begin_hash(kCutTag), 0;
    }
    row = results_.begin(key, nullptr, scopes_);
    kept_.push_back(retained(*value.get()));
  }
  uint64_t sum = type != nullptr ? type->key_hash : begin_hash(anyffi_type_get_family(value->type_code));
  stack_.push_back(Frame{std::move(value), type, Position{}, sum, 0, row, levels,
                         static_cast<uint32_t>(scopes_.height()), static_cast<uint32_t>(results_.uses.size()), form,
                         binds && type == nullptr, variable, false, is_unordered});
  return 1;
}

int Hasher::advance() {
  for (;;) {
    Frame& frame = stack_.back();
    bool binds = frame.binds;
    int32_t structure = 0;
    if (frame.form == Form::kFields && frame.position.index < count_parts(frame.type)) {
      structure = frame.type->fields[static_cast<size_t>(frame.position.index)].structure;
      binds = structure == ANYFFI_STRUCTURE_DEFINES || structure == ANYFFI_STRUCTURE_DECLARES;
      if (structure == ANYFFI_STRUCTURE_IGNORE) {
        ++frame.position.index;
        continue;
      }
    }
    Owned part;
    bool is_shared;
    int status = next_part(*frame.value.get(), frame.form, frame.type, &frame.position, &part, &is_shared);
    if (status <= 0) return status;
    if (structure == ANYFFI_STRUCTURE_IDENTITY && form_of(part->type_code) != Form::kLeaf) {
      result_ = begin_hash(kUniqueTag);
    } else {
      status = meet(std::move(part), is_shared, binds);
      if (status != 0) return status;
    }
    absorb();
  }
}

void Hasher::finish() {
  Frame frame = std::move(stack_.back());
  stack_.pop_back();
  bool is_unordered = frame.form == Form::kMapping || frame.form == Form::kSet;
  // Sums over unordered entries are not mixed yet.
  result_ =
      is_unordered ? add_hash(frame.sum, static_cast<uint64_t>(as_mapping(frame.value->as_object)->size)) : frame.sum;
  if (is_unordered || (frame.type != nullptr && frame.type->is_scope)) scopes_.pop_to(frame.height);
  if (frame.variable != Variable::kNone) {
    const AnyffiObject* object = frame.value->as_object;
    const AnyffiObject* a = side_ == 0 ? object : nullptr;
    const AnyffiObject* b = side_ == 0 ? nullptr : object;
    if (frame.variable == Variable::kBound) {
      scopes_.bind(a, b);
    } else {
      // The number would depend on the order of the entries.
      uint64_t number = frame.is_unordered ? ~uint64_t{0} : static_cast<uint64_t>(scopes_.num_mapped());
      result_ = add_hash(is_dag_node(*frame.type) ? result_ : begin_hash(kFreeTag), number);
      if (!frame.is_unordered) scopes_.map_free(a, b);
    }
    kept_.push_back(std::move(frame.value));
  }
  bool leaves_bindings = scopes_.height() > frame.height;
  bool fits = results_.reduce(frame.first_use, frame.height) && !frame.needs_all;
  if (frame.row >= 0) {
    if (leaves_bindings || frame.variable != Variable::kNone) {
      results_.drop(frame.row);
    } else {
      results_.finish(frame.row, result_, frame.first_use, !fits);
    }
  }
  if (!fits && !stack_.empty()) stack_.back().needs_all = true;
}

}  // namespace anyffi::runtime

int anyffi_structure_hash(const AnyffiValue* value, uint32_t flags, int64_t* out) {
  using namespace anyffi::runtime;
  *out = 0;
  return guard([&] {
    ObjectTypes types;
    Scopes scopes;
    Hasher hasher(types, scopes, 0, flags);
    uint64_t hash;
    if (hasher.run(*value, &hash) != 0) return -1;
    *out = static_cast<int64_t>(hash);
    return 0;
  });
}
