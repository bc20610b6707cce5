// The functions as a C library for ctypes and cffi.
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void nop(void) {}
EXPORT void nop_int(int64_t x) { (void)x; }
EXPORT void nop_ints(int64_t x, int64_t y, int64_t z) { (void)x, (void)y, (void)z; }
EXPORT void nop_float(double x) { (void)x; }
EXPORT void nop_bool(_Bool x) { (void)x; }
EXPORT void nop_bytes(const char* x) { (void)x; }
EXPORT int64_t add_one(int64_t x) { return x + 1; }
EXPORT int64_t apply(int64_t (*f)(int64_t), int64_t x) { return f(x); }
