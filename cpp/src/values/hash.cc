/// \file
/// Hashes of keys. Numbers and tuples hash as in Python, so that keys that are equal in Python have equal hashes.
#include "values/hash.h"

#include <anyffi/inline.h>

#include <cmath>
#include <cstring>

#include "core/depth.h"
#include "core/errors.h"
#include "core/host.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/owned.h"
#include "core/types.h"
#include "values/containers.h"
#include "values/host_objects.h"

namespace anyffi::runtime {
namespace {

constexpr int64_t kHashOfInfinity = 314159;
constexpr int64_t kHashOfNan = 0x6E616E;
constexpr int64_t kHashOfNone = 0xFCA86420;
constexpr int64_t kHashOfEllipsis = 0x2E2E2E;

/// Multiplies by a power of two modulo the prime 2**61 - 1, which is a rotation of 61 bits.
uint64_t rotate(uint64_t number, int bits) { return ((number << bits) & kModulus) | number >> (kModulusBits - bits); }

int64_t hash_float(double number) {
  if (number >= -0x1p63 && number < 0x1p63) {
    auto whole = static_cast<int64_t>(number);
    if (static_cast<double>(whole) == number) return hash_int(whole);
  }
  if (std::isnan(number)) return kHashOfNan;
  if (std::isinf(number)) return number > 0 ? kHashOfInfinity : -kHashOfInfinity;
  // mantissa * 2**exponent, where the mantissa is a whole number of up to 53 bits, below the prime.
  uint64_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  uint64_t mantissa = bits & ((uint64_t{1} << 52) - 1);
  auto field = static_cast<unsigned>(bits >> 52 & 0x7FF);
  // The exponent field is biased by 1075, which is 38 modulo 61. Field 0 means exponent 1 without the implicit highest
  // bit.
  if (field != 0) mantissa |= uint64_t{1} << 52;
  unsigned shift = ((field == 0 ? 1 : field) + kModulusBits - 1075 % kModulusBits) % kModulusBits;
  auto hash = static_cast<int64_t>(rotate(mantissa, static_cast<int>(shift)));
  return avoid_minus_one(number < 0 ? -hash : hash);
}

uint64_t load_word(const unsigned char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

/// For at least eight bytes, since shorter text is inline. Never 0, which means "not computed yet".
int64_t hash_bytes(const void* data, size_t size) {
  auto* bytes = static_cast<const unsigned char*>(data);
  uint64_t hash = size ^ hash_secrets[3];
  size_t left = size;
  if (left >= 64) {
    // Two chains, whose multiplications overlap.
    uint64_t other = hash ^ hash_secrets[2];
    for (; left >= 64; bytes += 32, left -= 32) {
      hash = fold(load_word(bytes) ^ hash_secrets[0], load_word(bytes + 8) ^ hash);
      other = fold(load_word(bytes + 16) ^ hash_secrets[1], load_word(bytes + 24) ^ other);
    }
    hash ^= other;
  }
  for (; left > 16; bytes += 16, left -= 16)
    hash = fold(load_word(bytes) ^ hash_secrets[0], load_word(bytes + 8) ^ hash);
  // The last sixteen bytes, which may overlap earlier ones; for shorter text the first and the last eight.
  const unsigned char* end = bytes + left;
  const unsigned char* tail = size >= 16 ? end - 16 : static_cast<const unsigned char*>(data);
  hash = fold(load_word(tail) ^ hash_secrets[1], load_word(end - 8) ^ hash);
  hash = fold(hash ^ hash_secrets[2], size ^ hash_secrets[0]);
  if (hash == 0) hash = hash_secrets[3];
  return avoid_minus_one(static_cast<int64_t>(hash));
}

template <class Object>
int64_t hash_object_text(Object* object, size_t size) {
  int64_t hash = __atomic_load_n(&object->hash, __ATOMIC_RELAXED);
  if (hash == 0) {
    hash = hash_bytes(object->data, size);
    __atomic_store_n(&object->hash, hash, __ATOMIC_RELAXED);
  }
  return hash;
}

int64_t hash_text(const AnyffiValue& value) {
  if (value.type_code == ANYFFI_STR_OBJECT) {
    auto* str = reinterpret_cast<AnyffiStrObject*>(value.as_object);
    return hash_object_text(str, static_cast<size_t>(str->length) << anyffi_encoding_shift(str->encoding));
  }
  if (value.type_code == ANYFFI_BYTES_OBJECT) {
    auto* bytes = reinterpret_cast<AnyffiBytesObject*>(value.as_object);
    return hash_object_text(bytes, static_cast<size_t>(bytes->length));
  }
  AnyffiTextView text;
  anyffi_view_text(&value, &text);
  return hash_bytes(text.data, static_cast<size_t>(text.length) << anyffi_encoding_shift(text.encoding));
}

/// Addresses are multiples of 16: their low bits carry no information.
int64_t hash_address(const void* address) {
  auto bits = reinterpret_cast<uintptr_t>(address);
  return avoid_minus_one(static_cast<int64_t>(static_cast<uint64_t>(bits) >> 4 | static_cast<uint64_t>(bits) << 60));
}

constexpr uint64_t kPrime1 = 11400714785074694791u;
constexpr uint64_t kPrime2 = 14029467366897019727u;
constexpr uint64_t kPrime5 = 2870177450012600261u;

/// Adds the hash of an element, in Python's variant of xxHash.
inline void add_lane_hash(int64_t hash, uint64_t* sum) {
  *sum += static_cast<uint64_t>(hash) * kPrime2;
  *sum = (*sum << 31 | *sum >> 33) * kPrime1;
}

/// Adds an element of a tuple or part of a slice.
int add_lane(const AnyffiValue& value, uint64_t* sum) {
  int64_t lane;
  if (value.type_code <= 0) {
    // Inline values: hashing runs no code that could change their container.
    if (hash_key(value, &lane) != 0) return -1;
  } else {
    Owned held = retained(value);
    if (hash_key(*held.get(), &lane) != 0) return -1;
  }
  add_lane_hash(lane, sum);
  return 0;
}

int64_t finish_lanes(uint64_t sum) { return sum == ~uint64_t{0} ? 1546275796 : static_cast<int64_t>(sum); }

/// Python's hash of tuples.
int hash_array(const AnyffiSequence* array, int64_t* out) {
  DepthGuard depth;
  if (!depth) return -1;
  uint64_t sum = kPrime5;
  for (int64_t i = 0; i < array->size; ++i) {
    if (array->data[i].type_code == ANYFFI_INT) {
      // Fast path for ints, the most common elements. Without calls, indexing a mapping of pairs takes three quarters
      // of the time.
      add_lane_hash(hash_int(array->data[i].as_int), &sum);
    } else if (add_lane(array->data[i], &sum) != 0) {
      return -1;
    }
  }
  *out = finish_lanes(sum + (static_cast<uint64_t>(array->size) ^ (kPrime5 ^ 3527539u)));
  return 0;
}

/// Python's hash of slices.
int hash_slice(const AnyffiSlice* slice, int64_t* out) {
  DepthGuard depth;
  if (!depth) return -1;
  uint64_t sum = kPrime5;
  if (add_lane(slice->start, &sum) != 0 || add_lane(slice->stop, &sum) != 0 || add_lane(slice->step, &sum) != 0) {
    return -1;
  }
  *out = finish_lanes(sum);
  return 0;
}

bool host_hashes_slices() {
  const AnyffiHost* hooks = host();
  return hooks != nullptr && (hooks->flags & ANYFFI_HOST_HASHES_SLICES) != 0;
}

/// Python's hash of frozensets, which does not depend on the order.
int hash_frozen_set(const Mapping* set, int64_t* out) {
  uint64_t hash = 0;
  for (int64_t i = 0; i < set->used; ++i) {
    if (set->entries[i].key.type_code == ANYFFI_UNSET) continue;
    int64_t element_hash;
    if (hash_entry(set, set->entries[i], &element_hash) != 0) return -1;
    auto element = static_cast<uint64_t>(element_hash);
    hash ^= ((element ^ 89869747u) ^ (element << 16)) * 3644798167u;
  }
  hash ^= (static_cast<uint64_t>(set->size) + 1) * 1927868237u;
  hash ^= (hash >> 11) ^ (hash >> 25);
  hash = hash * 69069u + 907133923u;
  *out = hash == ~uint64_t{0} ? 590923713 : static_cast<int64_t>(hash);
  return 0;
}

int raise_unhashable(const AnyffiValue& value) {
  Owned name;
  if (type_name_of(&value, name.out()) != 0) return -1;
  return guard([&] {
    String text;
    append_text(&text, name.get());
    return raise_format("TypeError", "unhashable type: '%s'", text.c_str());
  });
}

int hash_object(const AnyffiValue& value, int64_t* out) {
  if (void* handle = handle_of(value)) {
    const AnyffiHost* hooks = host();
    if (hooks != nullptr && hooks->handle_hash != nullptr) {
      DepthGuard depth;
      if (!depth || call_hook(out, [&] { return hooks->handle_hash(handle, out); }) != 0) return -1;
      *out = avoid_minus_one(*out);
      return 0;
    }
    *out = hash_address(handle);
    return 0;
  }
  if (is_compared_by_host(value)) {
    int status = ask_host(out, &AnyffiHost::object_hash, &value);
    if (status <= 0) {
      *out = avoid_minus_one(*out);
      return status;
    }
  }
  if (auto* hook = find_hook(value.type_code, &AnyffiTypeInfo::hash)) {
    if (hook(&value, out) != 0) return -1;
    *out = avoid_minus_one(*out);
    return 0;
  }
  *out = hash_address(value.as_object);
  return 0;
}

}  // namespace

int hash_key(const AnyffiValue& key, int64_t* out) noexcept {
  switch (key.type_code) {
    case ANYFFI_STR:
    case ANYFFI_BYTES:
      *out = hash_words(key);
      return 0;
    case ANYFFI_INT:
    case ANYFFI_BOOL:
      *out = hash_int(key.as_int);
      return 0;
    case ANYFFI_STR_OBJECT:
    case ANYFFI_STR_VIEW:
    case ANYFFI_BYTES_OBJECT:
    case ANYFFI_BYTES_VIEW:
      *out = hash_text(key);
      return 0;
    case ANYFFI_FLOAT:
      *out = hash_float(key.as_float);
      return 0;
    case ANYFFI_NONE:
      *out = kHashOfNone;
      return 0;
    case ANYFFI_ELLIPSIS:
      *out = kHashOfEllipsis;
      return 0;
    case ANYFFI_POINTER:
      *out = hash_address(key.as_pointer);
      return 0;
    case ANYFFI_DATA_TYPE:
    case ANYFFI_DEVICE:
      *out = hash_words(key);
      return 0;
    case ANYFFI_ARRAY:
    case ANYFFI_SHAPE:
      return hash_array(as_sequence(key.as_object), out);
    case ANYFFI_FROZEN_SET:
      return hash_frozen_set(as_mapping(key.as_object), out);
    case ANYFFI_SLICE:
      if (host_hashes_slices()) return hash_slice(reinterpret_cast<AnyffiSlice*>(key.as_object), out);
      break;
    default:
      break;
  }
  bool unhashable = key.type_code < 0 || key.type_code == ANYFFI_SLICE || key.type_code == ANYFFI_LIST ||
                    is_mapping(key.type_code) || key.type_code == ANYFFI_SET;
  return unhashable ? raise_unhashable(key) : hash_object(key, out);
}

const AnyffiValue* canonical_key(const AnyffiValue* value, Owned* holder) noexcept {
  if (value->type_code == ANYFFI_BOX) return &reinterpret_cast<AnyffiBox*>(value->as_object)->value;
  if (value->type_code == ANYFFI_STR_VIEW || value->type_code == ANYFFI_BYTES_VIEW) {
    // Long borrowed bytes, ASCII and Latin-1 text can be hashed and compared without a copy.
    AnyffiTextView text;
    anyffi_view_text(value, &text);
    if (text.encoding <= ANYFFI_LATIN1 && text.length > ANYFFI_INLINE_BYTES) return value;
  } else if (value->type_code != ANYFFI_STR || (value->as_int >> 60) == 0) {
    return value;
  }
  return anyffi_value_own(value, holder->out()) == 0 ? holder->get() : nullptr;
}

}  // namespace anyffi::runtime

int anyffi_value_hash(const AnyffiValue* value, int64_t* out) {
  using namespace anyffi::runtime;
  *out = 0;
  Owned holder;
  const AnyffiValue* canonical = canonical_key(value, &holder);
  if (canonical == nullptr) return -1;
  if (hash_key(*canonical, out) == 0) return 0;
  *out = 0;
  return -1;
}
