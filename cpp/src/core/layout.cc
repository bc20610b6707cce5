/// \file
/// The layout of all structs of c_api.h, checked by the compiler: libraries and front ends depend on it.
/// A change breaks libraries that were built before. New members are appended, to structs that begin with `struct_size`
/// alone; then the number behind SIZE grows.
///
/// The numbers are those of machines with 8-byte pointers. On others only values, data types and devices have this
/// layout: pointers and the members after them move.
#include <anyffi/c_api.h>

#define SIZE(type, bytes) static_assert(sizeof(type) == (bytes), "the size of " #type)
#define AT(type, member, offset) static_assert(offsetof(type, member) == (offset), "the place of " #type "." #member)

// The protocol itself: the same everywhere.
SIZE(AnyffiDataType, 4);
AT(AnyffiDataType, code, 0);
AT(AnyffiDataType, bits, 1);
AT(AnyffiDataType, lanes, 2);
SIZE(AnyffiDevice, 8);
AT(AnyffiDevice, type, 0);
AT(AnyffiDevice, index, 4);
SIZE(AnyffiValue, 16);
AT(AnyffiValue, type_code, 0);
AT(AnyffiValue, aux, 4);
AT(AnyffiValue, as_int, 8);
AT(AnyffiValue, as_float, 8);
AT(AnyffiValue, as_pointer, 8);
AT(AnyffiValue, as_object, 8);
AT(AnyffiValue, as_data_type, 8);
AT(AnyffiValue, as_device, 8);
static_assert(alignof(AnyffiValue) == 8, "the alignment of values");

#if UINTPTR_MAX == UINT64_MAX

// ---- values
SIZE(AnyffiObject, 32);
AT(AnyffiObject, type_code, 0);
AT(AnyffiObject, weak_count, 4);
AT(AnyffiObject, strong_count, 8);
AT(AnyffiObject, deleter, 16);
AT(AnyffiObject, wrapper, 24);

// ---- text and bytes
SIZE(AnyffiStrObject, 64);
AT(AnyffiStrObject, header, 0);
AT(AnyffiStrObject, length, 32);
AT(AnyffiStrObject, encoding, 40);
AT(AnyffiStrObject, reserved, 44);
AT(AnyffiStrObject, hash, 48);
AT(AnyffiStrObject, data, 56);
SIZE(AnyffiBytesObject, 56);
AT(AnyffiBytesObject, header, 0);
AT(AnyffiBytesObject, length, 32);
AT(AnyffiBytesObject, hash, 40);
AT(AnyffiBytesObject, data, 48);
SIZE(AnyffiTextView, 24);
AT(AnyffiTextView, data, 0);
AT(AnyffiTextView, length, 8);
AT(AnyffiTextView, encoding, 16);
AT(AnyffiTextView, reserved, 20);

// ---- large integers, complex numbers, slices, boxes
SIZE(AnyffiBigInt, 56);
AT(AnyffiBigInt, header, 0);
AT(AnyffiBigInt, negative, 32);
AT(AnyffiBigInt, reserved, 36);
AT(AnyffiBigInt, size, 40);
AT(AnyffiBigInt, words, 48);
SIZE(AnyffiComplex, 48);
AT(AnyffiComplex, header, 0);
AT(AnyffiComplex, real, 32);
AT(AnyffiComplex, imag, 40);
SIZE(AnyffiSlice, 80);
AT(AnyffiSlice, header, 0);
AT(AnyffiSlice, start, 32);
AT(AnyffiSlice, stop, 48);
AT(AnyffiSlice, step, 64);
SIZE(AnyffiBox, 48);
AT(AnyffiBox, header, 0);
AT(AnyffiBox, value, 32);

// ---- errors
SIZE(AnyffiError, 120);
AT(AnyffiError, header, 0);
AT(AnyffiError, kind, 32);
AT(AnyffiError, message, 48);
AT(AnyffiError, traceback, 64);
AT(AnyffiError, args, 80);
AT(AnyffiError, cause, 96);
AT(AnyffiError, handle, 112);

// ---- functions
SIZE(AnyffiParamInfo, 24);
AT(AnyffiParamInfo, name, 0);
AT(AnyffiParamInfo, default_value, 8);
AT(AnyffiParamInfo, type_name, 16);
SIZE(AnyffiFunctionInfo, 128);
AT(AnyffiFunctionInfo, struct_size, 0);
AT(AnyffiFunctionInfo, flags, 4);
AT(AnyffiFunctionInfo, name, 8);
AT(AnyffiFunctionInfo, doc, 16);
AT(AnyffiFunctionInfo, num_params, 24);
AT(AnyffiFunctionInfo, num_required, 28);
AT(AnyffiFunctionInfo, params, 32);
AT(AnyffiFunctionInfo, result_type, 40);
AT(AnyffiFunctionInfo, try_call, 48);
AT(AnyffiFunctionInfo, exact_types, 56);
AT(AnyffiFunctionInfo, overloads, 64);
AT(AnyffiFunctionInfo, utf8_params, 72);
AT(AnyffiFunctionInfo, item_params, 80);
AT(AnyffiFunctionInfo, load_items, 88);
AT(AnyffiFunctionInfo, num_keyword_only, 96);
AT(AnyffiFunctionInfo, reserved, 100);
AT(AnyffiFunctionInfo, member_params, 104);
AT(AnyffiFunctionInfo, object_params, 112);
AT(AnyffiFunctionInfo, unsigned_params, 120);
SIZE(AnyffiOverload, 32);
AT(AnyffiOverload, next, 0);
AT(AnyffiOverload, function, 8);
AT(AnyffiOverload, arg_indices, 16);
AT(AnyffiOverload, num_arg_indices, 24);
SIZE(AnyffiFunction, 72);
AT(AnyffiFunction, header, 0);
AT(AnyffiFunction, call, 32);
AT(AnyffiFunction, self, 40);
AT(AnyffiFunction, release_self, 48);
AT(AnyffiFunction, info, 56);
AT(AnyffiFunction, handle, 64);
SIZE(AnyffiItems, 32);
AT(AnyffiItems, container, 0);
AT(AnyffiItems, type_code, 8);
AT(AnyffiItems, flags, 12);
AT(AnyffiItems, size, 16);
AT(AnyffiItems, position, 24);
SIZE(AnyffiDeferred, 16);
AT(AnyffiDeferred, make, 0);
AT(AnyffiDeferred, object, 8);
SIZE(AnyffiResultSlot, 16);
AT(AnyffiResultSlot, load, 0);
AT(AnyffiResultSlot, memory, 8);
SIZE(AnyffiMismatch, 216);
AT(AnyffiMismatch, reason, 0);
AT(AnyffiMismatch, path_size, 4);
AT(AnyffiMismatch, expected, 8);
AT(AnyffiMismatch, detail, 16);
AT(AnyffiMismatch, got, 24);
AT(AnyffiMismatch, path, 40);
AT(AnyffiMismatch, got_text, 152);

// ---- objects and memory
SIZE(AnyffiAllocator, 16);
AT(AnyffiAllocator, alloc, 0);
AT(AnyffiAllocator, free, 8);

// ---- containers
SIZE(AnyffiSequence, 64);
AT(AnyffiSequence, header, 0);
AT(AnyffiSequence, data, 32);
AT(AnyffiSequence, size, 40);
AT(AnyffiSequence, capacity, 48);
AT(AnyffiSequence, type_mask, 56);
SIZE(AnyffiEntry, 40);
AT(AnyffiEntry, key, 0);
AT(AnyffiEntry, value, 16);
AT(AnyffiEntry, hash, 32);
SIZE(AnyffiMapping, 104);
AT(AnyffiMapping, header, 0);
AT(AnyffiMapping, entries, 32);
AT(AnyffiMapping, index, 40);
AT(AnyffiMapping, size, 48);
AT(AnyffiMapping, used, 56);
AT(AnyffiMapping, capacity, 64);
AT(AnyffiMapping, index_mask, 72);
AT(AnyffiMapping, key_type_mask, 80);
AT(AnyffiMapping, value_type_mask, 88);
AT(AnyffiMapping, host_hash, 96);

// ---- tensors
SIZE(AnyffiTensorData, 48);
AT(AnyffiTensorData, data, 0);
AT(AnyffiTensorData, device, 8);
AT(AnyffiTensorData, ndim, 16);
AT(AnyffiTensorData, dtype, 20);
AT(AnyffiTensorData, shape, 24);
AT(AnyffiTensorData, strides, 32);
AT(AnyffiTensorData, byte_offset, 40);
SIZE(AnyffiTensor, 104);
AT(AnyffiTensor, header, 0);
AT(AnyffiTensor, tensor, 32);
AT(AnyffiTensor, flags, 80);
AT(AnyffiTensor, owner, 88);
AT(AnyffiTensor, release_owner, 96);
SIZE(AnyffiTensorSpec, 32);
AT(AnyffiTensorSpec, dtype, 0);
AT(AnyffiTensorSpec, ndim, 4);
AT(AnyffiTensorSpec, shape, 8);
AT(AnyffiTensorSpec, order, 16);
AT(AnyffiTensorSpec, device_type, 20);
AT(AnyffiTensorSpec, writable, 24);
AT(AnyffiTensorSpec, alignment, 28);
SIZE(AnyffiManagedTensor, 80);
AT(AnyffiManagedTensor, major, 0);
AT(AnyffiManagedTensor, minor, 4);
AT(AnyffiManagedTensor, context, 8);
AT(AnyffiManagedTensor, deleter, 16);
AT(AnyffiManagedTensor, flags, 24);
AT(AnyffiManagedTensor, tensor, 32);
SIZE(AnyffiLegacyTensor, 64);
AT(AnyffiLegacyTensor, tensor, 0);
AT(AnyffiLegacyTensor, context, 48);
AT(AnyffiLegacyTensor, deleter, 56);

// ---- modules
SIZE(AnyffiModuleEntry, 24);
AT(AnyffiModuleEntry, next, 0);
AT(AnyffiModuleEntry, name, 8);
AT(AnyffiModuleEntry, function, 16);
SIZE(AnyffiModuleClass, 16);
AT(AnyffiModuleClass, next, 0);
AT(AnyffiModuleClass, type_code, 8);
SIZE(AnyffiModuleTable, 24);
AT(AnyffiModuleTable, abi_version, 0);
AT(AnyffiModuleTable, struct_size, 4);
AT(AnyffiModuleTable, entries, 8);
AT(AnyffiModuleTable, classes, 16);

// ---- reflection
SIZE(AnyffiInstance, 48);
AT(AnyffiInstance, header, 0);
AT(AnyffiInstance, content, 32);
AT(AnyffiInstance, owner, 40);
SIZE(AnyffiGuardedCall, 16);
AT(AnyffiGuardedCall, object, 0);
AT(AnyffiGuardedCall, name, 8);
SIZE(AnyffiFieldInfo, 64);
AT(AnyffiFieldInfo, name, 0);
AT(AnyffiFieldInfo, doc, 8);
AT(AnyffiFieldInfo, type_name, 16);
AT(AnyffiFieldInfo, get, 24);
AT(AnyffiFieldInfo, set, 32);
AT(AnyffiFieldInfo, visit, 40);
AT(AnyffiFieldInfo, offset, 48);
AT(AnyffiFieldInfo, type_code, 56);
AT(AnyffiFieldInfo, storage, 60);
SIZE(AnyffiMethodInfo, 24);
AT(AnyffiMethodInfo, name, 0);
AT(AnyffiMethodInfo, function, 8);
AT(AnyffiMethodInfo, flags, 16);
AT(AnyffiMethodInfo, reserved, 20);
SIZE(AnyffiTypeInfo, 168);
AT(AnyffiTypeInfo, struct_size, 0);
AT(AnyffiTypeInfo, type_code, 4);
AT(AnyffiTypeInfo, family, 8);
AT(AnyffiTypeInfo, parent, 12);
AT(AnyffiTypeInfo, storage, 16);
AT(AnyffiTypeInfo, depth, 20);
AT(AnyffiTypeInfo, ancestors, 24);
AT(AnyffiTypeInfo, type_key, 32);
AT(AnyffiTypeInfo, python_name, 40);
AT(AnyffiTypeInfo, instance_size, 48);
AT(AnyffiTypeInfo, hash, 56);
AT(AnyffiTypeInfo, equal, 64);
AT(AnyffiTypeInfo, visit_children, 72);
AT(AnyffiTypeInfo, repr, 80);
AT(AnyffiTypeInfo, num_fields, 88);
AT(AnyffiTypeInfo, num_methods, 92);
AT(AnyffiTypeInfo, fields, 96);
AT(AnyffiTypeInfo, methods, 104);
AT(AnyffiTypeInfo, doc, 112);
AT(AnyffiTypeInfo, convertible_from, 120);
AT(AnyffiTypeInfo, alignment, 128);
AT(AnyffiTypeInfo, member_types, 136);
AT(AnyffiTypeInfo, parent_offset, 144);
AT(AnyffiTypeInfo, record, 152);
AT(AnyffiTypeInfo, get_parent, 160);

#endif
