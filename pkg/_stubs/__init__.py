"""Stubs (.pyi) for functions and classes of the runtime: `python -m anyffi stubgen`."""
