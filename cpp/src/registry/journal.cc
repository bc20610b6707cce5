/// \file
/// The journal of what static initialisers register.
#include "registry/journal.h"

#include <anyffi/c_api.h>

#include <utility>

#include "core/compiler.h"
#include "core/owned.h"
#include "registry/registry.h"

namespace anyffi::runtime {
namespace {

ANYFFI_THREAD_LOCAL LoadJournal* innermost = nullptr;

}  // namespace

LoadJournal::LoadJournal() noexcept : outer_(std::exchange(innermost, this)) {}

LoadJournal::~LoadJournal() { innermost = outer_; }

LoadJournal* LoadJournal::current() noexcept { return innermost; }

void LoadJournal::begin(const AnyffiValue& name, const AnyffiValue& function) {
  Owned name_ref = retained(name), function_ref = retained(function);
  changes_.push_back(Change{std::move(name_ref), std::move(function_ref), Owned(), Registrant()});
}

void LoadJournal::record_taken(const AnyffiValue& name) noexcept {
  AnyffiValue error;
  anyffi_error_take_raised(&error);
  taken_error_ = retained(error);
  taken_name_ = retained(name);
  anyffi_error_set_raised(error.as_object);
  anyffi_value_release(&error);
}

void LoadJournal::defer(AnyffiValue error, const void* base) noexcept {
  Owned owner(error);
  if (error_->type_code != ANYFFI_NONE) return;
  if (taken_error_->type_code == ANYFFI_NONE || taken_error_->as_object != error.as_object) taken_name_ = Owned();
  error_ = std::move(owner);
  base_ = base;
}

void LoadJournal::undo() noexcept {
  for (; !types_.empty(); types_.pop_back()) restore_type(types_.back());
  for (; !changes_.empty(); changes_.pop_back()) {
    Change& change = changes_.back();
    registry_restore(*change.name.get(), *change.function.get(), change.former.take(), change.former_registrant);
  }
}

}  // namespace anyffi::runtime
