/// \file
/// Checks typed containers once: the runtime remembers that all elements convert, until the container changes.
#ifndef ANYFFI_DETAIL_CHECKED_H_
#define ANYFFI_DETAIL_CHECKED_H_

#include <anyffi/object.h>

namespace anyffi {
namespace detail {

/// Whether the type mask alone proves that all elements have these types. It never proves the opposite: bits of removed
/// elements may remain. Reads it atomically, because another thread that checks the container may set the mark.
inline bool has_only(const uint64_t& type_mask, uint64_t types) {
  return (__atomic_load_n(&type_mask, __ATOMIC_RELAXED) & ~(types | ANYFFI_CHECKED)) == 0;
}

/// Below this size, checking costs no more than remembering.
constexpr int64_t kMinRemembered = 64;

/// Its address identifies a list of types. Hidden: another library may have a different type with the same name.
template <class... T>
struct __attribute__((visibility("hidden"))) CheckedType {
  static constexpr char kId = 0;
};

/// What a check proved about each element: that it converts, or that it is already what it converts to.
struct Convertible {};
struct Unchanged {};

/// A check of all elements of a container against T..., which is remembered if it succeeds.
template <class Result, class... T>
class RememberedCheck {
 public:
  /// `given`: the container. One that was created for this call is not remembered, since nobody sees it again.
  RememberedCheck(const AnyffiValue& given, const uint64_t& type_mask, int64_t size) : container_(given.as_object) {
    constexpr bool is_steady = (kIsSteady<T> && ...);
    bool is_marked = is_steady && (__atomic_load_n(&type_mask, __ATOMIC_RELAXED) & ANYFFI_CHECKED) != 0;
    remembers_ = is_steady && size >= kMinRemembered && !(given.aux & ANYFFI_MOVABLE);
    is_done_ = remembers_ && is_marked && anyffi_container_is_checked(container_, &CheckedType<Result, T...>::kId);
    // The mark may come from the check of an enclosing container.
    marks_elements_ = remembers_ || is_marked;
    if (remembers_ && !is_done_) check_ = anyffi_container_begin_check(container_);
  }
  bool is_done() const { return is_done_; }
  /// Called before an element is checked: marks an element that is a container, since its changes matter too.
  void visit(const AnyffiValue& element) {
    if (!marks_elements_ || element.type_code < ANYFFI_ARRAY || element.type_code > ANYFFI_SET) return;
    is_deep_ = true;
    anyffi_container_begin_check(element.as_object);
  }
  void succeed() {
    if (remembers_ && !is_done_)
      anyffi_container_end_check(container_, &CheckedType<Result, T...>::kId, check_, is_deep_);
  }

 private:
  AnyffiObject* container_;
  bool remembers_;
  bool marks_elements_;
  bool is_done_;
  bool is_deep_ = false;
  int64_t check_ = 0;
};

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_CHECKED_H_
