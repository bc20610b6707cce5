/// \file
/// The C++ API: a contents page. C++17. Includes no standard container and no <functional>: their conversions are in
/// anyffi/stl/. Users include no header of anyffi/detail/ by name.
#ifndef ANYFFI_ANYFFI_H_
#define ANYFFI_ANYFFI_H_

// clang-format off: the order is that for reading

// Compile errors: first, so that compilers print fewer lines before the message
#include <anyffi/detail/check_callable.h>
#include <anyffi/detail/check_names.h>

// Functions
#include <anyffi/registry.h>            // ANYFFI_REGISTER_GLOBAL, ANYFFI_EXPORT, ANYFFI_REGISTER_OBJECT
#include <anyffi/function.h>            // Function
#include <anyffi/module.h>              // Module
#include <anyffi/args.h>                // Args, arg
#include <anyffi/error.h>               // Error, check_signals
#include <anyffi/locked.h>              // ReleasedGil, Locked<C>: without the host's lock

// Values of any type
#include <anyffi/any.h>                 // AnyView, AnyValue
#include <anyffi/pad.h>                 // AnyPad<N>
#include <anyffi/optional.h>            // Optional<T>
#include <anyffi/variant.h>             // Variant<Ts...>

// Values
#include <anyffi/string.h>              // String, Bytes
#include <anyffi/big_int.h>             // BigInt
#include <anyffi/slice.h>               // Slice, Ellipsis
#include <anyffi/data_type.h>           // DataType, Device
#include <anyffi/tensor.h>              // Tensor, TensorView
#include <anyffi/typed_tensor.h>        // TypedTensor, TypedView: with a type, a rank, an order
#include <anyffi/tensor_span.h>         // TensorSpan: their elements
#include <anyffi/traits.h>              // numbers, bool, characters, None, void*
#include <anyffi/traits_via.h>             // TraitsVia: types of users

// Containers
#include <anyffi/container/sequence.h>  // Array, List
#include <anyffi/container/iterable.h>  // Iterable
#include <anyffi/container/mapping.h>   // Map, Dict
#include <anyffi/container/set.h>       // FrozenSet, Set
#include <anyffi/container/shape.h>     // Shape
#include <anyffi/container/tuple.h>     // Tuple<Ts...>
#include <anyffi/native.h>              // Native<T>: results that become Python's own

// Objects
#include <anyffi/object.h>              // ObjectRef, Ref<T>, make_object
#include <anyffi/pointer.h>             // T*, T&: who owns what a result refers to
#include <anyffi/not_null.h>            // NotNull<P>: pointers that are never null
#include <anyffi/weak.h>                // Weak<T>
#include <anyffi/box.h>                 // Int, Float, Bool
#include <anyffi/reflection.h>          // field, fields
#include <anyffi/class.h>               // ANYFFI_CLASS
#include <anyffi/record.h>              // ANYFFI_RECORD: structs for dataclasses of Python
#include <anyffi/overridable.h>         // Overridable<T>: virtual functions that Python overrides
#include <anyffi/enum.h>                // ANYFFI_ENUM
#include <anyffi/exception_class.h>     // ANYFFI_EXCEPTION
#include <anyffi/ops.h>                 // operators of classes
#include <anyffi/structure.h>           // structural_equal, to_json: values with all that they consist of

// The C ABI
#include <anyffi/c_api.h>               // structs and functions
#include <anyffi/inline.h>              // inline helpers
#include <anyffi/exception.h>           // C++ exceptions as errors

// clang-format on

#endif  // ANYFFI_ANYFFI_H_
