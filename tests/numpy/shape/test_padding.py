"""`np.pad` against NumPy's."""

import numpy as onp
import pytest

import mxcy as mx
from tests.numpy.movement import check

np = mx.np


@pytest.mark.parametrize(
    ("call", "shapes"),
    [
        ("pad(x, ((1, 1), (0, 2)))", [(2, 3)]),
        ("pad(x, 1)", [(2, 3)]),
        ("pad(x, (2, 1), mode='edge')", [(3,)]),
        ("pad(x, ((1, 3), (5, 2)), mode='edge')", [(2, 3)]),
        ("pad(x, ((1, 4), (5, 0)), mode='reflect')", [(2, 3)]),
        ("pad(x, ((1, 4), (7, 0)), mode='symmetric', reflect_type='even')", [(2, 3)]),
        ("pad(x, (2, 3), mode='reflect')", [(1,)]),
        ("pad(x, ((1, 4), (7, 0)), mode='wrap')", [(2, 3)]),
        ("pad(x, {0: 1, -1: (0, 2)}, mode='wrap')", [(2, 3, 2)]),
        ("pad(x, ((1, 9), (5, 0)), mode='reflect', reflect_type='odd')", [(2, 3)]),
        ("pad(x, (2, 7), mode='symmetric', reflect_type='odd')", [(3,)]),
        ("pad(x, (2, 3), mode='reflect', reflect_type='odd')", [(1,)]),
    ],
)
def test_values_and_gradients(call, shapes):
    check(call, *shapes)
    check(call, *shapes, dtype="int32", grad=False)


@pytest.mark.parametrize(
    ("call", "shapes"),
    [
        ("pad(x, ((1, 2), (0, 1)))", [(0, 3)]),
        ("pad(x, ((0, 0), (1, 2)), mode='edge')", [(0, 3)]),
        ("pad(x, ((1, 1), (0, 2)), constant_values=7)", [(2, 3)]),
        ("pad(x, ((1, 1), (2, 2)), constant_values=((1, 2), (3, 4)))", [(2, 3)]),
        ("pad(x, 2, constant_values=(5, 6))", [(2, 3)]),
        ("pad(x, ((1, 2), (2, 1)), mode='maximum')", [(2, 3)]),
        ("pad(x, ((1, 2), (2, 1), (0, 1)), mode='minimum')", [(2, 3, 2)]),
    ],
)
def test_values(call, shapes):
    check(call, *shapes, grad=False)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("pad(x, 1, mode='no such mode')", ValueError),
        ("pad(x, 1, mode='wrap', end_values=1)", ValueError),
        ("pad(x, 1, mode='edge', constant_values=1)", ValueError),
        ("pad(x, 1, mode='reflect', reflect_type='never')", ValueError),
        ("pad(x, 1, mode='mean', stat_length=0)", ValueError),
        ("pad(x[:0], 1, mode='wrap')", ValueError),
        ("pad(x, ((1, 2), (3, 4), (5, 6)))", ValueError),
        ("pad(x, -1)", ValueError),
        ("pad(x, 1.5)", TypeError),
        ("pad(x[:0], 1, mode='edge')", mx.MXNetError),
    ],
)
def test_invalid_arguments(call, error):
    with pytest.raises(error):
        eval(f"np.{call}", {"np": np, "x": np.ones((2, 3))})


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize(
    ("mode", "options"),
    [
        ("linear_ramp", {}),
        ("linear_ramp", {"end_values": ((1, -2), (9, 8))}),
        ("mean", {}),
        ("mean", {"stat_length": 2}),
        ("median", {"stat_length": (1, 3)}),
        ("maximum", {"stat_length": 2}),
        ("minimum", {"stat_length": ((1, 2), (3, 1))}),
    ],
)
def test_ramps_and_statistics(mode, options, dtype):
    values = (onp.arange(12).reshape(4, 3) ** 2 % 7).astype(dtype)
    expected = onp.pad(values, ((2, 3), (0, 4)), mode, **options)
    actual = np.pad(np.array(values, dtype=dtype), ((2, 3), (0, 4)), mode, **options)
    assert actual.dtype == dtype
    onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-6, atol=1e-6)


def test_gradients_of_ramps_and_means():
    for mode, slope in (("linear_ramp", [2, 1, 2.5]), ("mean", [10 / 3] * 3)):
        x = np.array([1.0, 5.0, 2.0])
        x.attach_grad()
        with mx.autograd.record():
            y = np.pad(x, (3, 4), mode)
        y.backward()
        onp.testing.assert_allclose(x.grad.asnumpy(), slope, rtol=1e-6)


def test_margins_by_a_function_and_of_anything():
    def sevens(vector, widths, axis, options):
        vector[: widths[0]] = options["value"]

    assert np.pad(np.ones(2), (2, 1), sevens, value=7).tolist() == [7, 7, 1, 1, 0]
    assert np.pad(np.ones(2), 1, "empty").shape == (4,)


def test_symbols_have_no_shape_to_wrap():
    x = mx.sym.var("x").as_np_ndarray()
    with pytest.raises(NotImplementedError, match="shape of a symbol"):
        mx.sym.np.pad(x, ((1, 1),), mode="wrap")


def test_extremes_have_no_gradient():
    x = np.ones((2, 3))
    x.attach_grad()
    with mx.autograd.record():
        y = np.pad(x, 1, mode="maximum")
    with pytest.raises(mx.MXNetError, match="no gradient"):
        y.backward()


def test_padding_of_0d_arrays():
    assert np.pad(np.array(3.0), 1).item() == 3


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric"])
@pytest.mark.parametrize(
    ("shape", "margins"),
    [
        ((40,), ((3, 90),)),
        ((5, 70), ((2, 0), (31, 33))),
        ((2, 3, 4, 5), ((0, 0), (1, 2), (0, 0), (3, 4))),
        ((3, 2, 9, 4), ((0, 0), (0, 0), (4, 1), (0, 0))),
        ((2, 2, 2, 2, 2, 2), ((1, 1),) * 6),
    ],
)
def test_margins_that_repeat_elements(mode, shape, margins):
    check(f"pad(x, {margins}, mode='{mode}')", shape)
    for dtype in ("bool", "int8", "float16", "float64", "uint64"):
        check(f"pad(x, {margins}, mode='{mode}')", shape, dtype=dtype, grad=False)
