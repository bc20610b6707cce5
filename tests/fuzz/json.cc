/// \file
/// The JSON reader: any bytes give an error, or a value that can be written and read again.
#include <cstring>

#include "harness.h"

namespace anyffi::fuzz {
namespace {

/// A value that may contain itself.
struct Cyclic : Owned {
  ~Cyclic() { break_cycles(*this); }
};

/// Writes a value that was read as JSON.
bool write(const AnyffiValue& value, Owned* out) { return finished(anyffi_json_write(&value, out), out); }

void run(Input& input) {
  std::string text = input.ConsumeRemainingBytesAsString();
  Owned given;
  if (!finished(anyffi_bytes_create(text.data(), static_cast<int64_t>(text.size()), &given), &given)) return;
  Cyclic read;
  if (!finished(anyffi_json_read(&given, &read), &read)) return;
  Owned first, second;
  Cyclic again;
  if (!write(read, &first)) return;
  require(finished(anyffi_json_read(&first, &again), &again), "what was written can be read");
  require(write(again, &second), "what was read again can be written");
  int32_t is_equal = 0;
  require(finished(anyffi_value_equal(&first, &second, &is_equal)) && is_equal == 1, "the same text is written again");
  int64_t hash = 0, other_hash = 0;
  require(finished(anyffi_structure_hash(&read, 0, &hash)) && finished(anyffi_structure_hash(&again, 0, &other_hash)),
          "what was read can be hashed");
  require(hash == other_hash, "the same structure has the same hash");
  Cyclic copy;
  const AnyffiValue none{};
  if (finished(anyffi_structure_map(&read, &none, &copy), &copy)) {
    require(finished(anyffi_structure_equal(&read, &copy, 0, &is_equal)) && is_equal == 1, "a copy is equal");
  }
}

const Target target{"json", &run};

}  // namespace
}  // namespace anyffi::fuzz
