/// \file
/// Parses the graphs that Apache TVM-FFI writes. There all values are nodes that refer to each other by plain numbers;
/// only numbers and dtypes in fields of those types are written in place.
#include <cmath>
#include <cstring>

#include "core/errors.h"
#include "structure/json_reader.h"
#include "values/containers.h"

namespace anyffi::runtime {
namespace {

constexpr int32_t kBigIntDigits = 4300; /* CPython's limit: the time grows with the square of the length */

struct TypeRow {
  const char* key;
  int32_t type_code;
};
constexpr TypeRow kTypes[] = {
    {"None", ANYFFI_NONE},
    {"bool", ANYFFI_BOOL},
    {"int", ANYFFI_INT},
    {"float", ANYFFI_FLOAT},
    {"DataType", ANYFFI_DATA_TYPE},
    {"Device", ANYFFI_DEVICE},
    {"ffi.BigInt", ANYFFI_BIG_INT},
    {"ffi.String", ANYFFI_STR_OBJECT},
    {"ffi.Bytes", ANYFFI_BYTES_OBJECT},
    {"ffi.Array", ANYFFI_ARRAY},
    {"ffi.List", ANYFFI_LIST},
    {"ffi.Map", ANYFFI_MAP},
    {"ffi.Dict", ANYFFI_DICT},
    {"ffi.Shape", ANYFFI_SHAPE},
};

AnyffiValue make_reference(int64_t node) noexcept {
  return anyffi_make_value(static_cast<uint32_t>(ANYFFI_UNSET), static_cast<uint64_t>(node));
}

/// The type of the values that a field stores in place, or 0.
int32_t type_in_place(const AnyffiFieldInfo* field) noexcept {
  constexpr TypeRow kRows[] = {
      {"int", ANYFFI_INT}, {"float", ANYFFI_FLOAT}, {"bool", ANYFFI_BOOL}, {"dtype", ANYFFI_DATA_TYPE}};
  for (const TypeRow& row : kRows) {
    if (field != nullptr && field->type_name != nullptr && std::strcmp(field->type_name, row.key) == 0)
      return row.type_code;
  }
  return 0;
}

}  // namespace

bool JsonParser::read_tvm_graph() {
  if (!scanner_.expect('{')) return false;
  bool has_root = false, has_nodes = false;
  for (bool more = !scanner_.accept('}'); more;) {
    const char* key;
    size_t size;
    scanner_.peek();
    size_t position = scanner_.position();
    if (!read_key(&key, &size)) return false;
    bool is_again = false;
    if (is_text(key, size, "root_index")) {
      is_again = std::exchange(has_root, true);
      int64_t root;
      if (!scanner_.read_int(&root)) return false;
      graph_->root = make_reference(root);
    } else if (is_text(key, size, "nodes")) {
      is_again = std::exchange(has_nodes, true);
      if (!is_again && !read_nodes(&JsonParser::read_tvm_node)) return false;
    } else if (is_text(key, size, "metadata")) {
      if (!scanner_.skip()) return false;
    } else {
      return scanner_.fail("an unknown name: there are root_index, nodes and metadata", position);
    }
    if (is_again) return scanner_.fail("a name is there twice", position);
    if (!scanner_.next('}', &more)) return false;
  }
  if (!has_root || !has_nodes) return scanner_.fail("root_index or nodes are missing");
  if (!scanner_.expect_end() || !check_references()) return false;
  // References to nodes of numbers and text are replaced by the values themselves.
  auto resolve = [&](AnyffiValue* value) {
    if (value->type_code != ANYFFI_UNSET) return;
    const JsonGraph::Node& node = graph_->nodes[static_cast<size_t>(value->as_int)];
    if (node.data == JsonGraph::Data::kValue) *value = retained(graph_->values[node.first]).take();
  };
  for (AnyffiValue& value : graph_->values) resolve(&value);
  resolve(&graph_->root);
  return true;
}

bool JsonParser::read_tvm_type(JsonGraph::Node* node, bool* out_is_value) {
  scanner_.peek();
  size_t position = scanner_.position();
  const char* key;
  size_t size;
  if (!scanner_.read_text(&key, &size)) return false;
  for (const TypeRow& row : kTypes) {
    if (!is_text(key, size, row.key)) continue;
    node->type_code = row.type_code;
    *out_is_value = form_of(row.type_code) == Form::kLeaf;
    return true;
  }
  *out_is_value = false;
  return find_type(key, size, position, &node->type_code);
}

bool JsonParser::read_tvm_node() {
  JsonGraph::Node node{};
  scanner_.peek();
  node.position = scanner_.position();
  node.first = graph_->values.size();
  if (!scanner_.expect('{')) return false;
  bool has_type = false, is_value = false, has_data = false;
  for (bool more = !scanner_.accept('}'); more;) {
    const char* key;
    size_t size;
    scanner_.peek();
    size_t position = scanner_.position();
    if (!read_key(&key, &size)) return false;
    bool is_again;
    if (is_text(key, size, "type")) {
      is_again = std::exchange(has_type, true);
      if (!is_again && !read_tvm_type(&node, &is_value)) return false;
    } else if (is_text(key, size, "data")) {
      is_again = std::exchange(has_data, true);
      if (!has_type) return scanner_.fail("the type of a node stands before its data", position);
      if (!is_again && !(is_value ? add_tvm_value(node.type_code) : read_tvm_data(&node))) return false;
    } else {
      return scanner_.fail("an unknown name: nodes have type and data", position);
    }
    if (is_again) return scanner_.fail("a name is there twice", position);
    if (!scanner_.next('}', &more)) return false;
  }
  if (!has_type) return scanner_.fail("a node without a type", node.position);
  if (!has_data) {
    if (node.type_code != ANYFFI_NONE) return scanner_.fail("a node without data", node.position);
    graph_->values.push_back(anyffi_make_none());
  }
  if (is_value) node.data = JsonGraph::Data::kValue;
  node.count = graph_->values.size() - node.first;
  graph_->nodes.push_back(node);
  return true;
}

bool JsonParser::read_tvm_data(JsonGraph::Node* node) {
  bool is_object = node->type_code >= ANYFFI_FIRST_DYNAMIC_TYPE;
  node->data = is_object ? JsonGraph::Data::kNames : JsonGraph::Data::kList;
  char closing = is_object ? '}' : ']';
  if (!scanner_.expect(is_object ? '{' : '[')) return false;
  for (bool more = !scanner_.accept(closing); more;) {
    int32_t in_place = node->type_code == ANYFFI_SHAPE ? ANYFFI_INT : 0;
    if (is_object) {
      Owned name;
      const char* text;
      size_t size;
      scanner_.peek();
      if (!scanner_.read_text(&text, &size)) return false;
      if (anyffi_str_from_utf8(text, static_cast<int64_t>(size), name.out()) != 0) return false;
      in_place = type_in_place(anyffi_type_find_field(node->type_code, String(text, size).c_str()));
      graph_->values.push_back(*name.get());
      name.take();
      if (!scanner_.expect(':')) return false;
    }
    if (in_place != 0) {
      if (!add_tvm_value(in_place)) return false;
    } else {
      int64_t number;
      if (!scanner_.read_int(&number)) return false;
      graph_->values.push_back(make_reference(number));
    }
    if (!scanner_.next(closing, &more)) return false;
  }
  return true;
}

/// Adds the value of a node or field whose type has no parts.
bool JsonParser::add_tvm_value(int32_t type_code) {
  Owned made;
  if (!read_tvm_value(type_code, made.out())) return false;
  graph_->values.push_back(*made.get());
  made.take();
  return true;
}

bool JsonParser::read_tvm_value(int32_t type_code, AnyffiValue* out) {
  *out = anyffi_make_none();
  char first = scanner_.peek();
  size_t position = scanner_.position();
  switch (type_code) {
    case ANYFFI_STR_OBJECT:
      return scanner_.read_str(out);
    case ANYFFI_BYTES_OBJECT:
      return read_bytes(out);
    case ANYFFI_BIG_INT:
      return read_decimal(out);
    case ANYFFI_DATA_TYPE: {
      AnyffiDataType dtype;
      if (!read_dtype(&dtype)) return false;
      *out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_DATA_TYPE), 0);
      out->as_data_type = dtype;
      return true;
    }
    case ANYFFI_DEVICE: {
      int64_t parts[2];
      if (!scanner_.expect('[') || !scanner_.read_int(&parts[0]) || !scanner_.expect(',')) return false;
      if (!scanner_.read_int(&parts[1]) || !scanner_.expect(']')) return false;
#define ANYFFI_ROW(NAME, number, name) parts[0] == (number) ||
      bool is_known = ANYFFI_DEVICE_TYPES(ANYFFI_ROW) false;
#undef ANYFFI_ROW
      if (!is_known || parts[1] < 0 || parts[1] > INT32_MAX) return scanner_.fail("unknown device", position);
      *out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_DEVICE), 0);
      out->as_device = AnyffiDevice{static_cast<int32_t>(parts[0]), static_cast<int32_t>(parts[1])};
      return true;
    }
    case ANYFFI_FLOAT: {
      bool is_negative = first == '-' && scanner_.is_next("-Infinity");
      if (is_negative || first == 'I') {
        *out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_FLOAT), 0);
        out->as_float = is_negative ? -HUGE_VAL : HUGE_VAL;
        return scanner_.expect_word(is_negative ? "-Infinity" : "Infinity");
      }
      if (first == 'N') {
        *out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_FLOAT), 0);
        out->as_float = std::nan("");
        return scanner_.expect_word("NaN");
      }
      if (!scanner_.read_number(out)) return false;
      if (out->type_code == ANYFFI_INT) {
        auto number = static_cast<double>(out->as_int);
        *out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_FLOAT), 0);
        out->as_float = number;
      }
      return true;
    }
    default:
      bool has_parts = first == '{' || first == '[';
      if (!has_parts && !read_value(out)) return false;
      return (!has_parts && out->type_code == type_code) ||
             scanner_.fail("the data of a node does not fit its type", position);
  }
}

bool JsonParser::read_decimal(AnyffiValue* out) {
  const char* text;
  size_t size;
  scanner_.peek();
  size_t position = scanner_.position();
  if (!scanner_.read_text(&text, &size)) return false;
  bool is_negative = size > 0 && text[0] == '-';
  if (is_negative) ++text, --size;
  if (size == 0 || size > kBigIntDigits) return scanner_.fail("expected up to 4300 digits", position);
  Vector<uint64_t> words(size / 19 + 1, 0);
  for (size_t i = 0; i < size; ++i) {
    if (text[i] < '0' || text[i] > '9') return scanner_.fail("expected up to 4300 digits", position);
    auto carry = static_cast<unsigned __int128>(text[i] - '0');
    for (uint64_t& word : words) {
      carry += static_cast<unsigned __int128>(word) * 10;
      word = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
  }
  return anyffi_big_int_create(words.data(), static_cast<int64_t>(words.size()), is_negative, out) == 0;
}

}  // namespace anyffi::runtime
