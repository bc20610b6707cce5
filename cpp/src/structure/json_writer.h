/// \file
/// Writes values as JSON: a list of nodes (containers, tensors and objects) that refer to each other by number. The
/// nodes are in breadth-first order, so no depth is a problem; the first one is the value itself.
#ifndef ANYFFI_SRC_STRUCTURE_JSON_WRITER_H_
#define ANYFFI_SRC_STRUCTURE_JSON_WRITER_H_

#include "structure/json_text.h"
#include "structure/parts.h"
#include "structure/tables.h"

namespace anyffi::runtime {

/// Whether text contains surrogates, which UTF-8 cannot encode.
bool has_surrogates(const AnyffiTextView& text) noexcept;

/// Writes one value.
class JsonWriter {
 public:
  int run(const AnyffiValue& value, AnyffiValue* out);

 private:
  struct Node {
    Owned value;
    int32_t parent; /* -1: the root */
    int32_t part;
  };

  int write_value(const AnyffiValue& value, bool is_shared);
  int write_node(const AnyffiValue& value);
  int write_sequence(const AnyffiSequence* sequence);
  int write_mapping(const AnyffiMapping* mapping);
  int write_set(const AnyffiMapping* set);
  int write_slice(AnyffiObject* slice);
  int write_object(AnyffiObject* object);
  int write_tensor(const AnyffiTensor& tensor);
  void write_reference(const AnyffiValue& value, bool is_shared);
  void put_number(int64_t number);
  void put_float(double number);
  void put_text(const AnyffiTextView& text);
  void put_string(const AnyffiTextView& text);
  void put_name(const char* name);
  void put_hex(const AnyffiBigInt& number);
  void put_base64(const void* memory, size_t size);
  void put_unit(uint32_t unit);
  int refuse(const AnyffiValue& value, const char* reason = "");
  String path_to(int32_t node);
  bool is_shared(const AnyffiValue& value, uint64_t own) const noexcept {
    return value.type_code > 0 && __atomic_load_n(&value.as_object->strong_count, __ATOMIC_RELAXED) > own + 1;
  }

  JsonText text_;
  ObjectTypes types_;
  PairTable numbers_;
  Vector<Node> nodes_;
  int32_t current_ = -1; /* the node being written */
  int64_t part_ = 0;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_STRUCTURE_JSON_WRITER_H_
