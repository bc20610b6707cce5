/// \file
/// What the descriptions of all classes have in common.
#ifndef ANYFFI_DETAIL_CLASS_BUILDER_H_
#define ANYFFI_DETAIL_CLASS_BUILDER_H_

#include <anyffi/detail/class_members.h>
#include <anyffi/registry.h>

namespace anyffi {

/// How a field, or the objects of a class, take part in comparisons by structure (structure.h).
enum class Structure : int32_t {
  kPlain = ANYFFI_STRUCTURE_PLAIN,
  /// A field is not compared.
  kIgnore = ANYFFI_STRUCTURE_IGNORE,
  /// Of a field or class: the same object, not an equal one.
  kIdentity = ANYFFI_STRUCTURE_IDENTITY,
  /// The objects in a field, also those in sequences there, are variables, which it binds in the fields after it.
  kDefines = ANYFFI_STRUCTURE_DEFINES,
  /// Likewise, in all that follows in the innermost object with a field that defines.
  kDeclares = ANYFFI_STRUCTURE_DECLARES,
  /// Of a class: an object that nothing binds equals itself alone.
  kVariable = ANYFFI_STRUCTURE_VARIABLE,
  /// Of a class: an object that is met again equals the one that it was compared with at first, not an equal one.
  kDag = ANYFFI_STRUCTURE_DAG
};

namespace detail ANYFFI_HIDDEN_ {

/// Collects the members of a class, and defines its type at the end.
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
