"""Errors in custom operators and in calls of them."""

import pytest

import mxcy as mx
from mxcy import autograd
from tests.custom import operators  # noqa: F401  it registers them


@pytest.fixture
def x():
    array = mx.nd.array([1.0, 2.0])
    array.attach_grad()
    return array


def test_forward_names_operator_and_line(x):
    text = (
        r"^Error in operator Custom \(test_broken\): forward: ValueError: it rains "
        r"\(operators.py:\d+\) \(called at test_errors.py:\d+\)$"
    )
    with pytest.raises(mx.MXNetError, match=text):
        mx.nd.Custom(x, op_type="test_broken", where="forward").asnumpy()


def test_dependent_results_fail_too(x):
    with pytest.raises(mx.MXNetError, match="it rains"):
        (mx.nd.Custom(x, op_type="test_broken", where="forward") + 1).asnumpy()


def test_backward(x):
    with autograd.record():
        y = mx.nd.Custom(x, op_type="test_broken", where="backward")
    with pytest.raises(mx.MXNetError, match="test_broken.*backward: KeyError: 'umbrella'"):
        y.backward()
        x.grad.asnumpy()


@pytest.mark.parametrize(
    "where, text",
    [
        ("infer_shape", r"infer_shape: ValueError: no shape"),
        ("count", r"infer_shape returned 0 outputs, expected 1"),
        ("create_operator", r"create_operator: ZeroDivisionError: nothing there"),
    ],
)
def test_before_it_runs(x, where, text):
    with pytest.raises(mx.MXNetError, match=rf"test_broken\).*{text}"):
        mx.nd.Custom(x, op_type="test_broken", where=where)


def test_no_operator(x):
    @mx.operator.register("test_forgotten")
    class Forgotten(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            pass

    with pytest.raises(mx.MXNetError, match=r"test_forgotten\).*must return a CustomOp, got None"):
        mx.nd.Custom(x, op_type="test_forgotten").wait_to_read()


def test_in_an_executor():
    symbol = mx.sym.Custom(mx.sym.var("x"), op_type="test_broken", where="forward", name="rain")
    executor = symbol.simple_bind(mx.cpu(), x=(2,))
    with pytest.raises(mx.MXNetError, match="test_broken.*it rains"):
        executor.forward()[0].asnumpy()


def test_unknown_type(x):
    with pytest.raises(mx.MXNetError, match="Cannot find custom operator test_nobody"):
        mx.nd.Custom(x, op_type="test_nobody")
    with pytest.raises(mx.MXNetError, match="op_type is missing"):
        mx.nd.Custom(x)


def test_arguments_that_the_class_does_not_take(x):
    with pytest.raises(mx.MXNetError, match=r"test_broken\): __init__: TypeError"):
        mx.nd.Custom(x, op_type="test_broken")
    with pytest.raises(mx.MXNetError, match=r"test_square\): __init__: TypeError.*size"):
        mx.sym.Custom(mx.sym.var("x"), op_type="test_square", size=3)


def test_inputs_that_do_not_fit(x):
    with pytest.raises(mx.MXNetError, match="expected 1 inputs"):
        mx.nd.Custom(x, x, op_type="test_square")
    with pytest.raises(mx.MXNetError, match="argument label must be an NDArray"):
        mx.nd.Custom(x, op_type="test_softmax")
    with pytest.raises(mx.MXNetError, match="expected at most 1 inputs"):
        mx.sym.Custom(mx.sym.var("x"), mx.sym.var("y"), op_type="test_square")
    with pytest.raises(mx.MXNetError, match="label"):
        mx.nd.Custom(mx.nd.zeros((2, 3)), mx.nd.zeros(3), op_type="test_softmax")


def test_out_that_does_not_fit(x):
    with pytest.raises(mx.MXNetError, match="argument out"):
        mx.nd.Custom(x, op_type="test_square", out=mx.nd.zeros(3))


def test_registering_again_replaces_and_warns(caplog):
    for factor in (2, 3):

        class Times(mx.operator.CustomOp):
            times = factor

            def forward(self, is_train, req, in_data, out_data, aux):
                self.assign(out_data[0], req[0], in_data[0] * self.times)

        @mx.operator.register("test_again")
        class TimesProp(mx.operator.CustomOpProp):
            kind = Times

            def create_operator(self, ctx, in_shapes, in_dtypes):
                return self.kind()

        assert mx.nd.Custom(mx.nd.ones(1), op_type="test_again").asscalar() == factor
    assert "test_again is registered again" in caplog.text


def test_default_shapes_are_tuples():
    assert mx.operator.CustomOpProp().infer_shape([(1, 2)]) == ([(1, 2)], ((1, 2),), ())
