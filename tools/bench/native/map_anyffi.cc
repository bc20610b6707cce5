// Functions of anyffi that are not generated: type-erased ones, and classes.
#include "map_anyffi.h"

#include <anyffi/overridable.h>
#include <anyffi/stl/memory.h>

#include "map_classes.h"
#include "map_members.h"

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
ANYFFI_EXPORT(other_global_part, &other_global_part).returns(Returns::kReference);
ANYFFI_EXPORT(shared_part, &shared_part);
ANYFFI_EXPORT(other_shared_part, &other_shared_part);
ANYFFI_EXPORT(sum_of, &sum_of, arg("parts"));
ANYFFI_EXPORT(sum_of_copies, &sum_of_copies, arg("parts"));
ANYFFI_EXPORT(sum_of_shared, &sum_of_shared, arg("parts"));
ANYFFI_EXPORT(make_parts, &make_parts, arg("count"));
ANYFFI_EXPORT(shared_parts, &shared_parts, arg("count"));
ANYFFI_EXPORT(take_body, [](const Body&) {}, arg("body"));
ANYFFI_EXPORT(same_part, [](Part& part) -> Part& { return part; }, arg("part"));
ANYFFI_EXPORT(hold_part, [](std::shared_ptr<Part> part) { return part; }, arg("part"));
ANYFFI_EXPORT(run, [](Runner& runner, int64_t k) { return runner.run(k); }, arg("runner"), arg("k"));

namespace ops = anyffi::ops;

ANYFFI_ENUM(Suit, "map.Suit")
    .value("Clubs", Suit::kClubs)
    .value("Hearts", Suit::kHearts)
    .value("Spades", Suit::kSpades);
ANYFFI_EXCEPTION(CardError, "map.CardError", "RuntimeError");

ANYFFI_CLASS(Vec, "map.Vec")
    .init<>()
    .init<double, double>(arg("x"), arg("y"))
    .field("x", &Vec::x)
    .field("y", &Vec::y)
    .property("first", &Vec::get_first, &Vec::set_first)
    .op(ops::neg)
    .op(ops::mul, &Vec::operator*, arg("by"))
    .op(
        ops::rmul, [](const Vec& vec, double by) { return vec * by; }, arg("by"))
    .op(ops::iadd)
    .op(ops::eq)
    .op(ops::ne)
    .op(ops::hash, &Vec::hash)
    .op(ops::str, &Vec::text)
    .op(ops::repr, &Vec::text)
    .op(ops::abs_, &Vec::norm)
    .op(ops::float_, &Vec::norm)
    .pickle([](const Vec& vec) { return std::make_pair(vec.x, vec.y); },
            [](std::pair<double, double> state) { return Vec(state.first, state.second); });

ANYFFI_CLASS(Deck, "map.Deck")
    .init<>()
    .field("cards", &Deck::cards)
    .field("prices", &Deck::prices)
    .field("places", &Deck::places)
    .field("limit", &Deck::limit)
    .field("label", &Deck::label)
    .field("range", &Deck::range)
    .field("rule", &Deck::rule)
    .field("suit", &Deck::suit)
    .op(ops::bool_)
    .op(ops::getitem, &Deck::get, arg("i"))
    .op(ops::setitem, &Deck::set, arg("i"), arg("card"))
    .op(ops::contains, &Deck::has, arg("card"))
    .op(ops::call, &Deck::play, arg("card"))
    .iterate([](const Deck& deck) { return deck.cards.begin(); }, [](const Deck& deck) { return deck.cards.end(); })
    .method("each", &Deck::each, arg("f"))
    .method("place", &Deck::place, arg("i"))
    .returns(Returns::kReferenceInternal)
    .method("find", &Deck::find, arg("i"))
    .returns(Returns::kReferenceInternal)
    .method("maybe", &Deck::maybe, arg("i"))
    .method("both", &Deck::both)
    .method("named", &Deck::named)
    .method("made", &Deck::made)
    .method("cut", &Deck::cut, arg("card"))
    .method("total", &Deck::total, arg("a"), arg("b"), arg("by") = 1.0)
    .static_method("of", &Deck::of, arg("cards"));

struct PyShape : anyffi::Overridable<Shape> {
  using Overridable::Overridable;
  double area() const override {
    return override_or<double>("area", [&] { return Shape::area(); });
  }
};
ANYFFI_CLASS(Shape, "map.Shape")
    .overridable<PyShape>()
    .init<std::string>(arg("name"))
    .field("name", &Shape::name)
    .field("next", &Shape::next)
    .field("parts", &Shape::parts)
    .method("area", &Shape::area);
ANYFFI_CLASS(Circle, "map.Circle", Shape).init<std::string>(arg("name"));

ANYFFI_EXPORT(make_shape, &make_shape, arg("is_circle"));
ANYFFI_EXPORT(area_of, &area_of, arg("shape"));
ANYFFI_EXPORT(throw_card, &throw_card);
ANYFFI_EXPORT(take_pointer, &take_pointer, arg("vec"));
ANYFFI_EXPORT(take_optional, &take_optional, arg("vec"));
ANYFFI_EXPORT(take_copies, &take_copies, arg("a"), arg("b"));
ANYFFI_EXPORT(take_either, &take_either, arg("x"));
ANYFFI_EXPORT(take_named, &take_named, arg("vecs"));
ANYFFI_EXPORT(take_marked, &take_marked, arg("pair"));
ANYFFI_EXPORT(same_suit, &same_suit, arg("suit"));
ANYFFI_EXPORT(take_suits, &take_suits, arg("suits"));
ANYFFI_EXPORT(all_suits, &all_suits);
ANYFFI_EXPORT(apply_to_vec, &apply_to_vec, arg("f"));
ANYFFI_EXPORT(apply_to_number, &apply_to_number, arg("f"));

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
