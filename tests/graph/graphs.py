"""Helpers of the graph tests: a fake native library, calls, and random graphs."""

import numpy as np

import mxcy  # noqa: F401  (registers the operators)
from mxcy._base import dtypes
from mxcy.graph.builder import Builder
from mxcy.graph.target import Target
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.prepare import prepare

FLOAT = dtypes.CODES["float32"]


class Library:
    """A fake native library that has every kernel."""

    has_kernel = staticmethod(lambda name, dtype: True)

    @staticmethod
    def query(name, params, ins, outs, what):
        return None if what == "accepts" else 0


def target(**settings):
    """A target without a native library."""
    return Target(Library.has_kernel, Library.query, None, 0, settings, None)


def calls_of(graph):
    """The prepared call of each node."""
    return [
        None
        if node.op is None
        else prepare(node.op, node.attrs, [graph.spec(e) for e in node.inputs], Library)
        for node in graph.nodes
    ]


def spec(*shape, dtype="float32"):
    return Spec(shape, dtypes.CODES[dtype])


def values_for(graph, seed=0):
    """Random values for the variables of a graph; the same name gets the same values."""
    collected = {}
    for number in graph.variables():
        name, (spec_of,) = graph.nodes[number].name, graph.specs[number]
        rng = np.random.default_rng([seed, *name.encode()])
        collected[name] = rng.uniform(0.5, 1.5, spec_of.shape).astype(
            dtypes.dtype_of(spec_of.dtype)
        )
    return collected


_UNARY = ("sin", "relu", "sigmoid", "square", "sqrt_abs", "scale", "ones", "zeros", "again")


def random_graph(rng, count, outputs=2):
    """A random graph of elementwise, normalising, moving, matrix and reducing operators.

    Some nodes are duplicates, some have no consumers, and some depend on no variable.

    Parameters
    ----------
    rng : random.Random
    count : int
        The number of steps that add nodes.
    """
    graph = _Growing(rng)
    for _ in range(count):
        graph.add()
    return graph.finish(outputs)


class _Growing:
    """A graph that grows by a random node with each step."""

    size = 4

    def __init__(self, rng):
        self.rng, self.builder = rng, Builder(train=True)
        self.F, new = self.builder.values, self._variable
        self.square = [new(f"x{i}", self.size, self.size) for i in range(3)]
        self.vector, self.values = new("v", self.size), list(self.square)

    def _variable(self, name, *shape):
        return self.builder.value(self.builder.variable(name, spec(*shape)))

    def add(self):
        x = self.rng.choice(self.values[-5:])
        step = self.rng.random()
        if step < 0.5:
            self.values.append(self.grow(x))
        elif step < 0.8:
            self.values.append(self.join(x, self.rng.choice(self.values)))
        else:
            self.values.append(self.mix(x))

    def grow(self, x):
        F, kind = self.F, self.rng.choice(_UNARY)
        if kind == "sqrt_abs":
            return F.sqrt(F.abs(x) + 1)
        if kind == "scale":
            return x * self.rng.choice([0.5, -1.0, 1.0]) + self.rng.choice([0.0, 0.25])
        if kind == "ones":
            return x * F.ones_like(x)
        if kind == "zeros":
            return x + F.zeros_like(self.rng.choice(self.values))
        if kind == "again":
            return F.sin(x) * F.sin(x)
        return getattr(F, kind)(x)

    def join(self, x, y):
        F, kind = self.F, self.rng.randrange(5)
        if kind == 0:
            return x + y
        if kind == 1:
            return x * y
        if kind == 2:
            there_and_back = F.Reshape(F.Reshape(y, shape=(-1,)), shape=(self.size, self.size))
            return F.elemwise_add(x, there_and_back)
        if kind == 3:
            return F.broadcast_add(x, self.vector) - y
        first, second = F.SliceChannel(F.Concat(x, y, dim=0), num_outputs=2, axis=0)
        return first - second

    def mix(self, x):
        F, kind = self.F, self.rng.randrange(6)
        if kind == 0:
            weight = self.rng.choice(self.square)
            return F.FullyConnected(x, weight, self.vector, num_hidden=self.size)
        if kind == 1:
            return F.tanh(F.dot(x, self.rng.choice(self.values)))
        if kind == 2:
            return F.broadcast_mul(x, F.mean(x, axis=1, keepdims=True))
        if kind == 3:
            return F.softmax(x, axis=1)
        if kind == 4:
            constant = F._full(shape=(1, self.size), value=0.3)
            return F.broadcast_mul(x, F.sum(constant, axis=1, keepdims=True))
        return F.BlockGrad(F.tanh(x)) + x

    def finish(self, outputs):
        others = (self.rng.choice(self.values[3:]) for _ in range(outputs - 1))
        chosen = [self.values[-1], *others]
        return self.builder.finish([self.F.tanh(value).entry for value in chosen])


class _Net:
    """Layers with their own variables, to build test networks."""

    def __init__(self, train):
        self.builder, self.count = Builder(train), 0

    def add(self, op, attrs, x, *shapes, names=("weight",)):
        """Append an operator over an entry and new variables; returns its entry."""
        self.count += 1
        new = [
            self.builder.variable(f"{name}{self.count}", spec(*shape))
            for name, shape in zip(names, shapes, strict=False)
        ]
        return self.builder.add(op, attrs, [*x, *new], f"{op.lower()}{self.count}")

    def conv(self, x, filters, kernel, stride=1, pad=0):
        attrs = {"kernel": (kernel, kernel), "stride": (stride, stride), "pad": (pad, pad)}
        channels = self.builder.spec(x).shape[1]
        attrs |= {"num_filter": filters, "no_bias": True}
        x = self.add("Convolution", attrs, [x], (filters, channels, kernel, kernel))
        states = ("gamma", "beta", "moving_mean", "moving_var")
        return self.add("BatchNorm", {"fix_gamma": False}, [x], *[(filters,)] * 4, names=states)

    def relu(self, x):
        return self.add("Activation", {"act_type": "relu"}, [x])


def resnet50(batch, train):
    """ResNet-50 for images of 224 x 224, with a softmax output."""
    net = _Net(train)
    x = net.builder.variable("data", spec(batch, 3, 224, 224))
    x = net.relu(net.conv(x, 64, 7, 2, 3))
    pool = {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pool_type": "max"}
    x = net.add("Pooling", pool, [x])
    for stage, blocks in enumerate((3, 4, 6, 3)):
        filters = 64 << stage
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = net.relu(net.conv(x, filters, 1, stride))
            y = net.relu(net.conv(y, filters, 3, pad=1))
            y = net.conv(y, 4 * filters, 1)
            if not block:
                x = net.conv(x, 4 * filters, 1, stride)
            x = net.relu(net.add("elemwise_add", {}, [y, x]))
    x = net.add("Pooling", {"global_pool": True, "pool_type": "avg"}, [x])
    x = net.add(
        "FullyConnected", {"num_hidden": 1000}, [x], (1000, 2048), (1000,), names=("weight", "bias")
    )
    x = net.add("SoftmaxOutput", {}, [x], (batch,), names=("label",))
    return net.builder.finish([x])
