/// \file
/// Adding types of libraries at run time: they are registered and then defined.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/errors.h"
#include "core/mutex.h"
#include "core/same_types.h"
#include "core/type_rows.h"
#include "core/type_table.h"
#include "core/types.h"

namespace anyffi::runtime {
namespace {

/// Copies a library's record, which may have been built with an older or newer header.
AnyffiTypeInfo read_record(const AnyffiTypeInfo& info) {
  AnyffiTypeInfo given{};
  std::memcpy(static_cast<void*>(&given), &info, std::min<size_t>(info.struct_size, sizeof(given)));
  return given;
}

int register_type(const AnyffiTypeInfo& info, const Registrant& registrant, int32_t* out_type_code) {
  AnyffiTypeInfo given = read_record(info);
  if (given.type_key == nullptr || given.type_key[0] == '\0') {
    return anyffi_error_raise("ValueError", "a type needs a type key");
  }
  // The runtime and front ends may append private fields to those of a fixed type.
  const AnyffiTypeInfo* parent = anyffi_type_get_info(given.parent);
  if (parent == nullptr || (given.parent != ANYFFI_OBJECT && given.parent < ANYFFI_FIRST_DYNAMIC_TYPE)) {
    return raise_format("ValueError", "type '%s' cannot derive from %s: only from Object and types that derive from it",
                        given.type_key, parent == nullptr ? "an unknown type" : parent->type_key);
  }
  if (find_fixed(given.type_key) != nullptr) {
    return raise_format("ValueError", "type key '%s' is reserved for the runtime", given.type_key);
  }
  DynamicTypes& types = dynamic_types();
  std::unique_lock<Mutex> lock(types.mutex);
  auto known = types.entries.find(given.type_key);
  if (known != types.entries.end()) {
    const AnyffiTypeInfo* former = anyffi_type_get_info(known->second.code);
    bool is_followed = known->second.registrant.is_followed_by(registrant);
    // A new version of a class may keep the type of the old one only if the fields are the same too. A type that was
    // defined already is compared when it is defined again.
    bool may_stay = !is_followed || is_defined(types, former->type_code) || are_same_fields(*former, given);
    if (is_same_class(*former, given) && may_stay) {
      if (is_followed) known->second.registrant = registrant;
      *out_type_code = former->type_code;
      return 0;
    }
    if (!is_followed) {
      lock.unlock();
      return raise_other_class(*former, given);
    }
  }
  int32_t code = find_next_code(types);
  if (code == ANYFFI_NONE) {
    lock.unlock();
    return raise_too_many_types();
  }
  publish_type(types, prepare_type(types, given, *parent, code, registrant));
  *out_type_code = code;
  return 0;
}

int raise_defined_twice(const AnyffiTypeInfo& type) {
  return raise_format("ValueError", "type '%s' is defined twice by one library", type.type_key);
}

}  // namespace

bool is_defined(const DynamicTypes& types, int32_t type_code) {
  return types.definers.find(type_code) != types.definers.end();
}

int raise_too_many_types() { return anyffi_error_raise("RuntimeError", "too many types"); }

int define_type(const AnyffiTypeInfo& info, const Registrant& registrant, int32_t* type_code, FormerType* former) {
  DynamicTypes& types = dynamic_types();
  const AnyffiTypeInfo* current = *type_code < ANYFFI_FIRST_DYNAMIC_TYPE ? nullptr : anyffi_type_get_info(*type_code);
  if (current == nullptr) return anyffi_error_raise("ValueError", "only types registered at run time can be defined");
  const AnyffiTypeInfo defined = read_record(info);
  AnyffiTypeInfo given = *current;
  given.doc = defined.doc;
  given.fields = defined.fields;
  given.num_fields = defined.num_fields;
  given.methods = defined.methods;
  given.num_methods = defined.num_methods;
  given.visit_children = defined.visit_children;
  if (defined.hash != nullptr) given.hash = defined.hash;
  if (defined.equal != nullptr) given.equal = defined.equal;
  std::unique_lock<Mutex> lock(types.mutex);
  auto definer = types.definers.find(*type_code);
  bool was_defined = definer != types.definers.end();
  if (was_defined && !definer->second.is_followed_by(registrant)) {
    bool is_same = registrant.load != 0 && definer->second.load == registrant.load;
    lock.unlock();
    return is_same ? raise_defined_twice(given) : 0;
  }
  const AnyffiTypeInfo& parent = *anyffi_type_get_info(given.parent);
  if (was_defined && !are_same_fields(*current, given)) {
    int32_t code = find_next_code(types);
    if (code == ANYFFI_NONE) {
      lock.unlock();
      return raise_too_many_types();
    }
    TypeChange change = prepare_type(types, given, parent, code, registrant);
    prepare_definer(change, registrant);
    publish_type(types, std::move(change));
    *type_code = code;
    return 0;
  }
  Registrant former_definer = was_defined ? definer->second : Registrant();
  TypeChange change = prepare_record(given, parent, *type_code);
  prepare_definer(change, registrant);
  publish_type(types, std::move(change));
  *former = FormerType{current, was_defined, former_definer};
  return 0;
}

void restore_type(const FormerType& former) noexcept {
  DynamicTypes& types = dynamic_types();
  std::lock_guard<Mutex> lock(types.mutex);
  int32_t type_code = former.record->type_code;
  publish_record(types, type_code, former.record);
  auto definer = types.definers.find(type_code);
  if (definer == types.definers.end()) return;
  if (former.was_defined) {
    definer->second = former.definer;
  } else {
    types.definers.erase(definer);
  }
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_type_register(const AnyffiTypeInfo* info, int32_t* out_type_code) {
  *out_type_code = ANYFFI_NONE;
  // Classes are registered at first use, which is usually after the load.
  Registrant registrant = Loading::find_owner(__builtin_return_address(0));
  return guard([&] { return register_type(*info, registrant, out_type_code); });
}
