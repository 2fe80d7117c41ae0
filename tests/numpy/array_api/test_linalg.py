"""Linear algebra in the array API standard."""

import numpy as onp
import pytest

import mxcy as mx

np = mx.np
inf = float("inf")


def test_norms_of_empty_matrices():
    for shape in ((0, 3), (3, 0), (2, 0, 3)):
        for order in ("fro", "nuc", 1, 2, inf):
            norms = np.linalg.matrix_norm(np.zeros(shape), ord=order, keepdims=True)
            assert norms.tolist() == onp.zeros((*shape[:-2], 1, 1)).tolist()
        for order in (-1, -2, -inf):
            norms = np.linalg.matrix_norm(np.zeros(shape), ord=order)
            assert norms.shape == shape[:-2] and set(norms.ravel().tolist()) <= {0, inf}


def test_tolerances_for_each_matrix():
    values = onp.asarray([[[1.0, 0], [0, 1e-3]], [[1.0, 0], [0, 1e-3]]])
    rtol = np.asarray([1e-2, 1e-6])
    inverses = np.linalg.pinv(np.asarray(values), rtol=rtol)
    wanted = onp.linalg.pinv(values, rtol=rtol.asnumpy())
    onp.testing.assert_allclose(inverses.asnumpy(), wanted, atol=1e-9)
    assert np.linalg.matrix_rank(np.asarray(values), rtol=rtol).tolist() == [1, 2]


def test_cross_products_of_three_components():
    x = np.asarray([[1.0, 0, 0], [0, 1, 0]])
    assert np.linalg.cross(x, x[::-1]).tolist() == [[0, 0, 1], [0, 0, -1]]
    for a, b in ((x[:, :2], x[:, :2]), (x, x[:, :2]), (x, x[:, :1])):
        with pytest.raises(ValueError, match="components"):
            np.linalg.cross(a, b)


def test_named_results():
    matrix = np.asarray([[2.0, 1], [1, 3]])
    assert np.linalg.eigh(matrix)._fields == ("eigenvalues", "eigenvectors")
    assert np.linalg.qr(matrix)._fields == ("Q", "R")
    assert np.linalg.slogdet(matrix)._fields == ("sign", "logabsdet")
    assert np.linalg.svd(matrix)._fields == ("U", "S", "Vh")
    assert np.linalg.svd(np.ones((2, 5))).Vh.shape == (5, 5)
    assert np.matrix_transpose(np.ones((2, 5, 3))).shape == (2, 3, 5)
