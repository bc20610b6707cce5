/// \file
/// Box, Int, Float, Bool: inline values as objects, for code that handles ObjectRef only.
#ifndef ANYFFI_BOX_H_
#define ANYFFI_BOX_H_

#include <anyffi/object.h>

namespace anyffi {

/// An inline value as an object. Unboxed wherever it is stored in a value.
template <class T>
class Box : public ObjectRef {
 public:
  using ObjectRef::ObjectRef;
  Box(T value) : ObjectRef(detail::Adopt{}, nullptr) {  // NOLINT: implicit, as the value itself would be
    AnyffiValue plain = Traits<T>::store(value), created;
    detail::check(anyffi_box_create(&plain, &created));
    object_ = created.as_object;
  }
  T value() const { return detail::convert<T>(reinterpret_cast<const AnyffiBox*>(object_)->value); }
  operator T() const { return value(); }
};

using Int = Box<int64_t>;
using Float = Box<double>;
using Bool = Box<bool>;

template <class T>
struct Traits<Box<T>> {
  ANYFFI_HIDDEN_ static constexpr auto name = Traits<T>::name;
  static constexpr uint64_t type_mask = Traits<T>::type_mask;
  static constexpr bool kBorrows = true;
  using Holder = AnyValue;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    typename Traits<T>::Holder plain{};
    if (!Traits<T>::load(value, plain, why)) return false;
    *holder.out() = detail::object_value(Box<T>(Traits<T>::take(plain)).release());
    return true;
  }
  static Box<T> take(Holder& holder) { return Box<T>(detail::Adopt{}, holder.release().as_object); }
  static AnyffiValue borrow(const Box<T>& box) { return Traits<ObjectRef>::borrow(box); }
  static AnyffiValue store(const Box<T>& box) { return Traits<ObjectRef>::store(box); }
};

}  // namespace anyffi

#endif  // ANYFFI_BOX_H_
