/// \file
/// Comparison of values by their structure.
#include "structure/comparer.h"

#include <anyffi/inline.h>

#include <cstring>

#include "core/errors.h"
#include "structure/arrays.h"
#include "values/equal.h"

namespace anyffi::runtime {
namespace {

Comparer::Verdict verdict_of(int status) noexcept {
  return status < 0 ? Comparer::kFailed : status != 0 ? Comparer::kSame : Comparer::kDiffers;
}

bool is_long_text(const AnyffiValue& a, const AnyffiValue& b) noexcept {
  return a.type_code == b.type_code && (a.type_code == ANYFFI_STR_OBJECT || a.type_code == ANYFFI_BYTES_OBJECT);
}

}  // namespace

int Comparer::run(const AnyffiValue& a, const AnyffiValue& b) {
  // This also holds with mapped variables: each stands for itself.
  if (a.type_code > 0 && a.type_code == b.type_code && a.as_object == b.as_object) return 1;
  Owned first = retained(a), second = retained(b);
  Verdict verdict = compare_elements(a, b, false);
  for (uint32_t steps = 1; !stack_.empty() && (verdict == kSame || verdict == kBegun); ++steps) {
    if ((steps & 0xFFFFF) == 0) {
      protect();
      if (anyffi_host_check_signals() != 0) return -1;
    }
    verdict = advance();
    if (verdict == kSame) finish();
  }
  if (verdict == kFailed) return -1;
  return verdict == kSame && differences_.empty();
}

void Comparer::protect() noexcept {
  if (owns_) return;
  owns_ = true;
  for (Frame& frame : stack_) {
    anyffi_value_retain(&frame.a);
    anyffi_value_retain(&frame.b);
    frame.owns = true;
  }
}

/* ---- two values ---- */

Comparer::Verdict Comparer::compare_elements(const AnyffiValue& a, const AnyffiValue& b, bool binds) {
  // Copies, because the cells may move.
  AnyffiValue left = anyffi_read_value(&unboxed(a));
  AnyffiValue right = anyffi_read_value(&unboxed(b));
  if (left.type_code >= ANYFFI_FIRST_DYNAMIC_TYPE && left.type_code == right.type_code && !binds) {
    return compare_objects(left, right);
  }
  int plain = compare_plain(left, right);
  if (plain == 1) return kSame;
  if (plain == 0) return record(&left, &right, nullptr);
  if (is_long_text(left, right) && quick_equal(left, right) == Quick::kEqual) return kSame;
  return compare_borrowed(left, right, is_shared(left, 0) || is_shared(right, 0), binds);
}

Comparer::Verdict Comparer::compare_borrowed(const AnyffiValue& a, const AnyffiValue& b, bool may_return, bool binds) {
  if (search_ == Search::kAny) return meet(a, b, may_return, binds);
  // Retained: code of the host may remove them from their containers.
  Owned left = retained(a), right = retained(b);
  Verdict verdict = meet(*left.get(), *right.get(), may_return, binds);
  return verdict == kDiffers ? record(left.get(), right.get(), nullptr) : verdict;
}

Comparer::Verdict Comparer::meet_leaves(const AnyffiValue& a, const AnyffiValue& b) {
  // Comparing numbers, text and tensors runs no code of the host.
  auto runs_code = [](int32_t code) {
    return code > ANYFFI_COMPLEX && code != ANYFFI_TENSOR && code != ANYFFI_STR_OBJECT && code != ANYFFI_BYTES_OBJECT;
  };
  if (!runs_code(a.type_code) && !runs_code(b.type_code)) return verdict_of(compare_leaves(a, b, flags_));
  protect();
  Owned left = retained(a), right = retained(b);
  return verdict_of(compare_leaves(a, b, flags_));
}

Comparer::Verdict Comparer::meet_object(const AnyffiValue& a, const AnyffiValue& b, const ObjectType& type, bool binds,
                                        Variable* variable) {
  AnyffiObject* left = a.as_object;
  AnyffiObject* right = b.as_object;
  if (binds) return *variable = Variable::kBound, kBegun;
  bool is_dag = is_dag_node(type);
  if (scopes_.may_be_bound(left) || scopes_.may_be_bound(right)) {
    int32_t number = scopes_.find(0, left);
    int32_t other = scopes_.find(1, right);
    if (number != Scopes::kFree || other != Scopes::kFree) {
      if (!is_dag || number < Scopes::kFirstMapped) results_.meet(Use{left, right, number});
      return number == other ? kSame : kDiffers;
    }
  }
  // A DAG node stays mapped for good, so results that depend on it stay valid.
  if (is_dag) return *variable = Variable::kMapped, kBegun;
  if (type.structure != ANYFFI_STRUCTURE_VARIABLE) return kBegun;
  results_.meet(Use{left, right, Scopes::kFree});
  if ((flags_ & ANYFFI_MAP_FREE_VARIABLES) == 0) return left == right ? kSame : kDiffers;
  *variable = Variable::kMapped;
  return kBegun;
}

Comparer::Verdict Comparer::meet(const AnyffiValue& a, const AnyffiValue& b, bool may_return, bool binds) {
  Form form = form_of(a.type_code);
  if (form == Form::kLeaf || form_of(b.type_code) == Form::kLeaf) {
    return form == form_of(b.type_code) ? meet_leaves(a, b) : kDiffers;
  }
  if (a.type_code != b.type_code && anyffi_type_get_family(a.type_code) != anyffi_type_get_family(b.type_code)) {
    return kDiffers;
  }
  const ObjectType* type = nullptr;
  auto variable = Variable::kNone;
  if (form == Form::kFields) {
    type = &types_.find(a.type_code);
    form = type->form;
    Verdict verdict = meet_object(a, b, *type, binds, &variable);
    if (verdict != kBegun) return verdict;
    if (form == Form::kLeaf && variable == Variable::kNone) {
      bool by_identity = type->structure == ANYFFI_STRUCTURE_IDENTITY;
      return by_identity ? verdict_of(a.as_object == b.as_object) : meet_leaves(a, b);
    }
  }
  if (a.as_object == b.as_object && variable == Variable::kNone && !binds && !maps_ && !scopes_.has_crossed()) {
    return kSame;
  }
  if (form == Form::kSequence && search_ == Search::kAny) {
    if (as_sequence(a.as_object)->size != as_sequence(b.as_object)->size) return kDiffers;
  }
  int32_t row = -1;
  bool only_begun = variable != Variable::kNone || binds;
  if (may_return && is_known(a.as_object, b.as_object, only_begun, &row)) return kSame;
  std::unique_ptr<Pairs> pairs;
  if (form == Form::kMapping || form == Form::kSet) {
    const Mapping* left = as_mapping(a.as_object);
    const Mapping* right = as_mapping(b.as_object);
    if (search_ == Search::kAny && left->size != right->size) return kDiffers;
    if (!has_simple_keys(left) || !has_simple_keys(right)) {
      protect();
      Owned first = retained(a), second = retained(b);
      pairs = std::make_unique<Pairs>();
      int status = pair_entries(left, right, pairs.get());
      if (status < 0) return kFailed;
      if (status == 0 && search_ == Search::kAny) return kDiffers;
      return begin(a, b, type, std::move(pairs), row, form, binds, variable);
    }
  }
  return begin(a, b, type, std::move(pairs), row, form, binds, variable);
}

Comparer::Verdict Comparer::begin(const AnyffiValue& a, const AnyffiValue& b, const ObjectType* type,
                                  std::unique_ptr<Pairs> pairs, int32_t row, Form form, bool binds, Variable variable) {
  stack_.push_back(Frame{a, b, type, std::move(pairs), 0, 0, row, static_cast<uint32_t>(scopes_.height()),
                         static_cast<uint32_t>(results_.uses.size()), form, binds && type == nullptr, variable, false,
                         owns_});
  if (owns_) {
    anyffi_value_retain(&a);
    anyffi_value_retain(&b);
  }
  return kBegun;
}

/* ---- their parts ---- */

Comparer::Verdict Comparer::advance() {
  Frame& frame = stack_.back();
  switch (frame.form) {
    case Form::kSequence:
      return advance_sequence();
    case Form::kMapping:
    case Form::kSet:
      return frame.pairs != nullptr ? advance_pairs() : advance_entries();
    case Form::kLeaf:
      return kSame;
    default:
      return advance_parts();
  }
}

Comparer::Verdict Comparer::advance_sequence() {
  for (;;) {
    // Read again in each step: the frame moves, and code of the host may change the sequences.
    Frame& frame = stack_.back();
    const AnyffiSequence* left = as_sequence(frame.a.as_object);
    const AnyffiSequence* right = as_sequence(frame.b.as_object);
    int64_t index = frame.current = frame.index;
    if (index >= left->size && index >= right->size) return kSame;
    ++frame.index;
    Verdict verdict;
    if (index >= left->size) {
      verdict = record(nullptr, &right->data[index], nullptr);
    } else if (index >= right->size) {
      verdict = record(&left->data[index], nullptr, nullptr);
    } else {
      verdict = compare_elements(left->data[index], right->data[index], frame.binds);
    }
    if (verdict != kSame) return verdict;
  }
}

Comparer::Verdict Comparer::advance_parts() {
  for (;;) {
    Frame& frame = stack_.back();
    const ObjectType* type = frame.type;
    int64_t index = frame.index;
    if (frame.form == Form::kFields) index = skip_same(*type, frame.a.as_object, frame.b.as_object, index);
    frame.current = index;
    if (index >= count_parts(type)) return kSame;
    frame.index = index + 1;
    int32_t structure = ANYFFI_STRUCTURE_PLAIN;
    if (frame.form == Form::kFields) structure = type->fields[static_cast<size_t>(index)].structure;
    bool binds = structure == ANYFFI_STRUCTURE_DEFINES || structure == ANYFFI_STRUCTURE_DECLARES;
    AnyffiValue parts[2];
    Verdict verdict;
    if (structure != ANYFFI_STRUCTURE_IDENTITY && peek_part(type, frame.a.as_object, index, &parts[0]) &&
        peek_part(type, frame.b.as_object, index, &parts[1])) {
      verdict = compare_elements(parts[0], parts[1], binds);
    } else {
      protect();
      if (get_part(type, frame.a.as_object, index, &parts[0]) != 0) return kFailed;
      Owned left(parts[0]);
      if (get_part(type, frame.b.as_object, index, &parts[1]) != 0) return kFailed;
      Owned right(parts[1]);
      verdict = compare_parts(left, right, structure == ANYFFI_STRUCTURE_IDENTITY, binds);
    }
    if (verdict != kSame) return verdict;
  }
}

Comparer::Verdict Comparer::compare_parts(Owned& left, Owned& right, bool by_identity, bool binds) {
  int plain = compare_plain(*left.get(), *right.get());
  if (plain == 1) return kSame;
  if (left->type_code == ANYFFI_BOX) left = retained(unboxed(*left.get()));
  if (right->type_code == ANYFFI_BOX) right = retained(unboxed(*right.get()));
  if (plain == 0) return record(left.get(), right.get(), nullptr);
  if (by_identity && form_of(left->type_code) != Form::kLeaf) {
    bool is_same = left->type_code == right->type_code && left->as_object == right->as_object;
    return is_same ? kSame : record(left.get(), right.get(), nullptr);
  }
  bool may_return = is_shared(*left.get(), 1) || is_shared(*right.get(), 1);
  return compare_borrowed(*left.get(), *right.get(), may_return, binds);
}

void Comparer::finish() {
  if (steps_.size() == stack_.size()) steps_.pop_back();
  Frame& last = stack_.back();
  if (last.row < 0 && last.variable == Variable::kNone && !last.needs_all && scopes_.is_empty() &&
      results_.uses.empty()) {
    release(last);
    stack_.pop_back();
    return;
  }
  Frame frame = std::move(stack_.back());
  stack_.pop_back();
  // At the end, also without memory for one of the steps.
  struct Releasing {
    const Frame& frame;
    ~Releasing() { release(frame); }
  } releasing{frame};
  // Releases in this function may run code of the host.
  protect();
  bool is_scope =
      frame.form == Form::kMapping || frame.form == Form::kSet || (frame.type != nullptr && frame.type->is_scope);
  if (is_scope) scopes_.pop_to(frame.height);
  AnyffiObject* left = frame.a.as_object;
  if (frame.variable == Variable::kBound) scopes_.bind(left, frame.b.as_object);
  if (frame.variable == Variable::kMapped) scopes_.map_free(left, frame.b.as_object);
  if (scopes_.height() > frame.height) {
    declaring_.insert(left, nullptr) = 0;
  }
  bool fits = results_.reduce(frame.first_use, frame.height) && !frame.needs_all;
  if (frame.row >= 0) {
    if (scopes_.height() > frame.height || frame.variable != Variable::kNone) {
      results_.drop(frame.row);
    } else {
      results_.finish(frame.row, 0, frame.first_use, !fits);
    }
  }
  if (!fits && !stack_.empty()) stack_.back().needs_all = true;
  if (frame.variable != Variable::kNone || scopes_.height() > frame.height) {
    kept_.push_back(retained(frame.a));
    kept_.push_back(retained(frame.b));
  }
}

}  // namespace anyffi::runtime
