"""Deferred computation: blocks that compute on arrays become graphs."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import _deferred_compute as deferred
from mxcy import autograd, gluon
from mxcy.gluon import nn


@pytest.fixture
def arrays():
    """Enable NumPy array semantics, under which blocks are recorded."""
    mx.util.set_np()
    yield
    mx.util.reset_np()


def evaluated(symbol, **values):
    values = {name: array.copy() for name, array in values.items()}
    return [a.asnumpy() for a in symbol.bind(mx.cpu(), values).forward()]


# --- by itself -----------------------------------------------------------------------------------


def test_recorded_operators_become_a_symbol():
    x, w = mx.nd.array([[1.0, 2], [3, 4]]), mx.nd.array([[1.0, 0], [2, 1], [0, 3]])
    with deferred.context():
        assert deferred.is_deferred_compute() and not autograd.is_recording()
        deferred.set_variable([x, w], [mx.sym.var("x"), mx.sym.var("w")])
        y = mx.nd.FullyConnected(x, w, no_bias=True, num_hidden=3)
        z = (y * 2.5).sum() + (x > 1).sum() + x[:, 1].reshape((1, -1)).sum() + mx.nd.ones((1,))
        both, again = deferred.get_symbol([z, y]), deferred.get_symbol(y)
    assert not deferred.is_deferred_compute()
    assert both.list_arguments() == ["x", "w"]
    names = both.get_internals().list_outputs()
    assert names[2] == "node_0_output"
    actual = evaluated(both, x=x, w=w)
    np.testing.assert_array_equal(actual[0], z.asnumpy())
    np.testing.assert_array_equal(actual[1], y.asnumpy())
    np.testing.assert_array_equal(evaluated(again, x=x * 2, w=w)[0], 2 * y.asnumpy())


def test_inputs_may_be_outputs():
    x = mx.nd.ones((2,))
    with deferred.context():
        deferred.set_variable(x, mx.sym.var("x"))
        symbol = deferred.get_symbol([x, x + 1])
    assert symbol.list_arguments() == ["x"]
    assert [v.tolist() for v in evaluated(symbol, x=mx.nd.zeros((2,)))] == [[0, 0], [1, 1]]


def test_random_operators_draw_at_each_run():
    with deferred.context():
        symbol = deferred.get_symbol(mx.nd.random.uniform(shape=(8,)))
    executor = symbol.bind(mx.cpu(), {})
    first = executor.forward()[0].asnumpy()
    assert (first != executor.forward()[0].asnumpy()).any()


def test_variables_and_foreign_arrays_are_checked():
    x, other = mx.nd.ones((2,)), mx.nd.ones((2,))
    with deferred.context():
        deferred.set_variable(x, mx.sym.var("x"))
        with pytest.raises(mx.MXNetError, match="already is a variable"):
            deferred.set_variable(x, mx.sym.var("y"))
        y = x + other
        for error in (mx.MXNetError, TypeError):
            with pytest.raises(error, match="neither a variable"):
                deferred.get_symbol(y)
        deferred.clear([x, y])
        deferred.set_variable(x, mx.sym.var("z"))
    before = deferred.set_deferred_compute(True)
    assert before is False and deferred.set_deferred_compute(False) is True
    deferred.clear(x)
    assert (x + 1).asnumpy().tolist() == [2, 2]


def write(y):
    y[0] = 1


def add(y):
    y += 1


def record(y):
    with autograd.record():
        return y + 1


@pytest.mark.parametrize(
    "look",
    [
        lambda y: y.asnumpy(),
        lambda y: float(y[0]),
        lambda y: int(y[0]),
        lambda y: bool(y[0]),
        lambda y: y[0].asscalar(),
        lambda y: np.asarray(y),
        lambda y: mx.nd.ones((3,))[y],
        lambda y: mx.nd.exp(y, out=mx.nd.ones((3,))),
        write,
        add,
        record,
    ],
)
def test_operations_without_an_operator_are_refused(look):
    x = mx.nd.array([0.0, 1, 2])
    with deferred.context():
        deferred.set_variable(x, mx.sym.var("x"))
        y = x + 1
        with pytest.raises((mx.MXNetError, BufferError)):
            look(y)
    assert y.asnumpy().tolist() == [1, 2, 3]


def test_functions_with_a_backward_of_their_own_are_refused():
    class Twice(autograd.Function):
        def forward(self, x):
            return 2 * x

        def backward(self, dy):
            return dy

    with deferred.context(), pytest.raises(mx.MXNetError, match="Twice"):
        Twice()(mx.nd.ones((2,)))


# --- in blocks -----------------------------------------------------------------------------------


class Net(gluon.HybridBlock):
    """Has a parameter of unknown shape, a constant, and code that depends on shapes."""

    def __init__(self):
        super().__init__()
        self.body = nn.Dense(4, activation="relu")
        self.weight = gluon.Parameter("weight", shape=(4, -1), allow_deferred_init=True)
        self.scale = mx.nd.array([2.0])
        self.calls = 0

    def infer_shape(self, x):
        self.weight.shape = (4, 5)

    def forward(self, x):
        self.calls += 1
        hidden = self.body(x)
        out = mx.nd.dot(hidden, self.weight.data()) * self.scale
        return out.reshape((x.shape[0] * 5,)), (hidden, None)


def trained(net, x):
    with autograd.record():
        out, (hidden, nothing) = net(x)
        loss = (out * out).sum() + hidden.sum()
    loss.backward()
    assert nothing is None
    gradients = [p.grad().asnumpy().copy() for p in net.collect_params().values()]
    return [out.asnumpy(), hidden.asnumpy(), *gradients]


def test_blocks_are_noted_for_each_signature(arrays, tmp_path):
    net = Net()
    net.initialize(mx.init.Normal(0.5))
    data = [mx.nd.array(np.random.RandomState(i).rand(n, 3)) for i, n in enumerate((2, 5, 2))]
    expected = [trained(net, x) for x in data]
    net.hybridize()
    calls = net.calls
    for _ in range(2):
        for x, values in zip(data, expected, strict=True):
            for one, other in zip(trained(net, x), values, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert net.calls == calls + 3  # an attempt with symbols, and one for each shape
    graph, values = net.export(str(tmp_path / "net"))
    loaded = gluon.SymbolBlock.imports(graph, ["data"], values)
    np.testing.assert_allclose(loaded(data[2])[0].asnumpy(), expected[2][0], rtol=1e-5, atol=1e-6)


def test_equal_graphs_are_one(arrays):
    class Plain(gluon.HybridBlock):
        def forward(self, x):
            return mx.nd.exp(x) + 1

    net = Plain()
    net.hybridize()
    for n in (1, 2, 3):
        net(mx.nd.ones((n,)))
    assert len({id(traced) for traced in net._calls._by_signature._entries.values()}) == 1


def test_blocks_that_read_values_are_not_traced(arrays, capsys, monkeypatch):
    class Looks(gluon.HybridBlock):
        def forward(self, x):
            return x + 1 if float(mx.nd.sum(x)) > 0 else x - 1

    monkeypatch.setenv("MXCY_VERBOSE", "passes")
    net = Looks()
    net.hybridize()
    for _ in range(2):
        assert net(mx.nd.ones((2,))).asnumpy().tolist() == [2, 2]
        assert net(-mx.nd.ones((2,))).asnumpy().tolist() == [-2, -2]
    assert capsys.readouterr().err.count("reads the values") == 1


def test_tracing_draws_no_random_numbers(arrays):
    class Noisy(gluon.HybridBlock):
        def forward(self, x):
            return mx.nd.exp(x) + mx.nd.random.uniform(shape=x.shape)

    net, x = Noisy(), mx.nd.zeros((4,))
    mx.random.seed(3)
    expected = [net(x).asnumpy() for _ in range(2)]
    net.hybridize()
    mx.random.seed(3)
    for values in expected:
        np.testing.assert_array_equal(net(x).asnumpy(), values)


def test_children_with_graphs_of_their_own_become_a_part(arrays):
    class Parent(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.first, self.second = Net(), nn.HybridSequential()
            self.second.add(nn.Dense(3), nn.BatchNorm(), nn.Dropout(0.5))

        def forward(self, x):
            out, _ = self.first(x)
            return self.second(mx.nd.exp(out.reshape((-1, 5))))

    net, x = Parent(), mx.nd.array(np.random.RandomState(0).rand(2, 3))
    net.initialize()
    net.first.hybridize()
    net.second.hybridize()
    expected = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-5, atol=1e-6)
    used = set(net._only_trace().parameters)
    assert {p.var().name for p in net.collect_params().values()} <= used
    with autograd.record():  # the mode is that of the call, not that of the trace
        assert (net(x).asnumpy() == 0).any()


def test_shapes_have_to_be_inferred(arrays):
    class Unknown(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.weight = gluon.Parameter("weight", shape=(-1,), allow_deferred_init=True)

        def forward(self, x):
            return mx.nd.exp(x) * self.weight.data()

    for active in (False, True):
        net = Unknown()
        net.initialize()
        net.hybridize(active)
        with pytest.raises(RuntimeError, match="infer_shape"):
            net(mx.nd.ones((2,)))


def test_outputs_may_not_depend_on_inputs(arrays):
    class Numbers(nn.HybridBlock):
        def forward(self, x):
            return mx.np.arange(x.shape[0])

    net = Numbers()
    net.hybridize()
    for count in (3, 5, 3):
        assert net(mx.np.ones((count, 2))).tolist() == list(range(count))


def test_copies_to_other_devices_are_recorded():
    x = mx.nd.arange(3)
    with deferred.context():
        deferred.set_variable(x, mx.sym.var("x"))
        moved = x.as_in_context(mx.cpu(1)) + 1
        y = moved.as_in_context(mx.cpu(0)) * 2
        symbol = deferred.get_symbol(y)
    assert moved.context == mx.cpu(1) and y.asnumpy().tolist() == [2, 4, 6]
    assert evaluated(symbol, x=x + 1)[0].tolist() == [4, 6, 8]


def test_errors_of_values_are_raised_once(arrays):
    """A failure while tracing for new shapes is raised only where the outputs are read."""

    class Checked(nn.HybridBlock):
        def forward(self, x):
            return x * mx.npx.constraint_check(x > 0, "not positive")

    net = Checked()
    net.hybridize()
    for count in (2, 3):
        with pytest.raises(ValueError, match="not positive"):
            net(mx.np.full((count,), -1.0)).asnumpy()
        mx.nd.waitall()


def test_casts_are_noted():
    x = mx.np.array([1.5, 2.5])
    with deferred.context():
        deferred.set_variable(x, mx.sym.var("x"))
        y = x.astype("int32")
        symbol = deferred.get_symbol(y + 1)
    assert y.dtype == "int32" and evaluated(symbol, x=x)[0].tolist() == [2, 3]


@pytest.mark.parametrize(
    "choose",
    [
        mx.np.flatnonzero,
        lambda x: mx.np.nonzero(x)[0],
        lambda x: mx.np.unique(x, return_counts=True)[1],
        lambda x: x[x > 1],
        lambda x: mx.nd.contrib.boolean_mask(x, x > 1),
    ],
)
def test_value_dependent_operators_are_recorded(choose):
    x = mx.np.array([0.0, 2.0, 3.0, 0.0])
    deferred.set_variable(x, mx.sym.var("x").as_np_ndarray())
    with deferred.context():
        actual = choose(x)
    noted = deferred.get_symbol([actual])
    other = mx.np.array([1.0, 0.0, 2.0, 5.0])
    (again,) = noted._bind(mx.cpu(), args={"x": other}).forward()
    want = choose(other)
    assert again.shape == want.shape
    np.testing.assert_array_equal(again.asnumpy(), want.asnumpy())


def test_blocks_whose_shapes_depend_on_values_are_right_and_exported(arrays, tmp_path):
    class Places(mx.gluon.HybridBlock):
        def forward(self, x):
            places = mx.np.flatnonzero(x)
            return places.reshape(places.shape[0], 1)

    net = Places()
    net.hybridize()
    for values in ([0.0, 1.0, 2.0], [0.0, 0.0, 2.0]):
        want = np.flatnonzero(values)[:, None]
        np.testing.assert_array_equal(net(mx.np.array(values)).asnumpy(), want)
    net.export(str(tmp_path / "places"))
    assert (tmp_path / "places-symbol.json").exists()


@pytest.mark.parametrize("index", [[0, 2], np.array([0, 2]), (slice(None), [1])])
def test_indices_of_numpy_are_constants_in_blocks_only(index):
    class Picks(mx.gluon.HybridBlock):
        def forward(self, x):
            return x[index] * 2

    with mx.util.np_shape(), mx.util.np_array(True):
        x = mx.np.arange(12).reshape(3, 4)
        with deferred.context(), pytest.raises(TypeError, match="index"):
            deferred.set_variable(x, mx.sym.var("x").as_np_ndarray())
            x[index]
        deferred.clear(x)
        block = Picks()
        block.hybridize()
        for _ in range(2):
            assert (block(x).asnumpy() == x.asnumpy()[index] * 2).all()


def test_shapes_are_asked_for_only_where_they_are_unknown(arrays):
    class Scaled(gluon.HybridBlock):
        def __init__(self, shape):
            super().__init__()
            self.scale = gluon.Parameter("scale", shape=shape, allow_deferred_init=True)

        def forward(self, x):
            return x * self.scale.data()

    assert Scaled((2,)).infer_shape(mx.np.ones(2)) is None
    with pytest.raises(gluon.DeferredInitializationError, match="does not define infer_shape"):
        Scaled((-1,)).infer_shape(mx.np.ones(2))
