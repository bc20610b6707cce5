/// \file
/// The differences between two values, with their paths.
#include <anyffi/inline.h>

#include <cstring>

#include "core/errors.h"
#include "structure/arrays.h"
#include "structure/comparer.h"

namespace anyffi::runtime {

int Comparer::make_step(const Frame& frame, AnyffiValue* out) {
  Owned value;
  auto type = StepType::kIndex;
  if (frame.form == Form::kSequence) {
    value = Owned(anyffi_make_int(frame.current));
  } else if (frame.form == Form::kMapping || frame.form == Form::kSet) {
    type = frame.form == Form::kMapping ? StepType::kKey : StepType::kElement;
    const Mapping* mapping = as_mapping(frame.a.as_object);
    if (frame.current >= 0 && frame.current < mapping->used) value = retained(mapping->entries[frame.current].key);
  } else {
    const char* name = name_part(frame.type, frame.current);
    if (anyffi_str_from_utf8(name, static_cast<int64_t>(std::strlen(name)), value.out()) != 0) return -1;
    type = StepType::kField;
  }
  return make_array({anyffi_make_int(static_cast<int64_t>(type)), *value.get()}, out);
}

const AnyffiValue* Comparer::find_step(size_t level) {
  int64_t current = stack_[level].current;
  if (level < steps_.size() && steps_[level].current == current) return steps_[level].row.get();
  Owned row;
  if (make_step(stack_[level], row.out()) != 0) return nullptr;
  if (level == steps_.size()) steps_.push_back({});
  steps_[level] = {current, std::move(row)};
  return steps_[level].row.get();
}

Comparer::Verdict Comparer::record(const AnyffiValue* left, const AnyffiValue* right, const AnyffiValue* last_key) {
  if (search_ == Search::kAny) return kDiffers;
  num_steps_ += stack_.size();
  if (num_steps_ > kMostSteps) {
    anyffi_error_raise("OverflowError", "too many differences, too deep inside of the values, to list their paths");
    return kFailed;
  }
  Owned path;
  if (anyffi_sequence_create(ANYFFI_ARRAY, static_cast<int64_t>(stack_.size()), path.out()) != 0) return kFailed;
  for (size_t i = 0; i < stack_.size(); ++i) {
    if (i + 1 == stack_.size() && last_key != nullptr) {
      auto type = stack_[i].form == Form::kMapping ? StepType::kKey : StepType::kElement;
      if (add_row(path->as_object, {anyffi_make_int(static_cast<int64_t>(type)), *last_key}) != 0) return kFailed;
    } else {
      const AnyffiValue* step = find_step(i);
      if (step == nullptr) return kFailed;
      append_owned(path->as_object, retained(*step).take());
    }
  }
  AnyffiValue sides = anyffi_make_int((left != nullptr ? 1 : 0) + (right != nullptr ? 2 : 0));
  Owned row;
  AnyffiValue none = anyffi_make_none();
  if (make_array({*path.get(), left != nullptr ? *left : none, right != nullptr ? *right : none, sides}, row.out()) !=
      0) {
    return kFailed;
  }
  differences_.push_back(std::move(row));
  return search_ == Search::kFirst ? kDiffers : kSame;
}

}  // namespace anyffi::runtime

int anyffi_structure_equal(const AnyffiValue* a, const AnyffiValue* b, uint32_t flags, int32_t* out) {
  using namespace anyffi::runtime;
  *out = 0;
  return guard([&] {
    Comparer comparer(flags, Search::kAny);
    int status = comparer.run(*a, *b);
    *out = status == 1;
    return status < 0 ? -1 : 0;
  });
}

int anyffi_structure_diff(const AnyffiValue* a, const AnyffiValue* b, uint32_t flags, int32_t only_first,
                          AnyffiValue* out) {
  using namespace anyffi::runtime;
  *out = anyffi_make_none();
  return guard([&] {
    Comparer comparer(flags, only_first != 0 ? Search::kFirst : Search::kAll);
    if (comparer.run(*a, *b) < 0) return -1;
    Owned list;
    if (anyffi_sequence_create(ANYFFI_ARRAY, static_cast<int64_t>(comparer.differences().size()), list.out()) != 0) {
      return -1;
    }
    for (Owned& row : comparer.differences()) append_owned(list->as_object, row.take());
    *out = list.take();
    return 0;
  });
}
