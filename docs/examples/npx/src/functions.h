/// \file
/// Functions of the library that others use.
#ifndef NPX_FUNCTIONS_H_
#define NPX_FUNCTIONS_H_

#include <vector>

#include "operands.h"

namespace npx {

/// One of the functions that the tables in unary.cc and binary.cc list, such as "npx.add".
Tensor unary(const char* name, const Operand& x, const Optional<Tensor>& out = nullptr);
Tensor binary(const char* name, const Operand& x1, const Operand& x2, const Optional<Tensor>& out = nullptr);

/// Elements of x where the condition holds, else of y.
Tensor where(const Operand& condition, const Operand& x, const Operand& y);
/// Ones at and below the k-th diagonal and zeros elsewhere.
Tensor tri(int64_t rows, Optional<int64_t> columns, int64_t k, const DTypeArg& dtype);
/// The sum along some axes, or of all elements.
Tensor sum(const Tensor& a, const AxisArg& axis, const DTypeArg& dtype = nullptr, const Optional<Tensor>& out = nullptr,
           bool keepdims = false);
/// The greatest or least element along some axes, or of all; NaN if one is.
Tensor amax(const Tensor& a, const AxisArg& axis, const Optional<Tensor>& out = nullptr, bool keepdims = false);
Tensor amin(const Tensor& a, const AxisArg& axis, const Optional<Tensor>& out = nullptr, bool keepdims = false);
/// The mean along some axes, or of all elements.
Tensor mean(const Tensor& a, const AxisArg& axis, const DTypeArg& dtype, const Optional<Tensor>& out, bool keepdims);

/// The elements on a diagonal of two axes, as the last axis. AxisError or ValueError if there are no such axes.
Strided diagonal_of(const Strided& array, int64_t offset, int64_t axis1, int64_t axis2);
/// Concatenates arrays along an axis.
Tensor joined(const std::vector<Strided>& parts, int64_t along, const Optional<Tensor>& out = nullptr,
              const DTypeArg& dtype = nullptr);
/// Evenly spaced numbers.
Tensor linspace(double start, double stop, int64_t num, bool endpoint, const DTypeArg& dtype);
/// The elements sorted along an axis, NaN last.
Tensor sorted(const Strided& array, int axis);

/// An index parameter.
using Positions = Variant<Tensor, int64_t, Array<int64_t>>;
/// The positions as int64; TypeError unless they are integers that fit.
Tensor read_positions(const Positions& positions);
/// A position in [0, size), from one that may be negative; IndexError out of range.
int64_t read_position(int64_t position, int64_t size, int axis);
/// The elements at some positions along an axis.
Tensor gathered(const Strided& from, int axis, const std::vector<int64_t>& positions);

}  // namespace npx

#endif  // NPX_FUNCTIONS_H_
