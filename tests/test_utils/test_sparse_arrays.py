"""Random sparse arrays: the numbers that real MXNet 1.9.1 draws from the same seed."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.test_utils import (
    assert_almost_equal,
    compare_optimizer,
    create_sparse_array,
    create_sparse_array_zd,
    rand_ndarray,
    rand_sparse_ndarray,
)


def seeded(make, *args, **kwargs):
    """The result after seed 3, and the next random number."""
    np.random.seed(3)
    return make(*args, **kwargs), np.random.rand()


def equal(array, values):
    np.testing.assert_allclose(array.asnumpy(), values, rtol=1e-6)


def test_row_sparse():
    (array, (values, indices)), after = seeded(rand_sparse_ndarray, (4, 3), "row_sparse")
    want = [[0.8962931, 0.1255853, 0.2072429], [0.0514672, 0.4408098, 0.0298762]]
    equal(array.data, want)
    equal(array.indices, [1, 2])
    np.testing.assert_array_equal(values, array.data.asnumpy())
    np.testing.assert_array_equal(indices, [1, 2])
    assert after == pytest.approx(0.4568332, rel=1e-6)


def test_row_sparse_of_chosen_rows_and_values():
    array, after = seeded(
        rand_ndarray, (4, 3), "row_sparse", 0.7, modifier_func=lambda x: x + 1, dtype="float64"
    )
    assert (array.indices.asnumpy() == [0, 2, 3]).all()
    assert array.dtype == np.float64 and array.data.asnumpy()[0, 0] == 1.8929469543476547
    assert after == pytest.approx(0.2784873, rel=1e-6)
    array = create_sparse_array((4, 3), "row_sparse", data_init=1.5, rsp_indices=[0, 2])
    equal(array.data, np.full((2, 3), 1.5))
    equal(array.indices, [0, 2])
    assert create_sparse_array((4, 3), "row_sparse", rsp_indices=[]).indices.shape == (0,)


def test_rows_of_zero_density():
    for options in ({}, {"data_init": 1}, {"modifier_func": lambda x: 2}):
        array, after = seeded(create_sparse_array_zd, (4, 3), "row_sparse", 1, **options)
        assert array.stype == "row_sparse" and array.data.shape[0] == 0
        assert after == pytest.approx(0.8929469, rel=1e-6)
    array, _ = seeded(create_sparse_array_zd, (4, 3), "row_sparse", 0.5, rsp_indices=[1, 2])
    equal(array.data[0], [0.5507979, 0.7081478, 0.2909047])


def test_csr():
    pytest.importorskip("scipy")
    (array, (indptr, indices, data)), after = seeded(
        rand_sparse_ndarray, (4, 5), "csr", density=0.5
    )
    assert indices.asnumpy().tolist() == [1, 3, 4, 0, 4, 0, 1, 3, 1, 3]
    assert indptr.asnumpy().tolist() == [0, 3, 5, 8, 10]
    equal(data[:3], [0.9133015, 0.3063606, 0.7658264])
    assert after == pytest.approx(0.58662, rel=1e-6)
    array.check_format()
    array, _ = seeded(rand_ndarray, (4, 5), "csr", 0.8, shuffle_csr_indices=True)
    assert array.indices.asnumpy()[:6].tolist() == [1, 4, 3, 1, 3, 2]
    equal(create_sparse_array((4, 3), "csr", data_init=2, density=1), np.full((4, 3), 2))
    assert rand_ndarray((4, 5), "csr", 0).data.shape == (0,)


def test_powers_of_two():
    array, _ = seeded(rand_ndarray, (4, 16), "csr", 0.25, distribution="powerlaw")
    assert np.diff(array.indptr.asnumpy()).tolist() == [2, 4, 8, 2]
    equal(array.data[:4], [2.1020451, 2.786001, 2.4165876, 2.7926898])
    array, _ = seeded(rand_ndarray, (8, 16), "csr", 0.5, distribution="powerlaw")
    assert len(set(array.asnumpy()[4])) == 1  # a row that is full


@pytest.mark.parametrize(
    "error, shape, stype, options",
    [
        (AssertionError, (2, 2), "coo", {}),
        (AssertionError, (2, 2, 2), "csr", {}),
        (AssertionError, (8, 16), "csr", {"distribution": "normal"}),
        (AssertionError, (8, 16), "row_sparse", {"distribution": "powerlaw"}),
        (ValueError, (8, 16), "csr", {"density": 1.5}),
        (ValueError, (8, 16), "csr", {"density": 0.1, "distribution": "powerlaw"}),
        (ValueError, (8, 16), "csr", {"density": 0.9, "distribution": "powerlaw"}),
    ],
)
def test_refusals(error, shape, stype, options):
    with pytest.raises(error):
        rand_ndarray(shape, stype, **options)


def test_sparse_arrays_are_compared_as_dense_ones():
    array = create_sparse_array((4, 3), "row_sparse", rsp_indices=[1])
    assert_almost_equal(array, array.asnumpy())
    assert_almost_equal(array.tostype("default"), array)
    with pytest.raises(AssertionError):
        assert_almost_equal(array, array.asnumpy() + 1)


@pytest.mark.parametrize("w_stype", ["default", "row_sparse"])
def test_optimizers_with_sparse_gradients(w_stype):
    def make(**options):
        return mx.optimizer.SGD(learning_rate=0.1, momentum=0.9, wd=0.1, **options)

    for _ in range(3):
        compare_optimizer(make(), make(), (7, 4), "float32", w_stype, "row_sparse")
    with pytest.raises(AssertionError):  # rows without a gradient decay only in one of them
        np.random.seed(3)
        compare_optimizer(make(), make(lazy_update=False), (7, 4), "float32", w_stype, "row_sparse")
