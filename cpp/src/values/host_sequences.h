/// \file
/// Sequences of the host as Lists, in nested sequences.
#ifndef ANYFFI_SRC_VALUES_HOST_SEQUENCES_H_
#define ANYFFI_SRC_VALUES_HOST_SEQUENCES_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// Whether a value is an object of the host, or a sequence that has one in it; `levels` of nested sequences may be.
bool has_host_sequence(const AnyffiValue& value, int32_t levels) noexcept;
/// Replaces an owned value by a List if it is a sequence of the host, or has one in it. Runs code of the host, which
/// cannot reach the new lists. Returns -1 with the error that it raised.
int replace_host_sequences(AnyffiValue& value, int32_t levels) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_HOST_SEQUENCES_H_
