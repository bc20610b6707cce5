/// \file
/// An ASCII buffer for JSON that is being written.
#ifndef ANYFFI_SRC_STRUCTURE_JSON_TEXT_H_
#define ANYFFI_SRC_STRUCTURE_JSON_TEXT_H_

#include <cstring>
#include <utility>

#include "core/memory.h"

namespace anyffi::runtime {

/// An ASCII text that grows at its end.
class JsonText {
 public:
  JsonText() = default;
  JsonText(const JsonText&) = delete;
  JsonText& operator=(const JsonText&) = delete;
  ~JsonText() { anyffi_free(data_); }

  /// Returns memory for `count` more characters; call `end` with the end of what was written.
  char* room(size_t count) {
    if (__builtin_expect(count > capacity_ - size_, 0)) grow(count);
    return data_ + size_;
  }
  void end(const char* last) noexcept { size_ = static_cast<size_t>(last - data_); }
  template <size_t N>
  void put(const char (&literal)[N]) {
    char* at = room(N);
    std::memcpy(at, literal, N - 1);
    end(at + N - 1);
  }
  void put(char one) {
    char* at = room(1);
    *at = one;
    end(at + 1);
  }
  void put(const char* text, size_t size) {
    char* at = room(size);
    std::memcpy(at, text, size);
    end(at + size);
  }
  const char* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }

 private:
  void grow(size_t count) {
    size_t capacity = 2 * capacity_ + count + 256;
    auto* grown = static_cast<char*>(anyffi_alloc(capacity));
    if (grown == nullptr) throw std::bad_alloc();
    if (size_ != 0) std::memcpy(grown, data_, size_);
    anyffi_free(std::exchange(data_, grown));
    capacity_ = capacity;
  }

  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_STRUCTURE_JSON_TEXT_H_
