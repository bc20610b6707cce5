/// \file
/// Attributes of compilers.
#ifndef ANYFFI_SRC_CORE_COMPILER_H_
#define ANYFFI_SRC_CORE_COMPILER_H_

/// Puts a thread-local variable into the static TLS block: reading it takes one instruction, and cannot fail.
#if defined(__linux__)
#define ANYFFI_STATIC_TLS __attribute__((tls_model("initial-exec")))
#define ANYFFI_THREAD_LOCAL static __thread ANYFFI_STATIC_TLS
#else
#define ANYFFI_STATIC_TLS
#define ANYFFI_THREAD_LOCAL static thread_local
#endif

/// For functions that catch `__forced_unwind`: it has no exception object, so the sanitizer would report a null
/// reference.
#define ANYFFI_UNWINDS __attribute__((no_sanitize("null", "alignment")))

#endif  // ANYFFI_SRC_CORE_COMPILER_H_
