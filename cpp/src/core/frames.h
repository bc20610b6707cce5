/// \file
/// Which C++ code raised an error: return addresses, recorded where the error is made, and only while asked to.
#ifndef ANYFFI_SRC_CORE_FRAMES_H_
#define ANYFFI_SRC_CORE_FRAMES_H_

#include <anyffi/c_api.h>

#include <cstdint>

namespace anyffi::runtime {

/// An interpreter's own frames lie between C++ and what it called: PyPy has more than ten for a call in Python.
constexpr int32_t kMostFrames = 256;

/// Innermost first; more than `kMostFrames` are left out.
struct Frames {
  Frames* outer;    /* of the exception that is being unwound meanwhile; not owned once an error has these */
  int32_t uncaught; /* how many exceptions were on their way, with this one */
  int32_t count;
  uintptr_t addresses[1]; /* `count` of them */
};

extern bool records_frames;

/// The frames of the exception that is being thrown, if a border of C++ will catch it, else those of the caller. Owned
/// by the caller, who frees them by `anyffi_free`; NULL without memory.
Frames* take_frames() noexcept;
/// Frees the frames of the exception that was thrown: its error has its own.
void drop_thrown_frames() noexcept;

/// The text that `anyffi_error_get_frames` returns.
int describe_frames(const Frames& frames, bool is_from_host, AnyffiValue* out);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_FRAMES_H_
