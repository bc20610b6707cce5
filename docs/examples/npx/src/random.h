/// \file
/// The stream of random numbers, one for the process; guarded by the host's lock.
#ifndef NPX_RANDOM_H_
#define NPX_RANDOM_H_

#include "walk.h"

namespace npx {

/// A size parameter; None: a result without axes.
using Size = Optional<ShapeArg>;

/// In [0, 1), of 53 bits.
double next_uniform();
/// Of the normal distribution of mean 0 and deviation 1: Marsaglia's polar method, which makes two at a time.
double next_normal();
/// Of the exponential distribution of mean 1.
double next_exponential();
/// Of the gamma distribution of scale 1.
double next_gamma(double shape);
/// From 0 to `last`, each as likely as any other: the first that is in range of as many bits as `last` has.
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
