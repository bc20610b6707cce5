/// \file
/// Conversions of std::shared_ptr and std::unique_ptr to objects of object classes; a null pointer is None.
#ifndef ANYFFI_STL_MEMORY_H_
#define ANYFFI_STL_MEMORY_H_

#include <anyffi/detail/items_writer.h>
#include <anyffi/not_null.h>
#include <anyffi/traits_via.h>

#include <memory>

namespace anyffi {

namespace detail ANYFFI_HIDDEN_ {

/// The deleter of a std::shared_ptr that keeps an object alive, whoever owns the object's content.
struct ReleaseObject {
  AnyffiObject* object;
  void operator()(void*) const noexcept { anyffi_release(object); }
};

template <class T, class = void>
inline constexpr bool kSharesFromThis = false;
template <class T>
inline constexpr bool kSharesFromThis<T, std::void_t<decltype(std::declval<T&>().weak_from_this().lock())>> = true;

/// Null for an object that C++ lends for a call, and whose owner is unknown.
template <class T>
std::shared_ptr<T> share_object(AnyffiObject* object) {
  using Content = std::remove_cv_t<T>;
  auto* content = content_of<Content>(object);
  if (object->deleter == &destroy_shared) {
    auto* held = static_cast<std::shared_ptr<void>*>(reinterpret_cast<Pointed*>(object)->held);
    return std::shared_ptr<T>(*held, content);
  }
  if constexpr (kSharesFromThis<Content>) {
    if (auto shared = content->weak_from_this().lock()) return std::shared_ptr<T>(std::move(shared), content);
  }
  if (__builtin_expect(depends_on_loan(object), 0)) return nullptr;
  anyffi_retain(object);
  // If this throws, it calls the deleter.
  return std::shared_ptr<T>(content, ReleaseObject{object});
}

/// Whether an object shares ownership with `shared`, so that the content outlives `shared`.
template <class T>
bool shares_with(const AnyffiObject* object, const std::shared_ptr<T>& shared) {
  if (object->deleter == &destroy_shared) {
    auto* held = static_cast<const std::shared_ptr<void>*>(reinterpret_cast<const Pointed*>(object)->held);
    return !held->owner_before(shared) && !shared.owner_before(*held);
  }
  auto* release = std::get_deleter<ReleaseObject>(shared);
  return release && release->object == object;
}

/// The object for a std::shared_ptr that is not null; `flags` as in `refer_to_borrowed`.
template <class T, class P>
AnyffiValue refer_to_shared(T* pointer, const std::shared_ptr<P>& shared, uint32_t flags) {
  Found found = find_dynamic(pointer);
  AnyffiValue known = anyffi_instance_find(found.content, found.type_code, flags);
  if (known.type_code != ANYFFI_NONE) {
    bool is_borrowed = known.aux != 0;
    if (__builtin_expect(!is_reference(known.as_object), 1)) {
      if (is_borrowed && !shares_with(known.as_object, shared)) {
        anyffi_retain(known.as_object);
        known.aux = 0;
      }
      return known;
    }
    if (!is_borrowed) anyffi_release(known.as_object);
  }
  using Held = std::shared_ptr<void>;
  auto* held = new Held(std::const_pointer_cast<T>(shared));
  return refer_to(Pointee{found.content, found.type_code, &destroy_shared, held, &delete_as<Held>, nullptr});
}

/// Why an owner in C++ cannot take an object; NULL if it can. `num_references`: those of the wrapper (the caller's) and
/// of a container of the call; the object must have no others.
inline const char* why_not_given(const AnyffiObject* object, uint64_t num_references) {
  if (object->deleter == &destroy_shared)
    return "a std::shared_ptr owns this object, so that it cannot be moved to C++";
  if (object->deleter != &destroy_owned)
    return "this object does not own its content alone (one of an overridable class never does), keeps another one "
           "alive, or its memory is released in a way of its own (an operator delete, a deleter), so that it cannot be "
           "moved to C++; a std::shared_ptr can share it";
  bool was_kept = (__atomic_load_n(&object->weak_count, __ATOMIC_ACQUIRE) & ANYFFI_WAS_KEPT) != 0;
  if (was_kept || !anyffi_is_held_by(object, num_references))
    return "other objects refer to this object, which cannot be moved to C++";
  return nullptr;
}

/// An argument that C++ takes over. The object is retained until the end of the call.
template <class T>
struct TakenObject {
  ObjectRef object{Adopt{}, nullptr};
  /// Of the object, as soon as its argument is converted.
  uint64_t num_references = 0;

  void count() { num_references = object.get() ? __atomic_load_n(&object.get()->strong_count, __ATOMIC_ACQUIRE) : 0; }
  /// Takes over the content, and empties the object's wrapper.
  T* take() {
    if (!object.get()) return nullptr;
    auto* pointed = reinterpret_cast<Pointed*>(object.get());
    T* content = content_of<T>(object.get());
    check(anyffi_object_empty_wrapper(object.get()));
    anyffi_instance_withdraw(&pointed->base);
    pointed->base.header.deleter = &destroy_reference;
    pointed->base.content = pointed->held = nullptr;
    return content;
  }
};

}  // namespace detail ANYFFI_HIDDEN_

/// A parameter keeps the object alive, with Python's part of it. A result is an object that holds the std::shared_ptr;
/// as long as one exists, the same address gives the same object.
template <class P>
struct Traits<std::shared_ptr<P>, std::enable_if_t<detail::kIsObjectClass<std::remove_cv_t<P>>>> {
  using T = std::remove_cv_t<P>;
  ANYFFI_HIDDEN_ static constexpr auto name = detail::kTypeKeyOf<T> + " | None";
  static constexpr uint64_t type_mask = detail::type_bits(ANYFFI_NONE);
  static constexpr bool kIsSteady = true;
  static constexpr bool kBorrows = false;
  static constexpr bool kOutlivesHolder = true;
  static constexpr bool kIsLoadedInPlace = true;
  static constexpr bool kLoadsObjects = true;
  static constexpr bool kWritesItems = true;
  using Holder = std::shared_ptr<P>;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    holder = nullptr;
    if (value.type_code == ANYFFI_NONE) return true;
    if (!detail::is_instance<T>(value)) return detail::refuse(why, value, name);
    holder = detail::share_object<P>(value.as_object);
    if (__builtin_expect(holder != nullptr, 1)) return true;
    return detail::refuse(why, value, name, ANYFFI_MISMATCH_VALUE,
                          "C++ lends this object for a call, so that no std::shared_ptr can keep it");
  }
  static std::shared_ptr<P> take(Holder& holder) { return std::move(holder); }
  static AnyffiValue store(const std::shared_ptr<P>& shared) { return store_result(shared, 0); }
  static void write(detail::ItemsWriter& writer, const std::shared_ptr<P>& shared) {
    writer.put_object(store_result(shared, writer.object_flags()));
  }
  static AnyffiValue store_result(const std::shared_ptr<P>& shared, uint32_t flags) {
    (void)&detail::kIsFlagged<T, ANYFFI_ENROLLED>;
    auto* pointer = const_cast<T*>(shared.get());
    return pointer ? detail::refer_to_shared(pointer, shared, flags) : AnyffiValue{};
  }
};

/// A parameter takes the content from an object that is its only owner, and leaves the Python object empty. A result is
/// an object that owns the content.
template <class P, class D>
struct Traits<std::unique_ptr<P, D>, std::enable_if_t<detail::kIsObjectClass<std::remove_cv_t<P>>>> {
  using T = std::remove_cv_t<P>;
  using Pointer = std::unique_ptr<P, D>;
  static constexpr bool kIsPlain = std::is_same_v<D, std::default_delete<P>>;
  ANYFFI_HIDDEN_ static constexpr auto name = detail::kTypeKeyOf<T> + " | None";
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  using Holder = detail::TakenObject<T>;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    if (!load_held(value, holder, why, 1)) return false;
    holder.count();
    return true;
  }
  /// `num_references`: as for `why_not_given`. The caller counts them as soon as its own argument is converted.
  static bool load_held(AnyffiValue& value, Holder& holder, AnyffiMismatch& why, uint64_t num_references) {
    static_assert(kIsPlain,
                  "anyffi: a parameter is a std::unique_ptr with a deleter: only std::default_delete can take "
                  "an object from Python");
    (void)&detail::kIsFlagged<T, ANYFFI_ENROLLED | ANYFFI_SEPARATE>;
    if (value.type_code == ANYFFI_NONE) return true;
    if (!detail::is_instance<T>(value)) return detail::refuse(why, value, name);
    const char* reason = detail::why_not_given(value.as_object, num_references);
    if (!reason && value.type_code != type_code_of<T>() && !std::has_virtual_destructor_v<T>) {
      reason = "the class of the parameter has no virtual destructor, so that it cannot own an object of this class";
    }
    if (reason) return detail::refuse(why, value, name, ANYFFI_MISMATCH_VALUE, reason);
    anyffi_retain(value.as_object);
    holder.object = ObjectRef(detail::Adopt{}, value.as_object);
    return true;
  }
  /// An argument that was converted later may refer to the object, too.
  static void verify(const Holder& holder) {
    if (holder.object.get() && !anyffi_is_held_by(holder.object.get(), holder.num_references)) detail::refuse_same();
  }
  static Pointer take(Holder& holder) { return Pointer(holder.take()); }
  /// The content of a field, which stays with its owner.
  static AnyffiValue refer_inside(const Pointer& pointer, AnyffiObject* owner) {
    (void)&detail::kIsFlagged<T, ANYFFI_ENROLLED>;
    if (!pointer) return AnyffiValue{};
    return detail::refer_to_borrowed(const_cast<T*>(static_cast<const T*>(pointer.get())), owner);
  }
  static AnyffiValue store(Pointer pointer) {
    (void)&detail::kIsFlagged<T, ANYFFI_ENROLLED>;
    if (!pointer) return AnyffiValue{};
    if constexpr (kIsPlain) {
      return detail::refer_to_owned(const_cast<T*>(pointer.release()));
    } else {
      auto* content = const_cast<T*>(pointer.get());
      auto* held = new Pointer(std::move(pointer));
      return detail::refer_to_pointer(content, &detail::destroy_holder, held, &detail::delete_as<Pointer>);
    }
  }
};

namespace detail ANYFFI_HIDDEN_ {
template <class T, class D>
inline constexpr bool kTakesObject<std::unique_ptr<T, D>> = true;
template <class T>
inline constexpr bool kSharesObject<std::shared_ptr<T>> = !kSharesFromThis<std::remove_cv_t<T>>;
template <class T, class D>
inline constexpr bool kIsOwner<T, std::unique_ptr<T, D>> = true;
template <class T>
inline constexpr bool kIsOwner<T, std::shared_ptr<T>> = true;
template <class T, class D>
inline constexpr bool kMayBeNull<std::unique_ptr<T, D>> = kIsObjectClass<std::remove_cv_t<T>>;
template <class T>
inline constexpr bool kMayBeNull<std::shared_ptr<T>> = kIsObjectClass<std::remove_cv_t<T>>;
template <class P>
inline constexpr bool kCanBeNotNull<P, std::void_t<typename Traits<P>::Carrier>> =
    kMayBeNull<typename Traits<P>::Carrier>;
template <class T, class Alias>
struct OwnerAs<T, Alias, std::unique_ptr<Alias>> {
  using Type = std::unique_ptr<T>;
};
template <class T>
inline constexpr bool kIncludes<Missing::kMemory, T> = true;
}  // namespace detail ANYFFI_HIDDEN_

/// For a smart pointer that is converted through one of the standard library.
template <class P>
struct Traits<NotNull<P>, std::enable_if_t<detail::kMayBeNull<typename Traits<P>::Carrier>>>
    : TraitsVia<NotNull<P>, NotNull<typename Traits<P>::Carrier>> {
  using Carrier = NotNull<typename Traits<P>::Carrier>;
  static NotNull<P> from(const Carrier& carrier) { return Traits<P>::from(carrier.get()); }
  static Carrier to(const NotNull<P>& pointer) { return Traits<P>::to(pointer.get()); }
};

}  // namespace anyffi

#endif  // ANYFFI_STL_MEMORY_H_
