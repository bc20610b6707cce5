/// \file
/// Reads values that were written as JSON.
#ifndef ANYFFI_SRC_STRUCTURE_JSON_READER_H_
#define ANYFFI_SRC_STRUCTURE_JSON_READER_H_

#include <cstring>

#include "structure/json_scanner.h"
#include "structure/making.h"

namespace anyffi::runtime {

/// The content of a document: its nodes, and the values of all nodes one after the other. An Unset value refers to the
/// node with its number.
struct JsonGraph {
  /// kValue: the node stands for a value without parts, and all references to the node were replaced by the value.
  enum class Data : uint8_t { kNone, kList, kNames, kText, kValue };

  struct Node {
    int32_t type_code; /* 0 until the node was read */
    Data data;
    bool has_state;
    bool has_shape;
    size_t position;
    size_t first; /* index of its first value: elements of a list, or names and values in turn; or the state */
    size_t count;
    size_t first_size; /* index of its shape in `sizes` */
    int32_t ndim;
    AnyffiDataType dtype; /* `bits` 0: none */
  };

  Vector<AnyffiValue> values;
  Vector<Node> nodes;
  Vector<int64_t> sizes;
  AnyffiValue root = anyffi_make_none();

  JsonGraph() = default;
  JsonGraph(const JsonGraph&) = delete;
  JsonGraph& operator=(const JsonGraph&) = delete;
  ~JsonGraph() {
    for (const AnyffiValue& value : values) anyffi_value_drop(&value);
    anyffi_value_drop(&root);
  }
};

/// Whether text of this size equals a literal.
inline bool is_text(const char* text, size_t size, const char* other) noexcept {
  return std::strlen(other) == size && std::memcmp(text, other, size) == 0;
}

/// Parses the text.
class JsonParser {
 public:
  JsonParser(const char* text, size_t size, JsonGraph* graph) noexcept : scanner_(text, size), graph_(graph) {}
  bool run();

 private:
  bool find_format(bool* out_is_tvm) const;
  bool read_graph();
  bool check_references();
  bool read_nodes(bool (JsonParser::*read)());
  bool read_node();
  bool read_type(int32_t* out);
  bool find_type(const char* key, size_t size, size_t position, int32_t* out);
  bool read_data(JsonGraph::Node* node);
  bool read_sizes(JsonGraph::Node* node);
  bool read_value(AnyffiValue* out);
  bool read_special(AnyffiValue* out);
  bool read_key(const char** out, size_t* out_size);
  bool read_big_int(AnyffiValue* out);
  bool read_named_float(double* out);
  bool read_complex(AnyffiValue* out);
  bool read_code_points(AnyffiValue* out);
  bool read_bytes(AnyffiValue* out);
  bool read_dtype(AnyffiDataType* out);
  bool read_device(AnyffiValue* out);
  bool add_value();

  bool read_tvm_graph();
  bool read_tvm_node();
  bool read_tvm_type(JsonGraph::Node* node, bool* out_is_value);
  bool read_tvm_data(JsonGraph::Node* node);
  bool read_tvm_value(int32_t type_code, AnyffiValue* out);
  bool add_tvm_value(int32_t type_code);
  bool read_decimal(AnyffiValue* out);

  JsonScanner scanner_;
  JsonGraph* graph_;
  String last_key_;
  int32_t last_type_ = 0;
};

/// Creates the values of a graph.
class JsonBuilder {
 public:
  explicit JsonBuilder(JsonGraph* graph) : graph_(*graph) {}
  JsonBuilder(const JsonBuilder&) = delete;
  JsonBuilder& operator=(const JsonBuilder&) = delete;
  ~JsonBuilder();

  int run(AnyffiValue* out);

 private:
  enum class State : uint8_t { kNew, kOpen, kDone, kLate };
  struct Former {
    Owned object;
    const AnyffiFieldInfo* field;
    Owned value;
  };

  int advance();
  int postpone();
  int open(int32_t number);
  int begin(size_t index);
  int close(int32_t number);
  int fill_sequence(const JsonGraph::Node& node, AnyffiObject* sequence);
  int fill_mapping(const JsonGraph::Node& node, AnyffiObject* mapping);
  int make_slice(const JsonGraph::Node& node, AnyffiValue* out);
  int make_tensor(const JsonGraph::Node& node, AnyffiValue* out);
  int make_object(const JsonGraph::Node& node, AnyffiValue* made);
  int find_fields(const JsonGraph::Node& node, const ObjectType& type, Vector<AnyffiValue>* out,
                  Vector<Owned>* defaults);
  /// The value of a cell, borrowed. All nodes must be created.
  const AnyffiValue& resolve(const AnyffiValue& cell) const noexcept {
    return cell.type_code == ANYFFI_UNSET ? *made_[static_cast<size_t>(cell.as_int)].get() : cell;
  }
  /// Raises ValueError with the place of a node. Always -1.
  int fail(const JsonGraph::Node& node, const char* message) noexcept;
  /// Turns the raised error into a ValueError with the place of a node, unless the host raised it or memory is
  /// exhausted.
  int explain(const JsonGraph::Node& node) noexcept;

  JsonGraph& graph_;
  ObjectTypes types_;
  Maker maker_{types_};
  Vector<Owned> made_;
  Vector<State> states_;
  Vector<int32_t> stack_;
  Vector<size_t> at_;    /* for each node on the stack, the index of the value being looked at */
  Vector<int32_t> late_; /* nodes that are filled after all others are created */
  Vector<Former> changed_;
  bool is_done_ = false;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_STRUCTURE_JSON_READER_H_
