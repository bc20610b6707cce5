/// \file
/// Texts of values, random values, and keys whose comparison runs a function of the test.
#ifndef ANYFFI_TESTS_CONTAINER_VALUES_H_
#define ANYFFI_TESTS_CONTAINER_VALUES_H_

#include <anyffi/anyffi.h>

#include <functional>
#include <random>
#include <string>
#include <utility>

/// Python's `repr` of a value, as UTF-8.
inline std::string text_of(const anyffi::AnyView& value) {
  anyffi::AnyValue text, bytes;
  anyffi::detail::check(anyffi_value_repr(&value.raw(), text.out()));
  anyffi::detail::check(anyffi_str_to_utf8(&text.raw(), bytes.out()));
  AnyffiTextView utf8;
  anyffi_value_get_text_view(&bytes.raw(), &utf8);
  return std::string(static_cast<const char*>(utf8.data), static_cast<size_t>(utf8.length));
}

inline anyffi::AnyValue random_value(std::mt19937& random) {
  int64_t number = random() % 40;
  switch (random() % 6) {
    case 0:
      return number - 20;
    case 1:
      return static_cast<double>(number) + 0.5;
    case 2:
      return anyffi::String(("k" + std::to_string(number)).c_str());
    case 3:
      return anyffi::String(("a string that is on the heap " + std::to_string(number)).c_str());
    case 4:
      return anyffi::Array<>{anyffi::AnyValue(number % 5), anyffi::AnyValue("x")};
    default:
      return anyffi::String(("\u4e2d\u6587" + std::to_string(number)).c_str());
  }
}

// ---- a type whose comparison runs a function of the test ----

struct Opaque {
  AnyffiObject header;
  std::function<int32_t()> equal;
};

inline int hash_opaque(const AnyffiValue*, int64_t* out) { return *out = 7, 0; }

inline int equal_opaque(const AnyffiValue* self, const AnyffiValue*, int32_t* out) {
  *out = reinterpret_cast<Opaque*>(self->as_object)->equal();
  return *out < 0 ? anyffi_error_raise("ZeroDivisionError", "not comparable") : 0;
}

inline void delete_opaque(AnyffiObject* self, int32_t what) {
  if (what & ANYFFI_DELETE_MEMORY) delete reinterpret_cast<Opaque*>(self);
}

inline anyffi::AnyValue make_opaque(std::function<int32_t()> equal) {
  AnyffiTypeInfo info{};
  info.struct_size = sizeof(info);
  info.parent = ANYFFI_OBJECT;
  info.type_key = "test.Opaque";
  info.hash = &hash_opaque;
  info.equal = &equal_opaque;
  int32_t code;
  anyffi::detail::check(anyffi_type_register(&info, &code));
  auto* made = new Opaque{AnyffiObject{code, 1, 1, &delete_opaque, nullptr}, std::move(equal)};
  return anyffi::AnyValue(anyffi::detail::Adopt{}, anyffi_make_object(&made->header));
}

#endif  // ANYFFI_TESTS_CONTAINER_VALUES_H_
