"""Iteration from Python, type queries, and string formatting of arrays and numbers."""

import numpy as onp
import pytest

import mxcy as mx

np = mx.np


def test_elements_with_their_coordinates():
    a = np.array([[1.0, 2.0]])
    assert [(place, float(x)) for place, x in np.ndenumerate(a)] == [((0, 0), 1), ((0, 1), 2)]
    assert list(np.ndindex(1, 2)) == [(0, 0), (0, 1)]


def test_functions_of_numbers():
    @np.vectorize
    def clipped(x, y):
        """The smaller."""
        return x if x < y else y

    actual = clipped(np.array([1.0, 5.0]), 2)
    assert type(actual) is np.ndarray and actual.tolist() == [1, 2]
    with mx.autograd.record(), pytest.raises(ValueError, match="clipped"):
        clipped(np.array([1.0]), 2)


def test_kinds_of_things():
    for value in (3, 2.5, "a", onp.float32(1)):
        assert np.isscalar(value)
    assert not np.isscalar(np.array(1.0)) and not np.isscalar([1])
    assert np.iscomplexobj(np.array([1j])) and np.iscomplexobj(1j)
    assert np.isrealobj(np.ones(2)) and np.iterable(np.ones(2)) and not np.iterable(3)
    assert np.issubdtype(np.ones(2).dtype, np.floating)
    assert np.issubdtype(np.int8, np.signedinteger) and np.ones(2, dtype=np.half).itemsize == 2


def test_texts():
    a = np.array([1.0, 2.0])
    assert np.array2string(a, separator="; ") == "[1.; 2.]"
    assert (np.array_repr(a), np.array_str(a)) == (repr(a), str(a))
    with np.printoptions(precision=1):
        assert str(np.array([1.234])) == "[1.2]"
    assert np.base_repr(5, 3) == "12" and np.binary_repr(5) == "101"
