"""Derivatives of derivatives of layers, against finite differences."""

import numpy as np
import pytest

from mxcy import autograd, nd


def _slope_of_slopes(function, values):
    """A weighted sum of a function's gradients, and the arrays with their gradients by it."""
    arrays = [nd.array(value, dtype="float64") for value in values]
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        out = function(*arrays)
        weights = nd.array(np.cos(np.arange(out.size)).reshape(out.shape), dtype="float64")
        slopes = autograd.grad((out * out * weights).sum(), arrays, create_graph=True)
        total = sum(
            (s * nd.array(np.sin(1 + np.arange(s.size)).reshape(s.shape), dtype="float64")).sum()
            for s in slopes
        )
    total.backward()
    return total.asscalar(), [array.grad.asnumpy() for array in arrays]


@pytest.mark.parametrize(("shape", "axis"), [((3, 4), -1), ((2, 3, 2), 1)])
def test_layer_norm_twice(shape, axis):
    def function(*arrays):
        return nd.LayerNorm(*arrays, axis=axis, eps=1e-3)

    random, extent = np.random.RandomState(4), shape[axis]
    values = [random.rand(*shape), random.rand(extent) + 0.5, random.rand(extent)]
    _, slopes = _slope_of_slopes(function, values)
    for i, value in enumerate(values):
        for place in np.ndindex(value.shape):
            ends = []
            for step in (1e-5, -1e-5):
                moved = [v.copy() for v in values]
                moved[i][place] += step
                ends.append(_slope_of_slopes(function, moved)[0])
            np.testing.assert_allclose(
                slopes[i][place], (ends[0] - ends[1]) / 2e-5, rtol=1e-4, atol=1e-4
            )
