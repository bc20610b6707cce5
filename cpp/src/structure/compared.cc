/// \file
/// Comparison of values by their structure: the handling of objects and of repeated comparisons.
#include "structure/comparer.h"

namespace anyffi::runtime {
namespace {

/// Prefetches the memory of an object that will be compared soon.
void fetch_part(const AnyffiFieldInfo* field, const AnyffiObject* object) noexcept {
  if (field->storage != ANYFFI_STORED_VALUE && field->storage != ANYFFI_STORED_OBJECT) return;
  const char* place = place_of(field, object);
  auto* value = reinterpret_cast<const AnyffiValue*>(place);
  if (field->storage == ANYFFI_STORED_VALUE && value->type_code <= 0) return;
  const AnyffiObject* part =
      field->storage == ANYFFI_STORED_VALUE ? value->as_object : *reinterpret_cast<AnyffiObject* const*>(place);
  constexpr size_t kCacheLine = 64;
  __builtin_prefetch(part);
  __builtin_prefetch(reinterpret_cast<const char*>(part) + kCacheLine);
}

}  // namespace

/// As `compare_elements`, for two objects of one type. Most are compared once, and most of their first fields are
/// numbers.
Comparer::Verdict Comparer::compare_objects(const AnyffiValue& a, const AnyffiValue& b) {
  const ObjectType& type = types_.find(a.type_code);
  bool may_return = is_shared(a, 0) || is_shared(b, 0);
  if (type.form == Form::kFields && type.structure == ANYFFI_STRUCTURE_PLAIN && a.as_object != b.as_object &&
      !scopes_.may_be_bound(a.as_object)) {
    int64_t index = skip_same(type, a.as_object, b.as_object, 0);
    if (index == count_parts(&type)) return kSame;
    if (!may_return) {
      begin(a, b, &type, nullptr, -1, Form::kFields, false, Variable::kNone);
      stack_.back().index = index;
      // The object in the first field is compared next, so it is too late to prefetch it.
      for (auto next = static_cast<size_t>(index) + 1; next < type.fields.size(); ++next) {
        fetch_part(type.fields[next].field, a.as_object);
        fetch_part(type.fields[next].field, b.as_object);
      }
      return kBegun;
    }
  }
  return compare_borrowed(a, b, may_return, false);
}

/// Whether two objects were compared before, or are being compared. Otherwise begins a result for them in `row`.
bool Comparer::is_known(AnyffiObject* a, AnyffiObject* b, bool only_begun, int32_t* row) {
  // An object that binds variables must bind them again, except inside of itself.
  only_begun |= declaring_.find(a, nullptr) >= 0;
  // While no variable is bound, equality is transitive, so that a union-find needs as many steps as there are objects.
  // With mapped variables, comparing an object with itself maps its parts to themselves, so it cannot be skipped.
  bool is_transitive = scopes_.is_empty() && (a != b || !maps_);
  if (!only_begun && is_transitive && search_ != Search::kAll) return !unite(a, b);
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
      // Retained, so that no other object gets its address.
      kept_.push_back(retained(anyffi_make_object(objects[i])));
    }
    roots[i] = root_of(static_cast<size_t>(node));
  }
  if (roots[0] == roots[1]) return false;
  // The order of two nodes is effectively random, since it follows addresses: paths stay short.
  parents_[roots[roots[0] < roots[1] ? 1 : 0]] = static_cast<int32_t>(roots[roots[0] < roots[1] ? 0 : 1]);
  return true;
}

}  // namespace anyffi::runtime
