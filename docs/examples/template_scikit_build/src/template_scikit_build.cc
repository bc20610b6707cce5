#include <anyffi/anyffi.h>

using anyffi::List;

static List<> rotate(const List<>& items, int64_t by) {
  int64_t size = items.size(), first = size > 0 ? (by % size + size) % size : 0;
  List<> rotated;
  for (int64_t i = 0; i < size; ++i) rotated.push_back(items[(first + i) % size]);
  return rotated;
}

ANYFFI_REGISTER_GLOBAL("template_scikit_build.rotate")
    .def(&rotate, anyffi::arg("items"), anyffi::arg("by") = 1)
    .doc("A new list that begins with the element number `by` of the given one.");
