// Functions: typed and packed, defaults, argument counts, movable arguments, and errors.
#include <anyffi/anyffi.h>
#include <anyffi/host_api.h>
#include <anyffi/stl/string.h>
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <string>

#include "allocation.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::Args;
using anyffi::Array;
using anyffi::Error;
using anyffi::Function;
using anyffi::List;
using anyffi::String;

AnyffiValue missing() {
  AnyffiValue value{};
  value.type_code = ANYFFI_MISSING;
  return value;
}

template <class Work>
std::string message_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool slot_is_empty() {
  AnyValue error;
  anyffi_error_take_raised(error.out());
  return error.is_none();
}

}  // namespace

TEST(Function, TypedAndPacked) {
  Function typed = Function::from([](int64_t a, double b) { return static_cast<double>(a) * b; });
  EXPECT_EQ(typed(2, 1.5).cast<double>(), 3.0);
  Function packed = Function::from_packed([](Args args, AnyValue* result) { *result = int64_t{args.size()}; });
  EXPECT_EQ(packed(1, "two", nullptr).cast<int64_t>(), 3);
  EXPECT_EQ(packed().cast<int64_t>(), 0);
  Function nothing = Function::from([] {});
  EXPECT_TRUE(nothing().is_none());
  AnyValue any = typed;
  EXPECT_EQ(any(3, 2).cast<double>(), 6.0);
}

TEST(Function, ReadingPastTheArgumentsIsAnError) {
  Function packed = Function::from_packed([](Args args, AnyValue* result) { *result = args[1]; });
  EXPECT_EQ(packed(1, 2).cast<int64_t>(), 2);
  EXPECT_RAISES("IndexError", packed(1));
}

TEST(Function, DefaultsReplaceMissingArguments) {
  Function f = Function::from(
      [](int64_t a, const String& b, double c) { return Array<>{AnyValue(a), AnyValue(b), AnyValue(c)}; }, arg("a"),
      arg("b") = "b", arg("c") = 0.5);
  EXPECT_EQ(f(1)[2].cast<double>(), 0.5);
  EXPECT_TRUE(f(1, "x")[1] == AnyValue("x"));
  EXPECT_EQ(f(1, AnyView(missing()), 2.5)[2].cast<double>(), 2.5);
  EXPECT_TRUE(f(1, AnyView(missing()), 2.5)[1] == AnyValue("b"));
  EXPECT_EQ(message_of([&] { f(); }), "function() missing 1 required positional argument: 'a'");
  EXPECT_EQ(message_of([&] { f(AnyView(missing()), "x"); }), "function() missing 1 required positional argument: 'a'");
  EXPECT_EQ(message_of([&] { f(1, "b", 2.0, 4); }),
            "function() takes from 1 to 3 positional arguments but 4 were given");
}

TEST(Function, ArgumentCountErrorsArePythons) {
  Function two = Function::from([](int64_t a, int64_t b) { return a - b; }, arg("a"), arg("b"));
  EXPECT_EQ(message_of([&] { two(); }), "function() missing 2 required positional arguments: 'a' and 'b'");
  EXPECT_EQ(message_of([&] { two(1); }), "function() missing 1 required positional argument: 'b'");
  EXPECT_EQ(message_of([&] { two(1, 2, 3); }), "function() takes 2 positional arguments but 3 were given");
  Function none = Function::from([] {});
  EXPECT_EQ(message_of([&] { none(1); }), "function() takes 0 positional arguments but 1 was given");
}

TEST(Function, DescribesItself) {
  Function f = Function::from([](const List<double>&, int64_t) { return String("x"); }, arg("xs"), arg("by") = 2);
  const AnyffiFunctionInfo* info = reinterpret_cast<AnyffiFunction*>(f.get())->info;
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->num_params, 2);
  EXPECT_EQ(info->num_required, 1);
  EXPECT_STREQ(info->params[0].name, "xs");
  EXPECT_STREQ(info->params[0].type_name, "List[float]");
  EXPECT_EQ(info->params[0].default_value, nullptr);
  EXPECT_EQ(AnyView(*info->params[1].default_value).cast<int64_t>(), 2);
  EXPECT_STREQ(info->result_type, "str");
}

TEST(Function, LambdasKeepTheirState) {
  CountingAllocator counting;
  {
    List<> state;
    Function f = Function::from([state](int64_t x) mutable {
      state.push_back(x);
      return state.size();
    });
    EXPECT_EQ(f(1).cast<int64_t>(), 1);
    EXPECT_EQ(f(2).cast<int64_t>(), 2);
    EXPECT_EQ(state.size(), 2);
    EXPECT_EQ(state.use_count(), 2);
  }
  EXPECT_EQ(counting.live(), 0);
}

TEST(Function, OnlyMovableArgumentsAreTaken) {
  const void* seen = nullptr;
  Function freeze = Function::from([&](Array<int64_t> xs) {
    seen = xs.get();
    return xs;
  });
  List<> kept{AnyValue(1)};
  AnyValue result = freeze(kept);
  EXPECT_NE(seen, kept.get());
  EXPECT_EQ(kept.type_code(), ANYFFI_LIST);
  EXPECT_EQ(kept.size(), 1);
  List<> given{AnyValue(1)};
  const void* object = given.get();
  freeze(std::move(given));
  EXPECT_EQ(seen, object);
  List<> shared{AnyValue(1)};
  List<> other = shared;
  object = shared.get();
  freeze(std::move(shared));
  EXPECT_NE(seen, object);
  EXPECT_EQ(other.type_code(), ANYFFI_LIST);
}

TEST(Function, ForwardedArgumentsAreNotTaken) {
  Function take = Function::from([](AnyValue x) { return x; });
  Function pass = Function::from_packed([&](Args args, AnyValue* result) {
    *result = take.call_packed(args);
    *result = take.call_packed(args);
  });
  EXPECT_EQ(pass(List<>{AnyValue(1)}).size(), 1);
}

TEST(Function, RefusedArgumentsAreNotLeaked) {
  CountingAllocator counting;
  {
    Function f = Function::from([](const List<>&, int64_t) {});
    List<> list{AnyValue(1)};
    EXPECT_RAISES("TypeError", f(list, "x"));
    EXPECT_EQ(list.use_count(), 1);
    EXPECT_RAISES("TypeError", f(List<>{AnyValue(1)}, "x"));
  }
  EXPECT_EQ(counting.live(), 0);
}

TEST(Function, ArgumentsBeforeAFailedOneAreNotLeaked) {
  Function function = Function::from_packed([](Args, AnyValue*) {});
  List<int64_t> list;
  EXPECT_THROW(function(List<int64_t>(list), "\xff"), Error);
  EXPECT_EQ(list.use_count(), 1);
}

TEST(Function, NumbersConvertFromBoxesAndBigInts) {
  Function twice = Function::from([](uint64_t x) { return 2 * x; });
  AnyValue box;
  AnyffiValue number = anyffi_make_int(21);
  ASSERT_EQ(anyffi_box_create(&number, box.out()), 0);
  EXPECT_EQ(twice(AnyView(box.raw())).cast<uint64_t>(), 42u);
  EXPECT_EQ(twice(true).cast<int64_t>(), 2);
  EXPECT_EQ(twice(uint64_t{1} << 63).cast<uint64_t>(), 0u);
  EXPECT_EQ(twice(uint64_t{1} << 62).cast<uint64_t>(), uint64_t{1} << 63);
  EXPECT_THROW(twice(-1), Error);
  EXPECT_THROW(twice(1.5), Error);
  EXPECT_THROW(twice(uint64_t{1} << 62).cast<int64_t>(), Error);
}

TEST(Function, ErrorsKeepKindAndMessage) {
  Function fails = Function::from([] { throw Error("KeyError", "gone"); });
  try {
    fails();
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind() == AnyValue("KeyError"));
    EXPECT_TRUE(error.message() == AnyValue("gone"));
    EXPECT_STREQ(error.what(), "gone");
  }
  EXPECT_TRUE(slot_is_empty());
}

TEST(Function, StandardExceptionsByKind) {
  EXPECT_RAISES("MemoryError", Function::from([] { throw std::bad_alloc(); })());
  EXPECT_RAISES("IndexError", Function::from([] { throw std::out_of_range("x"); })());
  EXPECT_RAISES("ValueError", Function::from([] { throw std::invalid_argument("x"); })());
  EXPECT_RAISES("OverflowError", Function::from([] { throw std::overflow_error("x"); })());
  EXPECT_RAISES("RuntimeError", Function::from([] { throw std::logic_error("x"); })());
  EXPECT_RAISES("RuntimeError", Function::from([] { throw 42; })());
  EXPECT_EQ(message_of([] { Function::from([] { throw std::out_of_range("too far"); })(); }), "too far");
  EXPECT_EQ(message_of([] { Function::from([] { throw std::runtime_error("caf\xff"); })(); }), "caf\\xff");
}

TEST(Function, ErrorsTakeAnyText) {
  std::string text = "a std::string";
  EXPECT_STREQ(Error("ValueError", text).what(), "a std::string");
  EXPECT_STREQ(Error("ValueError", text + '!').what(), "a std::string!");
  EXPECT_STREQ(Error("ValueError", std::string_view(text).substr(2, 3)).what(), "std");
  EXPECT_STREQ(Error("ValueError", anyffi::String("a String")).what(), "a String");
  EXPECT_STREQ(Error("ValueError", std::string("not \xff")).what(), "not \\xff");
}

TEST(Function, MessagesOfErrorsAreFormatted) {
  std::string name = "weights";
  EXPECT_STREQ(Error("ValueError", "{} has {} rows, not {}", name, 3, int64_t{4}).what(), "weights has 3 rows, not 4");
  EXPECT_STREQ(Error("ValueError", "{}{}", "text", 0.5).what(), "text0.5");
  EXPECT_STREQ(Error("ValueError", "{} of {}", anyffi::List<int64_t>{1, 2}, nullptr).what(), "[1, 2] of None");
  EXPECT_STREQ(Error("ValueError", "{} and {} {x}", 1).what(), "1 and {} {x}");
  EXPECT_STREQ(Error("ValueError", "one", 1, 2).what(), "one");
  EXPECT_STREQ(Error("ValueError", "{}").what(), "{}");
}

TEST(Function, AnErrorKeepsItsIdentityThroughManyCalls) {
  Function inner = Function::from([] { throw Error("KeyError", "deep"); });
  AnyValue first;
  Function middle = Function::from([&] {
    try {
      inner();
    } catch (const Error& error) {
      first = error.value();
      throw;
    }
  });
  Function outer = Function::from([&] { middle(); });
  try {
    outer();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.value().raw().as_object, first.raw().as_object);
  }
}

TEST(Function, AFailureWithoutAnErrorRaises) {
  AnyValue silent;
  anyffi::detail::check(anyffi_function_create([](void*, AnyffiValue*, int32_t, AnyffiValue*) { return -1; }, nullptr,
                                               nullptr, nullptr, silent.out()));
  EXPECT_RAISES("RuntimeError", silent());
}

TEST(Function, CCodeOwnsItsSelf) {
  static int released;
  released = 0;
  auto call = [](void* self, AnyffiValue*, int32_t, AnyffiValue* result) {
    *result = AnyValue(*static_cast<int64_t*>(self)).release();
    return 0;
  };
  auto release = [](void*) { ++released; };
  int64_t number = 5;
  {
    AnyValue function;
    anyffi::detail::check(anyffi_function_create(call, &number, release, nullptr, function.out()));
    EXPECT_EQ(function().cast<int64_t>(), 5);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  CountingAllocator counting;
  counting.fail_after(0);
  AnyValue none;
  EXPECT_NE(anyffi_function_create(call, &number, release, nullptr, none.out()), 0);
  counting.fail_after(-1);
  EXPECT_EQ(released, 2);
  EXPECT_FALSE(slot_is_empty());
}

TEST(Registry, NamesToFunctions) {
  AnyValue name("test.registered"), found;
  Function one = Function::from([] { return 1; });
  Function two = Function::from([] { return 2; });
  AnyffiValue value = AnyView(one).raw(), other = AnyView(two).raw();
  EXPECT_EQ(anyffi_registry_set(&name.raw(), &value, 0), 0);
  EXPECT_EQ(Function::get_global("test.registered")().cast<int64_t>(), 1);
  EXPECT_RAISES("ValueError", anyffi::detail::check(anyffi_registry_set(&name.raw(), &other, 0)));
  EXPECT_EQ(anyffi_registry_set(&name.raw(), &other, 1), 0);
  EXPECT_EQ(Function::get_global("test.registered")().cast<int64_t>(), 2);
  EXPECT_EQ(one.use_count(), 1);
  int32_t existed;
  EXPECT_EQ(anyffi_registry_remove(&name.raw(), &existed), 0);
  EXPECT_EQ(existed, 1);
  EXPECT_EQ(anyffi_registry_remove(&name.raw(), &existed), 0);
  EXPECT_EQ(existed, 0);
  EXPECT_EQ(two.use_count(), 1);
  EXPECT_EQ(anyffi_registry_find(&name.raw(), found.out()), 0);
  EXPECT_TRUE(found.is_none());
  EXPECT_RAISES("AttributeError", Function::get_global("test.registered"));
  AnyValue number(5);
  EXPECT_RAISES("TypeError", anyffi::detail::check(anyffi_registry_set(&name.raw(), &number.raw(), 0)));
}

AnyffiValue value_of(int32_t type_code, int64_t payload, uint32_t aux = 0) {
  AnyffiValue value{};
  value.type_code = type_code;
  value.aux = aux;
  value.as_int = payload;
  return value;
}

std::string text_of(const AnyffiValue& value) {
  AnyValue text;
  anyffi::detail::check(anyffi_value_repr(&value, text.out()));
  return text.cast<std::string>();
}

/// Calls a function with a recipe.
template <int32_t kSize>
AnyValue call_recipe(const Function& function, AnyffiValue (&recipe)[kSize]) {
  AnyValue result;
  anyffi::detail::check(anyffi_function_call_recipe(function.get(), recipe, kSize, result.out()));
  return result;
}

TEST(Function, ARecipeMakesArguments) {
  expect_no_leak([] {
    static const char text[] = "longer than what fits in place";
    AnyffiValue view = value_of(ANYFFI_STR_VIEW, 0, (sizeof(text) - 1) << 2);
    view.as_pointer = const_cast<char*>(text);
    AnyffiValue one = value_of(ANYFFI_INT, 1), two = value_of(ANYFFI_INT, 2);
    List<> held{AnyValue(7)};
    AnyValue number(3), list(List<>{AnyValue(8)});
    // 1, [view, (2,), held], slice(1, 2), {view: []}, 3, [8]
    AnyffiValue recipe[] = {one,
                            view,
                            two,
                            value_of(ANYFFI_ARRAY, 1, ANYFFI_RECIPE),
                            AnyView(held).raw(),
                            value_of(ANYFFI_LIST, 3, ANYFFI_RECIPE),
                            one,
                            two,
                            AnyffiValue{},
                            value_of(ANYFFI_SLICE, 3, ANYFFI_RECIPE),
                            view,
                            value_of(ANYFFI_LIST, 0, ANYFFI_RECIPE),
                            value_of(ANYFFI_DICT, 2, ANYFFI_RECIPE),
                            value_of(ANYFFI_OBJECT, reinterpret_cast<intptr_t>(&number), ANYFFI_RECIPE),
                            value_of(ANYFFI_OBJECT, reinterpret_cast<intptr_t>(&list), ANYFFI_RECIPE)};
    std::string texts;
    Function function = Function::from_packed([&](Args args, AnyValue* result) {
      EXPECT_EQ(held.use_count(), 2);
      for (int i = 0; i < args.size(); ++i) texts += text_of(args[i].raw()) + "; ";
      *result = int64_t{5};
    });
    EXPECT_EQ(call_recipe(function, recipe).cast<int64_t>(), 5);
    EXPECT_EQ(texts,
              "1; ['longer than what fits in place', (2,), [7]]; slice(1, 2, None); "
              "{'longer than what fits in place': []}; 3; [8]; ");
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_TRUE(number.is_none());
    EXPECT_TRUE(list.is_none());
  });
}

TEST(Function, AResultOutlivesTheArgumentsOfARecipe) {
  expect_no_leak([] {
    AnyffiValue recipe[] = {AnyffiValue{}, value_of(ANYFFI_LIST, 1, ANYFFI_RECIPE)};
    AnyValue text("a text that lies in its own memory");
    recipe[0] = text.raw();
    auto* function = Function::from_packed([](Args, AnyValue*) {}).release();
    auto* changed = reinterpret_cast<AnyffiFunction*>(function);
    changed->call = [](void*, AnyffiValue* args, int32_t, AnyffiValue* result) {
      // A view of the list's element.
      AnyffiTextView view;
      anyffi_view_text(reinterpret_cast<AnyffiSequence*>(args[0].as_object)->data, &view);
      *result = value_of(ANYFFI_STR_VIEW, 0, static_cast<uint32_t>(view.length) << 2);
      result->as_pointer = const_cast<void*>(view.data);
      return 0;
    };
    AnyValue result = call_recipe(Function(anyffi::detail::Adopt{}, function), recipe);
    EXPECT_EQ(result.type_code(), ANYFFI_STR_OBJECT);
    EXPECT_EQ(text_of(result.raw()), "'a text that lies in its own memory'");
  });
}

TEST(Function, AFailedRecipeLeaksNothing) {
  CountingAllocator counting;
  {
    Function function = Function::from_packed([](Args, AnyValue*) { FAIL() << "called"; });
    AnyffiValue one = value_of(ANYFFI_INT, 1);
    AnyffiValue list = value_of(ANYFFI_LIST, 1, ANYFFI_RECIPE), dict = value_of(ANYFFI_DICT, 4, ANYFFI_RECIPE);
    AnyffiValue recipe[] = {one, list, one, one, list, one, one, list, dict};
    EXPECT_RAISES("ValueError", call_recipe(function, recipe));
  }
  EXPECT_EQ(counting.live(), 0);
}

TEST(Function, FailedAllocationsLeakNothing) {
  expect_no_leak([] { Function::from([](int64_t x) { return x; }, arg("x") = 5)(); });
  expect_no_leak([] { Function::from([](const AnyValue& x) { return x; })(List<>{AnyValue("a string on the heap")}); });
  expect_no_leak([] {
    Function fails = Function::from([] { throw Error("KeyError", "a message that is on the heap"); });
    expect_error("KeyError", [&] { fails(); });
  });
  expect_no_leak([] { expect_error("TypeError", [] { Function::from([](int64_t, int64_t) {})(1); }); });
  expect_no_leak([] { expect_error("TypeError", [] { Function::from([](int64_t) {})("a string on the heap"); }); });
  expect_no_leak([] {
    AnyValue key("test.a name that is on the heap");
    Function f = Function::from([] {});
    AnyffiValue value = AnyView(f).raw();
    int32_t existed;
    int status = anyffi_registry_set(&key.raw(), &value, 0);
    if (status == 0) anyffi_registry_remove(&key.raw(), &existed);
    anyffi::detail::check(status);
  });
}
