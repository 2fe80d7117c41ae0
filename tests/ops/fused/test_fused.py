"""Fused layers with plain weights: equal to their parts; errors."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._base.dtypes import code_of
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import find
from mxcy.ops.fused.layer import ACTIVATIONS
from tests.ops.fused.fused_conv import BLOCK

INTERNAL = mx.nd._internal
CONV = {"kernel": (3, 3), "num_filter": 16, "pad": (1, 1)}


def random(*shape, seed=3):
    return mx.nd.array(np.random.default_rng(seed).uniform(-1, 1, shape), dtype="float32")


def parts():
    return random(2, 8, 5, 6), random(16, 8, 3, 3), random(16), random(2, 16, 5, 6, seed=4)


@pytest.mark.parametrize("act", ACTIVATIONS)
def test_convolution_is_the_sum_of_its_parts(act):
    data, weight, bias, other = parts()
    summed = (mx.nd.Convolution(data, weight, bias, **CONV) + other).asnumpy().astype("float64")
    with np.errstate(invalid="ignore"):
        want = ACTIVATIONS[act](np, summed, -0.25, 0.5)
    numbers = {"alpha": -0.25, "beta": 0.5}
    got = INTERNAL._sg_onednn_conv(
        data, weight, bias, other, with_sum=True, act=act, **numbers, **CONV
    )
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("in_block, out_block", [(8, 0), (0, 8), (8, 16), (4, 4)])
def test_blocked_convolution(in_block, out_block):
    data, weight, _, other = parts()
    want = mx.nd.relu(mx.nd.Convolution(data, weight, no_bias=True, **CONV) + other).asnumpy()
    if in_block:
        data = INTERNAL._to_blocked(data, block=in_block)
    if out_block:
        other = INTERNAL._to_blocked(other, block=out_block)
    got = INTERNAL._sg_mkldnn_conv(
        data,
        weight,
        other,
        no_bias=True,
        with_sum=True,
        act="relu",
        in_block=in_block,
        out_block=out_block,
        **CONV,
    )
    got = INTERNAL._from_blocked(got) if out_block else got
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-4, atol=1e-5)


def test_unfused_calls_use_the_plain_kernels():
    data, weight, bias, _ = parts()
    fused, ran = front.execute(find("_sg_onednn_conv"), (data, weight, bias), dict(CONV))
    want, expected = front.execute(find("Convolution"), (data, weight, bias), dict(CONV))
    assert ran == expected != "ref"
    np.testing.assert_array_equal(fused[0].asnumpy(), want[0].asnumpy())


def test_names_of_the_inputs():
    record = find("_sg_mkldnn_conv")
    assert record is find("_sg_onednn_conv")
    for no_bias, with_sum, want in (
        (False, False, ("data", "weight", "bias")),
        (True, True, ("data", "weight", "other")),
        (False, True, ("data", "weight", "bias", "other")),
    ):
        attrs = record.schema.intern(
            record.name, {"no_bias": no_bias, "with_sum": with_sum, **CONV}
        )
        assert record.arguments(attrs) == want


@pytest.mark.parametrize("algo", ["conv_blocked", "conv_winograd"])
def test_packed_weights_give_the_same(algo):
    data, weight, bias = random(1, 32, 9, 8), random(32, 32, 3, 3), random(32)
    attrs = {**CONV, "num_filter": 32, "in_block": BLOCK, "out_block": BLOCK, "act": "relu"}
    blocked = INTERNAL._to_blocked(data, block=BLOCK)
    want = INTERNAL._sg_onednn_conv(blocked, weight, bias, **attrs).asnumpy()
    size = packed_bytes(algo, attrs, (blocked, weight, bias))
    attrs = {**attrs, "algo": algo, "packed": size}
    form = {**attrs, "channels": 32, "batch": 1, "source": (9, 8)}
    blob = INTERNAL._pack_conv_weight(weight, **form)
    assert blob.shape == (size,) and blob.dtype == np.uint8
    outs, ran = front.execute(find("_sg_onednn_conv"), (blocked, blob, bias), attrs)
    assert ran == algo
    scale = np.abs(want).max()
    np.testing.assert_allclose(outs[0].asnumpy() / scale, want / scale, atol=2e-5)


def packed_bytes(algo, attrs, inputs):
    """The size of a kernel's packed weights."""
    record = find("_sg_onednn_conv")
    a = record.schema.intern(record.name, {**attrs, "algo": algo, "packed": 1})
    ins = [Spec(x.shape, code_of(x.dtype)) for x in inputs]
    ins[1] = Spec((1,), code_of("uint8"))
    outs = record.infer(a, ins)
    kernel = record.kernels[0]
    params = kernel.struct.pack(**kernel.params(a, ins, outs))
    return front.query(algo, params, ins, outs, "packed")


def blob(size=64):
    return mx.nd.zeros((size,), dtype="uint8")


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda d, w, b, o: INTERNAL._sg_onednn_conv(
                d, blob(), b, algo="conv_nowhere", packed=64, **CONV
            ),
            "packed for conv_nowhere",
        ),
        (
            lambda d, w, b, o: INTERNAL._sg_onednn_conv(d, w, b, algo="conv_blocked", **CONV),
            "packed: expected the size",
        ),
        (
            lambda d, w, b, o: INTERNAL._sg_onednn_conv(
                d, blob(), b, algo="conv_blocked", packed=60, **CONV
            ),
            "weight",
        ),
        (lambda d, w, b, o: INTERNAL._sg_onednn_conv(d, w, b, in_block=8, **CONV), "innermost"),
        (lambda d, w, b, o: INTERNAL._sg_onednn_conv(d, w, b, out_block=5, **CONV), "multiple"),
        (lambda d, w, b, o: INTERNAL._sg_onednn_conv(d, w, b, b, with_sum=True, **CONV), "other"),
        (lambda d, w, b, o: INTERNAL._sg_onednn_conv(d, w, o, **CONV), "bias"),
        (lambda d, w, b, o: INTERNAL._sg_onednn_conv(d, w, b, act="gelu", **CONV), "act"),
        (
            lambda d, w, b, o: INTERNAL._pack_conv_weight(w, packed=5, source=(5, 6), **CONV),
            "packed",
        ),
        (lambda d, w, b, o: INTERNAL._pack_fc_weight(b, num_hidden=4, packed=64), "weight"),
        (
            lambda d, w, b, o: INTERNAL._sg_onednn_fully_connected(
                d, blob(), b, num_hidden=16, algo="fc_nowhere", packed=64
            ),
            "packed for fc_nowhere",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(MXNetError, match=message):
        call(*parts())
        mx.nd.waitall()
