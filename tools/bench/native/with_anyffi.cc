// The functions bound with anyffi. `nop` and `echo` take any value: their parameters have no types.
#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

#include <cstdint>
#include <stdexcept>

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::Args;
using anyffi::Array;
using anyffi::Dict;
using anyffi::List;
using anyffi::ObjectRef;
using anyffi::String;

namespace {

template <typename T>
void accept(const T&) {}

/// Work that compilers cannot remove, in time proportional to its steps.
uint64_t work(int64_t steps) {
  uint64_t state = 1;
  for (int64_t i = 0; i < steps; ++i) state = state * 6364136223846793005u + static_cast<uint64_t>(i);
  return state >> 1;
}

int64_t sum(const AnyView& xs, int64_t count) {
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) total += xs[i].cast<int64_t>();
  return total;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("bench.nop").def_packed([](Args, AnyValue*) {});
ANYFFI_REGISTER_GLOBAL("bench.echo").def_packed([](Args args, AnyValue* result) { *result = args[0]; });
ANYFFI_REGISTER_GLOBAL("bench.add_one").def([](int64_t x) { return x + 1; });
ANYFFI_REGISTER_GLOBAL("bench.subtract").def([](int64_t a, int64_t b) { return a - b; }, arg("a"), arg("b"));
ANYFFI_REGISTER_GLOBAL("bench.apply").def([](const anyffi::Function& f, int64_t x) { return f(x).cast<int64_t>(); });
ANYFFI_REGISTER_GLOBAL("bench.call").def_packed([](Args args, AnyValue* result) {
  *result = args[0].cast<anyffi::Function>()();
});
ANYFFI_REGISTER_GLOBAL("bench.fail").def([] { throw std::runtime_error("thrown"); });
ANYFFI_REGISTER_GLOBAL("bench.work").def(&work).release_gil();

ANYFFI_REGISTER_GLOBAL("bench.nop_int_list").def(&accept<Array<int64_t>>);
ANYFFI_REGISTER_GLOBAL("bench.nop_str_list").def(&accept<Array<String>>);
ANYFFI_REGISTER_GLOBAL("bench.nop_int_vector").def(&accept<std::vector<int64_t>>);
ANYFFI_REGISTER_GLOBAL("bench.nop_str_vector").def(&accept<std::vector<std::string>>);
ANYFFI_REGISTER_GLOBAL("bench.nop_int_map").def(&accept<std::map<std::string, int64_t>>);
ANYFFI_REGISTER_GLOBAL("bench.sum").def([](const AnyView& xs) { return sum(xs, xs.size()); });
ANYFFI_REGISTER_GLOBAL("bench.sum_some").def([](const AnyView& xs) { return sum(xs, 10); });
ANYFFI_REGISTER_GLOBAL("bench.sum_ints").def([](const Array<int64_t>& xs) {
  int64_t total = 0;
  for (int64_t x : xs) total += x;
  return total;
});
ANYFFI_REGISTER_GLOBAL("bench.sum_values").def([](const Array<AnyValue>& xs) {
  int64_t total = 0;
  for (const AnyValue& x : xs) total += x.cast<int64_t>();
  return total;
});
// Each read boxes the int.
ANYFFI_REGISTER_GLOBAL("bench.sum_boxes").def([](const Array<ObjectRef>& xs) {
  int64_t total = 0;
  for (const ObjectRef& x : xs) total += AnyValue(x).cast<int64_t>();
  return total;
});
ANYFFI_REGISTER_GLOBAL("bench.touch").def([](const Array<anyffi::Tensor>& xs) {
  int64_t total = 0;
  for (const anyffi::Tensor& x : xs) total += x.ndim();
  return total;
});
ANYFFI_REGISTER_GLOBAL("bench.len").def([](const AnyView& xs) { return xs.size(); });

ANYFFI_REGISTER_GLOBAL("bench.split_erased").def([](const AnyView& word) {
  List<AnyValue> list;
  list.reserve(word.size());
  for (int64_t i = 0; i < word.size(); ++i) list.push_back(word[i]);
  return list;
});
ANYFFI_REGISTER_GLOBAL("bench.split_typed").def([](const String& word) {
  List<String> list;
  list.reserve(word.size());
  for (int64_t i = 0; i < word.size(); ++i) list.push_back(word[i]);
  return list;
});
ANYFFI_REGISTER_GLOBAL("bench.count_words").def([](const String& text, const Dict<String, int64_t>& vocabulary) {
  int64_t total = 0;
  for (const String& word : anyffi::split(text)) total += vocabulary.value_or(word, 0);
  return total;
});

// Like C functions, they report their own errors and those of functions that they call without a C++ exception.
extern "C" {
ANYFFI_EXPORT_SYMBOL int __anyffi_refuse(void*, AnyffiValue*, int32_t, AnyffiValue*) {
  return anyffi_error_raise("ValueError", "refused");
}
ANYFFI_EXPORT_SYMBOL int __anyffi_forward(void*, AnyffiValue* args, int32_t, AnyffiValue* result) {
  return anyffi_function_call(&args[0], nullptr, 0, result);
}
}
