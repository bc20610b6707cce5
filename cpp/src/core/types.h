/// \file
/// The hooks and definitions of types.
#ifndef ANYFFI_SRC_CORE_TYPES_H_
#define ANYFFI_SRC_CORE_TYPES_H_

#include <anyffi/c_api.h>

#include "core/loading.h"

namespace anyffi::runtime {

struct TypeHooks {
  int (*hash)(const AnyffiValue* self, int64_t* out) = nullptr;
  int (*equal)(const AnyffiValue* a, const AnyffiValue* b, int32_t* out) = nullptr;
  int (*visit_children)(const AnyffiValue* self, AnyffiVisit visit, void* context) = nullptr;
  int (*repr)(const AnyffiValue* self, AnyffiValue* out) = nullptr;
};
/// Sets those hooks of a type of the static table that are not NULL. Call it from static initialisers only, in the file
/// that defines the hooks. Returns true, so that it can initialise a constant.
bool install_type_hooks(int32_t type_code, const TypeHooks& hooks) noexcept;

/// What a definition replaced, so that it can be undone.
struct FormerType {
  const AnyffiTypeInfo* record = nullptr; /* NULL if it replaced nothing */
  bool was_defined = false;
  Registrant definer;
};
/// `anyffi_type_define`; may throw bad_alloc.
int define_type(const AnyffiTypeInfo& info, const Registrant& registrant, int32_t* type_code, FormerType* former);
/// Undoes a definition.
void restore_type(const FormerType& former) noexcept;

/// The part of a key after its last dot, which is the default name of the type.
const char* python_name_of(const char* type_key) noexcept;
/// Whether a field is the first field of an exception class, which names the base class.
bool names_exception_base(const AnyffiFieldInfo& field) noexcept;

/// The hook of a type or of its nearest ancestor that has one, or NULL: `find_hook(code, &AnyffiTypeInfo::hash)`.
template <class Hook>
Hook find_hook(int32_t type_code, Hook AnyffiTypeInfo::* hook) noexcept {
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  while (info != nullptr && info->*hook == nullptr) {
    info = info->parent == info->type_code ? nullptr : anyffi_type_get_info(info->parent);
  }
  return info == nullptr ? nullptr : info->*hook;
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_TYPES_H_
