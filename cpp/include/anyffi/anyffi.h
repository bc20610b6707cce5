/// \file
/// The C++ API, all of it: a contents page. C++17; no standard container and no <functional> is included here,
/// their conversions are in anyffi/stl/.
#ifndef ANYFFI_ANYFFI_H_
#define ANYFFI_ANYFFI_H_

#include <anyffi/any.h>                 // AnyView, AnyValue: untyped work
#include <anyffi/args.h>                // Args, arg
#include <anyffi/base.h>                // FixedText, the shape of Traits
#include <anyffi/big_int.h>             // BigInt
#include <anyffi/box.h>                 // Int, Float, Bool
#include <anyffi/c_api.h>               // the C ABI
#include <anyffi/check_callable.h>      // what does not compile, in words
#include <anyffi/check_names.h>         // lists of arg(...) that do not compile
#include <anyffi/container/mapping.h>   // Map, Dict
#include <anyffi/container/sequence.h>  // Array, List
#include <anyffi/container/set.h>       // FrozenSet, Set
#include <anyffi/container/shape.h>     // Shape
#include <anyffi/container/tuple.h>     // Tuple<Ts...>
#include <anyffi/data_type.h>           // DataType, Device
#include <anyffi/error.h>               // Error, check_signals
#include <anyffi/function.h>            // Function
#include <anyffi/inline.h>              // what is too short to call
#include <anyffi/layout.h>              // how objects are laid out
#include <anyffi/locked.h>              // Locked<C>: containers without the host's lock
#include <anyffi/native.h>              // how C++ is called
#include <anyffi/object.h>              // ObjectRef, Ref<T>, make_object
#include <anyffi/optional.h>            // Optional<T>
#include <anyffi/pad.h>                 // AnyPad<N>
#include <anyffi/reflection.h>          // field, fields
#include <anyffi/registry.h>            // ANYFFI_REGISTER_GLOBAL, ANYFFI_EXPORT
#include <anyffi/signature.h>           // what a callable takes
#include <anyffi/slice.h>               // Slice, Ellipsis
#include <anyffi/string.h>              // String, Bytes
#include <anyffi/tensor.h>              // Tensor, TensorView
#include <anyffi/through.h>             // TraitsThrough: structs of users
#include <anyffi/traits.h>              // numbers, bool, None, const char*, void*
#include <anyffi/variant.h>             // Variant<Ts...>
#include <anyffi/weak.h>                // Weak<T>

#endif  // ANYFFI_ANYFFI_H_
