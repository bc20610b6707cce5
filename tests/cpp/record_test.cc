// Types that front ends declare: completely or not at all, and without leaks if they are refused.
#include <anyffi/anyffi.h>
#include <gtest/gtest.h>

#include <string>

#include "allocation.h"

namespace {

using anyffi::AnyValue;
using anyffi::Array;
using anyffi::Function;

/// A class that a library has declared.
struct Taken {
  static constexpr anyffi::FixedText kTypeKey{"test.Taken"};
  int64_t x;
};

/// A class with the key that the drafts of a type would get.
struct TakenDraft {
  static constexpr anyffi::FixedText kTypeKey{"test.Drafted (not initialized)"};
  int64_t x;
};

constexpr const char* kLong = "a docstring that is not kept in the string itself";

Array<> describe(const char* name) { return Array<>{AnyValue(name)}; }

/// A field, with the description of its type.
Array<> field(const char* name, Array<> description) {
  return Array<>{AnyValue(name), AnyValue(kLong), AnyValue(std::move(description))};
}

/// Fields with all kinds of types; the last one has no initial value, so that drafts need their own type.
Array<> some_fields(bool is_guarded) {
  Array<> list{AnyValue("List"),
               AnyValue(Array<>{AnyValue("tuple"), AnyValue(describe("int")), AnyValue(describe("self"))})};
  Array<> literal{AnyValue("literal"), AnyValue("a choice that is longer than others"), AnyValue(int64_t{5})};
  return Array<>{AnyValue(field("first", describe("int"))), AnyValue(field("second", list)),
                 AnyValue(field("third", literal)), AnyValue(field("last", describe(is_guarded ? "Tensor" : "str")))};
}

AnyValue declare(const char* key, const Array<>& fields, int32_t parent = ANYFFI_OBJECT) {
  return Function::get_global("anyffi.record.declare")(key, kLong, parent, fields);
}

int32_t count_types() { return anyffi_type_list(nullptr, 0); }

/// Whether a declaration succeeds if so many allocations do; if not, it must have left nothing behind.
bool declare_with(CountingAllocator& counting, int64_t num_allocations, const char* key, const Array<>& fields) {
  int64_t before = counting.live();
  int32_t num_types = count_types();
  const AnyffiTypeInfo* former = anyffi_type_find(key);
  counting.fail_after(num_allocations);
  AnyValue kind;
  try {
    declare(key, fields);
  } catch (const std::bad_alloc&) {
    kind = "MemoryError";
  } catch (const anyffi::Error& error) {
    counting.fail_after(-1);
    kind = error.kind();
  }
  counting.fail_after(-1);
  if (kind.is_none()) return true;
  EXPECT_TRUE(kind == AnyValue("MemoryError"));
  EXPECT_EQ(anyffi_type_find(key), former) << "with " << num_allocations << " allocations";
  EXPECT_EQ(count_types(), num_types) << "with " << num_allocations << " allocations";
  EXPECT_EQ(counting.live(), before) << "with " << num_allocations << " allocations";
  return false;
}

/// Declares a type with one more successful allocation each time, until it succeeds.
void declare_at_last(const char* key, const Array<>& fields) {
  // Makes allocations that only the first declaration of a process makes.
  declare("test.Warm", fields);
  CountingAllocator counting;
  int64_t n = 0;
  while (!declare_with(counting, n, key, fields)) ASSERT_LT(++n, 1000);
  EXPECT_GT(n, 10);
}

}  // namespace

TEST(Records, EachAllocationOfADeclarationMayFail) {
  declare_at_last("test.Plain record", some_fields(false));
  const AnyffiTypeInfo* info = anyffi_type_find("test.Plain record");
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->num_fields, 4);
  EXPECT_STREQ(info->fields[1].type_name, "List[tuple[int, test.Plain record]]");
  EXPECT_STREQ(info->fields[1].doc, kLong);
  EXPECT_EQ(info->fields[1].type_code, info->type_code);
}

TEST(Records, EachAllocationOfADeclarationWithDraftsMayFail) {
  declare_at_last("test.Guarded record", some_fields(true));
  const AnyffiTypeInfo* info = anyffi_type_find("test.Guarded record");
  const AnyffiTypeInfo* draft = anyffi_type_find("test.Guarded record (not initialized)");
  ASSERT_TRUE(info != nullptr && draft != nullptr);
  EXPECT_STREQ(draft->python_name, "Guarded record");
  EXPECT_EQ(draft->num_fields, 4);
  EXPECT_EQ(draft->fields[3].type_code, draft->type_code);
  EXPECT_EQ(info->fields[3].type_code, info->type_code);
}

TEST(Records, ManyTypesAreDeclaredTogetherWithTheirDrafts) {
  // Enough types to include the first ones of a part of the table.
  for (int i = 0; i < 300; ++i) {
    std::string key = "test.Guarded" + std::to_string(i);
    Array<> codes = declare(key.c_str(), some_fields(true)).cast<Array<>>();
    EXPECT_STREQ(anyffi_type_get_info(codes[0].cast<int32_t>())->type_key, key.c_str());
    EXPECT_EQ(codes[1].cast<int32_t>(), codes[0].cast<int32_t>() + 1);
  }
}

TEST(Records, ATypeThatWasRegisteredIsAsBeforeUntilItIsDeclared) {
  AnyffiTypeInfo given{};
  given.struct_size = sizeof(given);
  given.type_key = "test.Registered";
  given.parent = ANYFFI_OBJECT;
  int32_t code = ANYFFI_NONE;
  ASSERT_EQ(anyffi_type_register(&given, &code), 0);
  declare_at_last("test.Registered", some_fields(false));
  EXPECT_EQ(anyffi_type_find("test.Registered")->type_code, code);
  EXPECT_EQ(anyffi_type_get_info(code)->num_fields, 4);
}

TEST(Records, ATypeIsDeclaredAgainOrStays) {
  AnyValue codes = declare("test.Again", some_fields(true));
  declare_at_last("test.Again", some_fields(true));
  EXPECT_TRUE(declare("test.Again", some_fields(true)) == codes);
}

TEST(Records, RefusedDeclarationsLeakNothing) {
  anyffi::type_code_of<Taken>();
  anyffi::type_code_of<TakenDraft>();
  Array<> good = some_fields(true);
  Array<> bad{good[0], good[1], good[2], AnyValue(field("x", describe("nonsense")))};
  Array<> nested{good[1], AnyValue(field("x", Array<>{AnyValue("union"), good[1], AnyValue(describe("x"))}))};
  Array<> no_text{good[1], AnyValue(Array<>{AnyValue(int64_t{5}), AnyValue(), AnyValue(describe("int"))})};
  int32_t num_types = count_types();
  expect_no_leak([&] {
    expect_error("ValueError", [&] { declare("test.refused", bad); });
    expect_error("ValueError", [&] { declare("test.refused", nested); });
    expect_error("TypeError", [&] { declare("test.refused", no_text); });
    expect_error("ValueError", [&] { declare("test.refused", good, ANYFFI_LIST); });
    expect_error("ValueError", [&] { declare("Array", good); });
    expect_error("ValueError", [&] { declare("test.Taken", good); });
    expect_error("ValueError", [&] { declare("test.Drafted", good); });
  });
  EXPECT_EQ(anyffi_type_find("test.refused"), nullptr);
  EXPECT_EQ(anyffi_type_find("test.Drafted"), nullptr);
  EXPECT_EQ(count_types(), num_types);
}

TEST(Records, DescriptionsLeakNothing) {
  Array<> description = some_fields(false)[1].cast<Array<>>()[2].cast<Array<>>();
  expect_no_leak([&] {
    AnyValue name = Function::get_global("anyffi.record.describe")("test.Described", description);
    EXPECT_TRUE(name == AnyValue("List[tuple[int, test.Described]]"));
    expect_error("ValueError",
                 [&] { Function::get_global("anyffi.record.describe")("test.Described", describe("nonsense")); });
  });
}
