/// \file
/// The values of a run, and the host's hooks, which succeed, fail and change containers as the input determines.
#include "world.h"

#include <anyffi/inline.h>

namespace anyffi::fuzz {
namespace {

World* current = nullptr;
constexpr int kMostLevels = 3;

/// Reports a failure, as hooks do.
int fail_hook() {
  anyffi_error_raise("ValueError", "the host fails");
  return -1;
}

int write_text(AnyffiValue* out) {
  std::string text = world().input().ConsumeRandomLengthString(20);
  for (char& letter : text) letter = static_cast<char>(letter & 0x7F);
  return anyffi_str_create(text.data(), static_cast<int64_t>(text.size()), ANYFFI_LATIN1, out) == 0 ? ANYFFI_HOST_DONE
                                                                                                    : -1;
}

int32_t lock() { return 0; }
void unlock(int32_t) {}

void handle_release(void* handle) {
  require(--static_cast<Handle*>(handle)->references >= 0, "a handle is released once");
}

int handle_hash(void* handle, int64_t* out) {
  world().disturb();
  *out = static_cast<Handle*>(handle)->hash;
  return world().input().ConsumeIntegralInRange(0, 3) == 3 ? fail_hook() : ANYFFI_HOST_DONE;
}

int handle_equal(void*, const AnyffiValue*, int32_t* out) {
  world().disturb();
  *out = world().input().ConsumeIntegralInRange(0, 2);
  return *out == 2 ? fail_hook() : ANYFFI_HOST_DONE;
}

int handle_repr(void*, AnyffiValue* out) {
  world().disturb();
  return world().input().ConsumeBool() ? write_text(out) : fail_hook();
}

int handle_type_name(void*, AnyffiValue* out) { return write_text(out); }

int error_fill(void*, AnyffiValue* kind, AnyffiValue* message, AnyffiValue* traceback) {
  world().disturb();
  if (message != nullptr && (write_text(message) < 0 || write_text(traceback) < 0)) return -1;
  return write_text(kind);
}

int check_signals() { return ANYFFI_HOST_DONE; }
int32_t is_own_wrapper(const AnyffiObject*) { return 1; }

/// Creates a value by a recipe; None if that fails.
AnyffiValue make(World& world, int depth) {
  Recipe recipe(world);
  recipe.add(depth);
  AnyffiValue made{};
  int status = anyffi_recipe_create(recipe.values(), recipe.size(), &made);
  return finished(status, &made) ? made : AnyffiValue{};
}

int handle_convert(void*, int32_t conversion, AnyffiValue* out) {
  world().disturb();
  Input& input = world().input();
  if (input.ConsumeBool()) return input.ConsumeBool() ? fail_hook() : ANYFFI_HOST_DONE;
  *out = make(world(), 2);
  bool is_of_sort = out->type_code == (conversion == ANYFFI_AS_SET ? ANYFFI_SET : ANYFFI_LIST);
  if (!is_of_sort) anyffi_value_release(out);
  return ANYFFI_HOST_DONE;
}

}  // namespace

World::World(Input& input) : input_(&input) { current = this; }

World::~World() {
  fail_allocation(0);
  for (const AnyffiValue& value : values_) break_cycles(value);
  for (AnyffiValue& value : values_) anyffi_value_release(&value);
  for (const Handle& handle : handles_) require(handle.references == 0, "all handles are released");
  current = nullptr;
}

AnyffiValue World::any() {
  if (values_.empty()) return AnyffiValue{};
  return values_[input_->ConsumeIntegralInRange<size_t>(0, values_.size() - 1)];
}

AnyffiValue World::container(int32_t first, int32_t last) {
  for (size_t i = 0, from = input_->ConsumeIntegral<uint8_t>(); i < values_.size(); ++i) {
    const AnyffiValue& value = values_[(from + i) % values_.size()];
    if (value.type_code >= first && value.type_code <= last) return value;
  }
  return AnyffiValue{};
}

void World::keep(AnyffiValue* value) {
  check_value(*value);
  values_.push_back(*value);
  *value = AnyffiValue{};
}

Handle* World::new_handle() { return &handles_.emplace_back(Handle{0, input_->ConsumeBool()}); }

void World::disturb() {
  if (depth_ == kMostLevels || input_->remaining_bytes() == 0 || input_->ConsumeBool()) return;
  ++depth_;
  run_step(*this);
  --depth_;
}

World& world() { return *current; }

void retain_handle(void* handle) { ++static_cast<Handle*>(handle)->references; }

int call_back(void*, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  world().disturb();
  Input& input = world().input();
  *result = AnyffiValue{};
  switch (input.ConsumeIntegralInRange(0, 3)) {
    case 0:
      return fail_hook();
    case 1:
      if (num_args > 0) return anyffi_value_own(&args[0], result) == 0 ? ANYFFI_HOST_DONE : -1;
      return ANYFFI_HOST_DONE;
    case 2:
      *result = make(world(), 2);
      return ANYFFI_HOST_DONE;
    default:
      return ANYFFI_HOST_DONE;
  }
}

void install_host() {
  AnyffiHost host{};
  host.struct_size = sizeof(host);
  host.lock = &lock;
  host.unlock = &unlock;
  host.handle_release = &handle_release;
  host.handle_hash = &handle_hash;
  host.handle_equal = &handle_equal;
  host.handle_repr = &handle_repr;
  host.handle_type_name = &handle_type_name;
  host.error_fill = &error_fill;
  host.check_signals = &check_signals;
  host.is_own_wrapper = &is_own_wrapper;
  host.handle_convert = &handle_convert;
  anyffi_host_install(&host);
}

}  // namespace anyffi::fuzz
