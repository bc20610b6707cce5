/// \file
/// Which C++ code raised an error: return addresses, recorded where the error is made, and only while asked to.
#ifndef ANYFFI_SRC_CORE_FRAMES_H_
#define ANYFFI_SRC_CORE_FRAMES_H_

#include <anyffi/c_api.h>

#include <cstdint>

namespace anyffi::runtime {

/// A backtrace also contains the interpreter's frames: PyPy has more than ten per call in Python.
constexpr int32_t kMostFrames = 256;

/// Innermost first; more than `kMostFrames` are left out.
struct Frames {
  Frames* outer;    /* of the exception in flight when this one was thrown; not owned once an error has these */
  int32_t uncaught; /* number of exceptions in flight, this one included */
  int32_t count;
  uintptr_t addresses[1]; /* `count` of them */
};

extern bool records_frames;

/// The frames of the exception in flight, if it will be caught at a C++ boundary, else those of the caller. The caller
/// owns them and frees them with `anyffi_free`; NULL without memory.
Frames* take_frames() noexcept;
/// Frees the frames of the exception in flight, whose error has frames already.
void drop_thrown_frames() noexcept;

/// The text that `anyffi_error_get_frames` returns.
int describe_frames(const Frames& frames, bool is_from_host, AnyffiValue* out);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_FRAMES_H_
