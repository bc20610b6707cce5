/// \file
/// The layout of all structs of host_api.h, checked by the compiler: front ends depend on it.
/// A change breaks libraries that were built before. New members are appended, to structs that begin with `struct_size`
/// alone; then the number behind SIZE grows.
///
/// The numbers are those of machines with 8-byte pointers. On others only values, data types and devices have this
/// layout: pointers and the members after them move.
#include <anyffi/host_api.h>

#define SIZE(type, bytes) static_assert(sizeof(type) == (bytes), "the size of " #type)
#define AT(type, member, offset) static_assert(offsetof(type, member) == (offset), "the place of " #type "." #member)

#if UINTPTR_MAX == UINT64_MAX

// ---- hooks
SIZE(AnyffiHost, 240);
AT(AnyffiHost, struct_size, 0);
AT(AnyffiHost, flags, 4);
AT(AnyffiHost, lock, 8);
AT(AnyffiHost, unlock, 16);
AT(AnyffiHost, suspend, 24);
AT(AnyffiHost, resume, 32);
AT(AnyffiHost, handle_release, 40);
AT(AnyffiHost, handle_hash, 48);
AT(AnyffiHost, handle_equal, 56);
AT(AnyffiHost, handle_repr, 64);
AT(AnyffiHost, handle_type_name, 72);
AT(AnyffiHost, error_fill, 80);
AT(AnyffiHost, check_signals, 88);
AT(AnyffiHost, capsule_new, 96);
AT(AnyffiHost, capsule_is_valid, 104);
AT(AnyffiHost, capsule_get_pointer, 112);
AT(AnyffiHost, capsule_set_name, 120);
AT(AnyffiHost, handle_release_shared, 128);
AT(AnyffiHost, is_own_wrapper, 136);
AT(AnyffiHost, handle_convert, 144);
AT(AnyffiHost, handle_create, 152);
AT(AnyffiHost, wrapper_track, 160);
AT(AnyffiHost, wrapper_empty, 168);
AT(AnyffiHost, items_read, 176);
AT(AnyffiHost, items_write, 184);
AT(AnyffiHost, object_hash, 192);
AT(AnyffiHost, object_equal, 200);
AT(AnyffiHost, section_begin, 208);
AT(AnyffiHost, section_end, 216);
AT(AnyffiHost, section_object, 224);
AT(AnyffiHost, deferring_callback, 232);
SIZE(AnyffiSectioned, 16);
AT(AnyffiSectioned, name, 0);
AT(AnyffiSectioned, function, 8);

// ---- objects that own a handle
SIZE(AnyffiPyObject, 40);
AT(AnyffiPyObject, header, 0);
AT(AnyffiPyObject, handle, 32);

// ---- the memory of tensors, for the buffer protocol of Python
SIZE(AnyffiBuffer, 80);
AT(AnyffiBuffer, data, 0);
AT(AnyffiBuffer, owner, 8);
AT(AnyffiBuffer, size, 16);
AT(AnyffiBuffer, item_size, 24);
AT(AnyffiBuffer, read_only, 32);
AT(AnyffiBuffer, ndim, 36);
AT(AnyffiBuffer, format, 40);
AT(AnyffiBuffer, shape, 48);
AT(AnyffiBuffer, strides, 56);
AT(AnyffiBuffer, suboffsets, 64);
AT(AnyffiBuffer, internal, 72);

// ---- wrappers
SIZE(AnyffiWrapperRef, 16);
AT(AnyffiWrapperRef, object, 0);
AT(AnyffiWrapperRef, wrapper, 8);
SIZE(AnyffiWrapperHold, 32);
AT(AnyffiWrapperHold, ref, 0);
AT(AnyffiWrapperHold, value, 16);
SIZE(AnyffiWrapperLayout, 232);
AT(AnyffiWrapperLayout, struct_size, 0);
AT(AnyffiWrapperLayout, type_offset, 4);
AT(AnyffiWrapperLayout, memory_offset, 8);
AT(AnyffiWrapperLayout, content_offset, 12);
AT(AnyffiWrapperLayout, exception_save, 16);
AT(AnyffiWrapperLayout, exception_restore, 24);
AT(AnyffiWrapperLayout, retain, 32);
AT(AnyffiWrapperLayout, set_error, 40);
AT(AnyffiWrapperLayout, buffer_error, 48);
AT(AnyffiWrapperLayout, memory_error, 56);
AT(AnyffiWrapperLayout, count_offset, 64);
AT(AnyffiWrapperLayout, count_size, 68);
AT(AnyffiWrapperLayout, nothing, 72);
AT(AnyffiWrapperLayout, make_text, 80);
AT(AnyffiWrapperLayout, make_bytes, 88);
AT(AnyffiWrapperLayout, make_int, 96);
AT(AnyffiWrapperLayout, make_float, 104);
AT(AnyffiWrapperLayout, make_bool, 112);
AT(AnyffiWrapperLayout, make_complex, 120);
AT(AnyffiWrapperLayout, make_tuple, 128);
AT(AnyffiWrapperLayout, allocate, 136);
AT(AnyffiWrapperLayout, release, 144);
AT(AnyffiWrapperLayout, memory_class, 152);
AT(AnyffiWrapperLayout, unread, 160);
AT(AnyffiWrapperLayout, make_list, 168);
AT(AnyffiWrapperLayout, make_dict, 176);
AT(AnyffiWrapperLayout, list_as_tuple, 184);
AT(AnyffiWrapperLayout, make_set, 192);
AT(AnyffiWrapperLayout, make_frozen_set, 200);
AT(AnyffiWrapperLayout, make_proxy, 208);
AT(AnyffiWrapperLayout, list_append, 216);
AT(AnyffiWrapperLayout, dict_set, 224);

// ---- DLPack with libraries of the host
SIZE(AnyffiExchangeApiHooks, 32);
AT(AnyffiExchangeApiHooks, unwrap, 0);
AT(AnyffiExchangeApiHooks, wrap, 8);
AT(AnyffiExchangeApiHooks, set_error, 16);
AT(AnyffiExchangeApiHooks, exception_class, 24);

// ---- containers of wrappers
SIZE(AnyffiCursor, 48);
AT(AnyffiCursor, self, 0);
AT(AnyffiCursor, index, 16);
AT(AnyffiCursor, size, 24);
AT(AnyffiCursor, left, 32);
AT(AnyffiCursor, type_code, 40);
AT(AnyffiCursor, step, 44);

// ---- recipes
SIZE(AnyffiTensorRecipe, 72);
AT(AnyffiTensorRecipe, tensor, 0);
AT(AnyffiTensorRecipe, flags, 48);
AT(AnyffiTensorRecipe, handle, 56);
AT(AnyffiTensorRecipe, retain, 64);
SIZE(AnyffiFunctionRecipe, 24);
AT(AnyffiFunctionRecipe, callback, 0);
AT(AnyffiFunctionRecipe, handle, 8);
AT(AnyffiFunctionRecipe, retain, 16);
SIZE(AnyffiPyObjectRecipe, 16);
AT(AnyffiPyObjectRecipe, handle, 0);
AT(AnyffiPyObjectRecipe, retain, 8);
SIZE(AnyffiBigIntRecipe, 24);
AT(AnyffiBigIntRecipe, words, 0);
AT(AnyffiBigIntRecipe, size, 8);
AT(AnyffiBigIntRecipe, negative, 16);
SIZE(AnyffiComplexRecipe, 16);
AT(AnyffiComplexRecipe, real, 0);
AT(AnyffiComplexRecipe, imag, 8);

// ---- values of the host
SIZE(AnyffiHostValues, 192);
AT(AnyffiHostValues, struct_size, 0);
AT(AnyffiHostValues, class_offset, 4);
AT(AnyffiHostValues, count_offset, 8);
AT(AnyffiHostValues, count_size, 12);
AT(AnyffiHostValues, size_offset, 16);
AT(AnyffiHostValues, bytes_offset, 20);
AT(AnyffiHostValues, tuple_offset, 24);
AT(AnyffiHostValues, list_offset, 28);
AT(AnyffiHostValues, length_offset, 32);
AT(AnyffiHostValues, state_offset, 36);
AT(AnyffiHostValues, width_shift, 40);
AT(AnyffiHostValues, ascii_offset, 44);
AT(AnyffiHostValues, text_offset, 48);
AT(AnyffiHostValues, max_depth, 52);
AT(AnyffiHostValues, none, 56);
AT(AnyffiHostValues, true_object, 64);
AT(AnyffiHostValues, bool_class, 72);
AT(AnyffiHostValues, int_class, 80);
AT(AnyffiHostValues, float_class, 88);
AT(AnyffiHostValues, complex_class, 96);
AT(AnyffiHostValues, text_class, 104);
AT(AnyffiHostValues, bytes_class, 112);
AT(AnyffiHostValues, tuple_class, 120);
AT(AnyffiHostValues, list_class, 128);
AT(AnyffiHostValues, dict_class, 136);
AT(AnyffiHostValues, read_int, 144);
AT(AnyffiHostValues, read_float, 152);
AT(AnyffiHostValues, read_real, 160);
AT(AnyffiHostValues, read_imag, 168);
AT(AnyffiHostValues, dict_size, 176);
AT(AnyffiHostValues, dict_next, 184);

#endif
