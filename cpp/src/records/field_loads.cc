/// \file
/// Checks the values of fields like typed parameters of C++ functions, but with types known only at run time.
#include "records/field_loads.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "core/compiler.h"
#include "core/immortal.h"
#include "core/mutex.h"
#include "records/record.h"

namespace anyffi::runtime {

using detail::refuse;

namespace {

ANYFFI_THREAD_LOCAL FieldParts parts_of_thread = nullptr;

/// Class names as written where the classes are defined, if their keys differ; several classes may share a name.
struct Names {
  Mutex mutex;
  std::map<String, Vector<int32_t>, std::less<>, Allocator<std::pair<const String, Vector<int32_t>>>> types;
};

Names& names() {
  static Immortal<Names> made;
  return *made;
}

bool has_name(int32_t type_code, const String& name) noexcept {
  Names& known = names();
  std::lock_guard<Mutex> lock(known.mutex);
  auto found = known.types.find(name);
  return found != known.types.end() &&
         std::find(found->second.begin(), found->second.end(), type_code) != found->second.end();
}

bool hold(AnyffiValue& given, AnyValue& out) {
  detail::hold_object(given, out);
  return true;
}

/// The family of a type; a BigInt counts as an Int.
int32_t int_or_family(int32_t type_code) {
  return type_code == ANYFFI_BIG_INT ? ANYFFI_INT : anyffi_type_get_family(type_code);
}

}  // namespace

void name_type(const String& name, int32_t type_code) {
  if (has_name(type_code, name)) return;
  Names& known = names();
  std::lock_guard<Mutex> lock(known.mutex);
  known.types[name].push_back(type_code);
}

FieldParts& current_parts() noexcept { return parts_of_thread; }

bool refused_as(const FieldType& type, AnyffiMismatch& why) {
  if (why.path_size == 0 && why.reason == ANYFFI_MISMATCH_TYPE) why.expected = type.name.c_str();
  return false;
}

bool has_fitting_elements(const FieldType& type, const AnyffiValue& given) {
  auto fits = [](const uint64_t& mask, const auto& part) { return detail::has_only(mask, part->type_mask); };
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

/// Loads an Array of fixed size, with a type for each element.
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
      anyffi_mismatch_detach(&why);  // the holder may own the refused value, and ends here
      return false;
    }
    if (fit == detail::Fit::kConverted && !detail::convert_cell(holder.raw(), copy, i, std::move(converted), why)) {
      return false;
    }
  }
  out = std::move(copy.is_none() ? holder : copy);
  return true;
}

/// As `Variant` does: prefers a type of the value's own family, else the first type that accepts the value.
bool load_union(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  AnyffiValue value = given;
  if (value.type_code > 0) value.aux = 0;
  int32_t family = anyffi_type_get_family(detail::unboxed(value).type_code);
  refuse(why, value, type.name.c_str());
  AnyValue found, refusal;
  bool is_found = false;
  for (const auto& part : type.parts) {
    AnyValue made;
    AnyffiMismatch mine;
    if (part->load(*part, value, made, mine)) {
      bool is_same = made.family() == family;
      if (!is_found || is_same) found = std::move(made);
      is_found = true;
      if (is_same) break;
    } else if (mine.reason == ANYFFI_MISMATCH_RAISED) {
      if (!detail::take_refusal(refusal)) return refuse(why, value, "", ANYFFI_MISMATCH_RAISED);
    } else if (why.reason == ANYFFI_MISMATCH_TYPE && why.path_size == 0 &&
               (mine.reason != ANYFFI_MISMATCH_TYPE || mine.path_size > 0)) {
      why = mine;
    }
  }
  if (is_found) {
    out = std::move(found);
  } else if (!refusal.is_none()) {
    anyffi_error_set_raised(refusal.raw().as_object);
    why.reason = ANYFFI_MISMATCH_RAISED;
  }
  return is_found;
}

bool load_object(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  if (given.type_code > 0 && anyffi_type_is_a(given.as_object->type_code, type.type_code)) return hold(given, out);
  return refuse(why, given, type.name.c_str());
}

/// Loads an object of the type that has the key at this time: an annotation may precede the class that it names.
bool load_named(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  const AnyffiTypeInfo* info = given.type_code > 0 ? anyffi_type_get_info(given.as_object->type_code) : nullptr;
  for (; info != nullptr; info = info->depth == 0 ? nullptr : anyffi_type_get_info(info->parent)) {
    if (type.name == info->type_key || has_name(info->type_code, type.name)) return hold(given, out);
  }
  return refuse(why, given, type.name.c_str());
}

bool load_literal(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  const AnyffiValue& value = detail::unboxed(given);
  int32_t family = int_or_family(value.type_code);
  bool is_of_family = false;
  for (const AnyValue& choice : type.choices) {
    if (int_or_family(choice.type_code()) != family) continue;
    // Both are plain values of one family, so that no code of users runs.
    if (AnyView::equals(choice, AnyView(value))) {
      out = choice;
      return true;
    }
    is_of_family = true;
  }
  if (!is_of_family) return refuse(why, given, type.name.c_str());
  return refuse(why, given, type.name.c_str(), ANYFFI_MISMATCH_VALUE, type.detail.c_str());
}

/// Loads a member of an enumeration of the front end, or the value of a member.
bool load_enumeration(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  AnyValue plain;
  AnyffiValue value = detail::unboxed(given);
  if (value.type_code == ANYFFI_PY_OBJECT) {
    if (anyffi_value_convert(&value, ANYFFI_AS_PLAIN, plain.out()) != 0) {
      return refuse(why, given, type.name.c_str(), ANYFFI_MISMATCH_RAISED);
    }
    value = plain.raw();
  }
  bool is_of_family = false;
  for (size_t i = 1; i < type.choices.size(); i += 2) {
    const AnyValue& choice = type.choices[i];
    if (int_or_family(choice.type_code()) != int_or_family(value.type_code)) continue;
    is_of_family = true;
    if (AnyView::equals(choice, AnyView(value))) {
      out = type.choices[i + 1];
      return true;
    }
  }
  if (!is_of_family) return refuse(why, given, type.name.c_str());
  if (!type.choices[0].is_none()) {
    out = type.choices[0](AnyView(value));
    return true;
  }
  return refuse(why, given, type.name.c_str(), ANYFFI_MISMATCH_VALUE, type.detail.c_str());
}

/// Loads an instance of one of the front end's own classes, as a function of the front end decides.
bool load_instance(const FieldType& type, AnyffiValue& given, AnyValue& out, AnyffiMismatch& why) {
  AnyValue held;
  AnyView value(given);
  held = AnyValue(value);
  if (!type.choices[0](value).cast<bool>()) return refuse(why, given, type.name.c_str());
  out = std::move(held);
  return true;
}

}  // namespace anyffi::runtime
