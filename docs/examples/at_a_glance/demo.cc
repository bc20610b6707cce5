// clang-format off
#include <anyffi/anyffi.h>
using anyffi::AnyValue; using anyffi::arg;

static int64_t add_one(int64_t x) { return x + 1; }
ANYFFI_EXPORT(add_one, &add_one, arg("x"));                        // for load_module: symbol __anyffi_add_one

ANYFFI_REGISTER_GLOBAL("demo.scale")                               // into the global registry when the library loads
    .def([](anyffi::List<double> xs, double by) {
           for (int64_t i = 0; i < xs.size(); ++i) xs.set(i, xs[i] * by);
           return xs;
         }, arg("xs"), arg("by") = 2.0)
    .doc("Scale a list in place and return it.");

ANYFFI_REGISTER_GLOBAL("demo.count")                               // type-erased
    .def_packed([](anyffi::Args args, AnyValue* result) { *result = static_cast<int64_t>(args.size()); });

ANYFFI_REGISTER_GLOBAL("demo.fail").def([] { throw anyffi::Error("ValueError", "no such thing"); });

ANYFFI_REGISTER_GLOBAL("demo.vsum").def([](anyffi::Map<anyffi::String, int64_t> m) {
  int64_t total = 0;
  for (const auto& [key, value] : m) total += value;
  return total;
});
