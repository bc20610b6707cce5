"""The public functions, as methods of an API over one backend."""
