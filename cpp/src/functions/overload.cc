/// \file
/// Overloaded functions: overload resolution, and the error if none fits.
#include <anyffi/inline.h>

#include <cstring>

#include "core/errors.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/owned.h"
#include "functions/signature.h"

namespace anyffi::runtime {
namespace {

/// The `self` of an overloaded function.
struct Overloaded {
  AnyffiFunctionInfo info{};
  String name;
};

const AnyffiFunction& function_of(const AnyffiOverload& overload) {
  return *reinterpret_cast<const AnyffiFunction*>(overload.function);
}

void release_overloaded(void* self) {
  auto* set = static_cast<Overloaded*>(self);
  while (const AnyffiOverload* overload = set->info.overloads) {
    set->info.overloads = overload->next;
    anyffi_object_release(overload->function);
    anyffi_free(const_cast<AnyffiOverload*>(overload));
  }
  set->~Overloaded();
  anyffi_free(set);
}

/// The arguments in the order of a candidate's parameters.
Vector<AnyffiValue> place(const AnyffiOverload& overload, const AnyffiValue* args, int32_t num_args) {
  if (overload.arg_indices == nullptr) return Vector<AnyffiValue>(args, args + num_args);
  Vector<AnyffiValue> placed;
  for (int32_t i = 0; i < overload.num_arg_indices; ++i) {
    int32_t given = overload.arg_indices[i];
    bool is_given = given >= 0 && given < num_args;
    placed.push_back(is_given ? args[given] : anyffi_make_value(static_cast<uint32_t>(ANYFFI_MISSING), 0));
  }
  return placed;
}

/// As `place`, with no argument movable: the next candidate needs the arguments that this one would steal.
Vector<AnyffiValue> place_borrowed(const AnyffiOverload& overload, const AnyffiValue* args, int32_t num_args) {
  Vector<AnyffiValue> borrowed = place(overload, args, num_args);
  for (AnyffiValue& value : borrowed) {
    if (value.type_code > 0) value.aux = 0;
  }
  return borrowed;
}

/// The value in a box; any other value itself.
const AnyffiValue& open_box(const AnyffiValue& value) {
  return value.type_code == ANYFFI_BOX ? reinterpret_cast<const AnyffiBox*>(value.as_object)->value : value;
}

/// How well arguments match parameters.
enum class Match {
  kConversion, /* one needs a conversion, which may fail */
  kBoolAsInt,  /* exact, but for a bool, which is an int as in Python */
  kExact
};

Match compare(const AnyffiFunctionInfo& info, const Vector<AnyffiValue>& args) {
  Match worst = Match::kExact;
  for (size_t i = 0; info.exact_types != nullptr && i < args.size() && i < static_cast<size_t>(info.num_params); ++i) {
    const AnyffiValue& value = open_box(args[i]);
    auto holds = [&](int32_t type_code) { return (info.exact_types[i] & anyffi_type_bit(type_code)) != 0; };
    if (value.type_code == ANYFFI_MISSING || holds(anyffi_type_get_family(value.type_code))) continue;
    if (value.type_code != ANYFFI_BOOL || !holds(ANYFFI_INT)) return Match::kConversion;
    worst = Match::kBoolAsInt;
  }
  return worst;
}

/// Clears an OverflowError, since the number may fit another candidate; returns false for other errors.
bool clear_overflow() {
  Owned error;
  anyffi_error_take_raised(error.out());
  if (error->type_code != ANYFFI_ERROR) return false;
  String kind;
  append_text(&kind, &reinterpret_cast<AnyffiError*>(error->as_object)->kind);
  if (kind == "OverflowError") return true;
  anyffi_error_set_raised(error->as_object);
  return false;
}

/// Calls a candidate; returns its status, or ANYFFI_NO_MATCH.
int try_candidate(const AnyffiFunction& function, Vector<AnyffiValue>* args, AnyffiValue* result) {
  auto num_args = static_cast<int32_t>(args->size());
  if (function.info == nullptr || function.info->try_call == nullptr) {
    return function.call(function.self, args->data(), num_args, result);
  }
  int status = function.info->try_call(function.self, args->data(), num_args, result);
  if (status != ANYFFI_NO_MATCH_RAISED) return status;
  return clear_overflow() ? int{ANYFFI_NO_MATCH} : -1;
}

/// New references to the arguments, which a candidate may steal.
class Copies {
 public:
  explicit Copies(Vector<AnyffiValue> args) : values(std::move(args)) {
    for (AnyffiValue& value : values) {
      if (value.type_code > 0) anyffi_object_retain(value.as_object);
    }
  }
  ~Copies() {
    for (AnyffiValue& value : values) anyffi_value_release(&value);
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;
  Vector<AnyffiValue> values;
};

/// Errors that are not about an argument.
bool is_fatal(const String& kind) {
  return kind == "MemoryError" || kind == "RecursionError" || kind == "KeyboardInterrupt";
}

/// Appends the message of a candidate that refused the arguments, and returns 1. Returns 0 if it accepts them now, and
/// -1, with its error, if that is not about an argument.
int explain(const AnyffiOverload& overload, const AnyffiValue* args, int32_t num_args, String* out,
            AnyffiValue* result) {
  const AnyffiFunction& function = function_of(overload);
  Copies copies(place(overload, args, num_args));
  auto num_placed = static_cast<int32_t>(copies.values.size());
  if (function.call(function.self, copies.values.data(), num_placed, result) == 0) return 0;
  Owned error;
  anyffi_error_take_raised(error.out());
  append_signature(out, *function.info);
  if (error->type_code != ANYFFI_ERROR) return 1;
  anyffi_error_fill(error->as_object);
  auto* fields = reinterpret_cast<const AnyffiError*>(error->as_object);
  String kind, message;
  append_text(&kind, &fields->kind);
  append_text(&message, &fields->message);
  if (is_fatal(kind)) {
    anyffi_error_set_raised(error->as_object);
    return -1;
  }
  // Conversion errors begin with the signature already.
  bool is_prefixed = message.compare(0, out->size(), *out) == 0;
  if (is_prefixed) out->clear();
  if (!is_prefixed) *out += ": ";
  *out += message;
  return 1;
}

/// `area(): no overload takes (str, int)`, followed by a line for each candidate.
int raise_none_fits(const Overloaded& set, const AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  String text = set.name;
  text += "(): no overload takes (";
  for (int32_t i = 0; i < num_args; ++i) {
    if (i > 0) text += ", ";
    append_type_name(&text, args[i]);
  }
  text += ')';
  for (const AnyffiOverload* overload = set.info.overloads; overload != nullptr; overload = overload->next) {
    String line;
    int status = explain(*overload, args, num_args, &line, result);
    if (status <= 0) return status;
    text += "\n    ";
    text += line;
  }
  return raise_text("TypeError", text);
}

int call_overloaded(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  auto* set = static_cast<Overloaded*>(self);
  return guard([&] {
    for (Match wanted : {Match::kExact, Match::kBoolAsInt, Match::kConversion}) {
      for (const AnyffiOverload* overload = set->info.overloads; overload != nullptr; overload = overload->next) {
        const AnyffiFunction& function = function_of(*overload);
        Vector<AnyffiValue> borrowed = place_borrowed(*overload, args, num_args);
        if (compare(*function.info, borrowed) != wanted) continue;
        int status = try_candidate(function, &borrowed, result);
        if (status != ANYFFI_NO_MATCH) return status;
      }
    }
    return raise_none_fits(*set, args, num_args, result);
  });
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_function_create_overloaded(const char* name, AnyffiValue* out) {
  *out = anyffi_make_none();
  void* memory = anyffi_alloc(sizeof(Overloaded));
  if (memory == nullptr) return raise_no_memory();
  auto* set = new (memory) Overloaded{};
  set->info.struct_size = sizeof(set->info);
  set->info.flags = ANYFFI_VARIADIC | ANYFFI_OVERLOADED;
  int status = guard([&] {
    set->name = name;
    set->info.name = set->name.c_str();
    return 0;
  });
  if (status != 0) {
    release_overloaded(set);
    return -1;
  }
  return anyffi_function_create(&call_overloaded, set, &release_overloaded, &set->info, out);
}

int anyffi_function_add_overload(AnyffiObject* overloaded, AnyffiObject* function, const int32_t* arg_indices,
                                 int32_t num_arg_indices) {
  auto* added = reinterpret_cast<AnyffiFunction*>(function);
  if (added->info == nullptr || (added->info->flags & ANYFFI_OVERLOADED) != 0) {
    return anyffi_error_raise("TypeError", "an overload must be a function that describes its parameters");
  }
  auto indices_size = arg_indices == nullptr ? 0 : sizeof(int32_t) * static_cast<size_t>(num_arg_indices);
  auto* overload = static_cast<AnyffiOverload*>(anyffi_alloc(sizeof(AnyffiOverload) + indices_size));
  if (overload == nullptr) return raise_no_memory();
  anyffi_object_retain(function);
  *overload = AnyffiOverload{nullptr, function, nullptr, num_arg_indices};
  if (arg_indices != nullptr) {
    auto* copy = reinterpret_cast<int32_t*>(overload + 1);
    std::memcpy(copy, arg_indices, indices_size);
    overload->arg_indices = copy;
  }
  auto* set = static_cast<Overloaded*>(reinterpret_cast<AnyffiFunction*>(overloaded)->self);
  const AnyffiOverload** last = &set->info.overloads;
  while (*last != nullptr) last = const_cast<const AnyffiOverload**>(&(*last)->next);
  *last = overload;
  return 0;
}
