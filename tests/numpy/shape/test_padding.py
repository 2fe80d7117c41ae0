"""`np.pad` against NumPy's."""

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
        ("pad(x, 1, mode='wrap')", ValueError),
        ("pad(x, 1, mode='edge', constant_values=1)", ValueError),
        ("pad(x, 1, mode='reflect', reflect_type='odd')", ValueError),
        ("pad(x, ((1, 2), (3, 4), (5, 6)))", ValueError),
        ("pad(x, -1)", ValueError),
        ("pad(x, 1.5)", TypeError),
        ("pad(x[:0], 1, mode='edge')", mx.MXNetError),
    ],
)
def test_what_is_refused(call, error):
    with pytest.raises(error):
        eval(f"np.{call}", {"np": np, "x": np.ones((2, 3))})


def test_extremes_have_no_gradient():
    x = np.ones((2, 3))
    x.attach_grad()
    with mx.autograd.record():
        y = np.pad(x, 1, mode="maximum")
    with pytest.raises(mx.MXNetError, match="no gradient"):
        y.backward()


def test_nothing_to_pad():
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
