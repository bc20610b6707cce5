/// \file
/// Overridable<T>: virtual functions of a C++ class that classes of Python can override.
///
///     struct PyShape : anyffi::Overridable<geo::Shape> {
///       using Overridable::Overridable;
///       double area() const override { return override_pure<double>("area"); }
///       std::string name() const override {
///         return override_or<std::string>("name", [&] { return Shape::name(); });
///       }
///     };
///
///     ANYFFI_CLASS(geo::Shape, "geo.Shape").overridable<PyShape>().init<>().method("area", &geo::Shape::area);
#ifndef ANYFFI_OVERRIDABLE_H_
#define ANYFFI_OVERRIDABLE_H_

#include <anyffi/function.h>
#include <anyffi/pointer.h>

namespace anyffi {
namespace detail {

/// The overrides of an object by Python. Methods may be looked up on any thread.
class Overrides {
 public:
  Overrides() = default;
  // A copy of the object is a C++ object, without overrides.
  Overrides(const Overrides&) noexcept {}
  Overrides& operator=(const Overrides&) noexcept { return *this; }
  ~Overrides() {
    for (Entry* entry = entries_; entry;) {
      Entry* next = entry->next;
      delete entry;
      entry = next;
    }
  }

  /// Sets the object, which is borrowed, and a Python function that returns the method with a name, or None.
  void bind(AnyffiObject* self, Function finder) {
    self_ = self;
    finder_ = std::move(finder);
  }
  /// Keeps Python's part of the object alive as long as the object.
  void keep(Function holder) { holder_ = std::move(holder); }
  int visit(AnyffiVisit each, void* context) const {
    int status = visit_references_of(holder_, each, context);
    for (Entry* entry = __atomic_load_n(&entries_, __ATOMIC_ACQUIRE); entry && status == 0; entry = entry->next) {
      status = visit_references_of(entry->found, each, context);
    }
    return status;
  }

  /// Python's method, which takes the object first; NULL if there is none, or if Python is just calling the C++
  /// function itself.
  AnyffiFunction* find(const char* name) const {
    if (!self_) return nullptr;
    AnyffiGuardedCall* guarded = anyffi_guarded_call();
    if (guarded->object == self_ && __builtin_strcmp(guarded->name, name) == 0) {
      guarded->object = nullptr;
      return nullptr;
    }
    for (Entry* entry = __atomic_load_n(&entries_, __ATOMIC_ACQUIRE); entry; entry = entry->next) {
      if (entry->name == name) return entry->method();
    }
    return look_up(name);
  }

  template <class R, class... A>
  R call(AnyffiFunction* method, A&&... args) const {
    static_assert(!std::is_reference_v<R> && !std::is_pointer_v<R> && !kHoldsPointer<R>,
                  "anyffi: what an override returns would not live long enough: return a value or a std::shared_ptr");
    static_assert(
        !kIsView<R>,
        "anyffi: what an override returns is released before the view is used: return a std::string or another "
        "owner");
    return call_with<R>(method, as_argument<A>(args)...);
  }

 private:
  template <class R, class... A>
  R call_with(AnyffiFunction* method, A&&... args) const {
    AnyffiValue values[sizeof...(A) + 1];
    values[0] = anyffi_make_object(self_);
    using Pack = ArgPack<true, A...>;
    Pack pack(values + 1);
    pack.fill(std::forward<A>(args)...);
    ResultRoom<R> room;
    AnyffiValue result{};
    if constexpr (std::is_void_v<R>) result.aux = ANYFFI_DISCARDED;
    AnyffiGuardedCall* guarded = anyffi_guarded_call();
    AnyffiGuardedCall former = *guarded;
    guarded->object = nullptr;
    int status = call_deferring<Pack>(method, values, pack.kSize + 1, &result, room.slot());
    *guarded = former;
    check(status);
    if constexpr (std::is_void_v<R>) {
      anyffi_value_drop(&result);
    } else if constexpr (kIsStoredInline<R>) {
      struct Guard {
        AnyffiValue* value;
        ~Guard() { anyffi_value_drop(value); }
      } guard{&result};
      return convert_result<R>(result, &method->header);
    } else {
      return take_result<R>(room, result, &method->header);
    }
  }

  struct Entry {
    const char* name;
    AnyValue found;  // a Function, or None
    Entry* next;
    AnyffiFunction* method() const {
      return found.is_none() ? nullptr : reinterpret_cast<AnyffiFunction*>(found.raw().as_object);
    }
  };

  __attribute__((cold, noinline)) AnyffiFunction* look_up(const char* name) const {
    AnyValue self(Adopt{}, anyffi_make_object(self_));
    anyffi_retain(self_);
    auto* entry = new Entry{name, AnyValue(), nullptr};
    try {
      entry->found = finder_(self, name);
    } catch (...) {
      delete entry;
      throw;
    }
    entry->next = __atomic_load_n(&entries_, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&entries_, &entry->next, entry, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    }
    return entry->method();
  }

  AnyffiObject* self_ = nullptr;  // NULL: the object's class is not derived in Python
  Function finder_{Adopt{}, nullptr};
  Function holder_{Adopt{}, nullptr};
  mutable Entry* entries_ = nullptr;
};

[[noreturn]] __attribute__((cold, noinline)) inline void throw_missing_override(const char* type_key,
                                                                                const char* name) {
  throw Error("NotImplementedError", String("'") + name + "' of " + type_key +
                                         " is pure virtual: a Python class that derives from it must define it");
}

template <class T, class Alias, class... A>
Ref<T> make_overridable(A&&... args) {
  Ref<T> made = make_in_place<T, Alias>(type_code_of<T>(), std::forward<A>(args)...);
  if (read_instance_flags<T>() != 0) enroll_new(made.get());
  return made;
}

[[noreturn]] __attribute__((cold, noinline)) inline void refuse_overrides(const char* type_key) {
  throw Error(
      "TypeError",
      "a constructor made a {} whose functions Python cannot override: for classes of Python it returns a value, "
      "or a pointer or std::unique_ptr to the class that .overridable() names",
      type_key);
}
/// Ensures that the content of an object ends with it. Overrides refer to the object, so content that C++ shares, or
/// could take over, must not outlive it: returns false for shared content, and prevents taking over.
__attribute__((cold, noinline)) inline bool holds_content(AnyffiObject* object) {
  // Also recognizes the deleter of an object that keeps others alive.
  auto has = [object](auto* deleter) { return anyffi_object_replace_deleter(object, deleter, deleter) != 0; };
  if (has(&destroy_shared) || has(&destroy_reference)) return false;
  anyffi_object_replace_deleter(object, &destroy_owned, &destroy_holder);
  return true;
}

/// Lets an object of a Python class find its overrides. False if it is an object of a C++ class without overrides.
template <class T, class Alias>
bool bind_overrides(const Ref<T>& self, const Function& finder) {
  auto* alias = dynamic_cast<Alias*>(__builtin_addressof(*self));
  if (!alias && find_dynamic(__builtin_addressof(*self)).derived) return false;
  AnyffiObject* object = self.get();
  bool is_refused = !alias || (object->deleter != &Instance<T, Alias>::destroy && !holds_content(object));
  if (is_refused) refuse_overrides(kTypeKeyOf<T>);
  alias->anyffi_overrides.bind(object, finder);
  return true;
}

/// Copies an object. For an object of a Python class the copy is an Alias, too, which Python then binds.
template <class T, class Alias>
Ref<T> copy_object(const T& object) {
  if constexpr (!std::is_same_v<T, Alias> && std::is_copy_constructible_v<Alias>) {
    if (auto* alias = dynamic_cast<const Alias*>(__builtin_addressof(object)))
      return make_overridable<T, Alias>(*alias);
  }
  if constexpr (std::is_abstract_v<T>) {
    static constexpr auto kMessage =
        "only objects of Python's classes that derive from " + kTypeKeyOf<T> + ", which is abstract, can be copied";
    throw Error("TypeError", static_cast<const char*>(kMessage));
  } else {
    return make_object<T>(object);
  }
}

/// Makes copies through a reference to a base of T a T, if the object is one.
template <class T>
void copy_as_derived() noexcept {
#if ANYFFI_HAS_RTTI_
  if constexpr (std::is_polymorphic_v<T> && !std::is_abstract_v<T>) {
    auto copy = [](const void* content) {
      return object_value(make_object<T>(*static_cast<const T*>(content)).release());
    };
    __atomic_store_n(&dynamic_class<T>.copy, +copy, __ATOMIC_RELAXED);
  }
#endif
}

}  // namespace detail

/// The base of a class that forwards calls of virtual functions to Python.
template <class T>
class Overridable : public T {
 public:
  using T::T;
  Overridable() = default;
  /// For an object that a factory returned.
  template <class U, std::enable_if_t<std::is_same_v<Bare<U>, T> && std::is_constructible_v<T, U&&>, int> = 0>
  explicit Overridable(U&& other) : T(std::forward<U>(other)) {}
  using Overridden = T;

 protected:
  /// Calls Python's method, which a class that derives from T must define. Each method is looked up once for
  /// each object, when it is first called. An object argument becomes the Python object for its address, if there is
  /// one, else a copy: pass a pointer to pass a reference. What cannot be copied is lent for the call.
  template <class R, class... A>
  R override_pure(const char* name, A&&... args) const {
    AnyffiFunction* method = anyffi_overrides.find(name);
    if (__builtin_expect(!method, 0)) detail::throw_missing_override(detail::kTypeKeyOf<T>, name);
    return anyffi_overrides.template call<R>(method, std::forward<A>(args)...);
  }
  /// The same for a method that a class may define; if it does not, calls `otherwise`.
  template <class R, class F, class... A>
  R override_or(const char* name, F otherwise, A&&... args) const {
    AnyffiFunction* method = anyffi_overrides.find(name);
    if (!method) return otherwise();
    return anyffi_overrides.template call<R>(method, std::forward<A>(args)...);
  }

 public:
  detail::Overrides anyffi_overrides;  // not for users
};

}  // namespace anyffi

#endif  // ANYFFI_OVERRIDABLE_H_
