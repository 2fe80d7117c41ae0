"""Planning: from a symbol to a plan, for long chains (linear in their length) and deep networks."""

import pytest

import mxcy as mx
from mxcy._execute.planned import Planned
from mxcy.graph.control import expand
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer
from mxcy.ops.core.infer import Spec

FLOAT = 0


def plan(symbol, known):
    return Planned(expand(infer(from_entries(symbol._entries), known)), mx.cpu())


@pytest.mark.parametrize("count", [1_250, 5_000, 20_000])
def test_chain(benchmark, count):
    def make():
        x = mx.sym.Variable("x")
        for number in range(count):
            x = mx.sym.relu(x) if number % 2 else mx.sym.softmax(x)
        return (x, {"x": Spec((4, 4), FLOAT)}), {}

    benchmark.pedantic(plan, setup=make, rounds=3)


@pytest.mark.parametrize("layers", [50, 152])
def test_residual_network(benchmark, layers):
    """The first plan also runs algorithm trials; later plans use their results."""
    net = mx.gluon.model_zoo.vision.get_resnet(1, layers)
    net.initialize()
    symbol, shape = net(mx.sym.Variable("data")), (1, 3, 224, 224)
    arguments, _, states = symbol.infer_shape(data=shape)
    known = {
        name: Spec(found, FLOAT)
        for name, found in zip(
            symbol.list_arguments() + symbol.list_auxiliary_states(),
            arguments + states,
            strict=True,
        )
    }
    plan(symbol, known)
    benchmark.pedantic(plan, args=(symbol, known), rounds=3)
