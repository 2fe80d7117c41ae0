"""Operators that graph passes make: layers with what follows them, in blocked layouts."""
