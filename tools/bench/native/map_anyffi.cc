// Functions of anyffi that are not generated: type-erased ones, and classes.
#include "map_anyffi.h"

#include <anyffi/overridable.h>
#include <anyffi/stl/memory.h>

#include "map_classes.h"

using anyffi::Returns;

ANYFFI_CLASS(Part, "map.Part").init<int64_t>(arg("number")).field("number", &Part::number);

ANYFFI_CLASS(Body, "map.Body")
    .init<int64_t, int64_t>(arg("a"), arg("b"))
    .field("x", &Body::x)
    .field("y", &Body::y)
    .field("weight", &Body::weight)
    .field("is_open", &Body::is_open)
    .field("name", &Body::name)
    .field("items", &Body::items)
    .field("part", &Body::part)
    .field("pointer", &Body::pointer)
    .field("shared", &Body::shared)
    .property("sum", &Body::sum)
    .method("nothing", &Body::nothing)
    .method("add", &Body::add, arg("k"))
    .method("scale", &Body::scale, arg("by"), arg("label"))
    .method("pick", anyffi::overload_cast<int64_t>(&Body::pick, anyffi::const_), arg("k"))
    .method("pick", anyffi::overload_cast<const std::string&>(&Body::pick, anyffi::const_), arg("k"))
    .static_method("count", &Body::count)
    .method("itself", &Body::itself)
    .method("inner", &Body::inner)
    .returns(Returns::kReferenceInternal)
    .method("get_pointer", &Body::get_pointer)
    .returns(Returns::kReferenceInternal)
    .method("copy", &Body::copy)
    .op(anyffi::ops::eq)
    .op(anyffi::ops::lt)
    .op(anyffi::ops::add)
    .op(anyffi::ops::len, &Body::size)
    .op(anyffi::ops::getitem, &Body::at);
ANYFFI_CLASS(Moving, "map.Moving", Body).init<int64_t, int64_t>(arg("a"), arg("b")).field("speed", &Moving::speed);

struct PyRunner : anyffi::Overridable<Runner> {
  using Overridable::Overridable;
  int64_t run(int64_t k) override {
    return override_or<int64_t>("run", [&] { return Runner::run(k); }, k);
  }
};
ANYFFI_CLASS(Runner, "map.Runner").overridable<PyRunner>().init<>().method("run", &Runner::run, arg("k"));

ANYFFI_EXPORT(global_part, &global_part).returns(Returns::kReference);
ANYFFI_EXPORT(shared_part, &shared_part);
ANYFFI_EXPORT(sum_of, &sum_of, arg("parts"));
ANYFFI_EXPORT(sum_of_copies, &sum_of_copies, arg("parts"));
ANYFFI_EXPORT(sum_of_shared, &sum_of_shared, arg("parts"));
ANYFFI_EXPORT(make_parts, &make_parts, arg("count"));
ANYFFI_EXPORT(shared_parts, &shared_parts, arg("count"));
ANYFFI_EXPORT(take_body, [](const Body&) {}, arg("body"));
ANYFFI_EXPORT(same_part, [](Part& part) -> Part& { return part; }, arg("part"));
ANYFFI_EXPORT(hold_part, [](std::shared_ptr<Part> part) { return part; }, arg("part"));
ANYFFI_EXPORT(run, [](Runner& runner, int64_t k) { return runner.run(k); }, arg("runner"), arg("k"));

ANYFFI_REGISTER_GLOBAL("map.nop").def_packed([](anyffi::Args, anyffi::AnyValue*) {});
ANYFFI_REGISTER_GLOBAL("map.echo").def_packed([](anyffi::Args args, anyffi::AnyValue* result) { *result = args[0]; });
ANYFFI_REGISTER_GLOBAL("map.apply").def_packed([](anyffi::Args args, anyffi::AnyValue* result) {
  *result = args[0].cast<anyffi::Function>()(args[1]);
});
ANYFFI_REGISTER_GLOBAL("map.as_ndarray").def([](const anyffi::Tensor& x) -> anyffi::Native<anyffi::Tensor> {
  return x;
});
ANYFFI_REGISTER_OBJECT(Point);
ANYFFI_EXPORT(released, [](int64_t x) { return x + 1; }).release_gil();
