"""Errors of `mx.np` have the types of MXNet 2's and of NumPy's."""

import numpy as onp
import pytest

import mxcy as mx
from mxcy import np, npx
from mxcy.base import MXNetError

ROW, ROWS, CUBE = np.ones(3), np.ones((2, 3)), np.ones((2, 3, 4))
AXIS = onp.exceptions.AxisError
CALLS = {
    "concatenate numbers": (lambda: np.concatenate([np.array(1.0)] * 2), ValueError),
    "concatenate nothing": (lambda: np.concatenate([]), ValueError),
    "stack different shapes": (lambda: np.stack([ROW, np.ones(4)]), ValueError),
    "hstack nothing": (lambda: np.hstack([]), ValueError),
    "linspace": (lambda: np.linspace(0, 1, -1), ValueError),
    "identity": (lambda: np.identity(-1), ValueError),
    "split by an axis": (lambda: np.split(ROW, 3, axis=1), AXIS),
    "array_split by an axis": (lambda: np.array_split(ROW, 3, axis=-2), AXIS),
    "hsplit a number": (lambda: np.hsplit(np.array(1.0), 1), ValueError),
    "pad by less than nothing": (lambda: np.pad(ROWS, ((-1, 0), (0, 0))), ValueError),
    "fill_diagonal": (lambda: np.fill_diagonal(CUBE, 1), ValueError),
    "diag_indices_from": (lambda: np.diag_indices_from(ROWS), ValueError),
    "sort": (lambda: np.sort(np.array([]), axis=1), AXIS),
    "argsort": (lambda: np.argsort(ROWS, axis=2), AXIS),
    "take along an axis": (lambda: np.take(ROWS, 0, axis=2), AXIS),
    "take": (lambda: np.take(ROW, [3]), IndexError),
    "delete along an axis": (lambda: np.delete(ROWS, 0, axis=2), AXIS),
    "delete": (lambda: np.delete(ROW, 3), IndexError),
    "insert along an axis": (lambda: np.insert(ROWS, 0, 1.0, axis=2), AXIS),
    "insert": (lambda: np.insert(ROW, 4, 1.0), IndexError),
    "diff": (lambda: np.diff(ROW, n=-1), ValueError),
    "cross a number": (lambda: np.cross(np.array(1.0), ROW), AXIS),
    "fft": (lambda: np.fft.fft(ROW, axis=1), AXIS),
    "norm": (lambda: np.linalg.norm(ROW, axis=(0, 1)), AXIS),
    "matrix_norm": (lambda: np.linalg.matrix_norm(ROW), AXIS),
    "tensorinv": (lambda: np.linalg.tensorinv(np.ones((2, 2)), ind=0), ValueError),
    "trace": (lambda: np.linalg.trace(ROW), ValueError),
    "gather_nd": (lambda: npx.gather_nd(ROW, np.array([[3]])).asnumpy(), IndexError),
    "index_add": (
        lambda: npx.index_add(ROW, np.array([[3]]), np.array([1.0])).asnumpy(),
        IndexError,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_errors_are_those_of_mxnet_and_of_numpy(name):
    call, of_numpy = CALLS[name]
    for kind in (MXNetError, of_numpy):
        with pytest.raises(kind):
            call()
            mx.nd.waitall()


def test_an_axis_error_reads_as_its_text():
    with pytest.raises(AXIS, match="axis 5 is out of bounds for 2 dimensions") as caught:
        np.sort(ROWS, axis=5)
    assert isinstance(caught.value, IndexError) and caught.value.axis is None


@pytest.mark.parametrize(("shape", "offset"), [((0, 0), 0), ((2, 3), 3), ((2, 2, 3), -2)])
def test_gradients_of_empty_diagonals(shape, offset):
    array = np.ones(shape)
    array.attach_grad()
    with mx.autograd.record():
        diagonal = np.linalg.diagonal(array, offset=offset)
        trace = np.linalg.trace(array, offset=offset)
    mx.autograd.backward([diagonal, trace])
    assert diagonal.shape == (*shape[:-2], 0) and trace.shape == shape[:-2]
    assert not array.grad.asnumpy().any() and array.grad.shape == shape
