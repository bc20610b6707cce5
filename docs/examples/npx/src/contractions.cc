/// \file
/// Sums of products: einsum, and tensordot, matmul and others implemented with it.

#include <anyffi/stl/string.h>

#include <algorithm>

#include "arithmetic.h"

namespace npx {
namespace {

template <class T>
struct SumOfProducts {
  using Result = T;
  T total{};
  void add(const void* const* in, int terms, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      T product = static_cast<const T*>(in[0])[i];
      for (int j = 1; j < terms; ++j) product = times(product, static_cast<const T*>(in[j])[i]);
      total = plus(total, product);
    }
  }
  T result() const { return total; }
};

/// A letter for each axis. Axes of "..." have letters that users cannot write.
using Labels = std::string;

/// Views an array with its axes in the order of `labels`: a missing letter becomes a broadcast axis, a repeated one the
/// diagonal. `shape` has the extent of each letter.
Strided arranged(const Strided& array, const Labels& own, const Labels& labels, const Dims& shape) {
  Strided result{array.data, array.dtype, shape, Dims(shape.size(), 0)};
  for (int i = 0; i < array.ndim(); ++i) {
    size_t place = labels.find(own[static_cast<size_t>(i)]);
    if (array.shape[i] != 1) result.strides[static_cast<int>(place)] += array.strides[i];
  }
  return result;
}

/// result[output] = sum over all other labels of the product of the arrays.
Tensor contract(const std::vector<Strided>& arrays, const std::vector<Labels>& inputs, const Labels& output,
                const Optional<Tensor>& out) {
  if (arrays.size() > static_cast<size_t>(kMaxTerms)) fail("ValueError", "too many operands");
  Labels all = output;
  for (const Labels& input : inputs) {
    for (char label : input) {
      if (all.find(label) == Labels::npos) all += label;
    }
  }
  Dims extents(static_cast<int>(all.size()), 1);
  std::vector<DataType> dtypes;
  for (size_t i = 0; i < arrays.size(); ++i) {
    dtypes.push_back(arrays[i].dtype);
    for (int axis = 0; axis < arrays[i].ndim(); ++axis) {
      int64_t& extent = extents[static_cast<int>(all.find(inputs[i][static_cast<size_t>(axis)]))];
      int64_t mine = arrays[i].shape[axis];
      if (extent != 1 && mine != 1 && mine != extent) {
        fail("ValueError", "operands could not be contracted: an axis of " + std::to_string(mine) +
                               " elements meets one of " + std::to_string(extent));
      }
      if (extent == 1) extent = mine;
    }
  }
  DataType dtype = promote_all(dtypes);
  Result result(out, Dims(extents.begin(), static_cast<int>(output.size())), dtype);
  std::vector<Strided> terms;
  for (size_t i = 0; i < arrays.size(); ++i) {
    result.reads(arrays[i], false);
    terms.push_back(arranged(arrays[i], inputs[i], all, extents));
  }
  constexpr Fold kFolds[] = {fold_by<SumOfProducts<int64_t>>(), fold_by<SumOfProducts<uint64_t>>(),
                             fold_by<SumOfProducts<double>>(), fold_by<SumOfProducts<Complex>>()};
  Lane lane = lane_of(dtype);
  fold(result.array(), terms.data(), static_cast<int>(terms.size()), lane, kFolds[static_cast<int>(lane)]);
  return result.finish();
}

/// `count` letters that cannot be written, such that the last axis always has the same one.
Labels unwritten(int count) {
  Labels labels;
  for (int i = count; i > 0; --i) labels += static_cast<char>(i - 128);
  return labels;
}

/// The labels of one array or of the output; "..." stands for `rest` axes.
Labels read_labels(const std::string& text, int rest) {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 3, "...") == 0) {
      labels += unwritten(rest);
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      labels += text[i];
    } else if (text[i] != ' ') {
      fail("ValueError", "invalid subscript '" + text.substr(i, 1) + "' in einstein sum subscripts string");
    }
  }
  return labels;
}

Tensor einsum(const std::string& text, const Array<Tensor>& operands, const Optional<Tensor>& out) {
  size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  std::vector<std::string> specs{""};
  for (char c : left) {
    if (c == ',') specs.emplace_back();
    if (c != ',') specs.back() += c;
  }
  if (static_cast<int64_t>(specs.size()) != operands.size() || operands.empty()) {
    fail("ValueError", "einstein sum subscripts string names " + std::to_string(specs.size()) + " operands, but " +
                           std::to_string(operands.size()) + " were given");
  }
  std::vector<Strided> arrays;
  std::vector<Labels> inputs;
  int most = 0;
  for (size_t i = 0; i < specs.size(); ++i) {
    arrays.push_back(read(operands[static_cast<int64_t>(i)]));
    size_t dots = specs[i].find("...");
    int named = static_cast<int>(read_labels(specs[i], 0).size()), rest = arrays[i].ndim() - named;
    bool fits =
        dots == std::string::npos ? rest == 0 : rest >= 0 && specs[i].find("...", dots + 3) == std::string::npos;
    if (!fits) {
      fail("ValueError", "operand " + std::to_string(i) + " has " + std::to_string(arrays[i].ndim()) +
                             " dimensions, which '" + specs[i] + "' does not fit");
    }
    inputs.push_back(read_labels(specs[i], rest));
    most = std::max(most, rest);
  }
  Labels output;
  if (arrow == std::string::npos) {
    // All letters that occur once, in alphabetical order.
    Labels all;
    for (const Labels& input : inputs) all += input;
    for (char label : all) {
      if (std::isalpha(static_cast<unsigned char>(label)) && std::count(all.begin(), all.end(), label) == 1)
        output += label;
    }
    std::sort(output.begin(), output.end());
    output = unwritten(most) + output;
  } else {
    output = read_labels(text.substr(arrow + 2), most);
    for (char label : output) {
      bool known = std::any_of(inputs.begin(), inputs.end(),
                               [&](const Labels& input) { return input.find(label) != Labels::npos; });
      if (!known || std::count(output.begin(), output.end(), label) != 1) {
        fail("ValueError", "each subscript of the output must be there once, and in an operand");
      }
    }
    if (most > 0 && text.find("...", arrow) == std::string::npos) {
      fail("ValueError", "output has no '...', but an operand's stands for axes");
    }
  }
  return contract(arrays, inputs, output, out);
}

/// Labels for the axes of an array, starting with a letter.
Labels count_up(int ndim, int from) {
  Labels labels;
  for (int i = 0; i < ndim; ++i) labels += static_cast<char>(from + i);
  return labels;
}

using Axes = Variant<int64_t, Array<Variant<int64_t, Array<int64_t>>>>;

Tensor tensordot(const Tensor& a, const Tensor& b, const Axes& axes) {
  Strided x = read(a), y = read(b);
  Dims left, right;
  if (axes.holds<int64_t>()) {
    int64_t count = axes.get<int64_t>();
    if (count > x.ndim() || count > y.ndim()) fail("IndexError", "tuple index out of range");
    for (int64_t i = 0; i < count; ++i) {
      left.push_back(x.ndim() - count + i);
      right.push_back(i);
    }
  } else {
    auto pair = axes.get<Array<Variant<int64_t, Array<int64_t>>>>();
    if (pair.size() != 2) fail("ValueError", "axes must be a number, or a pair of the axes of either array");
    left = read_ints(pair[0]);
    right = read_ints(pair[1]);
  }
  if (left.size() != right.size()) fail("ValueError", "shape-mismatch for sum");
  Labels first = count_up(x.ndim(), 1), second = count_up(y.ndim(), 1 + x.ndim()), output = first + second;
  for (int i = 0; i < left.size(); ++i) {
    int at = read_axis(left[i], x.ndim()), with = read_axis(right[i], y.ndim());
    if (x.shape[at] != y.shape[with]) fail("ValueError", "shape-mismatch for sum");
    for (char label : {first[static_cast<size_t>(at)], second[static_cast<size_t>(with)]}) {
      size_t place = output.find(label);
      if (place == Labels::npos) fail("ValueError", "an axis is named twice");
      output.erase(place, 1);
    }
    second[static_cast<size_t>(with)] = first[static_cast<size_t>(at)];
  }
  return contract({x, y}, {first, second}, output, nullptr);
}

Tensor matmul(const Tensor& a, const Tensor& b, const Optional<Tensor>& out) {
  if (a.ndim() == 0 || b.ndim() == 0) fail("ValueError", "matmul: an operand has no dimensions");
  std::string left = a.ndim() == 1 ? "k" : "...ik", right = b.ndim() == 1 ? "k" : "...kj";
  std::string output = std::string(a.ndim() == 1 && b.ndim() == 1 ? "" : "...") + (a.ndim() == 1 ? "" : "i") +
                       (b.ndim() == 1 ? "" : "j");
  int64_t inner = b.shape()[b.ndim() == 1 ? 0 : b.ndim() - 2];
  if (a.shape()[a.ndim() - 1] != inner) fail("ValueError", "matmul: the operands' inner dimensions differ");
  return einsum(left + "," + right + "->" + output, Array<Tensor>{a, b}, out);
}

Tensor inner(const Tensor& a, const Tensor& b) {
  if (a.ndim() == 0 || b.ndim() == 0) return tensordot(a, b, int64_t{0});
  Axes last(Array<Variant<int64_t, Array<int64_t>>>{int64_t{-1}, int64_t{-1}});
  return tensordot(a, b, last);
}

ANYFFI_REGISTER_GLOBAL("npx.einsum")
    .def(&einsum, arg("subscripts"), arg("operands"), arg("out") = nullptr)
    .doc(
        "Return the sum of products that the subscripts describe, such as \"ij,jk->ik\"; the operands as one "
        "sequence.");
ANYFFI_REGISTER_GLOBAL("npx.tensordot")
    .def(&tensordot, arg("a"), arg("b"), arg("axes") = 2)
    .doc("Sum products over pairs of axes: the last ones of a and the first ones of b, or the given ones.");
ANYFFI_REGISTER_GLOBAL("npx.matmul")
    .def(&matmul, arg("x1"), arg("x2"), arg("out") = nullptr)
    .doc("Multiply matrices, or stacks of matrices.");
ANYFFI_REGISTER_GLOBAL("npx.inner").def(&inner, arg("a"), arg("b")).doc("Sum products over the last axes.");

}  // namespace
}  // namespace npx
