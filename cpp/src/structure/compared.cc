/// \file
/// Comparison of values by their structure: the objects that were compared before.
#include "structure/comparer.h"

namespace anyffi::runtime {

/// Whether two objects were compared before, or are being compared.
bool Comparer::is_known(AnyffiObject* a, AnyffiObject* b, bool only_begun, int32_t* row) {
  // What binds variables does so again, but not inside of itself.
  only_begun |= declaring_.find(a, nullptr) >= 0;
  // While no variable is bound, equality is transitive: as many steps as there are objects decide about all pairs.
  if (!only_begun && scopes_.is_empty() && search_ != Search::kAll) return !unite(a, b);
  if (const Results::Row* known = results_.find(a, b, scopes_, false, only_begun)) {
    if (!stack_.empty()) stack_.back().needs_all |= known->needs_all;
    return true;
  }
  kept_.push_back(retained(anyffi_make_object(a)));
  kept_.push_back(retained(anyffi_make_object(b)));
  *row = results_.begin(a, b, scopes_);
  return false;
}

size_t Comparer::root_of(size_t node) noexcept {
  while (parents_[node] != static_cast<int32_t>(node)) {
    auto above = static_cast<size_t>(parents_[node]);
    parents_[node] = parents_[above];
    node = above;
  }
  return node;
}

bool Comparer::unite(AnyffiObject* a, AnyffiObject* b) {
  size_t roots[2];
  AnyffiObject* objects[] = {a, b};
  for (int i = 0; i < 2; ++i) {
    int32_t& node = nodes_.insert(objects[i], nullptr);
    if (node < 0) {
      node = static_cast<int32_t>(parents_.size());
      parents_.push_back(node);
      // Its address must not become that of another object.
      kept_.push_back(retained(anyffi_make_object(objects[i])));
    }
    roots[i] = root_of(static_cast<size_t>(node));
  }
  if (roots[0] == roots[1]) return false;
  // At random, by the addresses of nodes: paths stay short.
  parents_[roots[roots[0] < roots[1] ? 1 : 0]] = static_cast<int32_t>(roots[roots[0] < roots[1] ? 0 : 1]);
  return true;
}

}  // namespace anyffi::runtime
