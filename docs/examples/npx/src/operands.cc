#include "operands.h"

namespace npx {
namespace {

/// The dtype of a result of tensors of `dtype` and a weak number.
DataType meet(DataType dtype, const Operand& number) {
  if (number.holds<Complex>()) return complex_of(is_whole(dtype) ? kFloat64 : dtype);
  if (number.holds<double>()) return is_whole(dtype) ? kFloat64 : dtype;
  return is_bool(dtype) ? kInt64 : dtype;
}

/// Writes an int as an element.
template <class T>
void put_int(const BigInt& number, DataType dtype, char* to) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    T value = number.value().cast<T>();
    std::memcpy(to, &value, sizeof(value));
  } else {
    double value = is_bool(dtype) ? number != 0 : number.to_double();
    storer(Lane::kReal, dtype)(&value, 1, to, 0);
  }
}

}  // namespace

DataType common_dtype(std::initializer_list<const Operand*> operands) {
  std::vector<DataType> tensors{kBool};
  for (const Operand* operand : operands) {
    if (operand->holds<Tensor>()) tensors.push_back(operand->get<Tensor>().dtype());
  }
  bool any_tensor = tensors.size() > 1;
  DataType dtype = promote_all(std::move(tensors));
  for (const Operand* operand : operands) {
    if (operand->holds<Tensor>() || operand->holds<bool>()) continue;
    dtype = any_tensor ? meet(dtype, *operand) : promote(dtype, meet(kBool, *operand));
  }
  return dtype;
}

Input::Input(const Operand& operand, DataType dtype) : array_{number_, dtype, {}, {}} {
  if (operand.holds<Tensor>()) {
    array_ = read(operand.get<Tensor>());
  } else if (operand.holds<Complex>() || operand.holds<double>()) {
    Complex number = operand.any().cast<Complex>();
    if (operand.holds<Complex>() && !is_complex(dtype) && !is_bool(dtype)) {
      fail("TypeError", "must be a real number, not complex");
    }
    storer(Lane::kComplex, dtype)(&number, 1, number_, 0);
  } else {
    with_type(dtype,
              [&](auto type) { put_int<typename decltype(type)::type>(operand.any().cast<BigInt>(), dtype, number_); });
  }
}

}  // namespace npx
