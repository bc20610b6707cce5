"""The functions that src/template_meson.cc registers; the build writes their types to `_core.pyi`."""

import importlib.resources

import anyffi

anyffi.load_module(str(importlib.resources.files("template_meson") / "libtemplate_meson.so"))
anyffi.init_ffi_api("template_meson", __name__)
