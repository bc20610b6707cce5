/// \file
/// What the files of the runtime share: owned values, allocation of objects, raising errors, and the few
/// functions that cross files without being part of the C ABI.
#ifndef ANYFFI_SRC_INTERNAL_H_
#define ANYFFI_SRC_INTERNAL_H_

#include <anyffi/exception.h>
#include <anyffi/host_api.h>
#include <anyffi/inline.h>
#include <cxxabi.h>

#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocks.h"

/// Thread-local words live in the static TLS block: reading one is a single instruction, and cannot fail.
#if defined(__linux__)
#define ANYFFI_THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))
#else
#define ANYFFI_THREAD_LOCAL static thread_local
#endif

namespace anyffi::runtime {

/* ---- errors: each raises and returns -1 -------------------------------------------------------- */

/// MemoryError, without allocating.
int raise_no_memory() noexcept;
/// RecursionError, without allocating.
int raise_recursion() noexcept;
/// As `anyffi_error_raise`, with a message as of printf. Bytes that are not UTF-8 are shown as escapes.
int raise_format(const char* kind, const char* format, ...) noexcept __attribute__((format(printf, 2, 3)));
/// An error whose class is made from several values; `args` is an Array that the function takes over.
int raise_with_args(const char* kind, const char* message, AnyffiValue args) noexcept;
/// KeyError that carries the key.
int raise_key_error(const AnyffiValue* key) noexcept;
/// 1 if an error waits in the thread's slot.
bool has_raised() noexcept;

/// Empties the thread's slot, and puts back what was there at its end: for code of the host that runs while an
/// error is on its way.
class RaisedKept {
 public:
  RaisedKept() noexcept;
  ~RaisedKept();
  RaisedKept(const RaisedKept&) = delete;
  RaisedKept& operator=(const RaisedKept&) = delete;

 private:
  AnyffiObject* kept_;
};

/* ---- owned values -------------------------------------------------------------------------------- */

/// Owns one value.
class Owned {
 public:
  Owned() noexcept : value_(anyffi_none_inline()) {}
  /// Takes over.
  explicit Owned(const AnyffiValue& value) noexcept : value_(value) {}
  /// Takes over one strong reference.
  explicit Owned(AnyffiObject* object) noexcept : value_(anyffi_object_inline(object)) {}
  Owned(Owned&& other) noexcept : value_(other.take()) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      AnyffiValue former = std::exchange(value_, other.take());
      anyffi_value_drop_inline(&former);
    }
    return *this;
  }
  ~Owned() { anyffi_value_drop_inline(&value_); }

  const AnyffiValue* get() const noexcept { return &value_; }
  const AnyffiValue* operator->() const noexcept { return &value_; }
  /// For functions that write an owned value; drops what was held.
  AnyffiValue* out() noexcept {
    AnyffiValue former = take();
    anyffi_value_drop_inline(&former);
    return &value_;
  }
  AnyffiValue take() noexcept { return std::exchange(value_, anyffi_none_inline()); }

 private:
  AnyffiValue value_;
};

/// Leaves None in `out` and returns -1, for the ends of failing functions.
inline int fail(AnyffiValue* out) noexcept {
  *out = anyffi_none_inline();
  return -1;
}

/* ---- memory -------------------------------------------------------------------------------------- */

/// Fills the header of an object in its memory: one strong reference, which the caller holds.
template <class T>
T* begin_object(void* memory, int32_t type_code, void (*deleter)(AnyffiObject*, int32_t)) noexcept {
  auto* header = static_cast<AnyffiObject*>(memory);
  header->type_code = type_code;
  header->weak_count = 1;
  header->strong_count = 1;
  header->deleter = deleter;
  header->wrapper = nullptr;
  return static_cast<T*>(memory);
}

/// Memory for an object with its header filled: one strong reference, which the caller holds. NULL after
/// MemoryError was raised.
template <class T>
T* allocate_object(int32_t type_code, void (*deleter)(AnyffiObject*, int32_t), size_t size = sizeof(T)) noexcept {
  void* memory = take_block(size);
  if (memory == nullptr) {
    raise_no_memory();
    return nullptr;
  }
  return begin_object<T>(memory, type_code, deleter);
}

/// Gives the memory of an object back; `size` is what it was allocated with.
template <class T>
void free_object(AnyffiObject* object, size_t size = sizeof(T)) noexcept {
  give_block(object, size);
}

/// Lets standard containers of the runtime's own records use the replaceable allocator.
template <class T>
struct Allocator {
  using value_type = T;
  Allocator() noexcept = default;
  template <class U>
  Allocator(const Allocator<U>&) noexcept {}
  T* allocate(size_t count) {
    void* memory = count <= PTRDIFF_MAX / sizeof(T) ? anyffi_alloc(count * sizeof(T)) : nullptr;
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) noexcept { anyffi_free(memory); }
  template <class U>
  bool operator==(const Allocator<U>&) const noexcept {
    return true;
  }
  template <class U>
  bool operator!=(const Allocator<U>&) const noexcept {
    return false;
  }
};

using String = std::basic_string<char, std::char_traits<char>, Allocator<char>>;
template <class T>
using Vector = std::vector<T, Allocator<T>>;

/// Runs the body of a C function that uses standard containers: what it throws becomes the raised error.
template <class Body>
int guard(Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    anyffi_error_set_current_exception();
    return -1;
  }
}

/// As `anyffi_error_raise`; bytes of the text that are not UTF-8 are shown as escapes.
int raise_text(const char* kind, const String& text);

/* ---- text ---------------------------------------------------------------------------------------- */

/// Bytes on the heap, of more than ANYFFI_INLINE_BYTES, to be filled by the caller. NULL after MemoryError.
AnyffiBytesObject* allocate_bytes(int64_t size) noexcept;
/// Decodes UTF-8; bytes that are not UTF-8 become `\xNN`.
int str_from_utf8_escaped(const char* utf8, int64_t size, AnyffiValue* out) noexcept;
/// Appends a string or bytes value as UTF-8 for a message; what UTF-8 cannot hold becomes an escape.
void append_text(String* out, const AnyffiValue* text);
/// Orders two strings by code point, as Python does: negative, 0 or positive.
int compare_text(const AnyffiTextView& a, const AnyffiTextView& b) noexcept;
/// The path that a string means to the system, as Python's `os.fsencode` gives it.
int path_to_native(const AnyffiValue* path, String* out);

/* ---- types --------------------------------------------------------------------------------------- */

/// Python's name for the type of a value, for messages; asks the host about its own objects.
int type_name_of(const AnyffiValue* value, AnyffiValue* out) noexcept;
/// TypeError; `format` has one `%s`, for the name of the value's type. Returns -1.
int raise_about_type(const AnyffiValue* value, const char* format) noexcept;

/// The same appended to a message; what a container was converted from has the name that it had there.
void append_type_name(String* out, const AnyffiValue& value);
/// `name(x: int, by: float = 2.0) -> int`
void append_signature(String* out, const AnyffiFunctionInfo& info);

/// The name of a data type or of a device.
struct ShortName {
  char text[48] = {}; /* none is as long */
  int size = 0;
  void append(const char* format, ...) noexcept __attribute__((format(printf, 2, 3)));
};
ShortName data_type_name(const AnyffiDataType& type) noexcept;
ShortName device_name(const AnyffiDevice& device) noexcept;

struct TypeHooks {
  int (*hash)(const AnyffiValue* self, int64_t* out) = nullptr;
  int (*equal)(const AnyffiValue* a, const AnyffiValue* b, int32_t* out) = nullptr;
  int (*children)(const AnyffiValue* self, AnyffiVisit visit, void* context) = nullptr;
  int (*repr)(const AnyffiValue* self, AnyffiValue* out) = nullptr;
};
/// Gives a type of the static table those hooks that are not NULL; to be called from static initialisers only, in
/// whichever file defines the hooks. Returns true, so that it can initialise a constant.
bool install_type_hooks(int32_t type_code, const TypeHooks& hooks) noexcept;

/// The nearest hook on the way from a type to its root, or NULL: `find_hook(code, &AnyffiTypeInfo::hash)`.
template <class Hook>
Hook find_hook(int32_t type_code, Hook AnyffiTypeInfo::* hook) noexcept {
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  while (info != nullptr && info->*hook == nullptr) {
    info = info->parent == info->type_code ? nullptr : anyffi_type_get_info(info->parent);
  }
  return info == nullptr ? nullptr : info->*hook;
}

/// The part of a message that names what was probably meant, such as `; did you mean 'append'?`, or nothing.
String did_you_mean(std::string_view name, const Vector<String>& candidates);

/* ---- host ---------------------------------------------------------------------------------------- */

/// The installed hooks, or NULL.
const AnyffiHost* host() noexcept;
/// Gives back one count of a handle, taking the host's lock.
void release_handle(void* handle) noexcept;

/// Stops the calling thread for ever.
[[noreturn]] void park_thread() noexcept;

/// For what catches `__forced_unwind`: there is no such object, and the sanitizer takes it for a reference to nothing.
#define ANYFFI_UNWINDS __attribute__((no_sanitize("null", "alignment")))

/// Calls a hook or callback of the host. An interpreter that has shut down ends the threads that come back to it by
/// unwinding their stacks; that would end the process at the first C++ frame, so such a thread stops here instead.
template <class Function>
ANYFFI_UNWINDS auto enter_host(const Function& function) noexcept {
#if defined(__GLIBCXX__)
  try {
    return function();
  } catch (abi::__forced_unwind&) {
    park_thread();
  }
#else
  return function();
#endif
}

/// What a hook or callback of the host returned, as 0 or -1 with an error in the slot.
int finish_hook(int status) noexcept;

/// Asks a hook that may fail.
template <class Function>
int ask_host(const Function& function) noexcept {
  return finish_hook(enter_host(function));
}

/// Holds the host's lock, if there is a host.
class HostLock {
 public:
  HostLock() noexcept
      : host_(host()), state_(host_ != nullptr && host_->lock != nullptr ? enter_host(host_->lock) : 0) {}
  ~HostLock() {
    if (host_ != nullptr && host_->unlock != nullptr) host_->unlock(state_);
  }
  HostLock(const HostLock&) = delete;
  HostLock& operator=(const HostLock&) = delete;

 private:
  const AnyffiHost* host_;
  int32_t state_;
};

/* ---- loading ------------------------------------------------------------------------------------- */

/// What the static initialisers of a library do while this thread loads it.
class LoadJournal {
 public:
  LoadJournal() noexcept;
  ~LoadJournal();
  LoadJournal(const LoadJournal&) = delete;
  LoadJournal& operator=(const LoadJournal&) = delete;

  /// Notes a function put into the registry, before it is. May throw bad_alloc.
  void begin(const AnyffiValue& name, const AnyffiValue& function);
  /// The noted function was not put there after all.
  void cancel() noexcept { changes_.pop_back(); }
  /// What the noted function replaced; takes over.
  void replaced(AnyffiValue former) noexcept { changes_.back().former = Owned(former); }
  /// Notes that a name was taken, and that the error in the thread's slot says so.
  void refuse(const AnyffiValue& name) noexcept;
  /// Keeps the first error that an initialiser of the library at `base` deferred; takes over.
  void defer(AnyffiValue error, const void* base) noexcept;
  /// The first deferred error, or None.
  const AnyffiValue* error() const noexcept { return error_.get(); }
  /// The library that it came from.
  const void* base() const noexcept { return base_; }
  /// The name whose being taken is the cause of it, or None.
  const AnyffiValue* taken_name() const noexcept { return taken_name_.get(); }
  /// Takes the registrations back, the last first.
  void undo() noexcept;

  /// The innermost journal of this thread, or NULL.
  static LoadJournal* current() noexcept;

 private:
  struct Change {
    Owned name;
    Owned function;
    Owned former;
  };
  Vector<Change> changes_;
  Owned error_;
  const void* base_ = nullptr;
  Owned taken_name_;
  Owned refusal_; /* what was raised about it */
  LoadJournal* outer_;
};

/// The error that initialisers of the library at `base` deferred, or that its loading failed with before; None if there
/// is none. Initialisers run once, so there is one for good, but perhaps a copy in the place of the library.
Owned find_load_error(const void* base) noexcept;
/// Keeps an error, unless there is one already.
void keep_load_error(const void* base, const AnyffiValue& error) noexcept;
/// Keeps what made a load fail that was undone: the library may be loaded anew, as a copy.
void keep_undone_load(const void* base, const LoadJournal& journal) noexcept;
/// Whether the caller is to load the library anew: its load was undone, its cause may be gone, and nobody else is at
/// it.
bool begin_new_load(const void* base) noexcept;
/// Puts a copy, by its handle, in the place of the library; NULL if none could be loaded.
void end_new_load(const void* base, void* copy) noexcept;
/// The handle of the copy in the place of a library, or NULL.
void* find_replacement(const void* base) noexcept;

/// Puts `former` back in place of `function`, or nothing if it is None, unless the name means something else by now.
void registry_restore(const AnyffiValue& name, const AnyffiValue& function, AnyffiValue former) noexcept;

/// Looks at a file before the system's loader does, which ends the process over some malformed ones. ValueError
/// with the place for what is no complete shared library, OSError for what is one for another machine or cannot
/// be read.
int check_library_file(const AnyffiValue* path, const String& file);
/// Copies a file to one that the system's loader knows nothing of, which the caller removes.
int copy_library_file(const String& file, String* copy);
/// Names, without the prefix, of the functions that a loaded library itself exports under a prefix.
void list_library_functions(void* handle, std::string_view prefix, Vector<String>* out);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_INTERNAL_H_
