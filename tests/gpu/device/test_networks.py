"""Networks on gpu(0), imperative, hybridized and bound, against the CPU."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon

GPU = mx.gpu(0)


def trained(ctx, hybridize, steps=3):
    """Return the losses of a small convolutional network."""
    rng = np.random.default_rng(0)
    net = gluon.nn.HybridSequential()
    net.add(
        gluon.nn.Conv2D(4, 3, activation="relu", in_channels=1),
        gluon.nn.BatchNorm(in_channels=4),
        gluon.nn.MaxPool2D(),
        gluon.nn.Dense(5, in_units=4 * 3 * 3),
    )
    net.initialize(mx.init.Zero(), ctx=ctx)
    for parameter in net.collect_params().values():
        if parameter.name.endswith("weight"):
            parameter.set_data(mx.nd.array(rng.standard_normal(parameter.shape) / 3))
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    data = mx.nd.array(rng.standard_normal((6, 1, 8, 8)), ctx=ctx)
    label = mx.nd.array(rng.integers(0, 5, 6), ctx=ctx)
    losses = []
    for _ in range(steps):
        with mx.autograd.record():
            loss = loss_of(net(data), label)
        loss.backward()
        trainer.step(6)
        losses.append(float(loss.mean().asscalar()))
    assert net[0].weight.data(ctx).context == ctx
    return losses


@pytest.mark.parametrize("hybridize", [False, True])
def test_training(hybridize):
    losses = trained(GPU, hybridize)
    np.testing.assert_allclose(losses, trained(mx.cpu(), hybridize), rtol=1e-4)
    assert losses[-1] < losses[0]


def test_executor():
    a, b = mx.sym.var("a"), mx.sym.var("b")
    symbol = mx.sym.sigmoid(a * b + 1) * mx.sym.tanh(a)
    rng = np.random.default_rng(1)
    values = {name: rng.standard_normal((3, 4)).astype("float32") for name in "ab"}
    results = []
    for ctx in (mx.cpu(), GPU):
        args = {name: mx.nd.array(value, ctx=ctx) for name, value in values.items()}
        grads = {name: mx.nd.zeros((3, 4), ctx=ctx) for name in "ab"}
        executor = symbol.bind(ctx, args, args_grad=grads)
        (output,) = executor.forward(is_train=True)
        executor.backward(mx.nd.ones((3, 4), ctx=ctx))
        assert output.context == ctx
        results.append([output.asnumpy(), grads["a"].asnumpy(), grads["b"].asnumpy()])
    for result, expected in zip(results[1], results[0], strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


def test_gradients_of_outputs_come_from_elsewhere():
    a = mx.sym.var("a")
    symbol = mx.sym.tanh(mx.sym.exp(a)) * 2
    for ctx, other in ((mx.cpu(), GPU), (GPU, mx.cpu())):
        results = []
        for place in (ctx, other):
            executor = symbol.bind(
                ctx, {"a": mx.nd.ones((3,), ctx=ctx)}, {"a": mx.nd.zeros((3,), ctx=ctx)}
            )
            executor.forward(is_train=True)
            executor.backward(mx.nd.full((3,), 0.5, ctx=place))
            results.append(executor.grad_arrays[0].asnumpy())
        np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("places", [(mx.cpu(), GPU), (GPU, mx.cpu())])
def test_graphs_over_several_devices_are_refused(places):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    symbol = mx.sym.exp(mx.sym.tanh(mx.sym.dot(a, b)))
    arrays = [mx.nd.ones((3, 3), ctx=place) for place in places]
    with pytest.raises(mx.MXNetError, match="must not be on"):
        mx.nd.CachedOp(symbol)(*arrays).wait_to_read()
