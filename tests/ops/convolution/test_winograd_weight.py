"""Winograd weight gradients against float64: image edges, channels, threads."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._library import front
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import REGISTRY
from tests.ops.kernel_call import query_kernel, run_kernel

TOLERANCE = 1e-5
KERNEL = "conv_winograd_weight"


def gradient(data, grad, kernel, pad, threads=1, changes=None):
    """The kernel's result, and NumPy's in float64."""
    record = REGISTRY["_conv_weight"]
    attrs = dict(kernel=kernel, pad=pad, num_filter=grad.shape[1])
    a = record.schema.intern(record.name, attrs)
    native = next(k for k in record.kernels if k.name == KERNEL)
    out = np.full((grad.shape[1], data.shape[1], *kernel), np.nan, np.float32)
    specs = [Spec(data.shape, 0), Spec(grad.shape, 0)], [Spec(out.shape, 0)]
    params = native.struct.pack(**{**native.params(a, *specs), **(changes or {})})
    workspace = 64 if changes else query_kernel(KERNEL, [data, grad], [out], params, "workspace")
    run_kernel(KERNEL, [data, grad], [out], params, threads=threads, workspace=workspace)
    return out, record.ref(a, np, data.astype(np.float64), grad.astype(np.float64))


def draw(batch, channels, filters, source, kernel=(3, 3), pad=(1, 1)):
    """Data, the output's gradient, and the other arguments of `gradient`."""
    rng = np.random.default_rng(6)
    target = [n + 2 * p - k + 1 for n, p, k in zip(source, pad, kernel, strict=True)]
    shapes = (batch, channels, *source), (batch, filters, *target)
    data, grad = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes)
    return data, grad, kernel, pad


def error(actual, expected):
    """The largest difference, relative to the largest element."""
    return np.abs(actual - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("pad", [(0, 0), (1, 1), (2, 2), (0, 2)])
@pytest.mark.parametrize("source", [(3, 3), (4, 9), (7, 7), (8, 8), (13, 6), (17, 22)])
def test_maps_of_any_size(source, pad):
    assert error(*gradient(*draw(2, 16, 32, source, pad=pad))) < TOLERANCE


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kernel", [(3, 3), (1, 3), (3, 1)])
@pytest.mark.parametrize("channels", [(1, 1), (16, 48), (20, 37), (70, 5)])
def test_channels_and_kernels(channels, kernel, threads):
    pad = tuple(k // 2 for k in kernel)
    assert error(*gradient(*draw(3, *channels, (14, 9), kernel, pad), threads)) < TOLERANCE


@pytest.mark.parametrize("batch", [1, 7, 20])
def test_sums_over_many_tiles(batch):
    assert error(*gradient(*draw(batch, 16, 16, (30, 41)), 2)) < TOLERANCE


def test_images_in_slices():
    """Their gradient is the sum of the images' gradients."""
    data, grad, *rest = draw(33, 16, 16, (128, 128))
    kernel, attrs = REGISTRY["_conv_weight"], dict(kernel=(3, 3), pad=(1, 1), num_filter=16)

    def by(images):
        arrays = tuple(mx.nd.array(array[images]) for array in (data, grad))
        outs, ran = front.execute(kernel, arrays, attrs, kernel=KERNEL)
        assert ran == KERNEL
        return outs[0].asnumpy().astype(np.float64)

    whole = by(slice(None))
    parts = by(slice(0, 16)) + by(slice(16, 32)) + by(slice(32, 33))
    assert error(whole, parts) < 5 * TOLERANCE  # each is a sum of half a million products


@pytest.mark.parametrize("batch", [2, 9])
def test_same_bits_for_any_team(batch):
    problem = draw(batch, 48, 40, (20, 21))
    np.testing.assert_array_equal(gradient(*problem, 1)[0], gradient(*problem, 2)[0])


def test_nan_reaches_the_weights_of_its_channels():
    data, grad, *rest = draw(1, 16, 16, (12, 12))
    data[0, 3, 6, 6] = np.nan
    actual = gradient(data, grad, *rest)[0]
    assert np.isnan(actual[:, 3]).all()
    assert np.isfinite(np.delete(actual, 3, axis=1)).all()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (dict(stride=(1, 2, 2)), "stride"),
        (dict(dilate=(1, 2, 2)), "dilated"),
        (dict(groups=2), "groups"),
        (dict(kernel=(1, 5, 5)), "longer than 3"),
        (dict(kernel=(1, 3, 1)), "does not match the windows"),
        (dict(source=(2, 9, 9)), "three spatial"),
    ],
)
def test_refusals(changes, reason):
    with pytest.raises(RuntimeError, match=f"conv_winograd: .*{reason}"):
        gradient(*draw(1, 16, 16, (9, 9)), changes=changes)


@pytest.mark.parametrize(
    ("about", "wins"),
    [
        (dict(), True),
        (dict(stride=(2, 2)), False),
        (dict(num_group=2), False),
        (dict(kernel=(5, 5), pad=(2, 2)), False),
        (dict(kernel=(1, 1), pad=(0, 0)), False),
    ],
)
def test_training_uses_winograd_where_supported(about, wins, monkeypatch, capsys):
    monkeypatch.setenv("MXCY_VERBOSE", "dispatch")
    attrs = {"kernel": (3, 3), "pad": (1, 1), "num_filter": 32, "no_bias": True, **about}
    data = mx.nd.random.normal(shape=(2, 32, 10, 11))
    inner = 32 // attrs.get("num_group", 1)
    weight = mx.nd.random.normal(shape=(32, inner, *attrs["kernel"]))
    weight.attach_grad()
    with mx.autograd.record():
        out = mx.nd.Convolution(data, weight, **attrs)
    out.backward()
    mx.nd.waitall()
    told = [line for line in capsys.readouterr().out.splitlines() if "_conv_weight" in line]
    assert told and all((f"-> {KERNEL}" in line) == wins for line in told)


def test_without_winograd(monkeypatch, capsys):
    monkeypatch.setenv("MXCY_VERBOSE", "dispatch")
    monkeypatch.setenv("MXNET_CUDNN_ALLOW_WINOGRAD", "0")
    arrays = tuple(mx.nd.ones((2, 16, 13, 15)) for _ in range(2))
    attrs = dict(kernel=(3, 3), pad=(1, 1), num_filter=16)
    ran = front.execute(REGISTRY["_conv_weight"], arrays, attrs)[1]
    assert "winograd" not in ran


def test_other_instruction_sets(numbers_at_level):
    errors = numbers_at_level(
        """
from tests.ops.convolution.test_winograd_weight import draw, error, gradient
for kernel, pad in (((3, 3), (1, 1)), ((1, 3), (0, 1)), ((3, 1), (1, 0))):
    print(error(*gradient(*draw(2, 20, 50, (13, 10), kernel, pad))))
"""
    )
    assert len(errors) == 3
    assert max(errors) < TOLERANCE


@pytest.mark.parametrize("channels", [(16, 16), (64, 48)])
@pytest.mark.parametrize("threads", [2, 5, 32])
def test_threads_that_outnumber_blocks_change_no_bit(threads, channels):
    drawn = draw(6, *channels, (30, 41))
    np.testing.assert_array_equal(gradient(*drawn, threads)[0], gradient(*drawn)[0])
