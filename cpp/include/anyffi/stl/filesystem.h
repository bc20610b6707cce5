/// \file
/// Conversions of std::filesystem::path: from a str, bytes or os.PathLike, to a pathlib.Path.
#ifndef ANYFFI_STL_FILESYSTEM_H_
#define ANYFFI_STL_FILESYSTEM_H_

#include <anyffi/container/sequence.h>

#include <filesystem>

namespace anyffi {

/// Text is encoded as by `os.fsencode`. ValueError for a path with a NUL, at which the system would truncate it.
template <>
struct Traits<std::filesystem::path> {
  static constexpr FixedText name{"str | bytes | PathLike"};
  static constexpr FixedText result_name{"Path"};
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  static constexpr bool kOutlivesHolder = true;
  using Holder = std::filesystem::path;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    const AnyffiValue& value = detail::unboxed(given);
    AnyValue native;
    if (anyffi_value_convert(&value, ANYFFI_AS_PATH, native.out()) != 0) {
      return detail::refuse(why, value, name, ANYFFI_MISMATCH_RAISED);
    }
    if (!anyffi_is_bytes(native.type_code())) return detail::refuse(why, value, name);
    AnyffiTextView bytes;
    anyffi_view_text(&native.raw(), &bytes);
    std::string text(static_cast<const char*>(bytes.data), static_cast<size_t>(bytes.length));
    if (text.find('\0') != std::string::npos) {
      return detail::refuse(why, value, name, ANYFFI_MISMATCH_VALUE, "a path has no NUL");
    }
    holder = std::move(text);
    return true;
  }
  static Holder take(Holder& holder) { return std::move(holder); }
  static AnyffiValue store(const std::filesystem::path& path) {
    const std::string& text = path.native();
    AnyValue native;
    AnyffiValue created;
    detail::check(anyffi_bytes_create(text.data(), static_cast<int64_t>(text.size()), native.out()));
    detail::check(anyffi_value_create_host(ANYFFI_AS_PATH, &native.raw(), &created));
    return created;
  }
};

namespace detail {
template <>
inline constexpr uint64_t kExactTypes<std::filesystem::path> = type_bits(ANYFFI_PY_OBJECT);
template <class T>
inline constexpr bool kIncludes<Missing::kFilesystem, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_FILESYSTEM_H_
