"""The table of C++ types, and the functions that each of them is a parameter or the result of."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Type:
    """A type of parameters, as anyffi's and nanobind's functions declare it.

    Functions are generated for its `tasks`: take (argument), echo (argument and result), give (result), apply
    (argument and result of a callback).
    """

    key: str
    ours: str
    theirs: str
    tasks: str = "take echo give apply"


def std(key: str, cpp: str, tasks: str = "take echo give apply") -> Type:
    """Make a type that both declare the same."""
    return Type(key, cpp, cpp, tasks)


VIEW = "take"
NO_GIVE = "take echo apply"

TYPES = [
    std("int", "int64_t"),
    std("int32", "int32_t"),
    std("uint64", "uint64_t"),
    std("float", "double"),
    std("float32", "float"),
    std("bool", "bool"),
    std("str", "const std::string&"),
    std("str_by_value", "std::string", VIEW),
    std("str_view", "std::string_view", VIEW),
    # A plain `const char*` of nanobind does not check for NUL.
    Type("c_str", "const char*", "CheckedText", VIEW),
    Type("String", "const anyffi::String&", "const nb::str&"),
    Type("Bytes", "const anyffi::Bytes&", "const nb::bytes&"),
    Type("BigInt", "const anyffi::BigInt&", "const nb::int_&", NO_GIVE),
    Type("Slice", "const anyffi::Slice&", "const nb::slice&", NO_GIVE),
    std("complex", "std::complex<double>"),
    std("duration", "std::chrono::duration<double>"),
    std("time", "std::chrono::system_clock::time_point", "take echo give"),
    std("path", "const std::filesystem::path&", "take echo give"),
    std("array_float", "const std::array<double, 3>&"),
    std("arrays", "const std::vector<std::array<double, 3>>&"),
    std("optional_int", "std::optional<int64_t>"),
    std("optional_str", "const std::optional<std::string>&"),
    std("variant", "const std::variant<int64_t, double, std::string>&"),
    std("pair", "const std::pair<int64_t, double>&"),
    std("tuple", "const std::tuple<int64_t, double, std::string>&"),
    std("ints", "const std::vector<int64_t>&"),
    std("floats", "const std::vector<double>&"),
    std("bools", "const std::vector<bool>&"),
    std("strs", "const std::vector<std::string>&"),
    std("complexes", "const std::vector<std::complex<double>>&"),
    std("optional_ints", "const std::vector<std::optional<int64_t>>&"),
    std("variants", "const std::vector<std::variant<int64_t, double, std::string>>&"),
    std("rows", "const std::vector<std::vector<int64_t>>&"),
    std("pairs", "const std::vector<std::pair<int64_t, int64_t>>&"),
    std("set_int", "const std::set<int64_t>&"),
    std("hash_set_int", "const std::unordered_set<int64_t>&"),
    std("hash_set_str", "const std::unordered_set<std::string>&"),
    std("map_str", "const std::map<std::string, int64_t>&"),
    std("hash_map_str", "const std::unordered_map<std::string, int64_t>&"),
    std("hash_map_int", "const std::unordered_map<int64_t, int64_t>&"),
    std("hash_map_floats", "const std::unordered_map<std::string, double>&"),
    std("hash_map_strs", "const std::unordered_map<std::string, std::string>&"),
    std("hash_map_ints", "const std::unordered_map<std::string, std::vector<int64_t>>&"),
    std("maps", "const std::vector<std::unordered_map<std::string, int64_t>>&"),
    std("std_function", "const std::function<int64_t(int64_t)>&", VIEW),
    Type("Function", "const anyffi::Function&", "const nb::callable&", "take echo"),
    Type("TensorView", "const anyffi::TensorView&", "const nb::ndarray<>&", VIEW),
    Type(
        "VectorView",
        "anyffi::TypedView<const double, 1>",
        "nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>",
        VIEW,
    ),
    Type(
        "PointsView",
        "anyffi::TypedView<const float, anyffi::shape<anyffi::any, 3>, anyffi::row_major>",
        "nb::ndarray<const float, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>",
        VIEW,
    ),
    Type(
        "Vector",
        "const anyffi::TypedTensor<double, 1>&",
        "const nb::ndarray<double, nb::ndim<1>, nb::device::cpu, nb::numpy>&",
        "take echo apply",
    ),
    Type("Tensor", "const anyffi::Tensor&", "const nb::ndarray<nb::numpy>&", "take echo apply"),
    Type("ListInt", "const anyffi::List<int64_t>&", "const std::vector<int64_t>&"),
    Type("ListFloat", "const anyffi::List<double>&", "const std::vector<double>&"),
    Type("ListString", "const anyffi::List<anyffi::String>&", "const std::vector<std::string>&"),
    Type(
        "ListList",
        "const anyffi::List<anyffi::List<int64_t>>&",
        "const std::vector<std::vector<int64_t>>&",
        VIEW,
    ),
    Type("ListAny", "const anyffi::List<anyffi::AnyValue>&", "const std::vector<nb::object>&", VIEW),
    Type("ArrayInt", "const anyffi::Array<int64_t>&", "const std::vector<int64_t>&"),
    Type("ArrayString", "const anyffi::Array<anyffi::String>&", "const std::vector<std::string>&", VIEW),
    Type("ArrayTensor", "const anyffi::Array<anyffi::Tensor>&", "const std::vector<nb::ndarray<>>&", VIEW),
    Type(
        "DictStringInt",
        "const anyffi::Dict<anyffi::String, int64_t>&",
        "const std::unordered_map<std::string, int64_t>&",
    ),
    Type(
        "DictIntInt",
        "const anyffi::Dict<int64_t, int64_t>&",
        "const std::unordered_map<int64_t, int64_t>&",
        VIEW,
    ),
    Type(
        "DictStringList",
        "const anyffi::Dict<anyffi::String, anyffi::List<int64_t>>&",
        "const std::unordered_map<std::string, std::vector<int64_t>>&",
        VIEW,
    ),
    Type(
        "MapStringInt",
        "const anyffi::Map<anyffi::String, int64_t>&",
        "const std::unordered_map<std::string, int64_t>&",
        VIEW,
    ),
    Type("SetInt", "const anyffi::Set<int64_t>&", "const std::unordered_set<int64_t>&", VIEW),
    Type("SetString", "const anyffi::Set<anyffi::String>&", "const std::unordered_set<std::string>&", VIEW),
    Type(
        "FrozenSetInt",
        "const anyffi::FrozenSet<int64_t>&",
        "const std::unordered_set<int64_t>&",
        "take echo apply",
    ),
    Type("Shape", "const anyffi::Shape&", "const std::vector<int64_t>&", VIEW),
    Type("Point", "const anyffi::Ref<Point>&", "const Point&", VIEW),
    Type("any", "const anyffi::AnyValue&", "const nb::object&", NO_GIVE),
]

BY_KEY = {each.key: each for each in TYPES}

#: Vectors of the elements of another type.
ELEMENTS = {"int": "ints", "float": "floats", "str": "strs", "bool": "bools", "complex": "complexes"}
