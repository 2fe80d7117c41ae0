"""Spatial operators: errors, and plans of their symbols."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError

nd, sym = mx.nd, mx.sym


def draw(*shape, low=-1.0, high=1.0):
    return nd.array(np.random.RandomState(sum(shape)).uniform(low, high, shape))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nd.GridGenerator(nd.zeros((2, 6)), transform_type="affine"), "target_shape"),
        (lambda: nd.GridGenerator(nd.zeros((2, 3, 4, 4)), transform_type="warp"), "data"),
        (lambda: nd.BilinearSampler(nd.zeros((2, 1, 3, 3)), nd.zeros((1, 2, 3, 3))), "grid"),
        (lambda: nd.Correlation(draw(1, 1, 4, 4), draw(1, 1, 4, 4), kernel_size=2), "kernel_size"),
        (lambda: nd.Correlation(draw(1, 1, 4, 4), draw(1, 1, 4, 4), max_displacement=2), "data1"),
        (
            lambda: nd.contrib.DeformableConvolution(
                draw(1, 3, 4, 4),
                draw(1, 17, 4, 4),
                draw(2, 3, 3, 3),
                kernel=(3, 3),
                num_filter=2,
                pad=(1, 1),
                no_bias=True,
            ),
            "offset",
        ),
        (lambda: nd.im2col(draw(1, 2, 3, 3), kernel=(4, 4)), "kernel"),
        (lambda: nd.col2im(draw(1, 4, 5), kernel=(2, 2), output_size=(3, 3)), "windows"),
        (lambda: nd.contrib.Proposal(draw(2, 24, 2, 2), draw(2, 48, 2, 2), draw(2, 3)), "cls_prob"),
        (
            lambda: nd.contrib.PSROIPooling(
                draw(1, 7, 4, 4), draw(1, 5), spatial_scale=1, output_dim=2, pooled_size=2
            ),
            "data",
        ),
    ],
)
def test_refusal(call, message):
    with pytest.raises(MXNetError, match=message):
        call().wait_to_read()


NETWORKS = {
    "transformer": (
        lambda data, loc: sym.SpatialTransformer(
            data,
            sym.tanh(loc),
            target_shape=(3, 4),
            transform_type="affine",
            sampler_type="bilinear",
        ),
        ((2, 3, 5, 6), (2, 6)),
    ),
    "sampler": (
        lambda data, loc: sym.BilinearSampler(
            data, sym.GridGenerator(loc, transform_type="affine", target_shape=(3, 4))
        ),
        ((2, 3, 5, 6), (2, 6)),
    ),
    "correlation": (
        lambda a, b: sym.Correlation(sym.sin(a), b, max_displacement=2, pad_size=2),
        ((2, 3, 5, 6), (2, 3, 5, 6)),
    ),
    "deformable": (
        lambda a, b: sym.contrib.DeformableConvolution(
            a, b, kernel=(3, 3), pad=(1, 1), num_filter=2, name="conv"
        ),
        ((2, 3, 5, 6), (2, 18, 5, 6), (2, 3, 3, 3), (2,)),
    ),
    "windows": (
        lambda q, k: sym.contrib.sldwin_atten_context(
            sym.contrib.sldwin_atten_score(q, k, sym.ones((2,)), w=1, symmetric=True),
            k,
            sym.ones((2,)),
            w=1,
            symmetric=True,
        ),
        ((2, 4, 2, 3), (2, 4, 2, 3)),
    ),
}


@pytest.mark.parametrize(
    ("symbol", "names"),
    [
        (sym.contrib.Proposal(name="x", output_score=True), ["x_output", "x_score"]),
        (sym.contrib.Proposal(name="x"), ["x_output"]),
        (sym.ROIPooling(pooled_size=(2, 2), spatial_scale=1, name="x"), ["x_output"]),
        (sym.contrib.MultiBoxTarget(name="x"), ["x_loc_target", "x_loc_mask", "x_cls_target"]),
        (sym.Correlation(name="x"), ["x_output"]),
    ],
)
def test_output_names(symbol, names):
    assert symbol.list_outputs() == names


@pytest.mark.parametrize("name", NETWORKS)
def test_plans_and_files(name, tmp_path):
    """A bound symbol, and the one read from its file, give the gradients of autograd."""
    build, shapes = NETWORKS[name]
    arrays = [draw(*shape) for shape in shapes]
    net = build(sym.var("a"), sym.var("b"))
    net.save(str(tmp_path / "net.json"))
    collected = []
    for symbol in (net, mx.sym.load(str(tmp_path / "net.json"))):
        names = symbol.list_arguments()
        grads = [nd.zeros(shape) for shape in shapes]
        given = dict(zip(names, arrays, strict=True))
        executor = symbol.bind(mx.cpu(), given, args_grad=dict(zip(names, grads, strict=True)))
        out = executor.forward(is_train=True)[0]
        executor.backward(nd.ones(out.shape))
        collected.append([out.asnumpy(), *(grad.asnumpy() for grad in grads)])
    for array in arrays:
        array.attach_grad()
    block = mx.gluon.SymbolBlock(net, [sym.var(name) for name in net.list_arguments()])
    with mx.autograd.record():
        out = block(*arrays)
    out.backward()
    want = [out.asnumpy(), *(array.grad.asnumpy() for array in arrays)]
    for values in collected:
        for got, expected in zip(values, want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
        assert all(np.abs(part).max() > 0 for part in values)


def test_mask_targets_crop_to_regions():
    """MXNet has the operator on GPUs only: compare with its documentation and with ROIAlign."""
    masks = nd.array(np.random.RandomState(0).randint(0, 2, (1, 2, 8, 8)))
    rois = nd.array([[[0, 0, 4, 4], [2, 1, 7, 6]]])
    actual, counts = nd.contrib.mrcnn_mask_target(
        rois,
        masks,
        nd.array([[1, 0]]),
        nd.array([[2, 0]]),
        num_rois=2,
        num_classes=3,
        mask_size=(2, 2),
    )
    assert actual.shape == counts.shape == (1, 2, 3, 2, 2)
    regions = nd.array([[1, 0, 0, 4, 4], [0, 2, 1, 7, 6]])
    want = nd.contrib.ROIAlign(
        masks.reshape((2, 1, 8, 8)), regions, pooled_size=(2, 2), spatial_scale=1, sample_ratio=2
    )
    for kind in range(3):
        np.testing.assert_allclose(actual[0, :, kind].asnumpy(), want[:, 0].asnumpy(), rtol=1e-6)
    assert counts[0, :, :, 0, 0].asnumpy().tolist() == [[0, 0, 1], [1, 0, 0]]


def test_versions_of_deformable_convolution_agree_inside_the_image():
    """MXNet has the second version on GPUs only: without a mask it is the first inside."""
    data, moves, weight = draw(1, 2, 6, 6), draw(1, 18, 6, 6, low=0, high=0.4), draw(3, 2, 3, 3)
    attrs = {"kernel": (3, 3), "num_filter": 3, "pad": (1, 1), "no_bias": True}
    first = nd.contrib.DeformableConvolution(data, moves, weight, **attrs)
    second, halved = (
        nd.contrib.ModulatedDeformableConvolution(data, moves, mask, weight, **attrs).asnumpy()
        for mask in (nd.ones((1, 9, 6, 6)), nd.ones((1, 9, 6, 6)) / 2)
    )
    inside = (..., slice(1, 4), slice(1, 4))  # positions whose taps are all inside the image
    np.testing.assert_allclose(second[inside], first.asnumpy()[inside], rtol=1e-5, atol=1e-6)
    assert np.abs(second - first.asnumpy()).max() > 0.01
    np.testing.assert_allclose(halved * 2, second, rtol=1e-5, atol=1e-6)
