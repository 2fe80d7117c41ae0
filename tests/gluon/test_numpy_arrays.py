"""Gluon on arrays of `mx.np`: parameters, layers, losses, training, data, graphs."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd, gluon
from mxcy.gluon import nn, rnn
from mxcy.kvstore.compression import GradientCompression


@pytest.fixture
def numpy_semantics():
    mx.util.set_np()
    yield
    mx.util.reset_np()


def is_numpy(array):
    return type(array) is mx.np.ndarray


LAYERS = {
    "Dense": (lambda: nn.Dense(3, activation="relu"), (2, 4)),
    "Conv2D": (lambda: nn.Conv2D(3, 3), (2, 1, 5, 5)),
    "MaxPool2D": (lambda: nn.MaxPool2D(2), (2, 1, 4, 4)),
    "BatchNorm": (nn.BatchNorm, (2, 3)),
    "LayerNorm": (nn.LayerNorm, (2, 3)),
    "Embedding": (lambda: nn.Embedding(4, 3), (2, 2)),
    "PReLU": (nn.PReLU, (2, 3)),
    "Flatten": (nn.Flatten, (2, 3, 1)),
    "LSTM": (lambda: rnn.LSTM(3, 2), (2, 1, 3)),
    "GRUCell": (lambda: rnn.GRUCell(3), (2, 3)),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("hybrid", [False, True])
def test_layers_compute_in_the_class_of_their_input(name, hybrid):
    make, shape = LAYERS[name]
    layer = make()
    layer.initialize()
    data = mx.nd.array(np.random.RandomState(0).randint(0, 4, shape))
    states = [layer.begin_state(shape[0])] if name == "GRUCell" else []
    expected = layer(data, *states)
    layer.hybridize(hybrid)
    actual = layer(data.as_np_ndarray(), *states)
    if name == "GRUCell":
        expected, actual = expected[0], actual[0]
    assert is_numpy(actual) and type(expected) is mx.nd.NDArray
    np.testing.assert_allclose(actual.asnumpy(), expected.asnumpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("deferred", [False, True])
def test_parameters_have_the_class_of_their_initialization(numpy_semantics, deferred, tmp_path):
    layer = nn.Dense(3, in_units=0 if deferred else 2)
    layer.initialize()
    layer(mx.np.ones((1, 2)))
    assert is_numpy(layer.weight.data()) and is_numpy(layer.weight.grad())
    layer.weight.set_data(mx.nd.ones((3, 2)))
    assert layer.weight.data().asnumpy().tolist() == [[1, 1]] * 3
    layer.cast("float16")
    assert is_numpy(layer.weight.data()) and layer.weight.data().dtype == np.float16
    layer.save_parameters(str(tmp_path / "layer.params"))
    mx.util.reset_np()
    other = nn.Dense(3, in_units=2, dtype="float16")
    other.load_parameters(str(tmp_path / "layer.params"))
    assert type(other.weight.data()) is mx.nd.NDArray
    bare = gluon.Parameter("bare", shape=(2,))
    bare.initialize()
    assert type(bare.data()) is mx.nd.NDArray


def test_constants(numpy_semantics):
    constant = gluon.Constant([1.0, 2.0])
    constant.initialize()
    assert constant.name == "const" and is_numpy(constant.value) and is_numpy(constant.data())
    assert constant.data().asnumpy().tolist() == [1, 2]


class Net(gluon.HybridBlock):
    """Computes with functions of `mx.np` and depends on shapes."""

    def __init__(self):
        super().__init__()
        self.body = nn.Dense(4)
        self.weight = gluon.Parameter("weight", shape=(4,), init="ones")

    def forward(self, x):
        hidden = mx.np.exp(-self.body(x)) * self.weight.data()
        return mx.np.sum(hidden, axis=1) / x.shape[1], hidden.reshape((x.shape[0] * 2, -1))


def trained(net, x, steps=3):
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
    losses = []
    for _ in range(steps):
        with autograd.record():
            out, hidden = net(x)
            loss = gluon.loss.L2Loss()(out, mx.np.ones((x.shape[0],)))
        loss.backward()
        trainer.step(x.shape[0])
        assert is_numpy(loss) and is_numpy(out) and is_numpy(hidden)
        assert hidden.shape == (2 * x.shape[0], 2)
        losses.append(float(loss.sum()))
    return losses


def test_np_code_trains_as_a_graph(numpy_semantics, tmp_path):
    data = [mx.np.array(np.random.RandomState(i).rand(n, 3)) for i, n in enumerate((2, 5, 2))]
    eager, graph = Net(), Net()
    eager.initialize()
    eager(data[0])
    eager.save_parameters(str(tmp_path / "net.params"))
    graph.load_parameters(str(tmp_path / "net.params"))
    graph.hybridize()
    assert list(graph.collect_params()) == ["weight", "body.weight", "body.bias"]
    for x in data:
        losses = trained(eager, x)
        np.testing.assert_allclose(trained(graph, x), losses, rtol=1e-4, atol=1e-6)
        if x is data[0]:
            assert losses[-1] < losses[0]
    assert len(graph._calls._by_signature) == 2
    out = graph(data[0])[0].asnumpy()
    loaded = gluon.SymbolBlock.imports(*_as_inputs(graph.export(str(tmp_path / "net"))))
    np.testing.assert_allclose(loaded(data[0])[0].asnumpy(), out, rtol=1e-5)


def _as_inputs(exported):
    graph, values = exported
    return graph, ["data"], values


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("threads", [False, True])
def test_loaders_give_arrays_of_the_semantics(numpy_semantics, workers, threads):
    items = gluon.data.ArrayDataset(np.arange(8, dtype="float32").reshape(4, 2), [1, 2, 3, 4])
    loader = gluon.data.DataLoader(items, 2, num_workers=workers, thread_pool=threads)
    batches = list(loader)
    assert all(is_numpy(part) for batch in batches for part in batch)
    assert [b[1].asnumpy().tolist() for b in batches] == [[1, 2], [3, 4]]
    mx.util.reset_np()
    loader = gluon.data.DataLoader(items, 2, num_workers=workers, thread_pool=threads)
    assert all(type(part) is mx.nd.NDArray for batch in loader for part in batch)


def test_batchify_and_split(numpy_semantics):
    stack, pad = gluon.data.batchify.Stack(), gluon.data.batchify.Pad()
    for actual, dtype in (
        (stack([1, 2]), np.int64),
        (stack([1.0, 2.0]), np.float64),
        (stack([mx.np.ones((2,)), mx.np.zeros((2,))]), np.float32),
        (pad([[1.0, 2.0], [3.0]]), np.float64),
        (gluon.data.batchify.Append()([[1, 2]])[0], np.int64),
        (gluon.utils.split_and_load([[1.0], [2.0]], [mx.cpu()])[0], np.float32),
    ):
        assert is_numpy(actual) and actual.dtype == dtype


def test_metrics_take_arrays_of_np(numpy_semantics):
    metric = gluon.metric.Accuracy()
    metric.update(mx.np.array([0, 1]), mx.np.array([[0.9, 0.1], [0.8, 0.2]]))
    name, value = metric.get()
    assert (name, value, type(value)) == ("accuracy", 0.5, float)


OPTIMIZERS = sorted({*mx.optimizer.Optimizer.opt_registry} - {"sgld"})


@pytest.mark.parametrize("name", [n for n in OPTIMIZERS if not n.startswith("_")])
@pytest.mark.parametrize("options", [{}, {"wd": 0.1, "clip_gradient": 0.3}])
def test_optimizers_update_arrays_of_np(name, options):
    collected = []
    for convert in (mx.nd.NDArray.as_nd_ndarray, mx.nd.NDArray.as_np_ndarray):
        numbers = np.random.RandomState(1)
        weights = [convert(mx.nd.array(numbers.randn(4, 3))) for _ in range(2)]
        if name == "groupadagrad" and "wd" in options:
            options = {"clip_gradient": 0.3}
        updater = mx.optimizer.get_updater(mx.optimizer.create(name, **options))
        for _ in range(3):
            updater([0, 1], [convert(mx.nd.array(numbers.randn(4, 3))) for _ in weights], weights)
        assert all(type(weight) is type(convert(weight)) for weight in weights)
        collected.append([weight.asnumpy() for weight in weights])
    np.testing.assert_array_equal(*collected)


def test_group_norm_has_a_scale_per_channel(numpy_semantics):
    data = mx.np.array(np.random.RandomState(0).rand(2, 4, 3))
    layer = nn.GroupNorm(2)
    layer.initialize()
    assert layer(data).shape == (2, 4, 3) and layer.gamma.shape == (4,)
    assert repr(layer).endswith("num_groups=2, center=True, scale=True, in_channels=4)")
    mx.util.reset_np()
    assert nn.GroupNorm(2).gamma.shape == (2,) and nn.GroupNorm(2, in_channels=4).gamma.shape == (
        4,
    )


def test_compressed_gradients_of_np():
    compress = GradientCompression(type="2bit", threshold=0.5)
    sent = compress("w", 0, mx.np.array([0.7, -0.6, 0.2]))
    assert sent.asnumpy().tolist() == [0.5, -0.5, 0.0]


class Mixture(gluon.HybridBlock):
    def forward(self, x):
        return x * 2, x.as_nd_ndarray() + 1


@pytest.mark.parametrize("hybrid", [False, True])
def test_outputs_are_of_one_class(numpy_semantics, hybrid):
    net = Mixture()
    if hybrid:
        net.hybridize()
    for _ in range(2):
        with pytest.raises(TypeError, match="mix arrays"):
            net(mx.np.ones((2,)))


@pytest.mark.parametrize("hybrid", [False, True])
def test_losses_of_instances(numpy_semantics, hybrid):
    a, b = mx.np.array([[1.0, 2], [3, 4], [0, 1]]), mx.np.array([[1.0, 0], [3, -4], [5, 1]])
    losses = gluon.loss.PoissonNLLLoss(), gluon.loss.CosineEmbeddingLoss()
    if hybrid:
        for loss in losses:
            loss.hybridize()
    poisson = (np.exp(a.asnumpy()) - a.asnumpy() * b.asnumpy()).mean(1)
    np.testing.assert_allclose(losses[0](a, b).asnumpy(), poisson, rtol=1e-5)
    actual = losses[1](a, b, mx.np.array([1, -1, 1]))
    np.testing.assert_allclose(actual.asnumpy(), [0.5527864, 0, 0.80388385], rtol=1e-5)
