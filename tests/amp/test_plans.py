"""Plans in bfloat16: fused layers with float32 parameters, and few casts between them."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import amp
from mxcy._base.dtypes import CODES
from mxcy._execute.planned import Planned, target
from mxcy.amp import speed
from mxcy.graph.algorithm import TILES
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer
from mxcy.graph.passes import casts, layers, widen
from mxcy.graph.verify import verify
from mxcy.ops.core.infer import Spec

S = mx.sym
FLOAT, BFLOAT = CODES["float32"], CODES["bfloat16"]


def conv(data, name, filters=32, kernel=3, **attrs):
    pad = (kernel // 2,) * 2
    return S.Convolution(
        data, kernel=(kernel,) * 2, pad=pad, num_filter=filters, name=name, **attrs
    )


def residual():
    """Convolutions with everything that a layer fuses, pooling, concatenation, a dense layer."""
    x = S.var("data")
    for number in range(2):
        y = conv(x, f"c{number}", no_bias=number == 0)
        y = S.BatchNorm(y, fix_gamma=False, use_global_stats=True, name=f"n{number}")
        x = S.relu(y if number == 0 else y + x)
    x = S.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
    x = S.concat(conv(x, "c2", 16, 1), S.relu(conv(x, "c3", 32, num_group=32)))
    x = S.Pooling(x, global_pool=True, pool_type="avg")
    return S.FullyConnected(S.Flatten(x), num_hidden=5, name="fc"), (2, 3, 12, 12)


def preactivation():
    """Normalisations before convolutions, as in ResNet v2."""
    x = conv(S.var("data"), "c0")
    for number, kernel in enumerate((1, 3), 1):
        y = S.BatchNorm(x, fix_gamma=False, use_global_stats=True, name=f"n{number}")
        x = x + conv(S.relu(y), f"c{number}", kernel=kernel)
    return x, (2, 3, 12, 12)


def bottlenecks():
    """Layers with few channels, which do not fill blocks, between wider ones, as in MobileNetV2."""
    x = conv(S.var("data"), "c0", 48, 1)
    for number in (1, 2):
        y = S.clip(conv(x, f"w{number}", 48, 1), a_min=0, a_max=6)
        y = S.clip(conv(y, f"d{number}", 48, num_group=48), a_min=0, a_max=6)
        y = conv(y, f"n{number}", 24, 1)
        x = y if number == 1 else x + y
    return x, (2, 3, 10, 12)


def odd():
    """Channels that do not fill blocks, windows beyond the padding, a strided group."""
    x = S.Activation(conv(S.var("data"), "c0", 6, stride=(2, 2)), act_type="tanh")
    x = S.Pooling(x, kernel=(3, 3), stride=(2, 2), pooling_convention="full")
    return conv(x, "c1", 32, 1), (1, 5, 13, 11)


def joined():
    """Concatenation of few channels, grouped and dilated windows, padded averages, a 1-D end."""
    x = S.relu(conv(S.var("data"), "c0", 24))
    branches = [
        conv(x, "c1", 40, 1),
        conv(x, "c2", 12, num_group=2),
        S.Convolution(x, kernel=(3, 3), dilate=(2, 2), pad=(2, 2), num_filter=16, name="c3"),
        S.Pooling(x, kernel=(3, 3), pad=(1, 1), pool_type="avg"),
    ]
    x = S.relu(conv(S.concat(*branches), "c4", 20, 1))
    x = S.reshape(S.concat(x, S.slice_axis(x, axis=1, begin=0, end=12)), shape=(0, 0, -1))
    return S.Convolution(x, kernel=(3,), num_filter=8, name="c5"), (2, 3, 9, 7)


def attention():
    """An operator without a kernel for bfloat16 between dense layers."""
    x = S.var("data")
    q = S.FullyConnected(x, num_hidden=3 * 32, flatten=False, name="q")
    a = S.softmax(S.contrib.interleaved_matmul_selfatt_qk(q, heads=4))
    y = S.contrib.interleaved_matmul_selfatt_valatt(q, a, heads=4)
    y = S.LayerNorm(x + S.FullyConnected(y, num_hidden=32, flatten=False, name="p"), name="ln")
    z = S.FullyConnected(y, num_hidden=256, flatten=False, name="f1")
    return S.FullyConnected(
        S.LeakyReLU(z, act_type="gelu"), num_hidden=32, flatten=False, name="f2"
    ), (16, 8, 32)


NETS = {
    "residual": residual,
    "preactivation": preactivation,
    "bottlenecks": bottlenecks,
    "odd": odd,
    "joined": joined,
    "attention": attention,
}


def arrays_of(symbol, shape):
    """Random values for all variables."""
    draw = np.random.RandomState(0)
    names = (symbol.list_arguments(), symbol.list_auxiliary_states())
    shapes, _, states = symbol.infer_shape(data=shape)
    collected = {}
    for name, extents in zip(sum(names, []), (*shapes, *states), strict=True):
        low, high = (0.5, 1.5) if name.endswith(("gamma", "var")) else (-0.5, 0.5)
        collected[name] = mx.nd.array(draw.uniform(low, high, extents))
    return collected


def graph_of(symbol, arrays):
    graph = from_entries(symbol._entries)
    return infer(graph, {n: Spec(a.shape, a.dtype_code) for n, a in arrays.items()})


def computed(symbol, arrays, optimized=True):
    """The output of a symbol's plan, which runs twice but packs weights once."""
    planned = Planned(graph_of(symbol, arrays), mx.cpu(), optimized)
    verify(planned.graph)
    (out,) = planned.new_outputs()
    for _ in range(2):
        values = [*(arrays[name] for name in planned.variables), out]
        planned.forward(values, planned.new_arena())
    return out.asnumpy()


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("offline", [False, True])
def test_results(name, offline):
    symbol, shape = NETS[name]()
    arrays = arrays_of(symbol, shape)
    want = computed(symbol, arrays, optimized=False)
    arguments = {n: a for n, a in arrays.items() if n != "data"}
    converted, args, _ = amp.convert_model(
        symbol, arguments, {}, "bfloat16", cast_optional_params=offline
    )
    got = computed(converted, {**arrays, **args})
    assert np.abs(got - want).max() < 0.03 * np.abs(want).max()


def test_layers_fuse_epilogues():
    symbol, shape = residual()
    converted = amp.convert_symbol(symbol, "bfloat16")
    graph = graph_of(converted, arrays_of(symbol, shape))
    fused = verify(layers.run(casts.run(graph, target()), target()))
    counts = fused.count_ops()
    assert counts["_sg_onednn_conv"] == 4
    assert not {"BatchNorm", "Activation", "Convolution", "FullyConnected"} & counts.keys()
    # only the data is cast
    assert counts["amp_cast"] == 1
    for node, specs in zip(fused.nodes, fused.specs, strict=True):
        if node.op is not None and node.op.name == "_sg_onednn_conv":
            data, weight, *_ = (fused.spec(entry).dtype for entry in node.inputs)
            assert (data, weight, specs[0].dtype) == (BFLOAT, FLOAT, BFLOAT)
        elif node.op is not None and node.op.name == "_sg_onednn_fully_connected":
            assert node.attrs.wide
            assert specs[0].dtype == FLOAT


@pytest.mark.skipif(not speed.multiplies_bfloat16(), reason="no products of bfloat16 here")
def test_normalisations_between_blocked_arrays_stay_there():
    symbol, shape = preactivation()
    graph = graph_of(amp.convert_symbol(symbol, "bfloat16"), arrays_of(symbol, shape))
    counts = Planned(graph, mx.cpu(), True).graph.count_ops()
    assert counts["_blocked_scale_shift"] == 2
    assert counts["_from_blocked"] == 1
    assert not {"BatchNorm", "relu", "Activation", "_to_blocked"} & counts.keys()


@pytest.mark.skipif(not speed.multiplies_bfloat16(), reason="no products of bfloat16 here")
def test_layers_of_few_channels_fuse_epilogues():
    symbol, shape = bottlenecks()
    graph = graph_of(amp.convert_symbol(symbol, "bfloat16"), arrays_of(symbol, shape))
    counts = Planned(graph, mx.cpu(), True).graph.count_ops()
    assert counts["_sg_onednn_conv"] == 7
    assert not {"Convolution", "clip", "elemwise_add", "_to_blocked"} & counts.keys()


@pytest.mark.skipif(
    not target().has_kernel(TILES, BFLOAT), reason="no tiles of bfloat16 here (AMX)"
)
def test_arrays_lie_channels_last_for_tiles():
    symbol, shape = joined()
    graph = graph_of(amp.convert_symbol(symbol, "bfloat16"), arrays_of(symbol, shape))
    planned = Planned(graph, mx.cpu(), True).graph
    for node in planned.nodes:
        if node.op is not None and node.op.name == "_sg_onednn_conv":
            assert "tiles" in node.attrs.algo
            assert node.attrs.out_block in (0, node.attrs.num_filter)


def test_operators_without_a_kernel_run_in_float32():
    symbol, shape = attention()
    graph = graph_of(amp.convert_symbol(symbol, "bfloat16"), arrays_of(symbol, shape))
    widened = verify(widen.run(graph, target()))
    kinds = {
        node.op.name: [widened.spec(entry).dtype for entry in node.inputs]
        for node in widened.nodes
        if node.op is not None
    }
    assert kinds["_contrib_interleaved_matmul_selfatt_qk"] == [FLOAT]
    assert kinds["FullyConnected"] == [BFLOAT] * 3
    # the rounding before the softmax is dropped
    names = [node.name for node in widened.nodes if node.op is not None]
    assert not any("narrowed" in name for name in names)
    assert widen.run(widened, target()) is widened


@pytest.mark.parametrize("capable", [False, True])
def test_a_warning_tells_once_that_nothing_is_gained(capable, monkeypatch, caplog):
    monkeypatch.setattr(
        speed.algorithm, "choose_dense", lambda *args: object() if capable else None
    )
    speed.warn_once.cache_clear()
    symbol = residual()[0]
    for target_type in ("float16", "bfloat16", "bfloat16"):
        amp.convert_symbol(symbol, target_type)
    assert caplog.text.count("no products of bfloat16") == (not capable)
    speed.warn_once.cache_clear()


def test_float32_graphs_are_left_alone():
    symbol, shape = attention()
    graph = graph_of(symbol, arrays_of(symbol, shape))
    assert widen.run(graph, target()) is graph
