/// \file
/// ANYFFI_EXCEPTION: exposes C++ exceptions as exception classes of Python.
///
///     ANYFFI_EXCEPTION(shop::SoldOut, "shop.SoldOut", "LookupError").doc("No more of it.");
#ifndef ANYFFI_EXCEPTION_CLASS_H_
#define ANYFFI_EXCEPTION_CLASS_H_

#include <anyffi/class.h>

#include <new>
#include <utility>

namespace anyffi {

namespace detail {

/// Represents the exception class T in the type table: T itself is not an object class.
template <class T>
struct ExceptionTag {};

/// A C++ exception thrown for a Python exception, which it carries, so that Python gets the same object back.
template <class T>
struct Carrier : T {
  Carrier(const char* text, AnyValue given) : T(text), error(std::move(given)) {}
  AnyValue error;
};

/// Raises the current exception, inside a handler, with the result of a user's function as its message; false if that
/// throws. Never destroyed, as `AttributeReader`.
struct TextClass {
  virtual bool raise(const char* kind) const = 0;
  bool (*catches_pointer)(void (*thrower)());
  void (*throw_pointer)();
  TextClass* next;

 protected:
  ~TextClass() = default;
};
ANYFFI_HIDDEN_ inline TextClass* text_classes = nullptr;

template <class T, class F>
struct TextClassOf final : TextClass {
  explicit TextClassOf(F given) : function(std::move(given)) {}
  bool raise(const char* kind) const override {
    try {
      throw;
    } catch (const T& exception) {
      try {
        set_raised(Error(kind, std::string_view(function(exception))));
        return true;
      } catch (...) {
        return false;
      }
    }
  }
  F function;
};

/// Reads an attribute of the current exception, inside a handler. Never destroyed, because exceptions may be raised
/// until the very end of a process.
struct AttributeReader {
  virtual AnyValue read() const = 0;
  const char* name;
  AttributeReader* next;

 protected:
  ~AttributeReader() = default;
};
/// An exception class of this library that has attributes.
struct AttributeClass {
  bool (*catches_pointer)(void (*thrower)());
  AttributeReader* readers;
  AttributeClass* next;
};
ANYFFI_HIDDEN_ inline AttributeClass* attribute_classes = nullptr;
template <class T>
ANYFFI_HIDDEN_ inline AttributeClass* attribute_class = nullptr;

template <class T, class F>
struct AttributeReaderOf final : AttributeReader {
  explicit AttributeReaderOf(F given) : getter(std::move(given)) {}
  AnyValue read() const override {
    try {
      throw;
    } catch (const T& exception) {
      if constexpr (std::is_member_object_pointer_v<F>) {
        return store(exception.*getter);
      } else {
        return store(call_on<const T>(getter, exception));
      }
    }
  }
  /// Stored as a result, so that a C++ container becomes one of Python.
  template <class V>
  static AnyValue store(V&& value) {
    return AnyValue(Adopt{}, Traits<Bare<V>>::store(std::forward<V>(value)));
  }
  F getter;
};

template <class T, class = void>
inline constexpr bool kHasWhat = false;
template <class T>
inline constexpr bool kHasWhat<T, std::void_t<decltype(std::string_view(std::declval<const T&>().what()))>> = true;

template <class T>
inline constexpr bool kIsMadeOfText = std::is_class_v<T> && std::is_constructible_v<T, const char*>;
template <class T>
inline constexpr bool kIsCarried = kIsMadeOfText<T> && !std::is_final_v<T>;

template <class T>
void throw_pointer() {
  throw static_cast<T*>(nullptr);
}
/// Whether a function throws a pointer to a class that derives from T.
template <class T>
bool catches_pointer(void (*thrower)()) {
  try {
    thrower();
  } catch (T*) {
    return true;
  } catch (...) {
  }
  return false;
}

/// Of the classes that have a `text` and fit a T, the most derived one; its last `text`, if it has several.
template <class T>
const TextClass* find_text() {
  const TextClass* nearest = nullptr;
  for (const TextClass* each = text_classes; each != nullptr; each = each->next) {
    if (!each->catches_pointer(&throw_pointer<T>)) continue;
    bool is_nearer = nearest == nullptr ||
                     (nearest->catches_pointer(each->throw_pointer) && !each->catches_pointer(nearest->throw_pointer));
    if (is_nearer) nearest = each;
  }
  return nearest;
}
template <class T>
void raise_plain(const T& exception, const char* kind) {
  // Found once, because each test throws an exception.
  static const TextClass* const text = find_text<T>();
  if (text != nullptr && text->raise(kind)) return;
  if constexpr (kHasWhat<T>) {
    set_raised(Error(kind, std::string_view(exception.what())));
  } else {
    anyffi_error_raise(kind, "C++ exception");
  }
}

template <class T, class F>
void add_attribute(const char* name, F getter) {
  auto& own = attribute_class<T>;
  if (own == nullptr) attribute_classes = own = new AttributeClass{&catches_pointer<T>, nullptr, attribute_classes};
  auto* reader = new AttributeReaderOf<T, F>(std::move(getter));
  reader->name = name;
  reader->next = own->readers;
  own->readers = reader;
}

/// None if reading fails: the exception itself is more important. Without memory, throws a MemoryError.
inline AnyValue read_attribute(const AttributeReader& reader) {
  AnyValue value, error;
  int status = catch_all([&] {
    value = reader.read();
    return 0;
  });
  if (status != 0) anyffi_error_take_raised(error.out());
  if (error.type_code() == ANYFFI_ERROR &&
      is_of_kind(*reinterpret_cast<const AnyffiError*>(error.raw().as_object), "MemoryError")) {
    throw std::bad_alloc();
  }
  return value;
}

/// Adds the attributes of the current exception's class T, and of its bases, to the error raised for it. The class in
/// Python is called with the message, MISSING, and a function that returns the names and values: a function, because
/// only in a result do C++ containers become containers of Python.
template <class T>
int raise_attributes() {
  struct Fitting {
    AttributeClass* found;
    Fitting* next;
  };
  // Computed once, because each test throws an exception.
  auto find_fitting = [] {
    Fitting* first = nullptr;
    for (AttributeClass* each = attribute_classes; each != nullptr; each = each->next) {
      if (!each->catches_pointer(&throw_pointer<T>)) continue;
      auto* added = new (std::nothrow) Fitting{each, first};
      if (added == nullptr) {
        while (first != nullptr) delete std::exchange(first, first->next);
        throw std::bad_alloc();
      }
      first = added;
    }
    return first;
  };
  const Fitting* fitting = nullptr;
  int status = catch_all([&] {
    static const Fitting* const found = find_fitting();
    fitting = found;
    return 0;
  });
  if (status != 0) return -1;
  if (fitting == nullptr) return 0;
  AnyValue raised;
  anyffi_error_take_raised(raised.out());
  // The runtime's MemoryError is a single shared object.
  if (!anyffi_has_one_reference(raised.raw().as_object)) {
    anyffi_error_set_raised(raised.raw().as_object);
    return -1;
  }
  return catch_all([&] {
    int64_t count = 0;
    for (const Fitting* each = fitting; each != nullptr; each = each->next) {
      for (const AttributeReader* reader = each->found->readers; reader != nullptr; reader = reader->next) ++count;
    }
    ObjectRef all(Adopt{}, new_sequence(ANYFFI_LIST, 2 * count));
    auto* cells = reinterpret_cast<AnyffiSequence*>(all.get());
    for (const Fitting* each = fitting; each != nullptr; each = each->next) {
      for (const AttributeReader* reader = each->found->readers; reader != nullptr; reader = reader->next) {
        AnyValue name(reader->name), value = read_attribute(*reader);
        for (AnyValue* part : {&name, &value}) {
          cells->type_mask |= anyffi_type_bit(part->raw().type_code);
          cells->data[cells->size++] = part->release();
        }
      }
    }
    auto* error = reinterpret_cast<AnyffiError*>(raised.raw().as_object);
    auto get = [all] {
      anyffi_retain(all.get());
      return AnyValue(Adopt{}, with_flags(object_value(all.get()), ANYFFI_NATIVE));
    };
    AnyValue get_all;
    check(create_typed(&anyffi_native_create, get_all.out(), "anyffi.exception_attributes", get));
    const AnyffiValue parts[] = {error->message, anyffi_make_value(ANYFFI_MISSING, 0), get_all.raw()};
    AnyValue args;
    check(anyffi_sequence_create_from(ANYFFI_ARRAY, parts, 3, args.out()));
    // Modified in place, because a new error would lose the recorded C++ frames.
    error->args = args.release();
    anyffi_error_set_raised(&error->header);
    return 0;
  });
}

/// Never thrown.
struct NoCarrier {
  AnyValue error;
};

/// Inside a handler: raises the current exception if it is a T.
template <class T>
bool raise_current(const char* kind) {
  // A library that was linked with -static-libstdc++ does not see the exceptions of others, and they do not see its
  // own.
  if (!std::current_exception()) return false;
  try {
    throw;
    // Not by dynamic_cast, which needs virtual functions.
  } catch (const std::conditional_t<kIsCarried<T>, Carrier<T>, NoCarrier>& found) {
    anyffi_error_set_raised(found.error.raw().as_object);
    return true;
  } catch (const T& exception) {
    raise_plain(exception, kind);
    if (attribute_classes != nullptr) raise_attributes<T>();
    return true;
  } catch (...) {
    return false;
  }
}

/// Throws a T for an error raised in Python, if a T can be constructed from text.
template <class T>
void throw_as([[maybe_unused]] const AnyffiValue* error) {
  if constexpr (kIsMadeOfText<T>) {
    Error given{AnyValue(AnyView(*error))};
    if constexpr (kIsCarried<T>) {
      throw Carrier<T>(given.what(), given.value());
    } else {
      throw T(given.what());
    }
  }
}

#if ANYFFI_HAS_RTTI_
template <class T>
ANYFFI_HIDDEN_ inline constexpr const std::type_info* kTypeInfo = &typeid(T);
#else
template <class T>
ANYFFI_HIDDEN_ inline constexpr const std::type_info* kTypeInfo = nullptr;
#endif

template <class T>
ANYFFI_HIDDEN_ inline AnyffiException exception_row{
    nullptr, &raise_current<T>, &throw_as<T>, &throw_pointer<T>, &catches_pointer<T>, kTypeInfo<T>, nullptr};

}  // namespace detail

/// Describes an exception class to front ends; `load_module` raises the errors.
template <class T>
class __attribute__((visibility("hidden"))) ExceptionClass : public detail::ClassBuilder {
  using Tag = detail::ExceptionTag<T>;

 public:
  explicit ExceptionClass(const char* base) noexcept
      : ClassBuilder(&type_code_of<Tag>, &detail::type_code_slot<Tag>, &detail::module_class<Tag>, nullptr, nullptr) {
    AnyffiFieldInfo described{};
    described.name = base;
    described.type_name = "Exception";
    anyffi_class_add_field(&builder_, &described);
    detail::exception_row<T>.kind = detail::kTypeKeyOf<Tag>;
    anyffi_exception_register(&detail::exception_row<T>);
  }
  ExceptionClass& doc(const char* text) noexcept {
    anyffi_class_set_doc(&builder_, text);
    return *this;
  }
  /// A function that returns the message of an exception, as any kind of text; by default its `what()`. Derived classes
  /// have it, too.
  template <class F>
  ExceptionClass& text(F function) {
    auto* own = new detail::TextClassOf<T, F>(std::move(function));
    own->catches_pointer = &detail::catches_pointer<T>;
    own->throw_pointer = &detail::throw_pointer<T>;
    own->next = detail::text_classes;
    detail::text_classes = own;
    return *this;
  }
  /// An attribute of the exceptions in Python, read when one is raised: a data member, a member function without
  /// parameters, or a function of the exception. A `doc` after it applies to the attribute.
  template <class F>
  ExceptionClass& attribute(const char* name, F getter) noexcept {
    constexpr bool kIsOfIt = std::is_invocable_v<const F&, const T&>;
    static_assert(kIsOfIt,
                  "anyffi: an attribute is a data member of the exception, or a const member function or another "
                  "function that takes a const T& alone");
    if constexpr (kIsOfIt) {
      using Value = Bare<std::invoke_result_t<const F&, const T&>>;
      static_assert(detail::HasTraits<Value>::value,
                    "anyffi: an attribute has a type without a conversion: include its header of anyffi/stl/");
      AnyffiFieldInfo described{};
      described.name = name;
      described.type_name = detail::kResultName<Value>;
      anyffi_class_add_field(&builder_, &described);
      detail::add_attribute<T>(name, std::move(getter));
    }
    return *this;
  }
};

}  // namespace anyffi

/// `ANYFFI_EXCEPTION(shop::SoldOut, "shop.SoldOut", "LookupError");`, at global scope. The base is a builtin exception
/// class of Python, or the key of another class of exceptions.
#define ANYFFI_EXCEPTION(T, key, base)                                                                      \
  ANYFFI_KEY_(::anyffi::detail::ExceptionTag<T>, key, void)                                                 \
  [[maybe_unused]] static const ::anyffi::detail::Registered ANYFFI_JOIN_(anyffi_exception_, __COUNTER__) = \
      ::anyffi::ExceptionClass<T>(base)

#endif  // ANYFFI_EXCEPTION_CLASS_H_
