"""Executors: passes in any order that programs for MXNet 1.x run them in."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import nd


def square(dropout=0.0):
    product = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=2, no_bias=True, name="f")
    return mx.sym.Dropout(product * product, p=dropout)


def bound(symbol, **kwargs):
    arrays = {"x": nd.array([[1, 2]]), "f_weight": nd.array([[1, 0], [0, 3]])}
    return symbol.bind(mx.cpu(), arrays, args_grad={"x": nd.zeros((1, 2))}, **kwargs)


@pytest.mark.parametrize("mode", [{}, {"is_train": False}, {"is_train": True}])
@pytest.mark.parametrize("watched", [False, True])
def test_backward_after_any_forward_and_again(mode, watched):
    """As the neural style example does: predictions have gradients, and more than one of them."""
    executor = bound(square(0.0 if mode.get("is_train") else 0.5))
    if watched:
        executor.set_monitor_callback(lambda name, array: None)
    for _ in range(2):
        assert executor.forward(**mode)[0].asnumpy().tolist() == [[1, 36]]
        for scale in (1, 2, 3):
            executor.backward([nd.ones((1, 2)) * scale])
            assert executor.grad_dict["x"].asnumpy().tolist() == [[2 * scale, 36 * scale]]
            assert executor.outputs[0].asnumpy().tolist() == [[1, 36]]
    executor.arg_dict["x"][:] = 1
    executor.forward(is_train=True)
    executor.forward()
    executor.backward([nd.ones((1, 2))])
    assert executor.grad_dict["x"].asnumpy().tolist() == [[2, 18]]


def test_gradients_that_add_up_over_backward_passes():
    executor = bound(square(), grad_req="add")
    executor.forward()
    for times in (1, 2, 3):
        executor.backward([nd.ones((1, 2))])
        assert executor.grad_dict["x"].asnumpy().tolist() == [[2 * times, 36 * times]]


def test_moving_averages_move_with_each_backward_pass():
    """The values are those of MXNet 1.9.1."""
    symbol = mx.sym.BatchNorm(mx.sym.var("x"), name="b", momentum=0.5, fix_gamma=False)
    executor = symbol.simple_bind(mx.cpu(), x=(4, 1))
    executor.forward(is_train=True, x=np.array([[0], [2], [4], [6]]))
    for expected in (1.5, 2.25, 2.625):
        executor.backward([nd.ones((4, 1))])
        assert executor.aux_dict["b_moving_mean"].asscalar() == expected


class Counts(mx.operator.CustomOp):
    """Twice its input; its state counts forward passes."""

    def forward(self, is_train, req, in_data, out_data, aux):
        aux[0][:] += 1
        self.assign(out_data[0], req[0], in_data[0] * 2)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * 2)


@mx.operator.register("counts_its_passes")
class CountsProp(mx.operator.CustomOpProp):
    def list_auxiliary_states(self):
        return ["count"]

    def infer_shape(self, in_shape):
        return in_shape, in_shape, [(1,)]

    def create_operator(self, ctx, shapes, dtypes):
        return Counts()


def test_states_change_once_for_several_backward_passes():
    symbol = mx.sym.Custom(mx.sym.var("x"), op_type="counts_its_passes", name="c")
    executor = symbol.simple_bind(mx.cpu(), x=(2,))
    for passes in (1, 2):
        executor.forward(is_train=True, x=np.ones(2))
        for scale in (1, 3):
            executor.backward([nd.ones(2) * scale])
            assert executor.grad_dict["x"].asnumpy().tolist() == [2 * scale] * 2
            assert executor.aux_dict["c_count"].asscalar() == passes


def test_backward_before_forward():
    with pytest.raises(mx.MXNetError, match="call forward first"):
        bound(square()).backward([nd.ones((1, 2))])
    nothing_to_do = square().simple_bind(mx.cpu(), grad_req="null", x=(1, 2))
    nothing_to_do.backward()


def test_simple_bind_takes_shapes_of_inputs_that_a_part_of_a_network_lacks():
    network = mx.sym.SoftmaxOutput(square(), name="softmax")
    part = network.get_internals()["f_output"]
    executor = part.simple_bind(
        mx.cpu(), x=(4, 3), softmax_label=(4,), type_dict={"softmax_label": "int32"}
    )
    assert executor.outputs[0].shape == (4, 2)
    assert list(executor.arg_dict) == ["x", "f_weight"]
