"""Executor monitors get MXNet 1.9.1's arrays and names."""

import ctypes

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import NDArrayHandle, py_str

S = mx.sym


def network():
    hidden = S.FullyConnected(S.var("data"), num_hidden=4, name="fc")
    return S.SoftmaxOutput(S.Activation(hidden, act_type="relu", name="act"), name="softmax")


def watched(symbol, with_inputs=False, grad_req="write", heads=None, **shapes):
    """The names that `forward` and `backward` show, each with the array's shape."""
    executor = symbol.simple_bind(mx.cpu(), grad_req, **shapes)
    seen = []
    executor.set_monitor_callback(
        lambda name, array: seen.append((py_str(name), array.shape)), with_inputs
    )
    executor.forward(is_train=True)
    forward = len(seen)
    executor.backward(heads)
    return seen[:forward], seen[forward:]


def names(shown):
    return [name for name, _ in shown]


def test_outputs_and_gradients():
    forward, backward = watched(network(), data=(2, 3))
    assert forward == [("fc_output", (2, 4)), ("act_output", (2, 4)), ("softmax_output", (2, 4))]
    assert backward == [
        ("softmax_backward_output0", (2, 4)),
        ("softmax_backward_output1", (2,)),
        ("act_backward_output", (2, 4)),
        ("fc_backward_output0", (2, 3)),
        ("fc_backward_output1", (4, 3)),
        ("fc_backward_output2", (4,)),
    ]


def test_operators_that_could_share_their_inputs_memory():
    data = S.exp(S.var("data"), name="exp")
    both = S.concat(S.sin(data, name="sin"), S.cos(data, name="cos"), dim=0, name="both")
    row = S.reshape(both, shape=(1, -1), name="row")
    executor = S.sqrt(S.reshape(row, shape=(-1,), name="end"), name="sqrt").simple_bind(
        mx.cpu(), "null", data=(4, 16)
    )
    seen = []
    executor.set_monitor_callback(lambda name, array: seen.append(py_str(name)))
    executor.forward(is_train=False)
    assert seen == [f"{name}_output" for name in "exp sin cos both row end sqrt".split()]


@pytest.mark.parametrize(
    ("operator", "name"),
    [
        (lambda x, **kw: S.abs(x, **kw), "input0"),
        (lambda x, **kw: S.contrib.quadratic(x, **kw), "data"),
        (lambda x, **kw: S.diag(x, **kw), "data"),
        (lambda x, **kw: S.MakeLoss(x, **kw), "data"),
        (lambda x, **kw: S.moments(x, axes=(0,), **kw), "data"),
        (lambda x, **kw: S.ravel_multi_index(x, shape=(9, 9), **kw), "data"),
    ],
)
def test_names_of_single_inputs(operator, name):
    executor = operator(S.var("x"), name="op").simple_bind(mx.cpu(), "null", x=(2, 3))
    seen = []
    executor.set_monitor_callback(lambda name, array: seen.append(py_str(name)), True)
    executor.forward()
    assert seen[:2] == ["x", f"op_{name}"]


def test_inputs():
    forward, _ = watched(network(), with_inputs=True, data=(2, 3))
    assert names(forward) == [
        "data",
        "fc_data",
        "fc_weight",
        "fc_weight",
        "fc_bias",
        "fc_bias",
        "fc_output",
        "act_input0",
        "act_output",
        "softmax_data",
        "softmax_label",
        "softmax_label",
        "softmax_output",
    ]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda a: S.exp(a, name="z"), ["z_input0", "z_output"]),
        (lambda a: S.sum(a, name="z"), ["z_input0", "z_output"]),
        (lambda a: S.softmax(a, name="z"), ["z_data", "z_output"]),
        (lambda a: S.tile(a, reps=(2, 1), name="z"), ["z_data", "z_output"]),
        (lambda a: S.split(a, num_outputs=2, name="z")[0], ["z_data", "z_output0", "z_output1"]),
        (lambda a: S.Dropout(a, name="z"), ["z_data", "z_output", "z_mask"]),
        (lambda a: S.concat(a, a, name="z"), ["z_arg0", "a", "z_arg1", "z_output"]),
        (lambda a: S.elemwise_add(a, a, name="z"), ["z_lhs", "a", "z_rhs", "z_output"]),
    ],
)
def test_names_of_inputs(make, expected):
    forward, _ = watched(make(S.var("a")), True, "null", a=(2, 4))
    assert names(forward) == ["a", *expected]


def test_values_of_gradients():
    executor = (S.square(S.var("a"), name="z") * 3).simple_bind(mx.cpu(), a=(2,))
    shown = {}
    executor.set_monitor_callback(lambda name, array: shown.update({name: array.asnumpy()}))
    executor.arg_dict["a"][:] = [1, 2]
    for scale in (1, 10):
        executor.forward(is_train=True)
        executor.backward(mx.nd.array([1, 2]) * scale)
        np.testing.assert_array_equal(shown["_head_grad_0_id_output"], [scale, 2 * scale])
        np.testing.assert_array_equal(shown["z_backward_output"], [6 * scale, 24 * scale])
        assert executor.grad_dict["a"].asnumpy().tolist() == [6 * scale, 24 * scale]
    executor.set_monitor_callback(None)
    shown.clear()
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(2))
    assert not shown and executor.grad_dict["a"].asnumpy().tolist() == [6, 12]


def test_arrays_through_pointers():
    """Callbacks for MXNet cast their argument to a handle and create an array from it."""
    sums = {}

    def callback(name, array):
        array = mx.nd.NDArray(ctypes.cast(array, NDArrayHandle), writable=False)
        assert not array.writable
        sums[name.decode("utf-8")] = array.sum().asscalar()

    executor = S.exp(S.var("a"), name="power").simple_bind(mx.cpu(), a=(2, 3))
    executor.set_monitor_callback(callback)
    executor.forward()
    assert sums == {"power_output": 6}
    with pytest.raises(mx.MXNetError, match="does not point to a recently cast array"):
        mx.nd.NDArray(NDArrayHandle(12345))


def test_a_star_import_brings_what_callbacks_need():
    names = {}
    exec("from mxcy.operator import *", names)
    assert {"ctypes", "py_str", "NDArray", "NDArrayHandle", "CustomOp"} <= names.keys()


def test_monitor_counts_forward_and_backward():
    module = mx.mod.Module(network())
    module.bind([("data", (2, 3))], [("softmax_label", (2,))])
    monitor = mx.mon.Monitor(1)
    module.install_monitor(monitor)
    module.init_params()
    monitor.tic()
    batch = mx.io.DataBatch([mx.nd.ones((2, 3))], [mx.nd.zeros(2)])
    module.forward_backward(batch)
    actual = [name for _, name, _ in monitor.toc()]
    assert len(actual) == 13  # three outputs, six gradients, data, label and two parameters
    assert [sum(name.startswith(own) for name in actual) for own in ("fc", "act")] == [6, 2]


def test_operators_of_sparse_graphs():
    product = S.dot(S.var("a", stype="csr"), S.var("b"), name="z")
    executor = product.simple_bind(mx.cpu(), "null", a=(2, 3), b=(3, 4))
    shown = []
    executor.set_monitor_callback(lambda name, array: shown.append((name, array.stype)), True)
    executor.forward()
    assert shown == [
        ("a", "csr"),
        ("z_lhs", "csr"),
        ("b", "default"),
        ("z_rhs", "default"),
        ("z_output", "default"),
    ]


def test_reshaped_executors_stay_watched():
    names = []
    executor = S.LRN(S.var("a"), nsize=3, name="lrn").simple_bind(mx.cpu(), a=(1, 2, 3, 3))
    executor.set_monitor_callback(lambda name, array: names.append(name), monitor_all=True)
    executor.reshape(allow_up_sizing=True, a=(1, 2, 5, 5)).forward()
    assert {"a", "lrn_output", "lrn_tmp_norm"} <= set(names)
