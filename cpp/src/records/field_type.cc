/// \file
/// The checks of fields: those of the typed parameters of C++ functions, with types that are known at run time.
#include "records/field_type.h"

#include <anyffi/stl/complex.h>

#include <algorithm>
#include <cstring>

#include "core/compiler.h"

namespace anyffi::runtime {
namespace {

/// The parts of the container that is being loaded.
ANYFFI_THREAD_LOCAL const FieldType* const* current_parts = nullptr;

class Current {
 public:
  explicit Current(const FieldType* const* parts) : former_(std::exchange(current_parts, parts)) {}
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() { current_parts = former_; }

 private:
  const FieldType* const* former_;
};

/// In the place of a C++ type of elements: part `I` of the type in `current_parts`.
template <int I>
struct Part {};

}  // namespace
}  // namespace anyffi::runtime

namespace anyffi {

template <int I>
struct Traits<runtime::Part<I>> {
  static constexpr FixedText name{"Any"};
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  using Holder = AnyValue;
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    const runtime::FieldType& type = *runtime::current_parts[I];
    return type.load(type, value, holder, why);
  }
  static AnyffiValue take(AnyValue& holder) { return holder.release(); }
};

namespace detail {

/// `load_element` stores what the part converts an element to.
template <>
inline Fit load_element<runtime::Part<0>>(Element& element, const AnyffiValue& key, AnyValue& converted,
                                          AnyffiMismatch& why) {
  if (!Traits<runtime::Part<0>>::load(element.value, converted, why)) {
    element.refused(why, key);
    return Fit::kRefused;
  }
  return same_words(converted.raw(), element.value) ? Fit::kUnchanged : Fit::kConverted;
}
template <>
inline Fit load_element<runtime::Part<1>>(Element& element, const AnyffiValue& key, AnyValue& converted,
                                          AnyffiMismatch& why) {
  if (!Traits<runtime::Part<1>>::load(element.value, converted, why)) {
    element.refused(why, key);
    return Fit::kRefused;
  }
  return same_words(converted.raw(), element.value) ? Fit::kUnchanged : Fit::kConverted;
}

}  // namespace detail
}  // namespace anyffi

namespace anyffi::runtime {
namespace {

using detail::refuse;

/// Names the whole type where the value itself was refused.
bool refused_as(const FieldType& type, AnyffiMismatch& why) {
  if (why.path_size == 0 && why.reason == ANYFFI_MISMATCH_TYPE) why.expected = type.name.c_str();
  return false;
}

template <class T>
bool load_leaf(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  typename Traits<T>::Holder holder{};
  if (!Traits<T>::load(given, holder, why)) return refused_as(type, why);
  AnyffiValue made = Traits<T>::store(Traits<T>::take(holder));
  detail::settle(made);
  out = AnyValue(detail::Adopt{}, made);
  return true;
}

bool hold(AnyffiValue& given, AnyValue& out) {
  detail::hold_object(given, out);
  return true;
}

/// Whether the type masks of a container show that its elements need no check.
bool has_fitting_elements(const FieldType& type, const AnyffiValue& given) {
  auto fits = [](uint64_t mask, const FieldType* part) { return detail::has_only(mask, part->type_mask); };
  switch (given.type_code) {
    case ANYFFI_LIST:
      return fits(reinterpret_cast<const AnyffiSequence*>(given.as_object)->type_mask, type.parts[0]);
    case ANYFFI_DICT:
      return fits(reinterpret_cast<const AnyffiMapping*>(given.as_object)->key_type_mask, type.parts[0]) &&
             fits(reinterpret_cast<const AnyffiMapping*>(given.as_object)->value_type_mask, type.parts[1]);
    case ANYFFI_SET:
      return fits(reinterpret_cast<const AnyffiMapping*>(given.as_object)->key_type_mask, type.parts[0]);
    default:
      return false;
  }
}

template <class C, int32_t kCode = ANYFFI_NONE>
bool load_container(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  if (given.type_code == kCode && has_fitting_elements(type, given)) return hold(given, out);
  Current current(type.parts.data());
  AnyValue holder;
  if (!Traits<C>::load(given, holder, why)) return refused_as(type, why);
  out = std::move(holder);
  return true;
}

/// An Array of a fixed size, whose elements have types of their own.
bool load_tuple(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  AnyValue holder;
  if (!Traits<Array<>>::load(given, holder, why)) return refused_as(type, why);
  auto* sequence = reinterpret_cast<const AnyffiSequence*>(holder.raw().as_object);
  auto size = static_cast<int64_t>(type.parts.size());
  if (sequence->size != size) {
    refuse(why, holder.raw(), type.name.c_str(), ANYFFI_MISMATCH_VALUE, type.detail.c_str());
    anyffi_mismatch_detach(&why);
    return false;
  }
  AnyValue copy;
  for (int64_t i = 0; i < size; ++i) {
    Current current(&type.parts[static_cast<size_t>(i)]);
    detail::Element element(sequence->data[i], sequence->header);
    AnyValue converted;
    auto fit = detail::load_element<Part<0>>(element, anyffi_make_int(i), converted, why);
    if (fit == detail::Fit::kRefused) {
      anyffi_mismatch_detach(&why);  // what was refused may be the holder's
      return false;
    }
    if (fit == detail::Fit::kConverted && !detail::convert_cell(holder.raw(), copy, i, std::move(converted), why)) {
      return false;
    }
  }
  out = std::move(copy.is_none() ? holder : copy);
  return true;
}

/// As `Variant`: the first type of the value's own family, else the first that accepts it.
bool load_union(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  AnyffiValue value = given;
  if (value.type_code > 0) value.aux = 0;
  int32_t family = anyffi_type_get_family(detail::unboxed(value).type_code);
  refuse(why, value, type.name.c_str());
  AnyValue found, overflow;
  bool is_found = false;
  for (const FieldType* part : type.parts) {
    AnyValue made;
    AnyffiMismatch mine;
    if (part->load(*part, value, made, mine)) {
      bool is_same = made.family() == family;
      if (!is_found || is_same) found = std::move(made);
      is_found = true;
      if (is_same) break;
    } else if (mine.reason == ANYFFI_MISMATCH_RAISED) {
      if (!detail::take_overflow(overflow)) return refuse(why, value, "", ANYFFI_MISMATCH_RAISED);
    } else if (why.reason == ANYFFI_MISMATCH_TYPE && why.path_size == 0 &&
               (mine.reason != ANYFFI_MISMATCH_TYPE || mine.path_size > 0)) {
      why = mine;
    }
  }
  if (is_found) {
    out = std::move(found);
  } else if (!overflow.is_none()) {
    anyffi_error_set_raised(overflow.raw().as_object);
    why.reason = ANYFFI_MISMATCH_RAISED;
  }
  return is_found;
}

bool load_object(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  if (given.type_code > 0 && anyffi_type_is_a(given.as_object->type_code, type.type_code)) return hold(given, out);
  return refuse(why, given, type.name.c_str());
}

/// An object of the type that has the key when it is loaded: annotations may precede the class that they name.
bool load_named(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  const AnyffiTypeInfo* info = given.type_code > 0 ? anyffi_type_get_info(given.as_object->type_code) : nullptr;
  for (; info != nullptr; info = info->depth == 0 ? nullptr : anyffi_type_get_info(info->parent)) {
    if (type.name == info->type_key) return hold(given, out);
  }
  return refuse(why, given, type.name.c_str());
}

bool load_literal(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  const AnyffiValue& value = detail::unboxed(given);
  for (const AnyValue& choice : type.choices) {
    if (choice.family() == anyffi_type_get_family(value.type_code) &&
        anyffi_value_equal_native(&choice.raw(), &value) == 1) {
      out = choice;
      return true;
    }
  }
  return refuse(why, given, type.name.c_str(), ANYFFI_MISMATCH_VALUE, type.detail.c_str());
}

/// What a function of the front end accepts: an instance of a class of its own.
bool load_instance(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  AnyValue held;
  AnyView value(given);
  held = AnyValue(value);
  if (!type.choices[0](value).cast<bool>()) return refuse(why, given, type.name.c_str());
  out = std::move(held);
  return true;
}

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
  for (const FieldType* part : type.parts) {
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

}  // namespace

const FieldType* make_field_type(const Array<>& description, SelfTypes& selves) {
  if (description.size() == 0 || !anyffi_is_str(description[0].type_code())) refuse_description(description);
  String tag = text_of(description[0]);
  const Row* row = nullptr;
  for (const Row& known : kRows) {
    if (tag == known.name) row = &known;
  }
  int64_t num_parts = description.size() - 1;
  if (row == nullptr || (row->num_parts >= 0 && row->num_parts != num_parts)) refuse_description(description);
  auto* type = new FieldType{
      row->load, row->make_initial, "", row->storage, row->type_mask, false, row->refers, {}, ANYFFI_NONE, {}, ""};
  if (tag == "self") {
    type->name = selves.key;
    selves.types.push_back(type);
  } else if (row->load == &load_object) {
    type->type_code = description[1].cast<int32_t>();
    const AnyffiTypeInfo* info = anyffi_type_get_info(type->type_code);
    if (info == nullptr) refuse_description(description);
    type->name = info->type_key;
  } else if (row->load == &load_named) {
    type->name = text_of(description[1]);
  } else if (row->load == &load_instance) {
    type->name = text_of(description[1]);
    type->choices.push_back(description[2]);
  } else if (row->load == &load_literal) {
    for (int64_t i = 1; i <= num_parts; ++i) type->choices.push_back(description[i]);
    type->name = name_choices(*type);
    type->detail = "expected " + type->name;
  } else {
    for (int64_t i = 1; i <= num_parts; ++i) {
      type->parts.push_back(make_field_type(description[i].cast<Array<>>(), selves));
    }
    if (row->load == &load_union) {
      type->refers = std::any_of(type->parts.begin(), type->parts.end(), [](auto* part) { return part->refers; });
    }
    type->name = name_of(*row, *type);
    if (row->load == &load_tuple) type->detail = String("expected ") + std::to_string(num_parts).c_str() + " elements";
  }
  type->is_guarded = !type->make_initial ||
                     (row->load == &load_object && tag != "self" && !has_placeholder(type->type_code)) ||
                     std::any_of(type->parts.begin(), type->parts.end(),
                                 [&](auto* part) { return row->load == &load_tuple && part->is_guarded; });
  return type;
}

}  // namespace anyffi::runtime
