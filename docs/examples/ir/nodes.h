// Written by python -m anyffi stubgen --cpp: the structs of dataclasses of Python.
// clang-format off
#ifndef NODES_STRUCTS_H_
#define NODES_STRUCTS_H_

#include <anyffi/anyffi.h>

namespace ir { struct Expr; }
namespace ir { struct Var; }
namespace ir { struct Const; }
namespace ir { struct Call; }
namespace ir { struct Let; }
namespace ir { struct Function; }

ANYFFI_TYPE_KEY(ir::Expr, "ir.Expr");
ANYFFI_TYPE_KEY(ir::Var, "ir.Var", ir::Expr);
ANYFFI_TYPE_KEY(ir::Const, "ir.Const", ir::Expr);
ANYFFI_TYPE_KEY(ir::Call, "ir.Call", ir::Expr);
ANYFFI_TYPE_KEY(ir::Let, "ir.Let", ir::Expr);
ANYFFI_TYPE_KEY(ir::Function, "ir.Function", ir::Expr);

namespace ir {
/// The base of all expressions, with operators that build larger ones, and text.
struct Expr {
};
}  // namespace ir
ANYFFI_RECORD_FIELDS(ir::Expr);

namespace ir {
/// A variable, which is identified by its binding and not by its name.
struct Var : ::ir::Expr {
  anyffi::String name;
};
}  // namespace ir
ANYFFI_RECORD_FIELDS(ir::Var)
    .field("name", &ir::Var::name);

namespace ir {
/// A number.
struct Const : ::ir::Expr {
  double value;
};
}  // namespace ir
ANYFFI_RECORD_FIELDS(ir::Const)
    .field("value", &ir::Const::value);

namespace ir {
/// An operation, "add" or "mul".
struct Call : ::ir::Expr {
  anyffi::String op;
  anyffi::Array<anyffi::Ref<::ir::Expr>> args;
};
}  // namespace ir
ANYFFI_RECORD_FIELDS(ir::Call)
    .field("op", &ir::Call::op)
    .field("args", &ir::Call::args);

namespace ir {
/// A variable for a value: `var` is bound in the fields that follow, so in `body`, but not in `value`.
struct Let : ::ir::Expr {
  anyffi::Ref<::ir::Expr> value;
  anyffi::Ref<::ir::Var> var;
  anyffi::Ref<::ir::Expr> body;
};
}  // namespace ir
ANYFFI_RECORD_FIELDS(ir::Let)
    .field("value", &ir::Let::value)
    .field("var", &ir::Let::var)
    .field("body", &ir::Let::body);

namespace ir {
/// A function of variables.
struct Function : ::ir::Expr {
  anyffi::Array<anyffi::Ref<::ir::Var>> params;
  anyffi::Ref<::ir::Expr> body;
};
}  // namespace ir
ANYFFI_RECORD_FIELDS(ir::Function)
    .field("params", &ir::Function::params)
    .field("body", &ir::Function::body);

#endif  // NODES_STRUCTS_H_
