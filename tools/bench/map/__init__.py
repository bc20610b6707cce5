"""The map of shapes: every way to pass, return and hold a value, each beside the best way to do it by hand.

Shapes are generated from tables: `values` (Python values), `types` (C++ types), `calls` (ways of calling),
`methods` (methods of containers) and `tensors`. `laws` says how much each may cost, `sources` writes the
compared C++ functions, `run` measures and reports.
"""
