/// \file
/// Objects whose content is elsewhere: behind a pointer that is owned, shared or only borrowed.
#ifndef ANYFFI_DETAIL_POINTED_H_
#define ANYFFI_DETAIL_POINTED_H_

#include <anyffi/detail/object_class.h>

namespace anyffi {

/// How a function passes on an object that it returns by pointer or reference: set by `.returns(...)` after its
/// declaration. As long as an object for an address exists, the same address gives the same object, except for copies.
enum class Returns : uint8_t {
  kUnspecified = ANYFFI_RETURNS_UNSPECIFIED,
  kCopy = ANYFFI_RETURNS_COPY,            ///< a new object, by the copy constructor
  kMove = ANYFFI_RETURNS_MOVE,            ///< a new object, by the move constructor
  kReference = ANYFFI_RETURNS_REFERENCE,  ///< an object that C++ owns, and keeps alive longer than Python uses it
  kReferenceInternal = ANYFFI_RETURNS_REFERENCE_INTERNAL,  ///< a part of the first argument, which it keeps alive
  kTakeOwnership = ANYFFI_RETURNS_TAKE_OWNERSHIP           ///< of the pointer, which Python then deletes
};

namespace detail ANYFFI_HIDDEN_ {

/// An object whose content is elsewhere. The deleter owns `held`, and may be replaced by one that owns more.
struct Pointed {
  AnyffiInstance base;
  void* held;
  void (*destroy_held)(void* held);
};

/// The owner of contents that objects share or do not own: it keeps the host's garbage collector from visiting them.
/// Never released.
ANYFFI_HIDDEN_ inline AnyffiObject no_owner{ANYFFI_OBJECT, 1, uint64_t{1} << 40, nullptr, nullptr};

/// Deleter: only refers to the content, which `owner`, if there is one, keeps alive.
inline void destroy_reference(AnyffiObject* self, int32_t what) {
  if (what & ANYFFI_DELETE_CONTENTS) {
    auto* owner = reinterpret_cast<AnyffiInstance*>(self)->owner;
    if (owner && owner != &no_owner) anyffi_release(owner);
  }
  if (what & ANYFFI_DELETE_MEMORY) anyffi_object_free(self, sizeof(Pointed));
}

inline void destroy_pointed(AnyffiObject* self, int32_t what) {
  auto* pointed = reinterpret_cast<Pointed*>(self);
  if (what & ANYFFI_DELETE_CONTENTS) pointed->destroy_held(pointed->held);
  if (what & ANYFFI_DELETE_MEMORY) anyffi_object_free(self, sizeof(Pointed));
}

/// Deleter: owns the content by `delete`, so that an owner in C++ can take it.
inline void destroy_owned(AnyffiObject* self, int32_t what) { destroy_pointed(self, what); }
/// Deleter: shares the content; owns a std::shared_ptr<void>.
inline void destroy_shared(AnyffiObject* self, int32_t what) { destroy_pointed(self, what); }
/// Deleter: owns an object that owns the content.
inline void destroy_holder(AnyffiObject* self, int32_t what) { destroy_pointed(self, what); }

/// Marks an object as used by a call, so that code that the call runs cannot hand it over to C++.
class InUse {
 public:
  InUse() = default;
  ~InUse() {
    if (__builtin_expect(object_ != nullptr, 0)) anyffi_object_release(object_);
  }
  InUse(InUse&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  InUse& operator=(const InUse&) = delete;
  void begin(AnyffiObject* object) {
    if (__builtin_expect(object->deleter == &destroy_owned, 0)) anyffi_retain(object_ = object);
  }

 private:
  AnyffiObject* object_ = nullptr;
};

/// The same for all arguments of a call, while their conversions run code. Retains those that the code could hand over.
class ArgumentsInUse {
 public:
  ArgumentsInUse() = default;
  ArgumentsInUse(const ArgumentsInUse&) = delete;
  ArgumentsInUse& operator=(const ArgumentsInUse&) = delete;
  ~ArgumentsInUse() { end(); }
  /// `objects`: memory for `count` pointers.
  __attribute__((cold, noinline)) void begin(const AnyffiValue* args, AnyffiObject** objects, size_t count) noexcept {
    for (size_t i = 0; i < count; ++i) {
      bool may_move = args[i].type_code >= ANYFFI_FIRST_DYNAMIC_TYPE && args[i].as_object->deleter == &destroy_owned;
      objects[i] = may_move ? args[i].as_object : nullptr;
      if (may_move) anyffi_retain(objects[i]);
    }
    objects_ = objects;
    count_ = count;
  }
  void end() {
    if (__builtin_expect(count_ != 0, 0)) end_all();
  }
  /// For an object that must have no other reference.
  void end(size_t index) {
    if (count_ == 0) return;
    if (AnyffiObject* object = std::exchange(objects_[index], nullptr)) anyffi_object_release(object);
  }

 private:
  __attribute__((cold, noinline)) void end_all() noexcept {
    for (size_t i = 0; i < count_; ++i) end(i);
    count_ = 0;
  }
  AnyffiObject** objects_;
  size_t count_ = 0;
};

/// Whether an item of a container may be used without a reference of its own while the container has one: users' code
/// must not be able to hand the object over to C++ meanwhile.
inline bool is_lendable(const AnyffiValue& item) {
  return item.type_code <= 0 || item.as_object->deleter != &destroy_owned;
}

/// Whether the destructor and `operator delete` of a class are public.
template <class T, class = void>
inline constexpr bool kIsDeletable = false;
template <class T>
inline constexpr bool kIsDeletable<T, std::void_t<decltype(delete std::declval<T*>())>> = true;

template <class T>
void delete_as(void* held) {
  static_assert(kIsDeletable<T>,
                "anyffi: a constructor returns a pointer to a new object, which cannot be deleted: the destructor or "
                "operator delete of its class is not public. Return a std::shared_ptr with a deleter of its own, or "
                "bind a static_method() with Returns::kReference");
  if constexpr (kIsDeletable<T>) delete static_cast<T*>(held);
}

/// Memory for the content of a new object that an owner in C++ can take.
template <class T>
__attribute__((cold, noinline)) void* place_separately() {
  if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
    return ::operator new(sizeof(T), std::align_val_t{alignof(T)});
  } else {
    return ::operator new(sizeof(T));
  }
}
template <class T>
__attribute__((cold, noinline)) void free_separate(void* place) noexcept {
  if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
    ::operator delete(place, std::align_val_t{alignof(T)});
  } else {
    ::operator delete(place);
  }
}
/// Makes a new object findable by its content.
__attribute__((noinline)) inline void enroll_new(AnyffiObject* object) {
  check(anyffi_instance_enroll(reinterpret_cast<AnyffiInstance*>(object), nullptr));
}

/// A content, and what owns it.
struct Pointee {
  void* content;
  int32_t type_code;
  void (*deleter)(AnyffiObject* self, int32_t what);
  void* held;                        // owned
  void (*destroy_held)(void* held);  // NULL: nothing is owned
  AnyffiObject* owner;               // borrowed; NULL: none
};

/// Whether an object only refers to its content, also if the object keeps others alive.
inline bool is_reference(AnyffiObject* object) {
  if (object->deleter == &destroy_reference) return true;
  if (object->type_code < ANYFFI_FIRST_DYNAMIC_TYPE || object->deleter == &destroy_shared) return false;
  // Objects that own their content alone have no `owner`.
  if (!reinterpret_cast<AnyffiInstance*>(object)->owner) return false;
  return anyffi_object_replace_deleter(object, &destroy_reference, &destroy_reference) != 0;
}

/// Notes that an object is handed out to be kept: it must not expire with a call for which it is lent.
inline void keep_beyond_loan(AnyffiObject* object) {
  if (__builtin_expect(__atomic_load_n(&object->weak_count, __ATOMIC_RELAXED) & ANYFFI_IS_LENT, 0)) {
    __atomic_fetch_and(&object->weak_count, ~uint32_t{ANYFFI_IS_LENT}, __ATOMIC_RELAXED);
  }
}

/// Whether C++ lends an object, or one of which it is a part, for a call.
inline bool depends_on_loan(const AnyffiObject* object) {
  while (object) {
    uint32_t marks = __atomic_load_n(&object->weak_count, __ATOMIC_RELAXED);
    if (marks & ANYFFI_IS_LENT) return true;
    if (!(marks & ANYFFI_IS_ENROLLED)) return false;
    object = reinterpret_cast<const AnyffiInstance*>(object)->owner;
  }
  return false;
}

/// Makes an object that refers to a content own it, as `pointee` does: the former owner of the content has given it up.
inline bool upgrade(AnyffiInstance* known, const Pointee& pointee) {
  if (!pointee.destroy_held) return false;
  keep_beyond_loan(&known->header);
  if (!is_reference(&known->header)) return false;
  auto* pointed = reinterpret_cast<Pointed*>(known);
  pointed->held = pointee.held;
  pointed->destroy_held = pointee.destroy_held;
  anyffi_object_replace_deleter(&known->header, &destroy_reference, pointee.deleter);
  AnyffiObject* former = std::exchange(known->owner, pointee.deleter == &destroy_shared ? &no_owner : nullptr);
  if (former != &no_owner) anyffi_release(former);
  return true;
}

/// Keeps alive what classes of the host have added to the owner.
inline void keep_host_part(AnyffiObject* object, AnyffiObject* owner) {
  if (!(__atomic_load_n(anyffi_type_get_instance_flags(owner->type_code), __ATOMIC_RELAXED) & ANYFFI_HOST_DERIVES))
    return;
  const AnyffiValue whole = anyffi_make_object(owner);
  AnyffiValue part{};
  check(anyffi_value_create_host(ANYFFI_AS_KEPT, &whole, &part));
  if (part.type_code == ANYFFI_NONE) return;
  int status = anyffi_object_keep_alive(object, &part);
  anyffi_release(part.as_object);
  check(status);
}

/// Keeps one more owner of the content alive: the content may have moved to it.
inline void add_owner(AnyffiInstance* known, AnyffiObject* owner) {
  // An object that is known already does not depend on one that will expire.
  if (!is_reference(&known->header) || depends_on_loan(owner)) return;
  bool has_owner = known->owner != &no_owner;
  // Both are parts of the same object.
  if (has_owner && is_reference(owner) && reinterpret_cast<AnyffiInstance*>(owner)->owner == known->owner) return;
  int32_t is_kept_by_it = 0;
  check(anyffi_object_keeps_alive(owner, &known->header, &is_kept_by_it));
  if (is_kept_by_it != 0) return;
  keep_beyond_loan(&known->header);
  if (has_owner) {
    const AnyffiValue whole = anyffi_make_object(owner);
    check(anyffi_object_keep_alive(&known->header, &whole));
  } else {
    anyffi_retain(owner);
    known->owner = owner;
    keep_host_part(&known->header, owner);
  }
}

/// A new object, which refers to or owns what `pointee` says.
inline Pointed* new_pointed(const Pointee& pointee, AnyffiObject* owner) {
  auto* pointed = static_cast<Pointed*>(anyffi_object_alloc(sizeof(Pointed)));
  if (!pointed) throw_no_memory();
  *pointed = Pointed{{{pointee.type_code, 1, 1, pointee.deleter, nullptr}, pointee.content, owner},
                     pointee.held,
                     pointee.destroy_held};
  return pointed;
}

/// Returns the object that represents a content, creating one if there is none. Steals what is held, also on failure.
__attribute__((noinline)) inline AnyffiValue refer_to(const Pointee& pointee) {
  struct Guard {
    const Pointee* pointee;
    ~Guard() {
      if (pointee && pointee->destroy_held) pointee->destroy_held(pointee->held);
    }
  } guard{&pointee};
  bool is_alone = pointee.deleter == &destroy_owned || pointee.deleter == &destroy_holder;
  Pointed* pointed = new_pointed(pointee, pointee.owner || is_alone ? pointee.owner : &no_owner);
  // Before another thread can find the object, and release it.
  if (pointee.owner) anyffi_retain(pointee.owner);
  AnyffiInstance* known;
  int status = anyffi_instance_enroll(&pointed->base, &known);
  if (status == 0 && !known) {
    guard.pointee = nullptr;
    AnyValue made(Adopt{}, anyffi_make_object(&pointed->base.header));
    if (pointee.owner) keep_host_part(&pointed->base.header, pointee.owner);
    return made.release();
  }
  if (pointee.owner) anyffi_release(pointee.owner);
  anyffi_object_free(pointed, sizeof(Pointed));
  check(status);
  // A pointer that was passed twice already has an owner.
  if (upgrade(known, pointee) || pointee.deleter == &destroy_owned) guard.pointee = nullptr;
  return anyffi_make_object(&known->header);
}

/// An object as one of the most derived class that the library knows, with the address of that part of it.
struct Found {
  void* content;
  int32_t type_code;
  /// NULL if it is the class of the pointer.
  const DynamicClass* derived = nullptr;
};
#if ANYFFI_HAS_RTTI_
/// Looks among `rows` for a class that derives from that of `found`. `type`, `whole`: those of the complete object.
__attribute__((cold, noinline)) inline Found look_for_derived(Found found, const std::type_info& type, void* whole,
                                                              const DynamicClass* rows) {
  for (auto* row = rows; row; row = row->next) {
    if (*row->type != type) continue;
    // Of several bases, Python knows only one.
    return anyffi_type_is_a(row->type_code(), found.type_code) ? Found{whole, row->type_code(), row} : found;
  }
  // The library does not bind the exact class, which a factory may hide: searches step by step for its most derived
  // bound base.
  for (auto* row = rows; row;) {
    void* part = row->parent && row->parent() == found.type_code ? row->cast(found.content) : nullptr;
    if (part) found = {part, row->type_code(), row};
    row = part ? rows : row->next;
  }
  return found;
}

/// A cached result of `look_for_derived` for the parts of a class's objects. A search compares names, and casts.
struct SeenClass {
  const std::type_info* type;
  const char* name;  // compared too: the library of `type` may have been unloaded, and another be in its place
  ptrdiff_t offset;  // of the part in the whole object
  int32_t part_code;
  const DynamicClass* rows;  // the rows that were searched
  int32_t type_code;
  ptrdiff_t content;  // its offset in the whole object
  const DynamicClass* derived;
  SeenClass* next;
};
/// Never freed: one for each class whose objects are returned as those of a base, and for each such base.
ANYFFI_HIDDEN_ inline SeenClass* seen_classes[32];

/// As `look_for_derived`, with a cache. `part_type`: the C++ class of `found`.
__attribute__((noinline)) inline Found find_derived(const Found& found, const std::type_info& part_type,
                                                    const std::type_info& type, void* whole) {
  auto* rows = __atomic_load_n(&dynamic_classes, __ATOMIC_ACQUIRE);
  auto* begin = static_cast<char*>(whole);
  ptrdiff_t offset = static_cast<char*>(found.content) - begin;
  SeenClass** place = &seen_classes[(reinterpret_cast<uintptr_t>(&type) >> 4) % 32];
  SeenClass* first = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  for (auto* seen = first; seen; seen = seen->next) {
    if (seen->type == &type && seen->part_code == found.type_code && seen->offset == offset && seen->rows == rows &&
        seen->name == type.name()) {
      return {begin + seen->content, seen->type_code, seen->derived};
    }
  }
  // Compared with `==`, not by address: two libraries may each have type information for the same class.
  Found looked = type == part_type ? found : look_for_derived(found, type, whole, rows);
  ptrdiff_t content = static_cast<char*>(looked.content) - begin;
  SeenClass made{&type, type.name(), offset, found.type_code, rows, looked.type_code, content, looked.derived, first};
  if (auto* added = new (std::nothrow) SeenClass(made)) {
    while (!__atomic_compare_exchange_n(place, &added->next, added, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) continue;
  }
  return looked;
}
#endif

template <class T>
Found find_dynamic(const T* pointer) {
  auto* object = const_cast<T*>(pointer);
  Found found{object, type_code_of<T>()};
#if ANYFFI_HAS_RTTI_
  if constexpr (std::is_polymorphic_v<T>) {
    const std::type_info& type = typeid(*object);
    if (&type != &typeid(T)) return find_derived(found, typeid(T), type, dynamic_cast<void*>(object));
  }
#endif
  return found;
}

[[noreturn]] __attribute__((cold, noinline)) inline void refuse_slice(int32_t derived, const char* base) {
  const char* name = anyffi_type_get_info(derived)->type_key;
  throw Error(
      "TypeError",
      "C++ refers to this {} as a {}: add .copyable() to the declaration of {}, so that it can be copied, or pass "
      "a pointer, or add .returns(anyffi::Returns::...) to that of the function",
      name, base, name);
}
/// A copy of an object of a known class that derives from T; None for others. For a class that is not declared as
/// copyable, raises TypeError if `kRefuses`, else returns None.
template <bool kRefuses = true, class T>
AnyffiValue copy_derived(const T& object) {
  Found found = find_dynamic(__builtin_addressof(object));
  if (__builtin_expect(found.derived == nullptr, 1)) return AnyffiValue{};
  auto* copy = __atomic_load_n(&found.derived->copy, __ATOMIC_RELAXED);
  if (copy) return copy(found.content);
  if constexpr (kRefuses) refuse_slice(found.type_code, kTypeKeyOf<T>);
  return AnyffiValue{};
}

/// The object for a pointer that is not NULL; `deleter` and `held` as in Pointee.
template <class T>
AnyffiValue refer_to_pointer(T* pointer, void (*deleter)(AnyffiObject*, int32_t), void* held,
                             void (*destroy_held)(void*)) {
  Found found = find_dynamic(pointer);
  return refer_to(Pointee{found.content, found.type_code, deleter, held, destroy_held, nullptr});
}

/// A new object for a content that `owner`, if there is one, keeps alive.
__attribute__((noinline)) inline AnyffiValue refer_inside(const Found& found, AnyffiObject* owner) {
  return refer_to(Pointee{found.content, found.type_code, &destroy_reference, nullptr, nullptr, owner});
}
/// Returns the object that was found for a content, which `owner` keeps alive.
__attribute__((noinline)) inline AnyffiValue refer_again(const AnyffiValue& known, AnyffiObject* owner) {
  AnyValue kept(Adopt{}, known.aux != 0 ? AnyffiValue{} : known);
  add_owner(reinterpret_cast<AnyffiInstance*>(known.as_object), owner);
  kept.release();
  return known;
}

/// An object for a content that C++ lends for a call. If the loan began, it has the flag ANYFFI_LEND.
__attribute__((noinline)) inline AnyffiValue lend(const Found& found) {
  const Pointee pointee{found.content, found.type_code, &destroy_reference, nullptr, nullptr, nullptr};
  Pointed* pointed = new_pointed(pointee, &no_owner);
  AnyffiValue lent;
  int status = anyffi_instance_lend(&pointed->base, &lent);
  if (status != 0 || lent.as_object != &pointed->base.header) anyffi_object_free(pointed, sizeof(Pointed));
  check(status);
  return lent;
}

template <class T>
AnyffiValue refer_to_owned(T* pointer) {
  return refer_to_pointer(pointer, &destroy_owned, pointer, &delete_as<T>);
}
/// `flags`: 0, or ANYFFI_BORROWED for a result that may have it.
template <class T>
AnyffiValue refer_to_borrowed(T* pointer, AnyffiObject* owner = nullptr, uint32_t flags = 0) {
  Found found = find_dynamic(pointer);
  AnyffiValue known = anyffi_instance_find(found.content, found.type_code, flags);
  if (known.type_code == ANYFFI_NONE) return refer_inside(found, owner);
  if (owner) {
    AnyffiObject* former = reinterpret_cast<AnyffiInstance*>(known.as_object)->owner;
    if (__builtin_expect(former && former != owner, 0)) return refer_again(known, owner);
  } else {
    keep_beyond_loan(known.as_object);
  }
  return known;
}

/// Makes objects of the class findable by their addresses, because functions return or accept pointers to them.
template <class T>
__attribute__((cold, noinline)) bool flag_instances(uint8_t flags) noexcept {
  int status = catch_all([&] {
    anyffi_type_add_instance_flags(type_code_of<T>(), flags);
    return 0;
  });
  if (status != 0) anyffi_registry_defer_error();
  return true;
}
template <class T>
void enroll_instances() {
  flag_instances<T>(ANYFFI_ENROLLED);
}
template <class T, uint8_t kFlags>
ANYFFI_HIDDEN_ inline const bool kIsFlagged = flag_instances<T>(kFlags);

}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_POINTED_H_
