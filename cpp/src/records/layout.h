/// \file
/// The layout of record objects, and how their fields are read and written.
#ifndef ANYFFI_SRC_RECORDS_LAYOUT_H_
#define ANYFFI_SRC_RECORDS_LAYOUT_H_

#include <anyffi/host_api.h>

#include "records/record.h"

namespace anyffi::runtime {

/// The offset of the content in a record's object.
constexpr int64_t kContentOffset = sizeof(AnyffiInstance);

/// The content of an object that the runtime made.
inline char* content_of_own(AnyffiObject* self) noexcept { return reinterpret_cast<char*>(self) + kContentOffset; }

/// The deleter of a draft until all fields are set; complete records have `anyffi_record_destroy`.
void destroy_draft(AnyffiObject* self, int32_t what);

/// Follows the content of a draft: which of its fields are set.
struct Progress {
  int32_t missing;
  int32_t guarded;  // fields without an initial value that are not set yet
  bool is_set[];
};

inline Progress* progress_of(AnyffiObject* self, const AnyffiRecord& record) noexcept {
  return reinterpret_cast<Progress*>(content_of_own(self) + (record.size() + 7) / 8 * 8);
}

/// How a field of an AnyffiFieldStorage is stored.
struct Storage {
  int64_t size;
  int64_t alignment;
  int (*get)(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* out);
  int (*set)(AnyffiObject* self, const AnyffiFieldInfo* field, AnyffiValue* value);
  int (*visit)(const void* member, AnyffiVisit visit, void* context);
  AnyffiMemberType member_type; /* 0 for a class */
};

/// The Storage for an AnyffiFieldStorage; `has_base`: in a record that derives from a C++ class.
const Storage& find_storage(int32_t storage, bool has_base) noexcept;

/// Visits the references of an object: `visit_children` of its type.
int visit_owners(const AnyffiValue* self, AnyffiVisit visit, void* context);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_RECORDS_LAYOUT_H_
