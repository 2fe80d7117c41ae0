"""NumPy semantics: thread-local switches, and decorators that add NumPy's parameters."""
