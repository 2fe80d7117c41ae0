"""Recorded histories as symbols that compute the same."""

import json

import numpy as np
import pytest

import mxcy as mx


def evaluated(symbol, *arrays, train=True):
    """The outputs of a symbol for its arguments, in order."""
    names = symbol.list_inputs()
    assert len(names) == len(arrays), names
    actual = mx.nd.CachedOp(symbol)
    with mx.autograd.train_mode() if train else mx.autograd.predict_mode():
        return actual(*arrays).asnumpy()


@pytest.fixture
def arrays():
    values = np.random.RandomState(0).normal(size=(2, 2, 3)).astype("float32")
    actual = mx.nd.array(values[0]), mx.nd.array(values[1])
    actual[0].attach_grad()
    return actual


def test_operators_views_and_numbers(arrays):
    a, b = arrays
    with mx.autograd.record():
        y = mx.nd.dot(a, b, transpose_b=True) * 2 + a[:, :2]
        z = mx.nd.sum(y[0] * a[1, 1:], axis=0)
    symbol = mx.autograd.get_symbol(z)
    assert symbol.list_arguments() == ["var0", "null1"]
    assert [node for node in symbol.get_internals().list_outputs() if "dot" in node] == []
    np.testing.assert_allclose(evaluated(symbol, a, b), z.asnumpy(), rtol=1e-6)
    other = mx.nd.array([[1, 0, 2], [3, 1, 1]])  # values differ from the recorded ones
    with mx.autograd.record():
        y = mx.nd.dot(other, b, transpose_b=True) * 2 + other[:, :2]
        want = mx.nd.sum(y[0] * other[1, 1:], axis=0)
    again = mx.sym.load_json(symbol.tojson())
    np.testing.assert_allclose(evaluated(again, other, b), want.asnumpy(), rtol=1e-6)


def test_one_of_several_outputs(arrays):
    with mx.autograd.record():
        parts = mx.nd.split(arrays[0] * 1.5, num_outputs=3, axis=1)
    symbol = mx.autograd.get_symbol(parts[2])
    assert symbol.list_outputs()[0].endswith("output2")
    np.testing.assert_array_equal(evaluated(symbol, arrays[0]), parts[2].asnumpy())


def test_gradients_of_the_symbol(arrays):
    a, b = arrays
    with mx.autograd.record():
        y = mx.nd.exp(a) * b / 3
    symbol = mx.autograd.get_symbol(y)
    executor = symbol.bind(
        mx.cpu(),
        dict(zip(symbol.list_arguments(), arrays, strict=True)),
        args_grad={"var0": mx.nd.zeros(a.shape)},
    )
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(a.shape))
    y.backward()
    np.testing.assert_allclose(executor.grad_dict["var0"].asnumpy(), a.grad.asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("hybridize", [False, True])
def test_blocks(hybridize, arrays):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(4, activation="relu"), mx.gluon.nn.BatchNorm())
    net.initialize()
    net.hybridize(hybridize)
    x = arrays[1]
    with mx.autograd.record():
        net(x)  # infers the shapes
        y = net(x) * 2
    symbol = mx.autograd.get_symbol(y)
    assert len(symbol.list_auxiliary_states()) == 2
    parameters = {p.name: p.data() for p in net.collect_params().values()}
    dense, norm = net[0], net[1]
    inputs = [x, dense.weight, dense.bias, norm.gamma, norm.beta]
    inputs += [norm.running_mean, norm.running_var]
    inputs = [value if value is x else parameters[value.name].copy() for value in inputs]
    np.testing.assert_allclose(evaluated(symbol, *inputs), y.asnumpy(), rtol=1e-5)


@pytest.mark.parametrize(("limit", "operators"), [(2, ["_CachedOp"]), (3, ["FullyConnected"] * 3)])
def test_blocks_beyond_the_inline_limit_are_one_node(arrays, limit, operators):
    net = mx.gluon.nn.HybridSequential()
    net.add(*(mx.gluon.nn.Dense(4) for _ in range(3)))
    net.initialize()
    net.hybridize(inline_limit=limit)
    x = arrays[1]
    with mx.autograd.record():
        net(x)  # infers the shapes
        y = net(x) * 2
    symbol = mx.autograd.get_symbol(y)
    nodes = json.loads(symbol.tojson())["nodes"]
    assert [node["op"] for node in nodes if node["op"] != "null"] == [*operators, "_mul_scalar"]
    inputs = [x, *(array for layer in net for array in (layer.weight.data(), layer.bias.data()))]
    for one in (symbol, mx.sym.load_json(symbol.tojson())):
        assert one.infer_shape(**{one.list_arguments()[0]: x.shape})[1] == [(2, 4)]
        np.testing.assert_allclose(evaluated(one, *inputs), y.asnumpy(), rtol=1e-5)
    executor = symbol.simple_bind(mx.cpu(), **{symbol.list_arguments()[0]: x.shape})
    for name, array in zip(symbol.list_arguments(), inputs, strict=True):
        executor.arg_dict[name][:] = array
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(y.shape))
    y.backward()
    np.testing.assert_allclose(
        executor.grad_arrays[-1].asnumpy(), net[2].bias.grad().asnumpy(), rtol=1e-5
    )


def test_arrays_outside_the_tape(arrays):
    assert mx.autograd.get_symbol(arrays[0]).list_arguments() == ["var0"]
    assert mx.autograd.get_symbol(arrays[1]).list_arguments() == ["null0"]


def test_users_operators(arrays):
    class Shift(mx.operator.CustomOp):
        def __init__(self, by):
            self.by = by

        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] + self.by)

    @mx.operator.register("shift_in_history")
    class ShiftProp(mx.operator.CustomOpProp):
        def __init__(self, by):
            super().__init__()
            self.by = float(by)

        def create_operator(self, ctx, shapes, dtypes):
            return Shift(self.by)

    with mx.autograd.record():
        y = mx.nd.Custom(arrays[0] * 2, op_type="shift_in_history", by=3)
    symbol = mx.autograd.get_symbol(y)
    np.testing.assert_array_equal(evaluated(symbol, arrays[0]), y.asnumpy())
    assert "shift_in_history" in symbol.tojson()


def test_operations_without_a_symbol(arrays):
    class Doubling(mx.autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            return dy * 2

    with mx.autograd.record():
        doubled = Doubling()(arrays[0])
        y = arrays[0] * 2
    with pytest.raises(mx.MXNetError, match="Doubling is computed in Python"):
        mx.autograd.get_symbol(doubled)
    y.backward()
    with pytest.raises(mx.MXNetError, match="freed by a backward pass"):
        mx.autograd.get_symbol(y)
