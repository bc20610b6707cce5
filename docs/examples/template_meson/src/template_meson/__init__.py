"""The functions that src/template_meson.cc registers."""

import importlib.resources

import anyffi

anyffi.load_module(importlib.resources.files(__name__) / "libtemplate_meson.so")
anyffi.init_ffi_api("template_meson", __name__)
