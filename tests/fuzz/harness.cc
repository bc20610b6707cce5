/// \file
/// The entry points that libFuzzer calls. `--target=NAME` selects what is run.
#include "harness.h"

#include <anyffi/inline.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

namespace anyffi::fuzz {
namespace {

const Target* targets[8];
int num_targets = 0;
const Target* chosen = nullptr;

constexpr size_t kMostAtOnce = size_t{1} << 24;
constexpr size_t kMostInAll = size_t{1} << 28;
size_t allocated = 0;
uint32_t until_failure = 0;

void* alloc(size_t size) {
  if (until_failure > 0 && --until_failure == 0) return nullptr;
  if (size > kMostAtOnce || size > kMostInAll - allocated) return nullptr;
  allocated += size;
  return std::malloc(size);
}

void check_sequence(const AnyffiSequence& sequence, std::set<const void*>* seen);
void check_mapping(const AnyffiMapping& mapping, std::set<const void*>* seen);

void check_text(const AnyffiValue& value) {
  AnyffiTextView text;
  require(anyffi_value_get_text_view(&value, &text) == 0, "text can be viewed");
  uint32_t highest = 0;
  for (int64_t i = 0; i < text.length; ++i) highest = std::max(highest, anyffi_get_code_point(&text, i));
  bool is_bytes = value.type_code == ANYFFI_BYTES || value.type_code == ANYFFI_BYTES_OBJECT;
  int32_t narrowest = is_bytes || (highest >= 0x80 && highest < 0x100) ? ANYFFI_LATIN1
                      : highest < 0x80                                 ? ANYFFI_ASCII
                      : highest < 0x10000                              ? ANYFFI_UCS2
                                                                       : ANYFFI_UCS4;
  require(text.encoding == narrowest, "text has the narrowest encoding");
  int64_t width = narrowest == ANYFFI_UCS4 ? 4 : narrowest == ANYFFI_UCS2 ? 2 : 1;
  bool is_inline = value.type_code == ANYFFI_STR || value.type_code == ANYFFI_BYTES;
  require(is_inline == (text.length * width <= ANYFFI_INLINE_BYTES), "text is inline where it fits");
}

void check(const AnyffiValue& value, std::set<const void*>* seen) {
  switch (value.type_code) {
    case ANYFFI_BOX:
    case ANYFFI_STR_VIEW:
    case ANYFFI_BYTES_VIEW:
    case ANYFFI_TENSOR_VIEW:
    case ANYFFI_UNSET:
      require(false, "neither boxed, nor borrowed, nor Unset");
      break;
    case ANYFFI_STR:
    case ANYFFI_BYTES:
    case ANYFFI_STR_OBJECT:
    case ANYFFI_BYTES_OBJECT:
      check_text(value);
      break;
    default:
      require(value.aux == 0, "no flags");
  }
  if (value.type_code <= 0) return;
  const AnyffiObject* object = value.as_object;
  require(object->type_code == value.type_code, "the object has the value's type code");
  require(object->strong_count > 0 && object->weak_count > 0, "the object is alive");
  if (!seen->insert(object).second) return;
  if (value.type_code >= ANYFFI_MAP && value.type_code <= ANYFFI_SET) {
    check_mapping(*reinterpret_cast<const AnyffiMapping*>(object), seen);
  } else if (value.type_code == ANYFFI_ARRAY || value.type_code == ANYFFI_LIST || value.type_code == ANYFFI_SHAPE) {
    check_sequence(*reinterpret_cast<const AnyffiSequence*>(object), seen);
  }
}

void check_sequence(const AnyffiSequence& sequence, std::set<const void*>* seen) {
  require(sequence.size >= 0 && sequence.size <= sequence.capacity, "the elements fit");
  for (int64_t i = 0; i < sequence.size; ++i) {
    check(sequence.data[i], seen);
    require((sequence.type_mask & anyffi_type_bit(sequence.data[i].type_code)) != 0, "the type mask has all types");
  }
}

void check_mapping(const AnyffiMapping& mapping, std::set<const void*>* seen) {
  require(mapping.size >= 0 && mapping.size <= mapping.used && mapping.used <= mapping.capacity, "the entries fit");
  int64_t live = 0;
  for (int64_t i = 0; i < mapping.used; ++i) {
    const AnyffiEntry& entry = mapping.entries[i];
    if (entry.key.type_code == ANYFFI_UNSET) continue;
    ++live;
    check(entry.key, seen);
    check(entry.value, seen);
    require((mapping.key_type_mask & anyffi_type_bit(entry.key.type_code)) != 0, "the type mask has all keys");
    require((mapping.value_type_mask & anyffi_type_bit(entry.value.type_code)) != 0, "the type mask has all values");
  }
  require(live == mapping.size, "the size counts the live entries");
}

/// Calls `visit` with all values that a container holds.
template <class Visit>
void visit_parts(AnyffiObject* object, Visit visit) {
  if (object->type_code == ANYFFI_ARRAY || object->type_code == ANYFFI_LIST) {
    auto* sequence = reinterpret_cast<AnyffiSequence*>(object);
    for (int64_t i = 0; i < sequence->size; ++i) visit(sequence->data[i]);
  } else if (object->type_code >= ANYFFI_MAP && object->type_code <= ANYFFI_SET) {
    auto* mapping = reinterpret_cast<AnyffiMapping*>(object);
    for (int64_t i = 0; i < mapping->used; ++i) visit(mapping->entries[i].key), visit(mapping->entries[i].value);
  } else if (object->type_code == ANYFFI_SLICE) {
    auto* slice = reinterpret_cast<AnyffiSlice*>(object);
    visit(slice->start), visit(slice->stop), visit(slice->step);
  } else if (object->type_code == ANYFFI_ERROR) {
    auto* error = reinterpret_cast<AnyffiError*>(object);
    visit(error->args), visit(error->cause);
  }
}

void choose(const char* name) {
  for (int i = 0; i < num_targets; ++i) {
    if (std::strcmp(targets[i]->name, name) == 0) chosen = targets[i];
  }
}

}  // namespace

Target::Target(const char* name, void (*run)(Input& input)) : name(name), run(run) { targets[num_targets++] = this; }

void require(bool holds, const char* rule) {
  if (holds) return;
  std::fprintf(stderr, "This does not hold: %s\n", rule);
  std::abort();
}

void show(const AnyffiValue& value) {
  Owned text;
  fail_allocation(0);
  anyffi_value_repr(&value, &text);
  AnyffiTextView view{};
  anyffi_view_text(&text, &view);
  std::fprintf(stderr, "%.*s\n", static_cast<int>(view.length), static_cast<const char*>(view.data));
}

bool finished(int status, const AnyffiValue* out) {
  if (status != 0) {
    failed(out);
    return false;
  }
  Owned error;
  anyffi_error_take_raised(&error);
  if (error.type_code != ANYFFI_NONE) show(error);
  require(error.type_code == ANYFFI_NONE, "success leaves no error");
  if (out != nullptr) check_value(*out);
  return true;
}

void failed(const AnyffiValue* out) {
  Owned error;
  anyffi_error_take_raised(&error);
  require(error.type_code == ANYFFI_ERROR, "failure leaves an error");
  require(out == nullptr || out->type_code == ANYFFI_NONE, "failure leaves None in `out`");
}

void check_value(const AnyffiValue& value) {
  std::set<const void*> seen;
  check(value, &seen);
}

void break_cycles(const AnyffiValue& root) {
  std::set<AnyffiObject*> seen;
  std::vector<AnyffiObject*> rest;
  auto add = [&](const AnyffiValue& value) {
    if (value.type_code > 0 && seen.insert(value.as_object).second) rest.push_back(value.as_object);
  };
  add(root);
  while (!rest.empty()) {
    AnyffiObject* object = rest.back();
    rest.pop_back();
    visit_parts(object, add);
  }
  for (AnyffiObject* object : seen) anyffi_object_retain(object);
  for (AnyffiObject* object : seen) {
    if (object->type_code == ANYFFI_LIST) {
      anyffi_sequence_erase(object, 0, reinterpret_cast<AnyffiSequence*>(object)->size);
    } else if (object->type_code == ANYFFI_DICT || object->type_code == ANYFFI_SET) {
      anyffi_mapping_clear(object);
    }
  }
  for (AnyffiObject* object : seen) anyffi_object_release(object);
}

void fail_allocation(uint32_t number) { until_failure = number; }

}  // namespace anyffi::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace anyffi::fuzz;
  constexpr const char kOption[] = "--target=";
  for (int i = 1; i < *argc; ++i) {
    if (std::strncmp((*argv)[i], kOption, sizeof(kOption) - 1) == 0) choose((*argv)[i] + sizeof(kOption) - 1);
  }
  if (chosen == nullptr) {
    std::fprintf(stderr, "usage: anyffi_fuzz --target=NAME [options of libFuzzer] [corpus]; the names are:");
    for (int i = 0; i < num_targets; ++i) std::fprintf(stderr, " %s", targets[i]->name);
    std::fprintf(stderr, "\n");
    std::exit(2);
  }
  AnyffiAllocator allocator{&alloc, &std::free};
  anyffi_allocator_exchange(&allocator);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace anyffi::fuzz;
  allocated = 0;
  until_failure = 0;
  Input input(data, size);
  chosen->run(input);
  return 0;
}
