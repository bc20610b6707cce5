/// \file
/// Objects that are found by their content, and those that others keep alive.
#ifndef ANYFFI_SRC_CORE_INSTANCES_H_
#define ANYFFI_SRC_CORE_INSTANCES_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// Withdraws an enrolled object and makes its last strong reference none, if there is no other reference to it, and
/// never was a weak one; else false.
bool withdraw_last(AnyffiInstance* instance) noexcept;

/// Whether an object certainly is an AnyffiInstance: one that may be found by its content, such as a reference.
inline bool is_instance(const AnyffiObject* object) noexcept {
  return (__atomic_load_n(&object->weak_count, __ATOMIC_RELAXED) & ANYFFI_IS_ENROLLED) != 0;
}
/// Whether an object keeps others alive by `anyffi_object_keep_alive`.
bool is_nurse(const AnyffiObject* object) noexcept;
/// Visits what `anyffi_object_keep_alive` keeps alive for an object: each has one reference more for it.
int visit_patients(const AnyffiObject* nurse, AnyffiVisit visit, void* context);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_INSTANCES_H_
