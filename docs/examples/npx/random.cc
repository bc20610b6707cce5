/// \file
/// Random numbers: the very ones that NumPy's `RandomState` of the same seed gives, one stream for the process.

#include <random>

#include "walk.h"

namespace npx {
namespace {

using Size = Optional<ShapeArg>;

/// Used under the lock of the host only, as all functions here are.
std::mt19937& generator() {
  static std::mt19937 generator{std::random_device{}()};
  return generator;
}

void seed(int64_t number) {
  if (number < 0 || number > UINT32_MAX) fail("ValueError", "Seed must be between 0 and 2**32 - 1");
  generator().seed(static_cast<uint32_t>(number));
}

/// In [0, 1), of 53 bits.
double next() {
  uint32_t high = generator()() >> 5, low = generator()() >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

/// float64 numbers of f().
template <class F>
Tensor drawn(const Size& size, F f) {
  Tensor result = allocate(size ? read_shape(*size) : Dims(), kFloat64);
  double* numbers = result.data<double>();
  for (int64_t i = 0, count = result.numel(); i < count; ++i) numbers[i] = f();
  return result;
}

double exponential() { return -std::log1p(-next()); }

void check_positive(double number, const char* name) {
  if (!(number > 0)) fail("ValueError", std::string(name) + " <= 0");
}

void check_scale(double scale) {
  if (!(scale >= 0)) fail("ValueError", "scale < 0");
}

Tensor uniform(double low, double high, const Size& size) {
  if (!std::isfinite(high - low)) fail("OverflowError", "Range exceeds valid bounds");
  return drawn(size, [=] { return low + (high - low) * next(); });
}

ANYFFI_REGISTER_GLOBAL("npx.random.seed").def(&seed, arg("seed")).doc("Begin the stream of a seed.");
ANYFFI_REGISTER_GLOBAL("npx.random.uniform")
    .def(&uniform, arg("low") = 0.0, arg("high") = 1.0, arg("size") = nullptr)
    .doc("Numbers from low up to high, each as likely as any other.");
ANYFFI_REGISTER_GLOBAL("npx.random.exponential")
    .def(
        [](double scale, const Size& size) {
          check_scale(scale);
          return drawn(size, [=] { return scale * exponential(); });
        },
        arg("scale") = 1.0, arg("size") = nullptr)
    .doc("Numbers of the exponential distribution.");
ANYFFI_REGISTER_GLOBAL("npx.random.weibull")
    .def(
        [](double a, const Size& size) {
          check_positive(a, "a");
          return drawn(size, [=] { return std::pow(exponential(), 1 / a); });
        },
        arg("a"), arg("size") = nullptr)
    .doc("Numbers of the Weibull distribution.");
ANYFFI_REGISTER_GLOBAL("npx.random.pareto")
    .def(
        [](double a, const Size& size) {
          check_positive(a, "a");
          return drawn(size, [=] { return std::expm1(exponential() / a); });
        },
        arg("a"), arg("size") = nullptr)
    .doc("Numbers of the Pareto distribution.");
ANYFFI_REGISTER_GLOBAL("npx.random.rayleigh")
    .def(
        [](double scale, const Size& size) {
          check_scale(scale);
          return drawn(size, [=] { return scale * std::sqrt(2 * exponential()); });
        },
        arg("scale") = 1.0, arg("size") = nullptr)
    .doc("Numbers of the Rayleigh distribution.");

}  // namespace
}  // namespace npx
