/// \file
/// `testing.describe`.
#ifndef ANYFFI_TESTING_DESCRIBE_H_
#define ANYFFI_TESTING_DESCRIBE_H_

#include <anyffi/anyffi.h>

namespace anyffi_testing {

/// One line per argument.
anyffi::String describe_all(anyffi::Args args);

}  // namespace anyffi_testing

#endif  // ANYFFI_TESTING_DESCRIBE_H_
