"""The functions that src/template_plain.cc exports; the build writes their types to `_core.pyi`."""

import pathlib

import anyffi

_library = anyffi.load_module(pathlib.Path(__file__).with_name("libtemplate_plain.so"))

count = _library.count
