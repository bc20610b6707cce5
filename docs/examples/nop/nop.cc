/// \file
/// A function that takes anything and does nothing: all that a call of it costs is the border.

#include <anyffi/anyffi.h>

ANYFFI_REGISTER_GLOBAL("demo.nop").def_packed([](anyffi::Args, anyffi::AnyValue*) {}).doc("Take anything, do nothing.");
