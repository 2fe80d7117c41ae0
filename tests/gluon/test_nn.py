"""Layers: names, invalid arguments, and behaviour not covered by golden values."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon import nn


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (nn.Dense(3), "Dense(None -> 3, linear)"),
        (nn.Dense(3, activation="relu", in_units=4), "Dense(4 -> 3, Activation(relu))"),
        (nn.Conv1D(4, 3), "Conv1D(None -> 4, kernel_size=(3,), stride=(1,))"),
        (
            nn.Conv2D(4, 3, 2, 1, 2, groups=2, in_channels=6, activation="tanh", use_bias=False),
            "Conv2D(3 -> 4, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), dilation=(2, 2), "
            "groups=2, bias=False, Activation(tanh))",
        ),
        (nn.Conv1DTranspose(4, 3), "Conv1DTranspose(None -> 4, kernel_size=(3,), stride=(1,))"),
        (
            nn.Conv2DTranspose(4, 3, in_channels=6, groups=2),
            "Conv2DTranspose(6 -> 2, kernel_size=(3, 3), stride=(1, 1), groups=2)",
        ),
        (
            nn.MaxPool2D(3, 2, 1, ceil_mode=True),
            "MaxPool2D(size=(3, 3), stride=(2, 2), padding=(1, 1), ceil_mode=True, "
            "global_pool=False, pool_type=max, layout=NCHW)",
        ),
        (
            nn.BatchNorm(in_channels=3),
            "BatchNorm(axis=1, eps=1e-05, momentum=0.9, fix_gamma=False, use_global_stats=False, "
            "in_channels=3)",
        ),
        (nn.LayerNorm(), "LayerNorm(eps=1e-05, axis=-1, center=True, scale=True, in_channels=0)"),
        (nn.Dropout(0.3), "Dropout(p = 0.3, axes=())"),
        (nn.LeakyReLU(0.1), "LeakyReLU(0.1)"),
        (nn.Embedding(5, 4), "Embedding(5 -> 4, float32)"),
        (nn.Flatten(), "Flatten"),
        (nn.HybridLambda("relu"), "HybridLambda(relu)"),
        (nn.Lambda(lambda x: x), "Lambda(<lambda>)"),
    ],
)
def test_repr(layer, text):
    assert repr(layer) == text


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.Conv2D(4, (3, 2), layout="NHWC"), (4, 3, 2, 0)),
        (nn.Conv2D(4, 3, groups=2, in_channels=6), (4, 3, 3, 3)),
        (nn.Conv2DTranspose(4, 3, groups=2, in_channels=6), (6, 2, 3, 3)),
        (nn.Conv1DTranspose(4, 3), (0, 4, 3)),
        (nn.Conv3D(4, (3, 2, 1)), (4, 0, 3, 2, 1)),
    ],
)
def test_weight_shapes(layer, shape):
    assert layer.weight.shape == shape


def test_refused_arguments():
    with pytest.raises(AssertionError, match="NCHW and NHWC"):
        nn.Conv2D(4, 3, layout="NCWH")
    with pytest.raises(AssertionError, match="a list of 2 ints"):
        nn.Conv2D(4, (3,))
    with pytest.raises(AssertionError, match="groups"):
        nn.Conv2D(4, 3, groups=2, in_channels=3)
    with pytest.raises(AssertionError, match="2D Pooling"):
        nn.MaxPool2D(layout="NWHC")
    with pytest.raises(AssertionError, match="no less than 0"):
        nn.LeakyReLU(-1)
    with pytest.raises(ValueError, match="Unrecognized function"):
        nn.Lambda(3)
    with pytest.raises(AssertionError, match="not found in ndarray"):
        nn.HybridLambda("no_such_operator")


def test_dropout_only_in_training():
    layer = nn.Dropout(0.5)
    x = mx.nd.ones((100,))
    assert (layer(x).asnumpy() == 1).all()
    with mx.autograd.train_mode():
        dropped = layer(x).asnumpy()
    assert set(dropped) == {0, 2}
    with mx.autograd.train_mode():
        assert (nn.Dropout(0)(x).asnumpy() == 1).all()


def test_batchnorm_statistics_only_move_in_training():
    layer = nn.BatchNorm(momentum=0.5)
    layer.initialize()
    x = mx.nd.array([[1, 2], [3, 6]])
    layer(x)
    assert layer.running_mean.data().asnumpy().tolist() == [0, 0]
    with mx.autograd.record():
        out = layer(x)
    out.backward()  # moves them, as in MXNet
    assert layer.running_mean.data().asnumpy().tolist() == [1, 2]


def test_batchnorm_relu():
    layer = nn.BatchNormReLU()
    layer.initialize()
    assert layer(mx.nd.array([[-1, 1]])).asnumpy()[0, 0] == 0


def test_activation_inside_a_layer_is_its_child():
    layer = nn.Dense(2, activation="relu", prefix="d_")
    assert layer.act.prefix == "d_relu_"
    assert list(layer._children) == ["act"]


def test_prelu_slope_is_learned():
    layer = nn.PReLU()
    layer.initialize()
    with mx.autograd.record():
        out = layer(mx.nd.array([[-2, 2]]))
    out.backward()
    assert out.asnumpy().tolist() == [[-0.5, 2]]
    assert layer.alpha.grad().asnumpy().tolist() == [-2]


def test_silu_is_swish():
    x = mx.nd.array([-1, 0.5])
    assert (nn.SiLU()(x).asnumpy() == nn.Swish()(x).asnumpy()).all()


def test_activations_of_version_2():
    x = mx.nd.array([-2, 0, 3])
    for kind in ("log_sigmoid", "mish"):
        layer = nn.Activation(kind)
        expected = getattr(mx.nd, kind)(x).asnumpy()
        np.testing.assert_array_equal(layer(x).asnumpy(), expected)
        layer.hybridize()
        np.testing.assert_allclose(layer(x).asnumpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(expected, [-0.252501, 0, 2.98654], rtol=1e-4)


def test_selu():
    # Not a golden value: MXNet 1.9.1 computes a wrong gradient for negative inputs.
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    x = mx.nd.array([-3, -0.5, 2])
    x.attach_grad()
    with mx.autograd.record():
        out = nn.SELU()(x)
    out.backward()
    negative = scale * alpha * np.expm1([-3, -0.5])
    np.testing.assert_allclose(out.asnumpy(), [*negative, 2 * scale], rtol=1e-5)
    np.testing.assert_allclose(x.grad.asnumpy(), [*(negative + scale * alpha), scale], rtol=1e-5)


@pytest.mark.parametrize(
    ("layer", "shape", "upsampled"),
    [
        (nn.PixelShuffle1D(2), (1, 4, 3), (1, 2, 6)),
        (nn.PixelShuffle2D((2, 3)), (2, 12, 2, 3), (2, 2, 4, 9)),
        (nn.PixelShuffle3D(2), (1, 8, 1, 2, 3), (1, 1, 2, 4, 6)),
    ],
)
def test_pixel_shuffle(layer, shape, upsampled):
    x = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    out = layer(mx.nd.array(x)).asnumpy()
    assert out.shape == upsampled
    # Pixel (s * f + i) of a channel is pixel s of channel i in its group.
    factors = [b // a for a, b in zip(shape[2:], upsampled[2:], strict=True)]
    grouped = x.reshape(*shape[:1], upsampled[1], *factors, *shape[2:])
    for index in np.ndindex(*upsampled):
        spatial = index[2:]
        inner = tuple(i % f for i, f in zip(spatial, factors, strict=True))
        outer = tuple(i // f for i, f in zip(spatial, factors, strict=True))
        assert out[index] == grouped[(*index[:2], *inner, *outer)]


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize(
    "layer, shape",
    [
        (lambda: nn.LayerNorm(in_channels=10), (2, 11)),
        (lambda: nn.BatchNorm(in_channels=10), (2, 11)),
        (lambda: nn.Dense(3, in_units=10), (2, 11)),
        (lambda: nn.InstanceNorm(in_channels=10), (2, 11, 3)),
    ],
)
def test_inputs_of_another_extent_are_refused(layer, shape, hybridize):
    net = layer()
    net.initialize()
    if hybridize:
        net.hybridize()
    for kind in (mx.MXNetError, AssertionError):  # of MXNet 1.9 and of 2
        with pytest.raises(kind, match="expected shape"):
            net(mx.nd.ones(shape)).asnumpy()


def test_normalization_without_channels():
    x, gamma, beta = mx.np.ones((1, 0, 1)), mx.np.ones(1), mx.np.zeros(1)
    for array in (x, gamma, beta):
        array.attach_grad()
    with mx.autograd.record():
        out = mx.npx.instance_norm(x, gamma, beta)
    out.backward()
    assert out.shape == x.grad.shape == (1, 0, 1)
    assert gamma.grad.tolist() == beta.grad.tolist() == [0]


def test_optimize_for_takes_arrays_beyond_the_inputs():
    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.inner = nn.Dense(2, in_units=3)

        def forward(self, x):
            return self.inner(x)

    net = Net()
    net.initialize()
    x = mx.np.ones((1, 3))
    net.optimize_for(x, net.inner.weight.data(), backend="ONEDNN")
    assert net(x).shape == (1, 2)


def test_gelu_by_a_hyperbolic_tangent():
    values = np.linspace(-6, 6, 50).astype("float32")
    inner = np.sqrt(2 / np.pi) * (values + 0.044715 * values.astype("float64") ** 3)
    want = values * (1 + np.tanh(inner)) / 2
    near = nn.GELU(approximation="tanh")
    for hybridized in (False, True):
        near.hybridize(hybridized)
        np.testing.assert_allclose(near(mx.nd.array(values)).asnumpy(), want, rtol=1e-5, atol=1e-6)
    exact = nn.GELU(approximation="erf")(mx.nd.array(values)).asnumpy()
    np.testing.assert_array_equal(exact, nn.GELU()(mx.nd.array(values)).asnumpy())
    assert 1e-5 < np.abs(exact - want).max() < 1e-3
    with pytest.raises(ValueError, match="approximation must be 'erf' or 'tanh', got 'no'"):
        nn.GELU(approximation="no")
