"""The map of shapes: every way to pass, return and hold a value, each compared with the best alternative.

Shapes are generated from tables: `values` (Python values), `types` (C++ types), `calls` (ways of calling),
`methods` (methods of containers) and `tensors`. `laws` limits how much each may cost, `sources` writes the
compared C++ functions, `run` measures and reports.
"""
