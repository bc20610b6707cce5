/// \file
/// Parses the text of a graph: the document and its nodes.
#include "core/errors.h"
#include "structure/json_reader.h"
#include "values/containers.h"

namespace anyffi::runtime {

bool JsonParser::read_key(const char** out, size_t* out_size) {
  return scanner_.read_text(out, out_size) && scanner_.expect(':');
}

/// Detects the format of Apache TVM-FFI by its member names; members that both formats have are skipped.
bool JsonParser::find_format(bool* out_is_tvm) const {
  JsonScanner ahead = scanner_;
  const char* key;
  size_t size;
  *out_is_tvm = false;
  if (!ahead.expect('{')) return false;
  for (bool more = !ahead.accept('}'); more;) {
    if (!ahead.read_text(&key, &size) || !ahead.expect(':')) return false;
    *out_is_tvm = is_text(key, size, "root_index");
    if (!is_text(key, size, "nodes") && !is_text(key, size, "metadata")) return true;
    if (!ahead.skip() || !ahead.next('}', &more)) return false;
  }
  return true;
}

bool JsonParser::run() {
  bool is_tvm;
  return find_format(&is_tvm) && (is_tvm ? read_tvm_graph() : read_graph());
}

bool JsonParser::read_graph() {
  if (!scanner_.expect('{')) return false;
  bool has_format = false, has_version = false, has_root = false, has_nodes = false;
  for (bool more = !scanner_.accept('}'); more;) {
    const char* key;
    size_t size;
    scanner_.peek();
    size_t position = scanner_.position();
    if (!read_key(&key, &size)) return false;
    bool is_again = false;
    if (is_text(key, size, "format")) {
      is_again = std::exchange(has_format, true);
      const char* text;
      size_t length;
      if (!scanner_.read_text(&text, &length)) return false;
      if (!is_text(text, length, "anyffi")) return scanner_.fail("expected the format \"anyffi\"", position);
    } else if (is_text(key, size, "version")) {
      is_again = std::exchange(has_version, true);
      int64_t version;
      if (!scanner_.read_int(&version)) return false;
      if (version != 1)
        return scanner_.fail("a version of the format that this version of anyffi cannot read", position);
    } else if (is_text(key, size, "root")) {
      is_again = std::exchange(has_root, true);
      if (!is_again && !read_value(&graph_->root)) return false;
    } else if (is_text(key, size, "nodes")) {
      is_again = std::exchange(has_nodes, true);
      if (!is_again && !read_nodes(&JsonParser::read_node)) return false;
    } else if (is_text(key, size, "metadata")) {
      if (!scanner_.skip()) return false;
    } else {
      return scanner_.fail("an unknown name: there are format, version, root, nodes and metadata", position);
    }
    if (is_again) return scanner_.fail("a name is there twice", position);
    if (!scanner_.next('}', &more)) return false;
  }
  if (!has_format || !has_version || !has_root || !has_nodes) {
    return scanner_.fail("format, version, root or nodes are missing");
  }
  return scanner_.expect_end() && check_references();
}

bool JsonParser::check_references() {
  auto num_nodes = static_cast<int64_t>(graph_->nodes.size());
  auto check = [&](const AnyffiValue& value) {
    return value.type_code != ANYFFI_UNSET || (value.as_int >= 0 && value.as_int < num_nodes) ||
           (raise_format("ValueError", "a reference to node %lld, of which there are %lld",
                         static_cast<long long>(value.as_int), static_cast<long long>(num_nodes)),
            false);
  };
  for (const AnyffiValue& value : graph_->values) {
    if (!check(value)) return false;
  }
  return check(graph_->root);
}

bool JsonParser::read_nodes(bool (JsonParser::*read)()) {
  if (!scanner_.expect('[')) return false;
  for (bool more = !scanner_.accept(']'); more;) {
    if (graph_->nodes.size() >= INT32_MAX / 2) return scanner_.fail("too many nodes");
    if ((graph_->nodes.size() & 0xFFFF) == 0xFFFF && anyffi_host_check_signals() != 0) return false;
    if (!(this->*read)() || !scanner_.next(']', &more)) return false;
  }
  return true;
}

bool JsonParser::read_type(int32_t* out) {
  scanner_.peek();
  size_t position = scanner_.position();
  const char* key;
  size_t size;
  return scanner_.read_text(&key, &size) && find_type(key, size, position, out);
}

bool JsonParser::find_type(const char* key, size_t size, size_t position, int32_t* out) {
  if (last_type_ == 0 || last_key_.size() != size || std::memcmp(last_key_.data(), key, size) != 0) {
    last_key_.assign(key, size);
    const AnyffiTypeInfo* info = std::memchr(key, 0, size) == nullptr ? anyffi_type_find(last_key_.c_str()) : nullptr;
    last_type_ = info == nullptr ? 0 : info->type_code;
    bool is_made = form_of(last_type_) != Form::kLeaf || last_type_ == ANYFFI_TENSOR;
    if (!is_made || (info->num_fields > 0 && info->fields[0].get == nullptr)) {
      last_type_ = 0;
      // The name may be long, or not UTF-8.
      String shown = last_key_.substr(0, 200);
      for (size_t i; (i = shown.find('\0')) != String::npos;) shown.replace(i, 1, "\\0");
      String message = "unknown type '" + shown + "'; load the library that registers it";
      return scanner_.fail(message.c_str(), position);
    }
  }
  *out = last_type_;
  return true;
}

bool JsonParser::add_value() {
  AnyffiValue value;
  if (!read_value(&value)) return false;
  try {
    graph_->values.push_back(value);
  } catch (...) {
    anyffi_value_drop(&value);
    throw;
  }
  return true;
}

bool JsonParser::read_node() {
  JsonGraph::Node node{};
  scanner_.peek();
  node.position = scanner_.position();
  node.first = graph_->values.size();
  if (!scanner_.expect('{')) return false;
  for (bool more = !scanner_.accept('}'); more;) {
    const char* key;
    size_t size;
    scanner_.peek();
    size_t position = scanner_.position();
    if (!read_key(&key, &size)) return false;
    bool is_again;
    if (is_text(key, size, "type")) {
      is_again = node.type_code != 0;
      if (!read_type(&node.type_code)) return false;
    } else if (is_text(key, size, "data")) {
      is_again = node.data != JsonGraph::Data::kNone || node.has_state;
      if (!is_again && !read_data(&node)) return false;
    } else if (is_text(key, size, "state")) {
      is_again = node.data != JsonGraph::Data::kNone || node.has_state;
      node.has_state = true;
      if (!is_again && !add_value()) return false;
    } else if (is_text(key, size, "dtype")) {
      is_again = node.dtype.bits != 0;
      if (!read_dtype(&node.dtype)) return false;
    } else if (is_text(key, size, "shape")) {
      is_again = std::exchange(node.has_shape, true);
      if (!is_again && !read_sizes(&node)) return false;
    } else {
      return scanner_.fail("an unknown name: nodes have type, data, state, dtype and shape", position);
    }
    if (is_again) return scanner_.fail("a name is there twice, or both data and state are", position);
    if (!scanner_.next('}', &more)) return false;
  }
  if (node.type_code == 0) return scanner_.fail("a node without a type", node.position);
  bool is_tensor = node.type_code == ANYFFI_TENSOR;
  bool is_object = node.type_code >= ANYFFI_FIRST_DYNAMIC_TYPE;
  if ((node.has_shape || node.dtype.bits != 0) != is_tensor ||
      (is_tensor && !(node.has_shape && node.dtype.bits != 0))) {
    return scanner_.fail("tensors, and nothing else, have dtype and shape", node.position);
  }
  bool is_mapping = node.type_code == ANYFFI_DICT || node.type_code == ANYFFI_MAP;
  bool fits = is_object    ? node.has_state || node.data == JsonGraph::Data::kNames
              : is_tensor  ? node.data == JsonGraph::Data::kText
              : is_mapping ? node.data == JsonGraph::Data::kNames || node.data == JsonGraph::Data::kList
                           : node.data == JsonGraph::Data::kList;
  if (!fits) return scanner_.fail("the data of a node does not fit its type", node.position);
  node.count = graph_->values.size() - node.first;
  graph_->nodes.push_back(node);
  return true;
}

bool JsonParser::read_data(JsonGraph::Node* node) {
  char c = scanner_.peek();
  if (c == '"') {
    node->data = JsonGraph::Data::kText;
    AnyffiValue bytes;
    if (!read_bytes(&bytes)) return false;
    Owned owned(bytes);
    graph_->values.push_back(bytes);
    owned.take();
    return true;
  }
  bool has_names = c == '{';
  node->data = has_names ? JsonGraph::Data::kNames : JsonGraph::Data::kList;
  char closing = has_names ? '}' : ']';
  if (!scanner_.expect(has_names ? '{' : '[')) return false;
  for (bool more = !scanner_.accept(closing); more;) {
    if (has_names) {
      Owned name;
      scanner_.peek();
      if (!scanner_.read_str(name.out()) || !scanner_.expect(':')) return false;
      graph_->values.push_back(*name.get());
      name.take();
    }
    if (!add_value() || !scanner_.next(closing, &more)) return false;
  }
  return true;
}

bool JsonParser::read_sizes(JsonGraph::Node* node) {
  node->first_size = graph_->sizes.size();
  if (!scanner_.expect('[')) return false;
  for (bool more = !scanner_.accept(']'); more;) {
    int64_t size;
    if (!scanner_.read_int(&size)) return false;
    if (size < 0 || node->ndim >= 32) return scanner_.fail("no shape of a tensor: at most 32 sizes from 0 on");
    graph_->sizes.push_back(size);
    ++node->ndim;
    if (!scanner_.next(']', &more)) return false;
  }
  return true;
}

}  // namespace anyffi::runtime
