/// \file
/// Objects that are found by their content, and those that others keep alive.
#ifndef ANYFFI_SRC_CORE_INSTANCES_H_
#define ANYFFI_SRC_CORE_INSTANCES_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// Withdraws an enrolled object and drops its strong count to 0, if this is its only reference and it never had a weak
/// one. Otherwise returns false.
bool withdraw_last(AnyffiInstance* instance) noexcept;

/// Whether an object certainly is an AnyffiInstance: one that can be found by its content, or refers to a content
/// elsewhere.
inline bool is_instance(const AnyffiObject* object) noexcept {
  return (__atomic_load_n(&object->weak_count, __ATOMIC_RELAXED) & ANYFFI_IS_ENROLLED) != 0;
}
/// Whether C++ lends the object's content for calls.
inline bool is_lent(const AnyffiObject* object) noexcept {
  return (__atomic_load_n(&object->weak_count, __ATOMIC_RELAXED) & ANYFFI_IS_LENT) != 0;
}
/// Whether an object keeps others alive by `anyffi_object_keep_alive`.
bool is_nurse(const AnyffiObject* object) noexcept;
/// Visits the objects that `anyffi_object_keep_alive` keeps alive for a nurse, which owns one reference to each.
int visit_patients(const AnyffiObject* nurse, AnyffiVisit visit, void* context);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_INSTANCES_H_
