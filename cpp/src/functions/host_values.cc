/// \file
/// Reads objects of the host by the layout that the front end declares, and creates values from them.
#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <unordered_map>
#include <utility>

#include "core/errors.h"
#include "core/memory.h"
#include "functions/wrapper_layout.h"
#include "values/containers.h"

namespace anyffi::runtime {
namespace {

/// Written once, when the front end starts.
AnyffiHostValues layout{};

constexpr int64_t kMaxBorrowed = (int64_t{1} << 30) - 1;

void* class_of(void* x) { return *at<void*>(x, layout.class_offset); }

int64_t size_of(void* x) { return *at<intptr_t>(x, layout.size_offset); }

void** items_of(void* x, void* cls) {
  return cls == layout.tuple_class ? at<void*>(x, layout.tuple_offset) : *at<void**>(x, layout.list_offset);
}

/// Whether another container may refer to this one more than once.
bool may_occur_twice(void* x) {
  if (layout.count_size == sizeof(uint32_t)) return *at<uint32_t>(x, layout.count_offset) > 1;
  return *at<intptr_t>(x, layout.count_offset) > 1;
}

/// The content of text or bytes; false for text that is stored in another way than declared.
bool view_content(void* x, void* cls, AnyffiTextView* out) {
  if (cls == layout.bytes_class) {
    *out = AnyffiTextView{at<char>(x, layout.bytes_offset), size_of(x), ANYFFI_LATIN1, 0};
    return true;
  }
  uint32_t state = *at<uint32_t>(x, layout.state_offset) >> layout.width_shift;
  uint32_t width = state & 7;
  if ((state & 8) == 0) return false;
  bool is_ascii = (state & 16) != 0;
  int32_t encoding = is_ascii ? ANYFFI_ASCII : width == 1 ? ANYFFI_LATIN1 : width == 2 ? ANYFFI_UCS2 : ANYFFI_UCS4;
  const void* data = at<char>(x, is_ascii ? layout.ascii_offset : layout.text_offset);
  *out = AnyffiTextView{data, *at<intptr_t>(x, layout.length_offset), encoding, 0};
  return true;
}

/// Reads text or bytes short enough to be inline. Otherwise only fills `view`, and returns false.
bool read_short(bool is_bytes, const AnyffiTextView& view, AnyffiValue* out) {
  int64_t size = view.length << anyffi_encoding_shift(view.encoding);
  if (size > ANYFFI_INLINE_BYTES) return false;
  *out = anyffi_make_inline_text(is_bytes ? ANYFFI_BYTES : ANYFFI_STR, is_bytes ? int32_t{ANYFFI_ASCII} : view.encoding,
                                 view.data, static_cast<uint32_t>(size), static_cast<uint32_t>(view.length));
  return true;
}

bool is_text(void* cls) { return cls == layout.text_class || cls == layout.bytes_class; }

/// Reads a value that is always inline; false for other values.
bool read_immediate(void* x, void* cls, AnyffiValue* out) {
  if (cls == layout.int_class) {
    int overflow = 0;
    *out = anyffi_make_int(layout.read_int(x, &overflow));
    return overflow == 0;
  }
  if (cls == layout.float_class) {
    double number = layout.read_float(x);
    uint64_t bits;
    std::memcpy(&bits, &number, sizeof(bits));
    *out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_FLOAT), bits);
    return true;
  }
  if (cls == layout.bool_class) {
    *out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_BOOL), x == layout.true_object);
    return true;
  }
  *out = anyffi_make_none();
  return x == layout.none;
}

/// Reads a scalar as a borrowed value; false for other values.
bool borrow_scalar(void* x, AnyffiValue* out) {
  void* cls = class_of(x);
  AnyffiTextView view;
  if (!is_text(cls)) return read_immediate(x, cls, out);
  if (!view_content(x, cls, &view)) return false;
  bool is_bytes = cls == layout.bytes_class;
  if (read_short(is_bytes, view, out)) return true;
  auto type_code = static_cast<uint32_t>(is_bytes ? ANYFFI_BYTES_VIEW : ANYFFI_STR_VIEW);
  auto encoding = static_cast<uint64_t>(is_bytes ? 0 : view.encoding);
  *out = anyffi_make_value(type_code | (static_cast<uint64_t>(view.length) << 2 | encoding) << 32,
                           reinterpret_cast<uintptr_t>(view.data));
  return view.length <= kMaxBorrowed;
}

/// Whether instances of a class become new objects of the runtime.
bool is_created(void* cls) {
  return cls == layout.list_class || cls == layout.tuple_class || cls == layout.dict_class ||
         cls == layout.complex_class;
}

/// Creates the objects of one container. Its functions return as `anyffi_host_create_object` does; `out` is set only if
/// that is 1.
class Creator {
 public:
  int create_container(void* x, void* cls, int32_t type_code, AnyffiValue* out) {
    AnyffiObject** met = nullptr;
    if (depth_ == 0 || may_occur_twice(x)) {
      bool is_new;
      met = meet(x, &is_new);
      if (met == nullptr) return raise_no_memory();
      if (!is_new) {
        // NULL: the container is still being created, so it contains itself.
        if (*met == nullptr) return 0;
        anyffi_retain(*met);
        *out = anyffi_make_object(*met);
        return 1;
      }
    }
    // Near the end of the stack, leaves the rest to the host, which does not recurse in C.
    if (depth_ == layout.max_depth || anyffi_stack_get_remaining() < ANYFFI_STACK_RESERVE) return 0;
    ++depth_;
    int status = cls == layout.dict_class ? create_mapping(x, type_code, out) : create_sequence(x, cls, type_code, out);
    --depth_;
    if (status == 1 && met != nullptr) *met = out->as_object;
    return status;
  }

 private:
  /// Creates any value; the caller owns it.
  int create(void* x, AnyffiValue* out) {
    void* cls = class_of(x);
    AnyffiTextView view;
    if (is_text(cls)) {
      if (!view_content(x, cls, &view)) return 0;
      bool is_bytes = cls == layout.bytes_class;
      if (read_short(is_bytes, view, out)) return 1;
      if (is_bytes) return anyffi_bytes_create(view.data, view.length, out) == 0 ? 1 : -1;
      if (anyffi_str_allocate(view.length, view.encoding, out) != 0) return -1;
      void* data = const_cast<void*>(reinterpret_cast<AnyffiStrObject*>(out->as_object)->data);
      std::memcpy(data, view.data, static_cast<size_t>(view.length) << anyffi_encoding_shift(view.encoding));
      return 1;
    }
    if (read_immediate(x, cls, out)) return 1;
    if (cls == layout.list_class) return create_container(x, cls, ANYFFI_LIST, out);
    if (cls == layout.tuple_class) return create_container(x, cls, ANYFFI_ARRAY, out);
    if (cls == layout.dict_class) return create_container(x, cls, ANYFFI_DICT, out);
    if (cls != layout.complex_class) return 0;
    return anyffi_complex_create(layout.read_real(x), layout.read_imag(x), out) == 0 ? 1 : -1;
  }

  int create_sequence(void* x, void* cls, int32_t type_code, AnyffiValue* out) {
    int64_t size = size_of(x);
    void** items = items_of(x, cls);
    AnyffiValue made;
    if (anyffi_sequence_create(type_code, size, &made) != 0) return -1;
    AnyffiSequence* sequence = as_sequence(made.as_object);
    for (int64_t i = 0; i < size; ++i) {
      int status = create(items[i], &sequence->data[i]);
      if (status != 1) {
        anyffi_value_release(&made);
        return status;
      }
      ++sequence->size;
      sequence->type_mask |= anyffi_type_bit(sequence->data[i].type_code);
    }
    *out = made;
    return 1;
  }

  int create_mapping(void* x, int32_t type_code, AnyffiValue* out) {
    AnyffiValue made;
    if (anyffi_mapping_create(type_code, layout.dict_size(x), &made) != 0) return -1;
    AnyffiMapping* mapping = as_mapping(made.as_object);
    ptrdiff_t position = 0;
    void *key, *value;
    int status = 1;
    while (status == 1 && layout.dict_next(x, &position, &key, &value) != 0) {
      AnyffiEntry* entry = &mapping->entries[mapping->used];
      status = create(key, &entry->key);
      if (status != 1) break;
      status = create(value, &entry->value);
      if (status != 1) {
        anyffi_value_drop(&entry->key);
        break;
      }
      mapping->key_type_mask |= anyffi_type_bit(entry->key.type_code);
      mapping->value_type_mask |= anyffi_type_bit(entry->value.type_code);
      // Counted last, because destroying the mapping releases the entries counted so far.
      ++mapping->used;
    }
    int64_t first = -1, second = -1;
    if (status == 1 && anyffi_mapping_finish(made.as_object, &first, &second) != 0) status = -1;
    // Equal keys: the host raises the error.
    if (status == 1 && first >= 0) status = 0;
    if (status == 1) {
      *out = made;
    } else {
      anyffi_value_release(&made);
    }
    return status;
  }

  /// The slot for the object of a container: NULL until the object is complete. Stays valid. Returns NULL without
  /// memory.
  AnyffiObject** meet(void* x, bool* is_new) noexcept {
    try {
      auto [place, is_inserted] = met_.try_emplace(x, nullptr);
      *is_new = is_inserted;
      return &place->second;
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  using Met = std::unordered_map<void*, AnyffiObject*, std::hash<void*>, std::equal_to<void*>,
                                 Allocator<std::pair<void* const, AnyffiObject*>>>;
  /// Containers that may occur more than once, with their objects, which are NULL until complete.
  Met met_;
  int32_t depth_ = 0;
};

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

void anyffi_host_declare_values(const AnyffiHostValues* given) {
  AnyffiHostValues copy{};
  std::memcpy(&copy, given, std::min<size_t>(given->struct_size, sizeof(copy)));
  layout = copy;
}

int32_t anyffi_host_write_items(void* const* tuple, int32_t type_code, AnyffiValue* out) {
  void** items = at<void*>(*tuple, layout.tuple_offset);
  int64_t size = size_of(*tuple);
  int32_t status = 1;
  for (int64_t i = 0; i < size; ++i) {
    if (borrow_scalar(items[i], &out[i])) continue;
    out[i] = anyffi_make_value(static_cast<uint32_t>(ANYFFI_UNSET), 0);
    status = status == -1 || is_created(class_of(items[i])) ? -1 : 0;
  }
  out[size] =
      anyffi_make_value(static_cast<uint32_t>(type_code) | uint64_t{ANYFFI_RECIPE} << 32, static_cast<uint64_t>(size));
  return status;
}

int32_t anyffi_host_create_object(void* const* container, int32_t type_code, AnyffiValue* out) {
  void* cls = class_of(*container);
  if (type_code == 0) {
    type_code = cls == layout.list_class ? ANYFFI_LIST : cls == layout.tuple_class ? ANYFFI_ARRAY : ANYFFI_DICT;
  }
  return Creator().create_container(*container, cls, type_code, out);
}
