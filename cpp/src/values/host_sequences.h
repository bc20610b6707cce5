/// \file
/// Converts sequences of the host, within nested sequences, to Lists.
#ifndef ANYFFI_SRC_VALUES_HOST_SEQUENCES_H_
#define ANYFFI_SRC_VALUES_HOST_SEQUENCES_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// Whether the host's class of a value may have the methods of a sequence or an array: objects of the host, and those
/// of C++ classes.
inline bool may_be_host_sequence(int32_t type_code) noexcept {
  return type_code == ANYFFI_PY_OBJECT || type_code >= ANYFFI_FIRST_DYNAMIC_TYPE;
}
/// Whether a value may be a sequence of the host, or a sequence that contains one at most `levels` deep.
bool has_host_sequence(const AnyffiValue& value, int32_t levels) noexcept;
/// Replaces an owned value by a List if it is a sequence of the host, or contains one. Runs code of the host, which
/// cannot reach the new Lists. Returns -1 if the host raised an error.
int replace_host_sequences(AnyffiValue& value, int32_t levels) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_HOST_SEQUENCES_H_
