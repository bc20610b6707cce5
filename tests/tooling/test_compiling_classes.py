"""Compiler errors about mistakes in descriptions of classes: the first error says what to write instead."""

from __future__ import annotations

import pytest
from compiling import compile_text
from support import needs_compilers

pytestmark = [needs_compilers, pytest.mark.slow("compiling")]

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/memory.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/variant.h>
#include <anyffi/stl/vector.h>

#include <stdexcept>

using anyffi::arg;
namespace ops = anyffi::ops;

struct Unbound {};
struct T {
  int64_t x = 0;
  int64_t take(int64_t by) const { return by; }
  Unbound unbound() const { return {}; }
};
struct Model {
  explicit Model(int64_t) {}
  virtual ~Model() = default;
  virtual double cost(const double* at, int64_t size) const = 0;
};
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};
"""

#: The beginning of a class that passes virtual functions on to Python.
PASSES = """struct PyModel : anyffi::Overridable<Model> {
  using Overridable::Overridable;
  double cost(const double* at, int64_t size) const override { """
BINDS = ' }\n};\nANYFFI_CLASS(Model, "t.Model").overridable<PyModel>()'

NO_OPERATOR = "the class has no such operator for a const object (len is its size(), hash its std::hash)"
NO_ARGUMENT = "an argument for Python, such as that of an override, has a type without a conversion"
NO_RESULT = "what a callback or an override returns has a type without a conversion"


def first_error(program: str, headers: str = "") -> str:
    return next(iter(errors_of(program, headers)), "it compiles")


def errors_of(program: str, headers: str = "") -> list[str]:
    done = compile_text(f"{headers}{SOURCE}{program};\n", "-fsyntax-only")
    return [line for line in done.stderr.splitlines() if "error:" in line]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ('.method("x", &T::x)', 'a data member is no function: bind it as field("x", &T::x)'),
        ('.property("x", &T::x)', 'a data member is no function: bind it as field("x", &T::x)'),
        ('.property("x", &T::take)', "the getter of a property takes the object alone"),
        (
            '.property("x", [](const T& t) { return t.x; }, [](T& t) { t.x = 1; })',
            "the setter of a property takes the object and the value",
        ),
        (
            '.property("x", [](const T& t) { return t.x; }, "Text.")',
            "a property has a getter, or a getter and a",
        ),
        (
            '.static_property("x", [] { return 1; }, nullptr)',
            "a property has a getter, or a getter and a setter",
        ),
        (
            '.init<int64_t>("Text.")',
            'expected arg("name") for each parameter after the callable, and nothing',
        ),
        (
            '.init<int64_t>(arg("x"), "Text.")',
            'expected arg("name") for each parameter after the callable, and nothing else',
        ),
        ('.static_field("x", &T::x)', "a member that each object has is a field()"),
        (".op(ops::neg)", NO_OPERATOR),
        (".op(ops::len)", NO_OPERATOR),
        (".op(ops::hash)", NO_OPERATOR),
        (".op(ops::float_)", NO_OPERATOR),
        (
            ".op<double>(ops::mul, [](const T& t, double) { return t; })",
            "op<Other>() is an operator of C++, which no function follows",
        ),
        ('.op(ops::getitem, arg("i"))', "C++ has no such operator of two operands: name the function"),
        (
            ".iterate(&T::take, &T::take)",
            "a function of iterate() and the first one of slices() take the object",
        ),
        (".slices(&T::x, &T::take)", "a function of iterate() and the first one of slices() take the object"),
        ('.method("f", [](T&, std::function<Unbound()>) {})', NO_RESULT),
        ('.method("f", [](T&, std::function<void(Unbound)>) {})', NO_ARGUMENT),
        ('.method("f", [](T&, const anyffi::Function& f) { f(Unbound()); })', NO_ARGUMENT),
    ],
)
def test_a_member_that_does_not_fit_is_explained(members: str, message: str) -> None:
    assert f"anyffi: {message}" in first_error(f'ANYFFI_CLASS(T, "t.T"){members}')


@pytest.mark.parametrize(
    "parameter",
    [
        "std::vector<std::vector<std::unique_ptr<T>>>",
        "std::vector<std::optional<std::unique_ptr<T>>>",
        "std::vector<std::variant<int64_t, std::unique_ptr<T>>>",
        "std::pair<int64_t, std::unique_ptr<T>>",
        "std::map<int64_t, std::unique_ptr<T>>",
        "std::array<std::unique_ptr<T>, 2>",
    ],
)
def test_a_container_that_cannot_take_objects_over_is_refused(parameter: str) -> None:
    headers = "".join(f"#include <anyffi/stl/{name}.h>\n" for name in ("array", "map", "optional", "tuple"))
    function = f'ANYFFI_CLASS(T, "t.T");\nANYFFI_EXPORT(f, []({parameter}) {{}})'
    assert "is a container of std::unique_ptr that cannot take over the" in first_error(function, headers)


def test_a_type_that_converts_through_a_container_of_owners_compiles() -> None:
    program = """template <class P> struct Held { std::vector<P> items; };
    template <> struct anyffi::Traits<Held<std::unique_ptr<T>>>
        : anyffi::TraitsVia<Held<std::unique_ptr<T>>, std::vector<std::unique_ptr<T>>> {
      static Held<std::unique_ptr<T>> from(std::vector<std::unique_ptr<T>> items) { return {std::move(items)}; }
      static std::vector<std::unique_ptr<T>> to(Held<std::unique_ptr<T>> held) { return std::move(held.items); }
    };
    ANYFFI_EXPORT(f, [](Held<std::unique_ptr<T>>) {});
    ANYFFI_EXPORT(g, [](std::optional<std::vector<std::unique_ptr<T>>>) {});"""
    headers = "#include <anyffi/stl/optional.h>\n"
    assert errors_of(f'ANYFFI_TYPE_KEY(T, "t.T");{program}ANYFFI_BIND(T)', headers) == []


def test_a_bound_container_of_owners_is_an_object() -> None:
    program = """using Items = std::vector<std::unique_ptr<T>>;
    using Named = std::map<int64_t, std::unique_ptr<T>>;
    ANYFFI_CLASS(T, "t.T");
    ANYFFI_CLASS(Items, "t.Items").method("size", [](const Items& items) { return int64_t(items.size()); });
    ANYFFI_CLASS(Named, "t.Named").method("size", [](Named& items) { return int64_t(items.size()); })"""
    assert errors_of(program, "#include <anyffi/stl/map.h>\n") == []


def test_functions_whose_types_are_given_and_names_in_arrays_compile() -> None:
    program = """struct Ts { std::vector<T> all; };
    static char kName[] = "all";
    ANYFFI_CLASS(T, "t.T").init<T (*)(int64_t)>([](int64_t x) { return T{x}; }, arg("x"));
    ANYFFI_CLASS(Ts, "t.Ts").iterate_references(
        kName, [](Ts& ts) { return ts.all.begin(); }, [](Ts& ts) { return ts.all.end(); })"""
    assert errors_of(program) == []


def test_no_address_is_taken_by_an_operator_of_the_class() -> None:
    program = """struct N {
      int64_t x = 7;
      virtual ~N() = default;
      virtual int64_t f() const { return x; }
      void operator&() const = delete;
    };
    struct PyN : anyffi::Overridable<N> {
      using Overridable::Overridable;
      int64_t f() const override { return override_or<int64_t>("f", [&] { return N::f(); }); }
    };
    ANYFFI_CLASS(N, "t.N").overridable<PyN>().init<>().field("x", &N::x).method("f", &N::f)
        .method("by_pointer", [](N* n) { return n->x; }).property("p", [](const N* n) { return n->x; })
        .method("shared", [](std::shared_ptr<N> n) { return n; });
    ANYFFI_EXPORT(g, [](anyffi::NotNull<N*> n) { return n->x; });
    ANYFFI_EXPORT(h, [](std::unique_ptr<N> n) { return n; });
    ANYFFI_EXPORT(i, [](const N& n) -> const N& { return n; })"""
    assert errors_of(program) == []


@pytest.mark.parametrize("of", ["std::unique_ptr<T>", "std::vector<std::unique_ptr<T>>"])
def test_a_const_reference_to_an_owner_is_refused(of: str) -> None:
    function = f'ANYFFI_CLASS(T, "t.T");\nANYFFI_EXPORT(f, [](const {of}&) {{}})'
    assert "is a const reference to a std::unique_ptr, or to a container of some, which" in first_error(
        function
    )


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (f'{PASSES}return override_pure<double>("cost", at, size);{BINDS}', NO_ARGUMENT),
        (f'{PASSES}override_pure<Unbound>("cost"); return 0;{BINDS}', NO_RESULT),
        (
            f"struct PyModel : anyffi::Overridable<Model> {{ using Overridable::Overridable;{BINDS[:1]}}};"
            'ANYFFI_CLASS(Model, "t.Model").overridable<PyModel>().init<int64_t>()',
            "an abstract class has no constructor: Python derives from it by overridable<A>(), where A overrides",
        ),
        (
            f"{PASSES.replace('  using Overridable::Overridable;', '')}return 0;{BINDS}.init<int64_t>()",
            "the class has no public constructor with these parameters, or that of overridable<A>() lacks `using",
        ),
    ],
)
def test_an_override_that_does_not_fit_is_explained(program: str, message: str) -> None:
    assert f"anyffi: {message}" in first_error(program)


def test_an_attribute_of_another_class_is_explained() -> None:
    program = 'ANYFFI_EXCEPTION(Refused, "t.Refused", "ValueError").attribute("x", &T::x)'
    assert "anyffi: an attribute is a data member of the exception" in first_error(program)


@pytest.mark.parametrize("described", ["std::string", "std::function<void()>"])
def test_a_class_that_has_a_conversion_is_explained(described: str) -> None:
    errors = errors_of(f'ANYFFI_CLASS({described}, "t.Described").init<>()')
    assert any("anyffi: the class has a conversion already" in line for line in errors)
    own = f'struct Own : {described} {{}};\nANYFFI_CLASS(Own, "t.Own").init<>()'
    assert first_error(own) == "it compiles"


@pytest.mark.parametrize("bases", ["A, B", "A, B, C"])
def test_several_bases_are_explained(bases: str) -> None:
    program = 'struct A {}; struct B {}; struct C {}; struct D : A, B, C {};\nANYFFI_CLASS(A, "t.A");\n'
    assert "anyffi: a class has one base in Python" in first_error(
        f'{program}ANYFFI_CLASS(D, "t.D", {bases})'
    )


def test_a_class_without_a_key_is_explained() -> None:
    assert "anyffi: ANYFFI_BIND describes a class that has a key" in first_error("ANYFFI_BIND(T).init<>()")


@pytest.mark.parametrize("macro", ["ANYFFI_CLASS", "ANYFFI_TYPE_KEY"])
@pytest.mark.parametrize("base", ["", ", T"])
def test_a_comma_in_the_name_of_a_class_is_explained(macro: str, base: str) -> None:
    pair = "template <class A, class B> struct Pair : T {};\n"
    message = "anyffi: the comma in the name of the type ends the macro's argument: use an alias of the type"
    assert message in first_error(f'{pair}{macro}(Pair<int, int>, "t.Pair"{base})')
    keyed = 'ANYFFI_TYPE_KEY(T, "t.T");\n' if base else ""
    alias = f'{pair}{keyed}using Own = Pair<int, Pair<int, int>>;\n{macro}(Own, "t.Pair"{base})'
    assert first_error(alias) == "it compiles"


@pytest.mark.parametrize(
    ("returned", "taken", "fits"),
    [
        ("int", "std::string", False),
        ("std::string", "int", False),
        ("double", "int", False),
        ("int", "double", True),
        ("bool", "const int64_t&", True),
        ("std::vector<int>", "std::string", False),
        ("std::vector<int>", "int", False),
        ("std::vector<int>", "const anyffi::Array<double>&", True),
        ("anyffi::Bytes", "std::string", False),
        ("anyffi::Bytes", "const anyffi::Array<uint8_t>&", True),
        ("std::string", "const anyffi::String&", True),
        ("anyffi::Dict<int, int>", "std::vector<int>", False),
        ("anyffi::Optional<int>", "int", True),
        ("anyffi::AnyValue", "int", True),
        ("int", "anyffi::Variant<int, std::string>", True),
        ("anyffi::Tuple<int, double>", "anyffi::Tuple<int, double>", True),
        ("T", "T", True),
        ("anyffi::Tuple<int, double>", "int, double", False),
    ],
)
def test_a_pickle_that_could_not_be_read_is_explained(returned: str, taken: str, fits: bool) -> None:
    get = f"[](const T&) -> {returned} {{ throw 1; }}"
    program = f'ANYFFI_CLASS(T, "t.T").pickle({get}, []({taken}) {{ return T(); }})'
    message = "anyffi: the second function of pickle() does not take what the first one returns"
    assert ("it compiles" if fits else message) in first_error(program)


def test_a_description_without_mistakes_compiles() -> None:
    assert first_error(f'{PASSES}return override_pure<double>("cost", size);{BINDS}') == "it compiles"


@pytest.mark.parametrize(
    "declaration",
    [
        'ANYFFI_TYPE_KEY(T, "t.T"); template <> struct anyffi::FromValue<T> {'
        " static T from_value(const Unbound&) { return {}; } }; ANYFFI_BIND(T).init<>();"
        "void f(const T&); ANYFFI_EXPORT(f, &f)",
        'struct Own { static constexpr anyffi::FixedText kTypeKey{"t.Own"};'
        " static Own from_value(const Unbound&) { return {}; } }; void f(const Own&); ANYFFI_EXPORT(f, &f)",
    ],
)
def test_a_value_without_a_conversion_is_explained(declaration: str) -> None:
    message = "anyffi: the parameter of from_value has a type without a conversion: include its header"
    assert message in first_error(declaration)


def test_containers_of_owned_objects_among_other_types_are_refused() -> None:
    declaration = (
        'ANYFFI_CLASS(T, "t.T"); using Some = std::variant<int64_t, std::vector<std::unique_ptr<T>>>;'
        "void f(Some); ANYFFI_EXPORT(f, &f)"
    )
    assert "anyffi: a container of std::unique_ptr among other types" in first_error(declaration)
