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
  /// The objects in a field, also those in containers there, are variables, which it binds in the fields after it.
  kDefines = ANYFFI_STRUCTURE_DEFINES,
  /// Likewise, in all that follows in the innermost object with a field that defines.
  kDeclares = ANYFFI_STRUCTURE_DECLARES,
  /// Of a class: an object that nothing binds equals itself alone.
  kVariable = ANYFFI_STRUCTURE_VARIABLE
};

namespace detail ANYFFI_HIDDEN_ {

/// What was said of a field, or with NULL of the class.
struct StructureRow {
  const char* field;
  Structure structure;
};

/// Rows of a table that is never freed once a type was defined by it.
template <class Row>
struct RowTable {
  Row* rows = nullptr;
  int32_t size = 0;

  Row& add(const Row& row) {
    // Doubled at each power of two.
    if ((size & (size - 1)) == 0) grow();
    return rows[size++] = row;
  }

 private:
  void grow() {
    auto* grown = static_cast<Row*>(anyffi_alloc(sizeof(Row) * static_cast<size_t>(size > 0 ? 2 * size : 1)));
    if (!grown) throw std::bad_alloc();
    if (size > 0) __builtin_memcpy(grown, rows, sizeof(Row) * static_cast<size_t>(size));
    anyffi_free(rows);
    rows = grown;
  }
};

/// Collects the members of a class, and defines its type at the end.
class __attribute__((visibility("hidden"))) ClassBuilder {
 public:
  ClassBuilder(const ClassBuilder&) = delete;
  /// Continues a description that has no members yet.
  ClassBuilder(ClassBuilder&& other) noexcept
      : fields_(other.fields_),
        slot_(other.slot_),
        listed_(other.listed_),
        class_doc_(other.class_doc_),
        visit_(other.visit_),
        visit_fields_(other.visit_fields_),
        is_guarded_(other.is_guarded_),
        structures_(other.structures_) {
    other.slot_ = nullptr;
    if (other.methods_.size == 0 && !other.has_fields_) return;
    defer_error(nullptr, "overridable() stands before the members of the class");
  }
  ClassBuilder& operator=(const ClassBuilder&) = delete;
  ~ClassBuilder() {
    finish();
    define();
  }

 protected:
  __attribute__((cold, noinline)) ClassBuilder(int32_t (*type_code_of)(), int32_t* slot, AnyffiModuleClass* listed,
                                               const DeclaredClass& declared) noexcept
      : slot_(slot),
        listed_(listed),
        class_doc_(declared.info.doc),
        visit_(declared.info.visit_children),
        visit_fields_(declared.visit_fields) {
    int status = catch_all([&] {
      type_code_of();
      for (int32_t i = 0; i < declared.info.num_fields; ++i) fields_.add(declared.info.fields[i]);
      return 0;
    });
    if (status != 0) anyffi_registry_defer_error();
  }

  /// The index of a value of the last call: a constructor returns the object.
  uint8_t index_of(uint8_t given) const noexcept {
    return (flags_ & ANYFFI_CONSTRUCTOR) && given > 0 ? given - 1 : given;
  }
  /// Starts a member with these flags.
  void begin(uint32_t flags) noexcept { flags_ = flags; }

  /// Adds a method; for `rest` see `create_native`.
  __attribute__((cold, noinline)) static void add_function(ClassBuilder* self, const char* name, const CallSpec* spec,
                                                           void* callable, ...) noexcept {
    VaList rest;
    __builtin_va_start(rest.list, callable);
    self->finish();
    self->function_ = nullptr;
    self->doc_ = &self->ignored_;
    self->has_last_field_ = false;
    int status = catch_all([&] {
      ObjectRef function = create_native(name, *spec, callable, rest.list);
      auto* native = reinterpret_cast<NativeFunction*>(function.get());
      if (!(self->flags_ & ANYFFI_STATIC_METHOD)) native->info.flags |= ANYFFI_METHOD;
      self->add_row(name, function.get());
      // Never released: the type refers to it.
      function.release();
      self->function_ = native;
      if (self->is_guarded_ && !(self->flags_ & ANYFFI_STATIC_METHOD)) native->guard();
      // What a property refers to is inside of the object.
      if (self->flags_ & ANYFFI_GETTER) native->set_returns(Returns::kReferenceInternal);
      self->doc_ = &native->info.doc;
      return 0;
    });
    if (status != 0) anyffi_registry_defer_error();
  }

  __attribute__((cold, noinline)) void add_field(const AnyffiFieldInfo& field) noexcept {
    finish();
    function_ = nullptr;
    doc_ = &ignored_;
    int status = catch_all([&] {
      doc_ = &fields_.add(field).doc;
      has_last_field_ = true;
      has_fields_ = true;
      if (visit_ == nullptr && field.visit != nullptr) visit_ = visit_fields_;
      return 0;
    });
    if (status != 0) anyffi_registry_defer_error();
  }

  /// Lets the runtime visit what `.keep_alive` keeps for objects of the class, besides their own references.
  void visit_kept() noexcept {
    if (visit_ == nullptr) visit_ = visit_fields_;
  }

  NativeFunction* function_ = nullptr;  // the last member, unless it is a field
  const char** doc_ = &class_doc_;      // of the last member

  RowTable<AnyffiFieldInfo> fields_;

  /// Of a field by its name, or of the last member: a field, or the class if there is no member yet.
  __attribute__((cold, noinline)) void add_structure(const char* field, Structure structure) noexcept {
    bool is_of_class = doc_ == &class_doc_;
    int status = catch_all([&] {
      if (!field && !is_of_class && !has_last_field_) {
        throw Error("ValueError", "structural() stands behind a field, or before all members");
      }
      if (!field && !is_of_class) field = fields_.rows[fields_.size - 1].name;
      structures_.add(StructureRow{field, structure});
      return 0;
    });
    if (status != 0) anyffi_registry_defer_error();
  }

  /// Lets Python override the methods that follow; `visit` replaces what visits the references of objects.
  void begin_overridable(int (*visit)(const AnyffiValue* self, AnyffiVisit visit, void* context)) noexcept {
    is_guarded_ = true;
    if (visit) visit_ = visit;
  }

 private:
  /// Reports the last method if its declaration is incomplete.
  void finish() const noexcept {
    if (function_) check_declaration(*function_, function_->info.name);
  }
  void add_row(const char* name, AnyffiObject* function) {
    for (int32_t i = 0; i < methods_.size; ++i) {
      AnyffiMethodInfo& method = methods_.rows[i];
      if (method.flags != flags_ || __builtin_strcmp(method.name, name) != 0) continue;
      method.function = add_overload(name, method.function, function);
      return;
    }
    methods_.add(AnyffiMethodInfo{name, function, flags_, 0});
  }

  __attribute__((cold, noinline)) void define() noexcept {
    // It could not be registered, or another builder continues.
    if (!slot_ || *slot_ == ANYFFI_NONE) return;
    AnyffiTypeInfo info{};
    info.struct_size = sizeof(info);
    info.doc = class_doc_;
    info.fields = fields_.rows;
    info.num_fields = fields_.size;
    info.methods = methods_.rows;
    info.num_methods = methods_.size;
    info.visit_children = visit_;
    int32_t code = *slot_;
    if (anyffi_type_define(&code, &info) != 0) return anyffi_registry_defer_error();
    for (int32_t i = 0; i < fields_.size; ++i) fields_.rows[i].type_code = code;
    *slot_ = code;
    for (int32_t i = 0; i < structures_.size; ++i) {
      const StructureRow& row = structures_.rows[i];
      if (anyffi_type_set_structure(code, row.field, static_cast<int32_t>(row.structure)) != 0) {
        anyffi_registry_defer_error();
      }
    }
    anyffi_free(structures_.rows);
    list_class(listed_, code);
  }

  int32_t* slot_;
  AnyffiModuleClass* listed_;
  uint32_t flags_ = 0;
  const char* class_doc_;
  int (*visit_)(const AnyffiValue* self, AnyffiVisit visit, void* context);
  int (*visit_fields_)(const AnyffiValue* self, AnyffiVisit visit, void* context);
  const char* ignored_ = nullptr;
  bool is_guarded_ = false;
  bool has_fields_ = false;
  bool has_last_field_ = false;
  RowTable<StructureRow> structures_;
  RowTable<AnyffiMethodInfo> methods_;
};

}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_CLASS_BUILDER_H_
