"""The headers in a module author's compiler: their size, the code they generate, and the error messages."""

from __future__ import annotations

import pathlib

import pytest
from compiling import INCLUDE, compile_text
from support import CXX, needs_compilers, run

pytestmark = needs_compilers

#: Standard headers that only those in anyffi/stl/ may include.
HEAVY = {"algorithm", "functional", "map", "memory", "optional", "string", "tuple", "variant", "vector"}
SMALLEST = """
#include <anyffi/anyffi.h>
static int64_t add_one(int64_t x) { return x + 1; }
ANYFFI_EXPORT(add_one, &add_one, anyffi::arg("x"));
"""


def test_the_main_header_is_light() -> None:
    done = compile_text("#include <anyffi/anyffi.h>\n", "-E", "-P")
    assert done.returncode == 0, done.stderr
    # The main headers of comparable libraries have 60,000 lines.
    assert len(done.stdout.splitlines()) < 20_000
    included = compile_text("#include <anyffi/anyffi.h>\n", "-M")
    assert not HEAVY & {pathlib.PurePath(word).name for word in included.stdout.split()}


@pytest.mark.slow("compiling")
def test_the_smallest_extension_is_small(tmp_path: pathlib.Path) -> None:
    import anyffi

    source, library = tmp_path / "small.cc", tmp_path / "small.so"
    source.write_text(SMALLEST)
    runtime = pathlib.Path(anyffi.find_library("anyffi")).parent
    options = ["-std=c++17", "-O2", "-shared", "-fPIC", "-s", f"-I{INCLUDE}"]
    done = run([CXX, *options, source, "-o", library, "-L", runtime, "-lanyffi"], LD_PRELOAD=None)
    assert done.returncode == 0, done.stderr
    assert library.stat().st_size <= 40_000


# ---- what does not compile -------------------------------------------------------------------------------

#: Standard types, whose conversion lies in the header of the same name.
STD_TYPES = {
    "std::string": "string",
    "std::vector<int>": "vector",
    "std::map<int, int>": "map",
    "std::unordered_map<int, int>": "unordered_map",
    "std::set<int>": "set",
    "std::unordered_set<int>": "unordered_set",
    "std::optional<int>": "optional",
    "std::variant<int, double>": "variant",
    "std::tuple<int, int>": "tuple",
    "std::pair<int, int>": "tuple",
    "std::complex<double>": "complex",
    "std::chrono::milliseconds": "chrono",
    "std::array<int, 2>": "array",
    "std::deque<int>": "deque",
    "std::list<int>": "list",
    "std::error_code": "system_error",
    "std::filesystem::path": "filesystem",
    "std::chrono::system_clock::time_point": "chrono",
}


def first_lines(source: str) -> str:
    """Compile a program that must be refused, and return the first five lines of the compiler's output."""
    done = compile_text(source, "-fsyntax-only")
    assert done.returncode != 0
    return " ".join(done.stderr.splitlines()[:5])


@pytest.mark.parametrize("name", STD_TYPES)
@pytest.mark.slow("compiling")
def test_a_header_that_is_not_included_is_named(name: str) -> None:
    header = STD_TYPES[name]
    program = f"#include <{header}>\n#include <anyffi/anyffi.h>\nvoid f({name});\nANYFFI_EXPORT(g, &f);\n"
    message = f"anyffi: the conversion of a parameter is missing: #include <anyffi/stl/{header}.h>"
    assert message in first_lines(program)


OBJECT = 'struct T { static constexpr anyffi::FixedText kTypeKey{"t"}; T(const T&) = delete; };'


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("struct S {}; void f(S);", "a parameter has a type without a conversion: specialise"),
        ("struct S {}; S f();", "the result has a type without a conversion: specialise"),
        ("struct S {}; void f(int, const S&);", "a parameter has a type without a conversion"),
        ("struct S {}; void f(std::vector<S>);", "a parameter has a type without a conversion"),
        (
            "void f(std::string_view);",
            "the conversion of a parameter is missing: #include <anyffi/stl/string.h>",
        ),
        ("std::string f();", "the conversion of the result is missing: #include <anyffi/stl/string.h>"),
        (
            "std::function<void()> f();",
            "the conversion of the result is missing: #include <anyffi/stl/function.h>",
        ),
        ("void f(std::u32string);", "#include <anyffi/stl/wide_string.h>"),
        ("std::wstring f();", "#include <anyffi/stl/wide_string.h>"),
        ("void f(std::vector<std::string>);", "#include <anyffi/stl/string.h>"),
        ("std::map<int, std::vector<int>> f();", "#include <anyffi/stl/map.h>"),
        ("void f(int&);", "a parameter is a non-const reference to a temporary copy"),
        ("void f(double*, int);", "a parameter is a pointer to numbers, which does not say how many"),
        ("const double* f();", "the result is a pointer to numbers"),
        ("void f(int (*)(int));", "a parameter is a pointer to a function"),
        ("void f(std::weak_ptr<int>);", "a parameter is a std::weak_ptr: use the std::shared_ptr"),
        ("void f(std::vector<int>&);", "a parameter is a non-const reference to a temporary copy"),
        ("void f(std::u16string_view);", "#include <anyffi/stl/wide_string.h>"),
        (
            "void f(std::vector<std::shared_ptr<int>>);",
            "a parameter is or holds a pointer or reference of C++",
        ),
        ("std::unique_ptr<int> f();", "the result is or holds a pointer or reference of C++"),
        ("struct S {}; void f(S*);", 'bind it by ANYFFI_CLASS(T, "module.T") before this'),
        ("struct S {}; S* f();", 'by ANYFFI_TYPE_KEY(T, "module.T") before and ANYFFI_BIND(T) after'),
        (
            "void f(std::reference_wrapper<int>);",
            "a parameter is or holds a std::reference_wrapper: use a T&, and a T* in containers",
        ),
        ("void f(std::chrono::steady_clock::time_point);", "another clock than std::chrono::system_clock"),
        ("void f(std::forward_list<int>);", "use std::vector, std::deque or std::list"),
        ("void f(std::priority_queue<int>);", "use std::vector, std::deque or std::list"),
        ("std::multimap<int, int> f();", "the result is a container that Python has no counterpart of"),
        ("void f(std::bitset<8>);", "use an integer, or std::vector<bool>"),
        ("void f(std::vector<std::any>);", "use anyffi::AnyValue"),
        (f"{OBJECT} void f(std::vector<T>);", "a parameter has a container that holds objects by value"),
        (
            f"{OBJECT.replace('struct T', 'struct B { void g(); }; struct T : B')} auto f = &T::g;",
            "register a member function that T inherits from a class without one as anyffi::method<T>(&T::f)",
        ),
        (
            "struct S {}; void f(S);",
            "give the class a kTypeKey and take it as T&, return it as anyffi::Ref<T>",
        ),
        (f"{OBJECT} void f(T);", "a parameter takes an object by value"),
        (f"{OBJECT} T f();", "the result is an object by value"),
        (
            "struct { template <class T> void operator()(T) {} } f;",
            "cannot deduce the parameters of this callable",
        ),
        ("struct S { void g() &&; }; auto f = &S::g;", "cannot deduce the parameters of this callable"),
        ("struct S { void g(int, ...); }; auto f = &S::g;", "cannot deduce the parameters of this callable"),
    ],
)
@pytest.mark.slow("compiling")
def test_a_function_that_cannot_be_registered_is_explained(source: str, message: str) -> None:
    headers = "any bitset chrono forward_list functional map memory queue string"
    std = "".join(f"#include <{header}>\n" for header in headers.split())
    anyffi = "#include <anyffi/anyffi.h>\n#include <anyffi/stl/vector.h>\n"
    callable_ = "f" if "operator()" in source or "auto f" in source else "&f"
    assert message in first_lines(f"{std}{anyffi}{source}\nANYFFI_EXPORT(g, {callable_});\n")


@pytest.mark.parametrize(
    ("member", "message"),
    [
        (".init<int64_t>()", "the class has no public constructor with these parameters"),
        (
            ".init([] { return 5; })",
            "a constructor returns a T, an anyffi::Ref<T>, a T* to a new object, a std::unique_ptr<T> or a "
            "std::shared_ptr<T> (anyffi/stl/memory.h): convert a pointer to a derived class, or a smart pointer "
            "of your own, to one of these",
        ),
        ('.method("f", [](int64_t) {})', "the first parameter of a method is the object"),
        ('.method("f", [](const T&, std::string) {})', "#include <anyffi/stl/string.h>"),
        (
            '.method("f", &T::f, anyffi::arg("x"), anyffi::arg("y"))',
            "more arg(...) than the function has parameters",
        ),
        (".init<>(anyffi::kw_only())", "kw_only() stands once, before the first arg(...)"),
        ('.method("f", &T::f, anyffi::kw_only())', "kw_only() stands once, before the first arg(...)"),
        (
            '.method("f", &T::f, anyffi::kw_only(), anyffi::arg("x"), anyffi::arg("y"))',
            "more arg(...) than the function has parameters",
        ),
        ('.field("other", &T::other)', "a field has a type without a conversion"),
        ('.field("f", &T::f)', "a field is a data member"),
        ('.method("f", [](T&, T) {})', "whose class has no copy constructor"),
        (".op(anyffi::ops::getitem)", "C++ has no such operator: name the function, too"),
        (".op(anyffi::ops::rmul)", "name the type of the operand on the left, as in op<double>("),
        (".op(anyffi::ops::mul)", "the class has no such operator for an operand of this type: define it"),
        (".op<double>(anyffi::ops::mul)", "the class has no such operator for an operand of this type"),
        (".op<int64_t>(anyffi::ops::rmul)", "the class has no such operator for an operand of this type"),
        (".op<double>(anyffi::ops::imul)", "the class has no such operator for an operand of this type"),
        (".op<double>(anyffi::ops::neg)", "C++ has no such operator of two operands: name the function"),
        (".op<double>(anyffi::ops::pow)", "C++ has no such operator of two operands: name the function"),
        (
            '.method("f", &T::f, "what it does")',
            'each parameter after the callable, and nothing else: .doc("...")',
        ),
        ('.method("g", &T::g)', "variadic, for rvalues or volatile objects alone"),
        ('.field("owned", &T::owned)', "a field is a container of std::unique_ptr, which cannot be copied"),
        (
            '.method("all", [](T& t) -> auto& { return t.owned; })',
            "the result refers to a std::unique_ptr, or to a",
        ),
        (
            '.method("one", [](T& t) -> auto& { return t.owned[0]; })',
            "the result refers to a std::unique_ptr",
        ),
        ('.field("most", &T::most)', "a static data member is a static_field()"),
        (".copyable()", "copyable() is for classes with a public copy constructor"),
    ],
)
@pytest.mark.slow("compiling")
def test_a_member_of_a_class_that_cannot_be_registered_is_explained(member: str, message: str) -> None:
    source = """struct Other {};
    struct T {
      Other other;
      std::vector<std::unique_ptr<T>> owned;
      static int64_t most;
      T();
      T(T&&);
      int64_t f(int64_t);
      void g() &&;
    };"""
    headers = "".join(f"#include <{name}>\n" for name in ("string", "anyffi/anyffi.h"))
    if "owned" in member:
        headers += "#include <anyffi/stl/memory.h>\n#include <anyffi/stl/vector.h>\n"
    program = f'#include <memory>\n#include <vector>\n{headers}{source}\nANYFFI_CLASS(T, "t"){member};\n'
    assert message in compile_text(program, "-fsyntax-only").stderr


#: The message about member functions of a private base, whose type `using` does not change.
NO_MEMBER = (
    "the member function is of a class from which this one does not derive publicly, even where `using "
)


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ('.method("f", &T::f)', NO_MEMBER),
        ('.property("f", &T::f)', NO_MEMBER),
        (".op(anyffi::ops::getitem, &T::at)", NO_MEMBER),
        (".slices(&T::f, &T::at)", NO_MEMBER),
        (".iterate(&T::begin, &T::end)", NO_MEMBER),
        ('.method("f", anyffi::method<T>(&T::f))', "from which T does not derive publicly, or virtually"),
        ('.field("v", &T::v)', "a field is a member of the class, or of a public base"),
        (".init(&T::make)", "a new object, which cannot be deleted: the destructor or operator delete of"),
    ],
)
@pytest.mark.slow("compiling")
def test_members_that_are_not_public_are_explained(member: str, message: str) -> None:
    source = """struct Base {
      int f() const;
      int at(int64_t) const;
      const int* begin() const;
      const int* end() const;
      int v;
    };
    class T : Base {
     public:
      using Base::f, Base::at, Base::begin, Base::end, Base::v;
      static T* make();

     private:
      void operator delete(void*);
    };"""
    program = f'#include <anyffi/anyffi.h>\n{source}\nANYFFI_CLASS(T, "t"){member};\n'
    lines = compile_text(program, "-fsyntax-only").stderr.splitlines()
    assert message in next(line for line in lines if "error:" in line)


@pytest.mark.slow("compiling")
def test_a_class_with_a_private_operator_delete_compiles() -> None:
    source = """class Kept {
     public:
      static Kept* only() { static Kept kept; return &kept; }

     private:
      void operator delete(void*) {}
    };
    ANYFFI_CLASS(Kept, "kept").init<>().static_method("only", &Kept::only).returns(anyffi::Returns::kReference);
    """
    done = compile_text(
        f"#include <anyffi/anyffi.h>\n{source}", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow("compiling")
def test_elements_that_cannot_be_iterated_over_are_explained() -> None:
    source = "struct E {}; struct T { const E* begin() const; const E* end() const; };"
    program = f'#include <anyffi/anyffi.h>\n{source}\nANYFFI_CLASS(T, "t").iterate(&T::begin, &T::end);\n'
    lines = compile_text(program, "-fsyntax-only").stderr.splitlines()
    assert "the result has a type without a conversion" in next(line for line in lines if "error:" in line)


@pytest.mark.slow("compiling")
def test_a_base_that_is_given_to_the_description_is_explained() -> None:
    source = 'struct A {}; struct B : A {}; ANYFFI_TYPE_KEY(A, "a"); ANYFFI_TYPE_KEY(B, "b", A); ANYFFI_BIND(B, A);'
    done = compile_text(f"#include <anyffi/anyffi.h>\n{source}\n", "-fsyntax-only")
    assert 'its base is named by ANYFFI_TYPE_KEY(T, "key", Base)' in done.stderr


@pytest.mark.slow("compiling")
def test_types_that_convert_through_others_compile_without_warnings() -> None:
    source = """
    struct A { anyffi::BigInt x{1}; };
    struct B { std::optional<A> x; };
    template <> struct anyffi::Traits<A> : anyffi::TraitsVia<A, anyffi::BigInt> {
      static A from(const BigInt& x) { return {x}; }
      static BigInt to(const A& a) { return a.x; }
    };
    template <> struct anyffi::Traits<B> : anyffi::TraitsVia<B, std::optional<A>> {
      static B from(const std::optional<A>& x) { return {x}; }
      static std::optional<A> to(const B& b) { return b.x; }
    };
    ANYFFI_EXPORT(f, [](const B& b) { return b; });
    """
    headers = "#include <anyffi/anyffi.h>\n#include <anyffi/stl/optional.h>\n"
    assert compile_text(headers + source, "-fsyntax-only", "-Wall", "-Wextra").stderr == ""


@pytest.mark.slow("compiling")
@pytest.mark.parametrize("bases", ["A", "private A", "L, R"])
def test_a_base_that_is_not_reachable_is_explained(bases: str) -> None:
    classes = f"struct A {{}}; struct L : A {{}}; struct R : A {{}}; class B : {bases} {{}};"
    source = f'{classes} ANYFFI_TYPE_KEY(A, "a"); ANYFFI_CLASS(B, "b", A);'
    done = compile_text(f"#include <anyffi/anyffi.h>\n{source}\n", "-fsyntax-only")
    assert "the base of an object class must be a public base, and the only one of its class" in done.stderr


@pytest.mark.slow("compiling")
def test_a_base_that_is_not_bound_is_explained() -> None:
    program = '#include <anyffi/anyffi.h>\nstruct A {};\nstruct B : A {};\nANYFFI_CLASS(B, "b", A);\n'
    assert "the base has no key yet: bind it before, by ANYFFI_CLASS(Base" in first_lines(program)


@pytest.mark.slow("compiling")
def test_a_global_function_is_explained_alike() -> None:
    program = '#include <anyffi/anyffi.h>\nstruct S {}; void f(S);\nANYFFI_REGISTER_GLOBAL("g").def(&f);\n'
    assert "a parameter has a type without a conversion: specialise" in first_lines(program)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ('arg("x")', "fewer arg(...) than the function has parameters: name all of them, or none"),
        ('arg("x"), arg("y"), arg("z")', "more arg(...) than the function has parameters"),
        ('arg("x") = 1, arg("y")', "an arg(...) without a default follows one with a default"),
        ('"x", "y"', "expected arg("),
    ],
)
@pytest.mark.parametrize(
    "definition", ["ANYFFI_EXPORT(g, &f, {});", "auto g = anyffi::Function::from(&f, {});"]
)
@pytest.mark.slow("compiling")
def test_names_that_do_not_fit_the_parameters(names: str, message: str, definition: str) -> None:
    head = "#include <anyffi/anyffi.h>\nusing anyffi::arg;\nint64_t f(int64_t, double);\n"
    assert f"anyffi: {message}" in first_lines(head + definition.format(names) + "\n")


NOT_A_POINTER = ".not_none() is for pointers to objects of bound classes: other parameters refuse None anyway"


@pytest.mark.parametrize(
    ("parameter", "name", "message"),
    [
        ("int64_t", ".not_none()", NOT_A_POINTER),
        ("T&", ".not_none()", NOT_A_POINTER),
        ("const char*", ".not_none()", NOT_A_POINTER),
        ("anyffi::NotNull<T*>", ".not_none()", NOT_A_POINTER),
        ("anyffi::Optional<int64_t>", ".not_none()", "unless their type is to take it, such as Optional<T>"),
        ("std::unique_ptr<T>", ".not_none()", "#include <anyffi/stl/memory.h>"),
        ("T*", ".not_none() = nullptr", "the default nullptr is None, which .not_none() refuses"),
        ("T*", ".not_none().convert()", "no parameter has both"),
        ("anyffi::TypedView<const double>", ".convert().not_none()", "no parameter has both"),
        ("T*", ".none(false)", "a pointer to an object takes None unless it has .not_none()"),
        ("T*", ".none()", "there is no .none()"),
        ("anyffi::AnyValue", ".none(true)", "there is no .none()"),
    ],
)
@pytest.mark.slow("compiling")
def test_parameters_that_cannot_refuse_none_are_explained(parameter: str, name: str, message: str) -> None:
    source = f"""#include <memory>
    #include <anyffi/anyffi.h>
    struct T {{}};
    ANYFFI_CLASS(T, "t");
    void f({parameter});
    ANYFFI_EXPORT(g, &f, anyffi::arg("x"){name});
    """
    errors = [line for line in compile_text(source, "-fsyntax-only").stderr.splitlines() if "error:" in line]
    assert message in errors[0]


@pytest.mark.parametrize(
    "name",
    ["std::map<std::string_view, int>", "std::vector<const char*>", "std::vector<anyffi::TypedView<int, 1>>"],
)
@pytest.mark.slow("compiling")
def test_a_container_holds_no_view(name: str) -> None:
    headers = "".join(f"#include <anyffi/stl/{name}.h>\n" for name in ("map", "string", "vector"))
    program = f"#include <anyffi/anyffi.h>\n{headers}void f({name});\nANYFFI_EXPORT(g, &f);\n"
    done = compile_text(program, "-fsyntax-only")
    assert done.returncode != 0
    assert "a container must own its elements: use std::string or TypedTensor, not a view" in done.stderr


@pytest.mark.parametrize(
    ("data", "says", "is_view"),
    [
        ("const char* text; const char* data() const;", "", True),
        ("char text[16]; const char* data() const;", "", False),
        ("double numbers[3]; const double* data() const;", "", False),
        ("const char* text;", "static constexpr bool kIsView = true;", True),
        ("const char* text; const char* data() const;", "static constexpr bool kIsView = false;", False),
        ("char* text; char* data(); const char* data() const;", "", False),
    ],
)
@pytest.mark.slow("compiling")
def test_a_container_holds_no_view_of_a_library(data: str, says: str, is_view: bool) -> None:
    program = f"""
    #include <anyffi/anyffi.h>
    #include <anyffi/stl/string.h>
    #include <anyffi/stl/vector.h>
    struct Piece {{ {data} size_t size() const; }};
    template <>
    struct anyffi::Traits<Piece> : anyffi::TraitsVia<Piece, std::string_view> {{
      {says}
      static Piece from(std::string_view text);
    }};
    size_t one(const Piece&);
    ANYFFI_EXPORT(f, &one);
    void many(const std::vector<Piece>&);
    ANYFFI_EXPORT(g, &many);
    """
    errors = [line for line in compile_text(program, "-fsyntax-only").stderr.splitlines() if "error:" in line]
    assert ["a container must own its elements" in line for line in errors] == [True] * is_view
