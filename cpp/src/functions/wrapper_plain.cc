/// \file
/// Converts containers to the host's own, at all levels, in one call.
#include <algorithm>
#include <functional>
#include <new>
#include <unordered_map>
#include <utility>

#include "core/memory.h"
#include "core/owned.h"
#include "functions/wrapped.h"
#include "functions/wrapper_layout.h"

namespace anyffi::runtime {
namespace {

constexpr AnyffiWrapperLayout& layout = wrapper_layout;

/// Types whose host objects can be created without running users' code and without a garbage collection.
constexpr uint64_t kQuietTypes =
    ANYFFI_CHECKED | anyffi_type_bit(ANYFFI_NONE) | anyffi_type_bit(ANYFFI_BOOL) | anyffi_type_bit(ANYFFI_INT) |
    anyffi_type_bit(ANYFFI_FLOAT) | anyffi_type_bit(ANYFFI_STR) | anyffi_type_bit(ANYFFI_BYTES) |
    anyffi_type_bit(ANYFFI_STR_OBJECT) | anyffi_type_bit(ANYFFI_BYTES_OBJECT) | anyffi_type_bit(ANYFFI_COMPLEX);

uint64_t types_in(const AnyffiObject* object) {
  if (!has_entries(object->type_code)) return as_sequence(object)->type_mask;
  return as_mapping(object)->key_type_mask | as_mapping(object)->value_type_mask;
}

/// The immutable counterpart of a mutable container type; 0 for others.
int32_t partner_of(int32_t type_code) {
  return type_code == ANYFFI_LIST   ? ANYFFI_ARRAY
         : type_code == ANYFFI_DICT ? ANYFFI_MAP
         : type_code == ANYFFI_SET  ? ANYFFI_FROZEN_SET
                                    : 0;
}

bool is_plain_container(int32_t type_code) {
  return type_code == ANYFFI_SHAPE || (type_code >= ANYFFI_ARRAY && type_code <= ANYFFI_SET);
}

/// Owns a reference to an object of the host.
class Held {
 public:
  explicit Held(void* object) : object_(object) {}
  ~Held() {
    if (object_ != nullptr) layout.release(object_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  void* get() const { return object_; }
  void* take() { return std::exchange(object_, nullptr); }

 private:
  void* object_;
};

/// Creates the host's container for one of the runtime's. Its functions return a new reference, NULL with an exception
/// of the host, or NULL with `is_refused` set for values that only the host can convert.
class Plain {
 public:
  explicit Plain(int32_t mode) : mode_(mode) {}

  bool is_refused() const { return is_refused_; }

  void* make(AnyffiObject* object) {
    int32_t type_code = object->type_code;
    bool is_shared = mode_ != ANYFFI_PLAIN_TRANSFERRED &&
                     (depth_ == 0 || __atomic_load_n(&object->strong_count, __ATOMIC_RELAXED) > 1);
    if (is_shared) {
      bool is_new;
      void** met = meet(object, &is_new);
      if (met == nullptr || (!is_new && *met == nullptr)) return refuse();
      if (!is_new) {
        layout.retain(*met);
        return *met;
      }
    }
    if (depth_ == ANYFFI_MAX_PLAIN) return refuse();
    ++depth_;
    void* made = has_entries(type_code) ? make_entries(object) : make_items(object);
    --depth_;
    // Borrowed: the objects in the table are parts of the outermost container, which is then complete.
    if (made != nullptr && is_shared) *meet(object, nullptr) = made;
    return made;
  }

 private:
  void* refuse() {
    is_refused_ = true;
    return nullptr;
  }

  void* make_value(const AnyffiValue& value) {
    int32_t type_code = value.type_code;
    if ((anyffi_type_bit(type_code) & kQuietTypes) != 0) {
      // A copy: the container still owns the value.
      AnyffiValue owner = anyffi_own_element(&value);
      void* made = anyffi_wrapper_take_value(&owner);
      if (made == nullptr) anyffi_value_drop(&owner);
      return made;
    }
    if (!is_plain_container(type_code)) return refuse();
    bool is_converted = mode_ != ANYFFI_PLAIN_TRANSFERRED || (value.aux & ANYFFI_NATIVE) != 0;
    return is_converted ? make(value.as_object) : refuse();
  }

  /// The container to read: the object itself, or a copy if other code could change it during the conversion.
  const AnyffiObject* read(AnyffiObject* object, Owned* copy) {
    int32_t partner = partner_of(object->type_code);
    if (partner == 0 || (types_in(object) & ~kQuietTypes) == 0) return object;
    AnyffiValue given = anyffi_make_object(object);
    if (anyffi_container_copy(&given, partner, copy->out()) != 0) {
      AnyffiValue error;
      anyffi_error_take_raised(&error);
      anyffi_value_release(&error);
      refuse();
      return nullptr;
    }
    return copy->get()->as_object;
  }

  bool append(void* list, const AnyffiValue& value) {
    Held made(make_value(value));
    return made.get() != nullptr && layout.list_append(list, made.get()) == 0;
  }

  /// Creates a list of the elements of a sequence or set.
  void* make_list(AnyffiObject* object) {
    // Created first, because this may collect garbage.
    Held list(layout.make_list(0));
    Owned copy;
    const AnyffiObject* from = list.get() != nullptr ? read(object, &copy) : nullptr;
    if (from == nullptr) return nullptr;
    if (has_entries(from->type_code)) {
      for (int64_t i = 0; i < as_mapping(from)->used; ++i) {
        const AnyffiEntry& entry = as_mapping(from)->entries[i];
        if (entry.key.type_code != ANYFFI_UNSET && !append(list.get(), entry.key)) return nullptr;
      }
    } else {
      for (int64_t i = 0; i < as_sequence(from)->size; ++i) {
        if (!append(list.get(), as_sequence(from)->data[i])) return nullptr;
      }
    }
    return keep(std::move(copy)) ? list.take() : nullptr;
  }

  void* make_items(AnyffiObject* object) {
    Held list(make_list(object));
    if (list.get() == nullptr || object->type_code == ANYFFI_LIST) return list.take();
    return layout.list_as_tuple(list.get());
  }

  void* make_entries(AnyffiObject* object) {
    int32_t type_code = object->type_code;
    if (type_code == ANYFFI_SET || type_code == ANYFFI_FROZEN_SET) {
      // Hashing other keys may run users' code.
      if ((as_mapping(object)->key_type_mask & ~kQuietTypes) != 0) return refuse();
      Held list(make_list(object));
      if (list.get() == nullptr) return nullptr;
      return type_code == ANYFFI_SET ? layout.make_set(list.get()) : layout.make_frozen_set(list.get());
    }
    Held dict(layout.make_dict());
    Owned copy;
    const AnyffiObject* from = dict.get() != nullptr ? read(object, &copy) : nullptr;
    if (from == nullptr) return nullptr;
    const AnyffiMapping* mapping = as_mapping(from);
    if ((mapping->key_type_mask & ~kQuietTypes) != 0) return refuse();
    for (int64_t i = 0; i < mapping->used; ++i) {
      const AnyffiEntry& entry = mapping->entries[i];
      if (entry.key.type_code == ANYFFI_UNSET) continue;
      Held key(make_value(entry.key));
      Held item(key.get() != nullptr ? make_value(entry.value) : nullptr);
      if (item.get() == nullptr || layout.dict_set(dict.get(), key.get(), item.get()) != 0) return nullptr;
    }
    if (!keep(std::move(copy))) return nullptr;
    return type_code == ANYFFI_MAP ? layout.make_proxy(dict.get()) : dict.take();
  }

  /// Keeps a converted object alive, so that its address in the table stays unique.
  bool keep(Owned copy) noexcept {
    if (copy.get()->type_code == ANYFFI_NONE) return true;
    try {
      kept_.push_back(std::move(copy));
      return true;
    } catch (const std::bad_alloc&) {
      refuse();
      return false;
    }
  }

  /// The slot for the host's object of a container that may occur more than once: NULL until it is created. Returns
  /// NULL without memory.
  void** meet(AnyffiObject* object, bool* is_new) noexcept {
    try {
      auto [place, is_inserted] = met_.try_emplace(object, nullptr);
      if (is_new != nullptr) *is_new = is_inserted;
      return &place->second;
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  using Met = std::unordered_map<AnyffiObject*, void*, std::hash<AnyffiObject*>, std::equal_to<AnyffiObject*>,
                                 Allocator<std::pair<AnyffiObject* const, void*>>>;
  int32_t mode_;
  int32_t depth_ = 0;
  bool is_refused_ = false;
  Met met_;
  Vector<Owned> kept_;
};

void* unread() {
  if (layout.unread != nullptr) layout.retain(layout.unread);
  return layout.unread;
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

void* anyffi_wrapper_make_plain(const AnyffiWrapperRef* self, int32_t type_code, int32_t mode) {
  AnyffiObject* object = self->object;
  if (object == nullptr || object->type_code != type_code || layout.allocate == nullptr) return unread();
  Plain plain(mode);
  void* made = plain.make(object);
  return made == nullptr && plain.is_refused() ? unread() : made;
}
