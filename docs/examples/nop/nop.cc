/// \file
/// A function that accepts anything and does nothing, to measure the cost of a call.

#include <anyffi/anyffi.h>

ANYFFI_REGISTER_GLOBAL("demo.nop").def_packed([](anyffi::Args, anyffi::AnyValue*) {}).doc("Take anything, do nothing.");
