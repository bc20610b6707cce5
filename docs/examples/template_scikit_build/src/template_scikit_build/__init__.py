"""The functions that src/template_scikit_build.cc registers."""

import importlib.resources

import anyffi

anyffi.load_module(importlib.resources.files(__name__) / "libtemplate_scikit_build.so")
anyffi.init_ffi_api("template_scikit_build", __name__)
