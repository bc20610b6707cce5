"""The functions registered in C++ under `_npi.`, as a Python module."""

import anyffi

anyffi.load_module("./libzeros.so")
anyffi.init_ffi_api("_npi", __name__)
