/// \file
/// Definitions of types by libraries, which a failed load undoes.
#include "registry/definitions.h"

#include <anyffi/c_api.h>

#include <algorithm>
#include <cstring>

#include "core/errors.h"
#include "core/loading.h"
#include "core/types.h"
#include "functions/comparing.h"
#include "registry/journal.h"

namespace anyffi::runtime {

int define_type_in(const void* in_library, int32_t* type_code, const AnyffiTypeInfo* info) noexcept {
  Registrant registrant = Loading::find_registrant(in_library);
  return guard([&] {
    LoadJournal* journal = LoadJournal::current();
    if (journal != nullptr) journal->reserve_type();
    FormerType former;
    AnyffiTypeInfo given{};
    std::memcpy(static_cast<void*>(&given), info, std::min<size_t>(info->struct_size, sizeof(given)));
    compare_by_methods(&given);
    if (define_type(given, registrant, type_code, &former) != 0) return -1;
    if (journal != nullptr && former.record != nullptr) journal->record_type(former);
    return 0;
  });
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_type_define(int32_t* type_code, const AnyffiTypeInfo* info) {
  return define_type_in(__builtin_return_address(0), type_code, info);
}
