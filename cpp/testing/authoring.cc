/// \file
/// Registered methods, references, overloads, structs, and objects that values convert to.

#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

#include <atomic>
#include <cmath>
#include <thread>

namespace {

using anyffi::arg;
using anyffi::Array;
using anyffi::Error;
using anyffi::List;
using anyffi::make_object;
using anyffi::Map;
using anyffi::Ref;

/// An object with methods.
struct Account {
  static constexpr anyffi::FixedText kTypeKey{"testing.Account"};
  int64_t balance;
  int64_t deposit(int64_t amount) {
    balance += amount;
    return balance;
  }
  int64_t get_balance() const noexcept { return balance; }
};

/// A struct that is marshalled as a tuple; not default-constructible.
struct Point {
  Point(double x, double y) : x(x), y(y) {}
  double x, y;
  double norm() const { return std::hypot(x, y); }
};

/// A struct that contains its own type.
struct Tree {
  std::vector<Tree> children;
};

enum class Color : uint8_t { kRed, kGreen, kBlue = 7 };

/// An object that ints convert to.
struct IntImm {
  static constexpr anyffi::FixedText kTypeKey{"testing.IntImm"};
  static constexpr auto fields() { return anyffi::fields(anyffi::field<&IntImm::value>("value", "The number.")); }
  int64_t value;
  static IntImm from_value(int64_t value) {
    if (value < 0) throw Error("ValueError", "an IntImm is not negative");
    return IntImm{value};
  }
};

/// Inherits a conversion, which makes objects of the base class only.
struct NamedImm : IntImm {
  static constexpr anyffi::FixedText kTypeKey{"testing.NamedImm"};
  using Parent = IntImm;
};

/// An object whose conversion calls a Python function, which may convert again.
struct Called {
  static constexpr anyffi::FixedText kTypeKey{"testing.Called"};
  anyffi::AnyValue result;
  static Ref<Called> from_value(const anyffi::Function& f) { return make_object<Called>(Called{f()}); }
};

struct Nested {
  static constexpr anyffi::FixedText kTypeKey{"testing.Nested"};
  int64_t depth;
  static Nested from_value(const Array<Ref<Nested>>& inner) {
    int64_t deepest = 0;
    for (const Ref<Nested>& one : inner) deepest = one->depth > deepest ? one->depth : deepest;
    return Nested{deepest + 1};
  }
};

struct Adder {
  int64_t by;
  int64_t operator()(int64_t x) const { return x + by; }
};

int64_t add_noexcept(int64_t a, int64_t b) noexcept { return a + b; }

}  // namespace

template <>
struct anyffi::Traits<Point> : anyffi::TraitsVia<Point, anyffi::Tuple<double, double>> {
  static Point from(const Carrier& pair) {
    if (std::isnan(pair.get<0>())) throw Error("ValueError", "a Point has no NaN");
    return Point(pair.get<0>(), pair.get<1>());
  }
  static Carrier to(const Point& point) { return {point.x, point.y}; }
};

template <>
struct anyffi::Traits<Tree> : anyffi::TraitsVia<Tree, anyffi::Array<>> {
  static Tree from(const Carrier& children) {
    Tree tree;
    for (const AnyValue& child : children) tree.children.push_back(child.cast<Tree>());
    return tree;
  }
  static Carrier to(const Tree& tree) {
    List<> children;
    for (const Tree& child : tree.children) children.push_back(AnyValue(child));
    return std::move(children).freeze();
  }
};

namespace {

ANYFFI_REGISTER_GLOBAL("testing.authoring.account")
    .def([](int64_t balance) { return make_object<Account>(Account{balance}); }, arg("balance") = 0);
ANYFFI_REGISTER_GLOBAL("testing.authoring.deposit").def(&Account::deposit, arg("account"), arg("amount"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.get_balance").def(&Account::get_balance, arg("account"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.transfer")
    .def(
        [](Account& from, Account& to, int64_t amount) {
          from.balance -= amount;
          to.balance += amount;
        },
        arg("source"), arg("to"), arg("amount"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.total")
    .def([](const Account& a, const Ref<Account>& b) { return a.balance + b->balance; }, arg("a"), arg("b"));

ANYFFI_REGISTER_GLOBAL("testing.authoring.adder").def(Adder{5}, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.noexcept").def(&add_noexcept, arg("a"), arg("b"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.append_twice")
    .def(
        [](List<int64_t>& xs, const int64_t& x) {
          xs.push_back(x);
          xs.push_back(x);
        },
        arg("xs"), arg("x"));

ANYFFI_REGISTER_GLOBAL("testing.authoring.point").def([](Point p) { return p; }, arg("p"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.norm").def(&Point::norm, arg("p"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.centre")
    .def(
        [](const Array<Point>& points) {
          Point sum(0, 0);
          for (const Point& p : points) sum = Point(sum.x + p.x, sum.y + p.y);
          auto count = static_cast<double>(points.size());
          return Point(sum.x / count, sum.y / count);
        },
        arg("points"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.points").def([](std::vector<Point> points) { return points; }, arg("points"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.tree").def([](Tree tree) { return tree; }, arg("tree"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.color").def([](Color color) { return color; }, arg("color") = Color::kBlue);

ANYFFI_REGISTER_GLOBAL("testing.authoring.int_imm").def([](const Ref<IntImm>& x) { return x; }, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.int_imms").def([](const Array<Ref<IntImm>>& xs) { return xs; }, arg("xs"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.sum_imms")
    .def(
        [](const Map<anyffi::String, Ref<IntImm>>& xs) {
          int64_t sum = 0;
          for (const auto& [key, x] : xs) sum += x->value;
          return sum;
        },
        arg("xs"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.sum_imm_vector")
    .def(
        [](const std::vector<Ref<IntImm>>& xs) {
          int64_t sum = 0;
          for (const Ref<IntImm>& x : xs) sum += x->value;
          return sum;
        },
        arg("xs"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.imm_value").def([](const IntImm& x) { return x.value; }, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.named_imm").def([](const Ref<NamedImm>& x) { return x->value; }, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.new_named_imm").def([](int64_t value) {
  return make_object<NamedImm>(NamedImm{{value}});
});
ANYFFI_REGISTER_GLOBAL("testing.authoring.called")
    .def([](const Array<Ref<Called>>& xs) { return xs.size(); }, arg("xs"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.called_pair")
    .def([](const anyffi::Tuple<Ref<Called>, Ref<Called>>& xs) { return xs.get<1>()->result; }, arg("xs"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.called_map")
    .def([](const Map<anyffi::AnyValue, Ref<Called>>& xs) { return xs.size(); }, arg("xs"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.called_vector")
    .def([](const std::vector<Ref<Called>>& xs) { return static_cast<int64_t>(xs.size()); }, arg("xs"));
ANYFFI_REGISTER_GLOBAL("testing.authoring.depth").def([](const Nested& x) { return x.depth; }, arg("x"));

ANYFFI_REGISTER_GLOBAL("testing.authoring.area")
    .def([](double r) { return 3 * r * r; }, arg("r"))
    .doc("Of a circle, roughly.")
    .def([](double w, double h) { return w * h; }, arg("w"), arg("h"))
    .doc("Of a rectangle.");

ANYFFI_REGISTER_GLOBAL("testing.authoring.kind")
    .def([](double) { return "float"; }, arg("x"))
    .def([](int64_t) { return "int"; }, arg("x"))
    .def([](bool) { return "bool"; }, arg("x"))
    .def([](const anyffi::String&) { return "str"; }, arg("text"))
    .def([](const Array<int64_t>&) { return "ints"; }, arg("items"))
    .def([](const List<anyffi::String>&) { return "texts"; }, arg("items"))
    .def([](const Ref<Account>&) { return "account"; }, arg("account"))
    .def([](int64_t, const anyffi::String&, double) { return "three"; }, arg("x"), arg("y") = "y", arg("z") = 1.0);

ANYFFI_REGISTER_GLOBAL("testing.authoring.narrow")
    .def([](int8_t x) { return static_cast<int64_t>(x) * 1000; }, arg("x"))
    .def([](int16_t x) { return static_cast<int64_t>(x); }, arg("x"));

ANYFFI_REGISTER_GLOBAL("testing.authoring.raises")
    .def([](int64_t) { throw Error("TypeError", "from the body"); }, arg("x"))
    .def([](const anyffi::AnyView&) { return "never for an int"; }, arg("x"));

ANYFFI_REGISTER_GLOBAL("testing.authoring.register_types")
    .def([] {
      (void)anyffi::type_code_of<Account>(), (void)anyffi::type_code_of<NamedImm>();
      (void)anyffi::type_code_of<Called>(), (void)anyffi::type_code_of<Nested>();
    })
    .doc("Register the types of this file, as their first use does.");

/// Whether the body has the only reference to its argument.
ANYFFI_REGISTER_GLOBAL("testing.authoring.is_unique")
    .def([](List<anyffi::AnyValue>&& xs) { return xs.use_count() == 1; }, arg("xs"));

ANYFFI_REGISTER_GLOBAL("testing.authoring.released")
    .def(
        [](const anyffi::Function& f, std::vector<std::string> xs) {
          f();
          return xs;
        },
        arg("f"), arg("xs"))
    .release_gil()
    .doc("Call f without the host's lock.");

ANYFFI_REGISTER_GLOBAL("testing.authoring.meet")
    .def(
        [](int64_t count) {
          if (count < 1) throw Error("ValueError", "at least one thread meets");
          static std::atomic<int64_t> arrived{0};
          int64_t goal = (arrived++ / count + 1) * count;
          while (arrived < goal) std::this_thread::yield();
        },
        arg("count"))
    .release_gil()
    .doc("Return when as many threads are here.");

ANYFFI_REGISTER_GLOBAL("testing.authoring.append_unlocked")
    .def(
        [](anyffi::Locked<List<int64_t>> xs, int64_t count) {
          for (int64_t i = 0; i < count; ++i) xs.with([i](List<int64_t>& list) { list.push_back(i); });
          return xs.with([](List<int64_t>& list) { return list.size(); });
        },
        arg("xs"), arg("count"))
    .release_gil()
    .doc("Append 0 to count - 1, taking the host's lock for each.");

ANYFFI_REGISTER_GLOBAL("testing.authoring.released_fails")
    .def([] { throw Error("KeyError", "unlocked"); })
    .release_gil();

}  // namespace
