"""Multi-weight updates of nd.contrib equal single-weight updates."""

import numpy as np
import pytest

import mxcy as mx

C = mx.nd.contrib
RNG = np.random.default_rng(8)
HYPER = {"beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3}


def arrays(shape, dtype="float32"):
    """(weight, grad, mean, var, weight32)."""
    made = [RNG.uniform(0.1, 1, shape) for _ in range(4)]
    dtypes = [dtype, dtype, "float32", "float32"]
    actual = [mx.nd.array(x, dtype=kind) for x, kind in zip(made, dtypes, strict=True)]
    return [*actual, actual[0].astype("float32")]


def copies(sets):
    return [[array.copy() for array in one] for one in sets]


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("kind", ["adamw", "adabelief"])
def test_several_weights_as_single_ones(kind, mixed):
    parts, dtype, mp = (5, "float16", "mp_") if mixed else (4, "float32", "")
    first = [arrays((2, 3), dtype), arrays((4,), dtype)]
    second = copies(first)
    lrs, wds, etas = (0.1, 0.2), (0.01, 0.0), (1.0, 0.5)
    single = getattr(C, f"{mp}{kind}_update")
    for one, lr, wd, eta in zip(first, lrs, wds, etas, strict=True):
        single(*one[:parts], 0.5, lr, eta, wd=wd, out=one[0], **HYPER)
    lists = [list(column) for column in zip(*second, strict=True)][:parts]
    factor = mx.nd.array([0.5])
    getattr(C, f"multi_{mp}{kind}_update")(
        *lists, factor, lrs=lrs, wds=wds, etas=etas, out=lists[0], **HYPER
    )
    for one, other in zip(first, second, strict=True):
        for a, b in zip(one[:parts], other[:parts], strict=True):
            np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=2e-3 if mixed else 1e-5)


def test_steps_are_left_out_when_gradients_overflowed():
    one = arrays((3,))
    before = one[0].asnumpy()
    for factor in (0, np.inf, np.nan):
        C.adamw_update(*one[:4], factor, 0.1, 1.0, out=one[0])
        np.testing.assert_array_equal(one[0].asnumpy(), before)


@pytest.mark.parametrize("kind", ["lamb", "lans"])
def test_layer_wise_steps(kind):
    first = [arrays((2, 3), "float16"), arrays((4,), "float16")]
    wide = copies(first)
    settings = {"step_count": (1, 3), "lrs": (0.1, 0.2), "wds": (0.01, 0.0)}
    lists = [list(column) for column in zip(*first, strict=True)]
    actual = getattr(C, f"multi_mp_{kind}_update")(*lists, out=lists[0], **settings)
    assert [array.shape for array in actual] == [(2, 3), (4,)]
    for one in wide:
        one[1] = one[1].astype("float32")
    weights = [one[4] for one in wide]
    others = [[one[i] for one in wide] for i in (1, 2, 3)]
    getattr(C, f"multi_{kind}_update")(weights, *others, out=weights, **settings)
    for one, weight in zip(first, weights, strict=True):
        np.testing.assert_allclose(one[4].asnumpy(), weight.asnumpy(), rtol=1e-5)
        np.testing.assert_allclose(one[0].asnumpy(), weight.asnumpy(), rtol=2e-3)


def test_documentation_tells_of_parameters():
    for name in mx.nd.contrib._updates:
        text = getattr(C, name).__doc__
        assert "Parameters\n    ----------" in text and "{" not in text
        assert ("weights32" in text or "weight32" in text) == ("mp_" in name)


def test_resetting_arrays_of_several_types():
    arrays = [mx.nd.ones((3,)), mx.nd.ones((2, 2), dtype="float64"), mx.nd.ones(1, dtype="float16")]
    mx.nd.reset_arrays(*arrays, num_arrays=3)
    assert not any(array.asnumpy().any() for array in arrays)


@pytest.mark.parametrize("name", ["min", "max"])
def test_extremes_of_empty_arrays(name):
    with mx.util.np_shape():
        x = mx.nd.zeros((5, 0))
        with pytest.raises(mx.MXNetError, match="no elements"):
            getattr(x, name)()
        assert getattr(x, name)(axis=0).shape == (0,)
