/// \file
/// Return addresses of the C++ code that raises an error.
#include "core/frames.h"

#include <anyffi/exception.h>
#include <anyffi/host_api.h>
#include <cxxabi.h>
#include <unwind.h>

#include <cstring>
#include <exception>
#include <typeinfo>
#include <utility>

#include "core/compiler.h"

namespace anyffi::runtime {

bool records_frames = false;

namespace {

/// The frames of exceptions in flight, from `throw` to a language boundary, innermost first: destructors that run
/// during unwinding may throw and catch others. The error made of an exception takes its frames.
ANYFFI_THREAD_LOCAL Frames* thrown = nullptr;

void drop_thrown() noexcept {
  Frames* frames = thrown;
  thrown = frames->outer;
  anyffi_free(frames);
}

/// Whether the innermost exception was caught. If not, an error is raised by code that runs during unwinding, and has
/// frames of its own. `uncaught` is 0 (unknown) for libraries with their own C++ runtime.
bool is_caught() noexcept {
  return thrown != nullptr && (thrown->uncaught == 0 || std::uncaught_exceptions() < thrown->uncaught);
}

struct Addresses {
  int32_t count;
  uintptr_t values[kMostFrames];
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* addresses) {
  auto* into = static_cast<Addresses*>(addresses);
  if (into->count == kMostFrames) return _URC_END_OF_STACK;
  into->values[into->count++] = _Unwind_GetIP(context);
  return _URC_NO_REASON;
}

Frames* record_frames() noexcept {
  Addresses found;
  found.count = 0;
  _Unwind_Backtrace(&add_frame, &found);
  size_t size = sizeof(uintptr_t) * static_cast<size_t>(found.count);
  auto* frames = static_cast<Frames*>(anyffi_alloc(sizeof(Frames) + size));
  if (frames == nullptr) return nullptr;
  frames->outer = nullptr;
  frames->uncaught = 0;
  frames->count = found.count;
  std::memcpy(frames->addresses, found.values, size);
  return frames;
}

}  // namespace

Frames* take_frames() noexcept {
  if (!is_caught()) return record_frames();
  Frames* frames = thrown;
  thrown = std::exchange(frames->outer, nullptr);
  return frames;
}

void drop_thrown_frames() noexcept {
  if (is_caught()) drop_thrown();
}

#if defined(__GLIBCXX__)

namespace {

/// The last exception that reached a language boundary, and its std::exception, or NULL.
struct Reached {
  const void* object;
  const std::exception* exception;
};
ANYFFI_THREAD_LOCAL Reached reached;

/// The type information of ThrowWatch, which never catches. The unwinder calls it before it unwinds the stack, so the
/// frames of the throwing code still exist.
class ThrowWatchInfo final : public abi::__class_type_info {
 public:
  using abi::__class_type_info::__class_type_info;
  bool __do_catch(const std::type_info* type, void** object, unsigned outer) const override {
    void* base = *object;
    bool is_exception = typeid(std::exception).__do_catch(type, &base, outer);
    reached = {*object, is_exception ? static_cast<const std::exception*>(base) : nullptr};
    if (__atomic_load_n(&records_frames, __ATOMIC_RELAXED)) {
      int32_t uncaught = std::uncaught_exceptions();
      // Exceptions that are not further out than this one are no longer in flight.
      while (thrown != nullptr && (thrown->uncaught == 0 || thrown->uncaught >= uncaught)) drop_thrown();
      if (Frames* frames = record_frames()) {
        frames->outer = thrown;
        frames->uncaught = uncaught;
        thrown = frames;
      }
    }
    return false;
  }
};

}  // namespace

static const std::exception* find_reached(const std::exception_ptr& caught) noexcept {
  // Destructors may have thrown and caught other exceptions meanwhile, which replaced `reached`.
  const void* object;
  static_assert(sizeof(caught) == sizeof(object), "an exception_ptr of libstdc++ is the address of the object");
  std::memcpy(&object, static_cast<const void*>(&caught), sizeof(object));
  return object != nullptr && object == reached.object ? reached.exception : nullptr;
}

extern "C" {
/// Replaces the type information that the compiler would emit for the class.
extern const ThrowWatchInfo anyffi_throw_watch_info __asm__("_ZTIN6anyffi6detail10ThrowWatchE")
    __attribute__((visibility("default")));
const ThrowWatchInfo anyffi_throw_watch_info("N6anyffi6detail10ThrowWatchE");
}

#else

static const std::exception* find_reached(const std::exception_ptr&) noexcept { return nullptr; }

#endif

}  // namespace anyffi::runtime

const std::exception* anyffi_exception_get_caught(void) {
  return anyffi::runtime::find_reached(std::current_exception());
}

void anyffi_error_record_frames(int32_t on) {
  __atomic_store_n(&anyffi::runtime::records_frames, on != 0, __ATOMIC_RELAXED);
}
