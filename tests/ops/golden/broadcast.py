"""Calls of the elementwise operators of two arrays, and of an array and a number."""

import numpy as np

from .case import Case, array, draw

_WORDS = """
    add sub mul div mod power maximum minimum hypot equal not_equal greater greater_equal lesser
    lesser_equal logical_and logical_or logical_xor
"""
_NAN, _INF = np.nan, np.inf
_LEFT = array(_NAN, 1, _NAN, 0.0, -0.0, 2, -3, 5, 5, -5, _INF, -_INF, 1e30, 0.5, 2, -2)
_RIGHT = array(1, _NAN, _NAN, -0.0, 0.0, 3, 2, -3, 3, 3, 2, 2, 1e30, 0.5, 0.0, -1)
_HALVES = np.where(_LEFT == 1e30, 1e4, _LEFT).astype("float16")
_WHOLE, _DIVISORS = np.array([5, -5, 5, -5, 0, 7, 2]), np.array([3, 3, -3, -3, 2, 1, 2])


def two_arrays():
    for word in _WORDS.split():
        op = f"broadcast_{word}"
        yield f"{word} odd", Case(op, _LEFT, _RIGHT)
        x, y = draw(3, 1, 4, low=0.5, high=2), draw(2, 1, low=0.5, high=2, seed=1)
        yield f"{word} spread", Case(op, x, y, wrt=(0, 1))
        for dtype in ("int32", "int8"):
            yield f"{word} {dtype}", Case(op, _WHOLE.astype(dtype), _DIVISORS.astype(dtype))
    for op in ("elemwise_add", "elemwise_sub", "elemwise_mul", "elemwise_div"):
        yield op, Case(op, draw(3, 4), draw(3, 4, low=0.5, seed=1), wrt=(0, 1))
    for name in ("_mod", "_power", "_maximum", "_minimum", "_hypot"):
        x, y = draw(3, 4, low=0.5, high=2), draw(3, 4, low=0.5, high=2, seed=1)
        yield name, Case(f"_internal.{name}", x, y, wrt=(0, 1))


_SCALARS = """
    _plus _minus _rminus _mul _div _rdiv _mod _rmod _power _rpower _maximum _minimum _hypot _equal
    _not_equal _greater _greater_equal _lesser _lesser_equal _logical_and _logical_or _logical_xor
"""


def numbers():
    for stem in _SCALARS.split():
        op, positive = f"_internal.{stem}_scalar", draw(5, low=0.5, high=3)
        for number in (2, -3, 1.5, 0.0):
            yield f"{stem} {number}", Case(op, _LEFT, scalar=number)
        for number in (2, 1.5):
            yield f"{stem} {number} gradient", Case(op, positive, wrt=(0,), scalar=number)
        yield f"{stem} half", Case(op, _HALVES, scalar=1.1)
        whole = _WHOLE[_WHOLE != 0]
        for dtype in ("int32", "bool"):  # integers cut the number
            yield f"{stem} {dtype}", Case(op, whole.astype(dtype), scalar=2.5)
        yield f"{stem} fraction", Case(op, whole.astype("int32"), scalar=2.5, is_int=False)


FAMILY = (two_arrays, numbers)
