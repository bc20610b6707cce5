/// \file
/// Combines two sets, or a set and values, as far as that needs no code of the host.
#include "values/sets.h"

#include <algorithm>
#include <cstring>

#include "core/errors.h"
#include "values/mapping_block.h"

namespace anyffi::runtime {

int own_element(const AnyffiValue& value, AnyffiValue* out) {
  if (value.type_code != ANYFFI_ARRAY || value.as_object->strong_count != 0) return own_value(&value, out);
  const AnyffiSequence* array = as_sequence(value.as_object);
  return anyffi_sequence_create_from(ANYFFI_ARRAY, array->data, array->size, out);
}

int append_element(Mapping* set, const AnyffiValue& value, int64_t hash) {
  AnyffiValue key;
  if (own_element(value, &key) != 0) return -1;
  if (!has_room(set) && make_room(set) != 0) {
    anyffi_value_drop(&key);
    return -1;
  }
  set->key_type_mask |= anyffi_type_bit(key.type_code);
  set->value_type_mask |= anyffi_type_bit(ANYFFI_NONE);
  append_entry(set, key, anyffi_make_none(), hash);
  return 0;
}

int hash_value(const AnyffiValue& value, int64_t* out) {
  if (is_plain(value) || value.type_code > 0) return hash_key(value, out);
  return anyffi_value_hash(&value, out);
}

int SoughtValues::seek(const Mapping* set, const AnyffiValue* values, int64_t count) {
  size_t head = static_cast<size_t>(count) * sizeof(Sought), marks = static_cast<size_t>(set->used);
  sought_.reset(static_cast<Sought*>(anyffi_alloc(head + marks + 1)));
  if (sought_ == nullptr) return raise_no_memory();
  count_ = count;
  found_ = reinterpret_cast<char*>(sought_.get()) + head;
  std::memset(found_, 0, marks);
  for (int64_t i = 0; i < count; ++i) {
    if (!is_native(values[i])) return kNeedsHost;
    if (hash_value(values[i], &sought_[i].hash) != 0) return -1;
    int64_t entry = sought_[i].entry = find_native(set, values[i], sought_[i].hash);
    if (entry == kUnknownEntry) return kNeedsHost;
    if (entry >= 0) found_[entry] = 1;
  }
  return 0;
}

namespace {

/// The part of an operand that goes into the result: nothing, elements common to both operands, elements that the other
/// one lacks, or all.
enum class Part { kNone, kCommon, kOwn, kAll };

Part part_of_first(int32_t operation) {
  if (operation == ANYFFI_SET_OR) return Part::kAll;
  return operation == ANYFFI_SET_AND ? Part::kCommon : Part::kOwn;
}

Part part_of_second(int32_t operation) {
  return operation == ANYFFI_SET_OR || operation == ANYFFI_SET_XOR ? Part::kOwn : Part::kNone;
}

bool has(Part part, bool is_common) { return part == Part::kAll || is_common == (part == Part::kCommon); }

/// Adds a native value to a set, unless the set has it.
int add_element(Mapping* set, const AnyffiValue& value, int64_t hash) {
  int64_t found;
  if (prepare_native(set, value, &hash, &found) != 0) return -1;
  if (found == kUnknownEntry) return kNeedsHost;
  return found >= 0 ? 0 : append_element(set, value, hash);
}

/// Adds a part of a set; `find` searches the other operand for an entry's element.
template <class Find>
int add_elements(Mapping* to, const Mapping* from, Part part, Find find) {
  if (part == Part::kNone) return 0;
  // Elements of the first operand are distinct, so they need no search. Later ones are searched for, which also detects
  // hash collisions.
  bool are_first = to->used == 0 && !from->hardened;
  for (int64_t i = 0; i < from->used; ++i) {
    const AnyffiEntry& entry = from->entries[i];
    if (entry.key.type_code == ANYFFI_UNSET) continue;
    if (!is_native(entry.key)) return kNeedsHost;
    if (part != Part::kAll) {
      int64_t found = find(i);
      if (found == kUnknownEntry) return kNeedsHost;
      if (!has(part, found >= 0)) continue;
    }
    int64_t hash;
    if (hash_entry(from, entry, &hash) != 0) return -1;
    int status = are_first ? append_element(to, entry.key, hash) : add_element(to, entry.key, hash);
    if (status != 0) return status;
  }
  return 0;
}

/// Whether to search the first operand for the elements of the much smaller second one, and sort the entries found.
bool is_much_smaller(int64_t second, int64_t first) { return second < first / 8; }

/// Adds the elements of these entries, in the order of the entries.
int add_entries(Mapping* to, const Mapping* from, Vector<int64_t>* entries) {
  std::sort(entries->begin(), entries->end());
  entries->erase(std::unique(entries->begin(), entries->end()), entries->end());
  for (int64_t i : *entries) {
    const AnyffiEntry& entry = from->entries[i];
    if (!is_native(entry.key)) return kNeedsHost;
    int64_t hash;
    if (hash_entry(from, entry, &hash) != 0) return -1;
    if (int status = add_element(to, entry.key, hash)) return status;
  }
  return 0;
}

/// Adds the elements of a set that a much smaller second one also has.
int add_common(Mapping* to, const Mapping* from, const Mapping* second) {
  Vector<int64_t> entries;
  for (int64_t i = 0; i < second->used; ++i) {
    if (second->entries[i].key.type_code == ANYFFI_UNSET) continue;
    int64_t found = find_element(from, second, second->entries[i]);
    if (found == kUnknownEntry) return kNeedsHost;
    if (found >= 0) entries.push_back(found);
  }
  return add_entries(to, from, &entries);
}

int add_common(Mapping* to, const Mapping* from, const SoughtValues& sought) {
  Vector<int64_t> entries;
  for (int64_t i = 0; i < sought.count(); ++i) {
    if (sought.has_entry(i)) entries.push_back(sought.entry(i));
  }
  return add_entries(to, from, &entries);
}

/// Adds a part of the values.
int add_values(Mapping* to, const AnyffiValue* values, const SoughtValues& sought, Part part) {
  for (int64_t i = 0; part != Part::kNone && i < sought.count(); ++i) {
    if (!has(part, sought.has_entry(i))) continue;
    int status = add_element(to, values[i], sought.hash(i));
    if (status != 0) return status;
  }
  return 0;
}

/// Ends a combination; without a result if comparing an element needs the host.
int finish(int status, Owned* made, AnyffiValue* out) {
  if (status < 0) return fail(out);
  if (status == 0) *out = made->take();
  return 0;
}

/// The maximum number of elements in a part.
int64_t count_part(Part part, int64_t size, int64_t size_of_other) {
  if (part == Part::kNone) return 0;
  return part == Part::kCommon ? std::min(size, size_of_other) : size;
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_set_combine(const AnyffiObject* first, const AnyffiObject* second, int32_t operation, int32_t type_code,
                       AnyffiValue* out) {
  const Mapping *a = as_mapping(first), *b = as_mapping(second);
  *out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_UNSET), 0);
  if (!is_searchable(a) || !is_searchable(b)) return 0;
  Part part_of_a = part_of_first(operation), part_of_b = part_of_second(operation);
  int64_t most = count_part(part_of_a, a->size, b->size) + count_part(part_of_b, b->size, a->size);
  Owned made;
  if (anyffi_mapping_create(type_code, most, made.out()) != 0) return fail(out);
  Mapping* to = as_mapping(made->as_object);
  if (operation == ANYFFI_SET_AND && is_much_smaller(b->size, a->size)) {
    return finish(guard([&] { return add_common(to, a, b); }), &made, out);
  }
  // The elements common to both are in the result already.
  if (operation == ANYFFI_SET_OR) part_of_b = Part::kAll;
  int status = add_elements(to, a, part_of_a, [a, b](int64_t i) { return find_element(b, a, a->entries[i]); });
  if (status == 0) {
    status = add_elements(to, b, part_of_b, [a, b](int64_t i) { return find_element(a, b, b->entries[i]); });
  }
  return finish(status, &made, out);
}

int anyffi_set_combine_values(const AnyffiObject* set, const AnyffiValue* values, int64_t count, int32_t operation,
                              int32_t is_reflected, int32_t type_code, AnyffiValue* out) {
  const Mapping* mine = as_mapping(set);
  *out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_UNSET), 0);
  if (!is_searchable(mine)) return 0;
  Part part_of_mine = is_reflected ? part_of_second(operation) : part_of_first(operation);
  Part part_of_values = is_reflected ? part_of_first(operation) : part_of_second(operation);
  SoughtValues sought;
  int status = sought.seek(mine, values, count);
  if (status != 0) return status < 0 ? fail(out) : 0;
  int64_t most = count_part(part_of_mine, mine->size, count) + count_part(part_of_values, count, mine->size);
  Owned made;
  if (anyffi_mapping_create(type_code, most, made.out()) != 0) return fail(out);
  Mapping* to = as_mapping(made->as_object);
  if (part_of_mine == Part::kCommon && !is_reflected && is_much_smaller(count, mine->size)) {
    return finish(guard([&] { return add_common(to, mine, sought); }), &made, out);
  }
  if (is_reflected) status = add_values(to, values, sought, part_of_values);
  if (status == 0) {
    status = add_elements(to, mine, part_of_mine, [&sought](int64_t i) { return sought.is_found(i) ? i : -1; });
  }
  if (status == 0 && !is_reflected) status = add_values(to, values, sought, part_of_values);
  return finish(status, &made, out);
}

int32_t anyffi_set_relate(const AnyffiObject* first, const AnyffiObject* second, int32_t wanted) {
  const Mapping *a = as_mapping(first), *b = as_mapping(second);
  if (!is_searchable(b)) return -1;
  for (int64_t i = 0; i < a->used; ++i) {
    if (a->entries[i].key.type_code == ANYFFI_UNSET) continue;
    int64_t found = find_element(b, a, a->entries[i]);
    if (found == kUnknownEntry) return -1;
    if ((found >= 0) != (wanted != 0)) return 0;
  }
  return 1;
}

int32_t anyffi_set_count_values(const AnyffiObject* object, const AnyffiValue* values, int64_t count, int64_t* out) {
  const Mapping* set = as_mapping(object);
  *out = 0;
  if (!is_searchable(set)) return 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t hash;
    if (!is_native(values[i])) return 0;
    if (hash_value(values[i], &hash) != 0) return -1;
    int64_t found = find_native(set, values[i], hash);
    if (found == kUnknownEntry) return 0;
    *out += found >= 0;
  }
  return 1;
}
