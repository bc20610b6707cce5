/// \file
/// Recorded frames as text: their libraries, places and functions.
#include <anyffi/c_api.h>
#include <cxxabi.h>
#include <dlfcn.h>
#if defined(__GLIBC__)
#include <link.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/frames.h"
#include "core/immortal.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/mutex.h"

namespace anyffi::runtime {
namespace {

/// The library, offset and symbol at an address, each followed by a NUL.
std::string describe_address(uintptr_t address) {
  // A return address may lie in the next function: look up the byte before it, which belongs to the call.
  void* call = reinterpret_cast<void*>(address - 1);
  Dl_info info{};
  uintptr_t place = 0;
#if defined(__GLIBC__)
  link_map* library = nullptr;
  if (dladdr1(call, &info, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) != 0 && library != nullptr) {
    info.dli_fname = library->l_name;
    place = address - 1 - library->l_addr;
  }
#else
  if (dladdr(call, &info) != 0) place = address - 1 - reinterpret_cast<uintptr_t>(info.dli_fbase);
#endif
  char digits[2 * sizeof(place) + 1] = "";
  if (place != 0) std::snprintf(digits, sizeof(digits), "%zx", static_cast<size_t>(place));
  const char* symbol = info.dli_sname != nullptr ? info.dli_sname : "";
  std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr), &std::free);
  std::string text;
  for (const char* part : {info.dli_fname != nullptr ? info.dli_fname : "", static_cast<const char*>(digits),
                           name != nullptr ? static_cast<const char*>(name.get()) : symbol}) {
    text.append(part).push_back('\0');
  }
  return text;
}

/// Caches descriptions: the loader searches all symbols of a library, which takes microseconds. Never destroyed. Does
/// not use `anyffi_alloc`, because leak reports count its blocks.
struct Described {
  Mutex mutex;
  std::unordered_map<uintptr_t, std::string> texts;
};

void append_frame(String* out, uintptr_t address) {
  static Immortal<Described> made;
  Described& described = *made;
  // Does not wait: after a fork, the holder of the mutex may not exist in this process.
  std::unique_lock<Mutex> lock(described.mutex, std::try_to_lock);
  if (!lock.owns_lock()) {
    out->append(describe_address(address));
    return;
  }
  auto found = described.texts.find(address);
  if (found == described.texts.end()) found = described.texts.emplace(address, describe_address(address)).first;
  out->append(found->second);
}

}  // namespace

int describe_frames(const Frames& frames, bool is_from_host, AnyffiValue* out) {
  String text(is_from_host ? "1" : "0", 2);
  for (int32_t i = 0; i < frames.count; ++i) append_frame(&text, frames.addresses[i]);
  return str_from_utf8_escaped(text.data(), static_cast<int64_t>(text.size()), out);
}

}  // namespace anyffi::runtime
