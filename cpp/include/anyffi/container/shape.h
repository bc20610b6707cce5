/// \file
/// Shape: an Array of ints.
#ifndef ANYFFI_CONTAINER_SHAPE_H_
#define ANYFFI_CONTAINER_SHAPE_H_

#include <anyffi/container/sequence.h>

namespace anyffi {

/// Extents: an Array whose elements are all ints. As a parameter it also accepts an Array or a List of ints, by copy.
class Shape : public detail::SequenceView<detail::CellIterator<int64_t>, int64_t> {
 public:
  using SequenceView::SequenceView;
  Shape() : Shape(nullptr, 0) {}
  Shape(std::initializer_list<int64_t> extents) : Shape(extents.begin(), static_cast<int64_t>(extents.size())) {}
  /// From `size` extents, such as a tensor's `shape()` and `ndim()`.
  Shape(const int64_t* extents, int64_t size) : Shape(detail::Adopt{}, detail::new_sequence(ANYFFI_SHAPE, size)) {
    for (int64_t i = 0; i < size; ++i) append(AnyView(extents[i]));
  }
  /// The product of all extents; 1 if there are none. OverflowError if it does not fit into int64.
  int64_t numel() const {
    int64_t product = 1;
    bool too_large = false, zero = false;
    for (int64_t extent : *this) {
      zero |= extent == 0;
      too_large |= __builtin_mul_overflow(product, extent, &product);
    }
    if (too_large && !zero) throw Error("OverflowError", "the product of the extents does not fit int64");
    return zero ? 0 : product;
  }
};

template <>
struct Traits<Shape> : detail::RefTraits<Shape> {
  static constexpr FixedText name{"Shape"};
  static constexpr uint64_t type_mask = detail::type_bits(ANYFFI_SHAPE);
  static bool fits(const AnyffiValue& value) { return value.type_code == ANYFFI_SHAPE; }
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    if (fits(value)) return detail::hold_object(value, holder);
    if (value.type_code != ANYFFI_ARRAY && value.type_code != ANYFFI_LIST) return detail::refuse(why, value, name);
    const auto* from = reinterpret_cast<const AnyffiSequence*>(value.as_object);
    if (!detail::check_elements<int64_t>(value, why)) return false;
    if (anyffi_sequence_create(ANYFFI_SHAPE, from->size, holder.out()) != 0) {
      return detail::refuse(why, value, name, ANYFFI_MISMATCH_RAISED);
    }
    auto* shape = reinterpret_cast<AnyffiSequence*>(holder.raw().as_object);
    for (int64_t i = 0; i < from->size; ++i) {
      shape->data[i] = Traits<int64_t>::store(detail::unboxed(from->data[i]).as_int);
    }
    shape->size = from->size;
    shape->type_mask = detail::type_bits(ANYFFI_INT);
    return true;
  }
};

}  // namespace anyffi

#endif  // ANYFFI_CONTAINER_SHAPE_H_
