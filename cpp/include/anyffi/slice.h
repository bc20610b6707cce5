/// \file
/// Slice, Ellipsis and Missing.
#ifndef ANYFFI_SLICE_H_
#define ANYFFI_SLICE_H_

#include <anyffi/object.h>

namespace anyffi {

/// Python's `slice(start, stop, step)`; each part may be any value.
class Slice : public ObjectRef {
 public:
  using ObjectRef::ObjectRef;
  Slice(const AnyView& start, const AnyView& stop, const AnyView& step) : Slice(detail::Adopt{}, nullptr) {
    AnyffiValue created;
    detail::check(anyffi_slice_create(&start.raw(), &stop.raw(), &step.raw(), &created));
    object_ = created.as_object;
  }
  AnyView start() const { return AnyView(parts().start); }
  AnyView stop() const { return AnyView(parts().stop); }
  AnyView step() const { return AnyView(parts().step); }

  /// The indices that the slice selects in a sequence: `start + i * step` for each i below `count`. All are valid.
  struct Indices {
    int64_t start, step, count;
  };
  /// ValueError if the step is 0, TypeError for parts that are neither int nor None.
  Indices indices(int64_t size) const { return indices(size, start(), stop(), step()); }
  static Indices indices(int64_t size, const AnyView& start, const AnyView& stop, const AnyView& step) {
    int64_t by = clamped(step, 1);
    if (by == 0) throw Error("ValueError", "slice step cannot be zero");
    if (by == INT64_MIN) by = -INT64_MAX;
    // The smallest and largest start and stop in this direction.
    int64_t least = by < 0 ? -1 : 0, most = by < 0 ? size - 1 : size;
    auto position = [&](const AnyView& given, int64_t otherwise) {
      if (given.is_none()) return otherwise;
      int64_t index = clamped(given, 0);
      if (index < 0) index += size;
      return index < least ? least : index > most ? most : index;
    };
    int64_t first = position(start, by < 0 ? most : least);
    int64_t last = position(stop, by < 0 ? least : most);
    int64_t distance = by < 0 ? first - last : last - first;
    int64_t stride = by < 0 ? -by : by;
    return {first, by, distance > 0 ? (distance - 1) / stride + 1 : 0};
  }

 private:
  /// A part as Python reads it: ints beyond int64 are clamped.
  static int64_t clamped(const AnyView& part, int64_t otherwise) {
    if (part.is_none()) return otherwise;
    if (part.type_code() != ANYFFI_BIG_INT) return part.cast<int64_t>();
    AnyffiValue value = part.raw();
    return reinterpret_cast<const AnyffiBigInt*>(value.as_object)->negative ? INT64_MIN : INT64_MAX;
  }
  const AnyffiSlice& parts() const { return *reinterpret_cast<const AnyffiSlice*>(object_); }
};

template <>
struct Traits<Slice> : detail::StaticRefTraits<Slice, ANYFFI_SLICE> {
  static constexpr FixedText name{"slice"};
};

/// Python's `...`.
struct Ellipsis {};

template <>
struct Traits<Ellipsis> {
  static constexpr FixedText name{"ellipsis"};
  static constexpr uint64_t type_mask = detail::type_bits(ANYFFI_ELLIPSIS);
  static constexpr bool kBorrows = false;
  using Holder = Ellipsis;
  static bool load(AnyffiValue& given, Holder&, AnyffiMismatch& why) {
    return detail::unboxed(given).type_code == ANYFFI_ELLIPSIS || detail::refuse(why, given, name);
  }
  static Ellipsis take(Holder& holder) { return holder; }
  static AnyffiValue store(Ellipsis) {
    AnyffiValue value{};
    value.type_code = ANYFFI_ELLIPSIS;
    return value;
  }
};

}  // namespace anyffi

#endif  // ANYFFI_SLICE_H_
