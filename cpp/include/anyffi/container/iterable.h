/// \file
/// Iterable<T>: a parameter that accepts anything that can be iterated over.
#ifndef ANYFFI_CONTAINER_ITERABLE_H_
#define ANYFFI_CONTAINER_ITERABLE_H_

#include <anyffi/container/sequence.h>

namespace anyffi {

/// An Array of the elements that iteration over an argument yields, such as a generator, a set, or the keys of a
/// mapping; but not text. The iteration is completed before the function is called.
template <class T = AnyValue>
class Iterable : public Array<T> {
 public:
  using Array<T>::Array;
};

template <class T>
struct Traits<Iterable<T>> : detail::RefTraits<Iterable<T>> {
  ANYFFI_HIDDEN_ static constexpr auto name = "Iterable[" + FixedText(Traits<T>::name) + "]";
  ANYFFI_HIDDEN_ static constexpr auto result_name = detail::kResultName<Array<T>>;
  static constexpr uint64_t type_mask = Traits<Array<T>>::type_mask;
  static constexpr bool kIsSteady = false;
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    if (detail::is_array(value.type_code) || value.type_code == ANYFFI_LIST) {
      return Traits<Array<T>>::load(value, holder, why);
    }
    return detail::load_converted(value, ANYFFI_AS_ITERABLE, ANYFFI_LIST, name, why,
                                  [&](AnyffiValue& list) { return Traits<Array<T>>::load(list, holder, why); });
  }
};

namespace detail {
template <class T>
inline constexpr uint64_t kExactTypes<Iterable<T>> = kSequenceTypes;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_CONTAINER_ITERABLE_H_
