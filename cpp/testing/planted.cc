/// \file
/// Deliberate faults, to prove that a sanitizer build detects them.

#include <anyffi/anyffi.h>

using anyffi::AnyView;
using anyffi::arg;

ANYFFI_REGISTER_GLOBAL("testing.planted_read_past")
    .def(
        [](AnyView text) {
          AnyffiTextView view;
          if (anyffi_value_get_text_view(&text.raw(), &view)) throw anyffi::Error("TypeError", "not text");
          // One unit further is the terminating NUL.
          return int64_t{static_cast<const volatile uint8_t*>(view.data)[view.length + 1]};
        },
        arg("text"))
    .doc("Read past the memory of a borrowed ASCII string.");

ANYFFI_REGISTER_GLOBAL("testing.planted_use_after_release")
    .def(
        [](int64_t value) {
          anyffi::Array<int64_t> array{value, value};
          AnyffiObject* object = array.get();
          array = anyffi::Array<int64_t>();
          return int64_t{static_cast<volatile AnyffiObject*>(object)->type_code};
        },
        arg("value"))
    .doc("Read an object after its last reference was released.");
