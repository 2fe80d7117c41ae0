"""Gradients of functions of `mx.np` against finite differences."""

import numpy as onp

import mxcy as mx
from mxcy import autograd

np = mx.np


def check_gradient(function, *values):
    """The gradients of a function of float64 arrays against differences, with uneven weights."""

    def loss(arrays):
        actual = function(*arrays)
        weights = onp.cos(onp.arange(actual.size)).reshape(actual.shape)
        return (actual * np.array(weights, "float64")).sum()

    arrays = [np.array(value, "float64") for value in values]
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        total = loss(arrays)
    total.backward()
    for i, value in enumerate(values):
        slopes = onp.zeros(value.shape)
        for place in onp.ndindex(value.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [onp.array(v, "float64") for v in values]
                moved[i][place] += step
                ends.append(loss([np.array(v, "float64") for v in moved]).item())
            slopes[place] = (ends[0] - ends[1]) / 2e-6
        onp.testing.assert_allclose(arrays[i].grad.asnumpy(), slopes, rtol=1e-5, atol=1e-6)
