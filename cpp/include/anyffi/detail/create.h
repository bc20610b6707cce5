/// \file
/// Makes runtime functions of C++ callables.
#ifndef ANYFFI_DETAIL_CREATE_H_
#define ANYFFI_DETAIL_CREATE_H_

#include <anyffi/detail/native.h>

namespace anyffi {
namespace detail ANYFFI_HIDDEN_ {

struct CallableType {
  void (*move)(void* to, void* from);
  void (*destroy)(void* callable);
};

/// What functions of one signature have in common.
struct CallSpec {
  AnyffiCall call;
  const char* result_type;
  const CallableType* callable_type;  // NULL: the bytes are copied
  void (*enroll)();                   // of a function that returns a T&: its objects are found by their addresses
  uint32_t callable_size;
  int32_t num_params;
  uint16_t flags;
  bool is_plain;
  bool has_names;
  bool has_defaults;
  bool needs_returns;
  // The `ParamType*` of each parameter follow.
};

struct VaList {
  __builtin_va_list list;
  ~VaList() { __builtin_va_end(list); }
};

inline void delete_native(AnyffiObject* self, int32_t what) {
  auto* native = reinterpret_cast<NativeFunction*>(self);
  if (what & ANYFFI_DELETE_CONTENTS) {
    if (native->destroy) native->destroy(&callable_of<char>(native));
    for (int32_t i = 0; native->defaults && i < native->info.num_params; ++i) native->defaults[i].~AnyValue();
  }
  if (what & ANYFFI_DELETE_MEMORY) anyffi_free(self);
}

/// Checks a default when it is declared, not when it is first used.
inline void check_default(NativeFunction& native, int32_t index) {
  const ParamType& type = *native.params[index];
  auto* memory = static_cast<char*>(__builtin_alloca(type.size + type.alignment));
  void* slot = memory + (-reinterpret_cast<uintptr_t>(memory) & (type.alignment - 1));
  AnyffiMismatch why;
  AnyffiValue given = native.defaults[index].raw();
  if (!type.load(given, why, slot)) {
    int status = anyffi_mismatch_raise_default(&why, &native.info, index);
    anyffi_value_drop(&why.got);
    return check(status);
  }
  if (type.destroy) type.destroy(slot);
}

inline void set_default(NativeFunction& native, int32_t index, DefaultArg& given, AnyffiParamInfo* params) {
  native.defaults[index] = std::move(given.value);
  params[index].default_value = &native.defaults[index].raw();
  if (index < native.info.num_required) native.info.num_required = index;
  native.plain_size = -1;
}

/// A function of a signature, under a name that may be NULL. `rest`: for each parameter its name, then for each a
/// `DefaultArg*` or NULL, as far as the spec has them. Throws if the name of a parameter or a default is invalid.
///
/// The names are variadic arguments because code that passes them is smaller than tables and their relocations.
__attribute__((cold, noinline)) inline ObjectRef create_native(const char* name, const CallSpec& spec, void* callable,
                                                               __builtin_va_list rest) {
  auto count = static_cast<uint32_t>(spec.num_params);
  auto* types = reinterpret_cast<const ParamType* const*>(&spec + 1);
  uint32_t callable_end = round_up(sizeof(NativeFunction), 16) + round_up(spec.callable_size, 16);
  uint32_t for_defaults = spec.has_defaults ? count * static_cast<uint32_t>(sizeof(AnyValue)) : 0;
  uint32_t for_each = sizeof(AnyffiParamInfo) + sizeof(ParamType*) + sizeof(uint64_t);
  auto* memory = static_cast<char*>(anyffi_alloc(callable_end + for_defaults + count * for_each));
  if (!memory) throw std::bad_alloc();
  auto& native = *new (memory) NativeFunction{};
  if (spec.has_defaults) native.defaults = new (memory + callable_end) AnyValue[count];
  auto* params = reinterpret_cast<AnyffiParamInfo*>(memory + callable_end + for_defaults);
  native.params = reinterpret_cast<const ParamType**>(params + count);
  auto* exact_types = reinterpret_cast<uint64_t*>(native.params + count);
  for (uint32_t i = 0; i < count; ++i) {
    native.params[i] = types[i];
    params[i] = {spec.has_names ? __builtin_va_arg(rest, const char*) : nullptr, nullptr, types[i]->name};
    exact_types[i] = types[i]->exact_types;
  }
  native.base = {{ANYFFI_FUNCTION, 1, 1, &delete_native, nullptr}, spec.call, &native, nullptr, &native.info, nullptr};
  native.info.struct_size = sizeof(native.info);
  native.info.flags = spec.flags;
  native.info.name = name;
  native.plain_size = native.info.num_params = native.info.num_required = spec.num_params;
  native.is_plain = spec.is_plain;
  native.needs_returns = spec.needs_returns;
  native.enroll = spec.enroll;
  if (!(spec.flags & ANYFFI_VARIADIC)) {
    native.info.params = params;
    native.info.exact_types = exact_types;
    native.info.result_type = spec.result_type;
    native.info.try_call = &try_native;
    native.info.load_items = &load_native_items;
  }
  for (uint32_t i = 0; i < count && i < 64; ++i) {
    native.info.utf8_params |= static_cast<uint64_t>(types[i]->takes_utf8) << i;
    native.info.item_params |= static_cast<uint64_t>(types[i]->reads_items) << i;
  }
  ObjectRef function(Adopt{}, &native.base.header);
  if (spec.callable_type) {
    spec.callable_type->move(&callable_of<char>(&native), callable);
    native.destroy = spec.callable_type->destroy;
  } else {
    __builtin_memcpy(&callable_of<char>(&native), &callable, spec.callable_size);
  }
  for (uint32_t i = 0; spec.has_defaults && i < count; ++i) {
    if (auto* given = __builtin_va_arg(rest, DefaultArg*)) set_default(native, static_cast<int32_t>(i), *given, params);
  }
  if (!spec.has_names) return function;
  check(anyffi_function_check_param_names(&native.info));
  for (int32_t i = native.info.num_required; i < native.info.num_params; ++i) check_default(native, i);
  return function;
}

}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_CREATE_H_
