/// \file
/// What static initialisers register while a library is loaded, so that a failed load can be undone.
#ifndef ANYFFI_SRC_REGISTRY_JOURNAL_H_
#define ANYFFI_SRC_REGISTRY_JOURNAL_H_

#include <anyffi/c_api.h>

#include "core/loading.h"
#include "core/memory.h"
#include "core/owned.h"
#include "core/types.h"

namespace anyffi::runtime {

/// Records the registrations of this thread during its lifetime.
class LoadJournal {
 public:
  LoadJournal() noexcept;
  ~LoadJournal();
  LoadJournal(const LoadJournal&) = delete;
  LoadJournal& operator=(const LoadJournal&) = delete;

  /// Records a registration before it is made. May throw bad_alloc.
  void begin(const AnyffiValue& name, const AnyffiValue& function);
  /// Removes the last record: the registration failed.
  void cancel() noexcept { changes_.pop_back(); }
  /// Records the function that the last registration replaced, and its registrant; steals it.
  void replaced(AnyffiValue former, const Registrant& registrant) noexcept {
    changes_.back().former = Owned(former);
    changes_.back().former_registrant = registrant;
  }
  /// Makes room for a record of a type. May throw bad_alloc.
  void reserve_type() { types_.reserve(types_.size() + 1); }
  void record_type(const FormerType& former) noexcept { types_.push_back(former); }
  /// Records that a registration failed, with the error in the thread's slot, because its name was taken.
  void record_taken(const AnyffiValue& name) noexcept;
  /// Keeps the first error that an initialiser deferred, with the library at `base` that raised it; steals it. The
  /// message of that error also names what later errors with the same reason are about.
  void defer(AnyffiValue error, const void* base) noexcept;
  /// The first deferred error, or None.
  const AnyffiValue* error() const noexcept { return error_.get(); }
  /// The library that deferred that error.
  const void* base() const noexcept { return base_; }
  /// The taken name that caused that error, or None.
  const AnyffiValue* taken_name() const noexcept { return taken_name_.get(); }
  /// Undoes the registrations, the last first.
  void undo() noexcept;

  /// The innermost journal of this thread, or NULL.
  static LoadJournal* current() noexcept;

 private:
  struct Change {
    Owned name;
    Owned function;
    Owned former;
    Registrant former_registrant;
  };
  Vector<Change> changes_;
  Vector<FormerType> types_;
  Owned error_;
  const void* base_ = nullptr;
  Owned taken_name_;
  Owned taken_error_; /* of `record_taken` */
  LoadJournal* outer_;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_REGISTRY_JOURNAL_H_
