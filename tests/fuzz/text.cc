/// \file
/// Text of any code points and bytes, and the methods of strings.
#include <anyffi/inline.h>

#include <cstring>

#include "harness.h"

namespace anyffi::fuzz {
namespace {

bool is_equal(const AnyffiValue& a, const AnyffiValue& b) { return anyffi_value_equal_native(&a, &b) == 1; }

/// Creates text in an encoding that may be wider than needed.
bool make_text(Input& input, Owned* out) {
  constexpr size_t kWidths[] = {1, 1, 2, 4};
  constexpr uint32_t kMost[] = {0x7F, 0xFF, 0xFFFF, 0x10FFFF};
  auto encoding = input.ConsumeIntegralInRange<int32_t>(ANYFFI_ASCII, ANYFFI_UCS4);
  std::string units;
  for (size_t left = input.ConsumeIntegralInRange<size_t>(0, 40); left > 0; --left) {
    bool is_plain = input.ConsumeBool();
    uint32_t unit = is_plain ? input.ConsumeIntegralInRange<uint32_t>('a', 'c')
                             : input.ConsumeIntegralInRange<uint32_t>(0, kMost[encoding]);
    units.append(reinterpret_cast<const char*>(&unit), kWidths[encoding]);
  }
  int64_t length = static_cast<int64_t>(units.size() / kWidths[encoding]);
  return finished(anyffi_str_create(units.data(), length, encoding, out), out);
}

void check_utf8(const std::string& bytes) {
  Owned text, back;
  if (!finished(anyffi_str_from_utf8(bytes.data(), static_cast<int64_t>(bytes.size()), &text), &text)) return;
  require(finished(anyffi_str_to_utf8(&text, &back), &back), "text of UTF-8 has UTF-8");
  AnyffiTextView view;
  anyffi_view_text(&back, &view);
  bool is_same = static_cast<size_t>(view.length) == bytes.size() &&
                 (bytes.empty() || std::memcmp(view.data, bytes.data(), bytes.size()) == 0);
  require(is_same, "UTF-8 is decoded and encoded without a change");
}

/// Text has a UTF-8 form unless it contains a surrogate.
void check_encoded(const AnyffiValue& text) {
  AnyffiTextView view;
  anyffi_view_text(&text, &view);
  bool has_surrogate = false;
  for (int64_t i = 0; i < view.length; ++i) {
    uint32_t point = anyffi_get_code_point(&view, i);
    has_surrogate = has_surrogate || (point >= 0xD800 && point < 0xE000);
  }
  Owned utf8, back;
  require(finished(anyffi_str_to_utf8(&text, &utf8), &utf8) != has_surrogate, "only surrogates have no UTF-8");
  if (has_surrogate) return;
  anyffi_view_text(&utf8, &view);
  require(finished(anyffi_str_from_utf8(static_cast<const char*>(view.data), view.length, &back), &back),
          "UTF-8 is decoded");
  require(is_equal(text, back), "text is encoded and decoded without a change");
}

void check_split(const AnyffiValue& text, const AnyffiValue& separator) {
  Owned pieces, joined, other, replaced;
  if (!finished(anyffi_str_split(&text, &separator, -1, &pieces), &pieces)) return;
  require(finished(anyffi_str_join(&separator, &pieces, &joined), &joined), "pieces can be joined");
  require(is_equal(text, joined), "joining undoes splitting");
  if (!finished(anyffi_str_ascii_upper(&separator, &other), &other)) return;
  require(finished(anyffi_str_replace(&text, &separator, &other, -1, &replaced), &replaced), "text is replaced");
  anyffi_value_release(&joined);
  require(finished(anyffi_str_join(&other, &pieces, &joined), &joined), "pieces can be joined");
  require(is_equal(replaced, joined), "replacing is splitting and joining");
}

void check_found(Input& input, const AnyffiValue& text, const AnyffiValue& needle) {
  int64_t start = input.ConsumeIntegral<int8_t>(), stop = input.ConsumeIntegral<int64_t>(), first, last;
  require(finished(anyffi_str_find(&text, &needle, start, stop, &first)), "text is searched");
  require(finished(anyffi_str_rfind(&text, &needle, start, stop, &last)), "text is searched");
  require((first < 0) == (last < 0) && first <= last, "both searches find, or neither");
  if (first < 0) return;
  int64_t length;
  finished(anyffi_value_get_size(&needle, &length));
  Owned found;
  require(finished(anyffi_str_slice(&text, last, last + length, &found), &found), "text has a slice");
  require(is_equal(found, needle), "what was found is there");
}

void run(Input& input) {
  check_utf8(input.ConsumeRandomLengthString(80));
  Owned text, other, joined, tail, stripped, lower, shown;
  if (!make_text(input, &text) || !make_text(input, &other)) return;
  check_encoded(text);
  check_found(input, text, other);
  check_split(text, other);
  int32_t order = 0, reverse = 0;
  require(finished(anyffi_str_compare(&text, &other, &order)) && finished(anyffi_str_compare(&other, &text, &reverse)),
          "text is compared");
  require(order == -reverse && (order == 0) == is_equal(text, other), "the order is one");
  finished(anyffi_str_strip(&text, &other, input.ConsumeIntegral<int8_t>(), &stripped), &stripped);
  finished(anyffi_str_ascii_lower(&text, &lower), &lower);
  finished(anyffi_value_repr(&text, &shown), &shown);
  require(finished(anyffi_str_concat(&text, &other, &joined), &joined), "text is joined");
  int64_t length;
  finished(anyffi_value_get_size(&text, &length));
  require(finished(anyffi_str_slice(&joined, length, INT64_MAX, &tail), &tail), "text has a slice");
  require(is_equal(tail, other), "a slice is what was joined");
  int64_t hash, other_hash;
  finished(anyffi_value_hash(&tail, &hash));
  finished(anyffi_value_hash(&other, &other_hash));
  require(hash == other_hash, "equal text has equal hashes");
}

const Target target{"text", &run};

}  // namespace
}  // namespace anyffi::fuzz
