"""Calls of functions that move elements: values, types and gradients against NumPy's."""

import numpy as onp

import mxcy as mx
from mxcy import autograd

np = mx.np


def arrays_of(actual):
    return list(actual) if isinstance(actual, (list, tuple)) else [actual]


def check(call, *shapes, dtype="float32", grad=True):
    """A call on arrays x, y, z against NumPy's, and its gradient against finite sums.

    The functions only move elements, so the gradient of a weighted sum is the sum of the weights
    of an element's copies: the derivative of NumPy's function, which is linear.
    """
    names = "xyz"[: len(shapes)]
    rng = onp.random.RandomState(3)
    sources = [rng.permutation(int(onp.prod(s)) + 1)[1:].reshape(s).astype(dtype) for s in shapes]
    expected = arrays_of(eval(f"np.{call}", {"np": onp, **dict(zip(names, sources, strict=True))}))
    arrays = [np.array(source, dtype=dtype) for source in sources]
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        actual = eval(f"np.{call}", {"np": np, **dict(zip(names, arrays, strict=True))})
        actual = arrays_of(actual)
        assert len(actual) == len(expected)
        weights = [rng.randint(1, 9, result.shape).astype(dtype) for result in expected]
        loss = sum((r * np.array(w)).sum() for r, w in zip(actual, weights, strict=True))
    for result, values in zip(actual, expected, strict=True):
        assert type(result) is np.ndarray and result.shape == values.shape
        assert result.dtype == dtype
        onp.testing.assert_array_equal(result.asnumpy(), values)
    if not grad:
        return
    loss.backward()
    for i, (array, source) in enumerate(zip(arrays, sources, strict=True)):
        slopes = onp.zeros(source.size)
        for j in range(source.size):
            unit = onp.zeros(source.size, dtype)
            unit[j] = 1
            inputs = [onp.zeros_like(s) for s in sources]
            inputs[i] = unit.reshape(source.shape)
            scope = {"np": onp, **dict(zip(names, inputs, strict=True))}
            parts = arrays_of(eval(f"np.{call}", scope))
            slopes[j] = sum((p * w).sum() for p, w in zip(parts, weights, strict=True))
        onp.testing.assert_allclose(array.grad.asnumpy().ravel(), slopes, rtol=1e-5)
