/// \file
/// Makes functions over C++ callables.
#include "functions/native.h"

#include <anyffi/error.h>

#include <cstring>
#include <utility>

#include "core/errors.h"
#include "functions/signature.h"

namespace anyffi::runtime {
namespace {

constexpr uint32_t kCallableOffset = round_up(sizeof(AnyffiNativeFunction), 16);

char* callable_of(AnyffiNativeFunction* function) noexcept {
  return reinterpret_cast<char*>(function) + kCallableOffset;
}

void delete_native(AnyffiObject* self, int32_t what) {
  auto* function = reinterpret_cast<AnyffiNativeFunction*>(self);
  if ((what & ANYFFI_DELETE_CONTENTS) != 0) {
    const NativeDeclaration& declaration = declaration_of(*function);
    anyffi_free(declaration.kept);
    if (declaration.callable_type != nullptr) declaration.callable_type->destroy(callable_of(function));
    for (int32_t i = 0; declaration.defaults != nullptr && i < declaration.info.num_params; ++i) {
      anyffi_value_drop(&declaration.defaults[i]);
    }
  }
  if ((what & ANYFFI_DELETE_MEMORY) != 0) anyffi_free(self);
}

/// The parts of a function's single memory block, one after the other.
struct Blocks {
  uint32_t declaration, defaults, params, exact_types, types, end;

  Blocks(uint32_t callable_size, uint32_t count) noexcept
      : declaration(kCallableOffset + round_up(callable_size, 16)),
        defaults(declaration + round_up(sizeof(NativeDeclaration), 16)),
        params(defaults + count * static_cast<uint32_t>(sizeof(AnyffiValue))),
        exact_types(params + count * static_cast<uint32_t>(sizeof(AnyffiParamInfo))),
        types(exact_types + count * static_cast<uint32_t>(sizeof(uint64_t))),
        end(types + count * static_cast<uint32_t>(sizeof(AnyffiParamType*))) {}
};

/// Fills the metadata that all functions of one signature share.
void fill_info(NativeDeclaration* declaration, const char* result_type, AnyffiParamInfo* params,
               uint64_t* exact_types) noexcept {
  AnyffiFunctionInfo* info = &declaration->info;
  info->struct_size = sizeof(*info);
  info->flags = declaration->signature & 0xFF;
  info->num_params = info->num_required = static_cast<int32_t>(declaration->signature >> ANYFFI_SIGNATURE_PARAMS_SHIFT);
  for (int32_t i = 0; i < info->num_params; ++i) {
    const AnyffiParamType& type = *declaration->types[i];
    params[i] = {nullptr, nullptr, type.name};
    exact_types[i] = type.exact_types;
    if (i >= 64) continue;
    info->utf8_params |= static_cast<uint64_t>((type.flags & ANYFFI_PARAM_TAKES_UTF8) != 0) << i;
    bool reads_objects = (type.flags & ANYFFI_PARAM_READS_OBJECTS) != 0;
    bool reads_items = (type.flags & ANYFFI_PARAM_READS_ITEMS) != 0 || (reads_objects && info->num_params == 1);
    info->item_params |= static_cast<uint64_t>(reads_items) << i;
    info->object_params |= static_cast<uint64_t>(reads_items && reads_objects) << i;
    info->member_params |= static_cast<uint64_t>((type.flags & ANYFFI_PARAM_READS_MEMBERS) != 0) << i;
    info->unsigned_params |= static_cast<uint64_t>((type.flags & ANYFFI_PARAM_TAKES_UNSIGNED) != 0) << i;
  }
  if ((info->flags & ANYFFI_VARIADIC) != 0) return;
  info->params = params;
  info->exact_types = exact_types;
  info->result_type = result_type;
  info->try_call = &try_native;
  info->load_items = &load_native_items;
}

/// Reads the parameter names, in which ANYFFI_KEYWORD_ONLY marks the first keyword-only one, and the defaults, if any.
void read_parameters(AnyffiNativeFunction* function, AnyffiParamInfo* params, va_list rest) noexcept {
  NativeDeclaration& declaration = declaration_of(*function);
  AnyffiFunctionInfo* info = &declaration.info;
  bool has_mark = (info->flags & ANYFFI_KEYWORD_ONLY) != 0;
  for (int32_t i = 0; i < info->num_params; ++i) {
    params[i].name = va_arg(rest, const char*);
    if (params[i].name != nullptr || !has_mark || info->num_keyword_only != 0) continue;
    info->num_keyword_only = info->num_params - i;
    info->num_required = i;
    params[i].name = va_arg(rest, const char*);
    function->plain_size = -1;
  }
  bool is_plain = (declaration.signature & (ANYFFI_SIGNATURE_PLAIN | ANYFFI_SIGNATURE_PLAIN_METHOD)) != 0;
  for (int32_t i = 0; declaration.defaults != nullptr && i < info->num_params; ++i) {
    auto* given = va_arg(rest, AnyffiValue*);
    if (i == num_positional(*info)) given = va_arg(rest, AnyffiValue*);
    if (given == nullptr) continue;
    declaration.defaults[i] = *given;
    *given = anyffi_make_none();
    params[i].default_value = &declaration.defaults[i];
    if (i < info->num_required) info->num_required = i;
    // The fast path for numbers calls `anyffi_native_call` for an omitted argument; other fast paths may have stolen
    // arguments before they find one missing.
    if (!is_plain) function->plain_size = -1;
  }
}

/// Checks a default at registration, not at its first use.
int check_default(const NativeDeclaration& declaration, int32_t index) noexcept {
  const AnyffiParamType& type = *declaration.types[index];
  auto* memory = static_cast<char*>(__builtin_alloca(type.size + type.alignment));
  void* slot = memory + (-reinterpret_cast<uintptr_t>(memory) & (type.alignment - 1));
  return detail::catch_all([&] {
    AnyffiMismatch why;
    AnyffiValue given = declaration.defaults[index];
    if (type.load(&given, &why, slot) == 0) {
      int status = anyffi_mismatch_raise_default(&why, &declaration.info, index);
      anyffi_value_drop(&why.got);
      return status;
    }
    if (type.destroy != nullptr) type.destroy(slot);
    return 0;
  });
}

int move_callable(AnyffiNativeFunction* function, void* callable, size_t size) noexcept {
  const AnyffiCallableType* type = declaration_of(*function).callable_type;
  if (type == nullptr) {
    std::memcpy(callable_of(function), size > sizeof(callable) ? callable : &callable, size);
    return 0;
  }
  return detail::catch_all([&] {
    type->move(callable_of(function), callable);
    return 0;
  });
}

}  // namespace

int create_native(const NativeSource& source, va_list rest, Owned* out) noexcept {
  auto has = [&](uint32_t flag) { return (source.signature & flag) != 0; };
  uint32_t count = source.signature >> ANYFFI_SIGNATURE_PARAMS_SHIFT;
  auto* callable_type = has(ANYFFI_SIGNATURE_MOVES) ? va_arg(rest, const AnyffiCallableType*) : nullptr;
  uint32_t copied_size = source.signature >> ANYFFI_SIGNATURE_SIZE_SHIFT & 0xFF;
  Blocks at(callable_type != nullptr ? static_cast<uint32_t>(callable_type->size) : copied_size, count);
  auto* memory = static_cast<char*>(anyffi_alloc(at.end));
  if (memory == nullptr) return raise_no_memory();
  std::memset(memory, 0, at.end);
  auto& function = *reinterpret_cast<AnyffiNativeFunction*>(memory);
  auto& declaration = *reinterpret_cast<NativeDeclaration*>(memory + at.declaration);
  auto* params = reinterpret_cast<AnyffiParamInfo*>(memory + at.params);
  declaration.signature = source.signature;
  declaration.callable_type = callable_type;
  if (has(ANYFFI_SIGNATURE_ENROLLS)) declaration.enroll = va_arg(rest, void (*)(void));
  declaration.types = reinterpret_cast<const AnyffiParamType**>(memory + at.types);
  for (uint32_t i = 0; i < count; ++i) declaration.types[i] = va_arg(rest, const AnyffiParamType*);
  fill_info(&declaration, source.result_type, params, reinterpret_cast<uint64_t*>(memory + at.exact_types));
  declaration.info.name = source.name;
  function.base = {
      {ANYFFI_FUNCTION, 1, 1, &delete_native, nullptr}, source.call, &function, nullptr, &declaration.info, nullptr};
  function.plain_size = declaration.info.num_params;
  function.declaration = &declaration;
  if (move_callable(&function, source.callable, copied_size) != 0) {
    anyffi_free(memory);
    return -1;
  }
  Owned created(&function.base.header);
  if (!has(ANYFFI_SIGNATURE_NAMED)) {
    *out = std::move(created);
    return 0;
  }
  if (has(ANYFFI_SIGNATURE_DEFAULTS)) declaration.defaults = reinterpret_cast<AnyffiValue*>(memory + at.defaults);
  read_parameters(&function, params, rest);
  if (anyffi_function_check_param_names(&declaration.info) != 0) return -1;
  for (int32_t i = declaration.info.num_required; i < declaration.info.num_params; ++i) {
    if (params[i].default_value != nullptr && check_default(declaration, i) != 0) return -1;
  }
  *out = std::move(created);
  return 0;
}

void guard_native(AnyffiNativeFunction* function, bool binds_overrides) noexcept {
  declaration_of(*function).is_guarded = true;
  declaration_of(*function).binds_overrides = binds_overrides;
  function->plain_size = -1;
}

int check_native(const AnyffiNativeFunction& function) noexcept {
  const NativeDeclaration& declaration = declaration_of(function);
  if ((declaration.info.flags & ANYFFI_CONSTANT) != 0 && declaration.info.num_params > 0) {
    return raise_format("TypeError", "%s: a constant() has no parameters", declaration.info.name);
  }
  bool is_incomplete =
      (declaration.signature & ANYFFI_SIGNATURE_NEEDS_RETURNS) != 0 && function.returns == ANYFFI_RETURNS_UNSPECIFIED;
  if (!is_incomplete) return 0;
  return raise_format("ValueError",
                      "%s: its result points to an object, and nothing says who owns it: add "
                      ".returns(anyffi::Returns::...)",
                      declaration.info.name);
}

int keep_alive_native(AnyffiNativeFunction* function, int32_t nurse, int32_t patient) noexcept {
  NativeDeclaration& declaration = declaration_of(*function);
  int32_t most = declaration.info.num_params;
  if (nurse < 0 || nurse > most || patient < 0 || patient > most || nurse == patient) {
    return raise_format("ValueError",
                        "%s: keep_alive() counts the result as 0 and the arguments from 1, which is the object of a "
                        "method or constructor",
                        name_of(&declaration.info));
  }
  if (patient > 0 && (declaration.types[patient - 1]->flags & ANYFFI_PARAM_VIEWS_TEXT) != 0) {
    return raise_format("ValueError",
                        "%s: keep_alive() of a text that is passed as a pointer: it ends with the call. Take a "
                        "std::string or an anyffi::String, which C++ keeps",
                        name_of(&declaration.info));
  }
  using Kept = NativeDeclaration::Kept;
  size_t size = sizeof(Kept) * static_cast<size_t>(declaration.num_kept);
  auto* kept = static_cast<Kept*>(anyffi_alloc(size + sizeof(Kept)));
  if (kept == nullptr) return raise_no_memory();
  if (size > 0) std::memcpy(kept, declaration.kept, size);
  anyffi_free(std::exchange(declaration.kept, kept));
  kept[declaration.num_kept++] = {static_cast<uint8_t>(nurse), static_cast<uint8_t>(patient)};
  // Patients must be objects of the runtime, so containers of the host are not read directly.
  declaration.info.item_params = 0;
  function->plain_size = -1;
  return 0;
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_native_create(AnyffiValue* out, const char* name, uint32_t signature, AnyffiCall call, void* callable,
                         const char* result_type, ...) {
  Owned created;
  va_list rest;
  va_start(rest, result_type);
  int status = create_native({name, signature, call, callable, result_type}, rest, &created);
  va_end(rest);
  *out = created.take();
  return status;
}

void anyffi_native_set_doc(AnyffiNativeFunction* function, const char* doc) {
  if (function != nullptr) declaration_of(*function).info.doc = doc;
}

void anyffi_native_release_gil(AnyffiNativeFunction* function) {
  if (function == nullptr) return;
  declaration_of(*function).info.flags |= ANYFFI_RELEASE_GIL;
  function->releases_lock = 1;
  function->plain_size = -1;
}

void anyffi_native_set_constant(AnyffiNativeFunction* function) {
  if (function != nullptr) declaration_of(*function).info.flags |= ANYFFI_CONSTANT;
}

void anyffi_native_set_returns(AnyffiNativeFunction* function, int32_t returns) {
  if (function == nullptr) return;
  function->returns = returns;
  NativeDeclaration& declaration = declaration_of(*function);
  bool refers = returns != ANYFFI_RETURNS_COPY && returns != ANYFFI_RETURNS_MOVE;
  if (declaration.enroll != nullptr && refers) declaration.enroll();
  if (returns == ANYFFI_RETURNS_REFERENCE_INTERNAL) declaration.info.item_params = 0;
}
