"""Functions of `mx.nd` written in Python: constructors and compositions of operators."""
