/// \file
/// The string operations by name, for tests that compare them with Python's `str`.

#include <anyffi/anyffi.h>

namespace {

using anyffi::AnyView;
using anyffi::arg;
using anyffi::String;

}  // namespace

ANYFFI_REGISTER_GLOBAL("testing.text.compare").def([](const String& a, const String& b) { return a.compare(b); });
ANYFFI_REGISTER_GLOBAL("testing.text.concat").def([](const String& a, const String& b) { return a + b; });
ANYFFI_REGISTER_GLOBAL("testing.text.slice")
    .def([](const String& s, int64_t start, int64_t stop) { return s.slice(start, stop); }, arg("s"), arg("start"),
         arg("stop") = String::kEnd);
ANYFFI_REGISTER_GLOBAL("testing.text.find")
    .def([](const String& s, const String& needle, int64_t start, int64_t stop) { return s.find(needle, start, stop); },
         arg("s"), arg("needle"), arg("start") = 0, arg("stop") = String::kEnd);
ANYFFI_REGISTER_GLOBAL("testing.text.rfind")
    .def([](const String& s, const String& needle, int64_t start,
            int64_t stop) { return s.rfind(needle, start, stop); },
         arg("s"), arg("needle"), arg("start") = 0, arg("stop") = String::kEnd);
ANYFFI_REGISTER_GLOBAL("testing.text.startswith").def([](const String& s, const String& t) { return s.startswith(t); });
ANYFFI_REGISTER_GLOBAL("testing.text.endswith").def([](const String& s, const String& t) { return s.endswith(t); });
ANYFFI_REGISTER_GLOBAL("testing.text.split")
    .def([](const String& s, AnyView separator, int64_t most) { return anyffi::split(s, separator, most); }, arg("s"),
         arg("separator") = nullptr, arg("most") = -1);
ANYFFI_REGISTER_GLOBAL("testing.text.join").def([](const String& separator, AnyView pieces) {
  return anyffi::join(separator, pieces);
});
ANYFFI_REGISTER_GLOBAL("testing.text.strip")
    .def([](const String& s, AnyView characters) { return s.strip(characters); }, arg("s"),
         arg("characters") = nullptr);
ANYFFI_REGISTER_GLOBAL("testing.text.lstrip")
    .def([](const String& s, AnyView characters) { return s.lstrip(characters); }, arg("s"),
         arg("characters") = nullptr);
ANYFFI_REGISTER_GLOBAL("testing.text.rstrip")
    .def([](const String& s, AnyView characters) { return s.rstrip(characters); }, arg("s"),
         arg("characters") = nullptr);
ANYFFI_REGISTER_GLOBAL("testing.text.replace")
    .def([](const String& s, const String& former, const String& replacement,
            int64_t most) { return s.replace(former, replacement, most); },
         arg("s"), arg("former"), arg("replacement"), arg("most") = -1);
ANYFFI_REGISTER_GLOBAL("testing.text.ascii_lower").def([](const String& s) { return s.ascii_lower(); });
ANYFFI_REGISTER_GLOBAL("testing.text.ascii_upper").def([](const String& s) { return s.ascii_upper(); });
