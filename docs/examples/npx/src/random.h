/// \file
/// The stream of random numbers, one for the process; guarded by the host's lock.
#ifndef NPX_RANDOM_H_
#define NPX_RANDOM_H_

#include "walk.h"

namespace npx {

/// A size parameter; None: a result without axes.
using Size = Optional<ShapeArg>;

/// Draws from [0, 1), with 53 random bits.
double next_uniform();
/// Draws from the standard normal distribution, by Marsaglia's polar method, which generates two numbers at a time.
double next_normal();
/// Draws from the exponential distribution with mean 1.
double next_exponential();
/// Draws from the gamma distribution with scale 1.
double next_gamma(double shape);
/// Draws uniformly from 0 to `last`, by rejection: as many random bits as `last` has, until they are in range.
uint64_t next_up_to(uint64_t last);

/// A new array of results of `f()`.
template <class F>
Tensor drawn(const Size& size, F f) {
  using T = decltype(f());
  Tensor result = allocate(size ? read_shape(*size) : Dims(), DataType::of<T>());
  T* numbers = result.data<T>();
  for (int64_t i = 0, count = result.numel(); i < count; ++i) numbers[i] = f();
  return result;
}

}  // namespace npx

#endif  // NPX_RANDOM_H_
