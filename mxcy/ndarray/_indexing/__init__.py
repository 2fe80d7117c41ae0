"""Index keys, and what `a[key]` reads and writes."""
