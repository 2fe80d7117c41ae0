"""Deformable convolution layers."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon import nn


def image(*shape):
    return mx.nd.array(np.random.RandomState(0).uniform(-1, 1, shape))


def parameters(layer):
    return {name[len(layer.prefix) :]: p.shape for name, p in layer.collect_params().items()}


@pytest.mark.parametrize(
    ("layer", "moves"), [(nn.DeformableConvolution, 18), (nn.ModulatedDeformableConvolution, 27)]
)
def test_starts_as_a_convolution(layer, moves):
    net = layer(4, kernel_size=(3, 3), padding=(1, 1), strides=(2, 2), activation="relu")
    net.initialize(mx.init.Normal(0.5))
    x = image(2, 3, 7, 6)
    out = net(x)
    assert parameters(net) == {
        "offset_weight": (moves, 3, 3, 3),
        "offset_bias": (moves,),
        "deformable_conv_weight": (4, 3, 3, 3),
        "deformable_conv_bias": (4,),
    }
    plain = mx.nd.Convolution(
        x,
        net.deformable_conv_weight.data(),
        net.deformable_conv_bias.data(),
        kernel=(3, 3),
        pad=(1, 1),
        stride=(2, 2),
        num_filter=4,
    )
    # With zeros for offsets the mask is 2 * sigmoid(0) = 1.
    np.testing.assert_allclose(out.asnumpy(), plain.relu().asnumpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("layer", [nn.DeformableConvolution, nn.ModulatedDeformableConvolution])
def test_learns_where_to_read(layer, tmp_path):
    net = layer(
        4,
        kernel_size=3,
        padding=1,
        groups=2,
        num_deformable_group=2,
        in_channels=4,
        use_bias=False,
        offset_use_bias=False,
        offset_weight_initializer="normal",
    )
    net.initialize(mx.init.Normal(0.5))
    x = image(2, 4, 5, 6)
    x.attach_grad()
    grads = []
    for hybrid in (False, True):
        net.hybridize(hybrid)
        with mx.autograd.record():
            out = net(x)
        out.backward()
        grads.append([out, x.grad.copy(), *(p.grad() for p in net.collect_params().values())])
        grads[-1] = [array.asnumpy() for array in grads[-1]]
    for eager, planned in zip(*grads, strict=True):
        np.testing.assert_allclose(planned, eager, rtol=1e-5, atol=1e-5)
    assert np.abs(net.offset_weight.grad().asnumpy()).max() > 0
    net.export(str(tmp_path / "net"))
    again = mx.gluon.SymbolBlock.imports(
        str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params")
    )
    np.testing.assert_allclose(again(x).asnumpy(), grads[0][0], rtol=1e-5, atol=1e-5)


def test_repr():
    assert repr(nn.DeformableConvolution(4, (3, 3), groups=2, in_channels=4, padding=1)) == (
        "DeformableConvolution(2 -> 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), groups=2)"
    )
    layer = nn.ModulatedDeformableConvolution(4, activation="relu", use_bias=False, dilation=2)
    assert repr(layer) == (
        "ModulatedDeformableConvolution(None -> 4, kernel_size=(1, 1), stride=(1, 1), "
        "dilation=(2, 2), bias=False, Activation(relu))"
    )


def test_shapes_before_an_input():
    layer = nn.ModulatedDeformableConvolution(4, kernel_size=(3, 2), num_deformable_group=2)
    assert layer.pre_infer_offset_weight() == (36, -1, 3, 2)
    assert layer.pre_infer_weight() == (4, -1, 3, 2)
    assert nn.Conv2D(4, 3, groups=2, in_channels=6).pre_infer() == (4, 3, 3, 3)
    assert nn.Conv1DTranspose(4, 3).pre_infer() == (-1, 4, 3)


def test_layout_is_refused():
    with pytest.raises(AssertionError, match="NCHW"):
        nn.DeformableConvolution(4, layout="NHWC")
