/// \file
/// The dynamic section of a shared library, and its relocations: where the loader writes, and what it calls.
#include <algorithm>
#include <utility>

#include "modules/elf_symbols.h"

#if defined(__ELF__)

namespace anyffi::runtime {
namespace {

using Entry = ElfDynamic::Entry;
using Relocation = ElfW(Rela);

constexpr uint64_t kWord = sizeof(ElfW(Addr));
constexpr uint64_t kFar = uint64_t{1} << 31;
constexpr const char* kOutside = "a table lies outside of the file";
constexpr const char* kUnknown = "relocations of an unknown kind";

/// Relocation types of this machine; for other machines only the extent of the tables is checked.
#if defined(__x86_64__)
constexpr uint32_t kRelative = R_X86_64_RELATIVE, kIndirect = R_X86_64_IRELATIVE, kCopy = R_X86_64_COPY;
#elif defined(__aarch64__)
constexpr uint32_t kRelative = R_AARCH64_RELATIVE, kIndirect = R_AARCH64_IRELATIVE, kCopy = R_AARCH64_COPY;
#else
constexpr uint32_t kRelative = ~0u, kIndirect = ~0u, kCopy = ~0u;
#endif

void check_sizes_of_items(const ElfFile& file, const ElfDynamic& dynamic) {
  const std::pair<int64_t, uint64_t> sizes[] = {{DT_SYMENT, sizeof(ElfW(Sym))},
                                                {DT_RELAENT, sizeof(Relocation)},
                                                {DT_RELENT, sizeof(ElfW(Rel))},
                                                {DT_RELRENT, kWord}};
  for (const auto& [tag, size] : sizes) {
    const Entry* entry = dynamic.find(tag);
    file.require(entry == nullptr || entry->d_un.d_val == size, entry, "items of a table have another size");
  }
  // The loader assumes that the tags of each pair occur together.
  const std::pair<int64_t, int64_t> pairs[] = {{DT_RELA, DT_RELAENT},
                                               {DT_RELA, DT_RELASZ},
                                               {DT_RELR, DT_RELRENT},
                                               {DT_RELR, DT_RELRSZ},
                                               {DT_JMPREL, DT_PLTRELSZ},
                                               {DT_JMPREL, DT_PLTREL},
                                               {DT_INIT_ARRAY, DT_INIT_ARRAYSZ},
                                               {DT_FINI_ARRAY, DT_FINI_ARRAYSZ}};
  for (const auto& [tag, other] : pairs) {
    file.require(dynamic.find(tag) == nullptr || dynamic.find(other) != nullptr, dynamic.find(tag),
                 "the size or kind of a table is missing");
  }
  if (!kIsKnownElfMachine) return;
  for (int64_t tag : {DT_REL, DT_RELSZ, DT_RELENT}) {
    file.require(dynamic.find(tag) == nullptr, dynamic.find(tag), kUnknown);
  }
  const Entry* kind = dynamic.find(DT_PLTREL);
  file.require(kind == nullptr || kind->d_un.d_val == DT_RELA, kind, kUnknown);
}

/// An array of initialisers or finalisers. Each entry must be relocated, else the loader would call an invalid address.
class Functions {
 public:
  Functions(const ElfFile& file, const ElfDynamic& dynamic, int64_t tag, int64_t size_tag, const char* reason)
      : file_(file), reason_(reason) {
    const Entry* entry = dynamic.find(tag);
    if (entry == nullptr) return;
    address_ = entry->d_un.d_ptr;
    uint64_t size = dynamic.value(size_tag);
    content_ = file.table<ElfW(Addr)>(address_, size / kWord, entry, kOutside);
    is_relocated_.resize(size / kWord);
  }
  void note(uint64_t target, bool is_valid, const void* where) {
    uint64_t place = target - address_;
    if (target < address_ || place >= is_relocated_.size() * kWord || place % kWord != 0) return;
    file_.require(is_valid, where, reason_);
    is_relocated_[place / kWord] = true;
  }
  /// Packed relocations store the addresses in the array itself.
  void check(bool has_packed) const {
    for (size_t i = 0; i < is_relocated_.size(); ++i) {
      file_.require(is_relocated_[i] || (has_packed && file_.is_code(content_[i])), &content_[i], reason_);
    }
  }

 private:
  const ElfFile& file_;
  const char* reason_;
  const ElfW(Addr) * content_ = nullptr;
  uint64_t address_ = 0;
  Vector<bool> is_relocated_;
};

class Relocations {
 public:
  Relocations(const ElfFile& file, const ElfDynamic& dynamic, const ElfFile::Segment& segment,
              const ElfSymbols& symbols)
      : file_(file),
        dynamic_(dynamic),
        segment_(segment),
        symbols_(symbols),
        initialisers_(file, dynamic, DT_INIT_ARRAY, DT_INIT_ARRAYSZ, "an initialiser is not in the code"),
        finalisers_(file, dynamic, DT_FINI_ARRAY, DT_FINI_ARRAYSZ, "a finaliser is not in the code") {
    bool writes_code = dynamic.find(DT_TEXTREL) != nullptr || (dynamic.value(DT_FLAGS) & DF_TEXTREL) != 0;
    needed_flags_ = writes_code ? 0 : PF_W;
  }

  void check() {
    check_table(DT_RELA, DT_RELASZ, dynamic_.value(DT_RELACOUNT));
    check_table(DT_JMPREL, DT_PLTRELSZ, 0);
    check_packed();
    initialisers_.check(dynamic_.find(DT_RELR) != nullptr);
    finalisers_.check(dynamic_.find(DT_RELR) != nullptr);
    for (int64_t tag : {DT_INIT, DT_FINI}) {
      const Entry* entry = dynamic_.find(tag);
      file_.require(entry == nullptr || file_.is_code(entry->d_un.d_ptr), entry,
                    "an initialiser or finaliser is not in the code");
    }
  }

 private:
  void check_table(int64_t tag, int64_t size_tag, uint64_t num_relative) {
    const Entry *entry = dynamic_.find(tag), *size = dynamic_.find(size_tag);
    if (entry == nullptr) return;
    uint64_t count = size->d_un.d_val / sizeof(Relocation);
    file_.require(size->d_un.d_val % sizeof(Relocation) == 0, size, "a table has an invalid size");
    const auto* items = file_.table<Relocation>(entry->d_un.d_ptr, count, entry, kOutside);
    for (uint64_t i = 0; i < count; ++i) check_item(items[i], i < num_relative);
  }

  void check_item(const Relocation& item, bool is_relative) {
    auto type = static_cast<uint32_t>(ELF64_R_TYPE(item.r_info));
    file_.require(type != kCopy && (type == kRelative || !is_relative), &item, "a relocation has an invalid type");
    if (type == 0) return;
    check_target(item.r_offset, &item);
    symbols_.check_used(ELF64_R_SYM(item.r_info), &item);
    // A pointer may point before or after its object, but not further than 4 GiB.
    uint64_t addend = static_cast<uint64_t>(item.r_addend), end = file_.loaded().back()->p_vaddr;
    file_.require(addend + kFar <= end + 2 * kFar, &item, "a relocation has an invalid address");
    bool is_code = (type != kRelative && type != kIndirect) || file_.is_code(addend);
    file_.require(type != kIndirect || is_code, &item, "a relocation calls what is not in the code");
    initialisers_.note(item.r_offset, is_code, &item);
    finalisers_.note(item.r_offset, is_code, &item);
  }

  /// Relocations may only write into writable segments, and never into the dynamic section.
  void check_target(uint64_t target, const void* where) const {
    const auto* segment = file_.find(target, sizeof(uint32_t), needed_flags_, ElfFile::Extent::kMemory);
    file_.require(segment != nullptr && target - segment_.p_vaddr >= segment_.p_filesz, where,
                  "a relocation writes outside of the data");
  }

  /// Packed relative relocations: each word is an address, or a bitmap of the 63 words after the last one.
  void check_packed() {
    const Entry* entry = dynamic_.find(DT_RELR);
    if (entry == nullptr) return;
    uint64_t next = 0, count = dynamic_.value(DT_RELRSZ) / kWord;
    const auto* words = file_.table<ElfW(Addr)>(entry->d_un.d_ptr, count, entry, kOutside);
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t word = words[i];
      if ((word & 1) == 0) {
        check_target(word, &words[i]);
        next = word + kWord;
        continue;
      }
      for (uint64_t at = next, bits = word >> 1; bits != 0; at += kWord, bits >>= 1) {
        if ((bits & 1) != 0) check_target(at, &words[i]);
      }
      next += (kWord * 8 - 1) * kWord;
    }
  }

  const ElfFile& file_;
  const ElfDynamic& dynamic_;
  const ElfFile::Segment& segment_;
  const ElfSymbols& symbols_;
  Functions initialisers_, finalisers_;
  uint32_t needed_flags_ = 0;
};

}  // namespace

ElfDynamic::ElfDynamic(const ElfFile& file, const ElfFile::Segment& segment)
    : entries_(file.table<Entry>(segment.p_vaddr, segment.p_filesz / sizeof(Entry), &segment, "no dynamic section")) {
  uint64_t most = segment.p_filesz / sizeof(Entry);
  while (size_ < most && entries_[size_].d_tag != DT_NULL) ++size_;
  file.require(size_ < most, &segment, "the dynamic section does not end");
}

void check_elf_dynamic(const ElfFile& file, const ElfDynamic& dynamic, const ElfSegments& segments) {
  check_sizes_of_items(file, dynamic);
  ElfSymbols symbols(file, dynamic, segments);
  if (kIsKnownElfMachine) Relocations(file, dynamic, *segments.dynamic, symbols).check();
}

}  // namespace anyffi::runtime

#endif  // __ELF__
