/// \file
/// Tensor and TensorView: n-dimensional arrays, owned or borrowed.
#ifndef ANYFFI_TENSOR_H_
#define ANYFFI_TENSOR_H_

#include <anyffi/container/shape.h>
#include <anyffi/data_type.h>

#include <initializer_list>

namespace anyffi {

class Tensor;

namespace detail {

/// Memory and its allocator.
template <class Allocator>
struct Allocated {
  Allocator allocator;
  void* memory;
  Allocated(Allocator&& from, int64_t size)
      : allocator(std::move(from)), memory(allocator.alloc(static_cast<size_t>(size))) {
    if (memory == nullptr) detail::throw_no_memory();
  }
  static void release(void* self) {
    auto* allocated = static_cast<Allocated*>(self);
    allocated->allocator.free(allocated->memory);
    delete allocated;
  }
};

/// The extents of a Shape as an array.
class Extents {
 public:
  explicit Extents(const Shape& shape) : size_(static_cast<int32_t>(shape.size())) {
    if (shape.size() > kInline) {
      many_ = static_cast<int64_t*>(anyffi_alloc(sizeof(int64_t) * static_cast<size_t>(shape.size())));
      if (!many_) detail::throw_no_memory();
    }
    int64_t* next = many_ ? many_ : few_;
    for (int64_t extent : shape) *next++ = extent;
  }
  ~Extents() { anyffi_free(many_); }
  Extents(const Extents&) = delete;
  Extents& operator=(const Extents&) = delete;
  const int64_t* data() const noexcept { return many_ ? many_ : few_; }
  int32_t size() const noexcept { return size_; }

 private:
  static constexpr int64_t kInline = 8;
  int64_t few_[kInline];
  int64_t* many_ = nullptr;
  int32_t size_;
};

/// The methods of Tensor and TensorView; Derived has `raw()` and `flags()`.
template <class Derived>
class TensorMethods {
 public:
  int32_t ndim() const noexcept { return raw().ndim; }
  /// Elements along each of the `ndim()` axes.
  const int64_t* shape() const noexcept { return raw().shape; }
  /// Steps along each axis, in elements; they may be 0 or negative.
  const int64_t* strides() const noexcept { return raw().strides; }
  DataType dtype() const noexcept { return raw().dtype; }
  Device device() const noexcept { return raw().device; }
  bool read_only() const noexcept { return (self().flags() & ANYFFI_TENSOR_READ_ONLY) != 0; }
  /// The number of elements. OverflowError if it does not fit into int64, as with strides of 0.
  int64_t numel() const {
    int64_t product = 1;
    for (int32_t i = 0; i < ndim() && !is_empty(); ++i) {
      if (__builtin_mul_overflow(product, shape()[i], &product)) throw_too_many();
    }
    return is_empty() ? 0 : product;
  }
  /// Whether the tensor is C-contiguous.
  bool is_contiguous() const noexcept {
    int64_t step = 1;
    for (int32_t i = ndim() - 1; i >= 0; --i) {
      if (shape()[i] > 1 && strides()[i] != step) return is_empty();
      step *= shape()[i];
    }
    return true;
  }
  /// The address of the first element; `strides()` leads to the others. BufferError if the CPU cannot access the
  /// memory; TypeError if the elements have another type than T (`void`: any type); ValueError if T is not const and
  /// the memory is read-only, or if the address is not aligned for a T.
  template <class T>
  T* data() const {
    return access<T>(ANYFFI_ACCESS_READ);
  }
  /// The same for `numel()` contiguous elements; ValueError if the tensor is not contiguous.
  template <class T>
  T* contiguous_data() const {
    if (!is_contiguous()) throw_not_contiguous();
    return data<T>();
  }
  /// The same on any device, for code that passes the address on to the device.
  template <class T>
  T* device_data() const {
    return access<T>(ANYFFI_ACCESS_DEVICE);
  }
  /// The element at a position on each axis, from 0; checked as by `data`. IndexError if there is none.
  template <class T, class... Position>
  T& at(Position... position) const {
    static_assert((std::is_integral_v<Position> && ...), "anyffi: positions must be integers");
    const int64_t positions[] = {static_cast<int64_t>(position)..., 0};
    int64_t steps;
    check(anyffi_tensor_get_element_offset(&raw(), positions, sizeof...(Position), &steps));
    return data<T>()[steps];
  }
  /// A contiguous copy in new memory, as from `Tensor::empty`. BufferError if the CPU cannot read the memory.
  Tensor copy() const;

 private:
  const Derived& self() const noexcept { return *static_cast<const Derived*>(this); }
  const AnyffiTensorData& raw() const noexcept { return self().raw(); }
  bool is_empty() const noexcept {
    for (int32_t i = 0; i < ndim(); ++i) {
      if (shape()[i] == 0) return true;
    }
    return false;
  }
  template <class T>
  T* access(int32_t how) const {
    if (!std::is_const_v<T>) how |= ANYFFI_ACCESS_WRITE;
    if constexpr (std::is_void_v<T>) {
      check(anyffi_tensor_check_access(&raw(), self().flags(), nullptr, 1, how));
    } else {
      constexpr AnyffiDataType kType = DataTypeOf<std::remove_cv_t<T>>::value;
      check(anyffi_tensor_check_access(&raw(), self().flags(), &kType, alignof(T), how));
    }
    return reinterpret_cast<T*>(static_cast<char*>(raw().data) + raw().byte_offset);
  }
  [[noreturn]] static void throw_not_contiguous() { throw Error("ValueError", "the tensor is not contiguous"); }
  [[noreturn]] static void throw_too_many() { throw Error("OverflowError", "the tensor has too many elements"); }
};

}  // namespace detail

/// A reference to a tensor.
class Tensor : public ObjectRef, public detail::TensorMethods<Tensor> {
 public:
  using ObjectRef::ObjectRef;
  /// Wraps memory of `owner`, which it steals, also when it throws. `flags`: AnyffiTensorFlag.
  Tensor(const AnyffiTensorData& data, uint64_t flags, void* owner, void (*release_owner)(void*))
      : ObjectRef(detail::Adopt{}, nullptr) {
    AnyffiValue created;
    detail::check(anyffi_tensor_create(&data, flags, owner, release_owner, &created));
    object_ = created.as_object;
  }
  /// Wraps memory of another object, such as a part of another tensor.
  Tensor(const AnyffiTensorData& data, uint64_t flags, ObjectRef owner)
      : Tensor(data, flags, owner.release(),
               [](void* object) { anyffi_object_release(static_cast<AnyffiObject*>(object)); }) {}
  /// A contiguous, uninitialized tensor in memory from `anyffi_alloc`, aligned to 64 bytes. `anyffi_allocator_exchange`
  /// installs another allocator.
  static Tensor empty(const int64_t* shape, int32_t ndim, const DataType& dtype) {
    AnyffiValue created;
    detail::check(anyffi_tensor_create_empty(shape, ndim, &dtype, &created));
    return Tensor(detail::Adopt{}, created.as_object);
  }
  static Tensor empty(std::initializer_list<int64_t> shape, const DataType& dtype) {
    return empty(shape.begin(), static_cast<int32_t>(shape.size()), dtype);
  }
  static Tensor empty(const Shape& shape, const DataType& dtype) {
    detail::Extents extents(shape);
    return empty(extents.data(), extents.size(), dtype);
  }
  /// The same with an allocator of the caller, on any device. `allocator.alloc(size)` returns NULL on failure
  /// (std::bad_alloc); `allocator.free(memory)` runs on the thread that releases the last reference. The allocator
  /// lives as long as the memory.
  template <class Allocator>
  static Tensor allocate(Allocator allocator, const int64_t* shape, int32_t ndim, const DataType& dtype,
                         const Device& device = Device()) {
    AnyffiTensorData data{nullptr, device, ndim, dtype, const_cast<int64_t*>(shape), nullptr, 0};
    int64_t size;
    detail::check(anyffi_tensor_get_nbytes(&data, 0, &size));
    auto* allocated = new detail::Allocated<Allocator>(std::move(allocator), size > 0 ? size : 1);
    data.data = allocated->memory;
    return Tensor(data, 0, allocated, &detail::Allocated<Allocator>::release);
  }
  template <class Allocator>
  static Tensor allocate(Allocator allocator, std::initializer_list<int64_t> shape, const DataType& dtype,
                         const Device& device = Device()) {
    return allocate(std::move(allocator), shape.begin(), static_cast<int32_t>(shape.size()), dtype, device);
  }
  template <class Allocator>
  static Tensor allocate(Allocator allocator, const Shape& shape, const DataType& dtype,
                         const Device& device = Device()) {
    detail::Extents extents(shape);
    return allocate(std::move(allocator), extents.data(), extents.size(), dtype, device);
  }
  const AnyffiTensorData& raw() const noexcept { return reinterpret_cast<const AnyffiTensor*>(object_)->tensor; }
  /// AnyffiTensorFlag.
  uint64_t flags() const noexcept { return reinterpret_cast<const AnyffiTensor*>(object_)->flags; }
};

template <class Derived>
Tensor detail::TensorMethods<Derived>::copy() const {
  AnyffiValue created;
  check(anyffi_tensor_copy(&raw(), self().flags(), &created));
  return Tensor(Adopt{}, created.as_object);
}

/// A borrowed tensor, valid as long as its source: as a parameter it accepts what Tensor accepts, without refcounting,
/// but it cannot be stored or returned. Passed to another function, it becomes the tensor from which it was made; a
/// view of memory that no tensor owns is accepted only by parameters of type TensorView.
class TensorView : public detail::TensorMethods<TensorView> {
 public:
  TensorView(const Tensor& tensor) noexcept  // NOLINT: implicit on purpose
      : raw_(&tensor.raw()), flags_(tensor.flags()), tensor_(tensor.get()) {}
  TensorView(Tensor&&) = delete;
  /// Wraps memory and a struct that the caller keeps alive.
  explicit TensorView(const AnyffiTensorData& data, uint64_t flags = 0) noexcept : raw_(&data), flags_(flags) {}
  TensorView(AnyffiTensorData&&, uint64_t = 0) = delete;
  /// The tensor of a value. TypeError if it is not one.
  explicit TensorView(const AnyView& value);
  TensorView(AnyValue&&) = delete;

  const AnyffiTensorData& raw() const noexcept { return *raw_; }
  /// AnyffiTensorFlag.
  uint64_t flags() const noexcept { return flags_; }

 private:
  friend struct Traits<TensorView>;
  const AnyffiTensorData* raw_;
  uint64_t flags_;
  AnyffiObject* tensor_ = nullptr;  // NULL: no tensor owns the memory
};

template <>
struct Traits<Tensor> : detail::RefTraits<Tensor> {
  static constexpr FixedText name{"Tensor"};
  static constexpr uint64_t type_mask = detail::type_bits(ANYFFI_TENSOR);
  static bool fits(const AnyffiValue& value) { return value.type_code == ANYFFI_TENSOR; }
  static bool load(AnyffiValue& value, AnyValue& holder, AnyffiMismatch& why) {
    if (fits(value)) return detail::hold_object(value, holder);
    if (value.type_code != ANYFFI_TENSOR_VIEW) return detail::refuse(why, value, name);
    anyffi_value_own(&value, holder.out());  // fails, with the error to report
    return detail::refuse(why, value, name, ANYFFI_MISMATCH_RAISED);
  }
};

template <>
struct Traits<TensorView> {
  static constexpr FixedText name{"Tensor"};
  static constexpr uint64_t type_mask = detail::type_bits(ANYFFI_TENSOR);
  static constexpr bool kBorrows = true;
  struct Holder {
    const AnyffiTensorData* data = nullptr;
    uint64_t flags = 0;
    AnyffiObject* tensor = nullptr;
  };
  static bool load(const AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    if (value.type_code == ANYFFI_TENSOR) {
      auto* tensor = reinterpret_cast<const AnyffiTensor*>(value.as_object);
      holder = {&tensor->tensor, tensor->flags, value.as_object};
      return true;
    }
    holder = {static_cast<const AnyffiTensorData*>(value.as_pointer), value.aux, nullptr};
    return value.type_code == ANYFFI_TENSOR_VIEW || detail::refuse(why, value, name);
  }
  static TensorView take(Holder& holder) {
    TensorView view(*holder.data, holder.flags);
    view.tensor_ = holder.tensor;
    return view;
  }
  static AnyffiValue borrow(const TensorView& view) {
    if (view.tensor_) return detail::object_value(view.tensor_);
    AnyffiValue value{};
    value.type_code = ANYFFI_TENSOR_VIEW;
    value.aux = static_cast<uint32_t>(view.flags());
    value.as_pointer = const_cast<AnyffiTensorData*>(&view.raw());
    return value;
  }
  template <class T>
  static AnyffiValue store(const T&) {
    static_assert(!sizeof(T), "anyffi: a TensorView borrows its memory; store or return a Tensor");
    return {};
  }
};

namespace detail {
template <>
inline constexpr bool kIsView<TensorView> = true;
}  // namespace detail

inline TensorView::TensorView(const AnyView& value) {
  AnyffiMismatch why;
  Traits<TensorView>::Holder holder;
  if (!Traits<TensorView>::load(value.raw(), holder, why)) detail::throw_mismatch(why);
  *this = Traits<TensorView>::take(holder);
}

}  // namespace anyffi

#endif  // ANYFFI_TENSOR_H_
