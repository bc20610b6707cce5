/// \file
/// Writes values as JSON: the nodes.
#include "structure/json_writer.h"

#include <anyffi/inline.h>

#include "core/errors.h"
#include "core/messages.h"
#include "records/layout.h"
#include "structure/leaves.h"
#include "tensors/names.h"
#include "tensors/spec.h"
#include "values/containers.h"

namespace anyffi::runtime {

/// Writes the number of a value's node, which it adds if the value is new.
void JsonWriter::write_reference(const AnyffiValue& value, bool may_return) {
  auto number = static_cast<int32_t>(nodes_.size());
  bool is_known = false;
  if (may_return) {
    int32_t& known = numbers_.insert(value.as_object, nullptr);
    is_known = known >= 0;
    if (is_known) {
      number = known;
    } else {
      known = number;
    }
  }
  if (!is_known) nodes_.push_back(Node{retained(value), current_, static_cast<int32_t>(part_)});
  text_.put("{\"ref\": ");
  put_number(number);
  text_.put('}');
}

int JsonWriter::write_value(const AnyffiValue& given, bool may_return) {
  const AnyffiValue& value = unboxed(given);
  AnyffiTextView view;
  switch (value.type_code) {
    case ANYFFI_NONE:
      return text_.put("null"), 0;
    case ANYFFI_BOOL:
      return value.as_int != 0 ? text_.put("true") : text_.put("false"), 0;
    case ANYFFI_INT:
      return put_number(value.as_int), 0;
    case ANYFFI_FLOAT:
      return put_float(value.as_float), 0;
    case ANYFFI_STR:
    case ANYFFI_STR_VIEW:
    case ANYFFI_STR_OBJECT:
      anyffi_view_text(&value, &view);
      return put_string(view), 0;
    case ANYFFI_BYTES:
    case ANYFFI_BYTES_VIEW:
    case ANYFFI_BYTES_OBJECT:
      anyffi_view_text(&value, &view);
      text_.put("{\"bytes\": ");
      put_base64(view.data, static_cast<size_t>(view.length));
      return text_.put('}'), 0;
    case ANYFFI_BIG_INT:
      return put_hex(*reinterpret_cast<AnyffiBigInt*>(value.as_object)), 0;
    case ANYFFI_COMPLEX:
      text_.put("{\"complex\": [");
      put_float(reinterpret_cast<AnyffiComplex*>(value.as_object)->real);
      text_.put(", ");
      put_float(reinterpret_cast<AnyffiComplex*>(value.as_object)->imag);
      return text_.put("]}"), 0;
    case ANYFFI_PY_OBJECT: {
      Owned holder;
      const AnyffiValue* plain;
      if (find_plain(value, &holder, &plain) != 0) return -1;
      return plain->type_code == ANYFFI_PY_OBJECT ? refuse(value) : write_value(*plain, false);
    }
    case ANYFFI_ELLIPSIS:
      return text_.put("{\"ellipsis\": true}"), 0;
    case ANYFFI_DATA_TYPE:
      text_.put("{\"dtype\": ");
      put_name(data_type_name(value.as_data_type).text);
      return text_.put('}'), 0;
    case ANYFFI_DEVICE:
      text_.put("{\"device\": ");
      put_name(device_name(value.as_device).text);
      return text_.put('}'), 0;
    default:
      break;
  }
  bool is_node = form_of(value.type_code) != Form::kLeaf || value.type_code == ANYFFI_TENSOR;
  if (value.type_code >= ANYFFI_FIRST_DYNAMIC_TYPE) {
    const ObjectType& type = types_.find(value.type_code);
    is_node = type.get_state != nullptr || type.has_fields;
    const AnyffiRecord* record = type.info->record;
    if (record != nullptr && record->completed != nullptr) return refuse(value, ", since it is not initialized");
  }
  if (!is_node) return refuse(value);
  return write_reference(value, may_return), 0;
}

int JsonWriter::refuse(const AnyffiValue& value, const char* reason) {
  Owned name;
  if (type_name_of(&value, name.out()) != 0) return -1;
  String type, path = path_to(current_);
  append_text(&type, name.get());
  return raise_format("TypeError", "%s cannot be written as JSON%s%s%s", type.c_str(), reason,
                      path.empty() ? "" : ": at ", path.c_str());
}

int JsonWriter::write_sequence(const AnyffiSequence* sequence) {
  text_.put(", \"data\": [");
  // Nothing that runs here can change the sequence.
  for (int64_t i = 0; i < sequence->size; ++i) {
    if (i > 0) text_.put(", ");
    part_ = i;
    if (write_value(sequence->data[i], is_shared(sequence->data[i], 0)) != 0) return -1;
  }
  return text_.put(']'), 0;
}

/// Writes an object if all keys are text, else a list of keys and values in turn.
int JsonWriter::write_mapping(const AnyffiMapping* mapping) {
  constexpr uint64_t kText = anyffi_type_bit(ANYFFI_STR) | anyffi_type_bit(ANYFFI_STR_OBJECT);
  bool has_names = (mapping->key_type_mask & ~(kText | anyffi_type_bit(ANYFFI_UNSET))) == 0;
  AnyffiTextView text;
  for (int64_t i = 0; i < mapping->used && has_names; ++i) {
    const AnyffiValue& key = mapping->entries[i].key;
    if (key.type_code == ANYFFI_UNSET) continue;
    anyffi_view_text(&key, &text);
    has_names = !has_surrogates(text);
  }
  text_.put(", \"data\": ");
  text_.put(has_names ? '{' : '[');
  bool is_first = true;
  for (int64_t i = 0; i < mapping->used; ++i) {
    const AnyffiEntry& entry = mapping->entries[i];
    if (entry.key.type_code == ANYFFI_UNSET) continue;
    if (!std::exchange(is_first, false)) text_.put(", ");
    part_ = i;
    if (has_names) {
      anyffi_view_text(&entry.key, &text);
      put_text(text);
      text_.put(": ");
    } else {
      if (write_value(entry.key, is_shared(entry.key, 0)) != 0) return -1;
      text_.put(", ");
    }
    if (write_value(entry.value, is_shared(entry.value, 0)) != 0) return -1;
  }
  return text_.put(has_names ? '}' : ']'), 0;
}

int JsonWriter::write_set(const AnyffiMapping* set) {
  text_.put(", \"data\": [");
  bool is_first = true;
  for (int64_t i = 0; i < set->used; ++i) {
    const AnyffiValue& element = set->entries[i].key;
    if (element.type_code == ANYFFI_UNSET) continue;
    if (!std::exchange(is_first, false)) text_.put(", ");
    part_ = i;
    if (write_value(element, is_shared(element, 0)) != 0) return -1;
  }
  return text_.put(']'), 0;
}

int JsonWriter::write_slice(AnyffiObject* slice) {
  text_.put(", \"data\": [");
  for (int64_t i = 0; i < 3; ++i) {
    if (i > 0) text_.put(", ");
    part_ = i;
    AnyffiValue part;
    if (get_part(nullptr, slice, i, &part) != 0) return -1;
    Owned owned(part);
    if (write_value(part, is_shared(part, 1)) != 0) return -1;
  }
  return text_.put(']'), 0;
}

int JsonWriter::write_object(AnyffiObject* object) {
  const ObjectType& type = types_.find(object->type_code);
  if (type.get_state != nullptr) {
    AnyffiValue part;
    if (get_state(type, object, &part) != 0) return -1;
    Owned owned(part);
    text_.put(", \"state\": ");
    return write_value(part, is_shared(part, 1));
  }
  text_.put(", \"data\": {");
  for (size_t i = 0; i < type.fields.size(); ++i) {
    if (i > 0) text_.put(", ");
    put_name(type.fields[i].field->name);
    text_.put(": ");
    part_ = static_cast<int64_t>(i);
    const AnyffiFieldInfo* field = type.fields[i].field;
    AnyffiValue part = anyffi_make_none();
    if (field->get(object, field, &part) != 0) {
      // Fields of a base class of C++ may fail for other reasons.
      bool is_own = anyffi_type_get_info(field->type_code)->record != nullptr;
      bool is_unset = is_own && object->deleter == &destroy_draft;
      return is_unset ? refuse(anyffi_make_object(object), ", since a field is not set") : -1;
    }
    Owned owned(part);
    if (part.type_code > 0) part.aux = 0;
    if (write_value(part, is_shared(part, 1)) != 0) return -1;
  }
  return text_.put('}'), 0;
}

int JsonWriter::write_tensor(const AnyffiTensor& tensor) {
  const AnyffiTensorData* data = &tensor.tensor;
  Owned copy;
  int64_t size;
  if ((tensor.flags & ANYFFI_TENSOR_PADDED) != 0) {
    return anyffi_error_raise("BufferError", "a tensor of padded elements cannot be written as JSON");
  }
  if (anyffi_tensor_check_access(data, tensor.flags, nullptr, 1, ANYFFI_ACCESS_READ) != 0) return -1;
  if (anyffi_tensor_get_nbytes(data, tensor.flags, &size) != 0) return -1;
  if (!is_in_order(*data, ANYFFI_ORDER_ROW_MAJOR)) {
    if (anyffi_tensor_copy(data, tensor.flags, copy.out()) != 0) return -1;
    data = &reinterpret_cast<AnyffiTensor*>(copy->as_object)->tensor;
  }
  text_.put(", \"dtype\": ");
  put_name(data_type_name(data->dtype).text);
  text_.put(", \"shape\": [");
  for (int32_t i = 0; i < data->ndim; ++i) {
    if (i > 0) text_.put(", ");
    put_number(data->shape[i]);
  }
  text_.put("], \"data\": ");
  put_base64(static_cast<const char*>(data->data) + data->byte_offset, static_cast<size_t>(size));
  return 0;
}

int JsonWriter::write_node(const AnyffiValue& value) {
  text_.put("{\"type\": ");
  put_name(anyffi_type_get_info(value.type_code)->type_key);
  int status;
  switch (form_of(value.type_code)) {
    case Form::kSequence:
      status = write_sequence(as_sequence(value.as_object));
      break;
    case Form::kMapping:
      status = write_mapping(as_mapping(value.as_object));
      break;
    case Form::kSet:
      status = write_set(as_mapping(value.as_object));
      break;
    case Form::kSlice:
      status = write_slice(value.as_object);
      break;
    case Form::kLeaf:
      status = write_tensor(*reinterpret_cast<AnyffiTensor*>(value.as_object));
      break;
    default:
      status = write_object(value.as_object);
      break;
  }
  text_.put('}');
  return status;
}

int JsonWriter::run(const AnyffiValue& value, AnyffiValue* out) {
  text_.put("{\"format\": \"anyffi\", \"version\": 1, \"root\": ");
  if (write_value(value, value.type_code > 0) != 0) return -1;
  text_.put(", \"nodes\": [");
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if ((i & 0xFFFF) == 0xFFFF && anyffi_host_check_signals() != 0) return -1;
    if (nodes_.size() > INT32_MAX / 2) return anyffi_error_raise("OverflowError", "too many objects to write as JSON");
    text_.put(i == 0 ? "\n" : ",\n", i == 0 ? 1 : 2);
    current_ = static_cast<int32_t>(i);
    part_ = 0;
    // A copy, because the list of nodes may move.
    AnyffiValue node = *nodes_[i].value.get();
    if (write_node(node) != 0) return -1;
  }
  text_.put("]}\n");
  return anyffi_str_create(text_.data(), static_cast<int64_t>(text_.size()), ANYFFI_ASCII, out);
}

}  // namespace anyffi::runtime

int anyffi_json_write(const AnyffiValue* value, AnyffiValue* out) {
  using namespace anyffi::runtime;
  *out = anyffi_make_none();
  return guard([&] {
    JsonWriter writer;
    return writer.run(*value, out);
  });
}
