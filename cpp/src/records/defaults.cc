/// \file
/// The defaults of record fields, for data that lacks them.
#include "records/defaults.h"

#include <map>
#include <mutex>
#include <utility>

#include "core/immortal.h"
#include "core/memory.h"
#include "core/mutex.h"

namespace anyffi::runtime {
namespace {

struct Defaults {
  Array<anyffi::String> names;
  AnyValue function;
};

struct Table {
  Mutex mutex;
  std::map<int32_t, Defaults, std::less<>, Allocator<std::pair<const int32_t, Defaults>>> of_type;
};

Table& table() {
  static Immortal<Table> made;
  return *made;
}

}  // namespace

void set_defaults(int32_t type_code, const Array<anyffi::String>& names, const AnyValue& function) {
  Table& known = table();
  // Released after the lock: releasing a function may run users' code.
  Defaults former;
  std::lock_guard<Mutex> lock(known.mutex);
  auto found = known.of_type.find(type_code);
  if (found != known.of_type.end()) {
    former = std::move(found->second);
    if (names.empty()) {
      known.of_type.erase(found);
    } else {
      found->second = Defaults{names, function};
    }
  } else if (!names.empty()) {
    known.of_type.emplace(type_code, Defaults{names, function});
  }
}

int find_default(int32_t type_code, const char* field, Owned* out) {
  Defaults defaults;
  {
    Table& known = table();
    std::lock_guard<Mutex> lock(known.mutex);
    auto found = known.of_type.find(type_code);
    if (found == known.of_type.end()) return 0;
    defaults = found->second;
  }
  for (const anyffi::String& name : defaults.names) {
    if (name != field) continue;
    AnyffiValue args[] = {AnyView(name).raw()};
    return anyffi_function_call(&defaults.function.raw(), args, 1, out->out()) != 0 ? -1 : 1;
  }
  return 0;
}

}  // namespace anyffi::runtime
