"""Second derivatives of layers, compared with finite differences."""

import numpy as np
import pytest

from mxcy import autograd, nd
from mxcy.base import MXNetError


def _slope_of_slopes(function, values):
    """A weighted sum of a function's gradients, and the arrays with its gradients."""
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


def _assert_slopes(function, values):
    """Check the gradients of a function's gradients against finite differences."""
    _, slopes = _slope_of_slopes(function, values)
    for i, value in enumerate(values):
        for place in np.ndindex(value.shape):
            ends = []
            for step in (1e-5, -1e-5):
                moved = [v.copy() for v in values]
                moved[i][place] += step
                ends.append(_slope_of_slopes(function, moved)[0])
            want = (ends[0] - ends[1]) / 2e-5
            assert abs(slopes[i][place] - want) <= 1e-5 * max(1, abs(want)), (i, place)


def _drawn(*shapes):
    random = np.random.RandomState(4)
    return [random.rand(*shape) + 0.5 * (i == 1) for i, shape in enumerate(shapes)]


@pytest.mark.parametrize(("shape", "axis"), [((3, 4), -1), ((2, 3, 2), 1)])
def test_layer_norm_twice(shape, axis):
    extent = (shape[axis],)
    _assert_slopes(
        lambda *arrays: nd.LayerNorm(*arrays, axis=axis, eps=1e-3), _drawn(shape, extent, extent)
    )


@pytest.mark.parametrize("gammas", [2, 4])
def test_group_norm_twice(gammas):
    _assert_slopes(
        lambda *arrays: nd.GroupNorm(*arrays, num_groups=2, eps=1e-3),
        _drawn((2, 4, 3), (gammas,), (gammas,)),
    )


def test_instance_norm_twice():
    _assert_slopes(
        lambda *arrays: nd.InstanceNorm(*arrays, eps=1e-3), _drawn((2, 3, 4), (3,), (3,))
    )


@pytest.mark.parametrize("attrs", [{}, {"fix_gamma": False}, {"use_global_stats": True}])
def test_batch_norm_twice(attrs):
    def function(*arrays):
        states = nd.array([0.1, 0.2], dtype="float64"), nd.array([0.9, 1.1], dtype="float64")
        return nd.BatchNorm(*arrays, *states, eps=1e-3, **attrs)

    values = _drawn((4, 2, 3), (2,), (2,))
    if attrs.get("fix_gamma", True):
        values[1] = np.ones(2)  # the forward pass overwrites it
    _assert_slopes(function, values)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_batch_norm_of_narrow_data_twice(dtype):
    data = nd.array(np.random.RandomState(1).rand(4, 3), dtype=dtype)
    others = [nd.ones(3), nd.zeros(3), nd.zeros(3), nd.ones(3)]
    data.attach_grad()
    with autograd.record():
        out = nd.BatchNorm(data, *others, fix_gamma=False)
        slope = autograd.grad((out * out * out).sum(), data, create_graph=True)[0]
        total = (slope * slope).sum()
    total.backward()
    assert data.grad.dtype == np.dtype(dtype) and np.abs(data.grad.asnumpy()).max() > 0.1


@pytest.mark.parametrize("kind", ["avg", "sum"])
def test_pooling_passes_second_derivatives(kind):
    _assert_slopes(
        lambda x: nd.Pooling(x * x * x, kernel=(2, 2), stride=(1, 1), pool_type=kind),
        _drawn((1, 2, 3, 3)),
    )


@pytest.mark.parametrize(
    ("name", "function", "shape"),
    [
        ("_pooling_grad", lambda x: nd.Pooling(x, kernel=(2,), pool_type="max"), (1, 1, 4)),
        ("CTCLoss", lambda x: nd.CTCLoss(x, nd.ones((2, 1))), (4, 2, 3)),
        (
            "_rnn_grad",
            lambda x: nd.RNN(
                x,
                nd.ones(9) * 0.3,
                nd.zeros((1, 2, 1)),
                mode="rnn_tanh",
                state_size=1,
                num_layers=1,
            ),
            (3, 2, 6),
        ),
    ],
)
def test_missing_second_derivatives_raise(name, function, shape):
    data = nd.array(np.random.RandomState(2).rand(*shape))
    data.attach_grad()
    with autograd.record():
        out = function(data)
        slope = autograd.grad((out * out).sum(), data, create_graph=True)[0]
        total = (slope * slope).sum()
    with pytest.raises(MXNetError, match=f"{name}.* no gradient"):
        total.backward()


def test_derivatives_of_gammaln():
    """Orders 1 to 4: at 1, where they are known constants, and below zero, by reflection."""
    places = nd.array([1.0, -0.5], dtype="float64")
    places.attach_grad()
    collected = []
    with autograd.record():
        current = nd.gammaln(places)
        for _ in range(4):
            current = autograd.grad(current.sum(), places, create_graph=True)[0]
            collected.append(current.asnumpy())
    zeta3 = 1.2020569031595942
    below = [0.03648997397857652, 8.934802200544679, -0.8287966442343205, 193.40909103400242]
    at_one = [-0.5772156649015329, np.pi**2 / 6, -2 * zeta3, np.pi**4 / 15]
    np.testing.assert_allclose(np.array(collected), np.array([at_one, below]).T, 1e-12)


def test_losses_that_ignore_head_gradients():
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        loss = nd.make_loss(x * x * x)
        (gradient,) = autograd.grad(loss, x, create_graph=True)
    gradient.backward()
    assert x.grad.asnumpy().tolist() == [6, 12]
