/// \file
/// Shared libraries in ELF format, as unchecked bytes. Finds parts as the system's loader does, but never outside of
/// the file.
#ifndef ANYFFI_SRC_MODULES_ELF_FILE_H_
#define ANYFFI_SRC_MODULES_ELF_FILE_H_

#if defined(__ELF__)

#include <elf.h>
#include <link.h>

#include <cstdint>

#include "core/memory.h"

namespace anyffi::runtime {

/// Other machines get fewer checks.
#if defined(__x86_64__) || defined(__aarch64__)
inline constexpr bool kIsKnownElfMachine = true;
#else
inline constexpr bool kIsKnownElfMachine = false;
#endif

/// What is wrong with a file, and where. Thrown by the checks, caught by `check_elf`.
struct ElfDamage {
  uint64_t place;
  const char* reason;
};

/// The content of a file, and the segments that are loaded from it.
class ElfFile {
 public:
  using Segment = ElfW(Phdr);
  /// The extent of a segment: its bytes in the file, or also the zeros that follow them in memory.
  enum class Extent { kFile, kMemory };

  ElfFile(const char* content, uint64_t size) : content_(content), size_(size) {}

  uint64_t size() const { return size_; }
  /// The program headers that are loaded.
  const Vector<const Segment*>& loaded() const { return loaded_; }
  void add_loaded(const Segment* segment) { loaded_.push_back(segment); }

  /// Throws; `where` points into the content.
  [[noreturn]] void fail(const void* where, const char* reason) const {
    throw ElfDamage{static_cast<uint64_t>(static_cast<const char*>(where) - content_), reason};
  }
  void require(bool condition, const void* where, const char* reason) const {
    if (!condition) fail(where, reason);
  }

  /// Returns `count` items at a position of the file, or null if some lie outside or are not aligned.
  template <class T>
  const T* at(uint64_t offset, uint64_t count) const {
    if (offset % alignof(T) != 0 || offset > size_ || count > (size_ - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(content_ + offset);
  }

  /// Returns a loaded segment with all of these bytes of memory and all of the flags, or NULL.
  const Segment* find(uint64_t address, uint64_t size, uint32_t flags, Extent extent = Extent::kFile) const {
    for (const Segment* segment : loaded_) {
      uint64_t length = extent == Extent::kFile ? segment->p_filesz : segment->p_memsz;
      uint64_t place = address - segment->p_vaddr;
      if (address < segment->p_vaddr || place > length || size > length - place) continue;
      if ((segment->p_flags & flags) == flags) return segment;
    }
    return nullptr;
  }
  bool is_code(uint64_t address) const { return find(address, 1, PF_X) != nullptr; }

  /// Returns `count` items that will be at an address of memory. Throws if the file does not have them.
  template <class T>
  const T* table(uint64_t address, uint64_t count, const void* where, const char* reason) const {
    const Segment* segment = count <= size_ ? find(address, count * sizeof(T), PF_R) : nullptr;
    const T* found = segment ? at<T>(address - segment->p_vaddr + segment->p_offset, count) : nullptr;
    require(found != nullptr, where, reason);
    return found;
  }
  /// The number of items of a type between an address and the end of its segment.
  template <class T>
  uint64_t count_after(uint64_t address) const {
    const Segment* segment = find(address, 0, PF_R);
    return segment ? (segment->p_vaddr + segment->p_filesz - address) / sizeof(T) : 0;
  }

 private:
  const char* content_;
  uint64_t size_;
  Vector<const Segment*> loaded_;
};

/// Segments that describe parts of loaded ones; NULL if the library has none, except for `dynamic`.
struct ElfSegments {
  const ElfFile::Segment* dynamic = nullptr;
  const ElfFile::Segment* thread_local_data = nullptr;
  const ElfFile::Segment* read_only = nullptr; /* after relocation */
  const ElfFile::Segment* unwinding = nullptr;
};

/// The dynamic section: addresses and sizes that the loader uses, by tag. The last entry with a tag counts.
class ElfDynamic {
 public:
  using Entry = ElfW(Dyn);

  ElfDynamic(const ElfFile& file, const ElfFile::Segment& segment);

  const Entry* begin() const { return entries_; }
  const Entry* end() const { return entries_ + size_; }
  /// Returns the entry with a tag, or null.
  const Entry* find(int64_t tag) const {
    for (const Entry* entry = end(); entry != begin();) {
      if ((--entry)->d_tag == tag) return entry;
    }
    return nullptr;
  }
  uint64_t value(int64_t tag) const {
    const Entry* entry = find(tag);
    return entry != nullptr ? entry->d_un.d_val : 0;
  }

 private:
  const Entry* entries_;
  uint64_t size_ = 0;
};

/// Checks the tables that a dynamic section names: strings, symbols, versions, relocations and initialisers.
void check_elf_dynamic(const ElfFile& file, const ElfDynamic& dynamic, const ElfSegments& segments);
/// Compares the section headers, which the loader does not use, with the segments and the dynamic section. Does nothing
/// if the file has none.
void check_elf_sections(const ElfFile& file, const ElfDynamic& dynamic, const ElfSegments& segments);

}  // namespace anyffi::runtime

#endif  // __ELF__
#endif  // ANYFFI_SRC_MODULES_ELF_FILE_H_
