/// \file
/// Operands: tensors and Python's numbers, which adapt to the tensors that they meet.
#ifndef NPX_OPERANDS_H_
#define NPX_OPERANDS_H_

#include "walk.h"

namespace npx {

/// What an operator takes.
using Operand = Variant<Tensor, bool, BigInt, double, Complex>;

/// The dtype of a result of several operands. A Python number is weak: it counts only if it is of a kind (int, float,
/// complex) above the tensors' one.
DataType common_dtype(std::initializer_list<const Operand*> operands);

/// An operand as an array: a tensor's memory as it is, or a number in a dtype that was agreed upon.
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
