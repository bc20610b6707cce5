/// \file
/// The base of all class descriptions.
#ifndef ANYFFI_DETAIL_CLASS_BUILDER_H_
#define ANYFFI_DETAIL_CLASS_BUILDER_H_

#include <anyffi/detail/class_members.h>
#include <anyffi/registry.h>

namespace anyffi {

/// How a field, or the objects of a class, are compared by structure (structure.h).
enum class Structure : int32_t {
  kPlain = ANYFFI_STRUCTURE_PLAIN,
  /// A field: ignored.
  kIgnore = ANYFFI_STRUCTURE_IGNORE,
  /// A field or class: compared by identity, not by value.
  kIdentity = ANYFFI_STRUCTURE_IDENTITY,
  /// The objects in a field, also in sequences there, are variables, which it binds for the fields after it.
  kDefines = ANYFFI_STRUCTURE_DEFINES,
  /// The same, but bound for everything that follows in the innermost object with a kDefines field.
  kDeclares = ANYFFI_STRUCTURE_DECLARES,
  /// A class: an object that is not bound equals only itself.
  kVariable = ANYFFI_STRUCTURE_VARIABLE,
  /// A class: an object that occurs again must correspond to the same object as the first time, not just to an equal
  /// one.
  kDag = ANYFFI_STRUCTURE_DAG
};

namespace detail ANYFFI_HIDDEN_ {

/// Collects the members of a class, and defines its type in the destructor.
class __attribute__((visibility("hidden"))) ClassBuilder {
 public:
  ClassBuilder(const ClassBuilder&) = delete;
  /// Continues a description.
  ClassBuilder(ClassBuilder&& other) noexcept : builder_(other.builder_) { other.builder_ = {}; }
  ClassBuilder& operator=(const ClassBuilder&) = delete;
  ~ClassBuilder() { anyffi_class_finish(&builder_, &module_classes); }

 protected:
  /// `describe` and `visit_fields` as for `anyffi_class_begin`.
  ClassBuilder(int32_t (*type_code_of)(), int32_t* slot, AnyffiModuleClass* listed, void (*describe)(AnyffiTypeInfo*),
               decltype(AnyffiTypeInfo::visit_children) visit_fields) noexcept {
    anyffi_class_begin(&builder_, type_code_of, slot, listed, describe, visit_fields);
  }

  AnyffiClassBuilder builder_;
};

}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_CLASS_BUILDER_H_
