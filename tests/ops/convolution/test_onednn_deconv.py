"""Fused deconvolution by oneDNN against its own operator on plain weights."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._base.dtypes import code_of
from mxcy._library import front, onednn
from mxcy.base import MXNetError
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import find
from mxcy.ops.fused.layer import ACTIVATIONS
from tests.ops.fused.fused_conv import BLOCK

if onednn.version() is None:
    pytest.skip("oneDNN is not installed", allow_module_level=True)

INTERNAL = mx.nd._internal
ALGO = "deconv_onednn"
UP = {"kernel": (4, 4), "stride": (2, 2), "pad": (1, 1)}
#: data shape, filters, attributes
PROBLEMS = {
    "doubling": ((2, 32, 5, 6), 48, UP),
    "few": ((1, 3, 7, 5), 5, UP),
    "longer": ((2, 16, 5, 4), 16, {**UP, "kernel": (3, 3), "adj": (1, 1)}),
    "target": ((1, 16, 5, 4), 16, {**UP, "target_shape": (9, 7)}),
    "groups": ((2, 32, 4, 5), 32, {**UP, "num_group": 2}),
    "dilated": ((1, 16, 6, 5), 32, {"kernel": (3, 2), "dilate": (2, 3)}),
    "one dimension": ((2, 16, 9), 16, {"kernel": (3,), "stride": (2,)}),
    "three dimensions": (
        (1, 16, 3, 4, 3),
        16,
        {"kernel": (3, 2, 4), "stride": (2, 1, 2), "pad": (1, 0, 1)},
    ),
}


def random(*shape, seed=3):
    return mx.nd.array(np.random.default_rng(seed).uniform(-1, 1, shape), dtype="float32")


def ask(attrs, inputs, what):
    """Query a call with packed weights."""
    record = find("_sg_onednn_deconv")
    a = record.schema.intern(record.name, {**attrs, "algo": ALGO, "packed": 1})
    ins = [Spec(x.shape, code_of(x.dtype)) for x in inputs]
    ins[1] = Spec((1,), code_of("uint8"))
    outs = record.infer(a, ins)
    kernel = record.kernels[0]
    params = kernel.struct.pack(**kernel.params(a, ins, outs))
    return front.query(ALGO, params, ins, outs, what)


def run(attrs, data, weight, *rest):
    """The output, with weights that were packed."""
    refusal = ask(attrs, (data, weight, *rest), "accepts")
    if refusal is not None:
        raise MXNetError(refusal)
    attrs = {**attrs, "algo": ALGO, "packed": ask(attrs, (data, weight, *rest), "packed")}
    blocked = bool(attrs.get("in_block"))
    shape = data.shape[2:-1] if blocked else data.shape[2:]
    form = {**attrs, "batch": data.shape[0], "source": shape}
    blob = INTERNAL._pack_deconv_weight(weight, **form)
    outs, ran = front.execute(find("_sg_onednn_deconv"), (data, blob, *rest), attrs)
    assert ran == ALGO
    return outs[0]


def check(got, want):
    scale = np.abs(want).max()
    np.testing.assert_allclose(got / scale, want / scale, atol=1e-5)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("in_block, out_block", [(0, 0), (BLOCK, 0), (0, BLOCK), (BLOCK, BLOCK)])
@pytest.mark.parametrize("tile", [0, 1, 2])
def test_layouts(problem, in_block, out_block, tile):
    shape, filters, attrs = PROBLEMS[problem]
    if (in_block and shape[1] % in_block) or (out_block and filters % out_block):
        return  # nothing to block
    groups = attrs.get("num_group", 1)
    data, bias = random(*shape), random(filters)
    weight = random(shape[1], filters // groups, *attrs["kernel"])
    attrs = {**attrs, "num_filter": filters, "no_bias": False, "act": "relu"}
    want = INTERNAL._sg_onednn_deconv(data, weight, bias, **attrs).asnumpy()
    data = INTERNAL._to_blocked(data, block=in_block) if in_block else data
    attrs.update(in_block=in_block, out_block=out_block, tile=tile)
    try:
        out = run(attrs, data, weight, bias)
    except MXNetError as refused:
        assert tile and "oneDNN" in str(refused)
        return
    check((INTERNAL._from_blocked(out) if out_block else out).asnumpy(), want)


@pytest.mark.parametrize("tile", [0, 1, 2])
@pytest.mark.parametrize("act", ACTIVATIONS)
def test_activations(act, tile):
    data, weight, bias = random(2, 16, 5, 4), random(16, 16, 4, 4), random(16)
    bias = bias + 40 if act == "sqrt" else bias
    attrs = {**UP, "num_filter": 16, "no_bias": False, "act": act, "alpha": 0.25, "beta": 0.5}
    want = INTERNAL._sg_onednn_deconv(data, weight, bias, **attrs).asnumpy()
    check(run({**attrs, "tile": tile}, data, weight, bias).asnumpy(), want)


@pytest.mark.parametrize("block", [0, BLOCK])
def test_sum_starts_from_the_second_input(block):
    data, weight, other = random(2, 16, 5, 4), random(16, 16, 4, 4), random(2, 16, 10, 8, seed=5)
    attrs = {**UP, "num_filter": 16, "act": "relu", "with_sum": True}
    want = INTERNAL._sg_onednn_deconv(data, weight, other, **attrs).asnumpy()
    given = INTERNAL._to_blocked(other, block=block) if block else other
    before = given.asnumpy()
    if ask(attrs, (data, weight, other), "accepts") is not None:
        assert "adds" in ask(attrs, (data, weight, other), "accepts")
        return
    out = run({**attrs, "out_block": block}, data, weight, given)
    check((INTERNAL._from_blocked(out) if block else out).asnumpy(), want)
    np.testing.assert_array_equal(given.asnumpy(), before)
