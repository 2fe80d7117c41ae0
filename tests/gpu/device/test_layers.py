"""Layers by our kernels against the CPU: products, convolutions, norms, pooling."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon
from tests.gpu.device.test_launches import launches

GPU = mx.gpu(0)


def both(function, *values, dtype="float32"):
    """Results and gradients of a function on the CPU and on the GPU, and its launches."""
    results = []
    for ctx in (mx.cpu(), GPU):
        arrays = [mx.nd.array(value, ctx=ctx, dtype=dtype) for value in values]
        for array in arrays:
            array.attach_grad()
        before = launches()
        with mx.autograd.record():
            result = function(*arrays)
        result.backward(mx.nd.ones(result.shape, ctx=ctx, dtype=dtype) * 0.5)
        results.append([result.asnumpy(), *(array.grad.asnumpy() for array in arrays)])
        count = launches() - before
    return *results, count


def check(function, *values, dtype="float32", most=None, tolerance=2e-5):
    host, device, count = both(function, *values, dtype=dtype)
    for result, expected in zip(device, host, strict=True):
        scale = max(np.abs(expected.astype("float64")).max(initial=0), 1)
        np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance * scale)
    assert most is None or 0 < count <= most


def draw(*shapes):
    rng = np.random.default_rng(len(shapes))
    return [rng.standard_normal(shape) for shape in shapes]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_dense(dtype):
    """Sizes beyond a tile, and not multiples of it."""
    tolerance = 4e-3 if dtype == "float16" else 2e-5
    values = draw((70, 150), (97, 150), (97,))
    check(
        lambda x, w, b: mx.nd.FullyConnected(x, w, b, num_hidden=97) / 8,
        *values,
        dtype=dtype,
        tolerance=tolerance,
    )


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_batches_of_products(transpose_a, transpose_b):
    values = draw(
        (3, 5, 20) if transpose_a else (3, 20, 5), (3, 7, 5) if transpose_b else (3, 5, 7)
    )
    check(
        lambda a, b: mx.nd.batch_dot(a, b, transpose_a=transpose_a, transpose_b=transpose_b),
        *values,
    )


@pytest.mark.parametrize(
    ("data", "weight", "attrs"),
    [
        ((2, 3, 9, 8), (70, 3, 3, 3), {"kernel": (3, 3), "pad": (1, 1)}),
        ((2, 6, 9, 8), (4, 3, 3, 2), {"kernel": (3, 2), "stride": (2, 1), "num_group": 2}),
        ((2, 4, 11, 9), (8, 1, 3, 3), {"kernel": (3, 3), "num_group": 4, "dilate": (2, 1)}),
        ((2, 4, 20), (3, 4, 3), {"kernel": (3,), "stride": (2,), "pad": (1,)}),
        ((1, 2, 4, 5, 6), (3, 2, 2, 3, 2), {"kernel": (2, 3, 2), "pad": (0, 1, 1)}),
    ],
    ids=["wide", "groups", "depthwise", "1 dimension", "3 dimensions"],
)
def test_convolutions(data, weight, attrs):
    values = draw(data, weight, (weight[0],))
    check(lambda x, w, b: mx.nd.Convolution(x, w, b, num_filter=weight[0], **attrs), *values)


def test_transposed_convolution():
    check(
        lambda x, w, b: mx.nd.Deconvolution(
            x, w, b, kernel=(3, 3), stride=(2, 2), pad=(1, 1), num_filter=4, no_bias=False
        ),
        *draw((2, 3, 5, 6), (3, 4, 3, 3), (4,)),
    )


@pytest.mark.parametrize("fix_gamma", [False, True])
@pytest.mark.parametrize("axis", [1, -1])
def test_batch_norm_in_training(fix_gamma, axis):
    x, gamma, beta, mean, var = draw((6, 5, 7, 5), (5,), (5,), (5,), (5,))
    statistics = []

    def normalised(x, gamma, beta):
        running = [mx.nd.array(v, ctx=x.context) for v in (mean, np.abs(var) + 1)]
        statistics.append(running)
        return mx.nd.BatchNorm(x, gamma, beta, *running, fix_gamma=fix_gamma, axis=axis)

    check(normalised, x, gamma, beta, tolerance=1e-4)
    for host, device in zip(*statistics, strict=True):
        np.testing.assert_allclose(device.asnumpy(), host.asnumpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["LayerNorm", "GroupNorm", "InstanceNorm"])
def test_norms_of_rows(name):
    shape, attrs = ((5, 4, 300), {"num_groups": 2}) if name == "GroupNorm" else ((5, 4, 300), {})
    size = 300 if name == "LayerNorm" else 4
    values = draw(shape, (size,), (size,))
    check(lambda x, g, b: getattr(mx.nd, name)(x, g, b, **attrs), *values, tolerance=1e-4)


@pytest.mark.parametrize("pool_type", ["max", "avg", "sum"])
@pytest.mark.parametrize("convention", ["valid", "full"])
def test_pooling(pool_type, convention):
    (x,) = draw((2, 3, 9, 10))
    x[0, 0, 2:4] = 1.5  # ties: the first maximum gets the gradient
    check(
        lambda a: mx.nd.Pooling(
            a,
            kernel=(3, 3),
            stride=(2, 2),
            pad=(1, 1),
            pool_type=pool_type,
            pooling_convention=convention,
        ),
        x,
    )


def test_pick():
    x, places = np.random.default_rng(0).standard_normal((6, 5)), [0, 4, 9, -3, 2.0, 1]
    for mode in ("clip", "wrap"):
        check(lambda a, m=mode: mx.nd.pick(a, mx.nd.array(places, ctx=a.context), mode=m), x)


def test_empty_and_not_a_number():
    data, weight = np.full((2, 3, 4, 4), np.nan, "float32"), np.ones((2, 3, 1, 1), "float32")
    for ctx in (mx.cpu(), GPU):
        x, w = mx.nd.array(data, ctx=ctx), mx.nd.array(weight, ctx=ctx)
        result = mx.nd.Convolution(x, w, kernel=(1, 1), num_filter=2, no_bias=True)
        assert np.isnan(result.asnumpy()).all()
        pooled = mx.nd.Pooling(x, kernel=(2, 2), pool_type="max").asnumpy()
        np.testing.assert_array_equal(pooled, np.full((2, 3, 3, 3), -3.4028235e38, "float32"))


def lenet(act="tanh"):
    net = gluon.nn.HybridSequential()
    net.add(
        gluon.nn.Conv2D(6, 5, activation=act),
        gluon.nn.MaxPool2D(2, 2),
        gluon.nn.Conv2D(16, 5, activation=act),
        gluon.nn.MaxPool2D(2, 2),
        gluon.nn.Dense(120, activation=act),
        gluon.nn.Dense(84, activation=act),
        gluon.nn.Dense(10),
    )
    return net


def losses(net, ctx, shape, rate=0.01, steps=5):
    """Return losses of training steps, and the launches of each."""
    rng = np.random.default_rng(0)
    x = mx.nd.array(rng.standard_normal(shape), ctx=ctx)
    labels = mx.nd.array(rng.integers(0, 10, shape[0]), ctx=ctx)
    net.initialize(mx.init.Zero(), ctx=ctx)
    net(x)
    for name, parameter in net.collect_params().items():
        if name.endswith("weight"):
            fan_in = np.prod(parameter.shape[1:])
            parameter.set_data(mx.nd.array(rng.standard_normal(parameter.shape) / fan_in**0.5))
    net.hybridize(static_alloc=True, static_shape=True)
    settings = {"learning_rate": rate, "momentum": 0.9}
    trainer = gluon.Trainer(net.collect_params(), "sgd", settings)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    loss_of.hybridize()
    results = []
    for _ in range(steps):
        with mx.autograd.record():
            loss = loss_of(net(x), labels)
        loss.backward()
        trainer.step(shape[0])
        results.append(float(loss.mean().asscalar()))
    return results


def test_lenet_trains_as_on_the_cpu():
    expected = losses(lenet(), mx.cpu(), (8, 1, 28, 28))
    np.testing.assert_allclose(losses(lenet(), GPU, (8, 1, 28, 28)), expected, rtol=1e-4)
    assert expected[-1] < expected[0]
