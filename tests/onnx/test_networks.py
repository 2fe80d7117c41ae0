"""Networks exported, run by ONNX Runtime and compared with ours."""

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="needs onnxruntime to run what is exported")

import mxcy as mx  # noqa: E402
from mxcy import gluon  # noqa: E402
from mxcy.gluon import nn, rnn  # noqa: E402
from tests.onnx.battery import session  # noqa: E402


def draw(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def compare(net, shapes, path, free=None, others=(), tolerance=1e-4, **options):
    """Export a block with arrays of some shapes, and run the file with those of others as well."""
    mx.random.seed(1)
    net.initialize(mx.init.Xavier())
    arrays = [mx.nd.array(draw(shape)) for shape in shapes]
    net(*arrays)
    names = [f"data{i}" for i in range(len(shapes))]
    sym = net(*[mx.sym.var(name) for name in names])
    sym = mx.sym.Group(sym) if isinstance(sym, list | tuple) else sym
    params = {p.name: p.data() for p in net.collect_params().values()}
    params = {name: x for name, x in params.items() if name in sym.list_inputs()}
    dynamic = {"dynamic": True, "dynamic_input_shapes": free} if free else {}
    path = str(path / "net.onnx")
    mx.onnx.export_model(sym, params, shapes, onnx_file_path=path, **dynamic, **options)
    ran = session(path)
    for given in (shapes, *others):
        values = [draw(shape, 1) for shape in given]
        ours = net(*map(mx.nd.array, values))
        ours = ours if isinstance(ours, list | tuple) else [ours]
        theirs = ran.run(None, dict(zip(names, values, strict=True)))
        for expected, found in zip(ours, theirs, strict=True):
            expected = expected.asnumpy()
            assert found.shape == expected.shape and found.dtype == expected.dtype
            limit = tolerance * max(np.abs(expected).max(), 1e-3)
            np.testing.assert_allclose(found, expected, rtol=0, atol=limit)


@pytest.mark.parametrize("name", ["mobilenetv2_0.25", "mobilenet0.25"])
def test_zoo(name, tmp_path):
    net = gluon.model_zoo.vision.get_model(name, classes=10)
    free = [("N", 3, 64, 64)]
    compare(net, [(1, 3, 64, 64)], tmp_path, free, [[(3, 3, 64, 64)]])


@pytest.mark.parametrize("opset", [12, 13, 21])
def test_a_network_in_other_versions(tmp_path, opset):
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(4, 3, padding=1, activation="relu"),
        nn.BatchNorm(scale=False),
        nn.MaxPool2D(3, 2, ceil_mode=True),
        nn.Conv2DTranspose(3, 4, strides=2),
        nn.GlobalAvgPool2D(),
        nn.Dropout(0.5),
        nn.Dense(5),
        nn.LayerNorm(),
    )
    free = [(None, 3, None, None)]
    others = [[(3, 3, 9, 16)], [(1, 3, 10, 16)]]
    compare(net, [(2, 3, 8, 16)], tmp_path, free, others, opset_version=opset)


@pytest.mark.parametrize("kind", [rnn.LSTM, rnn.GRU, rnn.RNN])
@pytest.mark.parametrize("layers, both", [(1, False), (2, True)])
def test_recurrent_layers(kind, layers, both, tmp_path):
    """The first states are zeros of the batch's size, which is free."""
    net = kind(5, layers, bidirectional=both, input_size=4)
    compare(net, [(6, 2, 4)], tmp_path, [("T", "N", 4)], [[(3, 5, 4)]], tolerance=1e-5)


class LanguageModel(gluon.HybridBlock):
    """Words, layers with states, and scores of the next word."""

    def __init__(self):
        super().__init__()
        self.embed, self.lstm = nn.Embedding(20, 8), rnn.LSTM(8, 2, input_size=8)
        self.out = nn.Dense(20, flatten=False)

    def hybrid_forward(self, F, words, hidden, cell):
        found, states = self.lstm(self.embed(F.abs(words)), [hidden, cell])
        return [self.out(found), *states]


def test_language_model(tmp_path):
    shapes = [(5, 2), (2, 2, 8), (2, 2, 8)]
    free = [("T", "N"), (2, "N", 8), (2, "N", 8)]
    compare(LanguageModel(), shapes, tmp_path, free, [[(7, 3), (2, 3, 8), (2, 3, 8)]])


class Attention(gluon.HybridBlock):
    """A transformer's layer with masks of lengths, as GluonNLP writes it."""

    def __init__(self, units=8, heads=2):
        super().__init__()
        self.heads = heads
        self.project, self.back = nn.Dense(3 * units, flatten=False), nn.Dense(units, flatten=False)
        self.norm, self.wide = nn.LayerNorm(), nn.Dense(16, flatten=False)
        self.narrow = nn.Dense(units, flatten=False)

    def hybrid_forward(self, F, data, lengths):
        steps = F.transpose(data, axes=(1, 0, 2))
        packed = self.project(steps)
        scores = F.contrib.interleaved_matmul_selfatt_qk(packed, heads=self.heads)
        places = F.contrib.arange_like(data, axis=1)
        mask = F.broadcast_lesser(places.reshape((1, -1)), F.abs(lengths * 4).reshape((-1, 1)))
        mask = F.broadcast_axis(mask.expand_dims(axis=1), axis=1, size=self.heads)
        mask = F.reshape(mask, shape=(-3, 0)).expand_dims(axis=1)
        scores = F.broadcast_add(scores, (1 - mask) * -1e9)
        weights = F.softmax(scores, axis=-1)
        found = F.contrib.interleaved_matmul_selfatt_valatt(packed, weights, heads=self.heads)
        found = self.norm(data + self.back(F.transpose(found, axes=(1, 0, 2))))
        return self.norm(found + self.narrow(F.LeakyReLU(self.wide(found), act_type="gelu")))


def test_transformer_layer(tmp_path):
    free = [("N", "T", 8), ("N",)]
    compare(Attention(), [(2, 5, 8), (2,)], tmp_path, free, [[(3, 7, 8), (3,)]])


class Loops(gluon.HybridBlock):
    """All kinds of control flow."""

    def hybrid_forward(self, F, data, state):
        rows, last = F.contrib.foreach(
            lambda x, s: (x * s[0] + state, [s[0] + x]), data, [state * 0.5]
        )
        steps, ends = F.contrib.while_loop(
            lambda i, total: F.sum(i) < 3,
            lambda i, total: ([F.broadcast_mul(total, i)], [i + 1, F.broadcast_add(total, i)]),
            [F.sum(state) * 0, state + 0],
            max_iterations=5,
        )
        chosen = F.contrib.cond(
            F.sum(data) > 0, lambda: F.broadcast_add(data, state), lambda: data * 3
        )
        return [rows, last[0], steps[0], ends[1], chosen]


def test_control_flow(tmp_path):
    compare(Loops(), [(4, 3), (3,)], tmp_path, others=[[(4, 3), (3,)]], tolerance=1e-5)


class Detector(gluon.HybridBlock):
    """The heads of an SSD on one map of features."""

    def __init__(self):
        super().__init__()
        self.body = nn.Conv2D(8, 3, strides=2, padding=1, activation="relu")
        self.classes, self.boxes = nn.Conv2D(4 * 3, 3, padding=1), nn.Conv2D(4 * 4, 3, padding=1)

    def hybrid_forward(self, F, data):
        features = self.body(data)
        anchors = F.contrib.MultiBoxPrior(features, sizes=(0.2, 0.4), ratios=(1, 2, 0.5))
        scores = F.transpose(self.classes(features), axes=(0, 2, 3, 1)).reshape((0, -1, 3))
        scores = F.softmax(F.transpose(scores, axes=(0, 2, 1)) * 4, axis=1)
        boxes = F.flatten(F.transpose(self.boxes(features), axes=(0, 2, 3, 1))) * 0.1
        return F.contrib.MultiBoxDetection(scores, boxes, anchors, nms_threshold=0.4)


def test_detector(tmp_path):
    free = [("N", 3, 16, 16)]
    compare(Detector(), [(1, 3, 16, 16)], tmp_path, free, [[(2, 3, 16, 16)]])


def test_numpy_block(tmp_path):
    """Deferred computation of mx.np and mx.npx."""
    mx.npx.set_np()
    try:
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Dense(6, activation="tanh"), gluon.nn.LayerNorm(), gluon.nn.Dense(3))
        net.initialize()
        net.hybridize()
        data = draw((2, 4))
        expected = net(mx.np.array(data)).asnumpy()
        stem = str(tmp_path / "net")
        symbol_file, params_file = net.export(stem)
        path = str(tmp_path / "net.onnx")
        mx.onnx.export_model(str(symbol_file), str(params_file), [(2, 4)], onnx_file_path=path)
        (found,) = session(path).run(None, {"data": data})
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    finally:
        mx.npx.reset_np()
