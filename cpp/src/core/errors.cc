/// \file
/// Error objects, the thread's slot for a raised error, and raising when memory is exhausted.
#include "core/errors.h"

#include <anyffi/error.h>
#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <utility>

#include "core/compiler.h"
#include "core/frames.h"
#include "core/host.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/mutex.h"
#include "core/object.h"
#include "core/owned.h"

namespace anyffi::runtime {
namespace {

ANYFFI_THREAD_LOCAL AnyffiObject* raised = nullptr;

/// An inline ASCII string as a constant.
template <size_t kSize>
constexpr AnyffiValue short_text(const char (&text)[kSize]) {
  static_assert(kSize - 1 <= ANYFFI_INLINE_BYTES, "too long to be stored inline");
  uint32_t first = 0;
  uint64_t rest = static_cast<uint64_t>(ANYFFI_INLINE_BYTES - (kSize - 1)) << 56;
  for (size_t i = 0; i + 1 < kSize; ++i) {
    if (i < 4) {
      first |= static_cast<uint32_t>(text[i]) << (8 * i);
    } else {
      rest |= static_cast<uint64_t>(text[i]) << (8 * (i - 4));
    }
  }
  return AnyffiValue{ANYFFI_STR, first, {static_cast<int64_t>(rest)}};
}

/// The deleter of static objects.
void ignore(AnyffiObject*, int32_t) {}

constexpr AnyffiObject immortal(int32_t type_code) { return AnyffiObject{type_code, 1, 1, &ignore, nullptr}; }

AnyffiStrObject recursion_kind = {immortal(ANYFFI_STR_OBJECT), 14, ANYFFI_ASCII, 0, 0, "RecursionError"};
AnyffiStrObject runtime_kind = {immortal(ANYFFI_STR_OBJECT), 12, ANYFFI_ASCII, 0, 0, "RuntimeError"};
AnyffiStrObject recursion_message = {immortal(ANYFFI_STR_OBJECT),       32, ANYFFI_ASCII, 0, 0,
                                     "maximum recursion depth exceeded"};

constexpr AnyffiValue kNone = {ANYFFI_NONE, 0, {0}};

AnyffiValue static_text(AnyffiStrObject* text) { return anyffi_make_object(&text->header); }

/// Static, so that they can be raised when nothing can be allocated; shared by all threads.
AnyffiError memory_error = {
    immortal(ANYFFI_ERROR), short_text("MemoryError"), short_text(""), short_text(""), kNone, kNone, nullptr};

AnyffiError* recursion_error() {
  static AnyffiError error = {immortal(ANYFFI_ERROR),
                              static_text(&recursion_kind),
                              static_text(&recursion_message),
                              short_text(""),
                              kNone,
                              kNone,
                              nullptr};
  return &error;
}

/// An error object that the runtime allocated.
struct OwnError {
  AnyffiError error;
  Frames* frames;    /* NULL where none were recorded */
  const void* about; /* address of the tensor elements that it is about, until the message names the argument */
};

void delete_error(AnyffiObject* self, int32_t what) {
  auto* error = reinterpret_cast<AnyffiError*>(self);
  if (what & ANYFFI_DELETE_CONTENTS) {
    for (AnyffiValue* part : {&error->kind, &error->message, &error->traceback, &error->args, &error->cause}) {
      anyffi_value_release(part);
    }
    release_handle(std::exchange(error->handle, nullptr));
    anyffi_free(std::exchange(reinterpret_cast<OwnError*>(self)->frames, nullptr));
  }
  if (what & ANYFFI_DELETE_MEMORY) anyffi_free(self);
}

AnyffiError* allocate_error() noexcept {
  auto* own = allocate_object<OwnError>(ANYFFI_ERROR, &delete_error);
  if (own == nullptr) return nullptr;
  own->frames = nullptr;
  own->about = nullptr;
  AnyffiError* error = &own->error;
  for (AnyffiValue* part : {&error->kind, &error->message, &error->args, &error->cause}) *part = anyffi_make_none();
  error->traceback = short_text("");
  error->handle = nullptr;
  return error;
}

/// The OwnError around an error; NULL for static errors.
OwnError* own_error(AnyffiObject* error) noexcept {
  return error != nullptr && error->deleter == &delete_error ? reinterpret_cast<OwnError*>(error) : nullptr;
}

/// Records the stack frames of the code that raises an error, unless they were recorded before.
__attribute__((cold, noinline)) void keep_frames(AnyffiObject* error) noexcept {
  OwnError* own = own_error(error);
  if (own == nullptr || __atomic_load_n(&own->frames, __ATOMIC_ACQUIRE) != nullptr) return drop_thrown_frames();
  Frames *none = nullptr, *frames = take_frames();
  // Another thread may raise the same error at the same time.
  if (!__atomic_compare_exchange_n(&own->frames, &none, frames, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    anyffi_free(frames);
  }
}

inline void note_frames(AnyffiObject* error) noexcept {
  if (__builtin_expect(__atomic_load_n(&records_frames, __ATOMIC_RELAXED), 0)) keep_frames(error);
}

int raise_error(const char* kind, const char* message, size_t size, const AnyffiValue* args) {
  Owned kind_text, message_text, error;
  if (str_from_utf8_escaped(kind, static_cast<int64_t>(std::strlen(kind)), kind_text.out()) != 0 ||
      str_from_utf8_escaped(message, static_cast<int64_t>(size), message_text.out()) != 0 ||
      anyffi_error_create(kind_text.get(), message_text.get(), args, error.out()) != 0) {
    return -1;
  }
  anyffi_error_set_raised(error->as_object);
  return -1;
}

}  // namespace

bool has_raised() noexcept { return raised != nullptr; }

void inherit_raised(AnyffiError* former) noexcept {
  OwnError *own = own_error(raised), *from = own_error(&former->header);
  if (own == nullptr) return;
  for (auto part : {&AnyffiError::traceback, &AnyffiError::cause}) {
    anyffi_value_release(&(own->error.*part));
    own->error.*part = retained(former->*part).take();
  }
  Frames* frames = from == nullptr ? nullptr : __atomic_exchange_n(&from->frames, nullptr, __ATOMIC_ACQ_REL);
  if (frames != nullptr) anyffi_free(__atomic_exchange_n(&own->frames, frames, __ATOMIC_ACQ_REL));
}

bool is_refusal_raised() noexcept {
  if (raised == nullptr || raised->type_code != ANYFFI_ERROR) return false;
  auto& error = *reinterpret_cast<const AnyffiError*>(raised);
  return error.handle == nullptr && detail::is_of_kind(error, "TypeError");
}

int mark_raised_about(const void* elements) noexcept {
  if (OwnError* own = own_error(raised)) own->about = elements;
  return -1;
}

const void* take_raised_about() noexcept {
  OwnError* own = own_error(raised);
  return own == nullptr ? nullptr : std::exchange(own->about, nullptr);
}

SavedError::SavedError() noexcept : error_(std::exchange(raised, nullptr)) {}

SavedError::~SavedError() {
  AnyffiObject* other = std::exchange(raised, error_);
  if (other != nullptr) anyffi_release(other);
}

int raise_no_memory() noexcept {
  anyffi_error_set_raised(&memory_error.header);
  return -1;
}

int raise_recursion() noexcept {
  anyffi_error_set_raised(&recursion_error()->header);
  return -1;
}

int raise_with_args(const char* kind, const char* message, AnyffiValue args) noexcept {
  Owned owned_args(args);
  return raise_error(kind, message, std::strlen(message), owned_args.get());
}

int raise_text(const char* kind, const String& text) noexcept {
  return raise_error(kind, text.data(), text.size(), nullptr);
}

int raise_format(const char* kind, const char* format, ...) noexcept {
  char buffer[256];
  va_list arguments;
  va_start(arguments, format);
  int size = std::vsnprintf(buffer, sizeof(buffer), format, arguments);
  va_end(arguments);
  if (size < static_cast<int>(sizeof(buffer))) return raise_with_args(kind, size < 0 ? format : buffer, kNone);
  auto* longer = static_cast<char*>(anyffi_alloc(static_cast<size_t>(size) + 1));
  if (longer == nullptr) return raise_no_memory();
  va_start(arguments, format);
  std::vsnprintf(longer, static_cast<size_t>(size) + 1, format, arguments);
  va_end(arguments);
  raise_with_args(kind, longer, kNone);
  anyffi_free(longer);
  return -1;
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_error_create(const AnyffiValue* kind, const AnyffiValue* message, const AnyffiValue* args,
                        AnyffiValue* out) {
  if (!anyffi_is_str(kind->type_code) || !anyffi_is_str(message->type_code)) {
    *out = kNone;
    return raise_format("TypeError", "kind and message of an error must be strings");
  }
  if (args != nullptr && args->type_code != ANYFFI_NONE && anyffi_type_get_family(args->type_code) != ANYFFI_ARRAY) {
    *out = kNone;
    return raise_format("TypeError", "the arguments of an error must be an Array");
  }
  AnyffiError* error = allocate_error();
  if (error == nullptr) return fail(out);
  Owned owner(&error->header);
  if (anyffi_value_own(kind, &error->kind) != 0 || anyffi_value_own(message, &error->message) != 0 ||
      (args != nullptr && anyffi_value_own(args, &error->args) != 0)) {
    return fail(out);
  }
  note_frames(&error->header);
  *out = owner.take();
  return 0;
}

int anyffi_error_create_host(void* handle, AnyffiValue* out) {
  AnyffiError* error = allocate_error();
  if (error == nullptr) {
    release_handle(handle);
    return fail(out);
  }
  error->handle = handle;
  *out = anyffi_make_object(&error->header);
  return 0;
}

void anyffi_error_fill(AnyffiObject* object) {
  auto* error = reinterpret_cast<AnyffiError*>(object);
  // The kind is published last: a thread that reads it can read the rest, too.
  if (__atomic_load_n(&error->kind.type_code, __ATOMIC_ACQUIRE) != ANYFFI_NONE) return;
  Owned kind, message, traceback;
  {
    SavedError saved;
    const AnyffiHost* hooks = host();
    if (hooks == nullptr || hooks->error_fill == nullptr ||
        call_hook([&] { return hooks->error_fill(error->handle, kind.out(), message.out(), traceback.out()); }) != 0) {
      kind = Owned(short_text("Exception"));
      message = Owned(short_text("(no text)"));
      traceback = Owned(short_text(""));
    }
    if (!anyffi_is_str(kind->type_code)) kind = Owned(short_text("Exception"));
    if (!anyffi_is_str(message->type_code)) message = Owned(short_text("(no text)"));
    if (!anyffi_is_str(traceback->type_code)) traceback = Owned(short_text(""));
  }
  static Mutex mutex;
  std::lock_guard<Mutex> guard(mutex);
  if (error->kind.type_code != ANYFFI_NONE) return;
  error->message = message.take();
  error->traceback = traceback.take();
  AnyffiValue name = kind.take();
  error->kind.aux = name.aux;
  error->kind.as_int = name.as_int;
  __atomic_store_n(&error->kind.type_code, name.type_code, __ATOMIC_RELEASE);
}

namespace {

/// Asks the host for the class name of its exception; returns whether it succeeded.
bool ask_kind(const AnyffiError* error, Owned* out) noexcept {
  const AnyffiHost* hooks = host();
  return hooks != nullptr && hooks->error_fill != nullptr &&
         call_hook([&] { return hooks->error_fill(error->handle, out->out(), nullptr, nullptr); }) == 0 &&
         anyffi_is_str(out->get()->type_code);
}

/// Takes the raised error, and returns whether it is a MemoryError.
bool take_no_memory() noexcept {
  Owned taken, kind;
  anyffi_error_take_raised(taken.out());
  if (taken->type_code != ANYFFI_ERROR) return false;
  auto* error = reinterpret_cast<const AnyffiError*>(taken->as_object);
  if (error->handle == nullptr || ask_kind(error, &kind)) {
    AnyffiValue name = error->handle == nullptr ? error->kind : *kind.get(), wanted = short_text("MemoryError");
    return name.aux == wanted.aux && name.as_int == wanted.as_int && name.type_code == wanted.type_code;
  }
  // The failure may instead be a RecursionError: then the runtime can still allocate memory.
  void* memory = anyffi_alloc(sizeof(OwnError));
  if (memory == nullptr) return true;
  anyffi_free(memory);
  return false;
}

}  // namespace

namespace anyffi::runtime {

int get_error_kind(const AnyffiError* error, Owned* out, bool* lacks_memory) noexcept {
  *lacks_memory = false;
  if (__atomic_load_n(&error->kind.type_code, __ATOMIC_ACQUIRE) != ANYFFI_NONE) {
    *out = Owned(error->kind);
    anyffi_value_retain(out->get());
    return 0;
  }
  SavedError saved;
  if (ask_kind(error, out)) return 0;
  *lacks_memory = take_no_memory();
  return -1;
}

}  // namespace anyffi::runtime

void anyffi_error_ensure(AnyffiValue* value) {
  if (value->type_code == ANYFFI_ERROR) return;
  Owned given(*value);
  if (anyffi_is_str(value->type_code)) {
    AnyffiValue kind = static_text(&runtime_kind);
    if (anyffi_error_create(&kind, given.get(), nullptr, value) == 0) return;
  } else {
    anyffi_error_raise("RuntimeError", "a function failed without setting an error");
  }
  anyffi_error_take_raised(value);
}

const char* anyffi_error_get_text(AnyffiObject* error, AnyffiValue* text) {
  if (text->type_code == ANYFFI_NONE) {
    anyffi_error_fill(error);
    AnyffiValue message = reinterpret_cast<AnyffiError*>(error)->message;
    if (anyffi_str_to_utf8(&message, text) != 0) {
      return take_no_memory() ? "(no text)" : "(the message is not UTF-8)";
    }
  }
  AnyffiTextView view;
  anyffi_view_text(text, &view);
  return static_cast<const char*>(view.data);
}

void anyffi_error_set_raised(AnyffiObject* error) {
  note_frames(error);
  anyffi_retain(error);
  AnyffiObject* former = std::exchange(raised, error);
  if (former != nullptr) anyffi_release(former);
}

void anyffi_error_take_raised(AnyffiValue* out) {
  AnyffiObject* error = std::exchange(raised, nullptr);
  *out = error != nullptr ? anyffi_make_object(error) : kNone;
}

int anyffi_error_raise(const char* kind, const char* message) { return raise_with_args(kind, message, kNone); }

void anyffi_error_get_frames(AnyffiObject* error, AnyffiValue* out) {
  OwnError* own = own_error(error);
  const Frames* frames = own != nullptr ? __atomic_load_n(&own->frames, __ATOMIC_ACQUIRE) : nullptr;
  *out = kNone;
  if (frames == nullptr) return;
  bool is_from_host = reinterpret_cast<AnyffiError*>(error)->handle != nullptr;
  if (guard([&] { return describe_frames(*frames, is_from_host, out); }) == 0) return;
  Owned ignored;
  anyffi_error_take_raised(ignored.out());
}
