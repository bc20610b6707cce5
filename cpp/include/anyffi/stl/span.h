/// \file
/// Conversions of std::span (C++20): the memory of a Tensor, without a copy.
#ifndef ANYFFI_STL_SPAN_H_
#define ANYFFI_STL_SPAN_H_

#if __cplusplus >= 202002L

#include <anyffi/stl/vector.h>
#include <anyffi/tensor.h>

#include <span>

namespace anyffi {

/// Valid during the call. Borrows the memory of a contiguous 1-d Tensor of T on the CPU, also for writing unless T is
/// const. A span of const also accepts an Array or a List, by copy. A result is copied to a List.
template <class T>
struct Traits<std::span<T>, std::enable_if_t<detail::HasTraits<std::remove_const_t<T>>::value>> {
  using Item = std::remove_const_t<T>;
  // Also where a std::vector<Item> is an object class.
  using Copy = detail::StdSequenceTraits<std::vector<Item>, Item>;
  // Not for bool, because a std::vector<bool> contains no array of bool.
  static constexpr bool kCopies = std::is_const_v<T> && !std::is_same_v<Item, bool>;
  ANYFFI_HIDDEN_ static constexpr auto name = [] {
    if constexpr (kCopies) {
      return "Tensor | " + Copy::name;
    } else {
      return FixedText("Tensor");
    }
  }();
  ANYFFI_HIDDEN_ static constexpr auto result_name = Copy::result_name;
  static constexpr uint64_t type_mask = 0;
  static constexpr uint32_t result_flags = ANYFFI_NATIVE;
  static constexpr bool kBorrows = false;
  static constexpr bool kIsWritten = true;
  static constexpr bool kWritesItems = detail::kWritesItems<Item>;
  struct Holder {
    std::vector<Item> copy;
    std::span<T> items;
  };
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    Traits<TensorView>::Holder borrowed;
    if (Traits<TensorView>::load(value, borrowed, why)) {
      return borrow_from(value, Traits<TensorView>::take(borrowed), holder, why);
    }
    if constexpr (kCopies) {
      if (Copy::load(value, holder.copy, why)) {
        holder.items = holder.copy;
        return true;
      }
      if (why.reason != ANYFFI_MISMATCH_TYPE || why.path_size > 0) return false;
    }
    return detail::refuse(why, value, name);
  }
  static std::span<T> take(Holder& holder) { return holder.items; }
  static AnyffiValue store(std::span<T> items) { return detail::store_items<Item>(items); }
  static void write(detail::ItemsWriter& writer, std::span<T> items) {
    detail::write_items<Item>(writer, ANYFFI_LIST, items);
  }

 private:
  static bool borrow_from(const AnyffiValue& value, const TensorView& tensor, Holder& holder, AnyffiMismatch& why) {
    if (tensor.ndim() != 1 || !tensor.is_contiguous() || tensor.device().type != ANYFFI_kDLCPU) {
      return detail::refuse(why, value, name, ANYFFI_MISMATCH_VALUE, "a span needs a contiguous 1-d tensor on the CPU");
    }
    constexpr AnyffiDataType kType = DataTypeOf<Item>::value;
    if (anyffi_tensor_check_access(&tensor.raw(), tensor.flags(), &kType, alignof(T), !std::is_const_v<T>) != 0) {
      return detail::refuse(why, value, name, ANYFFI_MISMATCH_RAISED);
    }
    holder.items = std::span<T>(tensor.template data<T>(), static_cast<size_t>(tensor.shape()[0]));
    return true;
  }
};

namespace detail {
template <class T>
inline constexpr bool kIsView<std::span<T>> = true;
template <class T>
inline constexpr bool kIncludes<Missing::kSpan, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // C++20

#endif  // ANYFFI_STL_SPAN_H_
