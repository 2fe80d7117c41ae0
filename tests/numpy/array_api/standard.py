"""The element types of the standard, and its functions by name."""

import mxcy as mx

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = (*INTEGERS, *FLOATS)
ALL = ("bool", *REAL)


def named(name):
    value = mx.np
    for part in name.split("."):
        value = getattr(value, part)
    return value
