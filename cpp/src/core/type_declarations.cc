/// \file
/// Adding the types that front ends declare.
#include "core/type_declarations.h"

#include <utility>

#include "core/errors.h"
#include "core/same_types.h"
#include "core/type_rows.h"

namespace anyffi::runtime {
namespace {

int raise_defined_by_library(const AnyffiTypeInfo& type) {
  return raise_format("ValueError", "type '%s' is already defined by a library; give one of them another key",
                      type.type_key);
}

/// Whether a declaration may not use a key because a library's type has it, unless that type is not defined yet.
bool is_taken(const DynamicTypes& types, const AnyffiTypeInfo& former, const AnyffiTypeInfo& given) {
  return former.record == nullptr && (!is_same_class(former, given) || is_defined(types, former.type_code));
}

}  // namespace

int TypeDeclarations::add(AnyffiTypeInfo given, AnyffiFieldInfo* fields, int32_t* out_type_code) {
  given.fields = fields;
  if (find_fixed(given.type_key) != nullptr) {
    lock_.unlock();
    return raise_format("ValueError", "type key '%s' is reserved for the runtime", given.type_key);
  }
  const AnyffiTypeInfo& parent = *anyffi_type_get_info(given.parent);
  auto known = types_.entries.find(given.type_key);
  const AnyffiTypeInfo* former = known == types_.entries.end() ? nullptr : anyffi_type_get_info(known->second.code);
  if (former != nullptr && is_taken(types_, *former, given)) {
    lock_.unlock();
    return is_same_class(*former, given) ? raise_defined_by_library(given) : raise_other_class(*former, given);
  }
  bool is_same = former != nullptr &&
                 (former->record == nullptr || (is_same_class(*former, given) && are_same_fields(*former, given)));
  int32_t code = is_same ? former->type_code : find_next_code(types_, num_new_);
  if (code == ANYFFI_NONE) {
    lock_.unlock();
    return raise_too_many_types();
  }
  for (int32_t i = 0; i < given.num_fields; ++i) fields[i].type_code = code;
  TypeChange change =
      is_same ? prepare_record(given, parent, code) : prepare_type(types_, given, parent, code, Registrant());
  prepare_definer(change, Registrant());
  changes_.push_back(std::move(change));
  num_new_ += !is_same;
  *out_type_code = code;
  return 0;
}

void TypeDeclarations::publish() noexcept {
  for (TypeChange& change : changes_) publish_type(types_, std::move(change));
  changes_.clear();
}

}  // namespace anyffi::runtime
