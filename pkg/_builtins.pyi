# For type checkers builtins are what they always are.
__all__: list[str] = []
