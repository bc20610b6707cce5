/// \file
/// TypedView and TypedTensor: tensors whose C++ type states the element type and the memory layout.
#ifndef ANYFFI_TYPED_TENSOR_H_
#define ANYFFI_TYPED_TENSOR_H_

#include <anyffi/detail/tensor_conversion.h>
#include <anyffi/tensor.h>
#include <anyffi/tensor_span.h>

namespace anyffi {

template <class T, auto... options>
class TypedTensor;

namespace detail {

/// Access to a tensor's elements, for Derived with `raw()`.
template <class Derived, class T, auto... options>
class RawAccess : public ElementAccess<Derived, T, options...> {
  static constexpr TensorOptions kOptions = TensorRequirement<T, options...>::kOptions;

 public:
  /// The address of the first element; for a tensor on another device, an address on that device.
  T* data() const { return reinterpret_cast<T*>(static_cast<char*>(self().raw().data) + self().raw().byte_offset); }
  int32_t rank() const { return kOptions.rank < 0 ? self().raw().ndim : kOptions.rank; }
  /// The number of elements along an axis.
  int64_t extent(int32_t axis) const {
    bool is_constant = kOptions.rank > 0 && kOptions.extents[axis] >= 0;
    return is_constant ? kOptions.extents[axis] : self().raw().shape[axis];
  }
  /// The distance between neighbours along an axis, in elements.
  int64_t stride(int32_t axis) const { return self().raw().strides[axis]; }
  auto span() const { return TensorSpan<T, options...>(data(), self().raw().shape, self().raw().strides); }

 private:
  const Derived& self() const { return *static_cast<const Derived*>(this); }
};

class ViewedTensor {
 public:
  explicit ViewedTensor(const TensorView& tensor) : tensor_(tensor) {}
  /// The tensor from which a view was made.
  const TensorView& tensor() const { return tensor_; }
  const AnyffiTensorData& raw() const { return tensor_.raw(); }

 private:
  TensorView tensor_;
};

/// A view of unknown rank reads the tensor's description; others copy extents and strides, which loops can keep in
/// registers.
template <class T, auto... options>
struct UnrankedView : ViewedTensor, RawAccess<UnrankedView<T, options...>, T, options...> {
  explicit UnrankedView(const TensorView& from) : ViewedTensor(from) {}
};
template <class T, auto... options>
struct RankedView : ViewedTensor, TensorSpan<T, options...> {
  explicit RankedView(const TensorView& from)
      : ViewedTensor(from),
        TensorSpan<T, options...>(reinterpret_cast<T*>(static_cast<char*>(from.raw().data) + from.raw().byte_offset),
                                  from.raw().shape, from.raw().strides) {}
};
template <class T, auto... options>
using ViewOf = std::conditional_t<(TensorRequirement<T, options...>::kRank < 0), UnrankedView<T, options...>,
                                  RankedView<T, options...>>;

/// Throws TypeError unless a tensor meets the requirements.
template <class Requirement>
const TensorView& require(const TensorView& tensor) {
  AnyffiMismatch why;
  if (!Requirement::fits(tensor.raw(), tensor.flags())) {
    AnyffiValue value = Traits<TensorView>::borrow(tensor);
    if (!anyffi_tensor_match(&value, &Requirement::kSpec, &why)) throw_mismatch(why);
  }
  return tensor;
}

}  // namespace detail

/// A borrowed tensor of T. As a parameter it is checked at the call: type, rank, extents, order, device, that the
/// memory is writable unless T is const, and that it is aligned for a T.
///
/// Options, in any order: a rank, `2`, or `shape<any, 3>`; `row_major` or `col_major`; a device, `ANYFFI_kDLCUDA`.
/// Without them: any rank, any strides, memory that the CPU can access.
template <class T, auto... options>
class TypedView : public detail::ViewOf<T, options...> {
  using Base = detail::ViewOf<T, options...>;

 public:
  using Requirement = detail::TensorRequirement<T, options...>;

  /// From any tensor. TypeError if it does not meet the requirements.
  explicit TypedView(const TensorView& tensor) : Base(detail::require<Requirement>(tensor)) {}
  explicit TypedView(const Tensor& tensor) : TypedView(TensorView(tensor)) {}
  TypedView(Tensor&&) = delete;
  /// From one whose type requires at least as much.
  template <class U, auto... others,
            std::enable_if_t<detail::implies<detail::TensorRequirement<U, others...>, Requirement>(), int> = 0>
  TypedView(const TypedView<U, others...>& other) : Base(other.tensor()) {}  // NOLINT: implicit on purpose
  template <class U, auto... others,
            std::enable_if_t<detail::implies<detail::TensorRequirement<U, others...>, Requirement>(), int> = 0>
  TypedView(const TypedTensor<U, others...>& other) : Base(TensorView(other)) {}  // NOLINT: implicit on purpose
  operator TensorView() const { return this->tensor(); }                          // NOLINT: implicit on purpose

 private:
  friend struct Traits<TypedView>;
  struct IsChecked {};
  TypedView(IsChecked, const TensorView& tensor) : Base(tensor) {}
};

/// A reference to a tensor of T, which can be stored and returned. The options are those of TypedView.
template <class T, auto... options>
class TypedTensor : public Tensor, public detail::RawAccess<TypedTensor<T, options...>, T, options...> {
  using Access = detail::RawAccess<TypedTensor, T, options...>;

 public:
  using Requirement = detail::TensorRequirement<T, options...>;
  using Access::data, detail::ElementAccess<TypedTensor, T, options...>::at;

  /// TypeError if the tensor does not meet the requirements.
  explicit TypedTensor(Tensor tensor) : Tensor(std::move(tensor)) { detail::require<Requirement>(TensorView(*this)); }
  /// From one whose type requires at least as much.
  template <class U, auto... others,
            std::enable_if_t<detail::implies<detail::TensorRequirement<U, others...>, Requirement>(), int> = 0>
  TypedTensor(TypedTensor<U, others...> other) : Tensor(std::move(other)) {}  // NOLINT: implicit on purpose
  /// Steals a reference to a tensor that meets the requirements.
  TypedTensor(detail::Adopt, AnyffiObject* object) noexcept : Tensor(detail::Adopt{}, object) {}

  /// A new, uninitialized tensor, given the number of elements on each axis: `empty(rows, columns)`. ValueError for a
  /// number that the type excludes.
  template <class... Extent>
  static TypedTensor empty(Extent... extent) {
    const int64_t extents[] = {static_cast<int64_t>(extent)..., 0};
    return empty_of(extents, sizeof...(Extent));
  }
  static TypedTensor empty(std::initializer_list<int64_t> extents) { return empty_of(extents.begin(), extents.size()); }
  /// A tensor on the memory of a container with `data()` and `size()`, such as a moved std::vector, which the tensor
  /// keeps alive. ValueError if the extents do not match the number of elements.
  template <class C>
  static TypedTensor from(C container, std::initializer_list<int64_t> extents) {
    return from_container(std::move(container), extents.begin(), extents.size());
  }
  template <class C>
  static TypedTensor from(C container) {
    static_assert(Requirement::kRank <= 1, "anyffi: give the extents: from(std::move(numbers), {rows, columns})");
    auto size = static_cast<int64_t>(container.size());
    return from_container(std::move(container), &size, 1);
  }

  /// A tensor on contiguous elements that the owner keeps alive; read-only for a const T. Without an owner the memory
  /// must never be freed.
  static TypedTensor view(T* memory, std::initializer_list<int64_t> extents, ObjectRef owner) {
    return view_of(memory, extents, owner.release());
  }
  static TypedTensor view(T* memory, std::initializer_list<int64_t> extents) {
    return view_of(memory, extents, nullptr);
  }

 private:
  static TypedTensor view_of(T* memory, std::initializer_list<int64_t> extents, AnyffiObject* owner) {
    ObjectRef kept(detail::Adopt{}, owner);
    check_extents(extents.begin(), extents.size());
    constexpr uint64_t kFlags = std::is_const_v<T> ? ANYFFI_TENSOR_READ_ONLY : 0;
    AnyffiTensorData data = describe(memory, extents.begin(), extents.size());
    return in_order(owner != nullptr ? Tensor(data, kFlags, std::move(kept)) : Tensor(data, kFlags, nullptr, nullptr));
  }
  static AnyffiTensorData describe(const void* memory, const int64_t* extents, size_t rank) {
    static_assert(Requirement::kOptions.device == ANYFFI_kDLCPU,
                  "anyffi: the memory of a container or pointer is the CPU's");
    AnyffiTensorData data{};
    data.data = const_cast<void*>(memory);
    data.device = Device();
    data.ndim = static_cast<int32_t>(rank);
    data.dtype = Requirement::kType;
    data.shape = const_cast<int64_t*>(extents);
    return data;
  }
  static void check_extents(const int64_t* extents, size_t rank) {
    constexpr detail::TensorOptions kOptions = Requirement::kOptions;
    bool good = kOptions.rank < 0 || rank == static_cast<size_t>(kOptions.rank);
    for (size_t axis = 0; good && kOptions.rank >= 0 && axis < rank; ++axis) {
      good = kOptions.extents[axis] < 0 || kOptions.extents[axis] == extents[axis];
    }
    if (!good) throw Error("ValueError", "these extents are not those of the tensor's type");
  }
  /// Sets the strides that the type's order requires, for contiguous elements.
  static TypedTensor in_order(Tensor&& tensor) {
    const AnyffiTensorData& data = tensor.raw();
    if constexpr (Requirement::kOrder == col_major) {
      int64_t step = 1;
      for (int32_t axis = 0; axis < data.ndim; ++axis) {
        data.strides[axis] = step;
        step *= data.shape[axis] > 1 ? data.shape[axis] : 1;
      }
    }
    return TypedTensor(detail::Adopt{}, tensor.release());
  }
  static TypedTensor empty_of(const int64_t* extents, size_t rank) {
    static_assert(!std::is_const_v<T>, "anyffi: make a tensor of T, which converts to one of const T");
    static_assert(Requirement::kOptions.device == ANYFFI_kDLCPU,
                  "anyffi: memory of devices is made by Tensor::allocate");
    check_extents(extents, rank);
    return in_order(Tensor::empty(extents, static_cast<int32_t>(rank), Requirement::kType));
  }
  template <class C>
  static TypedTensor from_container(C&& container, const int64_t* extents, size_t rank) {
    static_assert(std::is_same_v<typename C::value_type, std::remove_cv_t<T>>,
                  "anyffi: the container has elements of another type");
    check_extents(extents, rank);
    auto* kept = new C(std::move(container));
    Tensor made(describe(kept->data(), extents, rank), 0, kept, [](void* owner) { delete static_cast<C*>(owner); });
    if (made.numel() != static_cast<int64_t>(kept->size())) {
      throw Error("ValueError", "the extents are of another number of elements than the container has");
    }
    return in_order(std::move(made));
  }
};

template <class T, auto... options>
struct Traits<TypedView<T, options...>> {
  using Requirement = detail::TensorRequirement<T, options...>;
  ANYFFI_HIDDEN_ static constexpr auto name =
      detail::fixed_text<typename Requirement::template Name<Requirement::kIsWritable>>();
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = true;
  using Holder = Traits<TensorView>::Holder;
  static bool load(const AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    holder.data = Requirement::find(value, holder.flags, why);
    holder.tensor = value.type_code == ANYFFI_TENSOR ? value.as_object : nullptr;
    return holder.data != nullptr;
  }
  static TypedView<T, options...> take(Holder& holder) {
    return TypedView<T, options...>(typename TypedView<T, options...>::IsChecked(), Traits<TensorView>::take(holder));
  }
  static AnyffiValue borrow(const TypedView<T, options...>& view) { return Traits<TensorView>::borrow(view.tensor()); }
  template <class U>
  static AnyffiValue store(const U&) {
    static_assert(!sizeof(U), "anyffi: a TypedView borrows its memory; store or return a TypedTensor");
    return {};
  }
};

template <class T, auto... options>
struct Traits<TypedTensor<T, options...>> : detail::RefTraits<TypedTensor<T, options...>> {
  using Requirement = detail::TensorRequirement<T, options...>;
  ANYFFI_HIDDEN_ static constexpr auto name =
      detail::fixed_text<typename Requirement::template Name<Requirement::kIsWritable>>();
  ANYFFI_HIDDEN_ static constexpr auto result_name = detail::fixed_text<typename Requirement::template Name<false>>();
  static constexpr uint64_t type_mask = 0;
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    uint64_t flags;
    if (!Requirement::find(value, flags, why)) return false;
    return Traits<Tensor>::load(value, holder, why);
  }
};

namespace detail {
template <class T, auto... options>
inline constexpr bool kIsView<TypedView<T, options...>> = true;
template <class T, auto... options>
inline constexpr bool kIsTensorView<TypedView<T, options...>> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_TYPED_TENSOR_H_
