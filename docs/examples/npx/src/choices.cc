/// \file
/// Random choices among elements: choice, shuffle, multinomial.

#include <algorithm>
#include <numeric>
#include <vector>

#include "functions.h"
#include "random.h"

namespace npx {
namespace {

using Numbers = std::vector<int64_t>;
/// A parameter for probabilities.
using Probabilities = Variant<Tensor, Array<double>>;

std::vector<double> read_probabilities(const Probabilities& given) {
  std::vector<double> result;
  if (given.holds<Tensor>()) {
    if (given.get<Tensor>().ndim() != 1) fail("ValueError", "probabilities must have one dimension");
    Tensor numbers = copied(read(given.get<Tensor>()), kFloat64);
    result.assign(numbers.data<double>(), numbers.data<double>() + numbers.numel());
  } else {
    for (double number : given.get<Array<double>>()) result.push_back(number);
  }
  for (double number : result) {
    if (!(number >= 0 && number <= 1)) fail("ValueError", "probabilities must lie between 0 and 1");
  }
  return result;
}

/// The Fisher-Yates shuffle, from the last element down.
template <class Swap>
void permute(int64_t size, Swap swap) {
  for (int64_t i = size - 1; i > 0; --i) swap(i, static_cast<int64_t>(next_up_to(static_cast<uint64_t>(i))));
}

/// Draws `count` positions by their weights.
Numbers weighted(int64_t count, const std::vector<double>& weights) {
  std::vector<double> sums(weights.size());
  std::partial_sum(weights.begin(), weights.end(), sums.begin());
  double total = sums.back();
  for (double& sum : sums) sum /= total;
  Numbers result;
  for (int64_t i = 0; i < count; ++i) {
    result.push_back(std::upper_bound(sums.begin(), sums.end(), next_uniform()) - sums.begin());
  }
  return result;
}

/// Draws `count` distinct positions by their weights: those drawn before have weight 0, duplicates are drawn again.
Numbers weighted_once(int64_t count, std::vector<double> weights) {
  if (std::count_if(weights.begin(), weights.end(), [](double weight) { return weight > 0; }) < count) {
    fail("ValueError", "Fewer non-zero entries in p than size");
  }
  Numbers result;
  auto missing = [&] { return count - static_cast<int64_t>(result.size()); };
  while (missing() > 0) {
    for (int64_t position : weighted(missing(), weights)) {
      if (std::find(result.begin(), result.end(), position) == result.end()) result.push_back(position);
    }
    for (int64_t position : result) weights[static_cast<size_t>(position)] = 0;
  }
  return result;
}

Numbers choose(int64_t among, int64_t count, bool replace, const Optional<Probabilities>& p) {
  if (among <= 0 && count > 0) fail("ValueError", "'a' cannot be empty unless no samples are taken");
  if (!replace && count > among) {
    fail("ValueError", "Cannot take a larger sample than population when 'replace=False'");
  }
  if (p) {
    std::vector<double> weights = read_probabilities(*p);
    if (static_cast<int64_t>(weights.size()) != among) fail("ValueError", "'a' and 'p' must have same size");
    if (!(std::fabs(std::accumulate(weights.begin(), weights.end(), -1.0)) < 1e-8)) {
      fail("ValueError", "probabilities do not sum to 1");
    }
    return replace ? weighted(count, weights) : weighted_once(count, weights);
  }
  Numbers result;
  for (int64_t i = 0; replace && i < count; ++i) {
    result.push_back(static_cast<int64_t>(next_up_to(static_cast<uint64_t>(among) - 1)));
  }
  if (replace) return result;
  result.resize(static_cast<size_t>(among));
  std::iota(result.begin(), result.end(), 0);
  permute(among,
          [&](int64_t i, int64_t j) { std::swap(result[static_cast<size_t>(i)], result[static_cast<size_t>(j)]); });
  result.resize(static_cast<size_t>(count));
  return result;
}

Tensor choice(const Variant<Tensor, int64_t>& a, const Size& size, bool replace, const Optional<Probabilities>& p) {
  Dims shape = size ? read_shape(*size) : Dims();
  if (a.holds<Tensor>()) {
    Strided from = read(a.get<Tensor>());
    if (from.ndim() != 1) fail("ValueError", "a must be 1-dimensional");
    return reshaped(gathered(from, 0, choose(from.shape[0], element_count(shape), replace, p)), shape);
  }
  Numbers numbers = choose(a.get<int64_t>(), element_count(shape), replace, p);
  auto next = numbers.begin();
  return drawn(size, [&] { return *next++; });
}

void shuffle(const Tensor& x) {
  if (x.ndim() == 0) fail("TypeError", "an array of no dimensions cannot be shuffled");
  Strided array = write(x);
  permute(array.shape[0], [&](int64_t i, int64_t j) {
    if (i == j) return;
    Strided one = array.slice(0, i, i + 1), other = array.slice(0, j, j + 1);
    Tensor kept = copied(one, array.dtype);
    assign(one, other);
    assign(other, read(kept));
  });
}

/// A binomial variate for small `n * p`, by inversion: adds up probabilities one by one.
int64_t next_few(int64_t n, double p) {
  double q = 1 - p, none = std::exp(static_cast<double>(n) * std::log(q)), mean = static_cast<double>(n) * p;
  auto bound = static_cast<int64_t>(std::fmin(static_cast<double>(n), mean + 10 * std::sqrt(mean * q + 1)));
  for (;;) {
    double left = next_uniform(), likely = none;
    for (int64_t x = 0; x <= bound;) {
      if (left <= likely) return x;
      ++x;
      left -= likely;
      likely *= static_cast<double>(n - x + 1) * p / (static_cast<double>(x) * q);
    }
  }
}

int64_t next_binomial(int64_t n, double p) {
  if (n == 0 || p <= 0) return 0;
  if (static_cast<double>(n) * std::fmin(p, 1 - p) <= 30) return p > 0.5 ? n - next_few(n, 1 - p) : next_few(n, p);
  // Draws the median of n uniform numbers, which halves the problem: Relles (1972).
  int64_t middle = n / 2 + 1;
  double below = next_gamma(static_cast<double>(middle)), above = next_gamma(static_cast<double>(n + 1 - middle));
  double at = below / (below + above);
  return at <= p ? middle + next_binomial(n - middle, (p - at) / (1 - at)) : next_binomial(middle - 1, p / at);
}

Tensor multinomial(int64_t n, const Probabilities& pvals, const Size& size) {
  std::vector<double> p = read_probabilities(pvals);
  if (n < 0) fail("ValueError", "n < 0");
  if (p.empty()) fail("ValueError", "pvals must have at least one element");
  if (std::accumulate(p.begin(), p.end() - 1, 0.0) > 1 + 1e-12) fail("ValueError", "sum(pvals[:-1]) > 1.0");
  Dims shape = size ? read_shape(*size) : Dims();
  shape.push_back(static_cast<int64_t>(p.size()));
  Tensor result = allocate(shape, kInt64);
  auto* next = result.data<int64_t>();
  for (int64_t i = 0; i < result.numel(); i += static_cast<int64_t>(p.size())) {
    double left = 1;
    int64_t trials = n;
    for (size_t event = 0; event < p.size(); ++event, ++next) {
      *next = event + 1 == p.size() ? trials : next_binomial(trials, std::fmin(p[event] / left, 1));
      trials -= *next;
      left -= p[event];
    }
  }
  return result;
}

ANYFFI_REGISTER_GLOBAL("npx.random.choice")
    .def(&choice, arg("a"), arg("size") = nullptr, arg("replace") = true, arg("p") = nullptr)
    .doc("Draw elements of an array, or numbers below a, uniformly or with the probabilities p.");
ANYFFI_REGISTER_GLOBAL("npx.random.shuffle")
    .def(&shuffle, arg("x"))
    .doc("Shuffle the elements along the first axis, in place.");
ANYFFI_REGISTER_GLOBAL("npx.random.multinomial")
    .def(&multinomial, arg("n"), arg("pvals"), arg("size") = nullptr)
    .doc("Draw from the multinomial distribution: the number of occurrences of each event in n trials.");

}  // namespace
}  // namespace npx
