/// \file
/// Tokenizers, vocabularies and n-grams, of texts in memory and of streams.

#include <anyffi/anyffi.h>

#include <memory>
#include <vector>

#include "ngrams.h"
#include "stream.h"

namespace text {
namespace {

using anyffi::arg;
using anyffi::Array;
using anyffi::DataType;
using anyffi::Map;
using anyffi::ObjectRef;
using anyffi::Ref;
using anyffi::Tensor;

// ---- texts in memory ----

List<String> characters(const String& text) {
  List<String> list;
  list.reserve(text.size());
  for (const String& character : text) list.push_back(character);
  return list;
}

List<String> split(const String& text) { return anyffi::split(text); }

/// Collects tokens in a List of strings.
using Tokens = List<AnyView>;

List<String> strings(const Tokens& tokens) { return AnyValue(tokens).cast<List<String>>(); }

List<String> words(const String& text) {
  AnyffiTextView view = text.text();
  Cutter cut(view);
  Tokens tokens;
  int64_t rest =
      scan(view, 0, find_rule("words"), [&](int64_t start, int64_t stop) { tokens.push_back(cut(start, stop)); });
  if (rest < view.length) tokens.push_back(cut(rest, view.length));
  return strings(tokens);
}

List<int64_t> encode(const Array<String>& tokens, const Dict<String, int64_t>& vocabulary, int64_t unknown) {
  List<int64_t> codes;
  codes.reserve(tokens.size());
  for (const String& token : tokens) codes.push_back(vocabulary.value_or(token, unknown));
  return codes;
}

Dict<AnyValue, int64_t> ngrams(const Array<String>& tokens, int64_t n) {
  NgramCounts counts(n);
  for (const String& token : tokens) counts.add(token);
  return counts.result();
}

// ---- streams ----

/// Collects the results for the tokens of a stream.
class Reader {
 public:
  explicit Reader(const String& rule) : stream_(find_rule(rule)) {}
  virtual ~Reader() = default;
  AnyValue feed(const Bytes& chunk) {
    stream_.feed(chunk, [this](AnyView token) { take(token); });
    return result();
  }
  AnyValue finish() {
    stream_.finish([this](AnyView token) { take(token); });
    return last_result();
  }

 protected:
  virtual void take(AnyView token) = 0;
  /// The result of a chunk, and of the end of the text.
  virtual AnyValue result() = 0;
  virtual AnyValue last_result() { return result(); }

 private:
  Stream stream_;
};

class TokenReader : public Reader {
 public:
  using Reader::Reader;

 private:
  void take(AnyView token) override { tokens_.push_back(token); }
  AnyValue result() override {
    Tokens next;
    // The next chunk probably has as many tokens.
    next.reserve(tokens_.size());
    return strings(std::exchange(tokens_, std::move(next)));
  }
  Tokens tokens_;
};

class CodeReader : public Reader {
 public:
  CodeReader(const String& rule, const Map<String, int64_t>& vocabulary, int64_t unknown)
      : Reader(rule), vocabulary_(AnyValue(vocabulary).cast<Map<AnyView, int64_t>>()), unknown_(unknown) {}

 private:
  void take(AnyView token) override { codes_.push_back(vocabulary_.value_or(token, unknown_)); }
  AnyValue result() override {
    Tensor codes = Tensor::empty({static_cast<int64_t>(codes_.size())}, DataType::of<int64_t>());
    std::copy(codes_.begin(), codes_.end(), codes.data<int64_t>());
    codes_.clear();
    return codes;
  }
  /// Tokens are looked up without a copy.
  Map<AnyView, int64_t> vocabulary_;
  int64_t unknown_;
  std::vector<int64_t> codes_;
};

class NgramReader : public Reader {
 public:
  NgramReader(const String& rule, int64_t n) : Reader(rule), counts_(n) {}

 private:
  void take(AnyView token) override { counts_.add(token); }
  AnyValue result() override { return AnyValue(); }
  AnyValue last_result() override {
    counts_.end_text();
    return counts_.result();
  }
  NgramCounts counts_;
};

/// The reader as an object for Python.
struct Handle {
  static constexpr anyffi::FixedText kTypeKey{"text.Reader"};
  std::unique_ptr<Reader> reader;
};

template <class T, class... Args>
ObjectRef make_reader(const Args&... args) {
  return anyffi::make_object<Handle>(std::make_unique<T>(args...));
}

ObjectRef read_tokens(const String& rule) { return make_reader<TokenReader>(rule); }

ObjectRef read_codes(const Map<String, int64_t>& vocabulary, int64_t unknown, const String& rule) {
  return make_reader<CodeReader>(rule, vocabulary, unknown);
}

ObjectRef read_ngrams(int64_t n, const String& rule) { return make_reader<NgramReader>(rule, n); }

AnyValue feed(const Ref<Handle>& reader, const Bytes& chunk) { return reader->reader->feed(chunk); }

AnyValue finish(const Ref<Handle>& reader) { return reader->reader->finish(); }

}  // namespace

ANYFFI_EXPORT(characters, &characters, arg("text"));
ANYFFI_EXPORT(split, &split, arg("text"));
ANYFFI_EXPORT(words, &words, arg("text"));
ANYFFI_EXPORT(encode, &encode, arg("tokens"), arg("vocabulary"), arg("unknown") = -1);
ANYFFI_EXPORT(ngrams, &ngrams, arg("tokens"), arg("n"));
ANYFFI_EXPORT(read_tokens, &read_tokens, arg("rule") = "split");
ANYFFI_EXPORT(read_codes, &read_codes, arg("vocabulary"), arg("unknown") = -1, arg("rule") = "split");
ANYFFI_EXPORT(read_ngrams, &read_ngrams, arg("n"), arg("rule") = "split");
ANYFFI_EXPORT(feed, &feed, arg("reader"), arg("chunk"));
ANYFFI_EXPORT(finish, &finish, arg("reader"));

}  // namespace text
