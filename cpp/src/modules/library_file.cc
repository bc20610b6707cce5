/// \file
/// Shared libraries as files: checks before loading, copies, and the functions that they export.
#include "modules/library_file.h"

#include <anyffi/inline.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
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
#include "modules/elf_check.h"

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

 private:
  int descriptor_;
};

#if defined(__ELF__)

/// The content of a file in memory.
class Mapped {
 public:
  Mapped(const File& file, size_t size)
      : bytes_(mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0)), size_(size) {}
  ~Mapped() {
    if (bytes_ != MAP_FAILED) munmap(bytes_, size_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  const char* bytes() const { return bytes_ != MAP_FAILED ? static_cast<const char*>(bytes_) : nullptr; }

 private:
  void* bytes_;
  size_t size_;
};

/// An address in a dynamic section is absolute on most machines, and an offset on others.
template <class T>
const T* dynamic_address(ElfW(Addr) base, ElfW(Addr) address) {
  return reinterpret_cast<const T*>(address < base ? address + base : address);
}

/// The length of the dynamic symbol table, which must be computed from its hash table.
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
  auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return check_elf("", 0, name);
  Mapped content(file, size);
  if (content.bytes() == nullptr) return raise_os_error(errno, std::strerror(errno), path);
  return check_elf(content.bytes(), size, name);
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
    // Skips libraries loaded with RTLD_LOCAL, as most are: their symbols are not visible to the whole program.
    if (dlsym(program, (String(prefix) + name).c_str()) != nullptr) out->push_back(std::move(name));
  }
#endif
}

}  // namespace anyffi::runtime
