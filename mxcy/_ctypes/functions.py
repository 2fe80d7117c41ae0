"""Operators' functions: those in Python, as they are."""

__all__ = ["function", "numpy_function"]


def function(plain, handle, inputs, fields):
    """What calls an operator; see `_cy/functions.pyx`."""
    return plain


def numpy_function(
    plain,
    handle,
    names,
    places,
    defaults,
    absent,
    number=None,
    number_first=None,
    joins=0,
    simple=False,
):
    """What calls an operator as a function of `mx.np`; see `_cy/functions.pyx`."""
    return plain
