/// \file
/// Passes over expressions, whose classes are declared in Python; `python -m anyffi stubgen --cpp nodes -o nodes.h`
/// wrote the structs.

#include <anyffi/anyffi.h>

#include <unordered_map>
#include <vector>

#include "nodes.h"

namespace {

using anyffi::AnyValue;
using anyffi::arg;
using anyffi::Array;
using anyffi::Error;
using anyffi::Ref;
using anyffi::String;
using anyffi::Variant;
using ir::Expr;

/// An expression of any class: `Node(expr).visit(visitor)` calls the visitor with an object of its class.
using Node = Variant<Ref<ir::Var>, Ref<ir::Const>, Ref<ir::Call>, Ref<ir::Let>, Ref<ir::Function>>;

/// The computation of a call, `add` or `mul`.
class Operation {
 public:
  explicit Operation(const String& name) : is_add_(name == "add") {
    if (!is_add_ && name != "mul") throw Error("ValueError", "no operation is called {}", name);
  }
  double neutral() const { return is_add_ ? 0 : 1; }
  double operator()(double a, double b) const { return is_add_ ? a + b : a * b; }

 private:
  bool is_add_;
};

// ---- a visitor ----

class Evaluator {
 public:
  void bind(const Ref<ir::Var>& var, double value) { values_[&*var] = value; }

  double evaluate(const Ref<Expr>& expr) {
    if (depth_ == kMostDepth) throw Error("RecursionError", "an expression is nested more than {} times", kMostDepth);
    ++depth_;
    double value = Node(expr).visit(*this);
    --depth_;
    return value;
  }

  double operator()(const Ref<ir::Const>& number) { return number->value; }
  double operator()(const Ref<ir::Var>& var) {
    auto found = values_.find(&*var);
    if (found == values_.end()) throw Error("NameError", "nothing binds the variable {}", var->name);
    return found->second;
  }
  double operator()(const Ref<ir::Call>& call) {
    Operation operation(call->op);
    double value = operation.neutral();
    for (const Ref<Expr>& arg : call->args) value = operation(value, evaluate(arg));
    return value;
  }
  double operator()(const Ref<ir::Let>& let) {
    bind(let->var, evaluate(let->value));
    return evaluate(let->body);
  }
  double operator()(const Ref<ir::Function>&) { throw Error("TypeError", "a function is no number"); }

 private:
  static constexpr int kMostDepth = 1000;
  std::unordered_map<const ir::Var*, double> values_;
  int depth_ = 0;
};

double evaluate(const Ref<ir::Function>& function, const Array<double>& args) {
  if (args.size() != function->params.size()) {
    throw Error("TypeError", "expected {} numbers, got {}", function->params.size(), args.size());
  }
  Evaluator evaluator;
  for (int64_t i = 0; i < args.size(); ++i) evaluator.bind(function->params[i], args[i]);
  return evaluator.evaluate(function->body);
}

// ---- a mapper ----

/// A call with its constants folded. Anything else, and a call with fewer than two constants, stays the same object.
AnyValue fold_part(const AnyValue& part) {
  Variant<Ref<ir::Call>, AnyValue> node(part);
  if (!node.holds<Ref<ir::Call>>()) return part;
  auto call = node.get<Ref<ir::Call>>();
  Operation operation(call->op);
  double constant = operation.neutral();
  std::vector<Ref<Expr>> others;
  for (const Ref<Expr>& arg : call->args) {
    Node one(arg);
    if (one.holds<Ref<ir::Const>>()) {
      constant = operation(constant, one.get<Ref<ir::Const>>()->value);
    } else {
      others.push_back(arg);
    }
  }
  bool is_neutral = constant == operation.neutral();
  if (!is_neutral || others.empty()) others.push_back(anyffi::make_object<ir::Const>(ir::Const{{}, constant}));
  if (static_cast<int64_t>(others.size()) == call->args.size()) return part;
  if (others.size() == 1) return others[0];
  return anyffi::make_object<ir::Call>(ir::Call{{}, call->op, Array<Ref<Expr>>(others.begin(), others.end())});
}

AnyValue fold(const Ref<Expr>& expr) { return anyffi::structural_map(expr, anyffi::Function::from(&fold_part)); }

}  // namespace

ANYFFI_EXPORT(evaluate, &evaluate, arg("function"), arg("args")).doc("Call a function with numbers.");
ANYFFI_EXPORT(fold, &fold, arg("expr")).doc("Compute what is constant. What does not change is not made again.");
