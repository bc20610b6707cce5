/// \file
/// Boxes (inline values as objects) and slices.
#include <anyffi/inline.h>

#include "core/object.h"
#include "core/owned.h"
#include "core/types.h"

namespace anyffi::runtime {
namespace {

void delete_box(AnyffiObject* self, int32_t what) {
  // A box contains an inline value, so there is nothing to release.
  if (what & ANYFFI_DELETE_MEMORY) free_object<AnyffiBox>(self);
}

void delete_slice(AnyffiObject* self, int32_t what) {
  auto* slice = reinterpret_cast<AnyffiSlice*>(self);
  if (what & ANYFFI_DELETE_CONTENTS) {
    for (const AnyffiValue* part : {&slice->start, &slice->stop, &slice->step}) anyffi_value_drop(part);
  }
  if (what & ANYFFI_DELETE_MEMORY) free_object<AnyffiSlice>(self);
}

int visit_slice(const AnyffiValue* self, AnyffiVisit visit, void* context) {
  auto* slice = reinterpret_cast<const AnyffiSlice*>(self->as_object);
  for (const AnyffiValue* part : {&slice->start, &slice->stop, &slice->step}) {
    if (int status = visit(part, context)) return status;
  }
  return 0;
}

[[maybe_unused]] const bool hooks_installed = install_type_hooks(ANYFFI_SLICE, {nullptr, nullptr, &visit_slice});

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_box_create(const AnyffiValue* value, AnyffiValue* out) {
  if (anyffi_value_own(value, out) != 0) return -1;
  if (out->type_code > 0) return 0;
  auto* box = allocate_object<AnyffiBox>(ANYFFI_BOX, &delete_box);
  if (box == nullptr) return fail(out);
  box->value = *out;
  *out = anyffi_make_object(&box->header);
  return 0;
}

int anyffi_slice_create(const AnyffiValue* start, const AnyffiValue* stop, const AnyffiValue* step, AnyffiValue* out) {
  *out = anyffi_make_none();
  auto* slice = allocate_object<AnyffiSlice>(ANYFFI_SLICE, &delete_slice);
  if (slice == nullptr) return -1;
  // Written separately: copying one from another would load what was just stored, and stall.
  for (AnyffiValue* part : {&slice->start, &slice->stop, &slice->step}) *part = anyffi_make_none();
  Owned made(&slice->header);
  if ((start != nullptr && anyffi_value_own(start, &slice->start) != 0) ||
      (stop != nullptr && anyffi_value_own(stop, &slice->stop) != 0) ||
      (step != nullptr && anyffi_value_own(step, &slice->step) != 0)) {
    return -1;
  }
  *out = made.take();
  return 0;
}
