"""The functions of src/template_plain.cc, as functions of this package."""

import pathlib

import anyffi

_library = anyffi.load_module(pathlib.Path(__file__).with_name("libtemplate_plain.so"))

count = _library.count
