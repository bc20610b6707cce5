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

 private:
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
