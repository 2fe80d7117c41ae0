"""Networks exported, run by ONNX Runtime and compared with ours."""

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="needs onnxruntime to run what is exported")

import mxcy as mx  # noqa: E402
from mxcy import gluon  # noqa: E402
from mxcy.gluon import nn, rnn  # noqa: E402
from tests.onnx.battery import networks  # noqa: E402
from tests.onnx.battery.operators import session  # noqa: E402


def draw(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def compare(net, shapes, path, free=None, others=(), tolerance=1e-4, **options):
    """Export a block with arrays of some shapes, and also run the file with other shapes."""
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
        for expected, actual in zip(ours, theirs, strict=True):
            expected = expected.asnumpy()
            assert actual.shape == expected.shape and actual.dtype == expected.dtype
            limit = tolerance * max(np.abs(expected).max(), 1e-3)
            np.testing.assert_allclose(actual, expected, rtol=0, atol=limit)


@pytest.mark.parametrize(
    "name, opset",
    [
        ("mobilenetv2_0.25", 12),
        ("efficientnet", 13),
        ("bert", 18),
        ("gpt2", 21),
        ("language_model", 13),
        ("translator", 12),
        ("ssd", 17),
        ("centernet", 21),
    ],
)
def test_a_sample_of_the_battery(name, opset, tmp_path):
    """Compared with ONNX Runtime, and imported again; `python -m tests.onnx.battery` runs all."""
    away, back = networks.check(name, opset, tmp_path / "net.onnx")
    assert away <= networks.BESIDE_RUNTIME and back <= networks.BESIDE_ORIGINAL


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
    """The initial states are zeros of the batch size, which is dynamic."""
    net = kind(5, layers, bidirectional=both, input_size=4)
    compare(net, [(6, 2, 4)], tmp_path, [("T", "N", 4)], [[(3, 5, 4)]], tolerance=1e-5)


class Loops(gluon.HybridBlock):
    """All forms of control flow."""

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
