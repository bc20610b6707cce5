/// \file
/// The types of fields: their descriptions, and the initial values of fields.
#include "records/field_type.h"

#include <anyffi/stl/complex.h>

#include <algorithm>
#include <cstring>

#include "records/field_loads.h"

namespace anyffi::runtime {
namespace {

/* ---- values of fields that are not set ---- */

AnyValue make_none(const FieldType&) { return {}; }

AnyValue make_empty_text(const FieldType&) { return anyffi::String(); }
AnyValue make_empty_bytes(const FieldType&) { return anyffi::Bytes(); }

template <int32_t kCode>
AnyValue make_empty(const FieldType&) {
  constexpr bool kIsSequence = kCode == ANYFFI_LIST || kCode == ANYFFI_ARRAY || kCode == ANYFFI_SHAPE;
  AnyValue made;
  detail::check(kIsSequence ? anyffi_sequence_create(kCode, 0, made.out())
                            : anyffi_mapping_create(kCode, 0, made.out()));
  return made;
}

AnyValue make_tuple(const FieldType& type) {
  List<> parts;
  for (const auto& part : type.parts) {
    parts.push_back(part->storage == ANYFFI_STORED_VALUE || part->storage == ANYFFI_STORED_OBJECT
                        ? part->make_initial(*part)
                        : AnyValue(int64_t{0}));
  }
  return std::move(parts).freeze();
}

AnyValue make_placeholder(const FieldType& type) { return placeholder_of(type.type_code); }

AnyValue make_refusing_function(const FieldType&) {
  return Function::from_packed(
      [](Args, AnyValue*) { throw Error("ValueError", "the field with this function is not set yet"); });
}

/* ---- descriptions ---- */

struct Row {
  const char* name;
  int32_t num_parts;  // -1: any number
  int32_t storage;
  decltype(FieldType::load) load;
  decltype(FieldType::make_initial) make_initial;
  uint64_t type_mask = 0;
  bool refers = true;
};

template <class T>
constexpr Row leaf(const char* name, int32_t storage = ANYFFI_STORED_VALUE,
                   decltype(FieldType::make_initial) make_initial = &make_none) {
  constexpr bool kRefers = std::is_same_v<T, AnyValue> || std::is_same_v<T, Slice>;
  return {
      name, 0, storage, &load_leaf<T>, make_initial, Traits<T>::type_mask, kRefers || storage == ANYFFI_STORED_OBJECT};
}

constexpr int32_t kObject = ANYFFI_STORED_OBJECT;

const Row kRows[] = {
    leaf<int64_t>("int", ANYFFI_STORED_INT),
    leaf<double>("float", ANYFFI_STORED_FLOAT),
    leaf<bool>("bool", ANYFFI_STORED_BOOL),
    leaf<anyffi::String>("str", ANYFFI_STORED_VALUE, &make_empty_text),
    leaf<Bytes>("bytes", ANYFFI_STORED_VALUE, &make_empty_bytes),
    leaf<std::nullptr_t>("None"),
    leaf<AnyValue>("Any"),
    leaf<std::complex<double>>("complex"),
    leaf<Slice>("slice"),
    leaf<DataType>("dtype"),
    leaf<Device>("Device"),
    leaf<void*>("c_void_p"),
    leaf<ObjectRef>("Object", kObject, &make_empty<ANYFFI_ARRAY>),
    leaf<Function>("Function", kObject, &make_refusing_function),
    leaf<Module>("Module", kObject, nullptr),
    leaf<Tensor>("Tensor", kObject, nullptr),
    leaf<Shape>("Shape", kObject, &make_empty<ANYFFI_SHAPE>),
    {"List", 1, kObject, &load_container<List<Part<0>>, ANYFFI_LIST>, &make_empty<ANYFFI_LIST>},
    {"Array", 1, kObject, &load_container<Array<Part<0>>>, &make_empty<ANYFFI_ARRAY>},
    {"Set", 1, kObject, &load_container<Set<Part<0>>, ANYFFI_SET>, &make_empty<ANYFFI_SET>},
    {"FrozenSet", 1, kObject, &load_container<FrozenSet<Part<0>>>, &make_empty<ANYFFI_FROZEN_SET>},
    {"Dict", 2, kObject, &load_container<Dict<Part<0>, Part<1>>, ANYFFI_DICT>, &make_empty<ANYFFI_DICT>},
    {"Map", 2, kObject, &load_container<Map<Part<0>, Part<1>>>, &make_empty<ANYFFI_MAP>},
    {"tuple", -1, kObject, &load_tuple, &make_tuple},
    {"union", -1, ANYFFI_STORED_VALUE, &load_union, &make_none},
    {"object", 1, kObject, &load_object, &make_placeholder},
    {"self", 0, kObject, &load_object, &make_placeholder},
    {"named", 1, kObject, &load_named, nullptr},
    {"instance", 2, ANYFFI_STORED_VALUE, &load_instance, &make_none},
    {"enumeration", -1, ANYFFI_STORED_VALUE, &load_enumeration, &make_none},
    {"literal", -1, ANYFFI_STORED_VALUE, &load_literal, &make_none, 0, false},
};

String text_of(const AnyValue& value) {
  Bytes utf8 = value.cast<anyffi::String>().utf8();
  return String(reinterpret_cast<const char*>(utf8.data()), static_cast<size_t>(utf8.size()));
}

[[noreturn]] void refuse_description(const Array<>& description) {
  throw Error("ValueError", "no type of fields is described by {}", AnyView(description));
}

/// `int | None`, `tuple[int, str]`, `List[int]`
String name_of(const Row& row, const FieldType& type) {
  bool is_union = std::strcmp(row.name, "union") == 0;
  String name = is_union ? "" : row.name;
  if (!is_union && !type.parts.empty()) name += '[';
  for (size_t i = 0; i < type.parts.size(); ++i) {
    if (i > 0) name += is_union ? " | " : ", ";
    name += type.parts[i]->name;
  }
  if (!is_union && !type.parts.empty()) name += ']';
  return std::strcmp(row.name, "tuple") == 0 && type.parts.empty() ? "tuple[()]" : name;
}

/// `Literal['a', 'b']`
String name_choices(const FieldType& type) {
  String name = "Literal[";
  for (const AnyValue& choice : type.choices) {
    if (&choice != &type.choices.front()) name += ", ";
    AnyValue shown;
    detail::check(anyffi_value_repr(&choice.raw(), shown.out()));
    name += text_of(shown);
  }
  return name + "]";
}

const Row* find_row(const String& tag) {
  for (const Row& row : kRows) {
    if (tag == row.name) return &row;
  }
  return nullptr;
}

void read_object(const Array<>& description, FieldType& type) {
  type.type_code = description[1].cast<int32_t>();
  const AnyffiTypeInfo* info = anyffi_type_get_info(type.type_code);
  if (info == nullptr) refuse_description(description);
  type.name = info->type_key;
}

void read_choices(const Array<>& description, FieldType& type) {
  for (int64_t i = 1; i < description.size(); ++i) type.choices.push_back(description[i]);
  type.name = name_choices(type);
  type.detail = "expected " + type.name;
}

void read_enumeration(const Array<>& description, FieldType& type) {
  if (description.size() < 3 || description.size() % 2 == 0) refuse_description(description);
  type.name = text_of(description[1]);
  // `Literal[...]`, for some members only, is not a class name.
  bool is_class = type.name.find('[') == String::npos;
  type.detail = (is_class ? "expected a member of " : "expected ") + type.name;
  for (int64_t i = 2; i < description.size(); ++i) type.choices.push_back(description[i]);
}

/// Reads the element types of a container, tuple or union; other types have none.
void read_parts(const Array<>& description, const Row& row, FieldType& type, SelfTypes& selves) {
  for (int64_t i = 1; i < description.size(); ++i) {
    type.parts.push_back(make_field_type(description[i].cast<Array<>>(), selves));
  }
  if (row.load == &load_union) {
    type.refers = std::any_of(type.parts.begin(), type.parts.end(), [](auto& part) { return part->refers; });
  }
  type.name = name_of(row, type);
  if (row.load == &load_tuple) {
    type.detail = String("expected ") + std::to_string(type.parts.size()).c_str() + " elements";
  }
}

/// Whether the type has no initial value.
bool is_guarded(const FieldType& type, bool is_self) {
  if (type.make_initial == nullptr) return true;
  if (type.load == &load_object) return !is_self && !has_placeholder(type.type_code);
  return type.load == &load_tuple &&
         std::any_of(type.parts.begin(), type.parts.end(), [](auto& part) { return part->is_guarded; });
}

}  // namespace

std::unique_ptr<FieldType> make_field_type(const Array<>& description, SelfTypes& selves) {
  if (description.size() == 0 || !anyffi_is_str(description[0].type_code())) refuse_description(description);
  String tag = text_of(description[0]);
  const Row* row = find_row(tag);
  int64_t num_parts = description.size() - 1;
  if (row == nullptr || (row->num_parts >= 0 && row->num_parts != num_parts)) refuse_description(description);
  auto type = std::make_unique<FieldType>();
  type->load = row->load;
  type->make_initial = row->make_initial;
  type->storage = row->storage;
  type->type_mask = row->type_mask;
  type->refers = row->refers;
  bool is_self = tag == "self";
  if (is_self) {
    type->name = selves.key;
    selves.types.push_back(type.get());
  } else if (row->load == &load_object) {
    read_object(description, *type);
  } else if (row->load == &load_named) {
    type->name = text_of(description[1]);
  } else if (row->load == &load_instance) {
    type->name = text_of(description[1]);
    type->choices.push_back(description[2]);
  } else if (row->load == &load_enumeration) {
    read_enumeration(description, *type);
  } else if (row->load == &load_literal) {
    read_choices(description, *type);
  } else {
    read_parts(description, *row, *type, selves);
  }
  type->is_guarded = is_guarded(*type, is_self);
  return type;
}

}  // namespace anyffi::runtime
