"""Kronecker and cross products, polynomials, differences, interpolation, against NumPy's."""

import numpy as onp
import pytest

import mxcy as mx
from mxcy import autograd

np = mx.np
TYPES = ("int8", "uint8", "int32", "int64", "float16", "float32", "float64")


def draw(shape, dtype="float64", seed=0):
    return onp.asarray(onp.random.RandomState(seed).randint(0, 5, shape)).astype(dtype)


def agree(actual, expected):
    assert isinstance(actual, np.ndarray)
    assert actual.shape == onp.shape(expected)
    onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-6, atol=1e-6)


def check_slopes(function, *inputs):
    """Gradients of a weighted sum against finite differences."""
    made = [np.array(x, dtype="float64") for x in inputs]
    for x in made:
        x.attach_grad()
    with autograd.record():
        actual = function(*made)
        weights = np.array(onp.cos(onp.arange(actual.size)).reshape(actual.shape), dtype="float64")
        loss = (actual * weights).sum()
    loss.backward()
    for i, x in enumerate(made):
        wanted = onp.zeros(x.shape)
        for at in onp.ndindex(*x.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [onp.array(v, "float64") for v in inputs]
                moved[i][at] += step
                moved = (np.array(v, dtype="float64") for v in moved)
                ends.append((function(*moved) * weights).sum().item())
            wanted[at] = (ends[0] - ends[1]) / 2e-6
        onp.testing.assert_allclose(x.grad.asnumpy(), wanted, rtol=1e-5, atol=1e-6)


CALLS = {
    "kron": (lambda m, a, b: m.kron(a, b), (2, 3), (3, 2)),
    "kron_ranks": (lambda m, a, b: m.kron(a, b), (2,), (2, 1, 3)),
    "cross": (lambda m, a, b: m.cross(a, b), (4, 3), (4, 3)),
    "cross_axes": (lambda m, a, b: m.cross(a, b, 0, 1, 0), (3, 4), (4, 3)),
    "cross_axis": (lambda m, a, b: m.cross(a, b, axis=0), (3, 4), (3, 4)),
    "cross_broadcast": (lambda m, a, b: m.cross(a, b), (4, 3), (3,)),
    "linalg_cross": (lambda m, a, b: m.linalg.cross(a, b), (4, 3), (4, 3)),
    "polyval": (lambda m, p, x: m.polyval(p, x), (4,), (2, 3)),
    "diff": (lambda m, a: m.diff(a), (3, 4)),
    "diff_twice": (lambda m, a: m.diff(a, n=2, axis=0), (4, 2)),
    "diff_beside": (lambda m, a, b: m.diff(a, prepend=b, append=0), (2, 3), (2, 2)),
    "ediff1d": (lambda m, a: m.ediff1d(a), (2, 3)),
    "ediff1d_beside": (lambda m, a, b: m.ediff1d(a, to_end=b, to_begin=b), (2, 3), (2,)),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", TYPES)
def test_values(name, dtype):
    function, *shapes = CALLS[name]
    inputs = [draw(shape, dtype, seed) for seed, shape in enumerate(shapes)]
    actual = function(np, *(np.array(x, dtype=dtype) for x in inputs))
    assert actual.dtype == dtype or name == "diff_beside"
    agree(actual, function(onp, *inputs))


@pytest.mark.parametrize("name", CALLS)
def test_gradients(name):
    function, *shapes = CALLS[name]
    inputs = [draw(shape, seed=seed) for seed, shape in enumerate(shapes)]
    check_slopes(lambda *x: function(np, *x), *inputs)


def test_vectors_of_two_components():
    a, b, c = (draw(shape, seed=i) for i, shape in enumerate([(4, 2), (4, 2), (4, 3)]))
    wide = [onp.concatenate([x, onp.zeros((4, 1))], 1) for x in (a, b)]
    x, y, z = (np.array(v, dtype="float64") for v in (a, b, c))
    agree(np.cross(x, y), onp.cross(*wide)[:, 2])
    agree(np.cross(x, z), onp.cross(wide[0], c))
    agree(np.cross(z, x), onp.cross(c, wide[0]))
    with pytest.raises(ValueError, match="components"):
        np.cross(np.ones(4), np.ones(4))


def test_interp():
    xp, fp, x = onp.array([1.0, 2, 4]), onp.array([3.0, 2, 0]), onp.array([[0, 1.5], [3, 5]])
    for keywords in ({}, {"left": -1, "right": 9}, {"period": 3}):
        actual = np.interp(np.array(x), np.array(xp), np.array(fp), **keywords)
        assert actual.dtype == "float64"
        agree(actual, onp.interp(x, xp, fp, **keywords))
    agree(np.interp(np.array(2.5), xp, fp), onp.interp(2.5, xp, fp))
    with pytest.raises(mx.MXNetError, match="lengths"):
        np.interp(np.array(x), np.array(xp), np.array(fp[1:]))


def test_differences_at_the_edges():
    assert np.diff(np.ones((2, 3)), n=0).shape == (2, 3)
    assert np.diff(np.ones(3), n=0, prepend=1, append=2).tolist() == [1, 1, 1]
    assert np.diff(np.ones((2, 3)), n=5).shape == (2, 0)
    assert np.ediff1d(np.ones(0)).shape == (0,)
    mask = np.array([True, False, False], dtype="bool")
    assert np.diff(mask).tolist() == [True, False]
    with pytest.raises(ValueError, match="negative"):
        np.diff(np.ones(3), n=-1)
    with pytest.raises(mx.MXNetError, match="one dimension"):
        np.polyval(np.ones((2, 2)), np.ones(2))
    assert np.polyval(np.ones(0), np.ones(2)).tolist() == [0, 0]


@pytest.mark.parametrize("shape", [(2,), (6,), (4, 5), (3, 4, 3)])
def test_gradient(shape):
    values = onp.random.RandomState(1).randn(*shape)
    array = np.array(values, dtype="float64")
    for options in ({}, {"axis": -1}, {"edge_order": 2}):
        if shape == (2,) and "edge_order" in options:
            continue
        for step in ((), (2.0,)):
            actual = np.gradient(array, *step, **options)
            wanted = onp.gradient(values, *step, **options)
            assert isinstance(actual, list) == isinstance(wanted, tuple)
            pairs = [(actual, wanted)] if len(shape) == 1 or options.get("axis") else None
            for mine, other in pairs or zip(actual, wanted, strict=True):
                agree(mine, other)
    places = onp.cumsum(onp.arange(1, shape[-1] + 1.0))
    agree(np.gradient(array, np.array(places), axis=-1), onp.gradient(values, places, axis=-1))
    if shape[-1] > 2:
        actual = np.gradient(array, places, axis=-1, edge_order=2)
        agree(actual, onp.gradient(values, places, axis=-1, edge_order=2))
        check_slopes(lambda x: np.gradient(x, places, axis=-1), values)


def test_gradient_refuses():
    with pytest.raises(ValueError, match="at least 2"):
        np.gradient(np.ones(1))
    with pytest.raises(TypeError, match="2 spacings"):
        np.gradient(np.ones((2, 2)), 1, 2, 3)
    with pytest.raises(ValueError, match="edge_order"):
        np.gradient(np.ones(4), edge_order=3)
    with pytest.raises(ValueError, match="coordinates"):
        np.gradient(np.ones(4), [1, 2, 3])


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolve(mode):
    for first, second in (([1, 2, 3], [0, 1, 0.5]), ([1.0, 2], [1.0, 2, 3, 4])):
        agree(np.convolve(first, second, mode), onp.convolve(first, second, mode))
        check_slopes(lambda x, y: np.convolve(x, y, mode), first, second)
    actual = np.convolve(np.array([1, 2j]), np.array([1j, 3, 4]), mode)
    agree(actual, onp.convolve([1, 2j], [1j, 3, 4], mode))
    with pytest.raises(ValueError, match="two sequences"):
        np.convolve(np.ones(0), np.ones(2), mode)
