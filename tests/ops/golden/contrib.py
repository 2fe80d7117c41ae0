"""Calls of operators that belong to no family."""

import numpy as np

from .case import Case, array, draw


def hawkes():
    rates = draw(2, 3, low=0.5, high=1.5), draw(3, low=0.2, high=0.6), draw(3, low=0.5, high=2)
    state, lags = draw(2, 3, low=0, high=1, seed=1), draw(2, 4, low=0.1, high=1, seed=2)
    marks = np.array([[0, 1, 0, 2], [2, 2, 1, 0]], "int32")
    for name, lengths in (("whole", (4, 4)), ("short", (2, 3)), ("empty", (0, 4))):
        inputs = (*rates, state, lags, marks, array(*lengths), array(5.0, 6.0))
        yield name, Case("contrib.hawkesll", *inputs, wrt=(0, 1, 2, 3), outputs=1, tol=10)


def of_arrays():
    rows = np.array([2, 0, 1])
    yield (
        "fill_element_0index",
        Case("fill_element_0index", draw(3, 4), draw(3), rows.astype("float32")),
    )
    yield ("onehot_encode", Case("_internal._onehot_encode", rows.astype("float32"), draw(3, 4)))
    yield (
        "choose_element_0index",
        Case("choose_element_0index", draw(3, 4), rows.astype("float32"), wrt=(0,)),
    )


def reshaped():
    for shape in ((6, 4), (-1, 8), (0, -1)):
        wanted = np.array(shape, "int64")
        yield f"{shape}", Case("contrib.dynamic_reshape", draw(4, 6), wanted, version=2)


FAMILY = (hawkes, of_arrays, reshaped)
