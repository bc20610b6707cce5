// Functions of anyffi that are not generated: type-erased ones, and those of a class.
#include "map_anyffi.h"

ANYFFI_REGISTER_GLOBAL("map.nop").def_packed([](anyffi::Args, anyffi::AnyValue*) {});
ANYFFI_REGISTER_GLOBAL("map.echo").def_packed([](anyffi::Args args, anyffi::AnyValue* result) { *result = args[0]; });
ANYFFI_REGISTER_GLOBAL("map.apply").def_packed([](anyffi::Args args, anyffi::AnyValue* result) {
  *result = args[0].cast<anyffi::Function>()(args[1]);
});
ANYFFI_REGISTER_GLOBAL("map.as_ndarray").def([](const anyffi::Tensor& x) -> anyffi::Native<anyffi::Tensor> {
  return x;
});
ANYFFI_REGISTER_OBJECT(Point);
ANYFFI_EXPORT(Point, [](double x, double y) { return anyffi::make_object<Point>(Point{x, y}); }, arg("x"), arg("y"));
ANYFFI_EXPORT(released, [](int64_t x) { return x + 1; }).release_gil();
ANYFFI_EXPORT(norm, &Point::norm, arg("point"));
