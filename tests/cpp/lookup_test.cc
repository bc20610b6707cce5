/// Users' functions whose names are verbs that libraries also use, with argument-dependent lookup in anyffi's
/// namespaces: no template of the library may compete with them.
#include <anyffi/anyffi.h>
#include <gtest/gtest.h>

namespace {

int calls = 0;

#define USER_FUNCTION(name)            \
  template <class T>                   \
  void name(T& value) {                \
    static_cast<void>(value), ++calls; \
  }

// clang-format off
#define EACH_NAME(DO) \
  DO(add) DO(append) DO(apply) DO(assign) DO(call) DO(cast) DO(check) DO(clear) DO(clone) DO(close) \
  DO(compare) DO(convert) DO(copy) DO(count) DO(create) DO(destroy) DO(dump) DO(erase) DO(fill) \
  DO(find) DO(get) DO(hash) DO(hold) DO(insert) DO(keep) DO(load) DO(make) DO(merge) DO(move_to) \
  DO(open) DO(pack) DO(parse) DO(pass) DO(print) DO(process) DO(push) DO(put) DO(read) DO(refer) \
  DO(release) DO(remove) DO(replace) DO(reset) DO(run) DO(save) DO(set) DO(settle) DO(share) DO(show) \
  DO(size) DO(slice) DO(sort) DO(split) DO(store) DO(take) DO(to_string) DO(update) DO(use) DO(view) \
  DO(visit) DO(wrap) DO(write)
// clang-format on

EACH_NAME(USER_FUNCTION)

template <class T>
int call_each(T value) {
  calls = 0;
#define CALL_IT(name) name(value);
  EACH_NAME(CALL_IT)
  return calls;
}

TEST(Lookup, FunctionsOfUsersKeepTheirNames) {
  int expected = call_each(0);
  EXPECT_GT(expected, 50);
  EXPECT_EQ(call_each(anyffi::List<int64_t>()), expected);
  EXPECT_EQ(call_each(anyffi::Array<anyffi::String>()), expected);
  EXPECT_EQ((call_each(anyffi::Dict<anyffi::String, int64_t>())), expected);
  EXPECT_EQ((call_each(anyffi::Map<>())), expected);
  EXPECT_EQ(call_each(anyffi::Set<int64_t>()), expected);
  EXPECT_EQ(call_each(anyffi::String("a")), expected);
  EXPECT_EQ(call_each(anyffi::Bytes("a")), expected);
  EXPECT_EQ(call_each(anyffi::Shape()), expected);
  EXPECT_EQ(call_each(anyffi::AnyValue(1)), expected);
  EXPECT_EQ(call_each(anyffi::Function::from([] {})), expected);
  EXPECT_EQ(call_each(anyffi::TypedTensor<float>::empty({1})), expected);
}

}  // namespace
