/// \file
/// Operands: tensors, and Python numbers, which adapt to the dtype of the tensors.
#ifndef NPX_OPERANDS_H_
#define NPX_OPERANDS_H_

#include "walk.h"

namespace npx {

/// A parameter of an operator.
using Operand = Variant<Tensor, bool, BigInt, double, Complex>;

/// The dtype of a result of several operands. A Python number is weak: it matters only if its category (int, float,
/// complex) is above that of the tensors.
DataType common_dtype(std::initializer_list<const Operand*> operands);

/// An operand as an array: a tensor's memory, or a number converted to a dtype.
class Input {
 public:
  /// OverflowError for an int that is out of the dtype's range.
  Input(const Operand& operand, DataType dtype);
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  const Strided& array() const { return array_; }

 private:
  alignas(16) char number_[sizeof(Complex)];
  Strided array_;
};

}  // namespace npx

#endif  // NPX_OPERANDS_H_
