/// \file
/// Checks that record types have the fields that structs in libraries expect.
#ifndef ANYFFI_SRC_RECORDS_STRUCTS_H_
#define ANYFFI_SRC_RECORDS_STRUCTS_H_

#include <mutex>

#include "core/mutex.h"
#include "records/record.h"

namespace anyffi::runtime {

/// Locks out libraries that declare structs, while a type is declared.
std::unique_lock<Mutex> lock_expectations();

/// Throws if a library's struct differs from the fields of the type with this key. The caller holds the lock.
void require_expected(const char* key, const AnyffiRecord& record);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_RECORDS_STRUCTS_H_
