/// \file
/// Which load of which library registers, so that a new version of a library replaces what an earlier one registered.
#ifndef ANYFFI_SRC_CORE_LOADING_H_
#define ANYFFI_SRC_CORE_LOADING_H_

#include <cstdint>
#include <string_view>

namespace anyffi::runtime {

/// Who registered a function or a type.
struct Registrant {
  int64_t library = 0; /* 0: not a library that a module is loaded from */
  int64_t load = 0;    /* numbered in the order of loads */

  /// Whether `other` is a later version of the same library.
  bool is_followed_by(const Registrant& other) const noexcept {
    return library != 0 && library == other.library && load < other.load;
  }
};

/// The load of a library on this thread, during its lifetime.
class Loading {
 public:
  /// `file` is the name given to the system's loader, `path` the one given to this runtime. `library` identifies all
  /// versions of the library. If the system's loader has loaded `file` before, this is the same load. May throw
  /// bad_alloc.
  Loading(const char* file, std::string_view path, std::string_view library, bool overrides, bool is_loaded);
  ~Loading();
  Loading(const Loading&) = delete;
  Loading& operator=(const Loading&) = delete;

  /// The registrant whose code contains this address; empty if that library is not being loaded on this thread.
  static Registrant find_registrant(const void* code) noexcept;
  /// The last load of the library that contains this address, also after it ended; empty if there was none.
  static Registrant find_owner(const void* code) noexcept;
  /// The path of the library that made a registration; empty if no library did.
  static std::string_view find_path(const Registrant& registrant);
  /// Whether the innermost load on this thread replaces functions of other registrants.
  static bool is_overriding() noexcept;

 private:
  const char* file_;
  Registrant registrant_;
  bool overrides_;
  Loading* outer_;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_LOADING_H_
