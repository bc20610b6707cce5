/// \file
/// Argument conversion errors. They are in the runtime, so that all modules word them alike and none contains the text.
#include <anyffi/inline.h>

#include <cstring>

#include "core/errors.h"
#include "core/memory.h"
#include "functions/signature.h"

namespace anyffi::runtime {
namespace {

void append_reason(String* out, const AnyffiMismatch& mismatch) {
  if (mismatch.reason == ANYFFI_MISMATCH_RANGE) {
    append_repr(out, &mismatch.got);
    *out += " does not fit ";
    *out += mismatch.detail;
    return;
  }
  if (mismatch.reason == ANYFFI_MISMATCH_VALUE) {
    *out += mismatch.detail;
    *out += ", got ";
    append_repr(out, &mismatch.got);
    return;
  }
  *out += "expected ";
  *out += mismatch.expected;
  *out += ", got ";
  append_type_name(out, mismatch.got);
  const AnyffiTypeInfo* info = anyffi_type_get_info(mismatch.got.type_code);
  if (info != nullptr && info->type_code >= ANYFFI_FIRST_DYNAMIC_TYPE &&
      std::strcmp(info->type_key, mismatch.expected) == 0) {
    *out += " of another version of its library";
  }
}

/// `'x'`, `'x' and 'y'`, `'x', 'y', and 'z'`, as Python words it.
String list_missing(const AnyffiFunctionInfo& info, const Vector<int32_t>& missing) {
  String text;
  for (size_t i = 0; i < missing.size(); ++i) {
    if (i > 0) text += missing.size() > 2 ? ", " : " ";
    if (i > 0 && i + 1 == missing.size()) text += "and ";
    text += '\'';
    append_param_name(&text, info, missing[i]);
    text += '\'';
  }
  return text;
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

/// Raises a mismatch; `text` names the value, or is empty.
int raise_mismatch(const AnyffiMismatch& mismatch, String text) {
  if (mismatch.path_size > 0) {
    if (!text.empty()) text += ", ";
    text += "at ";
    text.append(mismatch.path, static_cast<size_t>(mismatch.path_size));
  }
  if (!text.empty()) text += ": ";
  append_reason(&text, mismatch);
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

/// In the words of Python's descriptors.
int raise_other_self(const AnyffiMismatch& mismatch, const AnyffiFunctionInfo& info) {
  String text = "descriptor '";
  text.append(name_of(&info)).append("' for '").append(mismatch.expected).append("' objects doesn't apply to a '");
  append_type_name(&text, mismatch.got);
  return raise_text("TypeError", text + "' object");
}

/// Raises a mismatch of the value that `what` describes, for the parameter at `index`.
int raise_about_parameter(const AnyffiMismatch& mismatch, const AnyffiFunctionInfo* info, const char* what,
                          int32_t index) {
  if (mismatch.reason == ANYFFI_MISMATCH_RAISED) return -1;
  return guard([&] {
    if (is_other_self(mismatch, info, index)) return raise_other_self(mismatch, *info);
    String text;
    if (info != nullptr && index >= 0) {
      append_signature(&text, *info);
      text.append(": ").append(what).append(" ").append(std::to_string(index).c_str()).append(" (");
      append_param_name(&text, *info, index);
      text += ')';
    }
    return raise_mismatch(mismatch, std::move(text));
  });
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

extern "C" {

void anyffi_mismatch_prepend(AnyffiMismatch* mismatch, const AnyffiValue* key) {
  if (mismatch->reason == ANYFFI_MISMATCH_RAISED) return;
  int status = guard([&] {
    String step = "[";
    append_repr(&step, key);
    // Text in double quotes, since Python's messages put single ones around the whole.
    if (anyffi_is_str(key->type_code) && step[1] == '\'' && step.find('"') == String::npos) {
      step[1] = step.back() = '"';
    }
    step += ']';
    constexpr int32_t kCapacity = sizeof(mismatch->path);
    constexpr size_t kLongest = 40;
    if (step.size() > kLongest) {
      // Cut between code points.
      size_t end = kLongest - 4;
      while (end > 0 && (static_cast<unsigned char>(step[end]) & 0xC0) == 0x80) --end;
      step.resize(end);
      step += "...]";
    }
    auto size = static_cast<int32_t>(step.size());
    // A path that is too long keeps its outer end.
    int32_t kept = mismatch->path_size + size < kCapacity ? mismatch->path_size : 0;
    std::memmove(mismatch->path + size, mismatch->path, static_cast<size_t>(kept));
    std::memcpy(mismatch->path, step.data(), step.size());
    mismatch->path_size = size + kept;
    return 0;
  });
  if (status != 0) mismatch->reason = ANYFFI_MISMATCH_RAISED;
}

int anyffi_mismatch_raise(const AnyffiMismatch* mismatch, const AnyffiFunctionInfo* info, int32_t index) {
  return raise_about_parameter(*mismatch, info, "argument", index);
}

int anyffi_mismatch_raise_default(const AnyffiMismatch* mismatch, const AnyffiFunctionInfo* info, int32_t index) {
  return raise_about_parameter(*mismatch, info, "the default of parameter", index);
}

int anyffi_mismatch_raise_result(const AnyffiMismatch* mismatch, const AnyffiObject* function) {
  if (mismatch->reason == ANYFFI_MISMATCH_RAISED) return -1;
  return guard([&] {
    String text = "the result of ";
    append_function(&text, *reinterpret_cast<const AnyffiFunction*>(function));
    return raise_mismatch(*mismatch, std::move(text));
  });
}

int anyffi_mismatch_raise_field(const AnyffiMismatch* mismatch, const AnyffiFieldInfo* field) {
  if (mismatch->reason == ANYFFI_MISMATCH_RAISED) return -1;
  return guard([&] {
    const AnyffiTypeInfo* owner = anyffi_type_get_info(field->type_code);
    String text = owner == nullptr ? "" : owner->type_key;
    return raise_mismatch(*mismatch, text + "." + field->name);
  });
}

int anyffi_error_raise_arg_count(const AnyffiFunctionInfo* info, const AnyffiValue* args, int32_t num_args) {
  return guard([&] {
    if ((info->flags & ANYFFI_METHOD) != 0 && num_args == 0) {
      String text = "unbound method ";
      return raise_text("TypeError", text.append(name_of(info)).append("() needs an argument"));
    }
    String text = name_of(info);
    text += "() ";
    if (num_args > info->num_params) {
      text += "takes ";
      if (info->num_required < info->num_params) {
        text += "from ";
        text += std::to_string(info->num_required).c_str();
        text += " to ";
      }
      text += std::to_string(info->num_params).c_str();
      text +=
          info->num_params == 1 && info->num_required == 1 ? " positional argument but " : " positional arguments but ";
      text += std::to_string(num_args).c_str();
      text += num_args == 1 ? " was given" : " were given";
      return raise_text("TypeError", text);
    }
    Vector<int32_t> missing;
    for (int32_t i = 0; i < info->num_params; ++i) {
      bool given = i < num_args && args[i].type_code != ANYFFI_MISSING;
      if (!given && info->params[i].default_value == nullptr) missing.push_back(i);
    }
    text += "missing ";
    text += std::to_string(missing.size()).c_str();
    text += missing.size() == 1 ? " required positional argument: " : " required positional arguments: ";
    text += list_missing(*info, missing);
    return raise_text("TypeError", text);
  });
}

}  // extern "C"
