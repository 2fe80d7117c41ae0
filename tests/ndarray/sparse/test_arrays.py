"""Sparse arrays: attributes, construction, copies, indexing and files."""

import copy
import pickle

import numpy as np
import pytest

import mxcy as mx
from mxcy import nd
from mxcy.base import MXNetError, NotSupportedForSparseNDArray

sparse = nd.sparse
DENSE = np.array([[0, 1, 0], [2, 0, 3], [0, 0, 0]], "float32")
ROWS = np.array([[0, 0], [1, 2], [0, 0]], "float32")


def csr():
    return sparse.csr_matrix(DENSE)


def rows():
    return sparse.row_sparse_array(ROWS)


# --- what they are -------------------------------------------------------------------------------


def test_parts_of_csr():
    x = csr()
    assert isinstance(x, nd.NDArray) and isinstance(x, sparse.BaseSparseNDArray)
    assert (x.stype, x.shape, x.ndim, len(x), x.dtype) == ("csr", (3, 3), 2, 3, np.float32)
    assert x.data.asnumpy().tolist() == [1, 2, 3]
    assert x.indices.asnumpy().tolist() == [1, 0, 2]
    assert x.indptr.asnumpy().tolist() == [0, 1, 3, 3]
    assert x.indices.dtype == x.indptr.dtype == np.int64
    assert (x._num_aux, x._aux_types) == (2, [np.int64, np.int64])
    assert x._aux_data(0).asnumpy().tolist() == [0, 1, 3, 3]
    assert repr(x) == str(x) == "\n<CSRNDArray 3x3 @cpu(0)>"


def test_parts_of_row_sparse():
    x = rows()
    assert (x.stype, x.shape, x._num_aux) == ("row_sparse", (3, 2), 1)
    assert x.data.asnumpy().tolist() == [[1, 2]]
    assert x.indices.asnumpy().tolist() == [1]


def test_parts_are_copies():
    x = csr()
    x.data[:] = 7
    assert np.array_equal(x.asnumpy(), DENSE)
    for name in ("data", "indices", "indptr"):
        with pytest.raises(NotImplementedError):
            setattr(x, name, nd.zeros(3))


def test_unsupported_methods_of_sparse_arrays():
    x = csr()
    for refused in (lambda: x.size, x.asscalar):
        with pytest.raises(NotImplementedError):
            refused()
    for refused in (lambda: x.reshape((9,)), lambda: x._at(0), lambda: x._slice(0, 1)):
        with pytest.raises(NotSupportedForSparseNDArray):
            refused()
    with pytest.raises(ValueError, match="truth value"):
        bool(x)
    with pytest.raises(TypeError):
        float(x)
    with pytest.raises((BufferError, TypeError)):
        memoryview(x)


def test_numpy_sees_all_elements():
    assert np.array_equal(np.asarray(csr()), DENSE)
    assert np.array(rows(), "float64").dtype == np.float64


# --- constructors --------------------------------------------------------------------------------

CSR_CALLS = [
    (lambda: sparse.csr_matrix(DENSE.astype("float64")), "float64", DENSE),
    (lambda: sparse.csr_matrix(DENSE.tolist()), "float32", DENSE),
    (lambda: sparse.csr_matrix(nd.array(DENSE), dtype="int32"), "int32", DENSE),
    (lambda: sparse.csr_matrix(csr()), "float32", DENSE),
    (lambda: sparse.csr_matrix((2, 3)), "float32", np.zeros((2, 3))),
    (lambda: sparse.csr_matrix(([1, 2], [0, 1], [0, 1, 2])), "float32", np.diag([1, 2])),
    (lambda: sparse.csr_matrix((np.array([1, 2]), [0, 1], [0, 1, 2])), "int64", np.diag([1, 2])),
    (lambda: sparse.csr_matrix(([], [], [0, 0]), shape=(1, 3)), "float32", np.zeros((1, 3))),
    (lambda: sparse.csr_matrix(([1, 2], ([0, 1], [1, 0]))), "int64", [[0, 1], [2, 0]]),
    (
        lambda: sparse.csr_matrix(([1.5, 2, 4], ([1, 0, 1], [1, 1, 1])), shape=(3, 2)),
        "float64",
        [[0, 2], [0, 5.5], [0, 0]],
    ),
    (lambda: sparse.zeros("csr", (2, 3), dtype="int32"), "int32", np.zeros((2, 3))),
    (lambda: nd.zeros((2, 3), stype="csr"), "float32", np.zeros((2, 3))),
    (lambda: sparse.array(csr(), dtype="float64"), "float64", DENSE),
    (lambda: nd.array(csr()), "float32", DENSE),
    (lambda: nd.array(DENSE).tostype("csr"), "float32", DENSE),
]
ROW_CALLS = [
    (lambda: sparse.row_sparse_array(ROWS.tolist()), "float32", ROWS),
    (lambda: sparse.row_sparse_array(rows()), "float32", ROWS),
    (lambda: sparse.row_sparse_array((2, 3, 4)), "float32", np.zeros((2, 3, 4))),
    (lambda: sparse.row_sparse_array(([[1, 2]], [1])), "float32", ROWS[:2]),
    (lambda: sparse.row_sparse_array(([[1, 2]], [1]), shape=(3, 2)), "float32", ROWS),
    (lambda: sparse.row_sparse_array([1, 0, 2]), "float32", [1, 0, 2]),
    (lambda: sparse.zeros("row_sparse", (3,)), "float32", np.zeros(3)),
    (lambda: nd.empty((2, 3), stype="row_sparse"), "float32", np.zeros((2, 3))),
    (lambda: sparse.empty("row_sparse", 4), "float32", np.zeros(4)),
    (lambda: nd.array(ROWS).tostype("row_sparse"), "float32", ROWS),
]


@pytest.mark.parametrize("stype, calls", [("csr", CSR_CALLS), ("row_sparse", ROW_CALLS)])
def test_constructors(stype, calls):
    for make, dtype, want in calls:
        x = make()
        assert (x.stype, x.dtype, x.shape) == (stype, np.dtype(dtype).type, np.shape(want))
        assert np.array_equal(x.asnumpy(), want)
        x.check_format(True)


ERRORS = [
    (lambda: sparse.csr_matrix([1, 2]), ValueError, "should be 2 Dimensional"),
    (lambda: sparse.csr_matrix(csr(), shape=(4, 3)), ValueError, r"\(3, 3\) v.s. \(4, 3\)"),
    (lambda: sparse.csr_matrix((1, 2, 3, 4)), ValueError, "Unexpected length of input tuple: 4"),
    (lambda: sparse.csr_matrix(rows()), ValueError, "Unexpected input type: RowSparseNDArray"),
    (lambda: sparse.csr_matrix(([], [], [0, 0])), ValueError, "invalid shape"),
    (lambda: sparse.csr_matrix(([], [], []), shape=(1, 3)), ValueError, "invalid shape"),
    (lambda: sparse.csr_matrix(([[1]], [0], [0, 1])), ValueError, "invalid shape"),
    (lambda: sparse.csr_matrix(([1], [0], [0, 1]), shape=(1,)), ValueError, "invalid shape"),
    (lambda: sparse.csr_matrix("abc"), TypeError, "array like"),
    (lambda: sparse.csr_matrix(([1], ([0], [5])), shape=(1, 2)), ValueError, "exceeds"),
    (lambda: sparse.row_sparse_array((2,)), ValueError, "Unexpected length of input tuple: 1"),
    (lambda: sparse.row_sparse_array(csr()), ValueError, "Unexpected input type: CSRNDArray"),
    (lambda: sparse.row_sparse_array(([[]], [3])), ValueError, "invalid shape"),
    (lambda: sparse.row_sparse_array(([], [])), ValueError, "invalid shape"),
    (lambda: sparse.row_sparse_array(([[1]], [3]), shape=(5, 3)), MXNetError, "do not fit"),
    (lambda: sparse.zeros("foo", (2, 3)), ValueError, "unknown storage type"),
    (lambda: sparse.zeros("csr", 3), TypeError, "iterable"),
    (lambda: sparse.empty("coo", (2,)), Exception, "unknown stype : coo"),
    (lambda: sparse.array(np.eye(2)), ValueError, "Please use mx.nd.array"),
    (lambda: sparse.array(nd.ones((2, 2))), AssertionError, "tostype"),
    (lambda: sparse.array([1]), ValueError, "Unexpected source_array type"),
    (lambda: nd.ones((2,)).tostype("csr"), ValueError, "should be 2 Dimensional"),
    (lambda: csr().tostype("row_sparse"), ValueError, "from csr to row_sparse"),
    (lambda: rows().tostype("csr"), ValueError, "from row_sparse to csr"),
    (lambda: csr().tostype("coo"), MXNetError, "stype='coo'"),
]


def test_refused_constructions():
    for call, error, text in ERRORS:
        with pytest.raises(error, match=text):
            call()


def test_casts_drop_zeros_and_keep_what_is_stored():
    zero = csr() * 0
    assert zero.data.shape == (3,)
    assert zero.tostype("csr").data.shape == (3,)
    assert zero.tostype("default").tostype("csr").data.shape == (0,)


def test_scipy_both_ways():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    messy = scipy_sparse.csr_matrix(([1.0, 2, 3], [2, 0, 2], [0, 3]), shape=(1, 3))
    for make in (sparse.csr_matrix, sparse.array, nd.array):
        x = make(messy)
        assert (x.dtype, x.indices.asnumpy().tolist()) == (np.float64, [0, 2])
        assert x.asnumpy().tolist() == [[2, 0, 4]]
    assert sparse.csr_matrix(messy.tocoo()).stype == "csr"
    assert np.array_equal(csr().asscipy().toarray(), DENSE)
    assert not hasattr(rows(), "asscipy")


# --- indexing and assignment ---------------------------------------------------------------------


def test_rows_of_csr():
    x = csr()
    cases = [(1, [1]), (-1, [2]), (slice(0, 2), [0, 1]), (slice(-2, None), [1, 2])]
    cases += [(slice(1, 99), [1, 2]), (slice(0, 0), []), (slice(2, 1), []), (slice(5, None), [])]
    for key, kept in cases:
        assert x[key].stype == "csr"
        assert np.array_equal(x[key].asnumpy(), DENSE[kept].reshape(-1, 3))
        x[key].check_format()
    assert x[:] is x and rows()[:] is not None
    assert [row.asnumpy().tolist() for row in x] == DENSE[:, None].tolist()
    with pytest.raises(IndexError, match="row 3 is out of bounds for 3 rows"):
        x[3]


def test_refused_indices():
    cases = [
        (csr, slice(None, None, 2), ValueError, "continuous slicing"),
        (csr, (0, 1), ValueError, "Multi-dimension"),
        (csr, np.array([0]), ValueError, "Undefined"),
        (rows, 0, Exception, "int key"),
        (rows, slice(0, 1), Exception, "only supports"),
    ]
    for make, key, error, text in cases:
        with pytest.raises(error, match=text):
            make()[key]


def test_assignment():
    x, y = csr(), rows()
    x[:] = x * 2
    assert np.array_equal(x.asnumpy(), DENSE * 2)
    x[:] = nd.ones((3, 3))
    assert x.stype == "csr" and x.data.shape == (9,)
    with pytest.warns(RuntimeWarning, match="not efficient"):
        x[:] = DENSE
    assert np.array_equal(x.asnumpy(), DENSE)
    y[:] = 3
    assert y.indices.asnumpy().tolist() == [0, 1, 2] and (y.asnumpy() == 3).all()
    dense = nd.ones((3, 3))
    refused = [
        (x, slice(None), 3, ValueError),
        (x, slice(None), y, TypeError),
        (x, slice(None), [1], TypeError),
        (x, 0, 1, Exception),
        (x, slice(0, 2), dense, ValueError),
        (x, slice(None), nd.ones((2, 2)), MXNetError),
        (x, [0], 1, AssertionError),
        (y, 0, 1, TypeError),
        (y, slice(0, 2), dense, ValueError),
        (y, Ellipsis, dense, AssertionError),
        (dense, slice(None), x, TypeError),
    ]
    for array, key, value, error in refused:
        with pytest.raises(error):
            array[key] = value


def test_in_place_arithmetic_keeps_the_storage_type():
    x = y = csr()
    x += 2
    assert x is y and x.stype == "csr" and np.array_equal(x.asnumpy(), DENSE + 2)
    x -= x
    x *= 3
    x /= 2
    assert x.stype == "csr" and not x.asnumpy().any()


# --- copies, casts, files ------------------------------------------------------------------------


def test_copies():
    for x in (csr(), rows()):
        for y in (x.copy(), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.detach()):
            assert type(y) is type(x) and np.array_equal(y.asnumpy(), x.asnumpy())
        assert x.as_in_context(mx.cpu(1)).context == mx.cpu(1)
        assert x.astype("int32").dtype == np.int32 and x.astype("int32").stype == x.stype
        assert x.astype("float32", copy=False) is x
        dense = nd.zeros(x.shape)
        assert x.copyto(dense) is dense and np.array_equal(dense.asnumpy(), x.asnumpy())
        same = sparse.zeros(x.stype, x.shape, dtype="float64")
        x.copyto(same)
        assert same.dtype == np.float64 and np.array_equal(same.asnumpy(), x.asnumpy())
        with pytest.warns(RuntimeWarning):
            assert x.copyto(x) is False
        with pytest.raises(TypeError):
            x.copyto(5)
    with pytest.raises(TypeError, match="destination NDArray stype row_sparse"):
        csr().copyto(sparse.zeros("row_sparse", (3, 3)))


def test_files(tmp_path):
    path = str(tmp_path / "mixed.params")
    nd.save(path, {"c": csr(), "r": rows(), "d": nd.array(DENSE)})
    loaded = nd.load(path)
    assert [loaded[name].stype for name in "crd"] == ["csr", "row_sparse", "default"]
    assert np.array_equal(loaded["c"].asnumpy(), DENSE)
    assert np.array_equal(loaded["r"].asnumpy(), ROWS)
    loaded["c"].check_format()


# --- check_format --------------------------------------------------------------------------------


def test_check_format():
    def of(data, indices, indptr, shape=(3, 4)):
        return sparse.csr_matrix((data, indices, indptr), shape=shape)

    wrong = [
        of([1, 2, 3], [0, 1, 4], [0, 1, 2, 3]),
        of([1, 2, 3], [0, 1, -1], [0, 1, 2, 3]),
        of([1, 2, 3], [1, 0, 2], [0, 2, 2, 3]),
        of([1, 2, 3], [1, 1, 2], [0, 2, 2, 3]),
        of([1, 2, 3], [0, 1, 2], [1, 1, 2, 3]),
        of([1, 2, 3], [0, 1, 2], [0, 2, 1, 3]),
        of([1, 2, 3], [0, 1, 2], [0, 1, 2, 2]),
        sparse.row_sparse_array(([[1], [2]], [1, 0]), shape=(3, 1)),
        sparse.row_sparse_array(([[1], [2]], [1, 1]), shape=(3, 1)),
        sparse.row_sparse_array(([[1], [2]], [1, 3]), shape=(3, 1)),
        sparse.row_sparse_array(([[1], [2]], [-1, 2]), shape=(3, 1)),
    ]
    for x in wrong:
        x.check_format(full_check=False)
        with pytest.raises(MXNetError, match="check_format"):
            x.check_format()
    with pytest.raises(ValueError, match="indptr needs 4 elements for 3 rows, got 3"):
        of([1, 2], [0, 1], [0, 1, 2])


def test_rows_in_any_order():
    rows = mx.nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [3, 1]), shape=(5, 2))
    dense = np.array([[0, 0], [3, 4], [0, 0], [1, 2], [0, 0]], "float32")
    np.testing.assert_array_equal(rows.indices.asnumpy(), [3, 1])  # as they were given
    with pytest.raises(mx.MXNetError, match="sorted"):
        rows.check_format()
    for actual, expected in (
        (rows, dense),
        (rows.tostype("default"), dense),
        (rows + rows, 2 * dense),
        (rows * 3, 3 * dense),
        (mx.nd.sparse.retain(rows, mx.nd.array([1, 3], dtype="int64")), dense),
        (mx.nd.sparse.dot(mx.nd.ones((2, 5)).tostype("csr"), rows), np.ones((2, 5)) @ dense),
    ):
        np.testing.assert_array_equal(actual.asnumpy(), expected)
    target = mx.nd.ones((5, 2))
    rows.copyto(target)
    np.testing.assert_array_equal(target.asnumpy(), dense)
    (rows + rows).check_format()
