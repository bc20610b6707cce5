/// \file
/// Argument conversion errors. The runtime composes them, so that the wording is the same for all modules and in one
/// place.
#include <anyffi/inline.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <string_view>

#include "core/errors.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/owned.h"
#include "functions/signature.h"
#include "tensors/names.h"
#include "tensors/spec.h"
#include "values/nested.h"

namespace anyffi::runtime {
namespace {

/// Appends ` of float32`, and the shape unless there is exactly one axis.
void append_layout(String* out, const AnyffiValue& got) {
  const AnyffiTensorData& tensor = reinterpret_cast<const AnyffiTensor*>(got.as_object)->tensor;
  *out += " of ";
  *out += data_type_name(tensor.dtype).text;
  if (tensor.ndim == 1) return;
  *out += ", of shape (";
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    if (i > 0) *out += ", ";
    *out += std::to_string(tensor.shape[i]).c_str();
  }
  *out += ')';
}

/// `shop.Size.LARGE`, or `shop.Access(6)` for flags without a name.
void append_member_name(String* out, const AnyffiValue& value) {
  const AnyffiTypeInfo& type = *anyffi_type_get_info(static_cast<int32_t>(value.aux));
  *out += type.type_key;
  for (int32_t i = 0; i < type.num_fields; ++i) {
    if (type.fields[i].offset == value.as_int) return static_cast<void>(out->append(".").append(type.fields[i].name));
  }
  out->append("(").append(std::to_string(value.as_int).c_str()).append(")");
}

/// Appends the name of a value's type; for an object class its key, which is also its name in signatures.
void append_class_name(String* out, const AnyffiValue& value) {
  if (anyffi_is_member(&value)) return append_member_name(out, value);
  const AnyffiTypeInfo* info = anyffi_type_get_info(value.type_code);
  if (info != nullptr && value.type_code >= ANYFFI_FIRST_DYNAMIC_TYPE) {
    *out += info->type_key;
  } else {
    append_type_name(out, value);
  }
}

/// Whether `expected` is the key of a type, or a union with it. The key itself may look like a union.
bool is_expected(std::string_view key, std::string_view expected) {
  constexpr std::string_view kOr = " | ";
  for (size_t at = expected.find(key); at != std::string_view::npos; at = expected.find(key, at + 1)) {
    std::string_view before = expected.substr(0, at), after = expected.substr(at + key.size());
    bool begins = before.empty() || (before.size() > kOr.size() && before.substr(before.size() - kOr.size()) == kOr);
    if (begins && (after.empty() || after.substr(0, kOr.size()) == kOr)) return true;
  }
  return false;
}

/// The type of an instance of a class; NULL for other values.
const AnyffiTypeInfo* class_of(const AnyffiValue& value) {
  const AnyffiTypeInfo* info = anyffi_type_get_info(value.type_code);
  return info != nullptr && info->type_code >= ANYFFI_FIRST_DYNAMIC_TYPE ? info : nullptr;
}

/// Whether a value is an instance of a class that C++ lent, until the call ended.
bool was_lent(const AnyffiValue& value) {
  return class_of(value) != nullptr && value.as_object->type_code == ANYFFI_OBJECT;
}

/// Says why an object is refused whose type has the key of the expected one.
void append_version(String* out, const AnyffiMismatch& mismatch) {
  const AnyffiTypeInfo* info = class_of(mismatch.got);
  if (info == nullptr || was_lent(mismatch.got) || !is_expected(info->type_key, mismatch.expected)) return;
  *out += info->record != nullptr ? " of another definition of the class" : " of another version of its library";
}

/// Appends the refused value, or the name of its type if that was wrong.
void append_got(String* out, const AnyffiMismatch& mismatch) {
  if (mismatch.got_text[0] != 0) {
    *out += mismatch.got_text;
  } else if (mismatch.reason == ANYFFI_MISMATCH_TYPE || mismatch.reason == ANYFFI_MISMATCH_TENSOR) {
    append_class_name(out, mismatch.got);
    if (mismatch.got.type_code == ANYFFI_TENSOR) append_layout(out, mismatch.got);
    if (mismatch.reason == ANYFFI_MISMATCH_TYPE) append_version(out, mismatch);
  } else {
    append_repr(out, &mismatch.got);
  }
}

/// Where to cut UTF-8 text of more than `end` bytes without splitting a code point.
size_t cut_before(const String& text, size_t end) {
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return end;
}

/// `a tensor of float64 with shape (*, 3), got one of float32 with shape (2, 2)`
void append_tensor_reason(String* out, const AnyffiMismatch& mismatch) {
  auto* spec = reinterpret_cast<const AnyffiTensorSpec*>(mismatch.detail);
  if (spec != nullptr) {
    append_requirement(out, *spec, mismatch.got);
  } else {
    *out += mismatch.expected;
  }
  *out += ", got ";
  if (mismatch.got_text[0] != 0) {
    *out += mismatch.got_text;
    return;
  }
  uint64_t flags;
  if (const AnyffiTensorData* data = tensor_of(mismatch.got, &flags)) {
    *out += spec != nullptr ? "one of " : "a tensor of ";
    append_tensor(out, spec, *data, flags);
    // Of the members of a union only the text is known here.
    bool may_write = spec == nullptr && std::string_view(mismatch.expected).find("writable]") != std::string_view::npos;
    if (may_write && (flags & ANYFFI_TENSOR_READ_ONLY) != 0) *out += " that is read-only";
    return;
  }
  append_type_name(out, mismatch.got);
  if (mismatch.expected != kNestedShape) return;
  NestedShape shape(mismatch.got);
  *out += " with shape ";
  append_sizes(out, shape.extents, shape.ndim, false);
}

void append_reason(String* out, const AnyffiMismatch& mismatch) {
  if (mismatch.reason == ANYFFI_MISMATCH_RANGE) {
    append_got(out, mismatch);
    *out += " does not fit ";
    *out += mismatch.detail;
    return;
  }
  if (mismatch.reason == ANYFFI_MISMATCH_VALUE) {
    *out += mismatch.detail;
    *out += ", got ";
    append_got(out, mismatch);
    return;
  }
  *out += "expected ";
  if (mismatch.reason == ANYFFI_MISMATCH_TENSOR) return append_tensor_reason(out, mismatch);
  *out += mismatch.expected;
  *out += ", got ";
  append_got(out, mismatch);
  if (was_lent(mismatch.got)) *out += " that C++ had lent for a call that has ended";
}

/// `'x'`, `'x' and 'y'`, `'x', 'y', and 'z'`, as Python words it.
void append_missing(String* out, const AnyffiFunctionInfo& info, const Vector<int32_t>& missing) {
  for (size_t i = 0; i < missing.size(); ++i) {
    if (i > 0) *out += missing.size() > 2 ? ", " : " ";
    if (i > 0 && i + 1 == missing.size()) *out += "and ";
    *out += '\'';
    append_param_name(out, info, missing[i]);
    *out += '\'';
  }
}

/// `name()`, or the `repr` of a callable without its address.
void append_function(String* out, const AnyffiFunction& function) {
  if (function.info != nullptr) {
    out->append(name_of(function.info)).append("()");
    return;
  }
  String text;
  AnyffiValue value = anyffi_make_object(const_cast<AnyffiObject*>(&function.header));
  append_repr(&text, &value);
  constexpr std::string_view kAddress = " at 0x";
  for (size_t place; (place = text.find(kAddress)) != String::npos;) {
    size_t end = text.find_first_not_of("0123456789abcdefABCDEF", place + kAddress.size());
    text.erase(place, end == String::npos ? end : end - place);
  }
  *out += text;
}

/// Suggests what to return instead of a rejected result. The host does this for arguments (pkg/_rules/advice.py), but
/// no longer has the value that it returned.
const char* advice_about_result(const AnyffiMismatch& mismatch) {
  int32_t code = mismatch.got.type_code;
  bool is_sequence = code == ANYFFI_LIST || code == ANYFFI_ARRAY;
  if (mismatch.reason == ANYFFI_MISMATCH_TENSOR) return is_sequence ? "; return numpy.asarray() of it" : "";
  if (mismatch.reason != ANYFFI_MISMATCH_TYPE) return "";
  std::string_view expected = mismatch.expected;
  auto is_any_of = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), expected.substr(0, expected.find('['))) != names.end();
  };
  if (is_sequence && is_any_of({"AbstractSet", "FrozenSet", "Set"})) return "; return set() of it";
  bool is_number = code == ANYFFI_TENSOR && reinterpret_cast<AnyffiTensor*>(mismatch.got.as_object)->tensor.ndim == 0;
  return is_number && is_any_of({"bool", "complex", "float", "int"}) ? "; return its .item()" : "";
}

/// Appends `, at [1]["k"]`.
void append_path(String* text, const AnyffiMismatch& mismatch) {
  if (mismatch.path_size == 0) return;
  if (!text->empty()) *text += ", ";
  *text += "at ";
  text->append(mismatch.path, static_cast<size_t>(mismatch.path_size));
}

/// Raises a mismatch; `text` describes the value, or is empty.
int raise_mismatch(const AnyffiMismatch& mismatch, String text, const char* advice = "") {
  append_path(&text, mismatch);
  if (!text.empty()) text += ": ";
  append_reason(&text, mismatch);
  text += advice;
  const char* kind = mismatch.reason == ANYFFI_MISMATCH_RANGE   ? "OverflowError"
                     : mismatch.reason == ANYFFI_MISMATCH_VALUE ? "ValueError"
                                                                : "TypeError";
  return raise_text(kind, text);
}

/// Whether a method was called on an object of another class.
bool is_other_self(const AnyffiMismatch& mismatch, const AnyffiFunctionInfo* info, int32_t index) {
  return info != nullptr && (info->flags & ANYFFI_METHOD) != 0 && index == 0 && mismatch.path_size == 0 &&
         mismatch.reason == ANYFFI_MISMATCH_TYPE;
}

/// Raises the TypeError with which Python's descriptors reject another class.
int raise_other_self(const AnyffiMismatch& mismatch, const AnyffiFunctionInfo& info) {
  String text = "descriptor '";
  text.append(name_of(&info)).append("' for '").append(mismatch.expected).append("' objects doesn't apply to a '");
  append_type_name(&text, mismatch.got);
  return raise_text("TypeError", text + "' object");
}

/// The class of which a function sets a property; NULL for other functions.
const AnyffiTypeInfo* find_owner(const AnyffiFunctionInfo& info) noexcept {
  if ((info.flags & ANYFFI_METHOD) == 0 || info.num_params != 2 || info.params[0].type_name == nullptr) return nullptr;
  const AnyffiTypeInfo* owner = anyffi_type_find(info.params[0].type_name);
  for (int32_t i = 0; owner != nullptr && i < owner->num_methods; ++i) {
    const AnyffiMethodInfo& method = owner->methods[i];
    if (method.flags != ANYFFI_SETTER) continue;
    if (reinterpret_cast<const AnyffiFunction*>(method.function)->info == &info) return owner;
  }
  return nullptr;
}

/// `f(x: Tensor) -> None: argument 0 (x)`, without the argument if `index` is -1; `shop.Item.price` for the value of a
/// property, as for a field.
void append_place(String* out, const AnyffiFunctionInfo& info, const char* what, int32_t index) {
  if (const AnyffiTypeInfo* owner = index == 0 ? nullptr : find_owner(info)) {
    out->append(owner->type_key).append(".").append(name_of(&info));
    return;
  }
  append_signature(out, info);
  if (index < 0) return;
  out->append(": ").append(what).append(" ").append(std::to_string(index).c_str()).append(" (");
  append_param_name(out, info, index);
  *out += ')';
}

/// Prefixes the message of the raised error with the place of the value. `append_where` may run code of the host.
template <class F>
int prefix_raised(F append_where) noexcept {
  Owned error;
  anyffi_error_take_raised(error.out());
  return guard([&] {
    auto* former = reinterpret_cast<AnyffiError*>(error->as_object);
    String kind, text;
    append_text(&kind, &former->kind);
    append_where(&text);
    text += ": ";
    append_text(&text, &former->message);
    raise_text(kind.c_str(), text);
    inherit_raised(former);
    return -1;
  });
}

/// The address of the elements of a tensor; NULL for other values.
const void* elements_of(const AnyffiValue& value) {
  const AnyffiTensorData* data = nullptr;
  if (value.type_code == ANYFFI_TENSOR) data = &reinterpret_cast<const AnyffiTensor*>(value.as_object)->tensor;
  if (value.type_code == ANYFFI_TENSOR_VIEW) data = static_cast<const AnyffiTensorData*>(value.as_pointer);
  return data == nullptr ? nullptr : static_cast<const char*>(data->data) + data->byte_offset;
}

/// Reserved, because it is enough for most messages.
constexpr size_t kUsualMessage = 160;

/// Raises a mismatch of the value that `what` describes, for the parameter at `index`.
int raise_about_parameter(const AnyffiMismatch& mismatch, const AnyffiFunctionInfo* info, const char* what,
                          int32_t index) {
  bool is_named = info != nullptr && index >= 0;
  if (mismatch.reason == ANYFFI_MISMATCH_RAISED) {
    if (!is_named || (take_raised_about() == nullptr && !is_refusal_raised())) return -1;
    return prefix_raised([&](String* text) {
      append_place(text, *info, what, index);
      append_path(text, mismatch);
    });
  }
  int status = guard([&] {
    if (is_other_self(mismatch, info, index)) return raise_other_self(mismatch, *info);
    String text;
    text.reserve(kUsualMessage);
    if (is_named) append_place(&text, *info, what, index);
    raise_mismatch(mismatch, std::move(text));
    return int{ANYFFI_REFUSED};
  });
  return is_named ? status : -1;
}

/// Shortens a path that is too long: the outer end stays.
void put_step(AnyffiMismatch* mismatch, std::string_view step) {
  constexpr int32_t kCapacity = sizeof(mismatch->path);
  auto size = static_cast<int32_t>(step.size());
  int32_t kept = mismatch->path_size + size < kCapacity ? mismatch->path_size : 0;
  std::memmove(mismatch->path + size, mismatch->path, static_cast<size_t>(kept));
  std::memcpy(mismatch->path, step.data(), step.size());
  mismatch->path_size = size + kept;
}

/// Prepends the step to a key of a mapping.
int put_key(AnyffiMismatch* mismatch, const AnyffiValue& key) noexcept {
  return guard([&] {
    String step = "[";
    append_repr(&step, &key);
    // Uses double quotes around text, since Python's messages put single quotes around the whole path.
    if (anyffi_is_str(key.type_code) && step[1] == '\'' && step.find('"') == String::npos) {
      step[1] = step.back() = '"';
    }
    step += ']';
    constexpr size_t kLongest = 40;
    if (step.size() > kLongest) {
      step.resize(cut_before(step, kLongest - 4));
      step += "...]";
    }
    put_step(mismatch, step);
    return 0;
  });
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

extern "C" {

void anyffi_mismatch_prepend(AnyffiMismatch* mismatch, const AnyffiValue* key) {
  if (key->type_code == ANYFFI_INT) {
    // Fast path: where another overload follows, the path is never read.
    char step[24] = "[";
    char* end = std::to_chars(step + 1, std::end(step), key->as_int).ptr;
    *end++ = ']';
    put_step(mismatch, {step, static_cast<size_t>(end - step)});
  } else if (mismatch->reason != ANYFFI_MISMATCH_RAISED) {
    if (put_key(mismatch, *key) != 0) mismatch->reason = ANYFFI_MISMATCH_RAISED;
  } else {
    // Keeps the raised error. The repr of a key that is not text may call the host.
    SavedError raised;
    if (!anyffi_is_str(key->type_code) || put_key(mismatch, *key) != 0) put_step(mismatch, "[...]");
  }
}

void anyffi_mismatch_detach(AnyffiMismatch* mismatch) {
  // A scalar contains no reference that could dangle.
  if (mismatch->reason == ANYFFI_MISMATCH_RAISED || mismatch->got.type_code <= 0) return;
  int status = guard([&] {
    String text;
    append_got(&text, *mismatch);
    constexpr size_t kLongest = sizeof(mismatch->got_text) - 1;
    if (text.size() > kLongest) {
      text.resize(cut_before(text, kLongest - 3));
      text += "...";
    }
    std::memcpy(mismatch->got_text, text.c_str(), text.size() + 1);
    return 0;
  });
  mismatch->got = anyffi_make_none();
  if (status != 0) mismatch->reason = ANYFFI_MISMATCH_RAISED;
}

int anyffi_mismatch_raise(const AnyffiMismatch* mismatch, const AnyffiFunctionInfo* info, int32_t index) {
  return raise_about_parameter(*mismatch, info, "argument", index);
}

int anyffi_mismatch_raise_default(const AnyffiMismatch* mismatch, const AnyffiFunctionInfo* info, int32_t index) {
  return raise_about_parameter(*mismatch, info, "the default of parameter", index);
}

int anyffi_mismatch_raise_result(const AnyffiMismatch* mismatch, const AnyffiObject* function) {
  const auto& called = *reinterpret_cast<const AnyffiFunction*>(function);
  auto append_result = [&](String* text) {
    *text += "the result of ";
    append_function(text, called);
  };
  if (mismatch->reason == ANYFFI_MISMATCH_RAISED) {
    if (!is_refusal_raised()) return -1;
    return prefix_raised([&](String* text) {
      append_result(text);
      append_path(text, *mismatch);
    });
  }
  return guard([&] {
    String text;
    append_result(&text);
    AnyffiMismatch shown = *mismatch;
    // If nothing else refers to it, the host created this object for the call, like a movable argument.
    bool is_created = called.info == nullptr && shown.got.type_code > 0 &&
                      __atomic_load_n(&shown.got.as_object->strong_count, __ATOMIC_RELAXED) == 1;
    if (is_created) shown.got.aux |= ANYFFI_MOVABLE;
    return raise_mismatch(shown, std::move(text), called.info == nullptr ? advice_about_result(shown) : "");
  });
}

int anyffi_mismatch_raise_field(const AnyffiMismatch* mismatch, const AnyffiFieldInfo* field) {
  // The error of a user's conversion keeps its text: with a prefix, the host would take it for a conversion error.
  if (mismatch->reason == ANYFFI_MISMATCH_RAISED) return -1;
  return guard([&] {
    const AnyffiTypeInfo* owner = anyffi_type_get_info(field->type_code);
    String text = owner == nullptr ? "" : owner->type_key;
    return raise_mismatch(*mismatch, text + "." + field->name);
  });
}

void anyffi_error_name_argument(const AnyffiFunctionInfo* info, const AnyffiValue* args, int32_t num_args) {
  const void* elements = take_raised_about();
  if (elements == nullptr || info == nullptr) return;
  // A stolen tensor is None now, so the argument is unknown if several are None or match.
  int32_t index = -1, count = 0;
  for (int32_t i = 0; i < num_args; ++i) {
    bool is_one = elements_of(args[i]) == elements;
    if (is_one) index = i;
    count += is_one || args[i].type_code == ANYFFI_NONE;
  }
  if (count != 1) index = -1;
  prefix_raised([&](String* text) { append_place(text, *info, "argument", index); });
}

int anyffi_error_raise_arg_count(const AnyffiFunctionInfo* info, const AnyffiValue* args, int32_t num_args) {
  return guard([&] {
    if ((info->flags & ANYFFI_METHOD) != 0 && num_args == 0) {
      String text = "unbound method ";
      return raise_text("TypeError", text.append(name_of(info)).append("() needs an argument"));
    }
    String text;
    text.reserve(kUsualMessage);
    text += name_of(info);
    text += "() ";
    int32_t most = num_positional(*info);
    int32_t count = count_arguments(*info, num_args, num_args > 0 && args[num_args - 1].type_code == ANYFFI_MISSING);
    if (count < 0) {
      text += "takes ";
      if (info->num_required < most) {
        text += "from ";
        text += std::to_string(info->num_required).c_str();
        text += " to ";
      }
      text += std::to_string(most).c_str();
      text += most == 1 && info->num_required == 1 ? " positional argument but " : " positional arguments but ";
      text += std::to_string(num_args).c_str();
      text += num_args == 1 ? " was given" : " were given";
      return raise_text("TypeError", text);
    }
    Vector<int32_t> missing;
    for (int32_t i = 0; i < info->num_params; ++i) {
      // Python lists missing positional arguments first, and keyword-only ones only if there are none.
      if (i == most && !missing.empty()) break;
      bool given = i < count && args[i].type_code != ANYFFI_MISSING;
      if (!given && info->params[i].default_value == nullptr) missing.push_back(i);
    }
    text += "missing ";
    text += std::to_string(missing.size()).c_str();
    text += missing.empty() || missing[0] < most ? " required positional argument" : " required keyword-only argument";
    text += missing.size() == 1 ? ": " : "s: ";
    append_missing(&text, *info, missing);
    return raise_text("TypeError", text);
  });
}

}  // extern "C"
