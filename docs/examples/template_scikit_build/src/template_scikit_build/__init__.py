"""What src/template_scikit_build.cc registers, as functions of this package."""

import importlib.resources

import anyffi

anyffi.load_module(importlib.resources.files(__name__) / "libtemplate_scikit_build.so")
anyffi.init_ffi_api("template_scikit_build", __name__)
