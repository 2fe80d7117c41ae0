"""Checks of results around vector lengths, run by tests on several instruction sets."""

import numpy as onp

from mxcy import np

LENGTHS = (1, 2, 7, 8, 15, 17, 31, 33, 63, 64, 65, 129, 257, 1003)
FLOATS = ("float16", "float32", "float64")
TYPES = (*FLOATS, "int8", "uint8", "int32", "int64")
PAIRS = "equal not_equal greater greater_equal less less_equal".split()
LOGICAL = "logical_and logical_or logical_xor".split()
KINDS = "isnan isinf isfinite isposinf isneginf signbit".split()


def _values(length, dtype, seed):
    values = onp.random.RandomState(seed).randint(-3, 4, (4, length))
    if dtype not in FLOATS:
        return abs(values).astype(dtype) if dtype == "uint8" else values.astype(dtype)
    special = onp.array([onp.nan, onp.inf, -onp.inf, -0.0], dtype)
    values = values.astype(dtype)
    values[0, :: length // 3 + 1] = special[seed % 4]
    values[1, -1] = special[(seed + 1) % 4]
    return values


def booleans():
    """Comparisons and predicates, whose results are bytes."""
    for length in LENGTHS:
        for dtype in (*TYPES, "bool"):
            values = [_values(length, dtype, seed) for seed in (length, length + 1)]
            arrays = [np.array(x, dtype=dtype) for x in values]
            for name in (*PAIRS, *LOGICAL):
                ours, theirs = getattr(np, name), getattr(onp, name)
                for place in (slice(None), (slice(None), slice(1))):
                    _same(ours(arrays[0], arrays[1][place]), theirs(values[0], values[1][place]))
                    _same(ours(arrays[0][place], arrays[1]), theirs(values[0][place], values[1]))
                _same(ours(arrays[0], 1), theirs(values[0], onp.asarray(1, dtype)))
            for name in ("logical_not", *(KINDS if dtype in FLOATS else ())):
                _same(getattr(np, name)(arrays[0]), getattr(onp, name)(values[0]))


def positions():
    """Positions of the largest and smallest element, the first of equal ones, the first NaN."""
    for length in LENGTHS:
        for dtype in TYPES:
            for seed in range(4):
                values = _values(length, dtype, seed)
                array = np.array(values, dtype=dtype)
                for name in ("argmax", "argmin"):
                    for axis in (None, 0, 1):
                        actual = getattr(np, name)(array, axis=axis)
                        onp.testing.assert_array_equal(
                            actual.asnumpy(), getattr(onp, name)(values, axis=axis)
                        )


def _same(actual, expected):
    assert actual.dtype == bool
    onp.testing.assert_array_equal(actual.asnumpy(), expected)
