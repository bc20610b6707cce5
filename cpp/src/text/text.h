/// \file
/// Strings and bytes.
#ifndef ANYFFI_SRC_TEXT_TEXT_H_
#define ANYFFI_SRC_TEXT_TEXT_H_

#include <anyffi/c_api.h>

#include <string_view>

#include "core/memory.h"

namespace anyffi::runtime {

/// Allocates a bytes object of more than ANYFFI_INLINE_BYTES, which the caller fills. NULL after MemoryError.
AnyffiBytesObject* allocate_bytes(int64_t size) noexcept;
/// Orders two strings by code point, as Python does: negative, 0 or positive.
int compare_text(const AnyffiTextView& a, const AnyffiTextView& b) noexcept;
/// The bytes of a path, as Python's `os.fsencode` returns them.
int path_to_native(const AnyffiValue* path, String* out);
/// A path from its bytes, as `os.fsdecode` returns it.
int path_from_native(std::string_view native, AnyffiValue* out);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_TEXT_TEXT_H_
