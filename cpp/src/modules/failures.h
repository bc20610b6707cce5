/// \file
/// Libraries whose loading failed. Initialisers run only once, so another attempt loads a copy of the library.
#ifndef ANYFFI_SRC_MODULES_FAILURES_H_
#define ANYFFI_SRC_MODULES_FAILURES_H_

#include <anyffi/c_api.h>

#include "core/owned.h"
#include "registry/journal.h"

namespace anyffi::runtime {

/// The error that initialisers of the library at `base` deferred, or with which its load failed; None if there is none.
Owned find_load_error(const void* base) noexcept;
/// Records an error, unless there is one already.
void keep_load_error(const void* base, const AnyffiValue& error) noexcept;
/// Records the error of a load that was undone: the library may be loaded again, as a copy.
void keep_undone_load(const void* base, const LoadJournal& journal) noexcept;
/// Whether the caller must load the library again: its load was undone, the cause may be gone, and no other thread is
/// loading it.
bool begin_new_load(const void* base) noexcept;
/// Replaces the library by a copy, given by its handle; NULL if none could be loaded.
void end_new_load(const void* base, void* copy) noexcept;
/// The handle of the copy that replaces a library, or NULL.
void* find_replacement(const void* base) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_MODULES_FAILURES_H_
