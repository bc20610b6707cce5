"""Sources of small libraries that tests of modules load."""

from __future__ import annotations

GOOD = """
#include <anyffi/anyffi.h>
using anyffi::arg;
static int64_t add_one(int64_t x) { return x + 1; }
ANYFFI_EXPORT(add_one, &add_one, arg("x"));
ANYFFI_EXPORT(scale, [](double x, double by) { return x * by; }, arg("x"), arg("by") = 2.0);
ANYFFI_EXPORT(fail, [] { throw anyffi::Error("KeyError", "from the module"); });
ANYFFI_REGISTER_GLOBAL("modules_good.registered").def([](int64_t x) { return x * 2; }, arg("x")).doc("Twice.");
"""


PLAIN_C = """
#include <anyffi/c_api.h>
int32_t __anyffi_abi_version = ANYFFI_ABI_VERSION;
int __anyffi_add(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  (void)self;
  if (num_args != 2 || args[0].type_code != ANYFFI_INT || args[1].type_code != ANYFFI_INT) {
    return anyffi_error_raise("TypeError", "add() takes two ints");
  }
  result->type_code = ANYFFI_INT;
  result->as_int = args[0].as_int + args[1].as_int;
  return 0;
}
int __anyffi_silent(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  (void)self, (void)args, (void)num_args, (void)result;
  return -1;
}
int __anyffi_echo(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  (void)self, (void)num_args;
  *result = args[0];
  if (args[0].type_code > 0) anyffi_object_retain(args[0].as_object);
  return 0;
}
"""


def exporting(name: str, value: int, other: str = "") -> str:
    return f"""
    #include <anyffi/anyffi.h>
    static int64_t {name}(int64_t x) {{ return {value} * x; }}
    ANYFFI_EXPORT({name}, &{name}, anyffi::arg("x"));
    {other}
    """


TAKEN = """
#include <anyffi/anyffi.h>
ANYFFI_REGISTER_GLOBAL("modules_taken.first").def([] { return 1; });
ANYFFI_REGISTER_GLOBAL("testing.nop").def([] { return 2; });
ANYFFI_REGISTER_GLOBAL("modules_taken.last").def([] { return 3; });
ANYFFI_EXPORT(taken, [] { return 4; });
"""

C_FUNCTION = """
int __anyffi_f(void* s, void* a, int32_t n, void* r) { (void)s; (void)a; (void)n; (void)r; return 0; }
"""
#: Libraries for another version of the ABI: file name and source.
ANOTHER_VERSION = [
    ("newer.c", "#include <stdint.h>\nint32_t __anyffi_abi_version = 999;" + C_FUNCTION),
    ("older.c", "#include <stdint.h>\nint32_t __anyffi_abi_version = 0;" + C_FUNCTION),
    ("newer_table.c", "#include <anyffi/c_api.h>\nAnyffiModuleTable __anyffi_module = "
     "{ANYFFI_ABI_VERSION + 1, sizeof(AnyffiModuleTable), 0, 0};\n"),
    ("older_table.c", "#include <anyffi/c_api.h>\nAnyffiModuleTable __anyffi_module = "
     "{ANYFFI_ABI_VERSION - 1, sizeof(AnyffiModuleTable), 0, 0};\n"),
]  # fmt: skip
