"""Arithmetic of NDArray: beyond the golden results."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError

nd = mx.nd
OPERATORS = ("+", "-", "*", "/", "%", "**", "==", "!=", ">", ">=", "<", "<=")


def apply(operator, lhs, rhs):
    return eval(f"lhs {operator} rhs", {"lhs": lhs, "rhs": rhs})


@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_compute_what_numpy_computes(operator):
    x, y = np.float32([[1, 2, 3], [4, 5, 6]]), np.float32([[3, 2, 1]])
    for lhs, rhs in [(x, y), (y, x), (x, 2), (2, x), (x, 2.5), (2.5, y), (x, x)]:
        ours = apply(
            operator, *(nd.array(v) if isinstance(v, np.ndarray) else v for v in (lhs, rhs))
        )
        assert ours.dtype is np.float32
        np.testing.assert_allclose(ours.asnumpy(), apply(operator, lhs, rhs), rtol=1e-6)


@pytest.mark.parametrize(
    "number", [True, np.int8(1), np.int64(1), np.float16(1), np.float64(1), np.bool_(1)]
)
def test_every_kind_of_number_is_a_number(number):
    x = nd.array([1, 2])
    assert (x + number).asnumpy().tolist() == (number + x).asnumpy().tolist() == [2, 3]
    assert nd.add(x, number).asnumpy().tolist() == [2, 3]
    x += number
    assert x.asnumpy().tolist() == [2, 3]


@pytest.mark.parametrize("stranger", [None, "1", [1, 2], {}, 1j, np.ones(2), object()])
def test_other_operands_are_refused_by_their_type(stranger):
    x = nd.array([1, 2])
    for operator in OPERATORS:
        for lhs, rhs in [(x, stranger), (stranger, x)]:
            if isinstance(lhs, str) and operator == "%":
                continue  # formats
            with pytest.raises(TypeError, match="not supported"):
                apply(operator, lhs, rhs)
    for function in (nd.add, nd.maximum, nd.logical_and):
        with pytest.raises(TypeError, match=f"{type(stranger).__name__}.* not supported"):
            function(x, stranger)


def test_shapes_that_do_not_fit_name_the_operator():
    with pytest.raises(MXNetError, match=r"broadcast_add.*\(2, 3\).*\(4,\)"):
        nd.ones((2, 3)) + nd.ones((4,))


def test_in_place_operators_write_the_same_memory():
    x = nd.array([1, 2, 3, 4])
    view, same = x[1:3], x
    x += 1
    x *= nd.array([2])
    x -= 2
    x /= 2
    x %= 3
    assert x is same
    assert x.asnumpy().tolist() == [1, 2, 0, 1]
    assert view.asnumpy().tolist() == [2, 0]


def test_in_place_operators_keep_shape_and_type():
    x = nd.ones((3,), dtype="int32")
    with pytest.raises(MXNetError):
        x += nd.ones((2, 3), dtype="int32")
    with pytest.raises(MXNetError):
        x += nd.ones((3,))
    x += 1.9
    assert x.asnumpy().tolist() == [2, 2, 2]


def test_power_makes_a_new_array_in_place_too():
    x = y = nd.array([2, 3])
    x **= 2
    assert y.asnumpy().tolist() == [2, 3]
    assert x.asnumpy().tolist() == [4, 9]


def test_functions_of_two_numbers_are_numbers():
    assert nd.maximum(3, 4) == 4
    assert nd.modulo(7, 4) == 3
    assert nd.lesser(3, 4) is not True
    assert nd.lesser(3, 4) == 1


def test_functions_of_arrays_and_numbers_take_either_side():
    x = nd.array([1, 4, 9])
    assert nd.subtract(10, x).asnumpy().tolist() == [9, 6, 1]
    assert nd.greater(4, x).asnumpy().tolist() == [1, 0, 0]
    assert nd.power(base=2, exp=x).asnumpy().tolist() == [2, 16, 512]
    assert nd.maximum(x, x[::-1]).asnumpy().tolist() == [9, 4, 9]


def test_hashes_tell_arrays_apart():
    x, y = nd.ones(2), nd.ones(2)
    assert len({x, y, x}) == 2
