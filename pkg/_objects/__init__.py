"""The public classes: methods in Python over the classes of a backend."""
