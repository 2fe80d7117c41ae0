"""Calls of the reductions: axes in all spellings, NaN, ties, element types."""

import numpy as np

from .case import Case, array, draw

_X = draw(2, 3, 4, low=0.3, high=1.7)
_AXES = {
    "all": {},
    "one": {"axis": 1},
    "negative": {"axis": -1},
    "two": {"axis": (0, 2)},
    "unsorted": {"axis": (2, 0)},
    "kept": {"axis": (0, -1), "keepdims": True},
    "excluded": {"axis": 1, "exclude": True},
    "two_excluded": {"axis": (1, -1), "exclude": True},
    "every": {"axis": (0, 1, 2)},
    "empty": {"axis": ()},
    "all_kept": {"keepdims": True},
}
_NAN, _INF = np.nan, np.inf
_ODD = np.array([[_NAN, 1, 2], [1, _NAN, 3], [_NAN, _NAN, _NAN], [_INF, 1, -_INF]], "float32")
_TIES = np.array([[1, 3, 3], [2, 2, 2], [-_INF, -_INF, -_INF]], "float32")
_NAMES = ("sum", "mean", "prod", "max", "min", "nansum", "nanprod")


def values():
    for op in _NAMES:
        for name, attrs in _AXES.items():
            yield f"{op} {name}", Case(op, _X, wrt=(0,), **attrs)
        for axis in (0, 1):
            yield f"{op} odd {axis}", Case(op, _ODD, axis=axis)
        for dtype in ("int32", "int64", "int8", "uint8", "float64"):
            whole = np.arange(-5, 7).reshape(3, 4).astype(dtype)
            if op != "nanprod" and (op, dtype) != ("mean", "uint8"):  # there MXNet overflows
                yield f"{op} {dtype}", Case(op, whole, axis=0)
        yield f"{op} half", Case(op, _X.astype("float16"), axis=1)
    for op in ("max", "min"):
        yield f"{op} ties", Case(op, _TIES, wrt=(0,), axis=1)
    for alias in ("sum_axis", "max_axis", "min_axis"):
        yield alias, Case(alias, _X, axis=2)


def norms():
    for ord in (1, 2):
        for name in ("all", "one", "negative", "two", "kept"):
            attrs = {k: v for k, v in _AXES[name].items() if k != "exclude"}
            attrs = {k: (0, 2) if v == (0, -1) else v for k, v in attrs.items()}
            yield f"{ord} {name}", Case("norm", _X - 1, wrt=(0,), ord=ord, **attrs)
    yield "large", Case("norm", array(1e30, 1e30))
    yield "small", Case("norm", array(1e-30, 1e-30))


def positions():
    for op in ("argmax", "argmin"):
        for name in ("all", "one", "negative"):
            yield f"{op} {name}", Case(op, _X, **_AXES[name])
        yield f"{op} kept", Case(op, _X, axis=1, keepdims=True)
        yield f"{op} odd", Case(op, _ODD, axis=1)
        yield f"{op} odd columns", Case(op, _ODD, axis=0)
        yield f"{op} ties", Case(op, _TIES, axis=1)
        for dtype in ("int32", "float64", "float16"):
            yield f"{op} {dtype}", Case(op, (10 * _X).astype(dtype), axis=2)
    yield "channel", Case("argmax_channel", _X)


def others():
    yield "moments", Case("moments", _X, wrt=(0,), axes=(0, 2))
    yield "add_n", Case("add_n", _X, _X + 1, 2 * _X, wrt=(0, 1, 2))


FAMILY = (values, norms, positions, others)
