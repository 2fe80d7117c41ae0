"""NumPy semantics: what threads switch on, and decorators for functions with its parameters."""
