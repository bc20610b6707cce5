/// \file
/// Creates the value of one node of a graph from its parts.
#include <algorithm>
#include <cstring>

#include "core/errors.h"
#include "structure/arrays.h"
#include "structure/json_reader.h"
#include "values/record_callbacks.h"

namespace anyffi::runtime {

namespace {

/// Code of the host, run to hash or compare keys, may reach and change an object of a cycle.
int refuse_changed(const char* name) {
  return raise_format("RuntimeError", "a %s was changed while it was read", name);
}

}  // namespace

int JsonBuilder::fill_sequence(const JsonGraph::Node& node, AnyffiObject* object) {
  AnyffiSequence* sequence = as_sequence(object);
  if (sequence->size != 0 || sequence->capacity < static_cast<int64_t>(node.count)) return refuse_changed("List");
  for (size_t i = 0; i < node.count; ++i) {
    AnyffiValue& cell = graph_.values[node.first + i];
    if (node.type_code == ANYFFI_SHAPE && cell.type_code != ANYFFI_INT) return fail(node, "a Shape of other than ints");
    // Moves the value out of the cell, which is not read again.
    AnyffiValue value =
        cell.type_code == ANYFFI_UNSET ? retained(resolve(cell)).take() : std::exchange(cell, anyffi_make_none());
    append_owned(&sequence->header, value);
  }
  return 0;
}

int JsonBuilder::fill_mapping(const JsonGraph::Node& node, AnyffiObject* object) {
  AnyffiMapping* mapping = as_mapping(object);
  bool is_set = node.type_code == ANYFFI_SET || node.type_code == ANYFFI_FROZEN_SET;
  size_t step = is_set ? 1 : 2;
  if (node.count % step != 0) return fail(node, "a key without a value");
  if (mapping->used != 0) return refuse_changed("Dict");
  auto take = [&](size_t i) {
    AnyffiValue& cell = graph_.values[node.first + i];
    return cell.type_code == ANYFFI_UNSET ? retained(resolve(cell)).take() : std::exchange(cell, anyffi_make_none());
  };
  if (!anyffi_is_held_once(object)) {
    // Other code may reach a Dict while its keys are hashed.
    for (size_t i = 0; i < node.count; i += 2) {
      AnyffiValue key = take(i), value = take(i + 1);
      int32_t existed;
      if (anyffi_mapping_set(object, &key, &value, &existed) != 0) return explain(node);
      if (existed != 0) return fail(node, "two equal keys");
    }
    return 0;
  }
  uint64_t keys = 0, values = 0;
  for (size_t i = 0; i < node.count; i += step) {
    AnyffiEntry& entry = mapping->entries[mapping->used];
    entry.key = take(i);
    entry.value = is_set ? anyffi_make_none() : take(i + 1);
    keys |= anyffi_type_bit(entry.key.type_code);
    values |= anyffi_type_bit(entry.value.type_code);
    ++mapping->used;
  }
  mapping->key_type_mask |= keys;
  anyffi_add_types(object, &mapping->value_type_mask, values);
  int64_t first, second;
  if (anyffi_mapping_finish(object, &first, &second) != 0) return explain(node);
  return first < 0 ? 0 : fail(node, "two equal keys");
}

int JsonBuilder::make_slice(const JsonGraph::Node& node, AnyffiValue* out) {
  if (node.count != 3) return fail(node, "a slice has start, stop and step");
  const AnyffiValue* cells = &graph_.values[node.first];
  return anyffi_slice_create(&resolve(cells[0]), &resolve(cells[1]), &resolve(cells[2]), out);
}

int JsonBuilder::make_tensor(const JsonGraph::Node& node, AnyffiValue* out) {
  AnyffiTextView bytes;
  anyffi_view_text(&graph_.values[node.first], &bytes);
  AnyffiTensorData data{};
  data.dtype = node.dtype;
  data.ndim = node.ndim;
  data.shape = graph_.sizes.data() + node.first_size;
  int64_t size;
  if (anyffi_tensor_get_nbytes(&data, 0, &size) != 0) {
    Owned ignored;
    anyffi_error_take_raised(ignored.out());
    return fail(node, "the shape of a tensor is too large");
  }
  if (size != bytes.length) return fail(node, "the data of a tensor has another size than its shape and dtype");
  auto* elements = static_cast<const unsigned char*>(bytes.data);
  // C++ may rely on a bool being 0 or 1.
  bool are_bools = data.dtype.code == ANYFFI_kDLBool && data.dtype.bits == 8;
  if (are_bools && std::any_of(elements, elements + bytes.length, [](unsigned char each) { return each > 1; })) {
    return fail(node, "a tensor of bools has another byte than 0 and 1");
  }
  if (anyffi_tensor_create_empty(data.shape, data.ndim, &data.dtype, out) != 0) return explain(node);
  if (size != 0) {
    auto* tensor = reinterpret_cast<AnyffiTensor*>(out->as_object);
    std::memcpy(tensor->tensor.data, bytes.data, static_cast<size_t>(size));
  }
  return 0;
}

/// Finds the values of all fields, borrowed, or from `defaults`; Unset for those whose default the constructor knows.
int JsonBuilder::find_fields(const JsonGraph::Node& node, const ObjectType& type, Vector<AnyffiValue>* out,
                             Vector<Owned>* defaults) {
  AnyffiValue unset = anyffi_make_value(static_cast<uint32_t>(ANYFFI_UNSET), 0);
  out->assign(type.fields.size(), unset);
  for (size_t i = 0; i < node.count; i += 2) {
    AnyffiTextView name;
    Owned utf8;
    anyffi_view_text(&graph_.values[node.first + i], &name);
    if (name.encoding != ANYFFI_ASCII) {
      if (anyffi_str_to_utf8(&graph_.values[node.first + i], utf8.out()) != 0) return explain(node);
      anyffi_view_text(utf8.get(), &name);
    }
    size_t found = type.fields.size();
    // Starts at the same position, since fields are usually in order.
    for (size_t j = 0; j < type.fields.size() && found == type.fields.size(); ++j) {
      size_t at = (i / 2 + j) % type.fields.size();
      const char* other = type.fields[at].field->name;
      bool is_same = std::strlen(other) == static_cast<size_t>(name.length) &&
                     std::memcmp(other, name.data, static_cast<size_t>(name.length)) == 0;
      if (is_same && (*out)[at].type_code == ANYFFI_UNSET) found = at;
    }
    if (found == type.fields.size()) {
      String shown(static_cast<const char*>(name.data), static_cast<size_t>(name.length));
      bool is_known = std::any_of(type.fields.begin(), type.fields.end(),
                                  [&](const auto& each) { return shown == each.field->name; });
      return fail(node, ((is_known ? "twice the field '" : "an unknown field '") + shown + "'").c_str());
    }
    (*out)[found] = resolve(graph_.values[node.first + i + 1]);
  }
  for (size_t i = 0; i < out->size(); ++i) {
    if ((*out)[i].type_code != ANYFFI_UNSET) continue;
    if (has_default(maker_.recipe_of(type), static_cast<int32_t>(i))) continue;
    Owned made;
    int status = find_default(type.info->type_code, type.fields[i].field->name, &made);
    if (status < 0) return -1;
    if (status > 0) {
      (*out)[i] = *made.get();
      defaults->push_back(std::move(made));
      continue;
    }
    String message = String("the field '") + type.fields[i].field->name + "' is missing";
    return fail(node, message.c_str());
  }
  return 0;
}

int JsonBuilder::make_object(const JsonGraph::Node& node, AnyffiValue* made) {
  const ObjectType& type = types_.find(node.type_code);
  if (node.has_state) {
    if (type.get_state == nullptr) return fail(node, "a state of a type that has none");
    return restore(type, resolve(graph_.values[node.first]), made) != 0 ? explain(node) : 0;
  }
  if (type.get_state != nullptr) return fail(node, "fields of a type that has a state");
  const Recipe& recipe = maker_.recipe_of(type);
  Vector<AnyffiValue> fields;
  Vector<Owned> defaults;
  if (find_fields(node, type, &fields, &defaults) != 0) return -1;
  bool is_made = made->type_code > 0;
  if (!is_made && construct(type, recipe, fields.data(), made) != 0) return explain(node);
  Owned object = retained(*made);
  // The object may be part of a cycle: the former values are restored if a later node fails.
  for (int32_t index : recipe.rest) {
    const AnyffiFieldInfo* field = type.fields[static_cast<size_t>(index)].field;
    if (!is_made || form_of(fields[static_cast<size_t>(index)].type_code) == Form::kLeaf) continue;
    Owned former;
    if (field->get(object->as_object, field, former.out()) != 0) {
      // The field is not set yet.
      Owned ignored;
      anyffi_error_take_raised(ignored.out());
    }
    changed_.push_back(Former{retained(*object.get()), field, std::move(former)});
  }
  return set_rest(type, recipe, fields.data(), object->as_object) != 0 ? explain(node) : 0;
}

}  // namespace anyffi::runtime
