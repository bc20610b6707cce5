/// \file
/// Overloaded functions: overload resolution, and the error if none fits.
#include <anyffi/error.h>
#include <anyffi/host_api.h>

#include <cstring>

#include "core/errors.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/owned.h"
#include "functions/native.h"
#include "functions/operator.h"
#include "functions/placement.h"
#include "functions/signature.h"

namespace anyffi::runtime {
namespace {

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

/// The parameters of a function that can read a container of the host directly.
uint64_t item_params_of(const AnyffiFunctionInfo& info) {
  uint64_t params = ANYFFI_HAS(AnyffiFunctionInfo, &info, item_params) ? info.item_params : 0;
  // Front ends do not keep the items of overloaded functions alive, so parameters that borrow objects are excluded.
  return ANYFFI_HAS(AnyffiFunctionInfo, &info, object_params) ? params & ~info.object_params : params;
}

/// Calls a candidate; returns its status, or ANYFFI_NO_MATCH.
inline int try_candidate(const AnyffiFunction& function, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  AnyffiCall try_call = try_call_of(*function.info);
  if (try_call == nullptr) return function.call(function.self, args, num_args, result);
  int status = try_call(function.self, args, num_args, result);
  if (__builtin_expect(status != ANYFFI_NO_MATCH_RAISED, 1)) return status;
  anyffi::AnyValue refusal;
  return anyffi::detail::take_refusal(refusal) ? int{ANYFFI_NO_MATCH} : -1;
}

/// New references to the arguments that a candidate may steal. Others get none, which would keep a candidate from
/// taking over the content of an object.
class Copies {
 public:
  explicit Copies(Arguments* args) : args_(args) {
    for (int32_t i = 0; i < args->size(); ++i) {
      if (is_movable(args->values()[i])) anyffi_value_retain(&args->values()[i]);
    }
  }
  ~Copies() {
    for (int32_t i = 0; i < args_->size(); ++i) {
      if (is_movable(args_->values()[i])) anyffi_value_release(&args_->values()[i]);
    }
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

 private:
  static bool is_movable(const AnyffiValue& value) { return value.type_code > 0 && (value.aux & ANYFFI_MOVABLE) != 0; }
  Arguments* args_;
};

/// Errors that say nothing about the arguments.
bool is_fatal(const String& kind) {
  return kind == "MemoryError" || kind == "RecursionError" || kind == "KeyboardInterrupt";
}

/// Calls a candidate that rejected the arguments, and appends its message as a line. Returns 1; 0 if it accepts them
/// this time; -1 with an error that is not about the arguments.
int explain(const AnyffiFunction& function, Arguments* args, String* out, AnyffiValue* result) {
  Copies copies(args);
  int status = function.call(function.self, args->values(), args->size(), result);
  if (status == 0) return 0;
  Owned error;
  anyffi_error_take_raised(error.out());
  *out += "\n    ";
  if (error->type_code != ANYFFI_ERROR) return append_signature(out, *function.info), 1;
  anyffi_error_fill(error->as_object);
  auto* fields = reinterpret_cast<const AnyffiError*>(error->as_object);
  String kind, signature, message;
  append_text(&kind, &fields->kind);
  if (is_fatal(kind)) {
    anyffi_error_set_raised(error->as_object);
    return -1;
  }
  // Most conversion errors begin with the signature already.
  if (status == ANYFFI_REFUSED) return append_text(out, &fields->message), 1;
  append_signature(&signature, *function.info);
  append_text(&message, &fields->message);
  if (message.compare(0, signature.size(), signature) != 0) *out += signature + ": ";
  *out += message;
  return 1;
}

/// Appends Python's name of an argument's type.
void append_argument_type(String* text, const AnyffiValue& value) {
  const AnyffiTypeInfo* info =
      anyffi_is_member(&value) ? anyffi_type_get_info(static_cast<int32_t>(value.aux)) : nullptr;
  if (info == nullptr) return append_type_name(text, value);
  const char* last = std::strrchr(info->type_key, '.');
  *text += last == nullptr ? info->type_key : last + 1;
}

/// Appends `name=` for an argument that was given by keyword.
void append_keyword(String* text, const Call& call, int32_t index) {
  const Vector<String>& keywords = call.set.keywords;
  auto first = static_cast<size_t>(call.num_args) - keywords.size();
  if (static_cast<size_t>(index) >= first) *text += keywords[static_cast<size_t>(index) - first] + '=';
}

/// `area(): no overload takes (str, int)`, followed by a line for each candidate.
template <class Order>
int raise_none_fits(const Call& call, Order& order, AnyffiValue* result) {
  String text;
  // Enough for a few candidates.
  text.reserve(512);
  text += call.set.name;
  text += "(): no overload takes (";
  for (int32_t i = 0; i < call.num_args; ++i) {
    if (i > 0) text += ", ";
    append_keyword(&text, call, i);
    append_argument_type(&text, call.args[i]);
  }
  text += ')';
  int32_t index = 0;
  for (auto* overload = follow(call.set.info.overloads); overload != nullptr; overload = follow(overload->next)) {
    Arguments given(call.num_args);
    for (int32_t i = 0; i < call.num_args; ++i) given.add(call.args[i], 0);
    Arguments* args = order(&given, *overload, index++);
    if (args == nullptr) continue;
    args->name_members(*function_of(*overload).info);
    int status = explain(function_of(*overload), args, &text, result);
    if (status <= 0) return status;
  }
  raise_text("TypeError", text);
  return ANYFFI_REFUSED;
}

/// Calls the first candidate that accepts the arguments. ANYFFI_NO_MATCH if no candidate has places for all of them, or
/// if none accepts them and `raises` is false.
template <class Order>
int resolve(const Call& call, Order& order, AnyffiValue* result, bool raises = true) {
  Arguments given(call.num_args);
  bool has_tensor = false;
  for (int32_t i = 0; i < call.num_args; ++i) {
    AnyffiValue value = call.args[i];
    // Not movable: the next candidate still needs what this one would steal.
    if (value.type_code > 0) value.aux = (value.aux & (ANYFFI_MOVABLE | ANYFFI_TEMPORARY)) != 0 ? ANYFFI_TEMPORARY : 0;
    has_tensor |= value.type_code == ANYFFI_TENSOR;
    given.add(value, type_mask_of(value));
  }
  unsigned found = 0;
  if (has_tensor) given.mark_tensors(ANYFFI_EXACT);
  for (Match wanted : {kExact, kAsInt, kConversion}) {
    if (wanted == kConversion && has_tensor) {
      given.mark_tensors(0);
    } else if (wanted != kExact && (found & wanted) == 0) {
      continue;
    }
    int32_t index = 0;
    for (auto* overload = follow(call.set.info.overloads); overload != nullptr; overload = follow(overload->next)) {
      Arguments* args = order(&given, *overload, index++);
      if (args == nullptr) continue;
      const AnyffiFunction& function = function_of(*overload);
      Match match = compare(*function.info, args->type_masks(), args->enumerations(), args->size());
      found |= match;
      if (match != wanted && !(has_tensor && wanted == kConversion && match != kNumber)) continue;
      args->name_members(*function.info);
      int status = try_candidate(function, args->values(), args->size(), result);
      if (status != ANYFFI_NO_MATCH) return status;
    }
  }
  return found == 0 || !raises ? int{ANYFFI_NO_MATCH} : raise_none_fits(call, order, result);
}

/// An AnyffiPlaceArgs that reads `arg_indices`.
int32_t place_by_indices(void* context, const AnyffiOverload* overload, int32_t, int32_t* arg_indices) {
  auto* call = static_cast<const Call*>(context);
  int32_t size = overload->arg_indices != nullptr ? overload->num_arg_indices : call->num_args;
  for (int32_t i = 0; i < size; ++i) arg_indices[i] = overload->arg_indices != nullptr ? overload->arg_indices[i] : i;
  return size;
}

template <class Order>
int resolve_or_raise(const Call& call, Order order, AnyffiValue* result) {
  int status = resolve(call, order, result);
  return status == ANYFFI_NO_MATCH ? raise_none_fits(call, order, result) : status;
}

/// The type mask of an argument, also of a container of the host that candidates may read directly.
uint64_t mask_of_argument(const AnyffiValue& value) {
  return anyffi_is_items(&value) ? anyffi_type_bit(anyffi_open_items(&value).type_code) : type_mask_of(value);
}

/// Whether some argument is a container of the host, except those in `readable`.
bool has_items(const AnyffiValue* args, int32_t num_args, uint64_t readable = 0) {
  for (int32_t i = 0; i < num_args; ++i) {
    if (anyffi_is_items(&args[i]) && (readable >> i & 1) == 0) return true;
  }
  return false;
}

/// Fast path: calls the first candidate whose parameters have exactly the types of the arguments, which are few.
/// ANYFFI_NO_MATCH if there is none. It needs no copies, because no argument is movable. Members of enumerations and
/// tensors are left to `resolve`.
int call_exact(const Overloaded& set, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  constexpr int32_t kFewest = 4;
  uint64_t type_masks[kFewest];
  if (num_args > kFewest) return ANYFFI_NO_MATCH;
  for (int32_t i = 0; i < num_args; ++i) {
    bool is_usual =
        args[i].type_code > 0 ? args[i].aux == 0 && args[i].type_code != ANYFFI_TENSOR : !anyffi_is_member(&args[i]);
    if (!is_usual) return ANYFFI_NO_MATCH;
    type_masks[i] = mask_of_argument(args[i]);
  }
  for (auto* overload = follow(set.info.overloads); overload != nullptr; overload = follow(overload->next)) {
    const AnyffiFunction& function = function_of(*overload);
    if (try_call_of(*function.info) == nullptr) return ANYFFI_NO_MATCH;
    if (compare(*function.info, type_masks, nullptr, num_args) != kExact) continue;
    if (has_items(args, num_args, item_params_of(*function.info))) return ANYFFI_NO_MATCH;
    int status = try_candidate(function, args, num_args, result);
    if (status != ANYFFI_NO_MATCH) return status;
  }
  return ANYFFI_NO_MATCH;
}

int call_overloaded(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  int status = call_exact(*static_cast<Overloaded*>(self), args, num_args, result);
  if (__builtin_expect(status != ANYFFI_NO_MATCH, 1)) return status;
  if (has_items(args, num_args)) return ANYFFI_UNREAD;
  return guard([&] {
    Call call{*static_cast<Overloaded*>(self), nullptr, nullptr, args, num_args};
    return resolve_or_raise<AsGiven>(call, {}, result);
  });
}

/// The `try_call` of an overloaded function.
int try_overloaded(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  return guard([&] {
    Call call{*static_cast<Overloaded*>(self), nullptr, nullptr, args, num_args};
    AsGiven order;
    return resolve(call, order, result, false);
  });
}

struct Operator {
  const AnyffiFunction* function;  // owned
  AnyffiFunctionInfo info;         // without the members that need the function's own `self`
  int32_t type_code;
  int32_t most;       // largest number of operands
  bool takes_object;  // the second operand must be an object of the type
  Owned refusal;
};

/// Returns the refusal of an operator. `flags`: those that the caller accepts in the result.
int refuse_operands(const Operator& op, uint32_t flags, AnyffiValue* result) {
  AnyffiValue refusal = *op.refusal.get();
  // A borrowed result is alive as long as this function, which the caller keeps alive.
  if (flags == 0) anyffi_value_retain(&refusal);
  refusal.aux |= flags;
  anyffi_copy_value(&refusal, result);
  return 0;
}

int call_operator(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  const Operator& op = *static_cast<const Operator*>(self);
  uint32_t flags = result->type_code == ANYFFI_NONE ? result->aux & ANYFFI_BORROWED : 0;
  int32_t code = num_args < 2 ? ANYFFI_NONE : args[0].type_code;
  // Fast path for `x == None`.
  if (op.takes_object && num_args == 2 && code == op.type_code && args[1].type_code <= 0)
    return refuse_operands(op, flags, result);
  int status = try_candidate(*op.function, args, num_args, result);
  if (__builtin_expect(status != ANYFFI_NO_MATCH, 1)) return status;
  if (num_args < 2 || num_args > op.most || !anyffi_type_is_a(code, op.type_code)) {
    return op.function->call(op.function->self, args, num_args, result);
  }
  return refuse_operands(op, flags, result);
}

int try_operator(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  return try_candidate(*static_cast<const Operator*>(self)->function, args, num_args, result);
}

void destroy_operator(void* self) {
  auto* op = static_cast<Operator*>(self);
  anyffi_object_release(const_cast<AnyffiObject*>(&op->function->header));
  op->~Operator();
  anyffi_free(op);
}

/// The `call` of a function whose overloads include some with `arg_indices`.
int call_selected(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  if (has_items(args, num_args)) return ANYFFI_UNREAD;
  return guard([&] {
    Call call{*static_cast<Overloaded*>(self), &place_by_indices, &call, args, num_args};
    return resolve_or_raise<AsPlaced>(call, AsPlaced(call), result);
  });
}

}  // namespace

void set_keywords(AnyffiObject* overloaded, Vector<String> names) {
  static_cast<Overloaded*>(reinterpret_cast<AnyffiFunction*>(overloaded)->self)->keywords = std::move(names);
}

/// Whether the second of two parameters accepts only objects of a class.
static bool takes_object(const AnyffiFunction& function) noexcept {
  if (function.info->try_call != &try_native || function.info->num_params != 2) return false;
  const NativeDeclaration& declaration = declaration_of(reinterpret_cast<const AnyffiNativeFunction&>(function));
  return (declaration.types[1]->flags & ANYFFI_PARAM_IS_OBJECT) != 0;
}

AnyffiObject* make_operator(AnyffiObject* function, int32_t type_code, const AnyffiValue* refusal) {
  void* memory = anyffi_alloc(sizeof(Operator));
  if (memory == nullptr) return raise_no_memory(), nullptr;
  auto* candidate = reinterpret_cast<AnyffiFunction*>(function);
  auto* op = new (memory) Operator{candidate,
                                   *candidate->info,
                                   type_code,
                                   std::strcmp(candidate->info->name, "__pow__") == 0 ? 3 : 2,
                                   takes_object(*candidate),
                                   Owned()};
  if (op->info.try_call != nullptr) op->info.try_call = &try_operator;
  op->info.item_params = 0;
  op->info.load_items = nullptr;
  anyffi_object_retain(function);
  *op->refusal.out() = *refusal;
  anyffi_value_retain(op->refusal.get());
  AnyffiValue made;
  if (anyffi_function_create(&call_operator, op, &destroy_operator, &op->info, &made) != 0) return nullptr;
  return made.as_object;
}

int call_as_operator(const AnyffiFunction& function, AnyffiValue* operands, AnyffiValue* result) {
  return try_candidate(function, operands, 2, result);
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_function_create_overloaded(const char* name, AnyffiValue* out) {
  *out = anyffi_make_none();
  void* memory = anyffi_alloc(sizeof(Overloaded));
  if (memory == nullptr) return raise_no_memory();
  auto* set = new (memory) Overloaded{};
  set->info.struct_size = sizeof(set->info);
  set->info.flags = ANYFFI_VARIADIC | ANYFFI_OVERLOADED;
  set->info.try_call = &try_overloaded;
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
  auto* set = static_cast<Overloaded*>(reinterpret_cast<AnyffiFunction*>(overloaded)->self);
  if (arg_indices != nullptr) {
    __atomic_store_n(&reinterpret_cast<AnyffiFunction*>(overloaded)->call, &call_selected, __ATOMIC_RELAXED);
    auto* copy = reinterpret_cast<int32_t*>(overload + 1);
    std::memcpy(copy, arg_indices, indices_size);
    overload->arg_indices = copy;
  }
  // Atomic: other threads may be calling the function, or adding overloads.
  __atomic_fetch_or(&set->info.item_params, item_params_of(*added->info), __ATOMIC_RELAXED);
  const AnyffiOverload** last = &set->info.overloads;
  const AnyffiOverload* next = nullptr;
  while (!__atomic_compare_exchange_n(last, &next, overload, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    last = const_cast<const AnyffiOverload**>(&next->next);
    next = nullptr;
  }
  return 0;
}

int anyffi_function_call_placed(AnyffiFunction* overloaded, AnyffiPlaceArgs place, void* context, AnyffiValue* args,
                                int32_t num_args, AnyffiValue* result) {
  if (overloaded->call != &call_overloaded) return ANYFFI_NO_MATCH;
  return guard([&] {
    Call call{*static_cast<Overloaded*>(overloaded->self), place, context, args, num_args};
    AsPlaced order(call);
    return resolve(call, order, result);
  });
}
