/// \file
/// Creates the values of a graph: the parts of a node before the node itself, without recursion. A cycle is possible
/// only through values that can change after they were created.
#include <cstring>
#include <string_view>

#include "core/errors.h"
#include "core/host.h"
#include "structure/json_reader.h"
#include "values/containers.h"

namespace anyffi::runtime {

JsonBuilder::~JsonBuilder() {
  if (is_done_) return;
  SavedError saved;
  // Breaks cycles between the values created so far.
  for (size_t i = changed_.size(); i-- > 0;) {
    AnyffiValue former = *changed_[i].value.get();
    if (changed_[i].field->set(changed_[i].object->as_object, changed_[i].field, &former) != 0) {
      Owned ignored;
      anyffi_error_take_raised(ignored.out());
    }
  }
  for (Owned& value : made_) {
    if (value->type_code == ANYFFI_LIST)
      anyffi_sequence_erase(value->as_object, 0, as_sequence(value->as_object)->size);
    if (value->type_code == ANYFFI_DICT) anyffi_mapping_clear(value->as_object);
  }
}

int JsonBuilder::fail(const JsonGraph::Node& node, const char* message) noexcept {
  return raise_format("ValueError", "%s, in the node at position %zu (%s)", message, node.position,
                      anyffi_type_get_info(node.type_code)->type_key);
}

int JsonBuilder::explain(const JsonGraph::Node& node) noexcept {
  Owned raised;
  anyffi_error_take_raised(raised.out());
  auto* error = reinterpret_cast<AnyffiError*>(raised->as_object);
  AnyffiTextView kind;
  bool is_kept =
      error->handle != nullptr || anyffi_value_get_text_view(&error->kind, &kind) != 0 || kind.encoding != ANYFFI_ASCII;
  if (!is_kept) {
    std::string_view name(static_cast<const char*>(kind.data), static_cast<size_t>(kind.length));
    is_kept = name == "MemoryError" || name == "KeyboardInterrupt" || name == "RecursionError";
  }
  if (is_kept) return anyffi_error_set_raised(raised->as_object), -1;
  // Uses only the message; the place in the text is appended.
  AnyffiValue values[] = {error->kind, error->message, anyffi_make_int(static_cast<int64_t>(node.position)),
                          anyffi_make_none()};
  const char* key = anyffi_type_get_info(node.type_code)->type_key;
  Owned type_key;
  if (anyffi_str_from_utf8(key, static_cast<int64_t>(std::strlen(key)), type_key.out()) != 0) return -1;
  values[3] = *type_key.get();
  constexpr const char kFormat[] = "{}: {}, in the node at position {} ({})";
  return anyffi_error_raise_formatted("ValueError", kFormat, sizeof(kFormat) - 1, values, 4);
}

int JsonBuilder::run(AnyffiValue* out) {
  made_.resize(graph_.nodes.size());
  states_.resize(graph_.nodes.size(), State::kNew);
  if (graph_.root.type_code != ANYFFI_UNSET) {
    is_done_ = true;
    *out = std::exchange(graph_.root, anyffi_make_none());
    return 0;
  }
  auto root = static_cast<int32_t>(graph_.root.as_int);
  if (open(root) != 0 || advance() != 0) return -1;
  while (!late_.empty()) {
    stack_.push_back(late_.back());
    at_.push_back(0);
    late_.pop_back();
    if (advance() != 0) return -1;
  }
  is_done_ = true;
  *out = retained(*made_[static_cast<size_t>(root)].get()).take();
  return 0;
}

/// Creates the nodes on the stack.
int JsonBuilder::advance() {
  for (uint32_t steps = 1; !stack_.empty(); ++steps) {
    if ((steps & 0xFFFF) == 0 && anyffi_host_check_signals() != 0) return -1;
    int32_t number = stack_.back();
    const JsonGraph::Node& node = graph_.nodes[static_cast<size_t>(number)];
    size_t& at = at_.back();
    int32_t next = -1;
    bool is_postponed = false;
    for (; at < node.count && next < 0; ++at) {
      const AnyffiValue& cell = graph_.values[node.first + at];
      if (cell.type_code != ANYFFI_UNSET) continue;
      auto index = static_cast<size_t>(cell.as_int);
      if (states_[index] == State::kOpen) {
        int status = begin(index);
        if (status < 0) return -1;
        if (status > 0) continue;
        status = postpone();
        if (status < 0) return -1;
        if (status == 0) return fail(graph_.nodes[index], "a cycle of which a part cannot change after it was made");
        is_postponed = true;
        break;
      }
      if (states_[index] == State::kNew) next = static_cast<int32_t>(index);
    }
    if (is_postponed) continue;
    if (next >= 0) {
      if (open(next) != 0) return -1;
      continue;
    }
    if (close(number) != 0) return -1;
    if (states_[static_cast<size_t>(number)] == State::kOpen) states_[static_cast<size_t>(number)] = State::kDone;
    stack_.pop_back();
    at_.pop_back();
  }
  return 0;
}

/// For a node that needs a part that cannot be created yet: creates the innermost enclosing node that can be created
/// empty, and schedules it to be filled when the part exists. Returns 0 if there is none, -1 on failure.
int JsonBuilder::postpone() {
  size_t at = stack_.size();
  int status = 0;
  while (status == 0) {
    if (at == 0) return 0;
    status = begin(static_cast<size_t>(stack_[--at]));
  }
  if (status < 0) return -1;
  auto made = static_cast<size_t>(stack_[at]);
  if (states_[made] == State::kLate) return 0;
  for (size_t i = at + 1; i < stack_.size(); ++i) states_[static_cast<size_t>(stack_[i])] = State::kNew;
  states_[made] = State::kLate;
  late_.push_back(stack_[at]);
  stack_.resize(at);
  at_.resize(at);
  return 1;
}

/// Begins a node. Lists and dicts, to which their own parts often refer, are created now and filled later.
int JsonBuilder::open(int32_t number) {
  auto index = static_cast<size_t>(number);
  const JsonGraph::Node& node = graph_.nodes[index];
  states_[index] = State::kOpen;
  stack_.push_back(number);
  at_.push_back(0);
  if (node.type_code == ANYFFI_LIST) {
    return anyffi_sequence_create(ANYFFI_LIST, static_cast<int64_t>(node.count), made_[index].out());
  }
  if (node.type_code == ANYFFI_DICT) {
    return anyffi_mapping_create(ANYFFI_DICT, static_cast<int64_t>(node.count / 2), made_[index].out());
  }
  return 0;
}

/// Creates the object of an open node before its fields, because one of its parts refers to it. Returns 1 if there is
/// an object, 0 if it cannot be created yet, -1 on failure.
int JsonBuilder::begin(size_t index) {
  if (made_[index]->type_code != ANYFFI_NONE) return 1;
  const JsonGraph::Node& node = graph_.nodes[index];
  if (node.type_code < ANYFFI_FIRST_DYNAMIC_TYPE || node.has_state) return 0;
  const ObjectType& type = types_.find(node.type_code);
  const Recipe& recipe = maker_.recipe_of(type);
  if (!recipe.is_empty_first()) return 0;
  return construct(type, recipe, nullptr, made_[index].out()) != 0 ? explain(node) : 1;
}

int JsonBuilder::close(int32_t number) {
  auto index = static_cast<size_t>(number);
  const JsonGraph::Node& node = graph_.nodes[index];
  Owned& made = made_[index];
  auto count = static_cast<int64_t>(node.count);
  switch (node.type_code) {
    case ANYFFI_LIST:
      return fill_sequence(node, made->as_object);
    case ANYFFI_DICT:
      return fill_mapping(node, made->as_object);
    case ANYFFI_ARRAY:
    case ANYFFI_SHAPE: {
      Owned sequence;
      if (anyffi_sequence_create(node.type_code, count, sequence.out()) != 0) return -1;
      if (fill_sequence(node, sequence->as_object) != 0) return -1;
      made = std::move(sequence);
      return 0;
    }
    case ANYFFI_MAP:
    case ANYFFI_SET:
    case ANYFFI_FROZEN_SET: {
      Owned mapping;
      if (anyffi_mapping_create(node.type_code, count, mapping.out()) != 0) return -1;
      if (fill_mapping(node, mapping->as_object) != 0) return -1;
      made = std::move(mapping);
      return 0;
    }
    case ANYFFI_SLICE:
      return make_slice(node, made.out());
    case ANYFFI_TENSOR:
      return make_tensor(node, made.out());
    default: {
      // An object that exists already is kept, because its own fields may refer to it.
      AnyffiValue object = *made.get();
      int status = make_object(node, &object);
      if (made->type_code <= 0) {
        made = Owned(object);
      } else {
        // Completing a draft changed its type.
        made = retained(anyffi_make_object(made->as_object));
      }
      return status;
    }
  }
}

}  // namespace anyffi::runtime

int anyffi_json_read(const AnyffiValue* text, AnyffiValue* out) {
  using namespace anyffi::runtime;
  *out = anyffi_make_none();
  return guard([&] {
    const AnyffiValue* given = text;
    Owned utf8;
    if (anyffi_is_str(text->type_code)) {
      AnyffiTextView view;
      anyffi_view_text(text, &view);
      if (view.encoding != ANYFFI_ASCII) {
        if (anyffi_str_to_utf8(text, utf8.out()) != 0) return -1;
        given = utf8.get();
      }
    } else if (!anyffi_is_bytes(text->type_code)) {
      return anyffi_error_raise("TypeError", "JSON is text or bytes");
    }
    AnyffiTextView view;
    anyffi_view_text(given, &view);
    // Copied, because inline text and views may lack the zero byte that must end the text.
    String copy;
    auto* bytes = static_cast<const char*>(view.data);
    if (given->type_code != ANYFFI_STR_OBJECT && given->type_code != ANYFFI_BYTES_OBJECT) {
      copy.assign(bytes, static_cast<size_t>(view.length));
      bytes = copy.c_str();
    }
    JsonGraph graph;
    JsonParser parser(bytes, static_cast<size_t>(view.length), &graph);
    if (!parser.run()) return -1;
    JsonBuilder builder(&graph);
    return builder.run(out);
  });
}
