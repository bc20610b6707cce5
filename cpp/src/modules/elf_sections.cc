/// \file
/// Checks the section headers of a shared library. The loader ignores them, so they describe the library a second time,
/// and reveal damage to either description.
#include <algorithm>
#include <string_view>
#include <utility>

#include "modules/elf_file.h"

#if defined(__ELF__)

namespace anyffi::runtime {
namespace {

using Section = ElfW(Shdr);

/// The sections that an entry of the dynamic section points to.
constexpr std::pair<uint32_t, int64_t> kAddresses[] = {
    {SHT_DYNSYM, DT_SYMTAB},         {SHT_GNU_HASH, DT_GNU_HASH},     {SHT_HASH, DT_HASH},
    {SHT_GNU_versym, DT_VERSYM},     {SHT_GNU_verneed, DT_VERNEED},   {SHT_GNU_verdef, DT_VERDEF},
    {SHT_INIT_ARRAY, DT_INIT_ARRAY}, {SHT_FINI_ARRAY, DT_FINI_ARRAY},
};
constexpr std::pair<uint32_t, int64_t> kSizes[] = {{SHT_INIT_ARRAY, DT_INIT_ARRAYSZ},
                                                   {SHT_FINI_ARRAY, DT_FINI_ARRAYSZ}};

void check_place(const ElfFile& file, const Section& section) {
  uint32_t flags =
      ((section.sh_flags & SHF_WRITE) != 0 ? PF_W : 0u) | ((section.sh_flags & SHF_EXECINSTR) != 0 ? PF_X : 0u);
  bool is_zero = section.sh_type == SHT_NOBITS;
  const auto* segment = file.find(section.sh_addr, section.sh_size, flags | PF_R,
                                  is_zero ? ElfFile::Extent::kMemory : ElfFile::Extent::kFile);
  uint64_t place = segment != nullptr ? section.sh_addr - segment->p_vaddr : 0;
  file.require(segment != nullptr && (is_zero || section.sh_offset - segment->p_offset == place), &section,
               "a section does not lie in a segment that is loaded");
}

/// Whether a relocation section is one of the tables in the dynamic section.
bool is_used(const Section& section, const ElfDynamic& dynamic) {
  const std::pair<int64_t, int64_t> tables[] = {{DT_RELA, DT_RELASZ}, {DT_JMPREL, DT_PLTRELSZ}};
  return std::any_of(std::begin(tables), std::end(tables), [&](const auto& table) {
    uint64_t place = section.sh_addr - dynamic.value(table.first), size = dynamic.value(table.second);
    return place <= size && section.sh_size <= size - place;
  });
}

void check_entries(const ElfFile& file, const Section& section, const ElfDynamic& dynamic) {
  constexpr const char* kDiffers = "a section is not where the dynamic section says";
  for (const auto& [type, tag] : kAddresses) {
    file.require(section.sh_type != type || dynamic.value(tag) == section.sh_addr, &section, kDiffers);
  }
  for (const auto& [type, tag] : kSizes) {
    file.require(section.sh_type != type || dynamic.value(tag) == section.sh_size, &section, kDiffers);
  }
  file.require(section.sh_type != SHT_RELA || is_used(section, dynamic), &section, kDiffers);
}

/// Memory that must be zero at load must be zero in the file, as far as the segment covers it.
void check_zeros(const ElfFile& file, const Section& section) {
  const auto* segment = file.find(section.sh_addr, 0, PF_R);
  if (segment == nullptr) return;
  uint64_t place = section.sh_addr - segment->p_vaddr, size = std::min(section.sh_size, segment->p_filesz - place);
  const char* bytes = file.at<char>(segment->p_offset + place, size);
  file.require(std::all_of(bytes, bytes + size, [](char byte) { return byte == 0; }), segment,
               "data that begins as zeros does not");
}

/// Returns the name of a section; empty if the file has none.
std::string_view find_name(const ElfFile& file, const Section* sections, const Section& section) {
  const auto& header = *file.at<ElfW(Ehdr)>(0, 1);
  if (header.e_shstrndx >= header.e_shnum) return {};
  const Section& names = sections[header.e_shstrndx];
  const char* all = file.at<char>(names.sh_offset, names.sh_size);
  bool is_inside = all != nullptr && section.sh_name < names.sh_size && all[names.sh_size - 1] == 0;
  return is_inside ? all + section.sh_name : std::string_view();
}

/// Checks that depend on the name of a section.
void check_use(const ElfFile& file, const Section& section, std::string_view name, const ElfSegments& segments) {
  // The loader protects whole pages, of a size that depends on the machine.
  constexpr uint64_t kSmallestPage = 4096;
  if (segments.read_only != nullptr && (name == ".data" || name == ".bss")) {
    uint64_t begin = segments.read_only->p_vaddr;
    uint64_t end = (begin + segments.read_only->p_memsz) / kSmallestPage * kSmallestPage;
    file.require(section.sh_addr >= end || section.sh_addr + section.sh_size <= begin, segments.read_only,
                 "data that is written to would be protected");
  }
  // If the loader does not find the unwind tables, throwing an exception ends the process.
  bool is_found = segments.unwinding != nullptr && segments.unwinding->p_vaddr == section.sh_addr;
  file.require(name != ".eh_frame_hdr" || is_found, &section, "exceptions would not be caught");
}

}  // namespace

void check_elf_sections(const ElfFile& file, const ElfDynamic& dynamic, const ElfSegments& segments) {
  const auto& header = *file.at<ElfW(Ehdr)>(0, 1);
  const auto* begin = file.at<Section>(header.e_shoff, header.e_shnum);
  if (begin == nullptr || header.e_shentsize != sizeof(Section)) return;
  // Tools that edit libraries may leave stale section headers behind.
  bool describes_file = std::any_of(begin, begin + header.e_shnum, [&](const Section& section) {
    return section.sh_type == SHT_DYNAMIC && section.sh_addr == segments.dynamic->p_vaddr &&
           section.sh_offset == segments.dynamic->p_offset;
  });
  for (const Section* section = begin; describes_file && section != begin + header.e_shnum; ++section) {
    bool is_zero = section->sh_type == SHT_NOBITS, is_thread_local = (section->sh_flags & SHF_TLS) != 0;
    if ((section->sh_flags & SHF_ALLOC) == 0 || section->sh_size == 0 || (is_zero && is_thread_local)) continue;
    check_place(file, *section);
    if (is_zero) check_zeros(file, *section);
    check_entries(file, *section, dynamic);
    check_use(file, *section, find_name(file, begin, *section), segments);
  }
}

}  // namespace anyffi::runtime

#endif  // __ELF__
