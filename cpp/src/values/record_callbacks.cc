/// \file
/// Functions of the front end about record types: the defaults of fields, and `repr`.
#include "values/record_callbacks.h"

#include <map>
#include <mutex>
#include <utility>

#include "core/immortal.h"
#include "core/memory.h"
#include "core/mutex.h"

namespace anyffi::runtime {
namespace {

struct Callbacks {
  Array<anyffi::String> names;  // of the fields with a default
  AnyValue get_default;
  AnyValue get_repr;
};

struct Table {
  Mutex mutex;
  std::map<int32_t, Callbacks, std::less<>, Allocator<std::pair<const int32_t, Callbacks>>> of_type;
};

Table& table() {
  static Immortal<Table> made;
  return *made;
}

/// Changes the callbacks of a type, and forgets them if there are none.
template <class F>
void change(int32_t type_code, F set) {
  Table& known = table();
  // Released after the lock: releasing a function may run users' code.
  Callbacks former;
  std::lock_guard<Mutex> lock(known.mutex);
  Callbacks& callbacks = known.of_type[type_code];
  former = callbacks;
  set(callbacks);
  if (callbacks.names.empty() && callbacks.get_repr.is_none()) known.of_type.erase(type_code);
}

Callbacks find(int32_t type_code) {
  Table& known = table();
  std::lock_guard<Mutex> lock(known.mutex);
  auto found = known.of_type.find(type_code);
  return found == known.of_type.end() ? Callbacks() : found->second;
}

int call(const AnyValue& function, const AnyffiValue& argument, Owned* out) {
  AnyffiValue args[] = {argument};
  return anyffi_function_call(&function.raw(), args, 1, out->out()) != 0 ? -1 : 1;
}

}  // namespace

void set_defaults(int32_t type_code, const Array<anyffi::String>& names, const AnyValue& function) {
  change(type_code, [&](Callbacks& callbacks) {
    callbacks.names = names;
    callbacks.get_default = names.empty() ? AnyValue() : function;
  });
}

int find_default(int32_t type_code, const char* field, Owned* out) {
  Callbacks callbacks = find(type_code);
  for (const anyffi::String& name : callbacks.names) {
    if (name == field) return call(callbacks.get_default, AnyView(name).raw(), out);
  }
  return 0;
}

void set_repr(int32_t type_code, const AnyValue& function) {
  change(type_code, [&](Callbacks& callbacks) { callbacks.get_repr = function; });
}

int find_repr(const AnyffiValue& object, Owned* out) {
  AnyValue get_repr = find(object.type_code).get_repr;
  if (get_repr.is_none()) return 0;
  int status = call(get_repr, object, out);
  return status > 0 && out->get()->type_code == ANYFFI_NONE ? 0 : status;
}

}  // namespace anyffi::runtime
