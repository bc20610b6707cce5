/// \file
/// The journal of what static initialisers register.
#include "registry/journal.h"

#include <anyffi/c_api.h>

#include <algorithm>
#include <utility>

#include "core/compiler.h"
#include "core/errors.h"
#include "core/messages.h"
#include "core/owned.h"
#include "registry/registry.h"

namespace anyffi::runtime {
namespace {

ANYFFI_THREAD_LOCAL LoadJournal* innermost = nullptr;

/// The minimum length of a text that counts as the reason of an error.
constexpr size_t kReasonSize = 20;

/// If two messages differ only in what they are about, inserts that of the second into the first, before the reason:
/// "f, g: its result points to an object". Else false. Throws.
bool merge_messages(String* first, const String& second) {
  size_t same = 0, most = std::min(first->size(), second.size());
  while (same < most && (*first)[first->size() - 1 - same] == second[second.size() - 1 - same]) ++same;
  size_t at = first->find(": ", first->size() - same);
  if (at == String::npos || first->size() - at < kReasonSize) return false;
  String about = second.substr(0, second.size() - (first->size() - at));
  // Overloads are about one function.
  String known = ", " + first->substr(0, at) + ", ";
  if (about.empty() || known.find(", " + about + ", ") != String::npos) return false;
  first->insert(at, ", " + about);
  return true;
}

/// Names in the first error what a later one is about, if both have the same reason.
void merge_errors(Owned* first, const AnyffiValue& later) noexcept {
  auto* earlier = reinterpret_cast<const AnyffiError*>((*first)->as_object);
  auto* error = reinterpret_cast<const AnyffiError*>(later.as_object);
  Owned message, merged;
  int status = guard([&] {
    String kinds[2], texts[2];
    append_text(&kinds[0], &earlier->kind);
    append_text(&kinds[1], &error->kind);
    append_text(&texts[0], &earlier->message);
    append_text(&texts[1], &error->message);
    if (kinds[0] != kinds[1] || !merge_messages(&texts[0], texts[1])) return 0;
    return str_from_utf8_escaped(texts[0].data(), static_cast<int64_t>(texts[0].size()), message.out());
  });
  if (status == 0 && message->type_code == ANYFFI_NONE) return;
  if (status == 0) status = anyffi_error_create(&earlier->kind, message.get(), nullptr, merged.out());
  if (status == 0) {
    *first = std::move(merged);
  } else {
    anyffi_error_take_raised(merged.out());  // without memory, the first error is reported alone
  }
}

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
  if (error_->type_code != ANYFFI_NONE) return merge_errors(&error_, error);
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
