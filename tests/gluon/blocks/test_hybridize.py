"""Hybridized blocks run as graphs and compute what they compute eagerly."""

import threading

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd, gluon
from mxcy.gluon import nn


def convolutional(prefix):
    net = nn.HybridSequential(prefix=prefix)
    with net.name_scope():
        net.add(
            nn.Conv2D(8, 3, padding=1, activation="relu"),
            nn.BatchNorm(),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(16, 3, use_bias=False),
            nn.BatchNorm(scale=False),
            nn.Activation("relu"),
            nn.GlobalAvgPool2D(),
            nn.Flatten(),
            nn.Dense(10, activation="tanh"),
            nn.Dense(5),
        )
    return net


class Branches(gluon.HybridBlock):
    """Several inputs and outputs in lists, a parameter of its own, and one that is used twice."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.scale = self.params.get("scale", shape=(1, 4), init="ones")
            self.shared = nn.Dense(4)

    def hybrid_forward(self, F, x, others, scale):
        first, second = others
        total = self.shared(first) + self.shared(second)
        return [F.broadcast_mul(x, scale) + total, [total, F.sum(x, axis=1)]]


def pair(make):
    """An eager block and a hybridized one with the same parameters."""
    eager, graph = make("eager_"), make("graph_")
    for block in (eager, graph):
        block.initialize(mx.init.Xavier())
    graph.hybridize()
    return eager, graph


def copy_parameters(eager, graph):
    for source, target in zip(
        eager.collect_params().values(), graph.collect_params().values(), strict=True
    ):
        target.set_data(source.data())


def test_prediction_equals_eager():
    eager, graph = pair(convolutional)
    for shape in ((4, 3, 12, 12), (2, 3, 9, 15), (4, 3, 12, 12)):
        x = mx.nd.random.uniform(-1, 1, shape=shape)
        expected = eager(x)
        graph(x)
        copy_parameters(eager, graph)
        np.testing.assert_allclose(graph(x).asnumpy(), expected.asnumpy(), rtol=2e-4, atol=2e-5)
    assert graph._calls.only_trace() is not None


def test_training_equals_eager_with_statistics_and_gradients():
    eager, graph = pair(convolutional)
    x = mx.nd.random.uniform(-1, 1, shape=(6, 3, 12, 12))
    eager(x), graph(x)
    copy_parameters(eager, graph)
    for _ in range(3):
        for block in (eager, graph):
            trainer = gluon.Trainer(block.collect_params(), "sgd", {"learning_rate": 0.1})
            with autograd.record():
                loss = (block(x) ** 2).sum()
            loss.backward()
            trainer.step(6)
        for source, target in zip(
            eager.collect_params().values(), graph.collect_params().values(), strict=True
        ):
            np.testing.assert_allclose(
                target.data().asnumpy(),
                source.data().asnumpy(),
                rtol=1e-4,
                atol=1e-5,
                err_msg=source.name,
            )


def test_nested_inputs_and_outputs():
    eager, graph = pair(lambda prefix: Branches(prefix=prefix))
    x, first, second = (mx.nd.random.uniform(shape=(3, 4)) for _ in range(3))
    expected = eager(x, [first, second])
    graph(x, [first, second])
    copy_parameters(eager, graph)
    actual = graph(x, [first, second])
    assert [type(part) for part in actual] == [type(part) for part in expected]
    for a, b in zip([actual[0], *actual[1]], [expected[0], *expected[1]], strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5)


def test_gradients_reach_inputs_and_pass_twice_when_the_graph_is_kept():
    net = nn.Dense(3, in_units=4, activation="tanh")
    net.initialize()
    net.hybridize(inline_limit=0)
    x = mx.nd.random.uniform(shape=(2, 4))
    x.attach_grad()
    with autograd.record():
        y = net(x).sum()
    y.backward(retain_graph=True)
    first = x.grad.asnumpy()
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), first)
    assert np.abs(first).max() > 0


def test_second_derivative_equals_eager():
    net = nn.Dense(1, in_units=3, activation="sigmoid")
    net.initialize(mx.init.Xavier())
    x = mx.nd.random.uniform(shape=(2, 3))
    x.attach_grad()
    collected = []
    for active in (False, True):
        net.hybridize(active, inline_limit=0)
        with autograd.record():
            y = net(x)
            slope = autograd.grad(y, [x], create_graph=True)[0]
            (slope * slope).sum().backward()
        collected.append(x.grad.asnumpy())
    np.testing.assert_allclose(collected[1], collected[0], rtol=1e-5)


def test_dropout_follows_the_mode():
    net = nn.HybridSequential()
    net.add(nn.Dropout(0.5), nn.Activation("relu"), nn.Dropout(0.0))
    net.hybridize(inline_limit=0)
    x = mx.nd.ones((50, 50))
    np.testing.assert_array_equal(net(x).asnumpy(), 1)
    with autograd.record():
        dropped = net(x).asnumpy()
    assert 0.3 < (dropped == 0).mean() < 0.7
    assert set(np.unique(dropped)) == {0.0, 2.0}


def test_static_alloc_keeps_earlier_outputs():
    net = nn.HybridSequential()
    net.add(nn.Dense(4, in_units=4), nn.Activation("relu"), nn.Dense(4, in_units=4))
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    first = net(mx.nd.ones((2, 4)))
    before = first.asnumpy()
    net(mx.nd.zeros((2, 4)) - 3)
    np.testing.assert_array_equal(first.asnumpy(), before)


TRAIN = """
import mxcy as mx
from mxcy import autograd
from mxcy.gluon import nn
net = nn.HybridSequential()
net.add(nn.Conv2D(8, 3, padding=1, in_channels=3))
for _ in range(8):
    net.add(nn.Conv2D(8, 3, padding=1, in_channels=8, activation="tanh"))
net.add(nn.GlobalAvgPool2D())
net.initialize()
net.hybridize(static_alloc=True)
trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1e-6})
x = mx.nd.ones((2, 3, 128, 128))
def step():
    with autograd.record():
        loss = (net(x) ** 2).mean()
    loss.backward()
    trainer.step(1)
for _ in range(2):
    step()
    mx.nd.waitall()
waiting = mx.storage.stats()["peak_bytes"]
for _ in range(5):
    step()
print(mx.storage.stats()["peak_bytes"] / waiting)
"""


def test_static_alloc_trains_in_the_same_memory_without_waiting(run_python):
    assert float(run_python(TRAIN)) < 1.2


class Peeks(gluon.HybridBlock):
    def forward(self, x):
        return x * 2 if x.sum().asscalar() > 0 else x * 3


def test_blocks_that_read_values_still_run():
    net = Peeks()
    net.hybridize()
    np.testing.assert_array_equal(net(mx.nd.ones((2,))).asnumpy(), 2)
    np.testing.assert_array_equal(net(-mx.nd.ones((2,))).asnumpy(), -3)


def test_export_and_imports(tmp_path):
    net = convolutional("exported_")
    net.initialize(mx.init.Xavier())
    net.hybridize()
    with pytest.raises(RuntimeError, match="call block.hybridize"):
        net.export(str(tmp_path / "net"))
    x = mx.nd.random.uniform(shape=(2, 3, 10, 10))
    expected = net(x).asnumpy()
    files = net.export(str(tmp_path / "net"), epoch=7)
    assert [f.rsplit("/", 1)[1] for f in files] == ["net-symbol.json", "net-0007.params"]
    loaded = gluon.SymbolBlock.imports(files[0], ["data"], files[1])
    np.testing.assert_allclose(loaded(x).asnumpy(), expected, rtol=1e-5, atol=1e-6)
    trainer = gluon.Trainer(loaded.collect_params(), "sgd", {"learning_rate": 0.1})
    with autograd.record():
        loss = (loaded(x) ** 2).sum()
    loss.backward()
    trainer.step(1)
    assert np.abs(loaded(x).asnumpy() - expected).max() > 1e-4


def test_symbol_block_of_internals():
    data = mx.sym.var("data")
    hidden = mx.sym.Activation(mx.sym.FullyConnected(data, num_hidden=4, name="a"), act_type="relu")
    block = gluon.SymbolBlock([hidden, hidden * 2], data)
    block.initialize()
    one, two = block(mx.nd.ones((2, 3)))
    np.testing.assert_allclose(two.asnumpy(), 2 * one.asnumpy())
    assert set(block.collect_params().keys()) == {"a_weight", "a_bias"}


def test_symbol_block_has_states_after_its_other_parameters():
    """The same seed then initializes networks as in MXNet 1.9.1."""
    data = mx.sym.var("data")
    net = mx.sym.BatchNorm(data, name="b0")
    net = mx.sym.FullyConnected(mx.sym.BatchNorm(net, name="b1"), num_hidden=4, name="a")
    names = list(gluon.SymbolBlock(net, data).collect_params().keys())
    assert names == net.list_arguments()[1:] + net.list_auxiliary_states()
    assert names[-4:] == [f"b{i}_moving_{what}" for i in (0, 1) for what in ("mean", "var")]


def test_repr_of_symbol_blocks():
    data = mx.sym.var("data")
    one, two = data * 2, data + 1
    assert repr(gluon.SymbolBlock(one, data)) == f"SymbolBlock(\n{one!r} : 1 -> 1\n)"
    both = repr(gluon.SymbolBlock([one, two], [data]))
    assert both == f"SymbolBlock(\n{mx.sym.Group([one, two])!r} : 1 -> 2\n)"


def test_a_block_called_with_a_symbol_gives_a_symbol():
    net = nn.Dense(3, prefix="d_")
    out = net(mx.sym.var("x"))
    assert out.list_arguments() == ["x", "d_weight", "d_bias"]


def test_threads_may_share_a_block():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, padding=1, activation="relu"), nn.BatchNorm(), nn.Dense(10))
    net.initialize()
    net.hybridize(static_alloc=True)
    inputs = [mx.nd.random.uniform(shape=(batch, 3, 8, 8)) for batch in (1, 2, 3)]
    expected = [net(x).asnumpy() for x in inputs]
    wrong = []

    def call(first):
        for turn in range(10):
            index = (first + turn) % len(inputs)
            if not np.allclose(net(inputs[index]).asnumpy(), expected[index], atol=1e-5):
                wrong.append(index)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


class Shifted(gluon.HybridBlock):
    def forward(self, x, by):
        return mx.nd.relu(x * 2) + by


def test_scalar_inputs_of_forward_prevent_graphs():
    net = Shifted()
    net.hybridize(inline_limit=0)
    for by in (1, True, 1.5, 2):
        np.testing.assert_array_equal(net(mx.nd.ones((2,)), by).asnumpy(), 2 + float(by))
    with pytest.raises(RuntimeError, match="call block.hybridize"):
        net.export("nothing")


class _Scaled(mx.gluon.HybridBlock):
    """Selects its arrays in `forward` and computes in `hybrid_forward`, as Sockeye's losses do."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.scale = self.params.get("scale", shape=(1,), init="ones")

    def forward(self, named, key):
        return super().forward(named[key], named["label"])

    def hybrid_forward(self, F, out, label, scale):
        return F.broadcast_mul(F.square(out - label), scale)


@pytest.mark.parametrize("hybridize", [False, True])
def test_forward_may_select_the_arrays_of_hybrid_forward(hybridize):
    block = _Scaled()
    block.initialize()
    if hybridize:
        block.hybridize()
    named = {"out": mx.nd.array([1, 2]), "label": mx.nd.array([0, 5])}
    for _ in range(2):
        with mx.autograd.record():
            loss = block(named, "out")
        loss.backward()
        assert loss.asnumpy().tolist() == [1, 9]
        assert block.scale.grad().asnumpy().tolist() == [10]


def test_cast_and_new_parameters_after_a_call():
    net = nn.Dense(3, in_units=4)
    net.initialize()
    net.hybridize(inline_limit=0)
    x = mx.nd.random.uniform(shape=(2, 4))
    expected = net(x).asnumpy()
    net.cast("float64")
    actual = net(x.astype("float64"))
    assert actual.dtype == np.float64
    np.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-5)
    other = nn.Dense(3, in_units=4)
    other.initialize(mx.init.One())
    net.cast("float32")
    net.share_parameters(other.collect_params())
    np.testing.assert_allclose(net(x).asnumpy(), other(x).asnumpy(), rtol=1e-6)


def test_a_graph_without_parameters_is_exported_and_imported(tmp_path):
    net = mx.gluon.nn.HybridLambda("exp")
    net.hybridize()
    x = mx.nd.array([0.0, 1.0])
    expected = net(x).asnumpy()
    files = net.export(str(tmp_path / "exp"))
    imported = mx.gluon.SymbolBlock.imports(files[0], "data", files[1])
    np.testing.assert_array_equal(imported(x).asnumpy(), expected)


def test_unknown_backends_are_ignored_with_a_warning():
    net = nn.Dense(2)
    net.initialize()
    with pytest.warns(UserWarning, match="backend TensorRT is unknown; choose one of ONEDNN"):
        net.optimize_for(mx.nd.ones((1, 3)), backend="TensorRT")
    assert net(mx.nd.ones((1, 3))).shape == (1, 2)
