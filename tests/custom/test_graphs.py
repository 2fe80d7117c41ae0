"""Custom operators in symbols, executors, modules, files and hybridized blocks."""

import gc
import threading

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd
from mxcy.gluon import HybridBlock, nn
from tests.custom import operators


def test_names_and_shapes_in_symbols():
    out = mx.sym.Custom(mx.sym.var("x"), op_type="test_two", name="both")
    assert out.list_arguments() == ["x", "both_b"]
    assert out.list_auxiliary_states() == ["both_mean"]
    assert out.list_outputs() == ["both_sum", "both_difference"]
    assert out.infer_shape(x=(2, 3)) == ([(2, 3)] * 2, [(2, 3)] * 2, [(1,)])
    assert out.infer_type(x="float64") == ([np.float64] * 2, [np.float64] * 2, [np.float64])
    assert mx.sym.Custom(mx.sym.var("x"), op_type="test_square").name.startswith("custom")


def test_executor_with_states_and_requests():
    a, b = mx.sym.var("a"), mx.sym.var("b")
    two = mx.sym.Custom(a * 2, b, op_type="test_two", name="two")
    out = two[0] * two[1]
    executor = out.simple_bind(mx.cpu(), grad_req={"a": "add", "b": "null"}, a=(2,), b=(2,))
    executor.arg_dict["a"][:] = [1.0, 2.0]
    executor.arg_dict["b"][:] = [3.0, 5.0]
    executor.grad_dict["a"][:] = 100
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(2))
    np.testing.assert_allclose(executor.outputs[0].asnumpy(), [4 - 9, 16 - 25])
    # d/da of (2a + b)(2a - b) is 8a
    np.testing.assert_allclose(executor.grad_dict["a"].asnumpy(), [108, 116])
    assert executor.aux_dict["two_mean"].asscalar() == 1.5


def test_an_executor_keeps_its_object():
    made = []

    @mx.operator.register("test_kept")
    class KeptProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            made.append(operators.Square())
            return made[-1]

    executor = mx.sym.Custom(mx.sym.var("x"), op_type="test_kept").simple_bind(mx.cpu(), x=(2,))
    for _ in range(3):
        executor.forward(is_train=True)
        executor.backward(mx.nd.ones(2))
        executor.grad_dict["x"].wait_to_read()
    executor.forward()[0].wait_to_read()
    assert [op.calls for op in made] == [4]


def test_an_executor_dropped_during_its_backward_pass():
    entered, released = threading.Event(), threading.Event()

    class Slow(operators.Square):
        def forward(self, *args, **kwargs):
            entered.set()
            released.wait(20)
            super().forward(*args, **kwargs)

    @mx.operator.register("test_dropped")
    class SlowProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Slow()

    executor = mx.sym.Custom(mx.sym.var("x"), op_type="test_dropped").simple_bind(mx.cpu(), x=(2,))
    executor.arg_dict["x"][:] = 3
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(2))
    assert entered.wait(20)
    gradient = executor.grad_dict["x"]
    del executor
    gc.collect()
    released.set()
    np.testing.assert_array_equal(gradient.asnumpy(), [6, 6])


def test_files():
    x = mx.sym.var("x")
    out = mx.sym.Custom(x, mx.sym.var("y"), op_type="test_softmax", scale=0.5, name="loss")
    again = mx.sym.load_json(out.tojson())
    assert again.tojson() == out.tojson()
    assert '"op_type": "test_softmax"' in again.tojson() and '"scale": "0.5"' in again.tojson()
    values = {"x": mx.nd.array([[1.0, 2.0]]), "y": mx.nd.zeros(1)}
    actual = [s.eval(ctx=mx.cpu(), **values)[0].asnumpy() for s in (out, again)]
    np.testing.assert_array_equal(*actual)


def test_file_with_an_unknown_type():
    text = mx.sym.Custom(mx.sym.var("x"), op_type="test_square").tojson()
    with pytest.raises(mx.MXNetError, match="test_stranger"):
        mx.sym.load_json(text.replace("test_square", "test_stranger"))


def test_equal_calls_are_not_merged():
    x = mx.sym.var("x")
    calls = []

    class Counting(operators.Square):
        def forward(self, *args, **kwargs):
            calls.append(1)
            super().forward(*args, **kwargs)

    @mx.operator.register("test_counting")
    class CountingProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Counting()

    out = mx.sym.Custom(x, op_type="test_counting") + mx.sym.Custom(x, op_type="test_counting")
    actual = out.eval(ctx=mx.cpu(), x=mx.nd.array([3.0]))[0].asscalar()
    assert actual == 18 and len(calls) == 2


def test_module_learns():
    rng = np.random.RandomState(0)
    x = rng.normal(size=(64, 5)).astype("float32")
    y = (x[:, 0] > x[:, 1]).astype("float32")
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    net = mx.sym.Custom(net, op_type="test_softmax", name="softmax")
    assert net.list_arguments()[-1] == "softmax_label"
    data = mx.io.NDArrayIter(x, y, batch_size=16, label_name="softmax_label")
    module = mx.mod.Module(net)
    module.fit(
        data, num_epoch=10, optimizer_params={"learning_rate": 0.5}, initializer=mx.init.Zero()
    )
    assert module.score(data, "acc")[0][1] > 0.9


class Net(HybridBlock):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        with self.name_scope():
            self.dense = nn.Dense(4)

    def hybrid_forward(self, F, x):
        return F.Custom(self.dense(F.exp(x)), op_type=self.kind) * 2


@pytest.mark.parametrize("kind", ["test_square", "test_mask"])
def test_hybridized_equals_eager(kind):
    net = Net(kind)
    net.initialize(mx.init.Uniform(1))
    x = mx.nd.random.uniform(-1, 1, (3, 5))
    collected = []
    for hybrid in (False, True):
        net.hybridize(hybrid)
        grads = []
        with autograd.record():
            both = [net(x), net(x * 2)]  # two calls before the backward passes
            loss = both[0] + 3 * both[1]
        loss.backward()
        grads = [p.grad().asnumpy() for p in net.collect_params().values()]
        collected.append([*(y.asnumpy() for y in both), *grads])
    for eager, planned in zip(*collected, strict=True):
        np.testing.assert_allclose(planned, eager, rtol=1e-5, atol=1e-6)


def test_export_and_import(tmp_path):
    net = Net("test_square")
    net.initialize()
    net.hybridize()
    x = mx.nd.random.uniform(shape=(3, 5))
    want = net(x).asnumpy()
    net.export(str(tmp_path / "net"))
    again = mx.gluon.SymbolBlock.imports(
        str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params")
    )
    np.testing.assert_allclose(again(x).asnumpy(), want, rtol=1e-6)


def test_retained_graph_of_a_plan():
    net = Net("test_mask")
    net.initialize(mx.init.One())
    net.hybridize()
    x = mx.nd.ones((1, 2))
    x.attach_grad()
    with autograd.record():
        y = net(x)
    y.backward(retain_graph=True)
    first = x.grad.asnumpy()
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), first)


def test_an_attribute_named_like_that_of_activations_means_nothing():
    """Passes query records; an argument `act_type` does not make an operator a ReLU."""

    class Doubled(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] * 2)

    @mx.operator.register("test_doubled")
    class DoubledProp(mx.operator.CustomOpProp):
        def __init__(self, act_type):
            super().__init__(need_top_grad=True)

        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Doubled()

    x = mx.sym.Convolution(mx.sym.var("x"), kernel=(3, 3), num_filter=32, name="conv")
    x = mx.sym.Pooling(x, kernel=(2, 2), name="pool")  # so that the normalisation is not folded
    x = mx.sym.BatchNorm(x, name="norm")
    executor = mx.sym.Custom(x, op_type="test_doubled", act_type="relu").simple_bind(
        mx.cpu(), grad_req="null", x=(1, 32, 8, 8)
    )
    rng = np.random.default_rng(3)
    for name, array in {**executor.arg_dict, **executor.aux_dict}.items():
        array[:] = rng.uniform(0.5, 1.5, array.shape) * (1 if "var" in name else -1)
    plain = x.bind(mx.cpu(), executor.arg_dict, aux_states=executor.aux_dict).forward()[0]
    np.testing.assert_allclose(executor.forward()[0].asnumpy(), 2 * plain.asnumpy(), rtol=1e-5)
