/// \file
/// The data of programs: values that were created before, and a host whose hooks use them.
#ifndef ANYFFI_TESTS_FUZZ_WORLD_H_
#define ANYFFI_TESTS_FUZZ_WORLD_H_

#include <anyffi/host_api.h>

#include <deque>
#include <string>
#include <vector>

#include "harness.h"

namespace anyffi::fuzz {

/// An object of the host.
struct Handle {
  int references = 0;
  int64_t hash = 0; /* users' code may be wrong about equality, but not about this */
};

/// The values of one run. They are kept until its end, so that cycles can be found and broken up then.
class World {
 public:
  explicit World(Input& input);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Input& input() { return *input_; }
  /// Any value, borrowed until the end.
  AnyffiValue any();
  /// A container of one of the types from `first` to `last`, borrowed; None if there is none.
  AnyffiValue container(int32_t first, int32_t last);
  /// Keeps a value, after checking it.
  void keep(AnyffiValue* value);
  Handle* new_handle();
  /// Does what users' code may do while the runtime calls it.
  void disturb();

 private:
  Input* input_;
  std::deque<AnyffiValue> values_;
  std::deque<Handle> handles_;
  int depth_ = 0;
};

/// The world of this run.
World& world();
/// Runs an operation with any values.
void run_step(World& world);
/// The same, with the operations for containers of wrappers.
void run_wrapper_step(World& world);
/// The `call` of the host's functions: `self` is a Handle.
int call_back(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result);
void retain_handle(void* handle);
void install_host();

/// Arguments as front ends describe them, from which the runtime creates objects.
class Recipe {
 public:
  explicit Recipe(World& world) : world_(world), input_(world.input()) {}
  ~Recipe();
  Recipe(const Recipe&) = delete;
  Recipe& operator=(const Recipe&) = delete;

  /// Appends one value, nested at most `depth` levels.
  void add(int depth);
  /// Appends a value that is compared without code of the host: a scalar, or an Array or FrozenSet of these.
  void add_plain(int depth);
  AnyffiValue* values() { return steps_.data(); }
  int32_t size() const { return static_cast<int32_t>(steps_.size()); }

 private:
  void push(int32_t type_code, int64_t payload, uint32_t aux = 0);
  void push_made(int32_t type_code, const void* recipe);
  void add_scalar();
  void add_text();
  void add_container(int32_t type_code, int depth, bool is_plain);
  void add_tensor();
  void add_over_handle();
  void add_from_world();

  World& world_;
  Input& input_;
  std::vector<AnyffiValue> steps_;
  std::deque<AnyffiValue> kept_;
  std::deque<std::vector<int64_t>> numbers_;
  std::deque<AnyffiTensorRecipe> tensors_;
  std::deque<AnyffiFunctionRecipe> functions_;
  std::deque<AnyffiPyObjectRecipe> objects_;
  std::deque<AnyffiBigIntRecipe> big_ints_;
  std::deque<AnyffiComplexRecipe> complexes_;
};

}  // namespace anyffi::fuzz

#endif  // ANYFFI_TESTS_FUZZ_WORLD_H_
