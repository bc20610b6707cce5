/// \file
/// The names, versions and symbols of a shared library.
#ifndef ANYFFI_SRC_MODULES_ELF_SYMBOLS_H_
#define ANYFFI_SRC_MODULES_ELF_SYMBOLS_H_

#include "modules/elf_file.h"

#if defined(__ELF__)

namespace anyffi::runtime {

/// Checks all of them that the file lists.
class ElfSymbols {
 public:
  ElfSymbols(const ElfFile& file, const ElfDynamic& dynamic, const ElfSegments& segments);
  /// Checks a symbol that a relocation names. Not all of them are in the hash tables.
  void check_used(uint64_t index, const void* where) const;

 private:
  uint64_t count_hashed();
  uint64_t count_chained();
  void add_found(uint64_t index);
  const char* name_of(uint64_t index, const void* where) const;
  void check_name(uint64_t name, const void* where) const;
  void check_needed_versions();
  void check_needed(const ElfW(Verneed) & needed, uint64_t address);
  void check_defined_versions();
  void check_symbol(uint64_t index, const void* where) const;

  const ElfFile& file_;
  const ElfDynamic& dynamic_;
  const ElfFile::Segment* thread_local_data_;
  const ElfDynamic::Entry* versions_;
  const char* chars_ = nullptr;
  uint64_t num_chars_ = 0;
  uint64_t highest_version_ = 0;
  uint64_t address_ = 0;
  uint64_t num_known_ = 0;
  Vector<bool> is_found_; /* by index: in the hash table that the loader uses */
};

}  // namespace anyffi::runtime

#endif  // __ELF__
#endif  // ANYFFI_SRC_MODULES_ELF_SYMBOLS_H_
