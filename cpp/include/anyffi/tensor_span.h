/// \file
/// TensorSpan: typed access to the elements of a tensor, by index and in loops.
#ifndef ANYFFI_TENSOR_SPAN_H_
#define ANYFFI_TENSOR_SPAN_H_

#include <anyffi/detail/tensor_spec.h>

#include <string_view>

namespace anyffi {

template <class T, auto... options>
class TensorSpan;

namespace detail {

/// Steps through strided elements, the last axis first.
template <class T, int32_t kRank>
class StridedIterator {
 public:
  // For algorithms of the standard library.
  using iterator_category = std::forward_iterator_tag;
  using value_type = std::remove_cv_t<T>;
  using difference_type = int64_t;
  using pointer = T*;
  using reference = T&;
  StridedIterator() = default;
  StridedIterator(T* element, const int64_t* extents, const int64_t* strides, int64_t left)
      : element_(element), left_(left) {
    for (int32_t axis = 0; axis < kRank; ++axis) {
      extents_[axis] = extents[axis];
      strides_[axis] = strides[axis];
    }
  }
  T& operator*() const { return *element_; }
  T* operator->() const { return element_; }
  StridedIterator operator++(int) {
    StridedIterator former = *this;
    ++*this;
    return former;
  }
  StridedIterator& operator++() {
    if (--left_ == 0 && kRank > 1) return *this;
    if constexpr (kRank == 1) {
      element_ += strides_[0];
      return *this;
    }
    for (int32_t axis = kRank - 1; axis >= 0; --axis) {
      element_ += strides_[axis];
      if (++index_[axis] < extents_[axis]) break;
      element_ -= strides_[axis] * extents_[axis];
      index_[axis] = 0;
    }
    return *this;
  }
  friend bool operator==(const StridedIterator& a, const StridedIterator& b) { return a.left_ == b.left_; }
  friend bool operator!=(const StridedIterator& a, const StridedIterator& b) { return a.left_ != b.left_; }

 private:
  T* element_ = nullptr;
  int64_t left_ = 0;
  int64_t index_[kRank] = {};
  int64_t extents_[kRank] = {};
  int64_t strides_[kRank] = {};
};

/// The rows of a span: `for (auto row : x.rows())`.
template <class Span>
class Rows {
 public:
  explicit Rows(const Span& span) : span_(span) {}
  class Iterator {
   public:
    Iterator(const Span& span, int64_t index) : span_(span), index_(index) {}
    auto operator*() const { return span_.row(index_); }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    friend bool operator!=(const Iterator& a, const Iterator& b) { return a.index_ != b.index_; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }

   private:
    Span span_;
    int64_t index_;
  };
  Iterator begin() const { return Iterator(span_, 0); }
  Iterator end() const { return Iterator(span_, span_.extent(0)); }
  int64_t size() const { return span_.extent(0); }

 private:
  Span span_;
};

/// The span type for a row or column of a span with the options `kOptions`.
template <class T, auto kOptions, class Axes>
struct SubspanOf;

[[noreturn]] __attribute__((cold)) inline void throw_bad_index() {
  throw Error("IndexError", "an index is out of bounds for its axis");
}
[[noreturn]] __attribute__((cold)) inline void throw_many_elements() {
  throw Error("OverflowError", "the tensor has too many elements");
}

/// Access to elements; Derived has `data()`, `rank()`, `extent(axis)` and `stride(axis)`.
template <class Derived, class T, auto... options>
class ElementAccess {
  using Requirement = TensorRequirement<T, options...>;
  static constexpr TensorOptions kOptions = Requirement::kOptions;
  static constexpr int32_t kRank = kOptions.rank;
  static constexpr bool kIsOnCpu = kOptions.device == ANYFFI_kDLCPU;
  static constexpr bool kIsWalked = Requirement::kIsCompact || kRank >= 0;

 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  /// The number of elements. OverflowError if it does not fit into int64, as with strides of 0.
  int64_t size() const {
    int64_t product = 1;
    bool overflows = false, is_empty = false;
    for (int32_t axis = 0; axis < self().rank(); ++axis) {
      int64_t extent = self().extent(axis);
      overflows |= __builtin_mul_overflow(product, extent, &product);
      is_empty |= extent == 0;
    }
    if (__builtin_expect(overflows && !is_empty, 0)) throw_many_elements();
    return is_empty ? 0 : product;
  }

  /// The element at an index for each axis, from 0; not checked.
  template <class... Index>
  T& operator()(Index... index) const {
    return self().data()[offset(static_cast<int64_t>(index)...)];
  }
  /// The same, checked: IndexError.
  template <class... Index>
  T& at(Index... index) const {
    const int64_t indices[] = {static_cast<int64_t>(index)..., 0};
    bool is_inside = self().rank() == static_cast<int32_t>(sizeof...(Index));
    for (int32_t axis = 0; is_inside && axis < self().rank(); ++axis) {
      is_inside = indices[axis] >= 0 && indices[axis] < self().extent(axis);
    }
    if (__builtin_expect(!is_inside, 0)) throw_bad_index();
    return (*this)(index...);
  }
  /// The element at an index of a one-dimensional tensor, or of compact elements in memory order; not checked.
  T& operator[](int64_t index) const {
    static_assert(kRank == 1 || Requirement::kIsCompact,
                  "anyffi: x[i] is for one axis; with more use x(i, j) or row(i)");
    assert_on_cpu();
    return self().data()[Requirement::kIsCompact ? index : index * self().stride(0)];
  }

  /// Row `i`, which has one axis less; not checked.
  auto row(int64_t index) const {
    static_assert(kRank >= 2, "anyffi: only tensors of two or more axes have rows");
    constexpr TensorOrder kOrder = kOptions.order == row_major ? row_major : strided;
    return subspan<0, kOrder>(index, std::make_index_sequence < kRank<1 ? 0 : kRank - 1>());
  }
  /// Column `j` of a two-dimensional tensor; not checked.
  auto col(int64_t index) const {
    static_assert(kRank == 2, "anyffi: only tensors of two axes have columns");
    constexpr TensorOrder kOrder = kOptions.order == col_major ? row_major : strided;
    return subspan<1, kOrder>(index, std::index_sequence<0>());
  }
  auto rows() const {
    static_assert(kRank >= 2, "anyffi: only tensors of two or more axes have rows");
    if constexpr (kRank >= 2) {
      return Rows(self().span());
    } else {
      // Returns something that a loop accepts, so that the failed assertion is the only compile error.
      return Rows(TensorSpan<T, 2>(nullptr, nullptr, nullptr));
    }
  }

  /// All elements, the last axis fastest; compact ones in memory order, by pointers.
  auto begin() const {
    assert_on_cpu();
    static_assert(kIsWalked, "anyffi: a loop over all elements needs a rank, as in TypedView<T, 2>, or row_major");
    if constexpr (Requirement::kIsCompact || !kIsWalked) {
      return self().data();
    } else {
      return iterator(size());
    }
  }
  auto end() const {
    if constexpr (Requirement::kIsCompact || !kIsWalked) {
      return self().data() + size();
    } else {
      return iterator(0);
    }
  }

 private:
  const Derived& self() const { return *static_cast<const Derived*>(this); }
  static constexpr void assert_on_cpu() {
    static_assert(kIsOnCpu, "anyffi: the elements are on another device; pass data() to it");
  }

  template <class... Index>
  int64_t offset(Index... index) const {
    static_assert(kRank < 0 || kRank == static_cast<int32_t>(sizeof...(Index)),
                  "anyffi: expected an index for each axis");
    assert_on_cpu();
    const int64_t indices[] = {index..., 0};
    return offset_of(indices, std::index_sequence_for<Index...>());
  }
  /// For compact elements, computes with the extents, which may be compile-time constants.
  template <size_t... I>
  int64_t offset_of([[maybe_unused]] const int64_t* indices, std::index_sequence<I...>) const {
    constexpr int32_t kLast = static_cast<int32_t>(sizeof...(I)) - 1;
    int64_t sum = 0;
    if constexpr (kOptions.order == row_major) {
      ((sum = sum * self().extent(I) + indices[I]), ...);
    } else if constexpr (kOptions.order == col_major) {
      ((sum = sum * self().extent(kLast - static_cast<int32_t>(I)) + indices[kLast - static_cast<int32_t>(I)]), ...);
    } else {
      ((sum += indices[I] * self().stride(I)), ...);
    }
    return sum;
  }

  auto iterator(int64_t left) const {
    auto span = self().span();
    int64_t extents[kRank < 1 ? 1 : kRank], strides[kRank < 1 ? 1 : kRank];
    for (int32_t axis = 0; axis < kRank; ++axis) {
      extents[axis] = span.extent(axis);
      strides[axis] = span.stride(axis);
    }
    return StridedIterator<T, kRank>(span.data(), extents, strides, left);
  }

  /// The span without axis kAxis, at an index on it; `I` counts the remaining axes.
  template <int32_t kAxis, TensorOrder kOrder, size_t... I>
  auto subspan(int64_t index, std::index_sequence<I...>) const {
    assert_on_cpu();
    constexpr auto kFrom = [](size_t i) {
      return static_cast<int32_t>(i) + (static_cast<int32_t>(i) >= kAxis ? 1 : 0);
    };
    using Sub = TensorSpan<T, shape<kOptions.extents[kFrom(I)]...>, kOrder>;
    const int64_t extents[] = {self().extent(kFrom(I))...}, strides[] = {self().stride(kFrom(I))...};
    return Sub(self().data() + index * self().stride(kAxis), extents, strides);
  }
};

}  // namespace detail

/// Elements in memory that someone else keeps alive: an address, extents and strides, counted in elements. The options
/// are those of TypedView; the rank must be known, and the CPU must be able to access the memory.
template <class T, auto... options>
class TensorSpan : public detail::ElementAccess<TensorSpan<T, options...>, T, options...> {
 public:
  using Requirement = detail::TensorRequirement<T, options...>;
  static constexpr detail::TensorOptions kOptions = Requirement::kOptions;
  static_assert(kOptions.rank >= 0, "anyffi: a TensorSpan needs a rank or a shape<...>");

  /// `strides` are not read if the order is row_major or col_major.
  TensorSpan(T* data, const int64_t* extents, const int64_t* strides) : data_(data) {
    for (int32_t axis = 0; axis < kOptions.rank; ++axis) {
      extents_[axis] = extents[axis];
      if (kOptions.order == strided) strides_[axis] = strides[axis];
    }
  }
  /// From a span whose type requires at least as much.
  template <class U, auto... others,
            std::enable_if_t<detail::implies<detail::TensorRequirement<U, others...>, Requirement>(), int> = 0>
  TensorSpan(const TensorSpan<U, others...>& other) : data_(other.data()) {  // NOLINT: implicit on purpose
    for (int32_t axis = 0; axis < kOptions.rank; ++axis) {
      extents_[axis] = other.extent(axis);
      if (kOptions.order == strided) strides_[axis] = other.stride(axis);
    }
  }

  T* data() const { return data_; }
  static constexpr int32_t rank() { return kOptions.rank; }
  int64_t extent(int32_t axis) const { return kOptions.extents[axis] >= 0 ? kOptions.extents[axis] : extents_[axis]; }
  /// The distance between neighbours on an axis, in elements.
  int64_t stride(int32_t axis) const {
    if (kOptions.order == strided) return strides_[axis];
    int64_t step = 1;
    int32_t first = kOptions.order == row_major ? axis + 1 : 0;
    int32_t last = kOptions.order == row_major ? kOptions.rank : axis;
    for (int32_t i = first; i < last; ++i) step *= extent(i);
    return step;
  }
  const TensorSpan& span() const { return *this; }

 private:
  static constexpr int32_t kExtents = kOptions.rank > 0 ? kOptions.rank : 1;
  static constexpr int32_t kStrides = kOptions.order == strided ? kExtents : 1;
  T* data_;
  int64_t extents_[kExtents];
  int64_t strides_[kStrides];
};

}  // namespace anyffi

#endif  // ANYFFI_TENSOR_SPAN_H_
