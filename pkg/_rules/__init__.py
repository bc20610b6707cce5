"""The semantics of values, containers, keywords and errors, defined in one place for all backends."""
