/// \file
/// Critical sections around containers of the host, for interpreters whose lock does not exclude other threads.
#ifndef ANYFFI_SRC_CORE_SECTION_H_
#define ANYFFI_SRC_CORE_SECTION_H_

#include <anyffi/inline.h>

#include "core/host.h"

namespace anyffi::runtime {

/// Enters a critical section of the host (`section_begin` of AnyffiHost), if it has them. The thread holds the host's
/// lock.
class Section {
 public:
  Section() noexcept { begin(host()); }
  ~Section() { end(); }
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

 protected:
  struct Unopened {};
  explicit Section(Unopened) noexcept {}

  void begin(const AnyffiHost* hooks) noexcept {
    if (hooks == nullptr || hooks->section_begin == nullptr) return;
    end_ = hooks->section_end;
    hooks->section_begin(memory_, hooks->section_object);
  }

 private:
  void end() noexcept {
    if (end_ != nullptr) end_(memory_);
  }

  void (*end_)(void* section) = nullptr;
  alignas(void*) char memory_[ANYFFI_SECTION_SIZE];
};

/// The same, entered only if an argument may be or hold a container that other threads can reach.
class ArgumentSection : public Section {
 public:
  ArgumentSection(const AnyffiValue* args, int32_t num_args) noexcept : Section(Unopened{}) {
    if (anyffi_reach_containers(args, num_args) != 0) begin(host());
  }
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_SECTION_H_
