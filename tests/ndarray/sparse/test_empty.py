"""Sparse arrays without stored elements, in all operators that keep them sparse."""

import numpy as np
import pytest

import mxcy as mx
from tests.ndarray.sparse.golden import cases

CALLS = [pytest.param(*call, id=call[0].replace(" ", "")) for call in cases.calls()]


@pytest.mark.parametrize("key, name, attrs, letters", CALLS)
def test_as_with_dense_zeros(key, name, attrs, letters):
    if name in ("_div_scalar", "elemwise_div", "_power"):
        return  # elements not stored stay zero
    kinds = [cases.TYPES[letter] for letter in letters]
    empty = [mx.nd.zeros(cases.SHAPE, stype=kind) for kind in kinds]
    out = cases.function(mx, name)(*empty, **attrs)
    if out.stype != "default":
        out.check_format()
    want = cases.function(mx, name)(*(mx.nd.zeros(cases.SHAPE) for _ in kinds), **attrs)
    np.testing.assert_array_equal(out.asnumpy(), want.asnumpy())


def test_arrays_without_rows_or_columns():
    for shape in ((0, 3), (3, 0)):
        x = mx.nd.sparse.csr_matrix(shape)
        x.check_format()
        assert x.asnumpy().shape == shape and (x + x).shape == shape


def test_rows_of_an_array_that_stores_nothing():
    x = mx.nd.sparse.zeros("csr", (3, 4))
    assert [row.asnumpy().tolist() for row in x] == [[[0] * 4]] * 3
    assert mx.nd.dot(x, mx.nd.ones((4, 2))).asnumpy().tolist() == [[0, 0]] * 3
    assert mx.nd.dot(x, mx.nd.ones((3, 2)), transpose_a=True).indices.shape == (0,)


def test_gradients_of_empty_arrays():
    w = mx.nd.ones((4, 2))
    w.attach_grad(stype="row_sparse")
    with mx.autograd.record():
        y = mx.nd.dot(mx.nd.sparse.zeros("csr", (3, 4)), w)
    y.backward()
    assert w.grad.stype == "row_sparse" and w.grad.indices.shape == (0,)
    mx.nd.sgd_update(w, w.grad, out=w, lr=0.1)
    assert (w.asnumpy() == 1).all()
