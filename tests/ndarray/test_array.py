"""NDArray itself: attributes, conversions, copies, shapes, gradients."""

import warnings

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd
from mxcy.base import MXNetError

nd = mx.nd


def grid(*shape, dtype="float32"):
    return nd.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


# --- what it is ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["float16", "float32", "float64", "int8", "uint8", "int32", "int64"]
)
def test_dtype_is_the_scalar_type(name):
    x = nd.zeros((2,), dtype=name)
    assert x.dtype is getattr(np, name)
    assert x.dtype is nd._DTYPE_MX_TO_NP[nd._DTYPE_NP_TO_MX[x.dtype]]
    assert x.asnumpy().dtype == name


def test_types_beyond_those_of_the_operators():
    for name in ("int16", "uint16", "uint32", "uint64"):
        x = nd.array([1, 2, 300], dtype=name)
        assert x.dtype is getattr(np, name)
        assert x.astype("float64").asnumpy().tolist() == [1, 2, 300]
        assert nd.array([1.0, 2.0]).astype(name).asnumpy().tolist() == [1, 2]


def test_base_class_is_that_of_the_front():
    base = nd._internal.NDArrayBase
    assert base.__module__ in ("mxcy._cy.ndarray", "mxcy._ctypes.ndarray")
    assert issubclass(nd.NDArray, base)


@pytest.mark.parametrize("cls", [nd.NDArray, mx.np.ndarray])
def test_an_array_made_by_new_alone_is_empty(cls):
    blank = cls.__new__(cls)
    assert type(blank) is cls and (blank.shape, blank.size, blank.dtype) == ((0,), 0, np.float32)
    assert blank.context == mx.cpu() and blank.asnumpy().shape == (0,) and len(blank) == 0
    blank.wait_to_read()
    blank[:] = 3
    blank.attach_grad()
    assert (blank + 1).shape == blank.copy().shape == blank.detach().shape == (0,)
    with pytest.raises(IndexError):
        blank[0]
    with pytest.raises(TypeError, match="one element"):
        float(blank)


def test_an_array_made_by_new_alone_becomes_another():
    x, blank = nd.array([1, 2]), nd.NDArray.__new__(nd.NDArray)
    blank.become(x)
    x[0] = 5
    assert blank.asnumpy().tolist() == [5, 2] and not blank.blank
    assert nd.NDArray.__new__(nd.NDArray).blank  # the state shared by all blank arrays is unchanged


def test_a_handle_makes_another_array_over_the_memory():
    x = nd.array([1, 2])
    y = nd.NDArray(x.handle)
    y[0] = 5
    assert x.asnumpy().tolist() == [5, 2]
    assert y.writable
    with pytest.raises(TypeError, match="mx.nd.array"):
        nd.NDArray(3)


def test_printing_shows_values_shape_and_device():
    assert repr(grid(2, 2)) == "\n[[0. 1.]\n [2. 3.]]\n<NDArray 2x2 @cpu(0)>"
    assert str(nd.ones((1,), ctx=mx.cpu(3), dtype="int32")) == "\n[1]\n<NDArray 1 @cpu(3)>"
    assert repr(nd.array([1.5], dtype="bfloat16")) == "\n[1.5]\n<NDArray 1 @cpu(0)>"


def test_truth_is_that_of_a_single_element():
    assert nd.array([2])
    assert not nd.array([0.0])
    assert not nd.array([])
    with pytest.raises(ValueError, match="ambiguous"):
        bool(nd.ones((2,)))


def test_conversion_to_python_numbers():
    assert int(nd.array([2.9])) == 2
    assert float(nd.array([[2.5]])) == 2.5
    assert nd.array([3], dtype="int32").asscalar() == 3
    for convert in (int, float):
        with pytest.raises(TypeError, match="one element"):
            convert(nd.ones((2,)))
    with pytest.raises(ValueError, match="not a scalar"):
        nd.ones((2,)).asscalar()


def test_iteration_gives_rows():
    assert [row.asnumpy().tolist() for row in grid(2, 2)] == [[0, 1], [2, 3]]
    first, second = nd.array([7, 8])
    assert (first.asscalar(), second.asscalar()) == (7, 8)
    with pytest.raises(TypeError):
        list(nd.array(3))


def test_numpy_reads_arrays_without_a_copy():
    x = grid(2, 3)
    view = np.asarray(x)
    x[0, 0] = 9
    assert view[0, 0] == 9
    assert np.array(x, dtype="int64").tolist() == [[9, 1, 2], [3, 4, 5]]


# --- copies --------------------------------------------------------------------------------------


def test_asnumpy_is_a_copy():
    x = grid(3)
    values = x.asnumpy()
    values[:] = 9
    assert x.asnumpy().tolist() == [0, 1, 2]


def test_copyto_the_array_itself_warns():
    x = grid(3)
    with pytest.warns(RuntimeWarning, match="to itself"):
        assert x.copyto(x) is False


def test_copyto_casts_but_does_not_broadcast():
    x, target = nd.array([1.9, -1.9]), nd.zeros((2,), dtype="int8")
    assert x.copyto(target) is target
    assert target.asnumpy().tolist() == [1, -1]
    with pytest.raises(MXNetError, match=r"copyto.*\(3,\).*\(2,\)|copyto.*\(2,\).*\(3,\)"):
        x.copyto(nd.zeros((3,)))


def test_copies_on_other_devices():
    x = grid(3)
    y = x.as_in_context(mx.cpu(2))
    assert y.context == y.ctx == y.device == mx.cpu(2)
    assert y.as_in_context(mx.cpu(2)) is y
    y[:] = 0
    assert x.asnumpy().tolist() == [0, 1, 2]
    with pytest.raises(MXNetError, match="gpu"):
        x.copyto(mx.gpu(0))


def test_an_array_is_accepted_as_a_dtype():
    """As in `numpy.dtype` until NumPy 2.4; losses write `output.astype(label)`."""
    x, kind = nd.array([1, 2]), nd.array([3], dtype="float16")
    assert x.astype(kind).dtype == nd.zeros(2, dtype=kind).dtype == np.float16
    assert x.astype(np.ones(1), copy=False).dtype == np.float64


def test_astype_without_copy_keeps_the_array_when_it_fits():
    x = grid(3)
    assert x.astype(np.float32, copy=False) is x
    assert x.astype("int32", copy=False) is not x
    assert x.astype("float32") is not x
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nd.array([float("nan"), 1e30]).astype("int32").shape == (2,)


def test_bfloat16_rounds_to_nearest_even():
    x = nd.array([1.00390625, 1.01171875, 3.0], dtype="bfloat16")
    assert x.astype("float32").asnumpy().tolist() == [1.0, 1.015625, 3.0]
    y = nd.array([1.00390625, -2.5]).astype("bfloat16")
    assert y.astype("float64").asnumpy().tolist() == [1.0, -2.5]
    assert y.copy().astype("float32").asnumpy().tolist() == [1.0, -2.5]


# --- shapes --------------------------------------------------------------------------------------


def test_reshape_is_a_view():
    x = grid(2, 3)
    y = x.reshape((3, -1)).reshape(6).expand_dims(0, inplace=True).flatten(inplace=True)
    y[0, 5] = 9
    assert x[1, 2].asscalar() == 9


def test_flatten_and_expand_dims_are_copies():
    x = grid(2, 3)
    x.flatten()[:] = 9
    x.expand_dims(0)[:] = 9
    assert x.asnumpy().max() == 5


def test_reshape_errors_say_what_was_asked():
    x = grid(2, 3)
    with pytest.raises(MXNetError, match=r"reshape.*\(2, 3\).*\(4, 2\)"):
        x.reshape((4, 2))
    for wanted in ((5,), (-1, 4)):
        with pytest.raises(ValueError, match="size 6 into shape"):
            x.reshape(wanted)
    with pytest.raises(TypeError, match="foo"):
        x.reshape((3, 2), foo=1)
    with pytest.raises(AssertionError, match="Shape must be provided"):
        x.reshape()


def test_methods_are_the_operators_of_the_same_name():
    x = nd.array([[1, 4], [9, 16]])
    assert x.sqrt().asnumpy().tolist() == nd.sqrt(x).asnumpy().tolist()
    assert x.sum(axis=0).asnumpy().tolist() == [10, 20]
    assert x.sum(0, True).shape == (1, 2)
    assert nd.NDArray.sqrt.__name__ == "sqrt"
    assert not hasattr(x, "Convolution")
    assert not hasattr(x, "_plus_scalar")
    with pytest.raises(AttributeError, match="no_such_method"):
        x.no_such_method()


# --- gradients -----------------------------------------------------------------------------------


def test_gradients_and_their_freshness():
    x = nd.array([1, 2])
    assert x.grad is None
    assert not x._fresh_grad
    x.attach_grad()
    assert x.grad.asnumpy().tolist() == [0, 0]
    assert x.grad is x.grad
    assert not x._fresh_grad
    with autograd.record():
        y = x * x
    assert y.grad is None
    y.backward(nd.array([1, 10]))
    assert x.grad.asnumpy().tolist() == [2, 40]
    assert x._fresh_grad
    x._fresh_grad = False
    assert not x._fresh_grad
    assert x.detach().grad is None
    assert x[0:1].grad is None
    x.drop_grad()
    assert x.grad is None


def test_attach_grad_inside_cuts_the_graph():
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        y = x * 3
        y.attach_grad()
        z = y * y
    z.backward()
    assert y.grad.asnumpy().tolist() == [6, 12]
    assert x.grad.asnumpy().tolist() == [0, 0]


def test_gradient_requests():
    x = nd.array([1, 2])
    x.attach_grad("add")
    for _ in range(2):
        with autograd.record():
            y = x * 3
        y.backward()
    assert x.grad.asnumpy().tolist() == [6, 6]
    with pytest.raises((KeyError, ValueError), match="foo"):
        x.attach_grad("foo")


def test_copies_are_recorded():
    x = nd.array([1, 2])
    x.attach_grad()
    target = nd.zeros((2,), dtype="float64")
    with autograd.record():
        x.copyto(target)
        moved = x.as_in_context(mx.cpu(1)).copyto(mx.cpu(0))
        y = (target * target).sum() + moved.astype("float64").sum()
    y.backward()
    assert x.grad.asnumpy().tolist() == [3, 5]


def test_operators_without_arguments_ignore_unknown_ones():
    with pytest.warns(UserWarning, match="zeros_like has no argument dtype: it is ignored"):
        actual = mx.nd.zeros_like(mx.nd.ones(2), dtype="int64")
    assert actual.dtype == np.float32
    with pytest.warns(UserWarning, match="exp has no argument foo"):
        mx.sym.exp(mx.sym.var("x"), foo=1)
    with pytest.raises(MXNetError, match="'foo' in operator dot, possible arguments: transpose_a"):
        mx.nd.dot(actual, actual, foo=1)


@pytest.mark.parametrize("axis", [None, (0, 1, 2)])
def test_squeezing_keeps_an_axis(axis):
    x = mx.nd.array([[[3]]])
    assert x.squeeze(axis=axis).shape == mx.nd.squeeze(x, axis=axis).shape == (1,)
    view = x.squeeze(axis=axis, inplace=True)
    assert view.shape == (1,)
    x[:] = 4
    assert view.asnumpy().tolist() == [4]


@pytest.mark.parametrize("places", [((0, 0), (1, 0)), ((0, 1), (2, 2)), ((0, -3), (0, 1))])
def test_an_axis_moves_once(places):
    with pytest.raises(ValueError, match="repeated axis"):
        mx.nd.moveaxis(mx.nd.ones((2, 3, 4)), *places)


def test_recorded_values_with_leading_axes_can_be_assigned():
    for shape in ((1, 1, 2, 3), (1, 3), (1, 1, 1, 1)):
        x, y = mx.nd.zeros((2, 3)), mx.nd.array(np.arange(np.prod(shape)).reshape(shape))
        y.attach_grad()
        with mx.autograd.record():
            x[:] = 2 * y
        x.backward()
        expected = np.broadcast_to(2 * y.asnumpy(), (1, 1, 2, 3))[0, 0]
        np.testing.assert_array_equal(x.asnumpy(), expected)
        np.testing.assert_array_equal(y.grad.asnumpy(), np.full(shape, 2 * 6 / y.size))
    with pytest.raises(ValueError, match="broadcast"), mx.autograd.record():
        mx.nd.zeros((2, 3))[:] = 2 * y.reshape((1,)).broadcast_to((4,))
