/// \file
/// Adding the types that front ends declare.
#ifndef ANYFFI_SRC_CORE_TYPE_DECLARATIONS_H_
#define ANYFFI_SRC_CORE_TYPE_DECLARATIONS_H_

#include "core/mutex.h"
#include "core/type_table.h"

namespace anyffi::runtime {

/// Types with a record that are declared together: all of them or none. Locks the table while it lives.
class TypeDeclarations {
 public:
  TypeDeclarations() : types_(dynamic_types()), lock_(types_.mutex) {}
  TypeDeclarations(const TypeDeclarations&) = delete;
  TypeDeclarations& operator=(const TypeDeclarations&) = delete;

  /// Prepares a type, and sets the type code of its fields. Publishing defines it, and replaces a type of the same key
  /// and fields; a type of the same key with other fields keeps its objects, but is no longer found by the key. Raises
  /// ValueError if a library uses the key for another class; then nothing can be published. May throw bad_alloc.
  int add(AnyffiTypeInfo given, AnyffiFieldInfo* fields, int32_t* out_type_code);

  /// Adds all types to the table, which refers to their records, fields and texts from now on.
  void publish() noexcept;

 private:
  DynamicTypes& types_;
  std::unique_lock<Mutex> lock_;
  Vector<TypeChange> changes_;
  int32_t num_new_ = 0;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_TYPE_DECLARATIONS_H_
