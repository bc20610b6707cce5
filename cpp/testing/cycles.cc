/// \file
/// Objects that keep functions, for tests of garbage collection.

#include <anyffi/anyffi.h>
#include <anyffi/stl/function.h>
#include <anyffi/stl/map.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/vector.h>

#include <chrono>
#include <thread>

namespace {

using anyffi::AnyValue;
using anyffi::Function;

/// Fields of each type whose references are visited; one is listed twice.
struct Watcher {
  static constexpr anyffi::FixedText kTypeKey{"testing.Watcher"};
  static constexpr auto fields() {
    using anyffi::field;
    return anyffi::fields(field<&Watcher::any>("any"), field<&Watcher::any>("same"), field<&Watcher::list>("list"),
                          field<&Watcher::called>("called"), field<&Watcher::many>("many"),
                          field<&Watcher::named>("named"), field<&Watcher::maybe>("maybe"),
                          field<&Watcher::optional>("optional"), field<&Watcher::number>("number"),
                          field<&Watcher::count>("count"));
  }
  int64_t count() const { return static_cast<int64_t>(many.size()); }

  AnyValue any;
  anyffi::List<Function> list;
  std::function<void()> called;
  std::vector<Function> many;
  std::map<std::string, Function> named;
  std::optional<Function> maybe;
  anyffi::Optional<Function> optional;
  int64_t number = 0;
};

/// References that no field shows, besides those of its parent.
struct Discreet : Watcher {
  static constexpr anyffi::FixedText kTypeKey{"testing.Discreet"};
  using Parent = Watcher;
  void visit_references(const anyffi::Visitor& visit) const { visit(hidden); }
  std::vector<AnyValue> hidden;
};

/// Calls a function when it is destroyed.
struct Goodbye {
  static constexpr anyffi::FixedText kTypeKey{"testing.Goodbye"};
  static constexpr auto fields() { return anyffi::fields(anyffi::field<&Goodbye::on_destroy>("on_destroy")); }
  explicit Goodbye(Function function) : on_destroy(std::move(function)) {}
  Goodbye(Goodbye&&) = default;
  ~Goodbye() {
    if (!on_destroy.get()) return;
    try {
      on_destroy();
    } catch (const anyffi::Error&) {
      ++failures;
    }
  }
  Function on_destroy;
  static inline int64_t failures = 0;
};

void watch(Watcher& self, const std::string& where, const Function& function) {
  if (where == "any") self.any = AnyValue(function);
  if (where == "list") self.list.push_back(function);
  if (where == "called") self.called = [function] { function(); };
  if (where == "converted") self.called = AnyValue(function).cast<std::function<void()>>();
  if (where == "many") self.many.assign(1, function);
  if (where == "named") self.named.insert_or_assign("name", function);
  if (where == "maybe") self.maybe = function;
  if (where == "optional") self.optional = function;
}

}  // namespace

ANYFFI_REGISTER_OBJECT(Watcher);
ANYFFI_REGISTER_OBJECT(Discreet);
ANYFFI_REGISTER_OBJECT(Goodbye);

ANYFFI_REGISTER_GLOBAL("testing.watcher").def([] { return anyffi::make_object<Watcher>(); });
ANYFFI_REGISTER_GLOBAL("testing.discreet").def([] { return anyffi::make_object<Discreet>(); });
ANYFFI_REGISTER_GLOBAL("testing.watch").def(&watch);
ANYFFI_REGISTER_GLOBAL("testing.hide").def([](Discreet& self, AnyValue value) {
  self.hidden.push_back(std::move(value));
});
ANYFFI_REGISTER_GLOBAL("testing.goodbye").def([](Function function) {
  return anyffi::make_object<Goodbye>(std::move(function));
});
ANYFFI_REGISTER_GLOBAL("testing.failed_goodbyes").def([] { return Goodbye::failures; });
ANYFFI_REGISTER_GLOBAL("testing.store_in_list").def([](anyffi::List<AnyValue> list, AnyValue value) {
  list.push_back(std::move(value));
});
ANYFFI_REGISTER_GLOBAL("testing.store_in_dict")
    .def([](anyffi::Dict<AnyValue, AnyValue> dict, AnyValue key, AnyValue value) {
      dict.set(std::move(key), std::move(value));
    });
ANYFFI_REGISTER_GLOBAL("testing.keep_for_ever").def([](AnyValue value) {
  static AnyValue kept;
  kept = std::move(value);
});
ANYFFI_REGISTER_GLOBAL("testing.copy_without_lock")
    .def([](anyffi::AnyView array, double seconds) {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      AnyValue copy = array;
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      return copy;
    })
    .release_gil()
    .doc("Copy an argument that is only borrowed, without the interpreter lock.");
