/// \file
/// Sections of code that use containers of Python, where the host's lock does not keep other threads out.
#ifndef ANYFFI_SRC_CORE_SECTION_H_
#define ANYFFI_SRC_CORE_SECTION_H_

#include <anyffi/inline.h>

#include "core/host.h"

namespace anyffi::runtime {

/// Holds a section of the host, if it has such (`section_begin` of AnyffiHost). The thread has the host's lock.
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

/// The same, if one of some arguments may hold containers that other threads can reach.
class ArgumentSection : public Section {
 public:
  ArgumentSection(const AnyffiValue* args, int32_t num_args) noexcept : Section(Unopened{}) {
    if (anyffi_reach_containers(args, num_args) != 0) begin(host());
  }
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_SECTION_H_
