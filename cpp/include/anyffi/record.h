/// \file
/// ANYFFI_RECORD: structs for dataclasses of Python (`anyffi.dataclass`), whose objects have the layout of the struct.
///
///     namespace my {
///     struct Point {
///       int64_t x;
///       double y;
///     };
///     }  // namespace my
///     ANYFFI_RECORD(my::Point, "my.Point").field("x", &my::Point::x).field("y", &my::Point::y);
///
/// The struct has the members of the class, in the order of its fields: `int64_t` for int, `double` for float, `bool`,
/// `anyffi::String`, `anyffi::Bytes`, `Array`, `List`, `Map`, `Dict`, `Set`, `FrozenSet`, `Function`, `Tensor` and
/// `Ref<T>` for the corresponding types, `Optional<T>` for T or None, `anyffi::AnyValue` for all others. `python -m
/// anyffi stubgen --cpp` writes it. A library whose struct differs from the class cannot be loaded; if it was loaded
/// first, the class cannot be created.
#ifndef ANYFFI_RECORD_H_
#define ANYFFI_RECORD_H_

#include <anyffi/class.h>
#include <anyffi/optional.h>
#include <anyffi/string.h>

namespace anyffi {
namespace detail {

/// A growing table of fields. Never freed: the runtime refers to it.
struct ExpectedFields {
  AnyffiFieldInfo* rows = nullptr;
  int32_t size = 0;

  void add(const AnyffiFieldInfo& row) {
    // Grows at each power of two.
    if ((size & (size - 1)) == 0) grow();
    rows[size++] = row;
  }

 private:
  void grow() {
    size_t capacity = size > 0 ? 2 * static_cast<size_t>(size) : 1;
    auto* grown = static_cast<AnyffiFieldInfo*>(anyffi_alloc(sizeof(AnyffiFieldInfo) * capacity));
    if (!grown) detail::throw_no_memory();
    if (size > 0) __builtin_memcpy(grown, rows, sizeof(AnyffiFieldInfo) * static_cast<size_t>(size));
    anyffi_free(rows);
    rows = grown;
  }
};

template <class M>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<Optional<T>> = true;

/// As `storage_of`, for the types of record members: some types are stored as values.
template <class M>
constexpr int32_t record_storage_of() {
  constexpr bool kIsValue = std::is_same_v<M, String> || std::is_same_v<M, Bytes> || kIsOptional<M>;
  return kIsValue ? ANYFFI_STORED_VALUE : storage_of<M>();
}

template <class M>
ANYFFI_HIDDEN_ inline constexpr auto kMemberName = FixedText(Traits<M>::name);

template <class T, class M>
AnyffiFieldInfo expect_member(const char* name, M T::* member) {
  static_assert(record_storage_of<M>() != ANYFFI_STORED_OTHERWISE,
                "anyffi: no field of a dataclass has the type of this member: see anyffi/record.h");
  AnyffiFieldInfo field{};
  field.name = name;
  field.type_name = kMemberName<M>;
  // Any address other than NULL will do.
  auto* object = reinterpret_cast<T*>(uintptr_t{1} << 12);
  field.offset =
      reinterpret_cast<const char*>(__builtin_addressof(object->*member)) - reinterpret_cast<const char*>(object);
  field.storage = record_storage_of<M>();
  return field;
}

}  // namespace detail

/// Collects the members of a struct for a dataclass. At the end, when the library is loaded, they are checked.
template <class T>
class __attribute__((visibility("hidden"))) Record {
 public:
  Record() noexcept = default;
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  ~Record() {
    int status = detail::catch_all([&] {
      detail::check(status_);
      return anyffi_type_check_fields(detail::kTypeKeyOf<T>, fields_.rows, fields_.size);
    });
    if (status == 0) status = detail::catch_all([] { return type_code_of<T>() == ANYFFI_NONE ? -1 : 0; });
    if (status != 0) anyffi_registry_defer_error();
  }

  /// Declares a field of the class and the struct's member for it, in the order of both.
  template <class M>
  Record& field(const char* name, M T::* member) noexcept {
    status_ = detail::catch_all([&] {
      fields_.add(detail::expect_member(name, member));
      return status_;
    });
    return *this;
  }

 private:
  detail::ExpectedFields fields_;
  int status_ = 0;
};

namespace detail {
/// The result of the complete declaration; it holds nothing.
struct CheckedRecord {
  template <class T>
  CheckedRecord(const Record<T>&) noexcept {}  // NOLINT: implicit on purpose
};
}  // namespace detail
}  // namespace anyffi

/// The fields of a struct that has its key from ANYFFI_TYPE_KEY.
#define ANYFFI_RECORD_FIELDS(...)                                                                           \
  [[maybe_unused]] static const ::anyffi::detail::CheckedRecord ANYFFI_JOIN_(anyffi_record_, __COUNTER__) = \
      ::anyffi::Record<__VA_ARGS__>()

/// Declares that a struct has the layout of a dataclass of Python: `ANYFFI_RECORD(my::Point, "my.Point").field("x",
/// &my::Point::x);`, at global scope, in a header if several files use it. A third argument is the struct from which
/// this one derives, which lists its own fields.
#define ANYFFI_RECORD(...)      \
  ANYFFI_TYPE_KEY(__VA_ARGS__); \
  ANYFFI_RECORD_FIELDS(ANYFFI_FIRST_OF_(__VA_ARGS__))

#endif  // ANYFFI_RECORD_H_
