/// \file
/// Checks the headers of shared libraries: those of the file and those of its segments.
#include "modules/elf_check.h"

#include <anyffi/c_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "core/errors.h"
#include "modules/elf_file.h"

#if defined(__ELF__)

namespace anyffi::runtime {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfFile::Segment;

/// A limit above all addresses in a library and low enough that sums do not overflow.
constexpr uint64_t kMost = uint64_t{1} << 40;
/// The largest page size of any machine.
constexpr uint64_t kLargestPage = 1 << 16;
/// A larger block would fail only when a thread first uses it, which ends the process.
constexpr uint64_t kMostThreadLocal = uint64_t{1} << 30;

/// A separate reason, because building the library again would not help.
constexpr const char* kIsProgram = "a program, which can only be run";

const char* machine_name(unsigned machine) {
  switch (machine) {
    case EM_386:
      return "x86";
    case EM_X86_64:
      return "x86-64";
    case EM_ARM:
      return "arm";
    case EM_AARCH64:
      return "aarch64";
    case EM_PPC64:
      return "ppc64";
    case EM_S390:
      return "s390x";
    case EM_RISCV:
      return "riscv";
    default:
      return "another machine";
  }
}

/// The header of this library: libraries that this process can load have the same class and machine.
const Header& own_header() {
  Dl_info info;
  dladdr(reinterpret_cast<void*>(&anyffi_abi_get_version), &info);
  return *static_cast<const Header*>(info.dli_fbase);
}

bool is_power_of_two_or_zero(uint64_t number) { return (number & (number - 1)) == 0; }

/// Loaded segments must have ascending addresses, and lie within the file and in memory.
void add_loaded(ElfFile* file, const Segment* segment) {
  file->require(segment->p_offset <= file->size() && segment->p_filesz <= file->size() - segment->p_offset, segment,
                "a segment goes beyond the end of the file");
  file->require(segment->p_filesz <= segment->p_memsz && segment->p_vaddr <= kMost && segment->p_memsz <= kMost,
                segment, "a segment has an invalid size");
  file->require(is_power_of_two_or_zero(segment->p_align) && segment->p_align <= kMost, segment,
                "a segment has an invalid alignment");
  if (!file->loaded().empty()) {
    const Segment& last = *file->loaded().back();
    file->require(segment->p_vaddr >= last.p_vaddr + last.p_memsz, segment, "segments overlap");
  }
  file->add_loaded(segment);
}

/// A part of a loaded segment must have the same place in the file and in memory.
void check_part(const ElfFile& file, const Segment& part, uint32_t flags) {
  uint64_t size = part.p_type == PT_TLS ? part.p_filesz : std::max(part.p_filesz, part.p_memsz);
  const Segment* whole = file.find(part.p_vaddr, size, flags);
  file.require(whole != nullptr && part.p_offset - whole->p_offset == part.p_vaddr - whole->p_vaddr, &part,
               "a segment lies outside of those that are loaded");
}

/// Memory that is protected after relocation must be writable before; its last page may extend beyond its segment.
void check_read_only(const ElfFile& file, const Segment& part) {
  const Segment* whole = file.find(part.p_vaddr, 0, PF_W, ElfFile::Extent::kMemory);
  uint64_t left = whole != nullptr ? whole->p_vaddr + whole->p_memsz - part.p_vaddr : 0;
  file.require(whole != nullptr && part.p_memsz <= left + kLargestPage, &part,
               "a segment lies outside of those that are loaded");
}

void check_thread_local(const ElfFile& file, const Segment& part) {
  file.require(part.p_filesz <= part.p_memsz && part.p_memsz <= kMostThreadLocal, &part,
               "a segment has an invalid size");
  file.require(is_power_of_two_or_zero(part.p_align) && part.p_align <= kLargestPage, &part,
               "a segment has an invalid alignment");
  if (part.p_filesz != 0) check_part(file, part, PF_R);
}

void take(const ElfFile& file, const Segment* segment, const Segment** one) {
  file.require(*one == nullptr, segment, "a second segment of a kind of which there is one");
  *one = segment;
}

/// Checks the segments that describe parts of loaded segments.
ElfSegments check_parts(const ElfFile& file, const Header& header, const Segment* begin, const Segment* end) {
  ElfSegments segments;
  for (const Segment* segment = begin; segment != end; ++segment) {
    if (segment->p_type == PT_DYNAMIC) {
      take(file, segment, &segments.dynamic);
      check_part(file, *segment, PF_R | (segment->p_flags & PF_W));
    }
    if (segment->p_type == PT_TLS && segment->p_memsz != 0) {
      take(file, segment, &segments.thread_local_data);
      check_thread_local(file, *segment);
    }
    if (segment->p_memsz == 0) continue;
    if (segment->p_type == PT_NOTE) check_part(file, *segment, PF_R);
    if (segment->p_type == PT_GNU_EH_FRAME) {
      take(file, segment, &segments.unwinding);
      check_part(file, *segment, PF_R);
    }
    if (segment->p_type == PT_GNU_RELRO) {
      take(file, segment, &segments.read_only);
      check_read_only(file, *segment);
    }
    if (segment->p_type == PT_PHDR) {
      check_part(file, *segment, PF_R);
      file.require(segment->p_offset == header.e_phoff, segment, "a segment lies outside of those that are loaded");
    }
  }
  file.require(segments.dynamic != nullptr, begin, "no dynamic section");
  return segments;
}

/// Throws ElfDamage.
void check_content(ElfFile* file, const Header& header) {
  const auto* begin = file->at<Segment>(header.e_phoff, header.e_phnum);
  file->require(begin != nullptr && header.e_phentsize == sizeof(Segment), &header.e_phoff, "no program headers");
  const Segment* end = begin + header.e_phnum;
  for (const Segment* segment = begin; segment != end; ++segment) {
    if (segment->p_type == PT_LOAD) add_loaded(file, segment);
  }
  ElfSegments segments = check_parts(*file, header, begin, end);
  ElfDynamic dynamic(*file, *segments.dynamic);
  const ElfDynamic::Entry* flags = dynamic.find(DT_FLAGS_1);
  file->require(flags == nullptr || (flags->d_un.d_val & DF_1_PIE) == 0, flags, kIsProgram);
  check_elf_dynamic(*file, dynamic, segments);
  check_elf_sections(*file, dynamic, segments);
}

}  // namespace

int check_elf(const char* content, uint64_t size, const String& path) {
  Header header{};
  std::memcpy(&header, content, std::min<uint64_t>(sizeof(header), size));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return raise_format("ValueError", "%s: not a shared library: byte 0: no ELF header", path.c_str());
  }
  if (size < sizeof(header)) {
    return raise_format("ValueError", "%s: not a complete shared library: byte %llu: the ELF header goes on beyond it",
                        path.c_str(), static_cast<unsigned long long>(size));
  }
  const Header& own = own_header();
  bool other_word = header.e_ident[EI_CLASS] != own.e_ident[EI_CLASS];
  bool other_order = header.e_ident[EI_DATA] != own.e_ident[EI_DATA];
  if (other_word || other_order || header.e_machine != own.e_machine) {
    // The machine's number is in the byte order of the file.
    unsigned machine = other_order ? __builtin_bswap16(header.e_machine) : header.e_machine;
    return raise_format("OSError", "%s: built for %s%s%s, while this process runs on %s", path.c_str(),
                        machine_name(machine), other_word ? " with another word size" : "",
                        other_order ? " with another order of bytes" : "", machine_name(own.e_machine));
  }
  if (header.e_type != ET_DYN) {
    return raise_format("ValueError", "%s: not a shared library: byte 16: the ELF file is of another type",
                        path.c_str());
  }
  try {
    ElfFile file(content, size);
    check_content(&file, *file.at<Header>(0, 1));
    return 0;
  } catch (const ElfDamage& damage) {
    if (damage.reason == kIsProgram) {
      return raise_format("ValueError", "%s: not a shared library, but %s", path.c_str(), kIsProgram);
    }
    return raise_format("ValueError", "%s: not a complete shared library: byte %llu: %s; build it again", path.c_str(),
                        static_cast<unsigned long long>(damage.place), damage.reason);
  }
}

}  // namespace anyffi::runtime

#endif  // __ELF__
