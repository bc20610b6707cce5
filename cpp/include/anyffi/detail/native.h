/// \file
/// Runtime functions over C++ callables: what all of them share, whatever their types.
#ifndef ANYFFI_DETAIL_NATIVE_H_
#define ANYFFI_DETAIL_NATIVE_H_

#include <anyffi/detail/param.h>

namespace anyffi {
namespace detail ANYFFI_HIDDEN_ {

/// A runtime function over a C++ callable, which follows this struct; the tables follow the callable.
struct NativeFunction {
  AnyffiFunction base;
  AnyffiFunctionInfo info;
  /// The number of arguments of a call that takes the fast path: no defaults, the lock is kept. -1: no fast path.
  int32_t plain_size;
  bool is_plain;     // all parameters are numbers, and need no frame
  void (*enroll)();  // see CallSpec
  Returns returns;
  bool needs_returns;  // its declaration says who owns the result
  bool is_guarded;     // a method whose C++ function may be overridden in Python
  uint8_t num_kept;
  struct {
    uint8_t nurse, patient;  // 0: the result; 1: the first argument
  } kept[2];
  const ParamType** params;
  AnyValue* defaults;
  void (*destroy)(void* callable);  // NULL if there is nothing to do

  void release_gil() {
    info.flags |= ANYFFI_RELEASE_GIL;
    plain_size = -1;
  }
  void set_returns(Returns given) {
    returns = given;
    if (enroll && given != Returns::kCopy && given != Returns::kMove) enroll();
    if (given == Returns::kReferenceInternal) info.item_params = 0;
  }
  void guard() {
    is_guarded = true;
    plain_size = -1;
  }
  void keep_alive(uint8_t nurse, uint8_t patient) {
    if (nurse > info.num_params || patient > info.num_params || nurse == patient || num_kept == 2) {
      throw Error("ValueError",
                  "keep_alive() counts the result as 0 and the arguments from 1, and stands at most twice");
    }
    kept[num_kept++] = {nurse, patient};
    // An argument that is kept is an object of the runtime.
    info.item_params = 0;
    plain_size = -1;
  }
  /// What is wrong with the declaration, once it is complete, or NULL.
  const char* find_error() const {
    return needs_returns && returns == Returns::kUnspecified
               ? "its result points to an object, and nothing says who owns it: add .returns(anyffi::Returns::...)"
               : nullptr;
  }
  bool unlocks() const { return (info.flags & ANYFFI_RELEASE_GIL) != 0; }
};

template <class F>
F& callable_of(void* self) {
  static_assert(alignof(F) <= 16, "anyffi_alloc aligns to 16 bytes");
  return *reinterpret_cast<F*>(static_cast<char*>(self) + round_up(sizeof(NativeFunction), 16));
}

/// Releases the host's lock while the body of a function with `release_gil()` runs.
class Unlocked {
 public:
  Unlocked(const AnyffiValue* args, int32_t num_args)
      : args_(args), num_args_(num_args), state_(suspend_with(args, num_args)) {}
  ~Unlocked() { resume_with(state_, args_, num_args_); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  const AnyffiValue* args_;
  int32_t num_args_;
  void* state_;
};

/// What `result` contains, instead of None, when a call is tried.
inline AnyffiValue trial_mark() {
  AnyffiValue mark = anyffi_make_none();
  mark.type_code = ANYFFI_UNSET;
  return mark;
}

/// Raises the error of an argument, or returns an AnyffiNoMatch if the call is tried.
__attribute__((noinline)) inline int refuse_argument(AnyffiMismatch& why, const AnyffiFunctionInfo& info, int32_t index,
                                                     const AnyffiValue& given, const AnyffiValue* result) {
  if (result->type_code == ANYFFI_UNSET) {
    return why.reason == ANYFFI_MISMATCH_RAISED ? ANYFFI_NO_MATCH_RAISED : ANYFFI_NO_MATCH;
  }
  // The elements of a movable argument were created for this call too.
  if (why.got.type_code > 0) why.got.aux = given.type_code > 0 ? given.aux & ANYFFI_MOVABLE : 0;
  return anyffi_mismatch_raise(&why, &info, index);
}

/// Destroys what the slots keep, after an error.
inline void destroy_slots(NativeFunction& native, CallFrame& frame, char* slots) {
  acquire_lock(frame);
  uint32_t end = 0;
  for (int32_t i = 0; i < frame.num_loaded; ++i) {
    const ParamType& type = *native.params[i];
    if (type.destroy) type.destroy(slots + round_up(end, type.alignment));
    end = add_slot(end, type.size, type.alignment);
  }
}

/// Ends a call whose argument number `num_loaded` was refused.
__attribute__((cold, noinline)) inline int refuse_call(NativeFunction& native, CallFrame& frame, char* slots,
                                                       AnyffiValue* args, AnyffiValue* result) {
  int status = refuse_argument(frame.why, native.info, frame.num_loaded, args[frame.num_loaded], result);
  anyffi_value_drop(&frame.why.got);
  destroy_slots(native, frame, slots);
  return status;
}
/// End a call that threw.
__attribute__((cold, noinline)) inline int fail_call(NativeFunction& native, CallFrame& frame, char* slots,
                                                     const AnyffiValue* args,
                                                     const std::exception& exception) noexcept {
  destroy_slots(native, frame, slots);
  set_raised(exception);
  anyffi_error_name_argument(&native.info, args, native.plain_size);
  return -1;
}
__attribute__((cold, noinline)) inline int fail_call(NativeFunction& native, CallFrame& frame, char* slots,
                                                     const AnyffiValue* args) noexcept {
  destroy_slots(native, frame, slots);
  set_current_raised();
  anyffi_error_name_argument(&native.info, args, native.plain_size);
  return -1;
}

/// Makes the patients of a call live as long as their nurses. `held`: the patients among the arguments.
__attribute__((cold, noinline)) inline int keep_patients(const NativeFunction& native, const AnyffiValue* args,
                                                         const AnyffiValue* held, AnyffiValue* result) {
  for (int i = 0; i < native.num_kept; ++i) {
    const AnyffiValue* nurse = native.kept[i].nurse == 0 ? result : &args[native.kept[i].nurse - 1];
    const AnyffiValue* patient = native.kept[i].patient == 0 ? result : &held[i];
    if (nurse->type_code <= 0 || patient->type_code <= 0) continue;
    if (anyffi_object_keep_alive(nurse->as_object, patient) == 0) continue;
    anyffi_value_drop(result);
    *result = AnyffiValue{};
    return -1;
  }
  return 0;
}

/// Calls a function with all arguments, beyond what its fast path does.
__attribute__((cold, noinline)) inline int call_specially(NativeFunction& native, AnyffiValue* args,
                                                          AnyffiValue* result) {
  AnyffiGuardedCall* guarded = anyffi_guarded_call();
  AnyffiGuardedCall former = *guarded;
  if (native.is_guarded) *guarded = {args[0].type_code > 0 ? args[0].as_object : nullptr, native.info.name};
  AnyffiValue patients[2] = {};
  // The result may be kept alive, or be dropped, before the caller has it.
  if (result->type_code == ANYFFI_NONE) *result = AnyffiValue{};
  // The call may steal or release them.
  for (int i = 0; i < native.num_kept; ++i) {
    uint8_t index = native.kept[i].patient;
    if (index == 0 || args[index - 1].type_code <= 0) continue;
    patients[i] = args[index - 1];
    anyffi_retain(patients[i].as_object);
  }
  int status = native.base.call(&native, args, native.plain_size, result);
  *guarded = former;
  if (status == 0 && native.num_kept > 0) status = keep_patients(native, args, patients, result);
  for (const AnyffiValue& patient : patients) {
    if (patient.type_code > 0) anyffi_release(patient.as_object);
  }
  return status;
}
inline int call_complete(NativeFunction& native, AnyffiValue* args, AnyffiValue* result) {
  if (native.is_guarded || native.num_kept > 0) return call_specially(native, args, result);
  return native.base.call(&native, args, native.plain_size, result);
}

/// Calls a function of numbers; `args` is a copy, which is converted to what `load_plain` accepts.
inline int call_normalized(NativeFunction& native, AnyffiValue* args, AnyffiValue* result) {
  AnyffiMismatch why;
  for (int32_t i = 0; i < native.info.num_params; ++i) {
    AnyffiValue given = args[i];
    if (!native.params[i]->normalize(args[i], why)) return refuse_argument(why, native.info, i, given, result);
  }
  if (!native.unlocks()) return native.base.call(&native, args, native.plain_size, result);
  Unlocked unlocked(args, 0);
  return native.base.call(&native, args, native.plain_size, result);
}

/// Copies the arguments to `filled`, with defaults for omitted ones. False if there are too many or too few.
inline bool fill_defaults(const AnyffiFunctionInfo& info, const AnyffiValue* args, int32_t num_args,
                          AnyffiValue* filled) {
  if (num_args > info.num_params) return false;
  for (int32_t i = 0; i < info.num_params; ++i) {
    bool given = i < num_args && args[i].type_code != ANYFFI_MISSING;
    if (!given && !info.params[i].default_value) return false;
    filled[i] = given ? args[i] : *info.params[i].default_value;
  }
  return true;
}

/// The slow path of a call: defaults, a wrong number of arguments, numbers of other types, `release_gil()`.
__attribute__((cold, noinline)) inline int fill_and_call(NativeFunction& native, AnyffiValue* args, int32_t num_args,
                                                         AnyffiValue* result) {
  const AnyffiFunctionInfo& info = native.info;
  int32_t size = info.num_params;
  bool is_full = num_args == size && info.num_required == size;
  // The number of arguments for which `call` takes its fast path.
  if (is_full && !native.is_plain) return call_complete(native, args, result);
  auto* filled = static_cast<AnyffiValue*>(__builtin_alloca(sizeof(AnyffiValue) * static_cast<size_t>(size)));
  if (is_full) {
    for (int32_t i = 0; i < size; ++i) filled[i] = args[i];
  } else if (!fill_defaults(info, args, num_args, filled)) {
    if (result->type_code == ANYFFI_UNSET) return ANYFFI_NO_MATCH;
    return anyffi_error_raise_arg_count(&info, args, num_args);
  }
  if (native.is_plain) return call_normalized(native, filled, result);
  int status = call_complete(native, filled, result);
  // An argument stolen from the copy must be None in the original, too.
  for (int32_t i = 0; i < num_args; ++i) {
    if (args[i].type_code > 0) args[i] = filled[i];
  }
  return status;
}

/// `AnyffiFunctionInfo.load_items`.
__attribute__((noinline)) inline int load_native_items(void* self, int32_t index, AnyffiValue* value, void* room,
                                                       size_t room_size) {
  auto& native = *static_cast<NativeFunction*>(self);
  const ParamType* type = native.params[index];
  bool is_in_room = sizeof(LoadedArgument) + type->size <= room_size;
  void* memory = is_in_room ? room : anyffi_alloc(sizeof(LoadedArgument) + type->size);
  if (!memory) return -1;
  auto* destroy = is_in_room ? &LoadedArgument::destroy_in_room : &LoadedArgument::destroy;
  auto* loaded = new (memory) LoadedArgument{{ANYFFI_OBJECT, 1, 1, destroy, nullptr}, type};
  AnyffiMismatch why;
  try {
    if (type->load(*value, why, loaded->slot())) {
      *value = object_value(&loaded->header);
      value->aux = ANYFFI_MOVABLE | ANYFFI_LOADED;
      return 0;
    }
  } catch (...) {
    // The conversion of the packed container raises it again.
  }
  if (!is_in_room) anyffi_free(memory);
  AnyValue ignored;
  anyffi_error_take_raised(ignored.out());
  return -1;
}

/// `AnyffiFunctionInfo.try_call`.
inline int try_native(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  *result = trial_mark();
  int status = fill_and_call(*static_cast<NativeFunction*>(self), args, num_args, result);
  if (result->type_code == ANYFFI_UNSET) *result = anyffi_make_none();
  return status;
}

}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_NATIVE_H_
