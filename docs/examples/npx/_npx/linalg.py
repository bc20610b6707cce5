"""Linear algebra: functions of matrices, and of stacks of them."""

import anyffi

anyffi.init_ffi_api("npx.linalg", __name__)
