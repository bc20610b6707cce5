"""The functions that src/template_scikit_build.cc registers; the build writes their types to `_core.pyi`."""

import importlib.resources

import anyffi

anyffi.load_module(str(importlib.resources.files("template_scikit_build") / "libtemplate_scikit_build.so"))
anyffi.init_ffi_api("template_scikit_build", __name__)
