/// \file
/// What structs in libraries expect of records.
#ifndef ANYFFI_SRC_RECORDS_STRUCTS_H_
#define ANYFFI_SRC_RECORDS_STRUCTS_H_

#include <mutex>

#include "core/mutex.h"
#include "records/record.h"

namespace anyffi::runtime {

/// Keeps libraries from declaring structs while a type is declared.
std::unique_lock<Mutex> lock_expectations();

/// Throws if a struct of a library differs from the fields of the type of a key. The caller holds the lock.
void require_expected(const char* key, const AnyffiRecord& record);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_RECORDS_STRUCTS_H_
