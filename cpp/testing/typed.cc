/// \file
/// A function for each parameter type.

#include <anyffi/anyffi.h>
#include <anyffi/stl/complex.h>

#include <cstring>
#include <string>
#include <utility>

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::Array;
using anyffi::BigInt;
using anyffi::Bytes;
using anyffi::Dict;
using anyffi::Ellipsis;
using anyffi::FrozenSet;
using anyffi::Function;
using anyffi::List;
using anyffi::Map;
using anyffi::ObjectRef;
using anyffi::Optional;
using anyffi::Ref;
using anyffi::Set;
using anyffi::Shape;
using anyffi::Slice;
using anyffi::String;
using anyffi::Tuple;
using anyffi::Variant;

/// An object that counts its instances.
struct Counted {
  static constexpr anyffi::FixedText kTypeKey{"testing.Counted"};
  static constexpr const char* kDoc = "An object whose instances are counted.";
  static constexpr auto fields() {
    return anyffi::fields(anyffi::field<&Counted::number>("number", "What it was made from."),
                          anyffi::field<&Counted::doubled>("doubled", "Twice the number."));
  }
  int64_t number;
  static inline int64_t alive = 0;
  explicit Counted(int64_t n) : number(n) { ++alive; }
  ~Counted() { --alive; }
  int64_t doubled() const {
    if (number > INT64_MAX / 2 || number < INT64_MIN / 2) throw anyffi::Error("OverflowError", "too large to double");
    return number * 2;
  }
};

/// An object of a derived class.
struct CountedChild : Counted {
  static constexpr anyffi::FixedText kTypeKey{"testing.CountedChild"};
  static constexpr auto fields() {
    return anyffi::fields(anyffi::field<&CountedChild::name>("name", "Always the same."));
  }
  using Parent = Counted;
  using Counted::Counted;
  String name() const { return "child"; }
};

template <class T>
T same(T value) {
  return value;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("testing.typed.bool").def(&same<bool>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.int8").def(&same<int8_t>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.uint8").def(&same<uint8_t>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.int16").def(&same<int16_t>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.uint16").def(&same<uint16_t>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.int32").def(&same<int32_t>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.uint32").def(&same<uint32_t>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.int64").def(&same<int64_t>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.uint64").def(&same<uint64_t>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.float32").def(&same<float>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.float64").def(&same<double>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.none").def(&same<std::nullptr_t>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.str").def(&same<String>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.bytes").def(&same<Bytes>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.c_str")
    .def([](const char* x) { return static_cast<int64_t>(std::strlen(x)); }, arg("x"))
    .doc("Return the length of the text in UTF-8.");
ANYFFI_REGISTER_GLOBAL("testing.typed.pointer").def(&same<void*>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.ellipsis").def(&same<Ellipsis>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.slice").def(&same<Slice>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.function").def(&same<Function>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.object").def(&same<ObjectRef>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.optional_object").def(&same<Optional<ObjectRef>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.optional_int").def(&same<Optional<int64_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.box_int").def([](const anyffi::Int& x) { return x.value(); }, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.any").def(&same<AnyValue>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.view").def([](AnyView x) { return x; }, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.array").def(&same<Array<AnyValue>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.array_int").def(&same<Array<int64_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.array_object").def(&same<Array<ObjectRef>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.array_array_str").def(&same<Array<Array<String>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.list").def(&same<List<AnyValue>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.list_int").def(&same<List<int64_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.list_float").def(&same<List<double>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.map").def(&same<Map<AnyValue, AnyValue>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.map_str_int").def(&same<Map<String, int64_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.big_int").def(&same<BigInt>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.complex128").def(&same<std::complex<double>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.complex64").def(&same<std::complex<float>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.pad")
    .def([](const anyffi::AnyPad<8>& x) { return AnyView(x); }, arg("x"))
    .doc("Return the value, converted to an AnyPad<8> and back.");
ANYFFI_REGISTER_GLOBAL("testing.typed.set").def(&same<Set<AnyValue>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.set_int").def(&same<Set<int64_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.frozen_set").def(&same<FrozenSet<AnyValue>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.frozen_set_str").def(&same<FrozenSet<String>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.dtype").def(&same<anyffi::DataType>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.device").def(&same<anyffi::Device>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.tensor").def(&same<anyffi::Tensor>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.optional_tensor").def(&same<Optional<anyffi::Tensor>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.array_tensor").def(&same<Array<anyffi::Tensor>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.tensor_view").def([](const anyffi::TensorView& x) { return x.ndim(); }, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.shape").def(&same<Shape>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.tuple_int_str").def(&same<Tuple<int64_t, String>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.variant_int_str").def(&same<Variant<int64_t, String>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.variant_list_float").def(&same<Variant<List<double>, double>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.array_array_int").def(&same<Array<Array<int64_t>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.map_str_array_int").def(&same<Map<String, Array<int64_t>>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.dict").def(&same<Dict<AnyValue, AnyValue>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.dict_any_int").def(&same<Dict<AnyValue, int64_t>>, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.typed.dict_str_int").def(&same<Dict<String, int64_t>>, arg("x"));

ANYFFI_REGISTER_GLOBAL("testing.typed.defaults")
    .def([](int64_t a, const String& b, double c) { return anyffi::Array<AnyValue>{a, b, c}; }, arg("a"),
         arg("b") = "b", arg("c") = 0.5)
    .doc("Names and defaults.");

static Dict<AnyValue, AnyValue> one_entry() {
  Dict<AnyValue, AnyValue> made;
  made.set("k", 1);
  return made;
}
static Set<AnyValue> one_element() {
  Set<AnyValue> made;
  made.add(1);
  return made;
}
ANYFFI_REGISTER_GLOBAL("testing.typed.changeable_defaults")
    .def([](const List<AnyValue>& xs, const Dict<AnyValue, AnyValue>& d, const Set<AnyValue>& s, const AnyValue& nested,
            const AnyValue& f) { return Array<AnyValue>{xs, d, s, nested, f}; },
         arg("xs") = List<AnyValue>{1, 2}, arg("d") = one_entry(), arg("s") = one_element(),
         arg("nested") = Array<AnyValue>{List<AnyValue>{1}, "x"}, arg("f") = Function::from([] { return 1; }))
    .doc("Return the arguments, of which the defaults are mutable.");

/// A function of 20 parameters x0, x1 = 1, x2 = 2 and so on, which returns its arguments.
template <size_t>
using EachValue = const AnyValue&;
template <size_t... I>
static void define_many(anyffi::Registration& registration, std::index_sequence<I...>) {
  static const std::string names[] = {"x0", ("x" + std::to_string(I + 1))...};
  registration.def([](const AnyValue& x0, EachValue<I>... xs) { return Array<AnyValue>{x0, xs...}; }, arg("x0"),
                   (arg(names[I + 1].c_str()) = static_cast<int64_t>(I + 1))...);
}
static anyffi::Registration many("testing.typed.many");
static anyffi::Registration many_overloads("testing.typed.many_overloads");
[[maybe_unused]] static const bool has_many = [] {
  define_many(many, std::make_index_sequence<19>());
  many_overloads.def([](int64_t, const String& text) { return text; }, arg("x0"), arg("text"));
  define_many(many_overloads, std::make_index_sequence<19>());
  return true;
}();

ANYFFI_REGISTER_GLOBAL("testing.typed.unnamed").def([](int64_t a, int64_t b) { return a - b; });

ANYFFI_REGISTER_GLOBAL("testing.sum_ints")
    .def(
        [](const Array<int64_t>& xs) {
          int64_t total = 0;
          for (int64_t x : xs) total += x;
          return total;
        },
        arg("xs"))
    .doc("Return the sum of an Array or List of ints.");

ANYFFI_REGISTER_GLOBAL("testing.append")
    .def(
        [](List<AnyValue> xs, const AnyView& x) {
          xs.push_back(x);
          return xs;
        },
        arg("xs"), arg("x"))
    .doc("Append in place and return the list.");

ANYFFI_REGISTER_GLOBAL("testing.add")
    .def(
        [](Set<AnyValue> s, const AnyView& x) {
          s.add(x);
          return s;
        },
        arg("s"), arg("x"))
    .doc("Add in place and return the set.");

ANYFFI_REGISTER_GLOBAL("testing.put")
    .def(
        [](Dict<AnyValue, AnyValue> d, const AnyView& key, const AnyView& value) {
          d.set(key, value);
          return d;
        },
        arg("d"), arg("key"), arg("value"))
    .doc("Set an item in place and return the dict.");

ANYFFI_REGISTER_GLOBAL("testing.read_as_int_while")
    .def(
        [](List<int64_t> xs, const Function& f) {
          f();
          int64_t total = 0;
          for (int64_t x : xs) total += x;
          return total;
        },
        arg("xs"), arg("f"))
    .doc("Call f, which may change xs, then sum xs: each read is checked again.");

ANYFFI_REGISTER_GLOBAL("testing.new_counted").def([](int64_t n) { return anyffi::make_object<Counted>(n); }, arg("n"));
ANYFFI_REGISTER_GLOBAL("testing.new_counted_child")
    .def([](int64_t n) { return anyffi::make_object<CountedChild>(n); }, arg("n"));
ANYFFI_REGISTER_GLOBAL("testing.counted_number").def([](const Ref<Counted>& x) { return x->number; }, arg("x"));
ANYFFI_REGISTER_GLOBAL("testing.counted_alive").def([] { return Counted::alive; });
