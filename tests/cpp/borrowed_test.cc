// Parameters that borrow the object of their argument.
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace test {

struct Seen {
  static constexpr anyffi::FixedText kTypeKey{"borrowed_test.Seen"};
};

/// A user's type with conversions of its own.
struct Rows : anyffi::List<int64_t> {
  using List::List;
};

}  // namespace test

template <>
struct anyffi::Traits<test::Rows> : anyffi::Traits<anyffi::List<int64_t>> {
  static test::Rows take(AnyValue& holder) { return {detail::Adopt{}, holder.release().as_object}; }
};

namespace {

using anyffi::AnyValue;
using anyffi::Array;
using anyffi::Error;
using anyffi::Function;
using anyffi::List;

static_assert(anyffi::detail::kBorrowsObject<List<int64_t>>);
static_assert(anyffi::detail::kBorrowsObject<Function>);
static_assert(!anyffi::detail::kBorrowsObject<anyffi::ObjectRef>, "a std::unique_ptr may take the object");
static_assert(!anyffi::detail::kBorrowsObject<test::Rows>, "its conversion may differ");
static_assert(anyffi::detail::kBorrowsObject<AnyValue>);

int64_t count_of(const AnyValue& x) { return static_cast<int64_t>(x.raw().as_object->strong_count); }

TEST(Borrowed, AReferenceDoesNotCount) {
  List<int64_t> xs{1, 2};
  EXPECT_EQ(Function::from([](const List<int64_t>& x) { return x.use_count(); })(xs).cast<int64_t>(), 1);
  EXPECT_EQ(Function::from([](List<int64_t> x) { return x.use_count(); })(xs).cast<int64_t>(), 2);
  EXPECT_EQ(xs.use_count(), 1);
}

TEST(Borrowed, AnArgumentThatIsConvertedIsOwned) {
  Function count = Function::from([](const Array<int64_t>& x) { return x.use_count(); });
  List<int64_t> xs{1, 2};
  EXPECT_EQ(count(xs).cast<int64_t>(), 1);
  EXPECT_EQ(count(List<int64_t>{3}).cast<int64_t>(), 1);
  EXPECT_EQ(xs.use_count(), 1);
}

TEST(Borrowed, ALaterArgumentThatIsRefusedLeavesTheCount) {
  Function f = Function::from([](const List<int64_t>&, const Array<int64_t>&, int64_t) {});
  List<int64_t> xs{1}, ys{2};
  EXPECT_THROW(f(xs, ys, "no number"), Error);
  EXPECT_EQ(xs.use_count(), 1);
  EXPECT_EQ(ys.use_count(), 1);
}

TEST(Borrowed, AnyValueBorrowsObjectsOfTheRuntime) {
  Function count = Function::from([](const AnyValue& x) { return count_of(x); });
  List<int64_t> xs{1, 2};
  EXPECT_EQ(count(xs).cast<int64_t>(), 1);
  // A std::unique_ptr may take an instance of a class, unless another reference is counted.
  auto seen = anyffi::make_object<test::Seen>();
  EXPECT_EQ(count(seen).cast<int64_t>(), 2);
  EXPECT_EQ(seen.use_count(), 1);
}

TEST(Borrowed, AnyValueIsCountedOrCopiedIfItIsKept) {
  AnyValue kept;
  Function keep = Function::from([&kept](const AnyValue& x) { kept = x; });
  List<int64_t> xs{7};
  keep(xs);
  EXPECT_EQ(xs.use_count(), 2);
  {
    std::string text(100, 'x');
    keep(std::string_view(text));
    text.assign(100, 'y');
  }
  EXPECT_EQ(xs.use_count(), 1);
  EXPECT_EQ(kept.cast<std::string>(), std::string(100, 'x'));
}

TEST(Borrowed, AKeptArgumentIsCounted) {
  List<List<int64_t>> kept;
  Function keep = Function::from([kept](const List<int64_t>& x) mutable { kept.push_back(x); });
  {
    List<int64_t> xs{7};
    keep(xs);
    EXPECT_EQ(xs.use_count(), 2);
  }
  EXPECT_EQ(kept[0][0], 7);
}

}  // namespace
