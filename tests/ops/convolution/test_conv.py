"""Convolution kernels on shapes that exercise blocking, strips of threads, 16-bit types."""

import numpy as np
import pytest

from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import REGISTRY
from tests.ops.kernel_call import run_kernel

TOLERANCE = {"float32": 1e-5, "float64": 1e-13, "float16": 2e-3}
#: data shape, and the convolution's attributes
PROBLEMS = {
    "lenet": ((4, 1, 28, 28), dict(kernel=(5, 5), num_filter=20)),
    "padded": ((2, 16, 14, 14), dict(kernel=(3, 3), pad=(1, 1), num_filter=40)),
    "pointwise": ((3, 20, 9, 11), dict(kernel=(1, 1), num_filter=33)),
    "single pixels": ((21, 50, 1, 1), dict(kernel=(1, 1), num_filter=37)),
    "pointwise strided": ((2, 8, 9, 9), dict(kernel=(1, 1), stride=(2, 2), num_filter=6)),
    "one image": ((1, 3, 30, 31), dict(kernel=(7, 7), stride=(2, 2), pad=(3, 3), num_filter=16)),
    "many channels": ((1, 300, 5, 5), dict(kernel=(3, 3), pad=(1, 1), num_filter=17)),
    "tiny image": ((9, 6, 2, 2), dict(kernel=(2, 2), num_filter=4)),
    "groups": ((2, 12, 8, 8), dict(kernel=(3, 3), num_filter=18, num_group=3, stride=(1, 2))),
    "depthwise": ((2, 20, 9, 13), dict(kernel=(3, 3), pad=(1, 1), num_filter=20, num_group=20)),
    "depthwise strided": (
        (2, 6, 9, 9),
        dict(kernel=(3, 3), pad=(1, 1), stride=(2, 2), num_filter=12, num_group=6),
    ),
    "depthwise wide": (
        (2, 3, 12, 37),
        dict(kernel=(3, 3), pad=(0, 1), stride=(2, 2), num_filter=3, num_group=3),
    ),
    "depthwise of 5": ((2, 4, 17, 33), dict(kernel=(5, 5), pad=(2, 1), num_filter=4, num_group=4)),
    "depthwise of 5 strided": (
        (1, 4, 16, 40),
        dict(kernel=(5, 5), pad=(2, 2), stride=(2, 2), num_filter=8, num_group=4),
    ),
    "depthwise small": ((3, 5, 2, 7), dict(kernel=(3, 3), pad=(2, 1), num_filter=5, num_group=5)),
    "dilated": ((2, 4, 15, 12), dict(kernel=(3, 2), dilate=(3, 4), pad=(2, 5), num_filter=5)),
    "mostly padding": ((1, 2, 3, 3), dict(kernel=(3, 3), pad=(4, 4), stride=(3, 3), num_filter=2)),
    "one dimension": ((3, 7, 40), dict(kernel=(4,), stride=(3,), pad=(2,), num_filter=9)),
    "three dimensions": ((2, 3, 6, 7, 8), dict(kernel=(3, 2, 3), pad=(1, 0, 2), num_filter=5)),
}


def prepared(problem, dtype):
    """(attributes, data, weight, bias, gradient of the output) of a problem."""
    shape, attrs = PROBLEMS[problem]
    record = REGISTRY["Convolution"]
    a = record.schema.intern("Convolution", attrs)
    rng = np.random.default_rng(1)
    weight = Spec()
    (out,) = record.infer(a, [Spec(shape, 0), weight, Spec()])
    arrays = [rng.uniform(-1, 1, s) for s in (shape, weight.shape, (a.num_filter,), out.shape)]
    return a, *(x.astype(dtype) for x in arrays)


def run(operator, a, ins, like, threads=1, into=None, **more):
    """Run the operator's first kernel of ours as prepared calls do; `into` is added to."""
    record = REGISTRY[operator]
    shared = {
        k: getattr(a, k) for k in ("kernel", "stride", "dilate", "pad", "num_filter", "num_group")
    }
    attrs = record.schema.intern(operator, {**shared, **more})
    outs = [np.full_like(like, np.nan)] if into is None else [into.copy()]
    specs = [[Spec(x.shape, 0) for x in arrays] for arrays in (ins, outs)]
    for kernel in record.kernels:
        if kernel.asks:  # oneDNN's: see test_onednn_conv.py
            continue
        if kernel.when is None or kernel.when(attrs, *specs) is None:
            packed = kernel.struct.pack(**kernel.params(attrs, *specs))
            req = None if into is None else [3]
            return run_kernel(kernel.name, ins, outs, packed, req, threads)
    raise AssertionError(f"every kernel of {operator} refuses")


def check(actual, expected, dtype):
    scale = max(1, np.abs(expected).max())
    np.testing.assert_allclose(
        actual.astype(float), expected, rtol=0, atol=scale * TOLERANCE[dtype]
    )


def wide(*arrays):
    return [x.astype(np.float64) for x in arrays]


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_maps(problem, dtype):
    a, data, weight, bias, grad = prepared(problem, dtype)
    spatial = data.shape[2:]
    cases = (
        ("Convolution", (data, weight, bias), grad, {"no_bias": False}),
        ("_conv_data", (grad, weight), data, {"spatial": spatial}),
        ("_conv_weight", (data, grad), weight, {}),
    )
    for operator, ins, like, more in cases:
        attrs = REGISTRY[operator].schema.intern(
            operator,
            {
                k: getattr(a, k)
                for k in ("kernel", "stride", "dilate", "pad", "num_filter", "num_group")
            }
            | more,
        )
        expected = REGISTRY[operator].ref(attrs, np, *wide(*ins))
        actual = run(operator, a, ins, like, **more)
        check(actual, expected, dtype)
        np.testing.assert_array_equal(run(operator, a, ins, like, threads=2, **more), actual)
        added = run(operator, a, ins, like, into=like, **more)
        check(added, expected + like.astype(float), dtype)


@pytest.mark.parametrize("stride", [1, 2])
def test_depthwise_weights_ignore_uncovered_columns(stride):
    """The last column is read by the vectors' lanes, but no filter reaches it."""
    shape = {"kernel": (3, 3), "stride": (stride, stride), "num_filter": 1, "num_group": 1}
    a = REGISTRY["Convolution"].schema.intern("Convolution", shape)
    data = np.ones((1, 1, 3 + stride, 9 if stride == 1 else 10), "float32")
    positions = (8 if stride == 1 else 4), 2
    if stride == 2:
        data[..., -1] = np.inf
        grad = np.ones((1, 1, positions[1], positions[0]), "float32")
    else:
        data[..., 0, 0] = np.inf
        grad = np.ones((1, 1, 2, 7), "float32")
    actual = run("_conv_weight", a, (data, grad), np.ones((1, 1, 3, 3), "float32"))
    assert np.isfinite(actual).sum() == (9 if stride == 2 else 8)


def test_deconvolution_is_the_transpose():
    a, data, weight, bias, grad = prepared("padded", "float64")
    forward = run("Convolution", a, (data, weight), grad, no_bias=True)
    back = run("_conv_data", a, (grad, weight), data, spatial=data.shape[2:])
    np.testing.assert_allclose((forward * grad).sum(), (data * back).sum(), rtol=1e-12)
