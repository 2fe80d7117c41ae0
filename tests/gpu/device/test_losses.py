"""Losses, norms, rectifiers, indexing and sequences on gpu(0) against the CPU."""

import numpy as np
import pytest

import mxcy as mx
from tests.gpu.device.test_launches import launches

GPU = mx.gpu(0)
RNG = np.random.default_rng


def check(function, *arrays, most=None, gradients=True, tolerance=1e-10):
    """Compare a function and its gradients with the CPU's; `most`: limit of forward launches."""
    results = []
    for ctx in (mx.cpu(), GPU):
        given = [mx.nd.array(values, ctx=ctx, dtype=values.dtype) for values in arrays]
        if gradients:
            for array in given:
                array.attach_grad()
        mx.nd.waitall()
        before = launches()
        with mx.autograd.record():
            out = function(*given)
        mx.nd.waitall()
        count = launches() - before
        found = [out]
        if gradients:
            head = RNG(9).uniform(-1, 1, out.shape)
            out.backward(mx.nd.array(head, ctx=ctx, dtype=out.dtype))
            found += [array.grad for array in given]
        assert all(array.context == ctx for array in found)
        results.append([array.asnumpy() for array in found])
    for wanted, result in zip(*results, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)
    assert most is None or 0 < count <= most


@pytest.mark.parametrize(
    "attrs",
    [
        {},
        {"smooth_alpha": 0.1, "grad_scale": 2.0},
        {"use_ignore": True, "ignore_label": 2, "normalization": "valid"},
    ],
    ids=["plain", "smooth", "valid"],
)
def test_softmax_output(attrs):
    x, labels = RNG(0).standard_normal((300, 7)), RNG(1).integers(-1, 8, 300).astype(float)
    check(lambda x, y: mx.nd.SoftmaxOutput(x, y, **attrs), x, labels, most=1)


def test_softmax_output_of_planes():
    x, labels = RNG(0).standard_normal((3, 5, 70)), RNG(1).integers(0, 5, (3, 70)).astype(float)
    attrs = {"multi_output": True, "use_ignore": True, "ignore_label": 3}
    check(lambda x, y: mx.nd.SoftmaxOutput(x, y, **attrs), x, labels, most=1)


@pytest.mark.parametrize("use_linear", [False, True])
def test_margins(use_linear):
    x, labels = RNG(0).standard_normal((300, 7)), RNG(1).integers(0, 7, 300).astype(float)
    check(lambda x, y: mx.nd.SVMOutput(x, y, use_linear=use_linear, margin=0.7), x, labels)


@pytest.mark.parametrize("mode", ["instance", "channel", "spatial"])
def test_lines_by_their_lengths(mode):
    x = RNG(0).standard_normal((3, 4, 9, 40))
    check(lambda x: mx.nd.L2Normalization(x, mode=mode), x, most=1)


def test_neighbouring_channels():
    check(lambda x: mx.nd.LRN(x, nsize=5, knorm=2), RNG(0).standard_normal((2, 9, 5, 6)), most=1)


@pytest.mark.parametrize("shape", [(4, 6, 5), (300, 7)])
def test_slopes_of_channels(shape):
    x, slopes = RNG(0).standard_normal(shape), RNG(1).standard_normal(shape[1])
    check(lambda x, s: mx.nd.LeakyReLU(x, s, act_type="prelu"), x, slopes, most=1)


@pytest.mark.parametrize("act_type", ["leaky", "elu", "selu"])
def test_rectifiers(act_type):
    check(lambda x: mx.nd.LeakyReLU(x, act_type=act_type), RNG(0).standard_normal((30, 40)))


@pytest.mark.parametrize("shape", [(40, 9), (3, 1000), (2, 700, 3)])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(shape, name):
    x = RNG(0).integers(-3, 4, shape).astype(float)  # many are equal
    x[0, 5:] = np.nan
    check(lambda x: getattr(mx.nd, name)(x, axis=1), x, most=1, gradients=False)


@pytest.mark.parametrize(
    "name, axis",
    [
        ("SequenceMask", 0),
        ("SequenceMask", 1),
        ("SequenceLast", 0),
        ("SequenceLast", 1),
        ("SequenceReverse", 0),
    ],
)
def test_sequences(name, axis):
    x, lengths = RNG(0).standard_normal((6, 6, 50)), np.array([1.0, 6, 3, 2, 5, 4])
    attrs = {"use_sequence_length": True, "axis": axis}
    check(lambda x: getattr(mx.nd, name)(x, mx.nd.array(lengths, ctx=x.context), **attrs), x)


def test_softmax_of_lengths():
    x, lengths = RNG(0).standard_normal((5, 400)), np.array([400, 0, 1, 77, 900])

    def of(x):
        given = mx.nd.array(lengths, ctx=x.context, dtype="int32")
        return mx.nd.softmax(x, given, use_length=True, temperature=0.5)

    check(of, x)


@pytest.mark.parametrize("pad_width", [(0, 0, 0, 0, 1, 2, 3, 0), (0, 0, 0, 0, 0, 4, 2, 2)])
@pytest.mark.parametrize("mode", ["edge", "reflect"])
def test_margins_of_elements(mode, pad_width):
    x = RNG(0).standard_normal((2, 3, 5, 6))
    attrs = {"mode": mode, "pad_width": pad_width}
    check(lambda x: mx.nd.Pad(x, **attrs), x, most=1, gradients=False)


@pytest.mark.parametrize("size", [(14, 9), (3, 4), (7, 5), (1, 1)])
@pytest.mark.parametrize("align", [False, True])
def test_other_sizes(size, align):
    x = RNG(0).standard_normal((2, 3, 7, 5))
    attrs = {"height": size[0], "width": size[1], "align_corners": align}
    check(lambda x: mx.nd.contrib.BilinearResize2D(x, **attrs), x, most=1)
    check(lambda x: mx.nd.contrib.AdaptiveAvgPooling2D(x, output_size=size), x, most=1)


def test_upsampling():
    x, y = RNG(0).standard_normal((2, 3, 4, 5)), RNG(1).standard_normal((2, 2, 8, 10))
    check(lambda x: mx.nd.UpSampling(x, scale=3, sample_type="nearest"), x, most=1)
    attrs = {"scale": 2, "sample_type": "nearest", "num_args": 2}
    check(lambda x, y: mx.nd.UpSampling(x, y, **attrs), x, y, most=2)


def test_images_less_their_means():
    x = RNG(0).uniform(0, 1, (4, 3, 9, 8))
    attrs = {"mean": (0.5, 0.4, 0.3), "std": (0.2, 0.3, 0.4)}
    check(lambda x: mx.nd.image.normalize(x, **attrs), x, most=1, gradients=False)
