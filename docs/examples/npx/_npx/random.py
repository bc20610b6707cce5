"""Random numbers, one stream for the process."""

import anyffi

anyffi.init_ffi_api("npx.random", __name__)
