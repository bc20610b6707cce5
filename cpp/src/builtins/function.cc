/// \file
/// Functions: overloads and signatures, under `anyffi.Function.*`.
#include <anyffi/anyffi.h>

#include "core/errors.h"
#include "core/memory.h"
#include "core/messages.h"
#include "functions/placement.h"

namespace {

using anyffi::AnyValue;
using anyffi::arg;
using anyffi::Array;
using anyffi::Error;
using anyffi::Function;
using anyffi::List;
using anyffi::String;
using anyffi::detail::check;

Array<Function> list_overloads(const Function& function) {
  List<Function> found;
  const AnyffiFunctionInfo* info = reinterpret_cast<AnyffiFunction*>(function.get())->info;
  if (info == nullptr || (info->flags & ANYFFI_OVERLOADED) == 0) return {};
  for (const AnyffiOverload* overload = info->overloads; overload != nullptr; overload = overload->next) {
    anyffi_object_retain(overload->function);
    found.push_back(Function(anyffi::detail::Adopt{}, overload->function));
  }
  return std::move(found).freeze();
}

Function select_overloads(const char* name, const Array<Function>& functions, const Array<Array<int32_t>>& arg_indices,
                          const Array<String>& keywords) {
  if (functions.size() != arg_indices.size()) throw Error("ValueError", "each function needs its argument indices");
  AnyffiValue created;
  check(anyffi_function_create_overloaded(name, &created));
  Function selected(anyffi::detail::Adopt{}, created.as_object);
  for (int64_t i = 0; i < functions.size(); ++i) {
    Array<int32_t> given = arg_indices[i];
    anyffi::runtime::Vector<int32_t> copy;
    copy.push_back(0);  // so that data() is not NULL
    for (int32_t place : given) copy.push_back(place);
    check(anyffi_function_add_overload(selected.get(), functions[i].get(), copy.data() + 1,
                                       static_cast<int32_t>(given.size())));
  }
  anyffi::runtime::Vector<anyffi::runtime::String> names;
  for (const String& keyword : keywords) {
    anyffi::Bytes name = keyword.utf8();
    names.emplace_back(reinterpret_cast<const char*>(name.data()), static_cast<size_t>(name.size()));
  }
  anyffi::runtime::set_keywords(selected.get(), std::move(names));
  return selected;
}

AnyValue get_signature(const Function& function) {
  const AnyffiFunctionInfo* info = reinterpret_cast<AnyffiFunction*>(function.get())->info;
  if (info == nullptr) return {};
  AnyValue text;
  check(anyffi::runtime::guard([&] {
    anyffi::runtime::String signature;
    anyffi::runtime::append_signature(&signature, *info);
    auto size = static_cast<int64_t>(signature.size());
    return anyffi::runtime::str_from_utf8_escaped(signature.data(), size, text.out());
  }));
  return text;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.Function.overloads")
    .def(&list_overloads, arg("function"))
    .doc("Return the overloads of a function; empty if it has none.");

ANYFFI_REGISTER_GLOBAL("anyffi.Function.select")
    .def(&select_overloads, arg("name"), arg("functions"), arg("arg_indices"), arg("keywords"))
    .doc(
        "Return a function that calls one of several, each with the arguments at these indices (-1: omitted), for "
        "calls whose last arguments have these names.");

ANYFFI_REGISTER_GLOBAL("anyffi.Function.signature")
    .def(&get_signature, arg("function"))
    .doc("Return `name(x: int) -> int`, as messages show it; None where it is unknown.");
