/// \file
/// Slice, find, split, join, strip, replace and ASCII case: as Python's `str` methods of these names.
#include <anyffi/inline.h>

#include <cstring>

#include "core/errors.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/owned.h"
#include "text/text.h"

namespace anyffi::runtime {
namespace {

/// Reads a string argument; TypeError for anything else.
bool read(const AnyffiValue* value, AnyffiTextView* out, const char* role = "str") {
  if (!anyffi_is_str(value->type_code)) {
    Owned got;
    String name;
    if (type_name_of(value, got.out()) == 0) append_text(&name, got.get());
    raise_format("TypeError", "%s: expected str, got %s", role, name.c_str());
    return false;
  }
  anyffi_view_text(value, out);
  return true;
}

int64_t width_of(const AnyffiTextView& text) { return int64_t{1} << anyffi_encoding_shift(text.encoding); }

const char* at(const AnyffiTextView& text, int64_t index) {
  return static_cast<const char*>(text.data) + index * width_of(text);
}

/// A borrowed slice of a text.
AnyffiTextView part(const AnyffiTextView& text, int64_t start, int64_t stop) {
  return AnyffiTextView{at(text, start), stop - start, text.encoding, 0};
}

int create(const AnyffiTextView& text, AnyffiValue* out) {
  return anyffi_str_create(text.data, text.length, text.encoding, out);
}

/// Resolves a slice bound as Python does: negative ones count from the end, all are clamped to the text.
int64_t resolve_bound(int64_t index, int64_t length) {
  if (index < 0) index += length;
  return index < 0 ? 0 : index > length ? length : index;
}

/// Writes text in an encoding at least as wide as its own; returns the end.
char* copy_text(const AnyffiTextView& text, char* to, int32_t encoding) {
  int shift = anyffi_encoding_shift(encoding);
  if (text.length == 0) return to;  // memcpy must not get a null pointer
  if (anyffi_encoding_shift(text.encoding) == shift) {
    std::memcpy(to, text.data, static_cast<size_t>(text.length) << shift);
  } else {
    for (int64_t i = 0; i < text.length; ++i) {
      uint32_t code_point = anyffi_get_code_point(&text, i);
      std::memcpy(to + (i << shift), &code_point, size_t{1} << shift);
    }
  }
  return to + (text.length << shift);
}

/// Builds text of one encoding.
class Builder {
 public:
  explicit Builder(int32_t encoding) : encoding_(encoding), shift_(anyffi_encoding_shift(encoding)) {}
  void reserve(int64_t length) { units_.reserve(static_cast<size_t>(length) << shift_); }
  void append(const AnyffiTextView& text) {
    size_t before = units_.size();
    units_.resize(before + (static_cast<size_t>(text.length) << shift_));
    copy_text(text, units_.data() + before, encoding_);
  }
  AnyffiTextView text() const {
    return AnyffiTextView{units_.data(), static_cast<int64_t>(units_.size() >> shift_), encoding_, 0};
  }
  int finish(AnyffiValue* out) const { return create(text(), out); }

 private:
  int32_t encoding_;
  int shift_;
  Vector<char> units_;
};

/// Up to this many positions, comparing at each one is faster than `memmem`, which needs preparation.
constexpr size_t kMaxCompared = 1024;

const char* find_bytes(const char* text, size_t text_size, const char* needle, size_t size) {
  if (size > text_size) return nullptr;
  if ((text_size - size) * size > kMaxCompared) return static_cast<const char*>(memmem(text, text_size, needle, size));
  const char* end = text + (text_size - size) + 1;
  while ((text = static_cast<const char*>(std::memchr(text, *needle, static_cast<size_t>(end - text)))) != nullptr) {
    if (std::memcmp(text, needle, size) == 0) return text;
    if (++text == end) break;
  }
  return nullptr;
}

/// The index of a text in another one from `start` on, both with one-byte code points; -1 if it does not occur.
int64_t find_narrow(const AnyffiTextView& text, const AnyffiTextView& needle, int64_t start, int64_t stop) {
  if (stop - start < needle.length) return -1;
  if (needle.length == 0) return start;
  auto* data = static_cast<const char*>(text.data);
  const char* hit = find_bytes(data + start, static_cast<size_t>(stop - start), static_cast<const char*>(needle.data),
                               static_cast<size_t>(needle.length));
  return hit == nullptr ? -1 : hit - data;
}

/// Finds a text in another one, and widens it once if the other one is wider.
class Finder {
 public:
  Finder(const AnyffiTextView& text, const AnyffiTextView& needle) : text_(text), widened_(text.encoding) {
    possible_ = anyffi_encoding_shift(needle.encoding) <= anyffi_encoding_shift(text.encoding);
    needle_ = needle;
    if (possible_ && anyffi_encoding_shift(needle.encoding) < anyffi_encoding_shift(text.encoding)) {
      widened_.append(needle);
      needle_ = widened_.text();
    }
  }

  /// The first index of the whole needle within [start, stop), or -1.
  int64_t first(int64_t start, int64_t stop) const {
    if (!possible_ || stop - start < needle_.length) return -1;
    if (needle_.length == 0) return start;
    int64_t width = width_of(text_);
    const char* from = at(text_, start);
    const char* end = at(text_, stop);
    auto size = static_cast<size_t>(needle_.length * width);
    // A match must begin at a code point, not inside one.
    while (static_cast<size_t>(end - from) >= size) {
      const char* hit = find_bytes(from, static_cast<size_t>(end - from), static_cast<const char*>(needle_.data), size);
      if (hit == nullptr) return -1;
      int64_t offset = hit - static_cast<const char*>(text_.data);
      if (offset % width == 0) return offset / width;
      from = at(text_, offset / width + 1);
    }
    return -1;
  }

  int64_t last(int64_t start, int64_t stop) const {
    if (!possible_ || stop - start < needle_.length) return -1;
    if (needle_.length == 0) return stop;
    auto size = static_cast<size_t>(needle_.length * width_of(text_));
    for (int64_t i = stop - needle_.length; i >= start; --i) {
      if (std::memcmp(at(text_, i), needle_.data, size) == 0) return i;
    }
    return -1;
  }

 private:
  AnyffiTextView text_;
  AnyffiTextView needle_;
  Builder widened_;
  bool possible_;
};

/// A negative `most` means no limit.
int64_t limit(int64_t most) { return most < 0 ? INT64_MAX : most; }

bool contains(const AnyffiTextView& set, uint32_t c) {
  for (int64_t i = 0; i < set.length; ++i) {
    if (anyffi_get_code_point(&set, i) == c) return true;
  }
  return false;
}

int append(const Owned& list, const AnyffiTextView& piece) {
  Owned text;
  if (create(piece, text.out()) != 0) return -1;
  return anyffi_sequence_insert(list->as_object, reinterpret_cast<AnyffiSequence*>(list->as_object)->size, text.get());
}

int split_at_space(const Owned& list, const AnyffiTextView& text, int64_t most) {
  int64_t i = 0;
  for (;;) {
    while (i < text.length && anyffi_is_space(anyffi_get_code_point(&text, i))) ++i;
    if (i == text.length) return 0;
    int64_t start = i;
    // The rest is kept with its trailing white space.
    if (most-- == 0) return append(list, part(text, start, text.length));
    while (i < text.length && !anyffi_is_space(anyffi_get_code_point(&text, i))) ++i;
    if (append(list, part(text, start, i)) != 0) return -1;
  }
}

int split_at(const Owned& list, const AnyffiTextView& text, const AnyffiTextView& separator, int64_t most) {
  if (separator.length == 0) return anyffi_error_raise("ValueError", "empty separator");
  Finder finder(text, separator);
  int64_t start = 0;
  while (most-- != 0) {
    int64_t hit = finder.first(start, text.length);
    if (hit < 0) break;
    if (append(list, part(text, start, hit)) != 0) return -1;
    start = hit + separator.length;
  }
  return append(list, part(text, start, text.length));
}

int change_ascii_case(const AnyffiValue* str, AnyffiValue* out, char first, char last) {
  AnyffiTextView text;
  if (!read(str, &text)) return fail(out);
  return guard([&] {
    Builder builder(text.encoding);
    builder.reserve(text.length);
    for (int64_t i = 0; i < text.length; ++i) {
      uint32_t c = anyffi_get_code_point(&text, i);
      if (c >= static_cast<uint32_t>(first) && c <= static_cast<uint32_t>(last)) c ^= 0x20;
      builder.append(AnyffiTextView{&c, 1, ANYFFI_UCS4, 0});
    }
    return builder.finish(out);
  });
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_str_compare(const AnyffiValue* a, const AnyffiValue* b, int32_t* out) {
  AnyffiTextView left, right;
  *out = 0;
  if (!read(a, &left) || !read(b, &right)) return -1;
  int order = compare_text(left, right);
  *out = order < 0 ? -1 : order > 0 ? 1 : 0;
  return 0;
}

int anyffi_str_concat(const AnyffiValue* a, const AnyffiValue* b, AnyffiValue* out) {
  *out = anyffi_make_none();
  AnyffiTextView left, right;
  if (!read(a, &left) || !read(b, &right)) return -1;
  int32_t encoding = left.encoding > right.encoding ? left.encoding : right.encoding;
  int64_t length = left.length + right.length;
  // The narrowest encoding of the parts is also that of the whole.
  if (length << anyffi_encoding_shift(encoding) <= ANYFFI_INLINE_BYTES) {
    alignas(4) char units[ANYFFI_INLINE_BYTES + 1];
    copy_text(right, copy_text(left, units, encoding), encoding);
    return anyffi_str_create(units, length, encoding, out);
  }
  if (anyffi_str_allocate(length, encoding, out) != 0) return -1;
  auto* units = static_cast<char*>(const_cast<void*>(reinterpret_cast<AnyffiStrObject*>(out->as_object)->data));
  copy_text(right, copy_text(left, units, encoding), encoding);
  return 0;
}

int anyffi_str_slice(const AnyffiValue* str, int64_t start, int64_t stop, AnyffiValue* out) {
  *out = anyffi_make_none();
  AnyffiTextView text;
  if (!read(str, &text)) return -1;
  start = resolve_bound(start, text.length);
  stop = resolve_bound(stop, text.length);
  return create(part(text, start, stop < start ? start : stop), out);
}

int anyffi_str_find(const AnyffiValue* str, const AnyffiValue* needle, int64_t start, int64_t stop, int64_t* out) {
  *out = -1;
  AnyffiTextView text, needle_text;
  if (!read(str, &text) || !read(needle, &needle_text)) return -1;
  if (start > text.length) return 0;
  start = resolve_bound(start, text.length), stop = resolve_bound(stop, text.length);
  if (text.encoding <= ANYFFI_LATIN1 && needle_text.encoding <= ANYFFI_LATIN1) {
    *out = find_narrow(text, needle_text, start, stop);
    return 0;
  }
  return guard([&] {
    *out = Finder(text, needle_text).first(start, stop);
    return 0;
  });
}

int anyffi_str_rfind(const AnyffiValue* str, const AnyffiValue* needle, int64_t start, int64_t stop, int64_t* out) {
  *out = -1;
  AnyffiTextView text, needle_text;
  if (!read(str, &text) || !read(needle, &needle_text)) return -1;
  if (start > text.length) return 0;
  return guard([&] {
    *out = Finder(text, needle_text).last(resolve_bound(start, text.length), resolve_bound(stop, text.length));
    return 0;
  });
}

int anyffi_str_split(const AnyffiValue* str, const AnyffiValue* separator, int64_t most, AnyffiValue* out) {
  *out = anyffi_make_none();
  AnyffiTextView text, separator_text{};
  bool at_space = separator->type_code == ANYFFI_NONE;
  if (!read(str, &text) || (!at_space && !read(separator, &separator_text, "separator"))) return -1;
  Owned list;
  if (anyffi_sequence_create(ANYFFI_LIST, 0, list.out()) != 0) return -1;
  most = limit(most);
  int status =
      guard([&] { return at_space ? split_at_space(list, text, most) : split_at(list, text, separator_text, most); });
  if (status == 0) *out = list.take();
  return status;
}

int anyffi_str_join(const AnyffiValue* separator, const AnyffiValue* pieces, AnyffiValue* out) {
  *out = anyffi_make_none();
  AnyffiTextView between;
  if (!read(separator, &between, "separator")) return -1;
  if (anyffi_type_get_family(pieces->type_code) != ANYFFI_ARRAY && pieces->type_code != ANYFFI_LIST) {
    return anyffi_error_raise("TypeError", "join: expected an Array or a List of str");
  }
  auto* sequence = reinterpret_cast<const AnyffiSequence*>(pieces->as_object);
  int32_t encoding = sequence->size > 1 ? between.encoding : static_cast<int32_t>(ANYFFI_ASCII);
  int64_t length = 0;
  for (int64_t i = 0; i < sequence->size; ++i) {
    AnyffiTextView piece;
    if (!read(&sequence->data[i], &piece, "element to join")) return -1;
    encoding = piece.encoding > encoding ? piece.encoding : encoding;
    length += piece.length + (i > 0 ? between.length : 0);
  }
  return guard([&] {
    Builder builder(encoding);
    builder.reserve(length);
    for (int64_t i = 0; i < sequence->size; ++i) {
      AnyffiTextView piece;
      anyffi_view_text(&sequence->data[i], &piece);
      if (i > 0) builder.append(between);
      builder.append(piece);
    }
    return builder.finish(out);
  });
}

int anyffi_str_strip(const AnyffiValue* str, const AnyffiValue* characters, int32_t sides, AnyffiValue* out) {
  *out = anyffi_make_none();
  AnyffiTextView text, set{};
  bool spaces = characters->type_code == ANYFFI_NONE;
  if (!read(str, &text) || (!spaces && !read(characters, &set, "characters"))) return -1;
  auto drop = [&](int64_t index) {
    uint32_t c = anyffi_get_code_point(&text, index);
    return spaces ? anyffi_is_space(c) != 0 : contains(set, c);
  };
  int64_t start = 0;
  int64_t stop = text.length;
  if (sides & ANYFFI_STRIP_LEFT) {
    while (start < stop && drop(start)) ++start;
  }
  if (sides & ANYFFI_STRIP_RIGHT) {
    while (stop > start && drop(stop - 1)) --stop;
  }
  return create(part(text, start, stop), out);
}

int anyffi_str_replace(const AnyffiValue* str, const AnyffiValue* former, const AnyffiValue* replacement, int64_t most,
                       AnyffiValue* out) {
  *out = anyffi_make_none();
  AnyffiTextView text, former_text, replacement_text;
  if (!read(str, &text) || !read(former, &former_text) || !read(replacement, &replacement_text)) return -1;
  most = limit(most);
  return guard([&] {
    Finder finder(text, former_text);
    Builder builder(text.encoding > replacement_text.encoding ? text.encoding : replacement_text.encoding);
    int64_t start = 0;
    while (most-- != 0) {
      int64_t hit = finder.first(start, text.length);
      if (hit < 0) break;
      // Empty text matches before each code point and at the end.
      int64_t next = former_text.length > 0 ? hit : start;
      builder.append(part(text, start, next));
      builder.append(replacement_text);
      start = next + former_text.length;
      if (former_text.length == 0) {
        if (start == text.length) break;
        builder.append(part(text, start, start + 1));
        ++start;
      }
    }
    builder.append(part(text, start, text.length));
    return builder.finish(out);
  });
}

int anyffi_str_ascii_lower(const AnyffiValue* str, AnyffiValue* out) {
  *out = anyffi_make_none();
  return change_ascii_case(str, out, 'A', 'Z');
}

int anyffi_str_ascii_upper(const AnyffiValue* str, AnyffiValue* out) {
  *out = anyffi_make_none();
  return change_ascii_case(str, out, 'a', 'z');
}
