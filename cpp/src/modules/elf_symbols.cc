/// \file
/// The names, versions and symbols of a shared library.
#include "modules/elf_symbols.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#if defined(__ELF__)

namespace anyffi::runtime {
namespace {

using Entry = ElfDynamic::Entry;
using Symbol = ElfW(Sym);

constexpr uint64_t kWord = sizeof(ElfW(Addr));
constexpr const char* kNoName = "a name lies outside of the names";
constexpr const char* kOutside = "a table lies outside of the file";
constexpr const char* kBadVersions = "the table of versions is damaged";
constexpr const char* kBadHash = "the hash table of symbols is damaged";

const Entry* need(const ElfFile& file, const ElfDynamic& dynamic, int64_t tag) {
  const Entry* entry = dynamic.find(tag);
  file.require(entry != nullptr, dynamic.begin(), "the dynamic section has no table of symbols or names");
  return entry;
}

uint32_t gnu_hash(const char* name) {
  uint32_t hash = 5381;
  for (; *name != 0; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

uint32_t old_hash(const char* name) {
  uint32_t hash = 0;
  for (; *name != 0; ++name) {
    hash = (hash << 4) + static_cast<unsigned char>(*name);
    hash = (hash ^ (hash >> 24 & 0xf0)) & 0xfffffff;
  }
  return hash;
}

}  // namespace

ElfSymbols::ElfSymbols(const ElfFile& file, const ElfDynamic& dynamic, const ElfSegments& segments)
    : file_(file),
      dynamic_(dynamic),
      thread_local_data_(segments.thread_local_data),
      versions_(dynamic.find(DT_VERSYM)) {
  const Entry* names = need(file, dynamic, DT_STRTAB);
  num_chars_ = dynamic.value(DT_STRSZ);
  chars_ = file.table<char>(names->d_un.d_ptr, num_chars_, names, kOutside);
  file.require(num_chars_ > 0 && chars_[num_chars_ - 1] == 0, names, "the last name does not end");
  for (const Entry& entry : dynamic) {
    bool is_name = entry.d_tag == DT_NEEDED || entry.d_tag == DT_SONAME || entry.d_tag == DT_RPATH ||
                   entry.d_tag == DT_RUNPATH || entry.d_tag == DT_AUXILIARY || entry.d_tag == DT_FILTER;
    if (is_name) check_name(entry.d_un.d_val, &entry);
  }
  check_needed_versions();
  check_defined_versions();
  const Entry* symbols = need(file, dynamic, DT_SYMTAB);
  address_ = symbols->d_un.d_ptr;
  num_known_ = std::max(count_hashed(), count_chained());
  for (uint64_t i = 0; i < num_known_; ++i) check_symbol(i, symbols);
}

/// Returns the number of symbols, which follows from the last chain of the hash table. Checks the whole table: a weak
/// reference to a symbol that the loader does not find there becomes address 0.
uint64_t ElfSymbols::count_hashed() {
  const Entry* entry = dynamic_.find(DT_GNU_HASH);
  if (entry == nullptr) return 0;
  const auto* header = file_.table<uint32_t>(entry->d_un.d_ptr, 4, entry, kOutside);
  uint64_t num_buckets = header[0], first = header[1], num_words = header[2], words_at = entry->d_un.d_ptr + 16;
  uint64_t buckets_at = words_at + num_words * kWord, chains_at = buckets_at + num_buckets * 4;
  file_.require(num_words != 0 && (num_words & (num_words - 1)) == 0 && header[3] < 32, header, kBadHash);
  const auto* words = file_.table<ElfW(Addr)>(words_at, num_words, header, kBadHash);
  const auto* buckets = file_.table<uint32_t>(buckets_at, num_buckets, header, kBadHash);
  uint64_t num_chains = file_.count_after<uint32_t>(chains_at), num_steps = 0, count = first;
  const auto* chains = file_.table<uint32_t>(chains_at, num_chains, header, kBadHash);
  for (uint64_t i = 0; i < num_buckets; ++i) {
    file_.require(buckets[i] == 0 || buckets[i] >= first, &buckets[i], kBadHash);
    uint64_t symbol = buckets[i];
    for (bool is_last = symbol == 0; !is_last; ++symbol) {
      file_.require(symbol - first < num_chains && num_steps++ < num_chains, &buckets[i], kBadHash);
      const uint32_t& chain = chains[symbol - first];
      uint32_t hash = gnu_hash(name_of(symbol, &chain));
      ElfW(Addr) word = words[hash / (kWord * 8) & (num_words - 1)];
      bool is_in_words = (word >> hash % (kWord * 8) & word >> (hash >> header[3]) % (kWord * 8) & 1) != 0;
      file_.require((hash | 1) == (chain | 1) && hash % num_buckets == i && is_in_words, &chain, kBadHash);
      is_last = (chain & 1) != 0;
      add_found(symbol);
    }
    count = std::max(count, symbol);
  }
  return count;
}

/// The same for the older hash table format.
uint64_t ElfSymbols::count_chained() {
  const Entry* entry = dynamic_.find(DT_HASH);
  if (entry == nullptr || !kIsKnownElfMachine) return 0;
  const auto* header = file_.table<uint32_t>(entry->d_un.d_ptr, 2, entry, kOutside);
  uint64_t num_buckets = header[0], count = header[1], num_steps = 0;
  bool has_new = dynamic_.find(DT_GNU_HASH) != nullptr;
  const auto* buckets = file_.table<uint32_t>(entry->d_un.d_ptr + 8, num_buckets + count, header, kBadHash);
  const uint32_t* chains = buckets + num_buckets;
  for (uint64_t i = 0; i < num_buckets; ++i) {
    for (uint64_t symbol = buckets[i]; symbol != 0; symbol = chains[symbol]) {
      file_.require(symbol < count && num_steps++ < count, &buckets[i], kBadHash);
      file_.require(old_hash(name_of(symbol, &buckets[i])) % num_buckets == i, &buckets[i], kBadHash);
      if (!has_new) add_found(symbol);
    }
  }
  return count;
}

const char* ElfSymbols::name_of(uint64_t index, const void* where) const {
  const auto* symbol = file_.table<Symbol>(address_ + index * sizeof(Symbol), 1, where, kOutside);
  check_name(symbol->st_name, symbol);
  return chars_ + symbol->st_name;
}

void ElfSymbols::add_found(uint64_t index) {
  if (index >= is_found_.size()) is_found_.resize(index + 1);
  is_found_[index] = true;
}

void ElfSymbols::check_used(uint64_t index, const void* where) const {
  if (index >= num_known_) check_symbol(index, where);
  const auto* symbol = file_.table<Symbol>(address_ + index * sizeof(Symbol), 1, where, kOutside);
  bool needs_no_hash = symbol->st_shndx == SHN_UNDEF || (symbol->st_info >> 4) == STB_LOCAL;
  file_.require(needs_no_hash || (index < is_found_.size() && is_found_[index]), symbol,
                "a symbol is not in the hash table");
}

void ElfSymbols::check_name(uint64_t name, const void* where) const {
  file_.require(name < num_chars_, where, kNoName);
}

void ElfSymbols::check_needed_versions() {
  const Entry* entry = dynamic_.find(DT_VERNEED);
  if (entry == nullptr) return;
  uint64_t address = entry->d_un.d_ptr, left = dynamic_.value(DT_VERNEEDNUM);
  const ElfW(Verneed)* needed = nullptr;
  do {
    needed = file_.table<ElfW(Verneed)>(address, 1, entry, kBadVersions);
    check_needed(*needed, address);
    address += needed->vn_next;
    file_.require(left > 0 && (needed->vn_next == 0) == (--left == 0), needed, kBadVersions);
  } while (left > 0);
}

void ElfSymbols::check_needed(const ElfW(Verneed) & needed, uint64_t address) {
  check_name(needed.vn_file, &needed);
  const char* library = chars_ + needed.vn_file;
  bool is_found = std::any_of(dynamic_.begin(), dynamic_.end(), [&](const Entry& entry) {
    return entry.d_tag == DT_NEEDED && std::strcmp(chars_ + entry.d_un.d_val, library) == 0;
  });
  if (!is_found) {
    // Checked because the loader ends the process if a library with required versions is not loaded.
    void* loaded = *library != 0 ? dlopen(library, RTLD_NOW | RTLD_NOLOAD) : nullptr;
    file_.require(loaded != nullptr, &needed, "it uses versions of a library that it does not link to");
    dlclose(loaded);
  }
  uint64_t left = needed.vn_cnt;
  address += needed.vn_aux;
  do {
    const auto* version = file_.table<ElfW(Vernaux)>(address, 1, &needed, kBadVersions);
    check_name(version->vna_name, version);
    highest_version_ = std::max<uint64_t>(highest_version_, version->vna_other & 0x7fff);
    address += version->vna_next;
    file_.require(left > 0 && (version->vna_next == 0) == (--left == 0), version, kBadVersions);
  } while (left > 0);
}

void ElfSymbols::check_defined_versions() {
  const Entry* entry = dynamic_.find(DT_VERDEF);
  if (entry == nullptr) return;
  uint64_t address = entry->d_un.d_ptr, left = dynamic_.value(DT_VERDEFNUM);
  do {
    const auto* defined = file_.table<ElfW(Verdef)>(address, 1, entry, kBadVersions);
    const auto* name = file_.table<ElfW(Verdaux)>(address + defined->vd_aux, 1, defined, kBadVersions);
    check_name(name->vda_name, name);
    highest_version_ = std::max<uint64_t>(highest_version_, defined->vd_ndx & 0x7fff);
    address += defined->vd_next;
    file_.require(left > 0 && (defined->vd_next == 0) == (--left == 0), defined, kBadVersions);
  } while (left > 0);
}

void ElfSymbols::check_symbol(uint64_t index, const void* where) const {
  const auto* symbol = file_.table<Symbol>(address_ + index * sizeof(Symbol), 1, where, kOutside);
  check_name(symbol->st_name, symbol);
  if (versions_ != nullptr) {
    uint64_t address = versions_->d_un.d_ptr + index * sizeof(ElfW(Half));
    const auto* version = file_.table<ElfW(Half)>(address, 1, versions_, kOutside);
    file_.require((*version & 0x7fff) <= std::max<uint64_t>(highest_version_, 1), version, kBadVersions);
  }
  // For a local or hidden symbol, the loader would use the address 0 in this library.
  bool is_searched = (symbol->st_info >> 4) != STB_LOCAL && (symbol->st_other & 3) == STV_DEFAULT;
  file_.require(symbol->st_shndx != SHN_UNDEF || index == 0 || is_searched, symbol, "a symbol has no address");
  if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE || !kIsKnownElfMachine) return;
  unsigned type = symbol->st_info & 15;
  if (type == STT_FUNC || type == STT_GNU_IFUNC) {
    file_.require(file_.is_code(symbol->st_value), symbol, "a function is not in the code");
  } else if (type == STT_TLS) {
    file_.require(thread_local_data_ != nullptr && symbol->st_value <= thread_local_data_->p_memsz, symbol,
                  "a thread-local variable is not in the data of threads");
  } else if (type == STT_OBJECT) {
    file_.require(file_.find(symbol->st_value, 0, PF_R, ElfFile::Extent::kMemory) != nullptr, symbol,
                  "a variable is not in the data");
  }
}

}  // namespace anyffi::runtime

#endif  // __ELF__
