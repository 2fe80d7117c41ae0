"""Functions that rearrange, join and cut arrays: results, gradients and types against NumPy's."""

import numpy as onp
import pytest

import mxcy as mx
from tests.numpy.movement import check

np, npx = mx.np, mx.npx


@pytest.mark.parametrize(
    ("call", "shapes"),
    [
        ("reshape(x, (3, 2))", [(2, 3)]),
        ("reshape(x, (3, -1), order='F')", [(2, 3)]),
        ("ravel(x)", [(2, 3)]),
        ("ravel(x, 'F')", [(2, 3)]),
        ("swapaxes(x, 0, -1)", [(2, 3, 4)]),
        ("moveaxis(x, 0, -1)", [(2, 3, 4)]),
        ("moveaxis(x, (0, 1), (-1, 0))", [(2, 3, 4)]),
        ("rollaxis(x, 2)", [(2, 3, 4)]),
        ("rollaxis(x, 0, 3)", [(2, 3, 4)]),
        ("roll(x, 2)", [(2, 3)]),
        ("roll(x, (1, -1), axis=(0, 1))", [(2, 3)]),
        ("roll(x, 5, axis=0)", [(2, 3)]),
        ("roll(x, (5, -2, 1, 3), axis=(0, -1, 2, 0))", [(4, 3, 20)]),
        ("roll(x, 3, axis=(0, 2, 3))", [(4, 1, 2, 5)]),
        ("roll(x, (70, 1), axis=(1, 0))", [(3, 90)]),
        ("rot90(x)", [(2, 3)]),
        ("rot90(x, 3, (1, 2))", [(2, 3, 4)]),
        ("flip(x)", [(2, 3)]),
        ("flip(x, (0, 1))", [(2, 3)]),
        ("fliplr(x)", [(2, 3)]),
        ("flipud(x)", [(3,)]),
        ("expand_dims(x, 1)", [(2, 3)]),
        ("expand_dims(x, (0, -1))", [(2, 3)]),
        ("expand_dims(x, -1)", [()]),
        ("atleast_1d(x)", [()]),
        ("atleast_2d(x, y)", [(3,), ()]),
        ("atleast_3d(x)", [(2, 3)]),
        ("vstack((x, y))", [(2, 3), (3,)]),
        ("hstack((x, y))", [(2, 3), (2, 1)]),
        ("hstack((x, y))", [(2,), ()]),
        ("dstack((x, y))", [(2, 3), (2, 3)]),
        ("column_stack((x, y, z))", [(3,), (3, 2), (3,)]),
        ("append(x, y)", [(2, 3), (2,)]),
        ("append(x, y, axis=1)", [(2, 3), (2, 1)]),
        ("split(x, 3)", [(6,)]),
        ("split(x, [1, 3])", [(6,)]),
        ("split(x, [3, 1, -2])", [(6,)]),
        ("split(x, 2, axis=-1)", [(3, 4)]),
        ("array_split(x, 4)", [(6, 2)]),
        ("array_split(x, [2, 9])", [(6, 2)]),
        ("vsplit(x, 2)", [(4, 2)]),
        ("hsplit(x, [1])", [(4, 2)]),
        ("hsplit(x, 2)", [(4,)]),
        ("dsplit(x, 2)", [(2, 2, 4)]),
        ("tile(x, 2)", [(2, 3)]),
        ("tile(x, (2, 1, 2))", [(2, 3)]),
        ("tile(x, (2, 0))", [(2, 3)]),
        ("tile(x, 3)", [()]),
        ("repeat(x, 2)", [(2, 3)]),
        ("repeat(x, [1, 0, 2], axis=1)", [(2, 3)]),
        ("repeat(x, 2, axis=-2)", [(2, 3)]),
        ("repeat(x, 3)", [()]),
    ],
)
def test_values_and_gradients(call, shapes):
    check(call, *shapes)
    check(call, *shapes, dtype="int32", grad=False)


@pytest.mark.parametrize(
    ("call", "shapes"),
    [
        ("roll(x, 1, axis=1)", [(0, 3)]),
        ("flip(x, 0)", [(0, 3)]),
        ("rot90(x)", [(0, 3)]),
        ("vstack((x, y))", [(0, 3), (2, 3)]),
        ("hstack((x, y))", [(0,), (2,)]),
        ("array_split(x, 3)", [(0, 2)]),
        ("split(x, [1, 2])", [(0, 2)]),
        ("repeat(x, 2, axis=0)", [(0, 2)]),
        ("tile(x, (2, 2))", [(0, 2)]),
        ("expand_dims(x, 0)", [(0,)]),
        ("moveaxis(x, 0, 1)", [(0, 2)]),
    ],
)
def test_empty_arrays(call, shapes):
    check(call, *shapes, grad=False)


def test_joined_arrays_meet_in_one_type():
    assert np.vstack((np.ones(2, "int32"), np.ones(2, "float32"))).dtype == "float32"
    assert np.append(np.ones(2, "int8"), [1, 2]).dtype == "int64"
    with mx.util.np_default_dtype(True):
        assert np.hstack((np.ones(2, "int32"), np.ones(2, "float32"))).dtype == "float64"


def test_unstack():
    x = np.arange(6).reshape(2, 3)
    assert [part.tolist() for part in np.unstack(x, axis=1)] == [[0, 3], [1, 4], [2, 5]]
    assert [part.tolist() for part in np.unstack(x[:1])] == [[0, 1, 2]]
    assert np.unstack(np.zeros((0, 3))) == ()
    assert type(np.unstack(x)) is type(np.unstack(x[:1])) is tuple


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("split(x, 4)", ValueError),
        ("vsplit(x[0], 1)", ValueError),
        ("hsplit(x[0, 0], 1)", ValueError),
        ("dsplit(x, 1)", ValueError),
        ("split(x, 0)", ValueError),
        ("vstack(())", ValueError),
        ("vstack((x, x[:, :1]))", mx.MXNetError),
        ("moveaxis(x, 0, 5)", mx.MXNetError),
        ("moveaxis(x, (0, 0), (0, 1))", mx.MXNetError),
        ("moveaxis(x, (0, 1), 0)", mx.MXNetError),
        ("transpose(x, (0, 0))", ValueError),
        ("transpose(x, (0, 2))", mx.MXNetError),
        ("transpose(x, (0,))", mx.MXNetError),
        ("rot90(x, 1, (0, 0))", mx.MXNetError),
        ("roll(x, 1, axis=2)", mx.MXNetError),
        ("flip(x, 2)", mx.MXNetError),
        ("expand_dims(x, 4)", mx.MXNetError),
        ("repeat(x, [1, 2], axis=1)", mx.MXNetError),
        ("repeat(x, -1)", mx.MXNetError),
    ],
)
def test_invalid_arguments(call, error):
    x = np.ones((2, 3))
    with pytest.raises(error):
        eval(f"np.{call}", {"np": np, "x": x})


def test_views_share_memory():
    x = np.zeros((2, 3))
    np.expand_dims(x, 0)[0, 1] = 7
    assert x[1].tolist() == [7, 7, 7]
    for view in (x[1:], x.reshape(6), np.expand_dims(x, 1), x.as_nd_ndarray()):
        assert np.shares_memory(x, view) and np.may_share_memory(view, x)
    for other in (x.copy(), x.T, x[0] + 1, x.flatten(), x.asnumpy()):
        assert not np.shares_memory(x, other)
    assert not np.shares_memory(x[:1], x[1:])


@pytest.mark.parametrize(
    ("shape", "codes", "reverse", "expected"),
    [
        ((2, 3, 4), (-2, -5), False, (2, 12)),
        ((2, 3, 4), (-6, -1, 2, -4), False, (1, 2, 3, 4)),
        ((2, 3, 4), (-4, -1), False, (2, 3, 4, 1)),
        ((2, 3, 4), (-4, -1), True, (2, 3, 4)),
        ((2, 3, 4), (-1, -4), True, (1, 2, 3, 4)),
        ((1, 3, 1, 4), (-3, -2, -3, -2), False, (3, 4)),
        ((10, 5, 4), (-1, -2), True, (50, 4)),
        ((8, 3, 3, 3, 4, 4), (-6, 2, -1, -4), False, (2, 4, 3, 3, 3, 4, 4)),
        ((2, 0, 4), (-1,), False, (0,)),
        ((2, 3, 4), (-3, -4), False, None),
        ((2, 3, 4), (6, -4), False, None),
        ((2, 3, 4), (-2, 12), True, None),
        ((2, 9), (-4, -6, 3, 3), False, None),
        ((2, 3), (0,), False, None),
        ((2, 3), (-1, -1), False, None),
        ((2, 3), (-7,), False, None),
        ((2, 3), (-6, 2), False, None),
    ],
)
def test_codes_of_reshape(shape, codes, reverse, expected):
    x = np.zeros(shape)
    if expected is None:
        with pytest.raises(mx.MXNetError):
            npx.reshape(x, codes, reverse=reverse)
    else:
        assert npx.reshape(x, codes, reverse=reverse).shape == expected


def test_block():
    parts = [[onp.eye(2), onp.zeros((2, 1))], [onp.ones((1, 2)), onp.full((1, 1), 7.0)]]
    for nested in (parts, [1.0], [[1, 2], [3, 4]], [onp.ones(2), onp.zeros(3)], onp.ones(2)):
        assert np.block(nested).tolist() == onp.block(nested).tolist()
    for wrong in ([[1], 2], []):
        with pytest.raises(ValueError, match="equal nesting depth"):
            np.block(wrong)


def test_positions_from_coordinates():
    coordinates = ([0, 1, 1], [2, 0, 2])
    for order in ("C", "F"):
        wanted = onp.ravel_multi_index(coordinates, (2, 3), order=order)
        actual = np.ravel_multi_index(coordinates, (2, 3), order=order)
        assert actual.tolist() == wanted.tolist() and actual.dtype == "int64"
        back = np.unravel_index(actual, (2, 3), order=order)
        assert [place.tolist() for place in back] == list(coordinates)
    assert np.ravel_multi_index((np.array([4]), np.array([-1])), (2, 3), mode="wrap").item() == 2
    with pytest.raises(ValueError, match="invalid entry"):
        np.ravel_multi_index((5, 0), (2, 3))
