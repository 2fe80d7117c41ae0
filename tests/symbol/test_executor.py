"""Executors: passes in any order used by programs for MXNet 1.x."""

import re

import numpy as np
import pytest

import mxcy as mx
from mxcy import nd
from tests.env.run import python


def square(dropout=0.0):
    product = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=2, no_bias=True, name="f")
    return mx.sym.Dropout(product * product, p=dropout)


def bound(symbol, **kwargs):
    arrays = {"x": nd.array([[1, 2]]), "f_weight": nd.array([[1, 0], [0, 3]])}
    return symbol.bind(mx.cpu(), arrays, args_grad={"x": nd.zeros((1, 2))}, **kwargs)


@pytest.mark.parametrize("mode", [{}, {"is_train": False}, {"is_train": True}])
@pytest.mark.parametrize("watched", [False, True])
def test_backward_after_any_forward_and_again(mode, watched):
    """As in the neural style example: inference has gradients, and more than one backward pass."""
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
    executor = bound(square())
    executor.backward([nd.ones((1, 2))])
    assert executor.grad_dict["x"].asnumpy().tolist() == [[2, 36]]
    assert executor.outputs[0].asnumpy().tolist() == [[1, 36]]
    nothing_to_do = square().simple_bind(mx.cpu(), grad_req="null", x=(1, 2))
    nothing_to_do.backward()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize("container", [list, tuple])
def test_gradients_of_outputs_may_have_any_dtype(dtype, container):
    executor = bound(square())
    executor.forward(is_train=True)
    executor.backward(container([nd.ones((1, 2), dtype=dtype) * 3]))
    assert executor.grad_dict["x"].asnumpy().tolist() == [[6, 108]]


@pytest.mark.parametrize(
    ("output", "is_loss"),
    [
        (lambda s, x: s.make_loss(x * x), True),
        (lambda s, x: s.make_loss(s.broadcast_axis(x.expand_dims(2), 2, 5000)), True),
        (lambda s, x: s.SoftmaxOutput(x, s.ones((2,))), True),
        (lambda s, x: s.Group([s.BlockGrad(x), s.argmax(x, axis=1), s.MakeLoss(x)]), True),
        (lambda s, x: s.sum(x), False),
        (lambda s, x: s.Group([s.make_loss(x), x * 2]), False),
        (lambda s, x: s.SoftmaxOutput(x, s.ones((2,)), out_grad=True), False),
    ],
)
def test_only_losses_need_no_gradients_of_outputs(output, is_loss):
    """As in MXNet 1.9.1."""
    executor = output(mx.sym, mx.sym.var("x")).simple_bind(mx.cpu(), x=(2, 3))
    executor.forward(is_train=True)
    if is_loss:
        executor.backward()
        return
    with pytest.raises(mx.MXNetError, match=f"{executor._output_names[-1]} is no output of a loss"):
        executor.backward()
    executor.backward([nd.ones(array.shape) for array in executor.outputs])


def test_ones_are_the_gradients_of_outputs_in_mxnet_2():
    show = (
        "import mxcy as mx; square = mx.sym.square(mx.sym.var('x'));"
        "executor = square.simple_bind(mx.cpu(), x=(2,));"
        "executor.forward(is_train=True, x=mx.nd.full(2, 3)); executor.backward();"
        "print(executor.grad_dict['x'].asnumpy().tolist())"
    )
    assert python(show, MXCY_MXNET="2.0").out.strip() == "[6.0, 6.0]"


def test_more_gradients_than_outputs_are_left_alone():
    executor = bound(square())
    executor.forward(is_train=True)
    executor.backward([nd.ones((1, 2)), nd.ones((7,)), nd.ones((1,))])
    assert executor.grad_dict["x"].asnumpy().tolist() == [[2, 36]]


def test_gradients_of_outputs_that_do_not_fit():
    product = square()
    executor = bound(mx.sym.Group([product, product * 2]))
    executor.forward(is_train=True)
    one = nd.ones((1, 2))
    with pytest.raises(mx.MXNetError, match="backward: expected 2 output gradients, got 1"):
        executor.backward([one])
    with pytest.raises(mx.MXNetError, match=r"gradient of _mulscalar.*\(1, 2\), got \(2,\)"):
        executor.backward([one, nd.ones((2,))])
    with pytest.raises(TypeError, match="expected an NDArray, got ndarray"):
        executor.backward([one, np.ones((1, 2))])


def test_gradient_arrays_must_hold_the_gradients():
    """A kernel would write past the end of a smaller one."""
    arrays = {"x": nd.array([[1, 2]]), "f_weight": nd.array([[1, 0], [0, 3]])}
    for stranger in (nd.zeros((1, 1)), nd.zeros((1, 2), dtype="float64")):
        with pytest.raises(
            mx.MXNetError, match=r"args_grad: x: expected shape \(1, 2\) and float32"
        ):
            square().bind(mx.cpu(), arrays, {"x": stranger})
    larger = nd.ones((5,))
    executor = square().bind(mx.cpu(), arrays, {"x": larger})
    executor.forward(is_train=True)
    executor.backward([nd.ones((1, 2))])
    assert larger.asnumpy().tolist() == [2, 36, 1, 1, 1]


def test_simple_bind_takes_shapes_of_inputs_that_a_part_of_a_network_lacks():
    network = mx.sym.SoftmaxOutput(square(), name="softmax")
    part = network.get_internals()["f_output"]
    executor = part.simple_bind(
        mx.cpu(), x=(4, 3), softmax_label=(4,), type_dict={"softmax_label": "int32"}
    )
    assert executor.outputs[0].shape == (4, 2)
    assert list(executor.arg_dict) == ["x", "f_weight"]


def test_common_expressions_of_the_optimized_symbol(monkeypatch):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    sums = [(a + b) + (a + b), (a + 1) + (a + 2), mx.sym.Group([a * b + 1, a * b + 1])]

    def nodes(symbol):
        executor = symbol.simple_bind(mx.cpu(), a=(2, 3), b=(2, 3))
        return len(executor.get_optimized_symbol().get_internals())

    assert [nodes(one) for one in sums[::2]] == [4, 5]
    monkeypatch.setenv("MXNET_ELIMINATE_COMMON_EXPR", "0")
    assert [nodes(one) for one in sums[::2]] == [5, 6]
    assert sums[1].simple_bind(mx.cpu(), a=(2, 3)).get_optimized_symbol() is sums[1]


def test_memory_of_the_description_is_that_of_training():
    deep = mx.sym.var("x")
    for _ in range(8):
        deep = deep * deep

    def megabytes(symbol, grad_req="write"):
        text = symbol.simple_bind(mx.cpu(), grad_req, x=(1024, 1024)).debug_str()
        return int(re.search(r"Total (\d+) MB allocated", text)[1])

    assert megabytes(deep) > megabytes(deep, "null")
    assert megabytes(mx.sym.stop_gradient(deep)) == megabytes(deep, "null")


def test_identities_of_training_keep_outputs_and_gradients():
    x = mx.sym.var("x")
    square = x * x
    outputs = [
        square,
        mx.sym.identity(square),
        mx.sym.identity(x),
        mx.sym.stop_gradient(square * 2),
    ]
    symbol = mx.sym.Group([*outputs, mx.sym.identity(mx.sym.identity(square + 1))])
    executor = symbol.simple_bind(mx.cpu(), x=(2,))
    executor.forward(is_train=True, x=np.array([2.0, 3.0]))
    values = [output.asnumpy().tolist() for output in executor.outputs]
    assert values == [[4, 9], [4, 9], [2, 3], [8, 18], [5, 10]]
    executor.backward([nd.ones((2,)) * scale for scale in (1, 10, 100, 1000, 10000)])
    assert executor.grad_dict["x"].asnumpy().tolist() == [4 * 10011 + 100, 6 * 10011 + 100]


def test_gradient_arrays_that_are_not_asked_for_stay_as_they_are():
    product = mx.sym.var("a") * mx.sym.var("b")
    values = {"a": mx.nd.ones(2), "b": mx.nd.ones(2)}
    gradients = {"a": mx.nd.zeros(2), "b": mx.nd.full(2, 7)}
    bound = product.bind(mx.cpu(), values, gradients, {"a": "write", "b": "null"})
    bound.forward(is_train=True)
    bound.backward(mx.nd.ones(2))
    assert bound.grad_dict["b"] is gradients["b"]
    assert [array.asnumpy().tolist() for array in bound.grad_arrays] == [[1, 1], [7, 7]]


def test_simple_bind_takes_keywords_of_other_bindings():
    bound = mx.sym.exp(mx.sym.var("x")).simple_bind(mx.cpu(), x=(2, 3), force_rebind=True)
    assert bound.outputs[0].shape == (2, 3)


@pytest.mark.parametrize("op", [mx.sym.shape_array, mx.sym.size_array, mx.sym.contrib.index_array])
def test_gradients_that_reach_no_argument_may_have_any_shape(op):
    bound = op(mx.sym.var("x")).simple_bind(mx.cpu(), x=(2, 3))
    bound.forward(is_train=True)
    for shape in ((2, 3), (7,)):
        bound.grad_dict["x"][:] = 5
        bound.backward([nd.ones(shape)])
        assert bound.grad_dict["x"].asnumpy().tolist() == [[0] * 3] * 2


def test_the_names_of_mxnet_2():
    symbol = square()
    x = nd.array([[1, 2]])
    arrays = {"x": x, "f_weight": nd.array([[1, 0], [0, 3]])}
    gradients = {"x": nd.zeros((1, 2))}
    executor = symbol._bind(device=mx.cpu(), args=arrays, args_grad=gradients)
    (actual,) = executor.forward(is_train=True)
    executor.backward(nd.ones((1, 2)))
    assert actual.asnumpy().tolist() == [[1, 36]]
    assert gradients["x"].asnumpy().tolist() == [[2, 36]]
    requests = {"x": "null", "f_weight": "null"}
    executor = symbol._bind(mx.cpu(), arrays, gradients, requests)
    assert executor.grad_dict["x"] is None  # where `bind` keeps the array
    executor = symbol._simple_bind(ctx=mx.cpu(), grad_req="null", x=(1, 2))
    assert executor.arg_dict["f_weight"].shape == (2, 2) and executor.grad_arrays == [None, None]
