/// \file
/// Garbage collection of the host: the handles that an object keeps alive, directly or through other objects.
///
/// A collector that subtracts the references it finds from refcounts (CPython's) frees what has no others. So a handle
/// may be visited only if the caller's reference alone keeps it alive: each object on the path has exactly one
/// reference, held by the object before it or by the table of patients. This cannot change while the collector runs,
/// since nobody else has a reference to copy.
#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include "core/depth.h"
#include "core/host.h"
#include "core/instances.h"
#include "core/types.h"
#include "values/containers.h"

namespace anyffi::runtime {
namespace {

/// A fixed limit, since allocating could fail in one of two visits and make them differ. Deeper objects are not
/// visited; nor are those below `walk_limit`, which is the same for all visits of a collection because they run on one
/// thread.
constexpr int32_t kMaxDepth = 200;

struct Walk {
  int (*visit)(void* handle, void* context);
  void* context;
  /// The current depth of the walk.
  int32_t depth;
  int32_t limit;
};

int walk_object(const AnyffiObject* object, Walk& walk);

/// The object that the content of an object is part of, or NULL.
AnyffiObject* find_owner(const AnyffiObject* object) {
  return is_instance(object) ? reinterpret_cast<const AnyffiInstance*>(object)->owner : nullptr;
}

int visit_handle(void* handle, Walk& walk) { return handle != nullptr ? walk.visit(handle, walk.context) : 0; }

int visit_child(const AnyffiValue* value, void* context) {
  if (!(anyffi_type_bit(value->type_code) & ANYFFI_REFERRING)) return 0;
  Walk& walk = *static_cast<Walk*>(context);
  return walk.depth < walk.limit ? walk_object(value->as_object, walk) : 0;
}

int walk_sequence(const AnyffiSequence* sequence, Walk& walk) {
  if (!(sequence->type_mask & ANYFFI_REFERRING)) return 0;
  for (int64_t i = 0; i < sequence->size; ++i) {
    if (int status = visit_child(&sequence->data[i], &walk)) return status;
  }
  return 0;
}

int walk_mapping(const AnyffiMapping* mapping, Walk& walk) {
  if (!((mapping->key_type_mask | mapping->value_type_mask) & ANYFFI_REFERRING)) return 0;
  for (int64_t i = 0; i < mapping->used; ++i) {
    const AnyffiEntry& entry = mapping->entries[i];
    if (entry.key.type_code == ANYFFI_UNSET) continue;
    if (int status = visit_child(&entry.key, &walk)) return status;
    if (int status = visit_child(&entry.value, &walk)) return status;
  }
  return 0;
}

int walk_error(const AnyffiError* error, Walk& walk) {
  if (int status = visit_handle(error->handle, walk)) return status;
  if (int status = visit_child(&error->args, &walk)) return status;
  return visit_child(&error->cause, &walk);
}

int walk_slice(const AnyffiSlice* slice, Walk& walk) {
  if (int status = visit_child(&slice->start, &walk)) return status;
  if (int status = visit_child(&slice->stop, &walk)) return status;
  return visit_child(&slice->step, &walk);
}

int walk_tensor(const AnyffiTensor* tensor, Walk& walk) {
  return tensor->release_owner == &release_handle ? visit_handle(tensor->owner, walk) : 0;
}

/// Visits the direct references of an object.
int walk_content(const AnyffiObject* object, Walk& walk) {
  switch (object->type_code) {
    case ANYFFI_FUNCTION:
      return visit_handle(reinterpret_cast<const AnyffiFunction*>(object)->handle, walk);
    case ANYFFI_PY_OBJECT:
      return visit_handle(reinterpret_cast<const AnyffiPyObject*>(object)->handle, walk);
    case ANYFFI_ERROR:
      return walk_error(reinterpret_cast<const AnyffiError*>(object), walk);
    case ANYFFI_SLICE:
      return walk_slice(reinterpret_cast<const AnyffiSlice*>(object), walk);
    case ANYFFI_TENSOR:
      return walk_tensor(reinterpret_cast<const AnyffiTensor*>(object), walk);
    default:
      break;
  }
  if (is_sequence(object->type_code)) return walk_sequence(as_sequence(object), walk);
  if (has_entries(object->type_code)) return walk_mapping(as_mapping(object), walk);
  auto* visit_children = find_hook(object->type_code, &AnyffiTypeInfo::visit_children);
  if (visit_children != nullptr) {
    AnyffiValue self = anyffi_make_object(const_cast<AnyffiObject*>(object));
    return visit_children(&self, &visit_child, &walk);
  }
  AnyffiObject* owner = find_owner(object);
  if (owner == nullptr) return 0;
  AnyffiValue whole = anyffi_make_object(owner);
  return visit_child(&whole, &walk);
}

/// Visits what an object keeps alive, if this is the only reference to it.
int walk_object(const AnyffiObject* object, Walk& walk) {
  if (!anyffi_is_held_once(object)) return 0;
  ++walk.depth;
  int status = walk_content(object, walk);
  if (status == 0) status = visit_patients(object, &visit_child, &walk);
  --walk.depth;
  return status;
}

/// `anyffi_object_may_refer`, without regard to the object that contains this one.
bool may_refer_itself(const AnyffiObject* object) {
  int32_t code = object->type_code;
  if (is_nurse(object)) return true;
  if (code == ANYFFI_SHAPE) return false;
  if (is_sequence(code)) return (as_sequence(object)->type_mask & ANYFFI_REFERRING) != 0;
  if (has_entries(code)) {
    return ((as_mapping(object)->key_type_mask | as_mapping(object)->value_type_mask) & ANYFFI_REFERRING) != 0;
  }
  if (code == ANYFFI_TENSOR) return reinterpret_cast<const AnyffiTensor*>(object)->release_owner == &release_handle;
  return anyffi_type_may_refer(code) != 0;
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int32_t anyffi_type_may_refer(int32_t type_code) {
  if (type_code < ANYFFI_FIRST_DYNAMIC_TYPE) return (anyffi_type_bit(type_code) & ANYFFI_REFERRING) != 0;
  return find_hook(type_code, &AnyffiTypeInfo::visit_children) != nullptr;
}

int32_t anyffi_object_may_refer(const AnyffiObject* object) {
  // Follows at most as many owners as a visit does: the chain may have any length.
  for (int32_t depth = 0; depth < kMaxDepth && object != nullptr; ++depth) {
    if (may_refer_itself(object)) return 1;
    object = find_owner(object);
  }
  return 0;
}

int anyffi_object_traverse(const AnyffiObject* object, int (*visit)(void* handle, void* context), void* context) {
  Walk walk{visit, context, 0, walk_limit()};
  return walk_object(object, walk);
}
