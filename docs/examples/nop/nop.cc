/// \file
/// A function that accepts anything and does nothing: it costs the call itself.

#include <anyffi/anyffi.h>

ANYFFI_REGISTER_GLOBAL("demo.nop").def_packed([](anyffi::Args, anyffi::AnyValue*) {}).doc("Take anything, do nothing.");
