"""Array files: MXNet's binary formats, NumPy's, and pickles of arrays and plain data."""
