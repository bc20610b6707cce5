/// \file
/// Shared libraries as files: checks before loading, copies, and the functions that they export.
#include "modules/library_file.h"

#include <anyffi/inline.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/errors.h"
#include "core/memory.h"
#include "core/os_errors.h"

#if defined(__ELF__)
#include <elf.h>
#include <link.h>
#endif

namespace anyffi::runtime {
namespace {

class File {
 public:
  /// Non-blocking, so that opening a pipe without a writer does not hang.
  explicit File(const char* path) : descriptor_(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor() const { return descriptor_; }
  bool read(void* to, size_t size, uint64_t offset) const {
    return pread(descriptor_, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
  }

 private:
  int descriptor_;
};

#if defined(__ELF__)

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);

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

/// The segments that are loaded: of rising addresses that do not overlap, inside of the file and of memory.
class Loaded {
 public:
  /// Returns what is wrong, or null.
  const char* add(const Segment& segment, uint64_t file_size) {
    if (segment.p_offset > file_size || segment.p_filesz > file_size - segment.p_offset) {
      return "a segment goes beyond the end of the file";
    }
    if (segment.p_filesz > segment.p_memsz || segment.p_vaddr > kMost || segment.p_memsz > kMost) {
      return "a segment has an invalid size";
    }
    if (segment.p_vaddr < end_) return "segments overlap";
    if ((segment.p_align & (segment.p_align - 1)) != 0 || segment.p_align > kMost) {
      return "a segment has an invalid alignment";
    }
    end_ = segment.p_vaddr + segment.p_memsz;
    segments_.push_back(segment);
    return nullptr;
  }
  /// The same for a segment that is a part of a loaded one; one that the loader reads lies at the same place in the
  /// file, and one that it protects ends with a page.
  const char* check_part(const Segment& part) const {
    for (const Segment& segment : segments_) {
      if (part.p_vaddr < segment.p_vaddr || part.p_vaddr - segment.p_vaddr >= segment.p_memsz) continue;
      uint64_t place = part.p_vaddr - segment.p_vaddr, left = segment.p_memsz - place;
      if (part.p_type == PT_GNU_RELRO) return part.p_memsz > left + kPage ? kOutside : nullptr;
      bool is_aligned = part.p_vaddr % alignof(ElfW(Word)) == 0;
      if (!is_aligned || part.p_memsz > left || part.p_filesz > left) break;
      if (part.p_type == PT_DYNAMIC && part.p_filesz < sizeof(ElfW(Dyn))) break;
      if (part.p_offset - segment.p_offset != place) break;
      return nullptr;
    }
    return kOutside;
  }

 private:
  static constexpr const char* kOutside = "a segment lies outside of those that are loaded";
  static constexpr uint64_t kMost = uint64_t{1} << 40, kPage = 1 << 16;
  Vector<Segment> segments_;
  uint64_t end_ = 0;
};

int raise_incomplete(const String& path, uint64_t place, const char* reason) {
  return raise_format("ValueError", "%s: not a complete shared library: byte %llu: %s", path.c_str(),
                      static_cast<unsigned long long>(place), reason);
}

/// The loader trusts the program headers; damaged ones would end the process. What else is damaged may do so still.
int check_segments(const File& file, const Header& header, uint64_t file_size, const String& path) {
  Loaded loaded;
  bool has_dynamic = false;
  Vector<std::pair<Segment, uint64_t>> parts;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Segment segment;
    uint64_t place = header.e_phoff + uint64_t{i} * header.e_phentsize;
    if (header.e_phentsize != sizeof(segment) || !file.read(&segment, sizeof(segment), place)) {
      return raise_incomplete(path, place, "no program header");
    }
    const char* wrong = segment.p_type == PT_LOAD ? loaded.add(segment, file_size) : nullptr;
    if (wrong != nullptr) return raise_incomplete(path, place, wrong);
    bool is_part = segment.p_type == PT_DYNAMIC || segment.p_type == PT_GNU_RELRO || segment.p_type == PT_NOTE;
    if (is_part && segment.p_memsz != 0) parts.emplace_back(segment, place);
    has_dynamic = has_dynamic || segment.p_type == PT_DYNAMIC;
  }
  if (!has_dynamic) return raise_incomplete(path, header.e_phoff, "no dynamic section");
  for (const auto& [part, place] : parts) {
    const char* wrong = loaded.check_part(part);
    if (wrong != nullptr) return raise_incomplete(path, place, wrong);
  }
  return 0;
}

int check_format(const File& file, uint64_t file_size, const String& path) {
  Header header{};
  if (!file.read(&header, std::min<uint64_t>(sizeof(header), file_size), 0) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return raise_format("ValueError", "%s: not a shared library: byte 0: no ELF header", path.c_str());
  }
  const Header& own = own_header();
  bool other_word = header.e_ident[EI_CLASS] != own.e_ident[EI_CLASS];
  if (other_word || header.e_ident[EI_DATA] != own.e_ident[EI_DATA] || header.e_machine != own.e_machine) {
    return raise_format("OSError", "%s: built for %s%s, while this process runs on %s", path.c_str(),
                        machine_name(header.e_machine), other_word ? " with another word size" : "",
                        machine_name(own.e_machine));
  }
  if (file_size < sizeof(header) || header.e_type != ET_DYN) {
    return raise_format("ValueError", "%s: not a shared library: byte 16: the ELF file is of another type",
                        path.c_str());
  }
  return check_segments(file, header, file_size, path);
}

/// Addresses in a dynamic section are relocated on most machines, and offsets on others.
template <class T>
const T* dynamic_address(ElfW(Addr) base, ElfW(Addr) address) {
  return reinterpret_cast<const T*>(address < base ? address + base : address);
}

/// The length of the dynamic symbol table, which follows only from its hash table.
uint32_t count_symbols(const uint32_t* gnu_hash) {
  uint32_t num_buckets = gnu_hash[0], first = gnu_hash[1], bloom_words = gnu_hash[2];
  const uint32_t* buckets = gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* chains = buckets + num_buckets;
  uint32_t last = num_buckets > 0 ? *std::max_element(buckets, buckets + num_buckets) : 0;
  if (last < first) return first;
  while ((chains[last - first] & 1) == 0) ++last;
  return last + 1;
}

/// Lists the names, without the prefix, of the functions that a library exports.
void list_exports(ElfW(Addr) base, const ElfW(Dyn) * section, std::string_view prefix, Vector<String>* out) {
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  uint32_t count = 0;
  for (const ElfW(Dyn)* entry = section; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = dynamic_address<ElfW(Sym)>(base, entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) names = dynamic_address<char>(base, entry->d_un.d_ptr);
    if (entry->d_tag == DT_GNU_HASH) count = count_symbols(dynamic_address<uint32_t>(base, entry->d_un.d_ptr));
    if (entry->d_tag == DT_HASH && count == 0) count = dynamic_address<uint32_t>(base, entry->d_un.d_ptr)[1];
  }
  for (uint32_t i = 0; symbols != nullptr && names != nullptr && i < count; ++i) {
    unsigned type = symbols[i].st_info & 15;
    if (symbols[i].st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC)) continue;
    std::string_view name = names + symbols[i].st_name;
    if (name.substr(0, prefix.size()) == prefix) out->emplace_back(name.substr(prefix.size()));
  }
}

struct Search {
  std::string_view prefix;
  Vector<String> names;
  bool out_of_memory = false;
};

/// Searches one loaded library. Must not throw: the loader's lock is held.
int search_library(dl_phdr_info* info, size_t, void* context) {
  auto* search = static_cast<Search*>(context);
  try {
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
      if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
      auto* section = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
      list_exports(info->dlpi_addr, section, search->prefix, &search->names);
    }
  } catch (const std::bad_alloc&) {
    search->out_of_memory = true;
  }
  return search->out_of_memory;
}

#endif  // __ELF__

}  // namespace

int check_library_file(const AnyffiValue* path, const String& name) {
  File file(name.c_str());
  struct stat status;
  if (file.descriptor() < 0 || fstat(file.descriptor(), &status) != 0)
    return raise_os_error(errno, std::strerror(errno), path);
  if (S_ISDIR(status.st_mode)) return raise_os_error(EISDIR, std::strerror(EISDIR), path);
  if (!S_ISREG(status.st_mode)) return raise_format("ValueError", "%s: not a regular file", name.c_str());
#if defined(__ELF__)
  return check_format(file, static_cast<uint64_t>(status.st_size), name);
#else
  return 0;
#endif
}

int copy_library_file(const String& file, String* copy) {
  const char* folder = std::getenv("TMPDIR");
  String base = file.substr(file.rfind('/') + 1);
  *copy = String(folder != nullptr && *folder != 0 ? folder : "/tmp") + "/anyffi-XXXXXX-" + base;
  int target = mkstemps(copy->data(), static_cast<int>(base.size()) + 1);
  File source(file.c_str());
  bool is_copied = target >= 0 && source.descriptor() >= 0;
  for (off_t offset = 0; is_copied;) {
    char buffer[1 << 14];
    ssize_t size = pread(source.descriptor(), buffer, sizeof(buffer), offset);
    if (size == 0) break;
    is_copied = size > 0 && write(target, buffer, static_cast<size_t>(size)) == size;
    offset += size;
  }
  int number = errno;
  if (target >= 0) close(target);
  if (is_copied) return 0;
  if (target >= 0) unlink(copy->c_str());
  return raise_format("OSError", "%s: cannot be loaded again after it failed: cannot write a copy to %s: %s",
                      file.c_str(), copy->c_str(), std::strerror(number));
}

void list_library_functions([[maybe_unused]] void* handle, [[maybe_unused]] std::string_view prefix,
                            [[maybe_unused]] Vector<String>* out) {
#if defined(__ELF__)
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) list_exports(map->l_addr, map->l_ld, prefix, out);
#endif
}

void list_program_functions([[maybe_unused]] std::string_view prefix, [[maybe_unused]] Vector<String>* out) {
#if defined(__ELF__)
  Search search{prefix, {}};
  dl_iterate_phdr(&search_library, &search);
  if (search.out_of_memory) throw std::bad_alloc();
  void* program = dlopen(nullptr, RTLD_NOW);
  for (String& name : search.names) {
    // Most libraries are loaded with RTLD_LOCAL, and not visible to the whole program.
    if (dlsym(program, (String(prefix) + name).c_str()) != nullptr) out->push_back(std::move(name));
  }
#endif
}

}  // namespace anyffi::runtime
