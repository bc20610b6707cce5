/// \file
/// Random numbers, equal to those of NumPy's `RandomState` with the same seed.

#include "random.h"

#include <random>

namespace npx {
namespace {

std::mt19937& generator() {
  static std::mt19937 generator{std::random_device{}()};
  return generator;
}

/// The second number of a pair of the polar method; NaN: none.
double spare_normal = NAN;

void seed(int64_t number) {
  if (number < 0 || number > UINT32_MAX) fail("ValueError", "Seed must be between 0 and 2**32 - 1");
  generator().seed(static_cast<uint32_t>(number));
  spare_normal = NAN;
}

}  // namespace

double next_uniform() {
  uint32_t high = generator()() >> 5, low = generator()() >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

double next_normal() {
  if (!std::isnan(spare_normal)) return std::exchange(spare_normal, NAN);
  for (;;) {
    double x = 2 * next_uniform() - 1, y = 2 * next_uniform() - 1, size = x * x + y * y;
    if (size >= 1 || size == 0) continue;
    double factor = std::sqrt(-2 * std::log(size) / size);
    spare_normal = factor * x;
    return factor * y;
  }
}

double next_exponential() { return -std::log1p(-next_uniform()); }

uint64_t next_up_to(uint64_t last) {
  if (last == 0) return 0;
  uint64_t mask = ~uint64_t{0} >> __builtin_clzll(last);
  for (;;) {
    uint64_t bits = generator()();
    if (last > UINT32_MAX) bits = bits << 32 | generator()();
    if ((bits & mask) <= last) return bits & mask;
  }
}

// Marsaglia and Tsang's method (2000); below 1 that of Ahrens and Dieter (1974).
double next_gamma(double shape) {
  if (shape == 0) return 0;
  if (shape == 1) return next_exponential();
  if (shape < 1) {
    for (;;) {
      double u = next_uniform(), v = next_exponential();
      bool is_near = u <= 1 - shape;
      double further = is_near ? 0 : -std::log((1 - u) / shape);
      double x = std::pow(is_near ? u : 1 - shape + shape * further, 1 / shape);
      if (x <= v + further) return x;
    }
  }
  double b = shape - 1.0 / 3, c = 1 / std::sqrt(9 * b);
  for (;;) {
    double x = next_normal(), root = 1 + c * x;
    if (root <= 0) continue;
    double v = root * root * root, u = next_uniform();
    if (u < 1 - 0.0331 * x * x * x * x || std::log(u) < 0.5 * x * x + b * (1 - v + std::log(v))) return b * v;
  }
}

namespace {

/// Draws a number in (0, 1).
double next_inner() {
  for (;;) {
    double number = next_uniform();
    if (number > 0) return number;
  }
}

void check_positive(double number, const char* name) {
  if (!(number > 0)) fail("ValueError", std::string(name) + " <= 0");
}

void check_not_negative(double number, const char* name) {
  if (!(number >= 0)) fail("ValueError", std::string(name) + " < 0");
}

Tensor uniform(double low, double high, const Size& size) {
  if (!std::isfinite(high - low)) fail("OverflowError", "Range exceeds valid bounds");
  return drawn(size, [=] { return low + (high - low) * next_uniform(); });
}

Tensor gamma(double shape, double scale, const Size& size) {
  check_not_negative(shape, "shape");
  check_not_negative(scale, "scale");
  return drawn(size, [=] { return scale * next_gamma(shape); });
}

/// Registers `name(2, 3)`, the extents as separate arguments.
void register_extents(const char* name, double (*next)(), const char* doc) {
  anyffi::Registration(name)
      .def_packed([next](anyffi::Args args, AnyValue* result) {
        List<BigInt> extents;
        for (int32_t i = 0; i < args.size(); ++i) extents.push_back(args[i].cast<BigInt>());
        *result = drawn(ShapeArg(std::move(extents).freeze()), next);
      })
      .doc(doc);
}

void register_shaped(const char* name, double (*next)(double), const char* doc) {
  anyffi::Registration(name)
      .def(
          [next](double a, const Size& size) {
            check_positive(a, "a");
            return drawn(size, [=] { return next(a); });
          },
          arg("a"), arg("size") = nullptr)
      .doc(doc);
}

void register_scaled(const char* name, double (*next)(), const char* doc) {
  anyffi::Registration(name)
      .def(
          [next](double scale, const Size& size) {
            check_not_negative(scale, "scale");
            return drawn(size, [=] { return scale * next(); });
          },
          arg("scale") = 1.0, arg("size") = nullptr)
      .doc(doc);
}

void register_located(const char* name, double (*next)(), const char* doc) {
  anyffi::Registration(name)
      .def(
          [next](double loc, double scale, const Size& size) {
            check_not_negative(scale, "scale");
            return drawn(size, [=] { return loc + scale * next(); });
          },
          arg("loc") = 0.0, arg("scale") = 1.0, arg("size") = nullptr)
      .doc(doc);
}

[[maybe_unused]] const bool kRandomRegistered = [] {
  register_extents("npx.random.rand", &next_uniform, "Numbers from 0 up to 1, in an array of the given extents.");
  register_extents("npx.random.randn", &next_normal,
                   "Numbers of the standard normal distribution, in an array of the given extents.");
  register_shaped(
      "npx.random.weibull", [](double a) { return std::pow(next_exponential(), 1 / a); },
      "Numbers of the Weibull distribution.");
  register_shaped(
      "npx.random.pareto", [](double a) { return std::expm1(next_exponential() / a); },
      "Numbers of the Pareto distribution.");
  register_shaped(
      "npx.random.power", [](double a) { return std::pow(-std::expm1(-next_exponential()), 1 / a); },
      "Numbers between 0 and 1, as likely as their powers of a - 1.");
  register_scaled("npx.random.exponential", &next_exponential, "Numbers of the exponential distribution.");
  register_scaled(
      "npx.random.rayleigh", [] { return std::sqrt(2 * next_exponential()); }, "Numbers of the Rayleigh distribution.");
  register_located("npx.random.normal", &next_normal, "Numbers of the normal distribution.");
  register_located(
      "npx.random.logistic",
      [] {
        double number = next_inner();
        return std::log(number / (1 - number));
      },
      "Numbers of the logistic distribution.");
  register_located(
      "npx.random.gumbel", [] { return -std::log(-std::log1p(-next_inner())); }, "Numbers of the Gumbel distribution.");
  return true;
}();

ANYFFI_REGISTER_GLOBAL("npx.random.seed")
    .def(&seed, arg("seed"))
    .doc("Restart the stream of random numbers with a seed.");
ANYFFI_REGISTER_GLOBAL("npx.random.uniform")
    .def(&uniform, arg("low") = 0.0, arg("high") = 1.0, arg("size") = nullptr)
    .doc("Draw from the uniform distribution over [low, high).");
ANYFFI_REGISTER_GLOBAL("npx.random.gamma")
    .def(&gamma, arg("shape"), arg("scale") = 1.0, arg("size") = nullptr)
    .doc("Draw from the gamma distribution.");

}  // namespace
}  // namespace npx
