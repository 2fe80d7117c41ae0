"""Functions of `mx.nd` in Python: constructors, and what is more than one operator."""
