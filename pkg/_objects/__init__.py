"""The public classes: what they add in Python to the classes of a backend."""
