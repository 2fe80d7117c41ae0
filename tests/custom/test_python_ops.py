"""The old classes NumpyOp and NDArrayOp, and mx.operator's information about operators."""

import numpy as np
import pytest

import mxcy as mx


def run(symbol, x):
    executor = symbol.simple_bind(mx.cpu(), data=x.shape)
    executor.arg_dict["data"][:] = x
    executor.forward(is_train=True)
    executor.backward([mx.nd.ones(array.shape) for array in executor.outputs])
    return executor.outputs[0].asnumpy(), executor.grad_dict["data"].asnumpy()


@pytest.mark.parametrize("base", [mx.operator.NumpyOp, mx.operator.NDArrayOp])
def test_old_classes(base):
    class Double(base):
        def forward(self, in_data, out_data):
            out_data[0][:] = in_data[0] * 2

        def backward(self, out_grad, in_data, out_data, in_grad):
            in_grad[0][:] = out_grad[0] * 2

    with pytest.warns(UserWarning, match="deprecated"):
        double = Double()
    out = double(mx.sym.var("data"), name="double")
    assert out.list_outputs() == ["double_output"]
    y, grad = run(out, np.array([1.0, 2.0]))
    assert y.tolist() == [2, 4] and grad.tolist() == [2, 2]


def test_old_loss():
    class Loss(mx.operator.NumpyOp):
        pass

    with pytest.warns(UserWarning, match="deprecated"):
        loss = Loss(need_top_grad=False)
    y, grad = run(loss(data=mx.sym.var("data")), np.array([3.0]))
    assert y.tolist() == [3] and grad.tolist() == [1]


def test_registered_operators():
    names = mx.operator.get_all_registered_operators()
    assert {"Convolution", "Custom", "_foreach", "broadcast_plus"} <= set(names)
    grouped = mx.operator.get_all_registered_operators_grouped()
    assert "broadcast_plus" in grouped["broadcast_add"] and grouped["Custom"] == ["Custom"]
    assert sorted(name for group in grouped.values() for name in group) == sorted(names)


def test_arguments_of_operators():
    actual = mx.operator.get_operator_arguments("Activation")
    assert actual.narg == 2 and actual.names == ["data", "act_type"]
    assert actual.types[0] == "NDArray-or-Symbol" and "required" in actual.types[1]
    assert mx.operator.get_operator_arguments("Custom").names == ["data", "op_type"]
    with pytest.raises(mx.MXNetError, match="no_such_operator"):
        mx.operator.get_operator_arguments("no_such_operator")
