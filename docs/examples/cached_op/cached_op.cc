/// \file
/// An object of a C++ class owned by Python: its destructor runs when Python releases it.

#include <anyffi/anyffi.h>

#include <atomic>

namespace {

using anyffi::AnyValue;
using anyffi::arg;
using anyffi::Array;
using anyffi::Map;
using anyffi::ObjectRef;
using anyffi::Ref;
using anyffi::String;

struct CachedOp {
  static constexpr anyffi::FixedText kTypeKey{"demo.CachedOp"};
  static inline std::atomic<int64_t> destroyed{0};

  ObjectRef handle;
  int64_t num;
  Map<String, String> flags;
  bool is_np;

  ~CachedOp() { ++destroyed; }
};

ObjectRef cached_op(ObjectRef handle, int64_t num, Map<String, String> flags, bool is_np) {
  return anyffi::make_object<CachedOp>(std::move(handle), num, std::move(flags), is_np);
}

Array<AnyValue> fields(const Ref<CachedOp>& op) { return {op->handle, op->num, op->flags, op->is_np}; }

int64_t destroyed() { return CachedOp::destroyed; }

}  // namespace

ANYFFI_EXPORT(cached_op, &cached_op, arg("handle"), arg("num"), arg("flags"), arg("is_np"));
ANYFFI_EXPORT(fields, &fields, arg("op"));
ANYFFI_EXPORT(destroyed, &destroyed);
