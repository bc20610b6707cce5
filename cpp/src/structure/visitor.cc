/// \file
/// Visits values, with a stack of its own. A part with several references is visited once.
#include <anyffi/inline.h>

#include "core/errors.h"
#include "structure/making.h"
#include "structure/tables.h"

namespace anyffi::runtime {
namespace {

/// Calls a function with each value.
class Visitor {
 public:
  Visitor(const AnyffiValue& function, bool is_post) : function_(function), is_post_(is_post) {}
  int run(const AnyffiValue& value);

 private:
  struct Frame {
    Owned value;
    const ObjectType* type;
    Position position;
    Form form;
  };
  int meet(Owned value, bool is_shared);

  const AnyffiValue& function_;
  bool is_post_;
  ObjectTypes types_;
  Maker maker_{types_};
  Vector<Frame> stack_;
  PairTable seen_;
  Vector<Owned> kept_;
};

int Visitor::meet(Owned value, bool is_shared) {
  const ObjectType* type;
  Form form = maker_.form_of_value(*value.get(), &type);
  bool is_node = form != Form::kLeaf || value->type_code >= ANYFFI_FIRST_DYNAMIC_TYPE;
  if (is_node && is_shared) {
    int32_t& seen = seen_.insert(value->as_object, nullptr);
    if (seen >= 0) return 0;
    seen = 1;
    kept_.push_back(retained(*value.get()));
  }
  if (!is_post_ || form == Form::kLeaf) {
    Owned result;
    if (call_function(function_, *value.get(), &result) != 0) return -1;
    if (form == Form::kLeaf || (result->type_code == ANYFFI_BOOL && result->as_int == 0)) return 0;
  }
  stack_.push_back(Frame{std::move(value), type, Position{}, form});
  return 0;
}

int Visitor::run(const AnyffiValue& value) {
  Owned root;
  if (anyffi_value_own(&value, root.out()) != 0 || meet(std::move(root), true) != 0) return -1;
  while (!stack_.empty()) {
    Frame& frame = stack_.back();
    Owned part;
    bool is_shared;
    int status = next_part(*frame.value.get(), frame.form, frame.type, &frame.position, &part, &is_shared);
    if (status > 0) {
      status = meet(std::move(part), is_shared);
    } else if (status == 0) {
      Owned done = std::move(frame.value), result;
      stack_.pop_back();
      if (is_post_) status = call_function(function_, *done.get(), &result);
    }
    if (status < 0) return -1;
  }
  return 0;
}

}  // namespace
}  // namespace anyffi::runtime

int anyffi_structure_visit(const AnyffiValue* value, const AnyffiValue* function, int32_t is_post) {
  using namespace anyffi::runtime;
  return guard([&] {
    Visitor visitor(*function, is_post != 0);
    return visitor.run(*value);
  });
}
