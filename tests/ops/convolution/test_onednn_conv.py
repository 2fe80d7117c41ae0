"""Fused convolution by oneDNN against the reference: layouts, activations, sums, threads."""

import functools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from mxcy._library import onednn
from mxcy.ops.convolution.conv import forward_ref
from mxcy.ops.core.params import FUSED_CONV
from tests.ops.kernel_call import query_kernel, run_kernel

if onednn.version() is None:
    pytest.skip("oneDNN is not installed", allow_module_level=True)

RUN, PACK = "conv_onednn", "conv_onednn_pack"
#: data shape, filters, kernel, and nondefault attributes
PROBLEMS = {
    "first": ((2, 3, 20, 22), 32, (7, 7), dict(stride=(2, 2), pad=(3, 3))),
    "plain": ((2, 5, 9, 8), 7, (3, 3), dict(pad=(1, 1))),
    "pointwise": ((1, 32, 7, 7), 48, (1, 1), {}),
    "pointwise strided": ((2, 16, 9, 9), 32, (1, 1), dict(stride=(2, 2))),
    "square": ((2, 32, 10, 11), 16, (3, 3), dict(pad=(1, 1))),
    "dilated": ((1, 16, 15, 12), 16, (3, 2), dict(dilate=(3, 4), pad=(2, 5))),
    "groups": ((2, 64, 8, 8), 64, (3, 3), dict(groups=2, stride=(1, 2))),
    "depthwise": ((2, 32, 9, 13), 32, (3, 3), dict(groups=32, pad=(1, 1))),
    "depthwise strided": ((2, 16, 9, 9), 16, (3, 3), dict(groups=16, pad=(1, 1), stride=(2, 2))),
    "one dimension": ((3, 16, 40), 16, (4,), dict(stride=(3,), pad=(2,))),
    "three dimensions": ((2, 16, 6, 7, 8), 32, (3, 2, 3), dict(pad=(1, 0, 2))),
}
#: number in ops/fused/layer.py -> function of the sum, alpha and beta
ACTIVATIONS = {
    0: lambda x, a, b: x,
    1: lambda x, a, b: np.maximum(x, 0),
    2: lambda x, a, b: 1 / (1 + np.exp(-x)),
    3: lambda x, a, b: np.tanh(x),
    4: lambda x, a, b: np.log1p(np.exp(x)),
    5: lambda x, a, b: np.where(x > 0, x, a * x),
    6: lambda x, a, b: np.where(x > 0, x, a * np.expm1(x)),
    7: lambda x, a, b: x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    8: lambda x, a, b: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    9: lambda x, a, b: np.clip(x, a, b),
    10: lambda x, a, b: np.abs(x),
    11: lambda x, a, b: x * x,
    12: lambda x, a, b: np.sqrt(x),
    13: lambda x, a, b: np.exp(x),
    14: lambda x, a, b: a * x + b,
    15: lambda x, a, b: x / (1 + np.exp(-x)),
    16: lambda x, a, b: x * np.clip(a * x + b, 0, 1),
}


def blocked(x, block):
    """(N, C, ...) as (N, C / block, ..., block); block 0 leaves it."""
    if block == 0:
        return x
    n, c, *spatial = x.shape
    split = x.reshape(n, c // block, block, *spatial)
    return np.ascontiguousarray(np.moveaxis(split, 2, -1))


class Problem:
    """Arrays and parameters of a fused convolution, and the reference's result."""

    def __init__(self, name, in_block=0, out_block=0, bias=True, other=False, act=0, ab=(0.2, 0.9)):
        shape, filters, kernel, given = PROBLEMS[name]
        n, rng = len(kernel), np.random.default_rng(3)
        a = {"stride": (1,) * n, "dilate": (1,) * n, "pad": (0,) * n, "groups": 1, **given}
        channels = shape[1] // a["groups"]
        self.data = rng.uniform(-1, 1, shape).astype(np.float32)
        self.weight = rng.uniform(-1, 1, (filters, channels, *kernel)).astype(np.float32)
        self.bias = rng.uniform(-1, 1, filters).astype(np.float32)
        record = SimpleNamespace(kernel=kernel, num_group=a["groups"], layout=None, **a)
        wide = forward_ref(record, np, self.data.astype(float), self.weight.astype(float))
        self.other = rng.uniform(-1, 1, wide.shape).astype(np.float32)
        if bias:
            wide = wide + self.bias.reshape(-1, *[1] * n)
        if other:
            wide = wide + self.other
        if act == 12:  # the square root of what is positive
            self.bias += 40
            wide = wide + 40
        ones = (1,) * (3 - n)
        self.params = FUSED_CONV.pack(
            batch=shape[0],
            groups=a["groups"],
            channels=channels,
            filters=filters // a["groups"],
            source=ones + shape[2:],
            target=ones + wide.shape[2:],
            kernel=ones + kernel,
            stride=ones + a["stride"],
            dilate=ones + a["dilate"],
            pad=(0,) * len(ones) + a["pad"],
            in_block=in_block,
            out_block=out_block,
            spare_channels=0,
            spare_filters=0,
            before=0,
            bias=bias,
            sum=other,
            act=act,
            tile=0,
            alpha=ab[0],
            beta=ab[1],
        )
        self.expected = blocked(ACTIVATIONS[act](wide, *ab), out_block)
        rest = [self.bias] * bias + [blocked(self.other, out_block)] * other
        self.ins = [blocked(self.data, in_block), self.weight, *rest]

    def pack(self, threads=1):
        out = self.expected.astype(np.float32)
        size = query_kernel(RUN, self.ins, [out], self.params, "packed")
        blob = np.empty(size, np.uint8)
        run_kernel(PACK, [self.weight], [blob], self.params, threads=threads)
        self.ins[1] = blob

    def run(self, threads=1, out=None):
        out = np.full(self.expected.shape, np.nan, np.float32) if out is None else out
        assert query_kernel(RUN, self.ins, [out], self.params) == 1
        workspace = query_kernel(RUN, self.ins, [out], self.params, "workspace")
        run_kernel(RUN, self.ins, [out], self.params, threads=threads, workspace=workspace)
        return out

    def check(self, out):
        scale = max(1, np.abs(self.expected).max())
        np.testing.assert_allclose(out, self.expected, rtol=0, atol=1e-5 * scale)


def layouts(problem):
    """The possible block sizes of a problem's data and output."""
    shape, filters, _, _ = PROBLEMS[problem]
    return [
        (i, o)
        for i in (0, 8, 16)
        for o in (0, 8, 16)
        if not (i and shape[1] % i) and not (o and filters % o)
    ]


@functools.cache
def native_block():
    """The block that oneDNN's kernels for this CPU work on."""
    try:
        Problem("square", 16, 16).pack()
    except RuntimeError:
        return 8
    return 16


@pytest.mark.parametrize("problem", PROBLEMS)
def test_layouts(problem):
    tried = 0
    for in_block, out_block in layouts(problem):
        case = Problem(problem, in_block, out_block)
        try:
            case.pack()
        except RuntimeError as refused:
            assert "oneDNN" in str(refused)
            continue
        tried += 1
        case.check(case.run())
        case.check(case.run(threads=2))
    assert tried


@pytest.mark.parametrize("act", ACTIVATIONS)
@pytest.mark.parametrize("problem", ("square", "plain", "depthwise"))
def test_activations(problem, act):
    case = Problem(problem, act=act, other=problem == "square")
    case.pack()
    case.check(case.run(threads=2))


@pytest.mark.parametrize("bias", (False, True))
@pytest.mark.parametrize("blocked", (False, True))
def test_sum(bias, blocked):
    block = native_block() if blocked else 0
    case = Problem("square", block, block, bias=bias, other=True, act=1)
    case.pack(threads=2)
    before = case.ins[-1].copy()
    case.check(case.run())
    np.testing.assert_array_equal(case.ins[-1], before)
    case.check(case.run(out=case.ins[-1]))


def test_packed_once_for_any_number_of_threads():
    case = Problem("square", native_block(), native_block())
    case.pack(threads=2)
    blob = case.ins[1].copy()
    case.ins[1] = case.weight
    case.pack(threads=1)
    np.testing.assert_array_equal(case.ins[1], blob)


def test_refusals():
    case = Problem("square")
    out = [case.expected.astype(np.float32)]
    blank = {name: [0] * count if count else 0 for name, _, count in FUSED_CONV.fields}
    with pytest.raises(RuntimeError, match="oneDNN convolution: "):
        query_kernel(RUN, case.ins, out, FUSED_CONV.pack(**blank))
    with pytest.raises(RuntimeError, match="empty arrays"):
        query_kernel(RUN, case.ins, [out[0][:0]], case.params)
