/// \file
/// Lanes: the four computation types, and conversions from and to dtypes.
#ifndef NPX_LANES_H_
#define NPX_LANES_H_

#include "dtypes.h"

namespace npx {

/// int64_t, uint64_t, double, Complex. Narrower integers wrap and narrower floats are rounded when they are stored, so
/// each operator is written for four types and works for fourteen.
enum class Lane { kSigned, kUnsigned, kReal, kComplex };
constexpr int kLanes = 4;

template <class T>
inline constexpr bool kIsComplex = std::is_same_v<T, Complex>;

/// The lane of a C++ type; bool uses integers.
template <class T>
constexpr Lane lane_of_type() {
  return kIsComplex<T>                 ? Lane::kComplex
         : std::is_same_v<T, double>   ? Lane::kReal
         : std::is_same_v<T, uint64_t> ? Lane::kUnsigned
                                       : Lane::kSigned;
}

constexpr Lane lane_of(DataType dtype) {
  return is_complex(dtype)              ? Lane::kComplex
         : is_float(dtype)              ? Lane::kReal
         : dtype.code == ANYFFI_kDLUInt ? Lane::kUnsigned
                                        : Lane::kSigned;
}

constexpr DataType dtype_of(Lane lane) {
  constexpr DataType kDtypes[] = {kInt64, kUInt64, kFloat64, kComplex128};
  return kDtypes[static_cast<int>(lane)];
}

/// Calls `f` with the `Type` of a lane.
template <class F>
auto with_lane(Lane lane, F&& f) {
  return lane == Lane::kSigned     ? f(Type<int64_t>())
         : lane == Lane::kUnsigned ? f(Type<uint64_t>())
         : lane == Lane::kReal     ? f(Type<double>())
                                   : f(Type<Complex>());
}

/// Reads `count` elements that are `step` bytes apart into a block of a lane; needs no alignment.
using Load = void (*)(const char* from, int64_t step, int64_t count, void* block);
/// Writes a block of a lane to `count` elements that are `step` bytes apart.
using Store = void (*)(const void* block, int64_t count, char* to, int64_t step);

Load loader(DataType from, Lane to);
Store storer(Lane from, DataType to);

/// Elements of a block.
constexpr int64_t kBlock = 256;

/// Storage for a block of any lane.
struct Block {
  alignas(16) char bytes[kBlock * sizeof(Complex)];
};

}  // namespace npx

#endif  // NPX_LANES_H_
