"""Concatenations in place: their parts are computed in their memory."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.graph.builder import Builder
from mxcy.graph.gradient import gradient
from tests.graph.graphs import spec
from tests.graph.test_memory import plan

nn = mx.gluon.nn


def halves(b, x, **attrs):
    """Two functions of an entry, and their concatenation."""
    parts = [b.add(name, {}, [x]) for name in ("sqrt", "square")]
    return parts, b.add("Concat", {"dim": 0, **attrs}, parts)


def test_parts_are_computed_in_their_concatenation():
    b = Builder()
    (first, second), both = halves(b, b.add("exp", {}, [b.variable("x", spec(4, 16))]))
    graph = b.finish([b.add("cumsum", {}, [both])])
    memory = plan(graph)
    begin = memory.offsets[both]
    assert memory.idle == {both[0]}
    assert [memory.offsets[first], memory.offsets[second]] == [begin, begin + 256]
    apart = plan(graph, MXNET_EXEC_ENABLE_INPLACE=False)
    assert apart.idle == set() and apart.total > memory.total


def test_a_growing_concatenation_has_one_buffer():
    b = Builder()
    x = b.add("exp", {}, [b.variable("x", spec(1, 4, 16))])
    whole, wholes = x, []
    for _ in range(6):
        new = b.add("sum", {"axis": 1, "keepdims": True}, [b.add("sin", {}, [whole])])
        whole = b.add("Concat", {"dim": 1}, [whole, new])
        wholes.append(whole)
    memory = plan(b.finish([b.add("cumsum", {}, [whole])]))
    assert memory.idle == {number for number, _ in wholes}
    assert {memory.offsets[entry] for entry in (x, *wholes)} == {memory.offsets[x]}


def test_identities_pass_the_place_in_a_concatenation_on():
    b = Builder()
    x = b.add("exp", {}, [b.variable("x", spec(4, 16))])
    parts = [b.add("Flatten", {}, [b.add(name, {}, [x])]) for name in ("sqrt", "square")]
    both = b.add("Concat", {"dim": 0}, parts)
    memory = plan(b.finish([b.add("cumsum", {}, [both])]))
    assert memory.idle == {both[0]}
    assert memory.offsets[parts[1]] == memory.offsets[both] + 256


def test_a_part_is_not_overwritten_before_the_concatenation_is_read():
    b = Builder()
    (first, _), both = halves(b, b.add("exp", {}, [b.variable("x", spec(4, 16))]))
    early = b.add("sin", {}, [first])
    late = b.add("cos", {}, [both])
    last = b.add("sin", {}, [first])  # the only reader left: may overwrite the part
    ends = [b.add("cumsum", {}, [entry]) for entry in (early, late, last)]
    memory = plan(b.finish(ends))
    begin, end = memory.offsets[both], memory.offsets[both] + 512
    assert not begin <= memory.offsets[early] < end
    assert not begin <= memory.offsets[late] < end
    assert memory.offsets[last] == memory.offsets[first]


def refused(make, external=None):
    """Whether a concatenation made by ``make(builder, variable)`` is copied."""
    b = Builder()
    graph = b.finish(make(b, b.variable("x", spec(4, 16))))
    return not plan(graph, external).idle


def test_concatenations_that_need_copies():
    def reader(b, entry):
        return [b.add("cumsum", {}, [entry])]

    def concat(b, entries, dim=0):
        return reader(b, b.add("Concat", {"dim": dim}, entries))

    assert not refused(lambda b, x: reader(b, halves(b, x)[1]))
    assert refused(lambda b, x: reader(b, halves(b, x, dim=1)[1]))  # not one after the other
    assert refused(lambda b, x: [halves(b, x)[1]])  # in the caller's array
    assert refused(lambda b, x: concat(b, [x, b.add("exp", {}, [x])]))
    assert refused(lambda b, x: concat(b, [b.add("exp", {}, [x])] * 2))
    assert refused(lambda b, x: concat(b, [b.add("Reshape", {"shape": (4, 16)}, [x])] * 2))

    def unaligned(b, x):
        row = b.add("slice_axis", {"axis": 1, "begin": 0, "end": 3}, [x])
        return concat(b, [b.add("exp", {}, [row]), b.add("sin", {}, [row])])

    assert refused(unaligned)

    def given(b, x):
        parts, both = halves(b, x)
        return [parts[0], *reader(b, both)]

    assert refused(given)  # a part is in the caller's array


def test_backward_passes_read_parts_from_memory_of_their_own():
    b = Builder(train=True)
    x = b.variable("x", spec(4, 16))
    out = b.add("cumsum", {}, [halves(b, x)[1]])
    assert not plan(gradient(b.finish([out]), [x[0]])).idle


def chain(channels):
    """Layers that append channels to their input."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(channels, 3, padding=1))
    for _ in range(3):
        layers = nn.HybridSequential()
        layers.add(nn.BatchNorm(), nn.Activation("relu"), nn.Conv2D(32, 3, padding=1))
        net.add(Joined([nn.Identity(), layers]))
    net.add(nn.BatchNorm())
    return net


class Joined(mx.gluon.HybridBlock):
    """The results of several layers on one input, concatenated."""

    def __init__(self, layers, dim=1):
        super().__init__()
        self.layers, self.dim = layers, dim
        for layer in layers:
            self.register_child(layer)

    def hybrid_forward(self, F, data):
        return F.concat(*[layer(data) for layer in self.layers], dim=self.dim)


def branches(channels):
    """A convolution and a pooling side by side, read by layers that could work in place."""
    net = nn.HybridSequential()
    pool = nn.HybridSequential()
    pool.add(nn.MaxPool2D(3, 1, 1), nn.Conv2D(32, 1, activation="relu"))
    net.add(nn.Conv2D(channels, 3, padding=1, activation="relu"))
    net.add(Joined([nn.Conv2D(32, 1, activation="relu"), pool, nn.AvgPool2D(3, 1, 1)]))
    net.add(nn.Activation("tanh"), nn.Conv2D(channels, 3, padding=1))
    return net


def rows(channels):
    """A concatenation along the batch, and its sum with one of its parts."""
    net = nn.HybridSequential()
    parts = [nn.Dense(channels, flatten=False, activation=kind) for kind in ("relu", "tanh")]
    net.add(nn.Dense(channels, flatten=False), Joined(parts, dim=0))
    net.add(nn.Dense(channels, flatten=False))
    return net


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("channels", [16, 32, 24])
@pytest.mark.parametrize("make", [chain, branches, rows])
def test_networks_give_the_same_bits(make, channels, batch, monkeypatch):
    data = mx.nd.random.normal(shape=(batch, channels, 13, 9))
    net = make(channels)
    net.initialize(mx.init.Normal(0.3))
    net(data)

    def results():
        net.hybridize(static_alloc=True, static_shape=True)
        first = net(data)
        kept = first.asnumpy()
        second = net(data * 2)
        np.testing.assert_array_equal(first.asnumpy(), kept)  # of another run
        return kept, second.asnumpy()

    in_place = results()
    monkeypatch.setenv("MXNET_EXEC_ENABLE_INPLACE", "0")
    for got, want in zip(in_place, results(), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(("batch", "copied"), [(1, 0), (2, 8)])
def test_squeezenet_copies_no_parts_of_a_single_image(batch, copied):
    symbol = mx.gluon.model_zoo.vision.squeezenet1_0()(mx.sym.var("data"))
    executor = symbol.simple_bind(mx.cpu(), "null", data=(batch, 3, 224, 224))
    steps = [step.call.op.name for step in executor.plan(False).steps]
    assert steps.count("Concat") == copied
