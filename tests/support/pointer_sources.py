"""A C++ file that passes objects by shared, unique, owning and borrowed pointers."""

from __future__ import annotations

POINTERS = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>
#include <anyffi/stl/optional.h>

#include <atomic>

namespace {

std::atomic<int64_t> live{0};  // threads without the interpreter's lock change it

struct Shape {
  Shape() { ++live; }
  Shape(const Shape&) = delete;
  virtual ~Shape() { --live; }
  virtual double area() const = 0;
  std::string name = "shape";
};
struct Square : Shape {
  explicit Square(double side) : side(side) {}
  double area() const override { return side * side; }
  double side;
};
struct Hidden : Shape {
  double area() const override { return 42; }
};

struct Node : std::enable_shared_from_this<Node> {
  explicit Node(int64_t value = 0) : value(value) { ++live; }
  Node(const Node& other) : std::enable_shared_from_this<Node>(), value(other.value) { ++live; }
  ~Node() { --live; }
  std::shared_ptr<Node> self() { return shared_from_this(); }
  int64_t value;
  std::shared_ptr<Node> next;
};

// Its book alone makes and destroys it.
class Page {
 public:
  Page(const Page&) = delete;
  const char* text() const { return text_; }
  Page* next() const { return next_; }

 private:
  friend class Book;
  explicit Page(const char* text, Page* next = nullptr) : text_(text), next_(next) { ++live; }
  virtual ~Page() {
    delete next_;
    --live;
  }
  const char* text_;
  Page* next_;
};
class Book {
 public:
  Book() = default;
  Book(const Book&) = delete;
  ~Book() { delete first_; }
  Page* first() { return first_; }

 private:
  Page* first_ = new Page("one", new Page(nullptr));
};

// Neither copied nor moved.
struct Part {
  explicit Part(int64_t x) : x(x) {}
  Part(Part&&) = delete;
  int64_t x;
};
struct Inner {
  double x = 1, y = 2;
};
struct Machine {
  Machine() : part(5) { ++live; }
  ~Machine() { --live; }
  Part part;
  Inner inner;
  Part* extra = &part;
  Part& get_part() { return part; }
  const Part& read_part() const { return part; }
  Part* find(bool found) { return found ? &part : nullptr; }
  Inner& get_inner() { return inner; }
  Inner* inner_pointer() { return &inner; }
  std::vector<Inner*> inners() { return {&inner, nullptr, &inner}; }
  Machine& itself() { return *this; }
  Machine* me() { return this; }
};

struct Store {
  std::shared_ptr<Shape> kept;
  std::unique_ptr<Shape> owned;
  std::vector<std::shared_ptr<Shape>> all;
  const Inner* seen = nullptr;
};
Store store;

struct Owner {
  Owner() : square(new Square(3)) {}
  std::unique_ptr<Square> square;
  const std::unique_ptr<Shape> nothing;
};

struct Counted {
  explicit Counted(int64_t n) : n(n) { ++live; }
  ~Counted() { --live; }
  int64_t n;
  std::vector<int64_t> numbers;
};
struct View {
  explicit View(const Counted& of) : of(&of) { ++live; }
  ~View() { --live; }
  int64_t n() const { return of->n; }
  const Counted* of;
};
struct CountingDelete {
  void operator()(Counted* counted) const { delete counted; live += 100; }
};
Counted global_counted{7};

struct Session {
  Session(anyffi::Function f, std::shared_ptr<Counted> p) : on_close(std::move(f)), part(std::move(p)) {}
  ~Session() { on_close(); }
  anyffi::Function on_close;
  std::shared_ptr<Counted> part;
};
std::shared_ptr<Session> session;

struct Bell {
  Bell() { ++live; }
  Bell(const Bell&) = delete;
  ~Bell() { --live; }
};
struct Button {
  anyffi::Function on_click = anyffi::Function::from([](int64_t x) { return x; });
};
Button global_button;
auto shared_button = std::make_shared<Button>();

struct Plain {
  int64_t x = 3;
};
struct Derived : Plain {
  int64_t y = 4;
};

}  // namespace

using anyffi::arg;
using anyffi::Returns;

ANYFFI_CLASS(Shape, "ptr.Shape").property("area", &Shape::area).field("name", &Shape::name);
ANYFFI_CLASS(Square, "ptr.Square", Shape).init<double>(arg("side")).field("side", &Square::side);
ANYFFI_CLASS(Node, "ptr.Node")
    .init<int64_t>(arg("value") = 0)
    .init([](const std::string& text) { return std::make_shared<Node>(static_cast<int64_t>(text.size())); }, arg("text"))
    .field("value", &Node::value)
    .field("next", &Node::next)
    .method("self", &Node::self)
    .property("users", [](const Node& node) { return static_cast<int64_t>(node.weak_from_this().use_count()); });
ANYFFI_CLASS(Part, "ptr.Part").field("x", &Part::x);
ANYFFI_CLASS(Inner, "ptr.Inner").init<>().field("x", &Inner::x).field("y", &Inner::y);
ANYFFI_CLASS(Machine, "ptr.Machine")
    .init<>()
    .field("part", &Machine::part)
    .field("inner", &Machine::inner)
    .field("extra", &Machine::extra)
    .method("get_part", &Machine::get_part).returns(Returns::kReferenceInternal)
    .property("read_part", &Machine::read_part)
    .method("find", &Machine::find, arg("found")).returns(Returns::kReferenceInternal)
    .method("copied", &Machine::get_inner)
    .method("copied_too", &Machine::get_inner).returns(Returns::kCopy)
    .method("moved", &Machine::get_inner).returns(Returns::kMove)
    .method("referred", &Machine::get_inner).returns(Returns::kReferenceInternal)
    .property("pointer", &Machine::inner_pointer)
    .method("inners", &Machine::inners).returns(Returns::kReferenceInternal)
    .method("itself", &Machine::itself)
    .method("me", &Machine::me).returns(Returns::kReferenceInternal);
ANYFFI_CLASS(Owner, "ptr.Owner").init<>().field("square", &Owner::square).field("nothing", &Owner::nothing);
ANYFFI_CLASS(Counted, "ptr.Counted")
    .init<int64_t>(arg("n"))
    .field("n", &Counted::n)
    .field("numbers", &Counted::numbers)
    .method("after", [](Counted& self, const anyffi::Function& f) { f(); return self.n; }, arg("f"));
ANYFFI_CLASS(View, "ptr.View")
    .init<const Counted&>(arg("of")).keep_alive<1, 2>()
    .property("n", &View::n);
ANYFFI_CLASS(Bell, "ptr.Bell")
    .init<>()
    .method("attach", [](Bell&, const anyffi::AnyValue&) {}, arg("listener")).keep_alive<1, 2>();
ANYFFI_CLASS(Button, "ptr.Button").field("on_click", &Button::on_click);
ANYFFI_CLASS(Plain, "ptr.Plain").init<>().field("x", &Plain::x)
    .method("keep", [](Plain&, const anyffi::AnyValue&) {}, arg("what")).keep_alive<1, 2>()
    .method("take", [](Plain&, anyffi::AnyValue what) { what = {}; }, arg("what")).keep_alive<1, 2>()
    .method("keep_all", [](Plain&, const anyffi::AnyValue&, const anyffi::AnyValue&, int64_t, Plain&,
                           const anyffi::AnyValue&) {}, arg("a"), arg("b"), arg("n"), arg("other"), arg("c"))
    .keep_alive<1, 2>().keep_alive<1, 3>().keep_alive<1, 4>().keep_alive<5, 6>();
ANYFFI_CLASS(Derived, "ptr.Derived", Plain).init<>().field("y", &Derived::y);

ANYFFI_EXPORT(live, [] { return live.load(); });
ANYFFI_EXPORT(keep, [](std::shared_ptr<Shape> shape) { store.kept = std::move(shape); }, arg("shape"));
ANYFFI_EXPORT(kept, [] { return store.kept; });
ANYFFI_EXPORT(keep_all, [](const std::vector<std::shared_ptr<Shape>>& all) { store.all = all; }, arg("all"));
ANYFFI_EXPORT(all, [] { return store.all; });
ANYFFI_CLASS(Page, "pointers.Page").property("text", &Page::text).property("next", &Page::next);
ANYFFI_CLASS(Book, "pointers.Book")
    .init<>()
    .property("first", &Book::first)
    .method("tear_out", &Book::first)
    .returns(Returns::kTakeOwnership);
ANYFFI_EXPORT(read, [](const Page& page, const anyffi::Function& f) { return f(&page, page.text()); },
              arg("page"), arg("f"));
ANYFFI_EXPORT(uses, [](const std::shared_ptr<Shape>& shape) { return shape.use_count(); }, arg("shape"));
ANYFFI_EXPORT(make_shared, [](double side) -> std::shared_ptr<Shape> { return std::make_shared<Square>(side); },
              arg("side"));
ANYFFI_EXPORT(make_unique, [](double side) -> std::unique_ptr<Shape> { return std::make_unique<Square>(side); },
              arg("side"));
ANYFFI_EXPORT(make_const, [] { return std::shared_ptr<const Node>(std::make_shared<Node>(4)); });
ANYFFI_EXPORT(make_hidden, []() -> std::shared_ptr<Shape> { return std::make_shared<Hidden>(); });
ANYFFI_EXPORT(make_raw, []() -> Shape* { return new Square(3); }).returns(Returns::kTakeOwnership);
ANYFFI_EXPORT(make_many, [](int64_t n) {
  std::vector<std::unique_ptr<Counted>> made;
  for (int64_t i = 0; i < n; ++i) made.push_back(std::make_unique<Counted>(i));
  return made;
}, arg("n"));
ANYFFI_EXPORT(take, [](std::unique_ptr<Shape> shape) { store.owned = std::move(shape); }, arg("shape"));
ANYFFI_EXPORT(taken_area, [] { return store.owned ? store.owned->area() : -1; });
ANYFFI_EXPORT(taken, [] { return std::move(store.owned); });
ANYFFI_EXPORT(see_taken, []() -> Shape* { return store.owned.get(); }).returns(Returns::kReference);
ANYFFI_EXPORT(take_with, [](std::unique_ptr<Counted> a, const Counted& b) { return a->n + b.n; }, arg("a"), arg("b"));
ANYFFI_EXPORT(take_slowly, [](std::unique_ptr<Counted> a) { return a ? a->n : -1; }, arg("a")).release_gil();
ANYFFI_EXPORT(take_plain, [](std::unique_ptr<Plain> a) { return a->x; }, arg("a"));
ANYFFI_EXPORT(custom, [] { return std::unique_ptr<Counted, CountingDelete>(new Counted(1)); });
ANYFFI_EXPORT(global, []() -> Counted& { return global_counted; }).returns(Returns::kReference);
ANYFFI_EXPORT(count_of, [](const Counted* counted) { return counted ? counted->n : -1; }, arg("counted") = nullptr);
ANYFFI_EXPORT(after, [](const Counted* counted, const anyffi::Function& f) { f(); return counted->n; },
              arg("counted"), arg("f"));
ANYFFI_EXPORT(copy_after, [](Plain plain, const std::vector<int64_t>& numbers) {
  return plain.x + static_cast<int64_t>(numbers.size());
}, arg("plain"), arg("numbers"));
ANYFFI_EXPORT(sum, [](const std::vector<Counted*>& all) {
  int64_t total = 0;
  for (auto* counted : all) total += counted ? counted->n : 100;
  return total;
}, arg("all"));
ANYFFI_EXPORT(next_value, [](const std::shared_ptr<Node>& node) { return node->next ? node->next->value : -1; },
              arg("node"));
ANYFFI_EXPORT(call_with, [](const anyffi::Function& f, std::shared_ptr<Shape> shape) { return f(shape, shape.get()); },
              arg("f"), arg("shape"));
ANYFFI_EXPORT(open_session, [](anyffi::Function on_close, std::shared_ptr<Counted> part) {
  session = std::make_shared<Session>(std::move(on_close), std::move(part));
}, arg("on_close"), arg("part"));
ANYFFI_EXPORT(close_session, [] {
  auto last = std::move(session);
  return std::shared_ptr<Counted>(last, last->part.get());
});
ANYFFI_EXPORT(button, []() -> Button& { return global_button; }).returns(Returns::kReference);
ANYFFI_EXPORT(shared_button, [] { return shared_button; });
ANYFFI_EXPORT(press, [](int64_t which) {
  return (which == 0 ? global_button.on_click : shared_button->on_click)(1).cast<int64_t>();
}, arg("which"));
ANYFFI_EXPORT(maybe, [](std::optional<std::shared_ptr<Node>> node) { return node; }, arg("node"));
"""

UNDECLARED = r"""
#include <anyffi/anyffi.h>
namespace { struct Node {}; }
ANYFFI_CLASS(Node, "undeclared.Node")
    .method("next", [](Node& self) { return &self; })
    .method("other", [](Node& self) { return &self; }).returns(anyffi::Returns::kReference)
    .method("last", [](Node& self) { return &self; });
ANYFFI_EXPORT(same, [](Node& node) { return &node; });
ANYFFI_EXPORT(find, [](int) -> Node* { return nullptr; });
ANYFFI_EXPORT(nd, [](Node& node) { return &node; }).def([] { return static_cast<Node*>(nullptr); });
"""
