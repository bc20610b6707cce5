// DataType, Device, Tensor and TensorView in C++, and DLPack's structs.
#include <anyffi/anyffi.h>
#include <anyffi/stl/complex.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>

#include "allocation.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::DataType;
using anyffi::Device;
using anyffi::Error;
using anyffi::Function;
using anyffi::List;
using anyffi::Shape;
using anyffi::String;
using anyffi::Tensor;
using anyffi::TensorView;

template <class F>
std::string error_of(F&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Counts how often memory was released.
struct Memory {
  double numbers[6] = {0, 1, 2, 3, 4, 5};
  int released = 0;
  static void release(void* self) { ++static_cast<Memory*>(self)->released; }
};

Tensor make(Memory* memory, uint64_t flags = 0) {
  int64_t shape[] = {2, 3};
  AnyffiTensorData data{memory->numbers, Device(), 2, DataType::of<double>(), shape, nullptr, 0};
  return Tensor(data, flags, memory, &Memory::release);
}

struct Share {
  AnyffiManagedTensor managed{};
  int64_t shape[1] = {4};
  float numbers[4] = {};
  int released = 0;
  explicit Share(uint32_t major) {
    managed.major = major;
    managed.context = this;
    managed.deleter = [](AnyffiManagedTensor* self) { ++static_cast<Share*>(self->context)->released; };
    managed.flags = ANYFFI_TENSOR_READ_ONLY;
    managed.tensor = {numbers, Device(), 1, DataType::of<float>(), shape, nullptr, 0};
  }
};

}  // namespace

TEST(DataType, OfCppTypes) {
  EXPECT_EQ(DataType::of<bool>(), DataType(ANYFFI_kDLBool, 8));
  EXPECT_EQ(DataType::of<int8_t>(), DataType(ANYFFI_kDLInt, 8));
  EXPECT_EQ(DataType::of<uint16_t>(), DataType(ANYFFI_kDLUInt, 16));
  EXPECT_EQ(DataType::of<long long>(), DataType(ANYFFI_kDLInt, 64));
  EXPECT_EQ(DataType::of<float>(), DataType(ANYFFI_kDLFloat, 32));
  EXPECT_EQ(DataType::of<double>(), DataType(ANYFFI_kDLFloat, 64));
  EXPECT_EQ(DataType::of<std::complex<float>>(), DataType(ANYFFI_kDLComplex, 64));
  EXPECT_NE(DataType::of<float>(), DataType(ANYFFI_kDLFloat, 32, 4));
  EXPECT_EQ(DataType(ANYFFI_kDLFloat4_e2m1fn, 4, 3).item_size(), 2);
}

TEST(DataType, Text) {
  EXPECT_EQ(DataType(ANYFFI_kDLFloat8_e4m3fn, 8, 4).text(), "float8_e4m3fnx4");
  EXPECT_EQ(DataType::of<bool>().text(), "bool");
  EXPECT_EQ(Device(ANYFFI_kDLCUDA, 1).text(), "cuda:1");
  EXPECT_EQ(Device().text(), "cpu:0");
}

TEST(DataType, IsAValue) {
  AnyValue value = DataType::of<float>();
  EXPECT_EQ(value.type_code(), ANYFFI_DATA_TYPE);
  EXPECT_EQ(value.cast<DataType>(), DataType::of<float>());
  AnyValue device = Device(ANYFFI_kDLCUDA, 2);
  EXPECT_EQ(device.cast<Device>(), Device(ANYFFI_kDLCUDA, 2));
  EXPECT_NE(value, device);
  EXPECT_EQ(error_of([&] { device.cast<DataType>(); }), "expected dtype, got Device");
}

TEST(Tensor, OwnsAReferenceToTheMemory) {
  Memory memory;
  {
    Tensor tensor = make(&memory);
    List<AnyValue> list{AnyValue(tensor)};
    Tensor same = list[0].cast<Tensor>();
    EXPECT_TRUE(same.same_as(tensor));
    EXPECT_EQ(same.ndim(), 2);
    EXPECT_EQ(same.strides()[0], 3);
    EXPECT_EQ(same.numel(), 6);
    EXPECT_TRUE(same.is_contiguous());
    EXPECT_EQ(same.dtype(), DataType::of<double>());
    EXPECT_EQ(same.device(), Device());
    EXPECT_EQ(same.data<double>(), memory.numbers);
    EXPECT_EQ(memory.released, 0);
  }
  EXPECT_EQ(memory.released, 1);
}

TEST(Tensor, ReleasesTheMemoryWhenCreationFails) {
  Memory memory;
  int64_t shape[] = {-1};
  AnyffiTensorData data{memory.numbers, Device(), 1, DataType::of<double>(), shape, nullptr, 0};
  EXPECT_EQ(error_of([&] { Tensor(data, 0, &memory, &Memory::release); }), "negative dimensions are not allowed");
  EXPECT_EQ(memory.released, 1);
}

TEST(Tensor, DataIsChecked) {
  Memory memory;
  Tensor tensor = make(&memory, ANYFFI_TENSOR_READ_ONLY);
  EXPECT_TRUE(tensor.read_only());
  EXPECT_EQ(tensor.data<const double>()[5], 5);
  EXPECT_EQ(tensor.data<const void>(), memory.numbers);
  EXPECT_EQ(error_of([&] { tensor.data<double>(); }), "the tensor is read-only; only a const type reads it");
  EXPECT_EQ(error_of([&] { tensor.data<void>(); }), "the tensor is read-only; only a const type reads it");
  EXPECT_EQ(error_of([&] { tensor.data<const float>(); }), "expected a tensor of float32, got one of float64");
  AnyffiTensorData shifted = tensor.raw();
  shifted.byte_offset = 4;
  EXPECT_EQ(error_of([&] { TensorView(shifted).data<double>(); }),
            "the memory of the tensor is not aligned to 8 bytes");
  EXPECT_EQ(TensorView(shifted).data<const void>(), reinterpret_cast<char*>(memory.numbers) + 4);
}

TEST(Tensor, EmptyAndCopy) {
  Tensor tensor = Tensor::empty({2, 3}, DataType::of<int32_t>());
  for (int i = 0; i < 6; ++i) tensor.data<int32_t>()[i] = i;
  AnyffiTensorData turned = tensor.raw();
  int64_t shape[] = {3, 2}, strides[] = {1, 3};
  turned.shape = shape;
  turned.strides = strides;
  Tensor copy = Tensor(turned, 0, nullptr, nullptr).copy();
  EXPECT_TRUE(copy.is_contiguous());
  EXPECT_EQ(copy.flags(), ANYFFI_TENSOR_COPIED);
  int32_t expected[] = {0, 3, 1, 4, 2, 5};
  EXPECT_EQ(std::memcmp(copy.data<int32_t>(), expected, sizeof(expected)), 0);
  EXPECT_EQ(Tensor::empty({}, DataType::of<float>()).copy().numel(), 1);
  EXPECT_EQ(Tensor::empty({0, 5}, DataType::of<float>()).copy().numel(), 0);
  Shape extents{2, 3}, long_shape{1, 2, 1, 1, 1, 1, 1, 1, 1, 3};
  EXPECT_EQ(Tensor::empty(extents, DataType::of<float>()).numel(), 6);
  EXPECT_EQ(Tensor::empty(Shape(tensor.shape(), tensor.ndim()), DataType::of<float>()).shape()[1], 3);
  EXPECT_EQ(Tensor::empty(long_shape, DataType::of<float>()).shape()[9], 3);
  try {
    Tensor::empty({int64_t{1} << 40, 1 << 20}, DataType::of<double>());
    FAIL() << "there is not so much memory";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), AnyValue("MemoryError"));
  }
}

TEST(Tensor, ElementsByIndex) {
  Memory memory;
  Tensor tensor = make(&memory);
  tensor.at<double>(1, 2) = 7;
  EXPECT_EQ(memory.numbers[5], 7);
  EXPECT_EQ(tensor.at<const double>(0, 1), 1);
  int64_t shape[] = {3}, strides[] = {-2};
  AnyffiTensorData data{memory.numbers + 4, Device(), 1, DataType::of<double>(), shape, strides, 0};
  TensorView backwards(data, ANYFFI_TENSOR_READ_ONLY);
  EXPECT_EQ(backwards.at<const double>(2), 0);
  EXPECT_EQ(backwards.at<const double>(size_t{1}), 2);
  for (int64_t position : {int64_t{-1}, int64_t{3}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(error_of([&] { backwards.at<const double>(position); }),
              "index " + std::to_string(position) + " is out of bounds for axis 0 with size 3");
  }
  EXPECT_EQ(error_of([&] { backwards.at<const double>(); }), "expected 1 indices, one for each axis, got 0");
  EXPECT_EQ(error_of([&] { tensor.at<double>(0, 0, 0); }), "expected 2 indices, one for each axis, got 3");
  EXPECT_EQ(error_of([&] { tensor.at<float>(0, 0); }), "expected a tensor of float32, got one of float64");
  EXPECT_EQ(error_of([&] { backwards.at<double>(0); }), "the tensor is read-only; only a const type reads it");
  EXPECT_EQ(Tensor(AnyffiTensorData{memory.numbers, Device(), 0, DataType::of<double>(), nullptr, nullptr, 8}, 0,
                   nullptr, nullptr)
                .at<double>(),
            1);
}

TEST(Tensor, ContiguousData) {
  Memory memory;
  int64_t shape[] = {3}, strides[] = {2};
  AnyffiTensorData data{memory.numbers, Device(), 1, DataType::of<double>(), shape, strides, 0};
  TensorView view(data);
  EXPECT_EQ(error_of([&] { view.contiguous_data<double>(); }), "the tensor is not contiguous");
  Tensor copy = view.copy();
  double expected[] = {0, 2, 4};
  EXPECT_EQ(std::memcmp(copy.contiguous_data<double>(), expected, sizeof(expected)), 0);
  strides[0] = 1;
  EXPECT_EQ(view.contiguous_data<const double>(), memory.numbers);
}

TEST(Tensor, MemoryOfDevices) {
  Memory memory;
  int64_t shape[] = {6};
  for (auto type : {ANYFFI_kDLCUDA, ANYFFI_kDLROCM, ANYFFI_kDLExtDev, ANYFFI_kDLMetal}) {
    AnyffiTensorData data{memory.numbers, Device(type, 1), 1, DataType::of<double>(), shape, nullptr, 0};
    Tensor tensor(data, ANYFFI_TENSOR_READ_ONLY, nullptr, nullptr);
    std::string name = reinterpret_cast<const char*>(Device(type, 1).text().utf8().data());
    EXPECT_EQ(tensor.device_data<const double>(), memory.numbers);
    std::string refused = "the memory of the tensor is on " + name + ", not on the CPU";
    EXPECT_EQ(error_of([&] { tensor.data<const double>(); }), refused);
    EXPECT_EQ(error_of([&] { tensor.data<const void>(); }), refused);
    EXPECT_EQ(error_of([&] { tensor.at<const double>(0); }), refused);
    EXPECT_EQ(error_of([&] { tensor.contiguous_data<const double>(); }), refused);
    EXPECT_EQ(error_of([&] { tensor.copy(); }), "a tensor on " + name + " cannot be copied by the CPU");
    EXPECT_EQ(error_of([&] { tensor.device_data<float>(); }), "expected a tensor of float32, got one of float64");
    EXPECT_EQ(error_of([&] { tensor.device_data<double>(); }), "the tensor is read-only; only a const type reads it");
  }
  for (auto type : {ANYFFI_kDLCUDAHost, ANYFFI_kDLROCMHost, ANYFFI_kDLCUDAManaged}) {
    AnyffiTensorData data{memory.numbers, Device(type), 1, DataType::of<double>(), shape, nullptr, 0};
    Tensor tensor(data, 0, nullptr, nullptr);
    EXPECT_EQ(tensor.at<double>(2), 2);
    EXPECT_EQ(tensor.copy().device(), Device());
  }
}

TEST(Tensor, NewMemoryIsAligned) {
  for (int64_t size : {0, 1, 3, 63, 64, 65, 4097}) {
    Tensor tensor = Tensor::empty({size}, DataType::of<int8_t>());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data<void>()) % ANYFFI_TENSOR_ALIGNMENT, 0u);
    std::memset(tensor.data<int8_t>(), 1, static_cast<size_t>(size));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.copy().data<void>()) % ANYFFI_TENSOR_ALIGNMENT, 0u);
  }
}

TEST(Tensor, MemoryComesFromTheInstalledAllocator) {
  {
    CountingAllocator counting;
    {
      Tensor tensor = Tensor::empty({1000}, DataType::of<double>());
      Tensor copy = tensor.copy();
      EXPECT_EQ(counting.live(), 4);
    }
    EXPECT_EQ(counting.live(), 0);
  }
  expect_no_leak([] { Tensor::empty({5}, DataType::of<float>()).copy(); });
}

/// A pool of one block of memory.
struct Pool {
  struct State {
    alignas(64) char memory[256];
    size_t asked = 0;
    int taken = 0;
    int closed = 0;
  };
  State* state;
  explicit Pool(State* of) : state(of) {}
  Pool(Pool&& from) noexcept : state(std::exchange(from.state, nullptr)) {}
  ~Pool() {
    if (state != nullptr) ++state->closed;
  }
  void* alloc(size_t size) {
    state->asked = size;
    if (size > sizeof(state->memory)) return nullptr;
    ++state->taken;
    return state->memory;
  }
  void free(void* memory) {
    EXPECT_EQ(memory, state->memory);
    --state->taken;
  }
};

TEST(Tensor, MemoryOfACustomAllocator) {
  Pool::State state;
  {
    Tensor tensor = Tensor::allocate(Pool(&state), {2, 3}, DataType::of<int16_t>());
    EXPECT_EQ(state.asked, 12u);
    EXPECT_EQ(static_cast<void*>(tensor.data<int16_t>()), state.memory);
    EXPECT_EQ(tensor.strides()[0], 3);
    AnyValue kept = tensor;
    tensor = Tensor::empty({0}, DataType::of<float>());
    EXPECT_EQ(state.taken, 1);
    EXPECT_EQ(state.closed, 0);
  }
  EXPECT_EQ(state.taken, 0);
  EXPECT_EQ(state.closed, 1);
  Tensor on_device = Tensor::allocate(Pool(&state), {0, 5}, DataType::of<float>(), Device(ANYFFI_kDLExtDev, 3));
  EXPECT_EQ(on_device.device(), Device(ANYFFI_kDLExtDev, 3));
  EXPECT_EQ(state.asked, 1u);
}

TEST(Tensor, AFailingAllocatorLeaksNothing) {
  Pool::State state;
  EXPECT_THROW(Tensor::allocate(Pool(&state), {1000}, DataType::of<double>()), std::bad_alloc);
  EXPECT_EQ(state.closed, 1);
  EXPECT_EQ(error_of([&] { Tensor::allocate(Pool(&state), {2, -1}, DataType::of<double>()); }),
            "negative dimensions are not allowed");
  EXPECT_EQ(error_of([&] { Tensor::allocate(Pool(&state), {INT64_MAX, 8}, DataType::of<double>()); }), "");
  EXPECT_EQ(state.closed, 3);
  EXPECT_EQ(state.taken, 0);
  expect_no_leak([&] { Tensor::allocate(Pool(&state), {3}, DataType::of<float>()); });
  EXPECT_EQ(state.taken, 0);
}

TEST(Tensor, TooManyRepeatedElementsRaise) {
  double number = 1;
  int64_t shape[] = {int64_t{1} << 40, int64_t{1} << 40}, strides[] = {0, 0};
  AnyffiTensorData data{&number, Device(), 2, DataType::of<double>(), shape, strides, 0};
  TensorView view(data);
  EXPECT_FALSE(view.is_contiguous());
  EXPECT_EQ(error_of([&] { view.numel(); }), "the tensor has too many elements");
}

TEST(TensorView, BorrowsForACall) {
  Memory memory;
  Tensor tensor = make(&memory);
  Function total = Function::from([](const TensorView& x) { return x.data<const double>()[5]; });
  Function keep = Function::from([](Tensor x) { return x; });
  Function count = Function::from_packed([](anyffi::Args args, AnyValue* result) {
    TensorView view(args[0]);
    *result = view.numel();
  });
  TensorView view = tensor;
  EXPECT_EQ(total(tensor), AnyValue(5.0));
  EXPECT_EQ(total(view), AnyValue(5.0));
  EXPECT_EQ(count(view), AnyValue(6));
  EXPECT_EQ(AnyView(view).family(), ANYFFI_TENSOR);
  EXPECT_EQ(AnyView(view).size(), 2);
  EXPECT_EQ(tensor.use_count(), 1);
  EXPECT_TRUE(keep(view).cast<Tensor>().same_as(tensor));
  TensorView loose(tensor.raw());
  EXPECT_EQ(total(loose), AnyValue(5.0));
  EXPECT_EQ(error_of([&] { keep(loose); }),
            "function(arg0: Tensor) -> Tensor: argument 0 (arg0): "
            "a tensor view borrows its memory for one call: it cannot be stored");
  EXPECT_EQ(error_of([&] { total(5); }),
            "function(arg0: Tensor) -> float: argument 0 (arg0): expected Tensor, got int");
  EXPECT_EQ(error_of([&] { TensorView refused(AnyView(5)); }), "expected Tensor, got int");
}

TEST(Tensor, KeepsItsBaseAlive) {
  Memory memory, other;
  {
    Tensor whole = make(&memory);
    int64_t shape = 2, stride = 3;
    AnyffiTensorData second_column{whole.data<double>() + 1, whole.device(), 1, whole.dtype(), &shape, &stride, 0};
    Tensor part(second_column, 0, whole);
    EXPECT_EQ(whole.use_count(), 2);
    whole = make(&other);
    EXPECT_EQ(memory.released, 0);
    EXPECT_EQ(part.data<double>()[stride], memory.numbers[4]);
    shape = -1;
    EXPECT_EQ(error_of([&] { Tensor(second_column, 0, part); }), "negative dimensions are not allowed");
    EXPECT_EQ(part.use_count(), 1);
  }
  EXPECT_EQ(memory.released, 1);
}

TEST(DLPack, ExportsAReference) {
  Memory memory;
  AnyffiManagedTensor* managed;
  AnyffiLegacyTensor* legacy;
  {
    Tensor tensor = make(&memory);
    ASSERT_EQ(anyffi_tensor_to_dlpack(tensor.get(), &managed), 0);
    ASSERT_EQ(anyffi_tensor_to_dlpack_legacy(tensor.get(), &legacy), 0);
    EXPECT_EQ(tensor.use_count(), 3);
  }
  EXPECT_EQ(managed->major, 1u);
  EXPECT_EQ(managed->tensor.data, memory.numbers);
  EXPECT_EQ(legacy->tensor.shape[1], 3);
  managed->deleter(managed);
  EXPECT_EQ(memory.released, 0);
  legacy->deleter(legacy);
  EXPECT_EQ(memory.released, 1);
}

TEST(DLPack, StealsOnImport) {
  Share share(1);
  {
    AnyValue value;
    ASSERT_EQ(anyffi_tensor_from_dlpack(&share.managed, value.out()), 0);
    auto tensor = value.cast<Tensor>();
    EXPECT_TRUE(tensor.read_only());
    EXPECT_EQ(tensor.strides()[0], 1);
    EXPECT_EQ(tensor.data<const float>(), share.numbers);
  }
  EXPECT_EQ(share.released, 1);
}

TEST(DLPack, RefusesNewerVersions) {
  Share share(2);
  AnyValue value;
  EXPECT_EQ(error_of([&] { anyffi::detail::check(anyffi_tensor_from_dlpack(&share.managed, value.out())); }),
            "a tensor of DLPack 2.0, which is not supported: the newest known version is 1.3");
  EXPECT_TRUE(value.is_none());
  EXPECT_EQ(share.released, 1);
}
