/// \file
/// Converts values to objects of the host: numbers and text, and wrappers, which it creates.
#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <algorithm>
#include <cstring>

#include "core/memory.h"
#include "core/owned.h"
#include "functions/wrapped.h"
#include "functions/wrapper_layout.h"

namespace anyffi::runtime {
namespace {

constexpr AnyffiWrapperLayout& layout = wrapper_layout;

bool may_create = true;
/// The wrapper class of each type code.
void** classes = nullptr;
int32_t num_classes = 0;

void* find_class(int32_t type_code) { return type_code < num_classes ? classes[type_code] : nullptr; }

void* unread() {
  // NULL on hosts whose objects have no fixed addresses.
  if (layout.unread != nullptr) layout.retain(layout.unread);
  return layout.unread;
}

/// Stores a status in `out`, in place of a value.
void* report(int32_t status, AnyffiValue* out) {
  *out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_UNSET), static_cast<uint64_t>(int64_t{status}));
  return unread();
}

void* make_text(const AnyffiValue& value) {
  static constexpr int kWidths[] = {1, 1, 2, 4};
  AnyffiTextView view;
  anyffi_view_text(&value, &view);
  if (anyffi_is_bytes(value.type_code)) return layout.make_bytes(static_cast<const char*>(view.data), view.length);
  return layout.make_text(kWidths[view.encoding & 3], view.data, view.length);
}

/// Creates objects that need no wrapper. Returns NULL without memory, and NULL with `is_known` false for other values.
void* make_scalar(const AnyffiValue& value, bool* is_known) {
  *is_known = true;
  switch (value.type_code) {
    case ANYFFI_NONE:
      layout.retain(layout.nothing);
      return layout.nothing;
    case ANYFFI_INT:
      return layout.make_int(value.as_int);
    case ANYFFI_FLOAT:
      return layout.make_float(value.as_float);
    case ANYFFI_BOOL:
      return layout.make_bool(value.as_int != 0);
    case ANYFFI_STR:
    case ANYFFI_STR_OBJECT:
    case ANYFFI_BYTES:
    case ANYFFI_BYTES_OBJECT:
      return make_text(value);
    case ANYFFI_COMPLEX: {
      auto* number = reinterpret_cast<const AnyffiComplex*>(value.as_object);
      return layout.make_complex(number->real, number->imag);
    }
    default:
      break;
  }
  void* handle = value.type_code > 0 ? handle_of(value) : nullptr;
  *is_known = handle != nullptr && handle != layout.nothing;
  if (*is_known) layout.retain(handle);
  return handle;
}

/// The host's object for a copy of a value.
void* read_copy(const AnyffiValue& value) {
  AnyffiValue copy = anyffi_own_element(&value);
  void* made = anyffi_wrapper_take_value(&copy);
  if (made == nullptr || made == layout.unread) anyffi_value_release(&copy);
  return made;
}

/// The host's tuple of a key and a value, or `unread` unless both can be read.
void* read_pair(const AnyffiValue& key, const AnyffiValue& value) {
  void* first = read_copy(key);
  if (first == nullptr || first == layout.unread) return first;
  void* second = read_copy(value);
  bool is_read = second != nullptr && second != layout.unread;
  void* pair = is_read ? layout.make_tuple(2, first, second) : second;
  if (is_read) layout.release(second);
  layout.release(first);
  return pair;
}

/// Whether the host has no wrapper class for a type, and converts its objects to something else.
bool is_unwrapped(int32_t type_code) {
  return type_code == ANYFFI_BIG_INT || type_code == ANYFFI_SLICE || type_code == ANYFFI_ERROR ||
         type_code == ANYFFI_PY_OBJECT || type_code == ANYFFI_BOX;
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

void anyffi_wrapper_set_class(int32_t type_code, void* wrapper_class) {
  if (type_code >= num_classes) {
    int32_t size = std::max(2 * num_classes, type_code + 1);
    auto* larger = static_cast<void**>(anyffi_alloc(static_cast<size_t>(size) * sizeof(void*)));
    // Without the table, the host creates these wrappers.
    if (larger == nullptr) return;
    std::fill(std::copy(classes, classes + num_classes, larger), larger + size, nullptr);
    anyffi_free(classes);
    classes = larger;
    num_classes = size;
  }
  classes[type_code] = wrapper_class;
}

void anyffi_wrapper_let_create(int32_t on) { may_create = on != 0; }

void* anyffi_wrapper_take(AnyffiValue* owner) {
  if (layout.allocate == nullptr || !may_create) return unread();
  void* found = anyffi_wrapper_get_current(&owner->as_object->wrapper);
  if (found != layout.nothing) {
    // The wrapper owns a reference already, so this one is not the last.
    anyffi_value_release(owner);
    return found;
  }
  layout.release(found);
  void* wrapper_class = find_class(owner->as_object->type_code);
  if (wrapper_class == nullptr) return unread();
  void* wrapper = layout.allocate(wrapper_class, 0);
  if (wrapper == nullptr) return nullptr;
  void* memory = layout.allocate(layout.memory_class, sizeof(AnyffiWrapperHold));
  if (memory == nullptr) {
    layout.release(wrapper);
    return nullptr;
  }
  auto* hold = content_of<AnyffiWrapperHold>(memory);
  *hold = AnyffiWrapperHold{{nullptr, wrapper}, anyffi_make_object(owner->as_object)};
  if (anyffi_wrapper_claim(hold, owner) == 0) {
    // A garbage collection during the allocation ran code that created another wrapper.
    layout.release(memory);
    layout.release(wrapper);
    return unread();
  }
  *at<void*>(wrapper, layout.memory_offset) = memory;
  return wrapper;
}

void* anyffi_wrapper_share(AnyffiObject* object) {
  anyffi_retain(object);
  AnyffiValue owner = anyffi_make_object(object);
  void* found = anyffi_wrapper_take(&owner);
  if (found == layout.unread || found == nullptr) anyffi_value_release(&owner);
  return found;
}

void* anyffi_wrapper_take_value(AnyffiValue* owner) {
  if (layout.allocate == nullptr) return unread();
  bool is_known;
  void* made = make_scalar(*owner, &is_known);
  if (!is_known) return owner->type_code > 0 && !is_unwrapped(owner->type_code) ? anyffi_wrapper_take(owner) : unread();
  if (made != nullptr && owner->type_code > 0) anyffi_value_release(owner);
  return made;
}

void* anyffi_cursor_read_element(AnyffiCursor* cursor, AnyffiValue* out) {
  int32_t status = anyffi_cursor_next_element(cursor, out);
  return status == 1 ? anyffi_wrapper_take_value(out) : report(status, out);
}

void* anyffi_wrapper_read_element(const AnyffiWrapperRef* self, int32_t type_code, int32_t index, AnyffiValue* out) {
  int32_t status = anyffi_wrapper_get_element(self, type_code, index, out);
  return status == 1 ? anyffi_wrapper_take_value(out) : report(status, out);
}

void* anyffi_wrapper_read_field(const AnyffiWrapperRef* self, const char* name, AnyffiValue* out) {
  int32_t status = anyffi_wrapper_get_field(self, name, out);
  if (status != 1) return report(status, out);
  // If the value is a copy, the host converts it to its own containers.
  return out->type_code > 0 && out->aux != 0 ? unread() : anyffi_wrapper_take_value(out);
}

void* anyffi_wrapper_read_item(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe, int32_t size,
                               AnyffiValue* out) {
  int32_t status = anyffi_wrapper_get_item(self, type_code, recipe, size, out);
  return status == 1 ? anyffi_wrapper_take_value(out) : report(status, out);
}

void* anyffi_cursor_read_entry(AnyffiCursor* cursor, int32_t what, AnyffiValue* out, AnyffiValue* out_item) {
  bool is_pair = out_item != nullptr;
  bool is_value = what == ANYFFI_READ_VALUE;
  int32_t status = anyffi_cursor_next_entry(cursor, is_value ? nullptr : out,
                                            is_pair    ? out_item
                                            : is_value ? out
                                                       : nullptr);
  if (status != 1) return report(status, out);
  if (!is_pair) return anyffi_wrapper_take_value(out);
  if (layout.allocate == nullptr) return unread();
  void* first = anyffi_wrapper_take_value(out);
  void* second = first != nullptr ? anyffi_wrapper_take_value(out_item) : nullptr;
  void* pair = second != nullptr ? layout.make_tuple(2, first, second) : nullptr;
  if (second != nullptr) layout.release(second);
  if (first != nullptr) layout.release(first);
  return pair;
}

void* anyffi_wrapper_pop(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe, int32_t size,
                         AnyffiValue* out) {
  Built key(recipe, size);
  if (!key.is_built()) return report(-1, out);
  if (AnyffiObject* object = find(self, type_code)) {
    AnyffiValue parts[kPeeked];
    int status = peek(object, key.count() > 0 ? key.values() : nullptr, parts);
    if (status != 1) return report(status, out);
    Owned first(parts[1]), second(parts[2]);
    void* made = type_code == ANYFFI_DICT && key.count() == 0 ? read_pair(parts[1], parts[2])
                                                              : read_copy(parts[type_code == ANYFFI_DICT ? 2 : 1]);
    if (made == layout.unread) {
      if (anyffi_sequence_create_from(ANYFFI_ARRAY, parts, kPeeked, out) == 0) return made;
      if (made != nullptr) layout.release(made);
      return report(-1, out);
    }
    if (made == nullptr) return nullptr;
    object = find(self, type_code);
    if (object != nullptr && erase_peeked(object, parts)) return made;
    // A garbage collection while the object was created ran code that changed the container.
    layout.release(made);
  }
  return report(ANYFFI_UNDECIDED - 1, out);
}
