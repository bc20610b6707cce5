#include "walk.h"

#include <algorithm>
#include <vector>

namespace npx {
namespace {

/// Iterates over arrays of one shape together, in runs along the last axis.
class Walk {
 public:
  explicit Walk(const Dims& shape) : shape_(shape) {
    if (shape_.size() == 0) shape_.push_back(1);
  }

  void add(Dims strides) {
    if (strides.size() == 0) strides.push_back(0);
    strides_.push_back(strides);
  }

  /// Joins axes that all arrays step through alike, so that runs are long.
  void join_axes() {
    for (int axis = shape_.size() - 1; axis > 0; --axis) {
      bool alike = std::all_of(strides_.begin(), strides_.end(), [&](const Dims& strides) {
        return strides[axis - 1] == shape_[axis] * strides[axis] || shape_[axis - 1] == 1;
      });
      if (!alike && shape_[axis] != 1) continue;
      int gone = shape_[axis] != 1 ? axis - 1 : axis;
      shape_[gone == axis ? axis - 1 : axis] *= shape_[gone];
      shape_.erase(gone);
      for (Dims& strides : strides_) strides.erase(gone);
    }
  }

  /// Calls `visit(pointers, count)` for at most a block of elements at a time; elements of array i are `step(i)` bytes
  /// apart.
  template <class Visit>
  void run(std::vector<char*> at, Visit&& visit) const {
    if (std::find(shape_.begin(), shape_.end(), 0) != shape_.end()) return;
    int last = shape_.size() - 1;
    Dims position(last, 0);
    for (int64_t visited = 0;;) {
      for (int64_t start = 0; start < shape_[last]; start += kBlock) {
        visit(at.data(), std::min(kBlock, shape_[last] - start));
        move(at, last, kBlock);
        // Checks signals regularly, so that Ctrl-C interrupts a long loop.
        if (++visited % 4096 == 0) anyffi::check_signals();
      }
      move(at, last, -((shape_[last] + kBlock - 1) / kBlock * kBlock));
      int axis = last - 1;
      for (; axis >= 0 && ++position[axis] == shape_[axis]; --axis) {
        position[axis] = 0;
        move(at, axis, 1 - shape_[axis]);
      }
      if (axis < 0) return;
      move(at, axis, 1);
    }
  }

  int64_t step(int array) const { return strides_[static_cast<size_t>(array)][shape_.size() - 1]; }

 private:
  void move(std::vector<char*>& at, int axis, int64_t by) const {
    for (size_t i = 0; i < at.size(); ++i) at[i] += by * strides_[i][axis];
  }
  Dims shape_;
  std::vector<Dims> strides_;
};

/// The first `count` numbers.
Dims head(const Dims& dims, int count) { return Dims(dims.begin(), count); }
Dims tail(const Dims& dims, int from) { return Dims(dims.begin() + from, dims.size() - from); }

/// First and last byte of an array.
std::pair<const char*, const char*> reach(const Strided& array) {
  const char *low = array.data, *high = array.data + array.dtype.item_size() - 1;
  for (int i = 0; i < array.ndim(); ++i) {
    int64_t far = (array.shape[i] - 1) * array.strides[i];
    (far < 0 ? low : high) += far;
  }
  return {low, high};
}

bool is_same_view(const Strided& a, const Strided& b) {
  return a.data == b.data && a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides;
}

}  // namespace

bool may_overlap(const Strided& a, const Strided& b) {
  if (element_count(a.shape) == 0 || element_count(b.shape) == 0) return false;
  auto [low, high] = reach(a);
  auto [other_low, other_high] = reach(b);
  return low <= other_high && other_low <= high;
}

void apply(const Strided& out, Lane result, std::initializer_list<Term> terms, Loop loop) {
  Walk walk(out.shape);
  std::vector<char*> at{out.data};
  std::vector<Load> loads;
  walk.add(out.strides);
  for (const Term& term : terms) {
    walk.add(term.array.broadcast(out.shape).strides);
    at.push_back(term.array.data);
    loads.push_back(loader(term.array.dtype, term.lane));
  }
  walk.join_axes();
  Store store = storer(result, out.dtype);
  std::vector<Block> blocks(terms.size() + 1);
  std::vector<const void*> in;
  for (const Block& block : blocks) in.push_back(block.bytes);
  walk.run(at, [&](char** pointers, int64_t count) {
    for (size_t i = 0; i < loads.size(); ++i) {
      loads[i](pointers[i + 1], walk.step(static_cast<int>(i) + 1), count, blocks[i].bytes);
    }
    loop(in.data(), count, blocks.back().bytes);
    store(blocks.back().bytes, count, pointers[0], walk.step(0));
  });
}

void fold(const Strided& out, const Strided* terms, int count, Lane lane, const Fold& by) {
  int kept = out.ndim();
  Walk outer(out.shape), inner(tail(terms[0].shape, kept));
  std::vector<char*> at{out.data};
  std::vector<Load> loads;
  outer.add(out.strides);
  for (int i = 0; i < count; ++i) {
    outer.add(head(terms[i].strides, kept));
    inner.add(tail(terms[i].strides, kept));
    at.push_back(terms[i].data);
    loads.push_back(loader(terms[i].dtype, lane));
  }
  inner.join_axes();
  Store store = storer(by.result, out.dtype);
  std::vector<Block> blocks(static_cast<size_t>(count));
  std::vector<const void*> in;
  for (const Block& block : blocks) in.push_back(block.bytes);

  auto fold_one = [&](char* to, std::vector<char*> from) {
    alignas(16) char state[sizeof(Complex) * 4], result[sizeof(Complex)];
    by.start(state);
    inner.run(std::move(from), [&](char** pointers, int64_t size) {
      for (size_t i = 0; i < loads.size(); ++i) {
        loads[i](pointers[i], inner.step(static_cast<int>(i)), size, blocks[i].bytes);
      }
      by.add(state, in.data(), count, size);
    });
    by.finish(state, result);
    store(result, 1, to, 0);
  };
  outer.run(at, [&](char** pointers, int64_t size) {
    for (int64_t i = 0; i < size; ++i) {
      std::vector<char*> from;
      for (int j = 1; j <= count; ++j) from.push_back(pointers[j] + i * outer.step(j));
      fold_one(pointers[0] + i * outer.step(0), std::move(from));
    }
  });
}

void assign(const Strided& to, const Strided& from) {
  Lane lane = lane_of(from.dtype);
  apply(to, lane, {{from, lane}}, [](const void* const* in, int64_t count, void* out) {
    // The buffers fit a block of any lane; the bytes after the elements are unused.
    std::memcpy(out, in[0], static_cast<size_t>(count) * sizeof(Complex));
  });
}

Tensor copied(const Strided& array, DataType dtype) {
  Tensor result = allocate(array.shape, dtype);
  assign(write(result), array);
  return result;
}

Tensor raveled(const Strided& array) { return reshaped(copied(array, array.dtype), {element_count(array.shape)}); }

Result::Result(const Optional<Tensor>& out, const Dims& shape, DataType dtype)
    : tensor_(out ? *out : allocate(shape, dtype)), array_(write(tensor_)) {
  if (array_.shape != shape) {
    fail("ValueError",
         "an output of shape " + text_of(array_.shape) + " does not fit a result of shape " + text_of(shape));
  }
  if (!is_same_kind(dtype, array_.dtype)) {
    throw Error("TypeError",
                anyffi::join("", Array<String>{"cannot cast a result of ", dtype.text(), " to an output of ",
                                               array_.dtype.text(), " by the rule 'same_kind'"}));
  }
  // Computes in the result's own dtype, so that it wraps and rounds as without `out`.
  if (array_.dtype != dtype) use_other_place(dtype);
}

void Result::reads(const Strided& input, bool elementwise) {
  bool harmless = !may_overlap(array_, input) || (elementwise && is_same_view(array_, input));
  if (elsewhere_ || harmless) return;
  use_other_place(array_.dtype);
}

void Result::use_other_place(DataType dtype) {
  elsewhere_ = allocate(array_.shape, dtype);
  array_ = write(*elsewhere_);
}

Tensor Result::finish() {
  if (elsewhere_) assign(write(tensor_), array_);
  return tensor_;
}

}  // namespace npx
