"""Custom operators, called with arrays."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd
from tests.custom import operators  # noqa: F401  it registers them


def test_values_and_gradient():
    x = mx.nd.array([[1.0, 2.0], [3.0, -4.0]])
    x.attach_grad()
    with autograd.record():
        y = mx.nd.Custom(x, op_type="test_square")
        z = (y * 3).sum()
    z.backward()
    np.testing.assert_allclose(y.asnumpy(), x.asnumpy() ** 2)
    np.testing.assert_allclose(x.grad.asnumpy(), 6 * x.asnumpy())


def test_gradients_add_up():
    x = mx.nd.array([1.0, 2.0])
    x.attach_grad(grad_req="add")
    for _ in range(2):
        with autograd.record():
            y = mx.nd.Custom(x, op_type="test_square")
        y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 4 * x.asnumpy())


def test_chain_of_operators():
    x = mx.nd.array([1.5])
    x.attach_grad()
    with autograd.record():
        y = mx.nd.Custom(mx.nd.Custom(x, op_type="test_square") + 1, op_type="test_square")
    y.backward()
    np.testing.assert_allclose(y.asnumpy(), (1.5**2 + 1) ** 2, rtol=1e-6)
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * (1.5**2 + 1) * 3, rtol=1e-6)


def test_several_outputs_and_a_state():
    a, b = mx.nd.array([1.0, 2.0]), mx.nd.array([5.0, 7.0])
    mean = mx.nd.zeros(1)
    a.attach_grad()
    with autograd.record():
        total, difference = mx.nd.Custom(a, b, mean=mean, op_type="test_two")
        loss = total * 2 + difference
    loss.backward()
    np.testing.assert_allclose(total.asnumpy(), [6, 9])
    np.testing.assert_allclose(difference.asnumpy(), [-4, -5])
    np.testing.assert_allclose(mean.asnumpy(), [0.75])
    np.testing.assert_allclose(a.grad.asnumpy(), [3, 3])
    mx.nd.Custom(a, b, mean, op_type="test_two")  # not training: the state stays
    np.testing.assert_allclose(mean.asnumpy(), [0.75])


def test_only_one_output_used():
    a, b = mx.nd.array([1.0]), mx.nd.array([2.0])
    b.attach_grad()
    with autograd.record():
        _, difference = mx.nd.Custom(a, b, mx.nd.zeros(1), op_type="test_two")
    difference.backward()
    assert b.grad.asscalar() == -1


def test_arguments_come_as_texts():
    x, label = mx.nd.array([[1.0, 2.0, 0.5]]), mx.nd.array([1.0])
    x.attach_grad()
    with autograd.record():
        y = mx.nd.Custom(x, label, op_type="test_softmax", scale=0.25)
    y.backward()
    want = y.asnumpy() - np.eye(3)[[1]]
    np.testing.assert_allclose(x.grad.asnumpy(), 0.25 * want, rtol=1e-5)


def test_inputs_by_name_and_out():
    x, out = mx.nd.array([[1.0, 2.0]]), mx.nd.zeros((1, 2))
    actual = mx.nd.Custom(label=mx.nd.zeros(1), data=x, op_type="test_softmax", out=out)
    assert actual is out
    np.testing.assert_allclose(out.asnumpy(), mx.nd.softmax(x).asnumpy(), rtol=1e-6)


def test_state_of_forward_belongs_to_its_call():
    first, second = mx.nd.array([1.0, -1.0]), mx.nd.array([-2.0, 2.0])
    first.attach_grad()
    second.attach_grad()
    with autograd.record():
        y = mx.nd.Custom(first, op_type="test_mask") + mx.nd.Custom(second, op_type="test_mask")
    y.backward()
    np.testing.assert_array_equal(first.grad.asnumpy(), [1, 0])
    np.testing.assert_array_equal(second.grad.asnumpy(), [0, 1])


def test_large_arrays():
    """Methods call operators that the engine runs on its workers."""
    x = mx.nd.random.uniform(shape=(1000, 1000))
    x.attach_grad()
    with autograd.record():
        y = mx.nd.Custom(mx.nd.exp(x), op_type="test_square")
    y.backward()
    np.testing.assert_allclose(y.asnumpy(), np.exp(x.asnumpy()) ** 2, rtol=1e-5)
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * np.exp(2 * x.asnumpy()), rtol=1e-5)


def test_waits_for_what_it_reads():
    a = mx.nd.random.uniform(shape=(600, 600))
    for _ in range(3):
        a = mx.nd.dot(a, a) / 300
    b = mx.nd.Custom(a, op_type="test_square")
    np.testing.assert_allclose(b.asnumpy(), a.asnumpy() ** 2, rtol=1e-5)


def test_inputs_are_read_only():
    class Writer(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            in_data[0][:] = 1

    @mx.operator.register("test_writer")
    class WriterProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Writer()

    with pytest.raises(mx.MXNetError, match=r"test_writer.*forward.*read.?only"):
        mx.nd.Custom(mx.nd.zeros(2), op_type="test_writer").wait_to_read()


def test_operators_inside_operators():
    class Outer(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            assert isinstance(is_train, bool)
            inner = mx.nd.Custom(in_data[0], op_type="test_square").asnumpy()
            self.assign(out_data[0], req[0], inner + 1)

    @mx.operator.register("test_outer")
    class OuterProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Outer()

    assert mx.nd.Custom(mx.nd.array([3.0]), op_type="test_outer").asscalar() == 10


def test_gradients_inside_operators():
    class Slope(mx.operator.CustomOp):
        """The derivative of sin, by autograd."""

        def forward(self, is_train, req, in_data, out_data, aux):
            x = in_data[0].copy()
            x.attach_grad()
            with autograd.record():
                y = mx.nd.sin(x)
            y.backward()
            self.assign(out_data[0], req[0], x.grad)

    @mx.operator.register("test_slope")
    class SlopeProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Slope()

    x = mx.nd.array([0.3, 1.0])
    np.testing.assert_allclose(
        mx.nd.Custom(x, op_type="test_slope").asnumpy(), np.cos(x.asnumpy()), rtol=1e-6
    )


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32"])
def test_element_types(dtype):
    x = mx.nd.array([1, 2, 3], dtype=dtype)
    y = mx.nd.Custom(x, op_type="test_square")
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y.asnumpy(), [1, 4, 9])


def test_arguments_of_create_operator():
    told = []

    @mx.operator.register("test_told")
    class Told(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            told.append((ctx, in_shapes, in_dtypes))
            return operators.Square()

    mx.nd.Custom(mx.nd.zeros((2, 3)), op_type="test_told").wait_to_read()
    assert told == [(mx.cpu(), [[2, 3]], [0])]


def test_assign():
    op, array = mx.operator.CustomOp(), mx.nd.ones(2)
    op.assign(array, "null", 5)
    assert array.asnumpy().tolist() == [1, 1]
    op.assign(array, "add", np.array([2.0, 3.0]))
    assert array.asnumpy().tolist() == [3, 4]
    op.assign(array, "inplace", 7)
    assert array.asnumpy().tolist() == [7, 7]
