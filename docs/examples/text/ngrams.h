/// \file
/// Counts of n-grams: tokens become numbers, and n consecutive numbers a row of a table.
#ifndef TEXT_NGRAMS_H_
#define TEXT_NGRAMS_H_

#include <anyffi/anyffi.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace text {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::Dict;
using anyffi::Error;
using anyffi::List;

/// A hash table of distinct rows of `width` numbers, with a count for each.
class Table {
 public:
  explicit Table(size_t width) : width_(width), slots_(1024) {}
  size_t size() const { return counts_.size(); }
  const uint32_t* row(size_t index) const { return rows_.data() + index * width_; }
  int64_t count(size_t index) const { return counts_[index]; }

  void add(const uint32_t* row) {
    uint32_t& slot = find(row);
    if (slot > 0) {
      ++counts_[slot - 1];
      return;
    }
    if (size() == UINT32_MAX) throw Error("OverflowError", "too many different n-grams");
    rows_.resize(size() * width_);  // A former bad_alloc may have left them different.
    rows_.insert(rows_.end(), row, row + width_);
    counts_.push_back(1);
    slot = static_cast<uint32_t>(size());
    if (size() * 2 > slots_.size()) grow();
  }

 private:
  /// The slot of a row: its number plus 1, or 0 if it is new.
  uint32_t& find(const uint32_t* row) {
    uint64_t hash = 0;
    for (size_t i = 0; i < width_; ++i) hash = (hash ^ row[i]) * 0x9E3779B97F4A7C15u, hash ^= hash >> 32;
    size_t mask = slots_.size() - 1, slot = hash & mask;
    while (slots_[slot] > 0 && !std::equal(row, row + width_, this->row(slots_[slot] - 1))) slot = (slot + 1) & mask;
    return slots_[slot];
  }
  void grow() {
    slots_ = std::vector<uint32_t>(slots_.size() * 2);
    for (size_t i = 0; i < size(); ++i) find(row(i)) = static_cast<uint32_t>(i + 1);
  }

  size_t width_;
  std::vector<uint32_t> rows_;
  std::vector<int64_t> counts_;
  std::vector<uint32_t> slots_;
};

class NgramCounts {
 public:
  explicit NgramCounts(int64_t n) : width_(check(n)), table_(width_) {}

  void add(AnyView token) {
    if (last_.size() == width_) last_.erase(last_.begin());
    last_.push_back(number_of(token));
    if (last_.size() == width_) table_.add(last_.data());
  }
  /// Ends a text: no n-gram extends into the next one.
  void end_text() { last_.clear(); }

  /// The counts of n-grams, in the order of first appearance. The key for n = 1 is the token, else an Array of tokens.
  Dict<AnyValue, int64_t> result() const {
    std::vector<AnyValue> tokens;
    for (const auto& [token, number] : numbers_) tokens.emplace_back(token);
    Dict<AnyValue, int64_t> counts;
    for (size_t i = 0; i < table_.size(); ++i) {
      if (width_ == 1) {
        counts.set(tokens[*table_.row(i)], table_.count(i));
        continue;
      }
      List<> ngram;
      ngram.reserve(static_cast<int64_t>(width_));
      for (size_t k = 0; k < width_; ++k) ngram.push_back(tokens[table_.row(i)[k]]);
      counts.set(std::move(ngram).freeze(), table_.count(i));
    }
    return counts;
  }

 private:
  static size_t check(int64_t n) {
    if (n < 1 || n > kLongest) throw Error("ValueError", "n is a number from 1 to 100");
    return static_cast<size_t>(n);
  }
  uint32_t number_of(AnyView token) {
    int64_t number = numbers_.value_or(token, -1);
    if (number < 0) numbers_.set(token, number = numbers_.size());
    return static_cast<uint32_t>(number);
  }

  static constexpr int64_t kLongest = 100;
  size_t width_;
  Dict<AnyView, int64_t> numbers_;
  std::vector<uint32_t> last_;
  Table table_;
};

}  // namespace text

#endif  // TEXT_NGRAMS_H_
