"""Optimizer states: dtypes, and their order under multi_precision.

State files contain them, and programs rely on MXNet 1.9.1's structure.
"""

from contextlib import nullcontext as nothing

import numpy as np
import pytest

import mxcy as mx


def kinds(state):
    """The dtypes in a state, nested as it is."""
    if isinstance(state, tuple):
        return tuple(kinds(part) for part in state)
    return None if state is None else np.dtype(state.dtype).name


@pytest.mark.parametrize("name", ["sgd", "nag", "lars"])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_the_float32_weight_comes_last(name, momentum):
    optimizer = mx.optimizer.create(name, multi_precision=True, momentum=momentum)
    weight = mx.nd.ones((2, 3), dtype="float16") * 0.5
    state = optimizer.create_state_multi_precision(0, weight)
    assert kinds(state) == ("float32" if momentum else None, "float32")
    assert state[1].asnumpy().tolist() == [[0.5] * 3] * 2
    optimizer.update_multi_precision(0, weight, mx.nd.ones((2, 3), dtype="float16"), state)
    assert (state[1].asnumpy() < 0.5).all()
    np.testing.assert_allclose(weight.asnumpy(), state[1].asnumpy(), rtol=1e-3)


@pytest.mark.parametrize("name", ["adam", "adagrad", "lamb", "lans", "ftml"])
def test_the_float32_weight_comes_first(name):
    optimizer = mx.optimizer.create(name, multi_precision=True)
    weight = mx.nd.ones((2, 3), dtype="float16") * 0.5
    master, state = optimizer.create_state_multi_precision(0, weight)
    assert kinds(master) == "float32" and master.asnumpy().tolist() == [[0.5] * 3] * 2
    optimizer.update_multi_precision(
        0, weight, mx.nd.ones((2, 3), dtype="float16"), (master, state)
    )
    assert (master.asnumpy() != 0.5).all()


@pytest.mark.parametrize("name", ["lamb", "lans"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_layerwise_moments_have_the_dtype_of_the_weight(name, dtype):
    optimizer = mx.optimizer.create(name, learning_rate=0.1)
    weight, grad = mx.nd.ones((2, 3), dtype=dtype), mx.nd.ones((2, 3), dtype=dtype) * 0.5
    with pytest.warns(UserWarning, match="float16") if dtype == "float16" else nothing():
        state = optimizer.create_state_multi_precision(0, weight)
    assert kinds(state) == (dtype, dtype)
    optimizer.update_multi_precision(0, weight, grad, state)
    np.testing.assert_allclose(weight.asnumpy(), np.full((2, 3), 0.9), rtol=2e-3)
    np.testing.assert_allclose(state[0].asnumpy(), np.full((2, 3), 0.05), rtol=0.2)
