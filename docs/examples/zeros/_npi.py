"""The functions that C++ registers under `_npi.`, as those of a Python module."""

import anyffi

anyffi.load_module("./libzeros.so")
anyffi.init_ffi_api("_npi", __name__)
