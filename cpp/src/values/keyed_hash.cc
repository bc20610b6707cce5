/// \file
/// Keyed hashes of native values, for mappings with suspiciously many collisions.
#include <cmath>

#include "core/depth.h"
#include "core/value.h"
#include "values/containers.h"
#include "values/hash.h"

namespace anyffi::runtime {
namespace {

/// One more word of a value. Both factors depend on secrets, so that no word makes one of them zero by choice.
uint64_t add_word(uint64_t sum, uint64_t word) {
  return fold(sum ^ hash_secrets[0], word ^ hash_secrets[1]) + hash_secrets[3];
}

int64_t finish(uint64_t sum) { return avoid_minus_one(static_cast<int64_t>(sum)); }

uint64_t begin(int32_t type_code, uint64_t size) { return add_word(static_cast<uint64_t>(type_code), size); }

int64_t hash_words_of_int(const uint64_t* words, int64_t size, bool negative) {
  uint64_t sum = begin(ANYFFI_BIG_INT, negative);
  for (int64_t i = 0; i < size; ++i) sum = add_word(sum, words[i]);
  return finish(sum);
}

/// A float equal to an integer outside of int64 hashes like the BigInt that equals it.
int64_t hash_huge_float(double number) {
  int exponent;
  auto mantissa = static_cast<uint64_t>(std::ldexp(std::fabs(std::frexp(number, &exponent)), 53));
  exponent -= 53;
  uint64_t words[1024 / 64 + 1] = {};
  int64_t first = exponent / 64;
  int shift = exponent % 64;
  words[first] = mantissa << shift;
  if (shift > 0) words[first + 1] = mantissa >> (64 - shift);
  int64_t size = first + 2;
  while (words[size - 1] == 0) --size;
  return hash_words_of_int(words, size, number < 0);
}

bool is_huge(double number) { return std::isfinite(number) && !(number >= -0x1p63 && number < 0x1p63); }

/// Adds the keyed hash of a part; returns as `keyed_hash` does.
Keyed add_part(const AnyffiValue& part, uint64_t* sum) {
  int64_t hash;
  Keyed result = keyed_hash(part, &hash);
  if (result == Keyed::kYes) *sum = add_word(*sum, static_cast<uint64_t>(hash));
  return result;
}

Keyed hash_parts(const AnyffiValue* parts, int64_t size, int32_t type_code, int64_t* out) {
  DepthGuard depth;
  if (!depth) return Keyed::kFailed;
  uint64_t sum = begin(type_code, static_cast<uint64_t>(size));
  for (int64_t i = 0; i < size; ++i) {
    if (Keyed part = add_part(parts[i], &sum); part != Keyed::kYes) return part;
  }
  *out = finish(sum);
  return Keyed::kYes;
}

Keyed hash_complex(const AnyffiComplex& number, int64_t* out) {
  // Without an imaginary part it equals a float.
  if (number.imag == 0) return keyed_hash(float_value(number.real), out);
  AnyffiValue parts[] = {float_value(number.real), float_value(number.imag)};
  return hash_parts(parts, 2, ANYFFI_COMPLEX, out);
}

Keyed hash_elements(const Mapping& set, int64_t* out) {
  DepthGuard depth;
  if (!depth) return Keyed::kFailed;
  uint64_t sum = 0;
  for (int64_t i = 0; i < set.used; ++i) {
    if (set.entries[i].key.type_code == ANYFFI_UNSET) continue;
    uint64_t element = begin(ANYFFI_FROZEN_SET, static_cast<uint64_t>(set.size));
    if (Keyed part = add_part(set.entries[i].key, &element); part != Keyed::kYes) return part;
    // Independent of the order.
    sum += element;
  }
  *out = finish(add_word(sum, static_cast<uint64_t>(set.size)));
  return Keyed::kYes;
}

}  // namespace

bool has_keyed_hash(const AnyffiValue& key) noexcept {
  switch (key.type_code) {
    case ANYFFI_FLOAT:
      return is_huge(key.as_float);
    case ANYFFI_BIG_INT:
    case ANYFFI_COMPLEX:
    case ANYFFI_ARRAY:
    case ANYFFI_SHAPE:
    case ANYFFI_SLICE:
    case ANYFFI_FROZEN_SET:
      return true;
    default:
      return false;
  }
}

Keyed keyed_hash(const AnyffiValue& key, int64_t* out) noexcept {
  switch (key.type_code) {
    case ANYFFI_FLOAT:
      if (!is_huge(key.as_float)) break;
      *out = hash_huge_float(key.as_float);
      return Keyed::kYes;
    case ANYFFI_BIG_INT: {
      auto* number = reinterpret_cast<const AnyffiBigInt*>(key.as_object);
      *out = hash_words_of_int(number->words, number->size, number->negative != 0);
      return Keyed::kYes;
    }
    case ANYFFI_COMPLEX:
      return hash_complex(*reinterpret_cast<const AnyffiComplex*>(key.as_object), out);
    case ANYFFI_ARRAY:
    case ANYFFI_SHAPE: {
      const AnyffiSequence* array = as_sequence(key.as_object);
      return hash_parts(array->data, array->size, ANYFFI_ARRAY, out);
    }
    case ANYFFI_SLICE:
      return hash_parts(&reinterpret_cast<const AnyffiSlice*>(key.as_object)->start, 3, ANYFFI_SLICE, out);
    case ANYFFI_FROZEN_SET:
      return hash_elements(*as_mapping(key.as_object), out);
    default:
      if (key.type_code > 0 && key.type_code != ANYFFI_STR_OBJECT && key.type_code != ANYFFI_BYTES_OBJECT) {
        return Keyed::kNo;
      }
  }
  return hash_key(key, out) == 0 ? Keyed::kYes : Keyed::kFailed;
}

}  // namespace anyffi::runtime
