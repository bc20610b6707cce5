"""The classes of hnsw.h; type checkers use a stub: `python -m anyffi stubgen hnsw -o hnsw.pyi`."""

import anyffi

_library = anyffi.load_module("./libneighbours.so")

Corrupt = _library.Corrupt
Error = _library.Error
Full = _library.Full
Index = _library.Index
Match = _library.Match
Metric = _library.Metric
