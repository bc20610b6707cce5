"""A C++ file with sequences that can be sliced, a map that can be iterated over, arrays of numbers inside of objects, and a sparse enumeration."""

from __future__ import annotations

SEQUENCES = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/tuple.h>

#include <array>
#include <map>
#include <stdexcept>
#include <vector>

namespace {

struct Words {
  std::vector<std::string> all{"a", "b", "c", "d", "e"};
  int64_t size() const { return static_cast<int64_t>(all.size()); }
  const std::string& at(int64_t i) const {
    if (i < 0 || i >= size()) throw std::out_of_range("no such word");
    return all[static_cast<size_t>(i)];
  }
};
struct Counts {
  std::map<std::string, int64_t> of;
};
struct Base {
  float plain[2][3] = {{1, 2, 3}, {4, 5, 6}};
};
struct Net : Base {
  std::array<double, 4> w{1, 2, 3, 4};
  const int32_t fixed[3] = {7, 8, 9};
  double sum() const { return w[0] + w[1] + w[2] + w[3]; }
};
enum class Sparse : int64_t { kFar = 1000000, kNear = -5, kAlso = 1000000, kLow = INT64_MIN, kHigh = INT64_MAX, kNone = 0 };

}  // namespace

ANYFFI_CLASS(Words, "seqs.Words")
    .init<>()
    .op(anyffi::ops::len)
    .op(anyffi::ops::getitem, &Words::at, anyffi::arg("index"))
    .slices(&Words::size, &Words::at)
    .method("push", [](Words& self, std::string word) { self.all.push_back(std::move(word)); })
    .method("clear", [](Words& self) { std::vector<std::string>().swap(self.all); })
    .iterate([](const Words& self) { return self.all.begin(); }, [](const Words& self) { return self.all.end(); });
ANYFFI_CLASS(Counts, "seqs.Counts")
    .init<>()
    .method("count", [](Counts& self, const std::string& word) { return ++self.of[word]; })
    .method("first", [](const Counts& self) { return *self.of.begin(); })
    .iterate([](const Counts& self) { return self.of.begin(); }, [](const Counts& self) { return self.of.end(); });
ANYFFI_CLASS(Net, "seqs.Net")
    .init<>()
    .tensor_field("w", &Net::w, "The weights.")
    .tensor_field("plain", &Base::plain)
    .tensor_field("fixed", &Net::fixed)
    .method("sum", &Net::sum);
ANYFFI_ENUM(Sparse, "seqs.Sparse")
    .value("FAR", Sparse::kFar)
    .value("NEAR", Sparse::kNear)
    .value("ALSO", Sparse::kAlso)
    .value("LOW", Sparse::kLow)
    .value("HIGH", Sparse::kHigh)
    .value("NONE", Sparse::kNone);
ANYFFI_EXPORT(same, [](Sparse sparse) { return sparse; });
"""

#: The source of two libraries with exception classes of the same name, but different keys.
SAME_NAMES = """
#include <anyffi/anyffi.h>
#include <stdexcept>
namespace common {
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}
ANYFFI_EXCEPTION(common::Failure, "KEY.Failure", "ValueError");
ANYFFI_EXPORT(fail, [] { throw common::Failure("of KEY"); });
"""
