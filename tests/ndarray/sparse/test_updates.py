"""Optimizers with row_sparse gradients: lazy, standard, and on dense copies."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import nd
from mxcy.base import MXNetError

sparse = nd.sparse
ROW = [0.5, -0.25]

#: optimizer, arguments, what its states are filled with -> rows 0 and 1 of the new weight
ANSWERS = [
    ("sgd", {"wd": 0.1}, None, [1, 1], [0.94, 1.015]),
    ("sgd", {"wd": 0.1, "lazy_update": False}, None, [0.99, 0.99], [0.94, 1.015]),
    ("sgd", {"wd": 0.1, "momentum": 0.9}, 0.1, [1, 1], [1.03, 1.105]),
    ("sgd", {"wd": 0.1, "momentum": 0.9, "lazy_update": False}, 0.1, [1.08] * 2, [1.03, 1.105]),
    ("nag", {"wd": 0.1}, None, [1, 1], [0.94, 1.015]),
    ("adagrad", {}, 0.1, [1, 1], [0.915485, 1.062017]),
    ("groupadagrad", {}, 0, [1, 1], [0.873513, 1.063244]),
]


def gradient(shape=(3, 2)):
    return sparse.row_sparse_array(([ROW], [1]), shape=shape)


def states_of(state):
    return [s for s in (state if isinstance(state, tuple) else [state]) if s is not None]


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
@pytest.mark.parametrize("name, arguments, filled, untouched, touched", ANSWERS)
def test_numbers_of_mxnet(name, arguments, filled, untouched, touched, stype):
    weight = nd.ones((3, 2)).tostype(stype)
    optimizer = mx.optimizer.create(name, learning_rate=0.1, **arguments)
    state = optimizer.create_state(0, weight)
    for array in states_of(state):
        nd.full(array.shape, filled).copyto(array)
    optimizer.update(0, weight, gradient(), state)
    assert weight.stype == stype
    np.testing.assert_allclose(weight.asnumpy(), [untouched, touched, untouched], rtol=1e-5)


@pytest.mark.parametrize("lazy, untouched", [(True, 1), (False, 0.96836)])
def test_adam(lazy, untouched):
    weight, mean = nd.ones((3, 2)), nd.full((3, 2), 0.1)
    var = mean.copy()
    nd.adam_update(weight, gradient(), mean, var, out=weight, lr=0.1, wd=0.1, lazy_update=lazy)
    np.testing.assert_allclose(weight.asnumpy()[1], [0.95263, 0.97627], rtol=1e-5)
    np.testing.assert_allclose(weight.asnumpy()[0], untouched, rtol=1e-5)


def test_ftrl_on_row_sparse_weights():
    weight, z = (nd.ones((3, 2)).tostype("row_sparse") for _ in range(2))
    z *= 0.1
    n = z.copy()
    nd.ftrl_update(weight, gradient(), z, n, out=weight, lr=0.1, wd=0.1)
    np.testing.assert_allclose(weight.asnumpy(), [[1, 1], [0.13385, 0.07139], [1, 1]], rtol=1e-4)


@pytest.mark.parametrize("name", ["sgd", "adam", "adagrad", "rmsprop", "adadelta", "lamb"])
def test_steps_equal_those_of_touched_rows(name):
    """Fifty random steps update rows as if only they existed, or as if all were dense."""
    rng = np.random.default_rng(1)
    arguments = {"momentum": 0.9, "lazy_update": False} if name == "sgd" else {}
    arguments = {"lazy_update": False} if name == "adam" else arguments
    start = rng.uniform(-1, 1, (6, 4)).astype("float32")
    weights, states = [nd.array(start), nd.array(start)], []
    optimizers = [mx.optimizer.create(name, learning_rate=0.05, **arguments) for _ in range(2)]
    for optimizer, weight in zip(optimizers, weights, strict=True):
        states.append(optimizer.create_state(0, weight))
    for _ in range(50):
        rows = np.sort(rng.choice(6, 3, replace=False))
        by_rows = sparse.row_sparse_array(
            (rng.uniform(-1, 1, (3, 4)).astype("float32"), rows), shape=(6, 4)
        )
        for i, g in enumerate((by_rows, by_rows.tostype("default"))):
            optimizers[i].update(0, weights[i], g, states[i])
    np.testing.assert_allclose(weights[0].asnumpy(), weights[1].asnumpy(), rtol=1e-4, atol=1e-5)


def test_lazy_updates_leave_states_of_other_rows():
    weight = nd.ones((3, 2))
    optimizer = mx.optimizer.create("sgd", learning_rate=0.1, momentum=0.9)
    state = optimizer.create_state(0, weight)
    state[:] = 0.1
    optimizer.update(0, weight, gradient(), state)
    assert np.allclose(state.asnumpy()[[0, 2]], 0.1) and not np.allclose(state.asnumpy()[1], 0.1)


def test_states_have_the_storage_type_of_lazy_weights():
    weight = nd.ones((3, 2)).tostype("row_sparse")
    kinds = [("sgd", {"momentum": 0.9}), ("adam", {}), ("ftrl", {}), ("adagrad", {})]
    for name, arguments in [*kinds, ("rmsprop", {})]:
        state = mx.optimizer.create(name, **arguments).create_state(0, weight)
        assert {array.stype for array in states_of(state)} == {"row_sparse"}, name
    eager = mx.optimizer.create("adam", lazy_update=False).create_state(0, weight)
    assert {array.stype for array in eager} == {"default"}


def test_row_sparse_weights_have_all_rows():
    weight = sparse.row_sparse_array(([[1.0, 1]], [1]), shape=(3, 2))
    with pytest.raises(MXNetError, match="sgd_update: weight: all rows"):
        nd.sgd_update(weight, gradient(), out=weight, lr=0.1)
