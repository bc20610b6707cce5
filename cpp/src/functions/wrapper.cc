/// \file
/// Wrappers whose class the front end defines without C code: the runtime visits and finalizes them, and exports tensor
/// memory, with offsets that the front end declares.
#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/errors.h"
#include "functions/wrapper_layout.h"

namespace anyffi::runtime {

AnyffiWrapperLayout wrapper_layout{};

namespace {

constexpr AnyffiWrapperLayout& layout = wrapper_layout;

bool is_alive(void* wrapper) {
  if (layout.count_size == sizeof(uint32_t)) return *at<uint32_t>(wrapper, layout.count_offset) != 0;
  return *at<intptr_t>(wrapper, layout.count_offset) != 0;
}

/// Keeps the host's pending exception while a finalizer runs: destructors may call the host.
class PendingException {
 public:
  PendingException() { layout.exception_save(&type_, &value_, &traceback_); }
  ~PendingException() { layout.exception_restore(type_, value_, traceback_); }
  PendingException(const PendingException&) = delete;
  PendingException& operator=(const PendingException&) = delete;

 private:
  void* type_ = nullptr;
  void* value_ = nullptr;
  void* traceback_ = nullptr;
};

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

void anyffi_wrapper_set_layout(const AnyffiWrapperLayout* given) {
  AnyffiWrapperLayout copy{};
  std::memcpy(&copy, given, std::min<size_t>(given->struct_size, sizeof(copy)));
  layout = copy;
}

AnyffiObject* anyffi_wrapper_get_object(void* wrapper) {
  void* memory = *at<void*>(wrapper, layout.memory_offset);
  return memory != nullptr ? content_of<AnyffiWrapperRef>(memory)->object : nullptr;
}

int32_t anyffi_wrapper_move(void* from, void* to) {
  if (layout.allocate == nullptr) return 0;
  void** source = at<void*>(from, layout.memory_offset);
  void** target = at<void*>(to, layout.memory_offset);
  if (*source == nullptr || *target != nullptr) return 0;
  auto* ref = content_of<AnyffiWrapperRef>(*source);
  *target = std::exchange(*source, nullptr);
  if (anyffi_object_compare_exchange_wrapper(ref->object, from, to) == 0) {
    // `from` was not the object's current wrapper; `to` becomes it if there is none.
    anyffi_object_compare_exchange_wrapper(ref->object, nullptr, to);
  }
  ref->wrapper = to;
  return 1;
}

void* anyffi_wrapper_get_current(void* const* word) {
  void* wrapper = *word;
  void* found = wrapper != nullptr && is_alive(wrapper) ? wrapper : layout.nothing;
  layout.retain(found);
  return found;
}

int anyffi_wrapper_traverse(void* wrapper, int (*visit)(void* object, void* context), void* context) {
  // If C code defines the class, its own traverse function visits the type, and subclasses rely on that.
  if (int status = visit(*at<void*>(wrapper, layout.type_offset), context)) return status;
  AnyffiObject* object = anyffi_wrapper_get_object(wrapper);
  return object != nullptr ? anyffi_object_traverse(object, visit, context) : 0;
}

int anyffi_wrapper_clear(void* wrapper) {
  AnyffiObject* object = anyffi_wrapper_get_object(wrapper);
  if (object == nullptr || !anyffi_is_held_once(object) || !anyffi_object_may_refer(object)) return 0;
  // Its memory may still be exported as a buffer.
  if (object->type_code == ANYFFI_TENSOR) return 0;
  // The finalizer of the wrapper's memory releases the object, after the wrapper is emptied. It calls no hook of the
  // host, because the last collections run after the hooks were removed.
  SavedError saved;
  layout.release(std::exchange(*at<void*>(wrapper, layout.memory_offset), nullptr));
  return 0;
}

int anyffi_wrapper_get_buffer(void* wrapper, AnyffiBuffer* out, int flags) {
  out->owner = nullptr;
  if (anyffi_tensor_get_buffer(anyffi_wrapper_get_object(wrapper), out, flags) != 0) {
    return raise_in_host(layout.set_error, layout.buffer_error, layout.memory_error);
  }
  layout.retain(wrapper);
  out->owner = wrapper;
  return 0;
}

void anyffi_wrapper_finalize(void* memory) {
  auto* ref = content_of<AnyffiWrapperRef>(memory);
  if (ref->object == nullptr) return;
  PendingException pending;
  anyffi_wrapper_detach(ref);
}

void anyffi_value_finalize(void* memory) {
  auto* value = content_of<AnyffiValue>(memory);
  if (value->type_code <= 0) return;
  PendingException pending;
  anyffi_value_release(value);
}

void anyffi_recipe_finalize(void* memory) {
  PendingException pending;
  anyffi_recipe_release(content_of<AnyffiValue>(memory));
}
