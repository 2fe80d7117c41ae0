"""Scopes that keep operations out of mixed precision: `HybridBlock.OptConstraint`."""

import json

import pytest

import mxcy as mx
from mxcy import amp
from mxcy._base import dtypes
from mxcy.gluon import nn

Constraint = nn.HybridBlock.OptConstraint


@pytest.fixture
def arrays():
    mx.npx.set_np()
    yield
    mx.npx.reset_np()


class OnArrays(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(4, in_units=3), nn.Dense(4, in_units=4)

    def forward(self, x):
        x = self.first(x)
        with Constraint.disable_amp(), Constraint.disable_all():
            x = self.second(x)
            x = mx.npx.cond(lambda a: a.sum() > 0, lambda a: a * 2, lambda a: a, x)
        return x + 1


class OnSymbols(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.first, self.second = nn.Dense(4, in_units=3), nn.Dense(4, in_units=4)

    def hybrid_forward(self, F, x):
        x = self.first(x)
        with Constraint(Constraint.Flag.DisableAMP):
            x = self.second(x)
        return x + 1


def name_of(dtype):
    return dtypes.name_of(dtypes.code_of(dtype))


def kinds(net, x):
    """Element types of the weights after conversion, and the constrained operators."""
    net.initialize(mx.init.One())
    net.hybridize()
    before = net(x)
    nodes = json.loads(net.export(None)[0].tojson())["nodes"]
    marked = [n["op"] for n in nodes if "__opt_constraint__" in n.get("attrs", ())]
    converted = amp.convert_hybrid_block(net, x, "bfloat16", cast_params_offline=True)
    assert converted(x).asnumpy().tolist() == before.asnumpy().tolist()
    types = [name_of(p.dtype) for p in converted.collect_params(".*weight").values()]
    return types, [op for op in marked if op != "null"]


def test_in_blocks_on_arrays(arrays):
    halves = ["bfloat16", "float32"]
    assert kinds(OnArrays(), mx.np.ones((2, 3))) == (halves, ["FullyConnected", "_cond"])


def test_in_blocks_on_symbols():
    x = mx.nd.ones((2, 3))
    assert kinds(OnSymbols(), x) == (["bfloat16", "float32"], ["FullyConnected"])


def test_symbols_made_under_mixed_precision(mixed):
    mixed("bfloat16")
    x, weight = mx.sym.var("x"), mx.sym.var("w")
    for _ in range(2):
        x = mx.sym.FullyConnected(x, weight, no_bias=True, num_hidden=3)
        with Constraint.disable_amp():
            x = mx.sym.FullyConnected(x, weight, no_bias=True, num_hidden=3)
    nodes = json.loads(x.tojson(remove_amp_cast=False))["nodes"]
    kinds = [node["attrs"]["dtype"] for node in nodes if node["op"] == "amp_cast"]
    assert kinds == (["bfloat16"] * 2 + ["float32"] * 2) * 2


@pytest.mark.parametrize("hybrid", [False, True])
def test_calls_under_mixed_precision(arrays, mixed, hybrid):
    seen = []

    class Seen(nn.HybridBlock):
        def forward(self, x, weight):
            def product():
                y = mx.npx.fully_connected(x, weight, no_bias=True, num_hidden=3)
                seen.append(name_of(y.dtype))
                return y

            y = product() * 2
            with Constraint.disable_amp():
                product()
                seen.append(name_of((y + 1).dtype))  # of 16-bit input
                with Constraint.disable_all():
                    product()
                product()
            return product()

    x = mx.np.ones((2, 3))
    mixed("bfloat16")
    block = Seen()
    if hybrid:
        block.hybridize()
    half, whole = "bfloat16", "float32"
    for _ in range(2):
        seen.clear()
        assert name_of(block(x, mx.np.ones((3, 3))).dtype) == half
        assert hybrid or seen == [half, whole, whole, whole, whole, half]
