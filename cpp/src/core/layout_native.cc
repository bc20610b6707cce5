/// \file
/// The layout of all structs of native_api.h, checked by the compiler: libraries depend on it.
/// A change breaks libraries that were built before. New members are appended, to structs that begin with `struct_size`
/// alone; then the number behind SIZE grows.
///
/// The numbers are those of machines with 8-byte pointers. On others only values, data types and devices have this
/// layout: pointers and the members after them move.
#include <anyffi/native_api.h>

#define SIZE(type, bytes) static_assert(sizeof(type) == (bytes), "the size of " #type)
#define AT(type, member, offset) static_assert(offsetof(type, member) == (offset), "the place of " #type "." #member)

#if UINTPTR_MAX == UINT64_MAX

// ---- native functions
SIZE(AnyffiParamType, 56);
AT(AnyffiParamType, load, 0);
AT(AnyffiParamType, destroy, 8);
AT(AnyffiParamType, normalize, 16);
AT(AnyffiParamType, name, 24);
AT(AnyffiParamType, exact_types, 32);
AT(AnyffiParamType, size, 40);
AT(AnyffiParamType, alignment, 44);
AT(AnyffiParamType, flags, 48);
AT(AnyffiParamType, reserved, 52);
SIZE(AnyffiCallableType, 24);
AT(AnyffiCallableType, move, 0);
AT(AnyffiCallableType, destroy, 8);
AT(AnyffiCallableType, size, 16);
SIZE(AnyffiNativeFunction, 96);
AT(AnyffiNativeFunction, base, 0);
AT(AnyffiNativeFunction, plain_size, 72);
AT(AnyffiNativeFunction, returns, 76);
AT(AnyffiNativeFunction, releases_lock, 80);
AT(AnyffiNativeFunction, reserved, 84);
AT(AnyffiNativeFunction, declaration, 88);
SIZE(AnyffiReleasedLock, 24);
AT(AnyffiReleasedLock, is_released, 0);
AT(AnyffiReleasedLock, num_args, 4);
AT(AnyffiReleasedLock, args, 8);
AT(AnyffiReleasedLock, state, 16);
SIZE(AnyffiCallFrame, 248);
AT(AnyffiCallFrame, num_loaded, 0);
AT(AnyffiCallFrame, reserved, 4);
AT(AnyffiCallFrame, lock, 8);
AT(AnyffiCallFrame, why, 32);
SIZE(AnyffiLoadedArgument, 48);
AT(AnyffiLoadedArgument, header, 0);
AT(AnyffiLoadedArgument, type, 32);
AT(AnyffiLoadedArgument, is_in_room, 40);
AT(AnyffiLoadedArgument, reserved, 44);

// ---- exports and global functions
SIZE(AnyffiRegistration, 48);
AT(AnyffiRegistration, name, 0);
AT(AnyffiRegistration, function, 8);
AT(AnyffiRegistration, published, 16);
AT(AnyffiRegistration, entry, 24);

// ---- classes
SIZE(AnyffiClassBuilder, 24);
AT(AnyffiClassBuilder, flags, 0);
AT(AnyffiClassBuilder, reserved, 4);
AT(AnyffiClassBuilder, function, 8);
AT(AnyffiClassBuilder, state, 16);

#endif
