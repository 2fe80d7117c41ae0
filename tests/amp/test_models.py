"""Models converted to and trained in mixed precision."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import amp, autograd, gluon
from mxcy.amp.amp import bfloat16
from mxcy.gluon import nn


def network(hybridized=True):
    """A small convolutional network after its first call."""
    mx.random.seed(3)
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Conv2D(8, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"))
        net.add(nn.MaxPool2D(), nn.Conv2D(16, 3), nn.Activation("softrelu"))
        net.add(nn.Flatten(), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    if hybridized:
        net.hybridize()
    net(images())
    return net


def images(n=4):
    return mx.nd.array(np.random.RandomState(0).rand(n, 3, 8, 8))


def kinds(parameters):
    """The types of parameters by role."""
    return {name.split("_", 1)[1]: np.dtype(value.dtype) for name, value in parameters.items()}


@pytest.mark.parametrize("target", ["float16", "bfloat16", np.float16, bfloat16])
@pytest.mark.parametrize("offline", [False, True])
def test_blocks(target, offline):
    net, x = network(), images()
    want = net(x)
    converted = amp.convert_hybrid_block(net, target, cast_optional_params=offline)
    for _ in range(2):
        got = converted(x)
        assert got.dtype == np.float32
        np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), atol=0.03)
    low = np.float16 if target in ("float16", np.float16) else bfloat16
    types = kinds({k: p.dtype and p.data() for k, p in converted.collect_params().items()})
    for name, kind in types.items():
        is_low = offline and ("conv" in name or "dense" in name)
        assert kind == (low if is_low else np.float32), name
    # the block itself is unchanged
    np.testing.assert_array_equal(net(x).asnumpy(), want.asnumpy())


def test_blocks_by_an_example():
    net, x = network(hybridized=False), images()
    want = net(x).asnumpy()
    converted = amp.convert_hybrid_block(net, x, "bfloat16", cast_params_offline=True)
    np.testing.assert_allclose(converted(x).asnumpy(), want, atol=0.03)
    with pytest.raises(RuntimeError, match="call block.hybridize"):
        amp.convert_hybrid_block(network(hybridized=False))
    with pytest.raises(AssertionError, match="HybridBlock"):
        amp.convert_hybrid_block(3)


@mx.util.use_np
def test_blocks_of_numpy_arrays():
    class Net(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.dense, self.last = nn.Dense(16), nn.Dense(4)

        def forward(self, x):
            return self.last(mx.npx.batch_flatten(mx.np.tanh(self.dense(2**x))))

    net = Net()
    net.initialize(mx.init.Xavier())
    x = mx.np.array(np.random.RandomState(0).rand(4, 12), dtype="float32")
    want = net(x).asnumpy()
    converted = amp.convert_hybrid_block(net, x, "bfloat16", cast_params_offline=True)
    got = converted(x)
    assert isinstance(got, mx.np.ndarray)
    np.testing.assert_allclose(got.asnumpy(), want, atol=0.03)
    low = x.astype("bfloat16")
    assert low.dtype == bfloat16
    assert (low.astype("float32") == x).sum() < x.size


def test_exported_blocks(tmp_path):
    net, x = network(), images()
    converted = amp.convert_hybrid_block(net, "bfloat16")
    want = converted(x).asnumpy()
    converted.export(str(tmp_path / "whole"), remove_amp_cast=False)
    converted.export(str(tmp_path / "plain"))
    for name, exact in (("whole", True), ("plain", False)):
        files = f"{tmp_path / name}-symbol.json", "data", f"{tmp_path / name}-0000.params"
        got = gluon.SymbolBlock.imports(*files)(x).asnumpy()
        assert np.array_equal(got, want) == exact
        np.testing.assert_allclose(got, want, atol=0.03)


@pytest.mark.parametrize("target", ["float16", "bfloat16"])
@pytest.mark.parametrize("offline", [False, True])
def test_modules(target, offline, tmp_path):
    data = mx.sym.var("data")
    conv = mx.sym.Convolution(data, kernel=(3, 3), num_filter=8, name="conv")
    norm = mx.sym.BatchNorm(conv, fix_gamma=False, name="bn")
    out = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(norm, num_hidden=5, name="fc"), name="softmax")
    module = mx.mod.Module(out)
    module.bind([("data", (4, 3, 8, 8))], [("softmax_label", (4,))])
    module.init_params(mx.init.Xavier())
    arguments, states = module.get_params()
    batch = mx.io.DataBatch([images()], [mx.nd.zeros(4)])
    module.forward(batch, is_train=False)
    want = module.get_outputs()[0].asnumpy()
    symbol, args, auxs = amp.convert_model(
        out, arguments, states, target, cast_optional_params=offline
    )
    low = {"float16": np.float16, "bfloat16": bfloat16}[target]
    assert {name: array.dtype for name, array in args.items()} == {
        name: low if offline and not name.startswith("bn") else np.float32 for name in args
    }
    assert all(array.dtype == np.float32 for array in (*auxs.values(), *arguments.values()))
    module = mx.mod.Module(symbol)
    module.bind([("data", (4, 3, 8, 8))], [("softmax_label", (4,))], for_training=False)
    module.set_params(args, auxs)
    module.forward(batch)
    got = module.get_outputs()[0]
    assert got.dtype == np.float32
    np.testing.assert_allclose(got.asnumpy(), want, atol=0.02)
    module.save_checkpoint(str(tmp_path / "m"), 1, remove_amp_cast=False)
    assert "amp_cast" in (tmp_path / "m-symbol.json").read_text(encoding="utf-8")
    module.save_checkpoint(str(tmp_path / "m"), 1)
    assert "amp_cast_" not in (tmp_path / "m-symbol.json").read_text(encoding="utf-8")
    for wrong in ((3, {}, {}), (out, 3, {}), (out, {}, 3)):
        with pytest.raises(AssertionError, match="argument to convert_model"):
            amp.convert_model(*wrong)


def test_bucketing_modules():
    def symbol_of(length):
        data = mx.sym.var("data")
        embedded = mx.sym.Embedding(data, input_dim=20, output_dim=6, name="embed")
        pooled = mx.sym.sum(embedded, axis=1)
        out = mx.sym.FullyConnected(pooled, num_hidden=3, name="fc")
        return mx.sym.SoftmaxOutput(out, name="softmax"), ["data"], ["softmax_label"]

    def batch(length):
        data = mx.nd.array(np.arange(2 * length).reshape(2, length) % 20)
        return mx.io.DataBatch(
            [data],
            [mx.nd.zeros(2)],
            bucket_key=length,
            provide_data=[("data", (2, length))],
            provide_label=[("softmax_label", (2,))],
        )

    module = mx.mod.BucketingModule(symbol_of, default_bucket_key=7)
    module.bind([("data", (2, 7))], [("softmax_label", (2,))])
    module.init_params()
    for offline in (False, True):
        converted = amp.convert_bucketing_module(module, "bfloat16", cast_optional_params=offline)
        converted.bind([("data", (2, 7))], [("softmax_label", (2,))], for_training=False)
        for length in (7, 4):
            results = []
            for one in (module, converted):
                one.forward(batch(length), is_train=False)
                results.append(one.get_outputs()[0].asnumpy())
            np.testing.assert_allclose(results[1], results[0], atol=0.02)
    with pytest.raises(AssertionError, match="bucketing module"):
        amp.convert_bucketing_module(3)


@pytest.mark.parametrize("hybridized", [False, True])
def test_training_reaches_the_loss_of_float32(mixed, hybridized):
    draw = np.random.RandomState(1)
    x, label = mx.nd.array(draw.rand(64, 12)), mx.nd.array(draw.randint(0, 4, 64))
    losses = []
    for target in (None, "bfloat16"):
        if target:
            mixed(target)
        mx.random.seed(5)
        net = nn.HybridSequential()
        net.add(nn.Dense(32, activation="relu"), nn.BatchNorm(), nn.Dense(4))
        net.initialize(mx.init.Xavier())
        if hybridized:
            net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
        if target:
            amp.init_trainer(trainer)
        criterion = gluon.loss.SoftmaxCrossEntropyLoss()
        for _ in range(60):
            with autograd.record():
                loss = criterion(net(x), label).mean()
                if target:
                    with amp.scale_loss(loss, trainer) as scaled:
                        scaled.backward()
            if not target:
                loss.backward()
            trainer.step(1)
        assert net[0].weight.data().dtype == np.float32
        losses.append(loss.asscalar())
    assert losses[0] < 0.5
    assert abs(losses[1] - losses[0]) < 0.05 * losses[0] + 0.01


def test_a_graph_made_before_keeps_no_casts(mixed, caplog):
    net = network()
    mixed("bfloat16")
    assert f"Block {net.name} was hybridized and called before AMP init" in caplog.text
    assert net(images()).dtype == np.float32
    net.hybridize()
    assert net(images()).dtype == bfloat16


class Sum(gluon.HybridBlock):
    """A residual unit of 32 channels."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.body = nn.HybridSequential()
            self.body.add(nn.Conv2D(32, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"))
            self.body.add(nn.Conv2D(32, 1), nn.BatchNorm())

    def hybrid_forward(self, F, x):
        """Add the result of the body."""
        return F.relu(x + self.body(x))


def test_training_in_blocks_is_that_of_single_operators(mixed):
    mixed("bfloat16")
    losses, gradients = [], []
    for hybrid in (False, True):
        mx.random.seed(3)
        net, criterion = nn.HybridSequential(), gluon.loss.SoftmaxCrossEntropyLoss()
        net.add(nn.Conv2D(32, 3, strides=2), nn.BatchNorm(), nn.Activation("relu"), Sum())
        net.add(nn.MaxPool2D(), nn.Conv2D(16, 3), nn.GlobalAvgPool2D(), nn.Dense(5))
        net.initialize(mx.init.Xavier())
        if hybrid:
            net.hybridize(static_alloc=True, static_shape=True)
        data, label = mx.nd.random.normal(shape=(8, 3, 17, 17)), mx.nd.arange(8) % 5
        with autograd.record():
            loss = criterion(net(data), label)
        loss.backward()
        losses.append(loss.asnumpy())
        parameters = net.collect_params().values()
        gradients.append([p.grad().asnumpy() for p in parameters if p.grad_req != "null"])
    np.testing.assert_allclose(losses[1], losses[0], rtol=0.02)
    for one, other in zip(*gradients, strict=True):
        # biases before normalisation have no gradients but rounding errors
        assert np.linalg.norm(other - one) <= 0.1 * np.linalg.norm(one) + 0.02
