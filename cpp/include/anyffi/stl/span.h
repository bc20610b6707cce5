/// \file
/// Conversions of std::span (C++20): the memory of a Tensor, without a copy.
#ifndef ANYFFI_STL_SPAN_H_
#define ANYFFI_STL_SPAN_H_

#if __cplusplus >= 202002L

#include <anyffi/container/tuple.h>
#include <anyffi/stl/vector.h>
#include <anyffi/tensor.h>

#include <span>

namespace anyffi {

/// Valid during the call. Borrows the memory of a contiguous 1-d Tensor of T on the CPU, also for writing unless T is
/// const. A span of const also accepts an Array or a List, by copy: only them, if no tensor has elements of type T.
/// ValueError for another number of elements than N. A result is copied to a List.
template <class T, size_t N>
struct Traits<std::span<T, N>, std::enable_if_t<detail::HasTraits<std::remove_const_t<T>>::value>> {
  using Item = std::remove_const_t<T>;
  // Also where a std::vector<Item> is an object class.
  using Copy = detail::StdSequenceTraits<std::vector<Item>, Item>;
  static constexpr bool kBorrowsTensors = detail::kHasDataType<Item>;
  // Not for bool, because a std::vector<bool> contains no array of bool.
  static constexpr bool kCopies = std::is_const_v<T> && !std::is_same_v<Item, bool>;
  ANYFFI_HIDDEN_ static constexpr auto name = [] {
    if constexpr (kCopies && kBorrowsTensors) {
      return "Tensor | " + Copy::name;
    } else if constexpr (kCopies) {
      return FixedText(Copy::name);
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
    static_assert(kBorrowsTensors || std::is_const_v<T>,
                  "anyffi: a parameter is a std::span of elements that no tensor has: their type must be const");
    if constexpr (kBorrowsTensors) {
      Traits<TensorView>::Holder borrowed;
      if (Traits<TensorView>::load(value, borrowed, why)) {
        return borrow_from(value, Traits<TensorView>::take(borrowed), holder, why);
      }
    }
    if constexpr (kCopies) {
      if (Copy::load(value, holder.copy, why)) {
        holder.items = holder.copy;
        return check_size(value, holder.items.size(), why);
      }
      if (why.reason != ANYFFI_MISMATCH_TYPE || why.path_size > 0) return false;
    }
    return detail::refuse(why, value, name);
  }
  static std::span<T, N> take(Holder& holder) { return std::span<T, N>(holder.items.data(), holder.items.size()); }
  static AnyffiValue store(std::span<T, N> items) { return detail::store_items<Item>(items); }
  static void write(detail::ItemsWriter& writer, std::span<T, N> items) {
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
    return check_size(value, holder.items.size(), why);
  }
  static bool check_size(const AnyffiValue& value, size_t size, AnyffiMismatch& why) {
    if constexpr (N != std::dynamic_extent) {
      static constexpr auto kText = "expected " + detail::number_text<N>() + " elements";
      if (size != N) return detail::refuse(why, value, name, ANYFFI_MISMATCH_VALUE, kText);
    }
    return true;
  }
};

namespace detail {
template <class T, size_t N>
inline constexpr bool kIsView<std::span<T, N>> = true;
// The span refers to a copy that ends with the call, and so would the objects that it has taken.
template <class T, size_t N>
inline constexpr bool kHoldsTaken<std::span<T, N>> =
    kTakesObject<std::remove_const_t<T>> || kHoldsTaken<std::remove_const_t<T>>;
template <class T, size_t N>
inline constexpr bool kCannotTake<std::span<T, N>> = kHoldsTaken<std::span<T, N>>;
template <class T>
inline constexpr bool kIncludes<Missing::kSpan, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // C++20

#endif  // ANYFFI_STL_SPAN_H_
