"""Operators on blocked arrays agree with those on plain arrays, at network sizes."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError
from tests.ops.kernel_call import has_kernel

INTERNAL = mx.nd._internal


@pytest.fixture
def pools_bfloat16():
    if not has_kernel("blocked_pool_bf16", "bfloat16"):
        pytest.skip("this CPU has no AVX512-BF16")


def random(*shape, seed=3):
    return mx.nd.array(np.random.default_rng(seed).uniform(-1, 1, shape), dtype="float32")


@pytest.mark.parametrize("block", [8, 16, 5])
@pytest.mark.parametrize("spatial", [(1,), (37,), (28, 28), (1, 1), (57, 61), (3, 5, 19)])
def test_there_and_back(spatial, block):
    plain = random(2, 3 * block, *spatial)
    blocked = INTERNAL._to_blocked(plain, block=block)
    assert blocked.shape == (2, 3, *spatial, block)
    want = plain.asnumpy().reshape(2, 3, block, *spatial)
    np.testing.assert_array_equal(blocked.asnumpy(), np.moveaxis(want, 2, -1))
    np.testing.assert_array_equal(INTERNAL._from_blocked(blocked).asnumpy(), plain.asnumpy())


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "int8"])
def test_blocking_round_trip_by_dtype(dtype):
    plain = mx.nd.array(np.arange(2 * 16 * 9 * 10).reshape(2, 16, 9, 10) % 101, dtype=dtype)
    blocked = INTERNAL._to_blocked(plain, block=8)
    assert blocked.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(INTERNAL._from_blocked(blocked).asnumpy(), plain.asnumpy())


def test_converting_has_a_gradient():
    plain = random(1, 8, 3, 3)
    plain.attach_grad()
    with mx.autograd.record():
        loss = (INTERNAL._from_blocked(INTERNAL._to_blocked(plain, block=8) * 2) * plain).sum()
    loss.backward()
    np.testing.assert_allclose(plain.grad.asnumpy(), 4 * plain.asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("pool_type", ["max", "avg", "sum"])
@pytest.mark.parametrize(
    "size, attrs",
    [
        ((35, 35), {"kernel": (3, 3), "pad": (1, 1)}),
        ((35, 34), {"kernel": (3, 3), "pad": (1, 1), "count_include_pad": False}),
        ((56, 55), {"kernel": (3, 3), "stride": (2, 2), "pooling_convention": "full"}),
        ((17, 17), {"kernel": (2, 5), "stride": (1, 3), "pad": (1, 4)}),
        ((8, 8), {"kernel": (1, 1), "global_pool": True}),
        ((4, 3, 21), {"kernel": (2, 2, 3), "stride": (1, 2, 1), "pad": (0, 1, 1)}),
        ((50,), {"kernel": (4,), "pad": (2,)}),
    ],
)
def test_pooling(size, attrs, pool_type):
    plain = random(2, 48, *size)
    want = mx.nd.Pooling(plain, pool_type=pool_type, **attrs).asnumpy()
    for block in (8, 16):
        blocked = INTERNAL._to_blocked(plain, block=block)
        got = INTERNAL._blocked_pooling(blocked, pool_type=pool_type, **attrs)
        got = INTERNAL._from_blocked(got).asnumpy()
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("pools_bfloat16")
@pytest.mark.parametrize("pool_type", ["max", "avg", "sum"])
@pytest.mark.parametrize("channels", [5, 32, 70])
@pytest.mark.parametrize(
    "size, attrs",
    [
        ((17, 18), {"kernel": (3, 3), "pad": (1, 1)}),
        ((9, 8), {"kernel": (3, 2), "pad": (2, 1), "count_include_pad": False}),
        ((12, 11), {"kernel": (3, 3), "stride": (2, 2), "pooling_convention": "full"}),
        ((6, 5), {"kernel": (1, 1), "global_pool": True}),
        ((20,), {"kernel": (4,), "stride": (3,), "pad": (2,)}),
    ],
)
def test_pooling_of_channels_last_bfloat16(size, attrs, channels, pool_type):
    plain = random(2, channels, *size).astype("bfloat16")
    want = mx.nd.Pooling(plain.astype("float32"), pool_type=pool_type, **attrs).asnumpy()
    last = INTERNAL._to_blocked(plain, block=channels)
    got = INTERNAL._from_blocked(INTERNAL._blocked_pooling(last, pool_type=pool_type, **attrs))
    got = got.astype("float32").asnumpy()
    np.testing.assert_allclose(got, want, rtol=2**-8, atol=1e-6)


@pytest.mark.usefixtures("pools_bfloat16")
def test_maximum_pooling_of_bfloat16_ignores_nan():
    plain = random(1, 40, 6, 6).asnumpy()
    plain[0, 3, 2, 2] = plain[0, 35, 0, 0] = np.nan
    attrs = {"kernel": (2, 2), "stride": (2, 2)}
    plain = mx.nd.array(plain).astype("bfloat16")
    last = INTERNAL._to_blocked(plain, block=40)
    got = INTERNAL._from_blocked(INTERNAL._blocked_pooling(last, **attrs)).astype("float32")
    want = mx.nd.Pooling(plain.astype("float32"), **attrs)
    np.testing.assert_array_equal(got.asnumpy(), want.asnumpy())


def test_maximum_pooling_ignores_nan_as_on_plain_arrays():
    plain = random(1, 16, 6, 6).asnumpy()
    plain[0, 3, 2, 2] = plain[0, 5, 0, 0] = np.nan
    attrs = {"kernel": (2, 2), "stride": (2, 2)}
    blocked = INTERNAL._to_blocked(mx.nd.array(plain), block=16)
    got = INTERNAL._from_blocked(INTERNAL._blocked_pooling(blocked, **attrs))
    np.testing.assert_array_equal(
        got.asnumpy(), mx.nd.Pooling(mx.nd.array(plain), **attrs).asnumpy()
    )


@pytest.mark.parametrize("nsize, beta", [(5, 0.75), (3, 0.5), (1, 0.75), (7, 1.0)])
def test_local_response_normalisation(nsize, beta):
    plain = random(2, 96, 13, 11)
    attrs = {"nsize": nsize, "beta": beta, "alpha": 0.1, "knorm": 2}
    want = mx.nd.LRN(plain, **attrs).asnumpy()
    blocked = INTERNAL._blocked_lrn(INTERNAL._to_blocked(plain, block=16), **attrs)
    got = INTERNAL._from_blocked(blocked).asnumpy()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def statistics(channels):
    rng = np.random.default_rng(8)
    low, high = (0.5, -1, -1, 0.1), (2, 1, 1, 2)
    return [mx.nd.array(rng.uniform(a, b, channels)) for a, b in zip(low, high, strict=True)]


@pytest.mark.parametrize("fix_gamma", [False, True])
def test_batch_normalisation_as_scale_and_shift(fix_gamma):
    plain, states = random(2, 32, 15, 9), statistics(32)
    attrs = {"fix_gamma": fix_gamma, "eps": 1e-3}
    scale, shift = INTERNAL._batch_norm_scale(*states, **attrs)
    want = mx.nd.BatchNorm(plain, *states, **attrs)
    blocked = INTERNAL._to_blocked(plain, block=8)
    got = INTERNAL._from_blocked(INTERNAL._blocked_scale_shift(blocked, scale, shift))
    np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), rtol=1e-5, atol=1e-5)
    got = INTERNAL._blocked_scale_shift(blocked, scale, shift, relu=True)
    got = INTERNAL._from_blocked(got).asnumpy()
    np.testing.assert_allclose(got, mx.nd.relu(want).asnumpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("no_bias", [False, True])
@pytest.mark.parametrize("fix_gamma", [False, True])
def test_batch_normalisation_folds_into_a_convolution(fix_gamma, no_bias):
    data, weight, states = random(2, 4, 9, 8), random(6, 4, 3, 3), statistics(6)
    bias = [] if no_bias else [random(6)]
    attrs = {"fix_gamma": fix_gamma, "eps": 1e-3}
    conv = {"kernel": (3, 3), "num_filter": 6}
    want = mx.nd.Convolution(data, weight, *bias, no_bias=no_bias, **conv)
    folded = INTERNAL._fold_batch_norm(weight, *bias, *states, no_bias=no_bias, **attrs)
    want = mx.nd.BatchNorm(want, *states, **attrs).asnumpy()  # writes gamma when it is fixed
    np.testing.assert_allclose(
        mx.nd.Convolution(data, *folded, **conv).asnumpy(), want, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: INTERNAL._to_blocked(random(1, 12, 3), block=8), "12 channels"),
        (lambda: INTERNAL._to_blocked(random(1, 8, 3), block=0), "positive"),
        (lambda: INTERNAL._to_blocked(random(8, 8), block=8), "spatial"),
        (lambda: INTERNAL._from_blocked(random(1, 2, 8)), "blocks"),
        (lambda: INTERNAL._blocked_pooling(random(1, 1, 4, 4, 8), kernel=(5, 5)), "exceeds"),
        (
            lambda: INTERNAL._blocked_pooling(random(1, 1, 4, 4, 8), kernel=(2, 2), layout="NHWC"),
            "layout",
        ),
        (lambda: INTERNAL._blocked_scale_shift(random(1, 2, 3, 8), random(8), random(16)), "scale"),
        (lambda: INTERNAL._blocked_lrn(random(1, 1, 4, 8), nsize=5), "dimensions"),
        (lambda: INTERNAL._fold_batch_norm(random(4, 2), *statistics(3), no_bias=True), "gamma"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(MXNetError, match=message):
        call()
