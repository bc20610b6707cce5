/// \file
/// The slow paths of functions over C++ callables.
#include <anyffi/error.h>

#include <functional>
#include <new>
#include <set>

#include "core/errors.h"
#include "core/host.h"
#include "core/memory.h"
#include "core/owned.h"
#include "core/section.h"
#include "functions/native.h"
#include "functions/signature.h"
#include "values/containers.h"

namespace anyffi::runtime {
namespace {

/// Raises the error for an argument; for `try_call`, returns an AnyffiNoMatch instead.
int refuse_argument(AnyffiMismatch* why, const AnyffiFunctionInfo& info, int32_t index, const AnyffiValue& given,
                    const AnyffiValue& result) noexcept {
  if (result.type_code == ANYFFI_UNSET) {
    return why->reason == ANYFFI_MISMATCH_RAISED ? ANYFFI_NO_MATCH_RAISED : ANYFFI_NO_MATCH;
  }
  // The caller packs the container and calls again; converting the packed container gives the reason.
  if (anyffi_is_items(&given) && why->reason != ANYFFI_MISMATCH_RAISED) return ANYFFI_UNREAD;
  // Elements of a movable argument were created for this call, too.
  if (why->got.type_code > 0) why->got.aux = given.type_code > 0 ? given.aux & ANYFFI_MOVABLE : 0;
  return anyffi_mismatch_raise(why, &info, index);
}

/// The containers and objects in a result, at all levels. Each is retained, because `keep_alive` may run code of the
/// host.
class ResultNurses {
 public:
  explicit ResultNurses(const AnyffiValue& result) {
    HostLock lock;
    Section section;
    add(result);
    for (size_t i = 0; i < found_.size(); ++i) {
      if (is_container(found_[i]->type_code)) visit(anyffi_make_object(found_[i]));
    }
  }
  ~ResultNurses() {
    for (AnyffiObject* each : found_) anyffi_release(each);
  }
  ResultNurses(const ResultNurses&) = delete;
  ResultNurses& operator=(const ResultNurses&) = delete;

  static bool is_container(int32_t code) { return code == ANYFFI_ARRAY || code == ANYFFI_LIST || has_entries(code); }

  int keep(const AnyffiValue* patient) const {
    for (AnyffiObject* each : found_) {
      if (anyffi_object_keep_alive(each, patient) != 0) return -1;
    }
    return 0;
  }

 private:
  void visit(const AnyffiValue& container) {
    const AnyffiTypeInfo* info = anyffi_type_get_info(container.type_code);
    auto visit_child = [](const AnyffiValue* child, void* context) {
      return guard([&] { return static_cast<ResultNurses*>(context)->add(*child), 0; });
    };
    // Visiting fails only for lack of memory.
    if (info->visit_children(&container, visit_child, this) != 0) {
      Owned ignored;
      anyffi_error_take_raised(ignored.out());
      throw std::bad_alloc();
    }
  }
  void add(const AnyffiValue& value) {
    int32_t code = value.type_code;
    if (is_container(code) ? !known_.insert(value.as_object).second
                           : code < ANYFFI_FIRST_DYNAMIC_TYPE && code != ANYFFI_FUNCTION)
      return;
    found_.push_back(value.as_object);
    anyffi_retain(value.as_object);
  }

  Vector<AnyffiObject*> found_;
  std::set<AnyffiObject*, std::less<>, Allocator<AnyffiObject*>> known_;
};

/// Whether the host converts a result to an object of its own. The value, and what it keeps alive, then ends with the
/// call.
bool is_of_host(const AnyffiValue& value) noexcept {
  if (value.type_code == ANYFFI_FUNCTION) return reinterpret_cast<AnyffiFunction*>(value.as_object)->handle != nullptr;
  return value.type_code == ANYFFI_PY_OBJECT || value.type_code == ANYFFI_ERROR;
}

/// Keeps a patient alive for an argument, or for a result and all objects in it.
int keep_patient(const AnyffiValue& nurse, bool is_result, const AnyffiValue* patient) noexcept {
  if (!is_result || !ResultNurses::is_container(nurse.type_code))
    return anyffi_object_keep_alive(nurse.as_object, patient);
  return guard([&] { return ResultNurses(nurse).keep(patient); });
}

/// Makes each nurse of a call keep its patients alive. `held`: the patients among the arguments.
int keep_patients(const NativeDeclaration& declaration, const AnyffiValue* args, const AnyffiValue* held,
                  AnyffiValue* result) noexcept {
  for (int i = 0; i < declaration.num_kept; ++i) {
    const AnyffiValue* nurse = declaration.kept[i].nurse == 0 ? result : &args[declaration.kept[i].nurse - 1];
    const AnyffiValue* patient = declaration.kept[i].patient == 0 ? result : &held[i];
    if (nurse->type_code <= 0 || patient->type_code <= 0) continue;
    if (nurse == result && is_of_host(*nurse)) {
      raise_format("TypeError",
                   "%s: keep_alive<0, %d>(): the result is an object of Python, which cannot keep an argument alive. "
                   "Objects of C++ classes, tensors and functions of C++ can",
                   name_of(&declaration.info), declaration.kept[i].patient);
    } else if (keep_patient(*nurse, nurse == result, patient) == 0) {
      continue;
    }
    anyffi_value_drop(result);
    return fail(result);
  }
  return 0;
}

int call_plain(AnyffiNativeFunction* function, AnyffiValue* args, AnyffiValue* result) {
  return function->base.call(function, args, function->plain_size, result);
}

/// Calls a function that is guarded (may be overridden in the host) or keeps arguments alive; no argument is missing.
[[gnu::noinline]] int call_attended(AnyffiNativeFunction* function, AnyffiValue* args, AnyffiValue* result) {
  const NativeDeclaration& declaration = declaration_of(*function);
  AnyffiGuardedCall* guarded = anyffi_guarded_call();
  AnyffiGuardedCall former = *guarded;
  if (declaration.is_guarded) {
    *guarded = {args[0].type_code > 0 ? args[0].as_object : nullptr, declaration.info.name};
  }
  // Clears the flags: the result must not be borrowed or discarded, because it may be a nurse or a patient.
  if (result->type_code == ANYFFI_NONE) *result = anyffi_make_none();
  auto num_kept = static_cast<size_t>(declaration.num_kept);
  auto* patients = static_cast<AnyffiValue*>(__builtin_alloca(sizeof(AnyffiValue) * (num_kept + 1)));
  // Holds the patients: the call may steal or release the arguments.
  for (size_t i = 0; i < num_kept; ++i) {
    patients[i] = anyffi_make_none();
    uint8_t index = declaration.kept[i].patient;
    if (index == 0 || args[index - 1].type_code <= 0) continue;
    patients[i] = args[index - 1];
    anyffi_retain(patients[i].as_object);
  }
  int status = call_plain(function, args, result);
  *guarded = former;
  if (status == 0 && num_kept > 0) status = keep_patients(declaration, args, patients, result);
  for (size_t i = 0; i < num_kept; ++i) anyffi_value_drop(&patients[i]);
  return status;
}

/// Slow path for a call without missing arguments.
inline int call_complete(AnyffiNativeFunction* function, AnyffiValue* args, AnyffiValue* result) {
  const NativeDeclaration& declaration = declaration_of(*function);
  bool is_attended = declaration.is_guarded || declaration.num_kept != 0;
  return __builtin_expect(is_attended, 0) ? call_attended(function, args, result) : call_plain(function, args, result);
}

/// Calls a function of numbers, or a plain method, with `args`, a copy in which it converts numbers to the exact types.
int call_normalized(AnyffiNativeFunction* function, AnyffiValue* args, AnyffiValue* result) {
  const NativeDeclaration& declaration = declaration_of(*function);
  AnyffiMismatch why;
  for (int32_t i = 0; i < declaration.info.num_params; ++i) {
    auto* normalize = declaration.types[i]->normalize;
    if (normalize == nullptr || normalize(&args[i], &why) != 0) continue;
    return refuse_argument(&why, declaration.info, i, args[i], *result);
  }
  bool is_method = (declaration.signature & ANYFFI_SIGNATURE_PLAIN_METHOD) != 0;
  if (is_method || function->releases_lock == 0) return call_complete(function, args, result);
  AnyffiReleasedLock lock{};
  anyffi_native_release_lock(&lock, args, 0);
  int status = call_plain(function, args, result);
  anyffi_native_acquire_lock(&lock);
  return status;
}

/// Whether there is one argument for each parameter, none of them missing.
bool takes_all_by_position(const AnyffiFunctionInfo& info, const AnyffiValue* args) {
  if ((info.flags & ANYFFI_KEYWORD_ONLY) != 0) return false;
  for (int32_t i = 0; i < info.num_params; ++i) {
    if (args[i].type_code == ANYFFI_MISSING) return false;
  }
  return true;
}

/// Copies the arguments to `filled`, with defaults for missing ones. False if there are too many or too few.
bool fill_defaults(const AnyffiFunctionInfo& info, const AnyffiValue* args, int32_t num_args,
                   AnyffiValue* filled) noexcept {
  int32_t count = num_args;
  if (num_args > num_positional(info)) {
    count = count_arguments(info, num_args, args[num_args - 1].type_code == ANYFFI_MISSING);
    if (count < 0) return false;
  }
  for (int32_t i = 0; i < info.num_params; ++i) {
    bool is_given = i < count && args[i].type_code != ANYFFI_MISSING;
    if (!is_given && info.params[i].default_value == nullptr) return false;
    anyffi_copy_value(is_given ? &args[i] : info.params[i].default_value, &filled[i]);
  }
  return true;
}

bool has_overrides(const AnyffiValue& object) noexcept {
  return object.type_code > 0 &&
         (__atomic_load_n(&object.as_object->weak_count, __ATOMIC_RELAXED) & ANYFFI_HAS_OVERRIDES) != 0;
}
/// Marks an object as one that may have overrides, before C++ looks for them.
void mark_overrides(const AnyffiValue& object) noexcept {
  if (object.type_code <= 0) return;
  __atomic_fetch_or(&object.as_object->weak_count, uint32_t{ANYFFI_HAS_OVERRIDES}, __ATOMIC_RELAXED);
}

/// Calls a function with a copy of the arguments: to convert numbers in it, or to fill in defaults.
[[gnu::noinline]] int call_copied(AnyffiNativeFunction* function, AnyffiValue* args, int32_t num_args,
                                  AnyffiValue* result, bool is_full, bool is_plain) {
  const AnyffiFunctionInfo& info = declaration_of(*function).info;
  int32_t size = info.num_params;
  auto* filled = static_cast<AnyffiValue*>(__builtin_alloca(sizeof(AnyffiValue) * static_cast<size_t>(size)));
  if (is_full) {
    for (int32_t i = 0; i < size; ++i) anyffi_copy_value(&args[i], &filled[i]);
  } else if (!fill_defaults(info, args, num_args, filled)) {
    if (result->type_code == ANYFFI_UNSET) return ANYFFI_NO_MATCH;
    return anyffi_error_raise_arg_count(&info, args, num_args);
  } else if (is_plain && function->plain_size == size) {
    // Calls this slow path again if a number does not have the exact type.
    return call_plain(function, filled, result);
  }
  if (is_plain) return call_normalized(function, filled, result);
  int status = call_complete(function, filled, result);
  // If the callee stole an argument from the copy, the original must become None, too.
  for (int32_t i = 0; i < num_args; ++i) {
    if (args[i].type_code > 0) args[i] = filled[i];
  }
  return status;
}

/// The slow path of all calls.
inline int call_slowly(AnyffiNativeFunction* function, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  const NativeDeclaration& declaration = declaration_of(*function);
  const AnyffiFunctionInfo& info = declaration.info;
  int32_t size = info.num_params;
  bool is_full = num_args == size && (info.num_required == size || takes_all_by_position(info, args));
  bool is_plain = (declaration.signature & (ANYFFI_SIGNATURE_PLAIN | ANYFFI_SIGNATURE_PLAIN_METHOD)) != 0;
  // `call_complete` passes `plain_size`, the number of arguments for which `call` takes its fast path.
  return is_full && !is_plain ? call_complete(function, args, result)
                              : call_copied(function, args, num_args, result, is_full, is_plain);
}

void destroy_loaded(AnyffiObject* self, int32_t what) {
  auto* loaded = reinterpret_cast<AnyffiLoadedArgument*>(self);
  if ((what & ANYFFI_DELETE_CONTENTS) != 0 && loaded->type->destroy != nullptr) loaded->type->destroy(loaded + 1);
  if ((what & ANYFFI_DELETE_MEMORY) != 0 && loaded->is_in_room == 0) anyffi_free(self);
}

}  // namespace

int try_native(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) noexcept {
  *result = anyffi_make_none();
  result->type_code = ANYFFI_UNSET;
  auto* native = static_cast<AnyffiNativeFunction*>(self);
  int status = num_args == native->plain_size ? native->base.call(native, args, num_args, result)
                                              : anyffi_native_call(native, args, num_args, result);
  if (result->type_code == ANYFFI_UNSET) *result = anyffi_make_none();
  return status;
}

int load_native_items(void* self, int32_t index, AnyffiValue* value, void* room, size_t room_size) noexcept {
  static_assert(sizeof(AnyffiLoadedArgument) % 16 == 0, "the slot follows");
  const AnyffiParamType* type = declaration_of(*static_cast<AnyffiNativeFunction*>(self)).types[index];
  if ((type->flags & ANYFFI_PARAM_READS_ITEMS) == 0) return -1;
  size_t size = sizeof(AnyffiLoadedArgument) + type->size;
  bool is_in_room = size <= room_size;
  void* memory = is_in_room ? room : anyffi_alloc(size);
  if (memory == nullptr) return -1;
  auto* loaded = static_cast<AnyffiLoadedArgument*>(memory);
  *loaded = {{ANYFFI_OBJECT, 1, 1, &destroy_loaded, nullptr}, type, is_in_room, 0};
  AnyffiMismatch why;
  int status = detail::catch_all([&] { return type->load(value, &why, loaded + 1) != 0 ? 0 : -1; });
  if (status == 0) {
    *value = anyffi_make_object(&loaded->header);
    value->aux = ANYFFI_MOVABLE | ANYFFI_LOADED;
    return 0;
  }
  // The caller then packs the container, and its conversion raises the error again.
  if (!is_in_room) anyffi_free(memory);
  Owned ignored;
  anyffi_error_take_raised(ignored.out());
  return -1;
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_native_call(AnyffiNativeFunction* function, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  const NativeDeclaration& declaration = declaration_of(*function);
  const AnyffiFunctionInfo& info = declaration.info;
  int32_t size = info.num_params;
  if (declaration.is_guarded && num_args == size && info.num_required == size && declaration.num_kept == 0) {
    if (declaration.binds_overrides) mark_overrides(args[0]);
    // Most objects have no overrides, and then need no guard.
    if (!has_overrides(args[0])) return call_plain(function, args, result);
  }
  return call_slowly(function, args, num_args, result);
}

int anyffi_native_normalize(AnyffiNativeFunction* function, const AnyffiValue* args, AnyffiValue* result) {
  // Cast away const: the slow path of a plain method copies the arguments before it changes any.
  auto* given = const_cast<AnyffiValue*>(args);
  return call_slowly(function, given, declaration_of(*function).info.num_params, result);
}

int anyffi_native_refuse(const AnyffiNativeFunction* function, AnyffiCallFrame* frame, void* slots,
                         const AnyffiValue* args, AnyffiValue* result) {
  int32_t index = frame->num_loaded;
  int status = refuse_argument(&frame->why, declaration_of(*function).info, index, args[index], *result);
  anyffi_value_drop(&frame->why.got);
  anyffi_native_abandon(function, frame, slots);
  return status;
}

void anyffi_native_abandon(const AnyffiNativeFunction* function, AnyffiCallFrame* frame, void* slots) {
  anyffi_native_acquire_lock(&frame->lock);
  const AnyffiParamType* const* types = declaration_of(*function).types;
  uint32_t end = 0;
  for (int32_t i = 0; i < frame->num_loaded; ++i) {
    const AnyffiParamType& type = *types[i];
    uint32_t begin = round_up(end, type.alignment);
    if (type.destroy != nullptr) type.destroy(static_cast<char*>(slots) + begin);
    end = begin + type.size;
  }
}

void anyffi_native_release_lock(AnyffiReleasedLock* lock, const AnyffiValue* args, int32_t num_args) {
  // Retains arguments that other threads may release; movable ones belong to this call.
  for (int32_t i = 0; i < num_args; ++i) {
    if ((args[i].aux & ANYFFI_MOVABLE) == 0) anyffi_value_retain(&args[i]);
  }
  *lock = {1, num_args, args, anyffi_host_suspend()};
}

void anyffi_native_acquire_lock(AnyffiReleasedLock* lock) {
  if (lock->is_released == 0) return;
  lock->is_released = 0;
  anyffi_host_resume(lock->state);
  for (int32_t i = 0; i < lock->num_args; ++i) {
    AnyffiValue value = lock->args[i];
    if ((value.aux & ANYFFI_MOVABLE) == 0) anyffi_value_drop(&value);
  }
}
