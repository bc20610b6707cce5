/// \file
/// Equality and hashes of objects by the methods of their types, with the rules of Python's rich comparison.
#include "functions/comparing.h"

#include <anyffi/inline.h>

#include <cstring>
#include <utility>

#include "core/depth.h"
#include "core/errors.h"
#include "core/messages.h"
#include "core/owned.h"
#include "core/value.h"
#include "functions/operator.h"

namespace anyffi::runtime {
namespace {

/// The method that a type itself declares, or NULL.
const AnyffiMethodInfo* find_method(const AnyffiTypeInfo& info, const char* name) {
  for (int32_t i = 0; i < info.num_methods; ++i) {
    if (std::strcmp(info.methods[i].name, name) == 0) return &info.methods[i];
  }
  return nullptr;
}

/// The type or nearest ancestor that declares one of two methods; NULL if there is none.
const AnyffiTypeInfo* find_definer(int32_t type_code, const char* name, const char* other) {
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  while (info != nullptr && find_method(*info, name) == nullptr && find_method(*info, other) == nullptr) {
    info = info->parent == info->type_code ? nullptr : anyffi_type_get_info(info->parent);
  }
  return info;
}

/// A borrowed reference, which the callee may not steal.
AnyffiValue borrow(const AnyffiValue& value) {
  AnyffiValue borrowed = value;
  if (borrowed.type_code > 0) borrowed.aux = 0;
  return borrowed;
}

int hash_by_method(const AnyffiValue* self, int64_t* out) {
  DepthGuard depth;
  if (!depth) return -1;
  const AnyffiTypeInfo* info = find_definer(self->type_code, "__hash__", "__eq__");
  const AnyffiMethodInfo* method = info == nullptr ? nullptr : find_method(*info, "__hash__");
  if (method == nullptr) {
    return raise_format("TypeError", "unhashable type: '%s'", anyffi_type_get_info(self->type_code)->python_name);
  }
  auto* function = reinterpret_cast<const AnyffiFunction*>(method->function);
  AnyffiValue given = borrow(*self);
  Owned made;
  if (function->call(function->self, &given, 1, made.out()) != 0) return -1;
  if (made->type_code != ANYFFI_INT && made->type_code != ANYFFI_BIG_INT) {
    return anyffi_error_raise("TypeError", "__hash__ method should return an integer");
  }
  // A 64-bit integer is used unchanged, as in Python: its own hash may be another number.
  *out = made->as_int;
  return made->type_code == ANYFFI_INT ? 0 : anyffi_value_hash(made.get(), out);
}

/// Calls `__eq__` of an object's type. Returns 1 if there is none, or it does not accept the other value.
int call_equal(const AnyffiTypeInfo* definer, const AnyffiValue& self, const AnyffiValue& other, int32_t* out) {
  if (definer == nullptr) return 1;
  AnyffiValue given[] = {borrow(self), borrow(other)};
  Owned made;
  auto* method = find_method(*definer, "__eq__");
  int status = call_as_operator(*reinterpret_cast<const AnyffiFunction*>(method->function), given, made.out());
  if (status != 0) return status == ANYFFI_NO_MATCH ? 1 : -1;
  if (made->type_code != ANYFFI_BOOL && made->type_code != ANYFFI_INT) {
    return raise_format("TypeError", "__eq__ of '%s' returns no bool", definer->type_key);
  }
  *out = made->as_int != 0;
  return 0;
}

int equal_by_method(const AnyffiValue* a, const AnyffiValue* b, int32_t* out) {
  const AnyffiTypeInfo* left = find_definer(a->type_code, "__eq__", "__eq__");
  const AnyffiTypeInfo* right = b->type_code <= 0 ? nullptr : find_definer(b->type_code, "__eq__", "__eq__");
  if (right != nullptr && a->type_code != b->type_code && anyffi_type_is_a(b->type_code, a->type_code)) {
    // As in Python, the method of a derived class is called first.
    std::swap(a, b);
    std::swap(left, right);
  }
  int status = call_equal(left, *a, *b, out);
  if (status == 1 && a->type_code != b->type_code) status = call_equal(right, *b, *a, out);
  if (status == 1) *out = is_identical(*a, *b);
  return status < 0 ? -1 : 0;
}

}  // namespace

void compare_by_methods(AnyffiTypeInfo* info) noexcept {
  info->hash = nullptr;
  info->equal = nullptr;
  bool has_equal = find_method(*info, "__eq__") != nullptr;
  if (has_equal) info->equal = &equal_by_method;
  if (has_equal || find_method(*info, "__hash__") != nullptr) info->hash = &hash_by_method;
}

}  // namespace anyffi::runtime
