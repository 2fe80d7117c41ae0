"""Inconsistent parts raise errors: in inference, or in kernels and references alike."""

import numpy as np
import pytest

from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.ops.core.record import find
from tests.ops.sparse.parts import array

FLOATS = np.arange(1, 4, dtype="float32")
MATRIX = np.ones((5, 4), "float32")
INDICES, INDPTR = np.array([0, 4, 2]), np.array([0, 2, 3])
CSR = (FLOATS, INDICES, INDPTR)
ROWS, IDS = np.ones((2, 4), "float32"), np.array([1, 3])


def ints(*values):
    return np.array(values, "int64")


#: invalid values of indptr or its counterpart
BAD_INDPTR = {"decreases": ints(2, 0, 3), "beyond": ints(0, 2, 4), "negative": ints(-1, 2, 3)}
#: invalid indices for five columns
BAD_INDICES = {"negative": ints(0, -1, 2), "beyond": ints(0, 5, 2), "huge": ints(0, 2**62, 2)}
#: invalid row ids for five rows
BAD_IDS = {"unsorted": ints(3, 1), "twice": ints(1, 1), "negative": ints(-1, 1)}

#: operators of a csr array's parts: what comes before and after the parts, and attributes
OVER_CSR = {
    "_csr_to_dense": ((), (), {"columns": 5}),
    "_csr_dot_dense": ((), (MATRIX,), {}),
    "_csr_transpose_dot_dense": ((), (MATRIX[:2],), {"columns": 5}),
    "_csr_transpose": ((), (), {"columns": 5}),
    "_csr_transpose_compact": ((), (), {"columns": 5}),
    "_dense_dot_csr": ((MATRIX[:, :2],), (), {"columns": 5}),
    "_csr_sum": ((), (), {"columns": 5, "axis": 0}),
}


def refused(name, inputs, attrs, text):
    """Check that all kernels and the reference raise an error that names the argument."""
    record = find(name)
    arrays = tuple(array(values) for values in inputs)
    interned = record.schema.intern(name, attrs)
    for kernel in (*record.kernels, None):
        chosen = "ref" if kernel is None else kernel.name
        if callable(chosen):
            chosen = chosen(interned, arrays, ())
        with pytest.raises((MXNetError, IndexError), match=text):
            outs, _ = front.execute(record, arrays, attrs, kernel=chosen)
            for out in outs:
                out.wait_to_read()


@pytest.mark.parametrize("kind", BAD_INDPTR)
@pytest.mark.parametrize("name", OVER_CSR)
def test_indptr(name, kind):
    before, after, attrs = OVER_CSR[name]
    refused(name, (*before, FLOATS, INDICES, BAD_INDPTR[kind], *after), attrs, "indptr")


@pytest.mark.parametrize("kind", BAD_INDICES)
@pytest.mark.parametrize("name", OVER_CSR)
def test_indices(name, kind):
    before, after, attrs = OVER_CSR[name]
    refused(name, (*before, FLOATS, BAD_INDICES[kind], INDPTR, *after), attrs, "indices")


def test_gathered_values():
    dense = np.ones((2, 5), "float32")
    refused("_csr_gather", (dense, BAD_INDICES["beyond"], INDPTR), {}, "indices")
    refused("_csr_gather", (dense, INDICES, ints(0, 1, 2)), {}, "indptr")


@pytest.mark.parametrize("operation", ["add", "mul"])
def test_merging(operation):
    other = (FLOATS, ints(0, 1, 2), INDPTR)
    attrs = {"operation": operation}
    for indices in (ints(4, 0, 2), ints(4, 4, 2), ints(-1, 4, 2)):
        structure = (indices, INDPTR, *other[1:])
        refused("_csr_merge_indptr", structure, attrs, "indices")
        refused("_csr_merge_indptr", (*structure[2:], *structure[:2]), attrs, "indices")
    for nnz, indptr in ((9, ints(0, 5, 9)), (0, ints(0, 0, 0)), (3, ints(0, 0, 3))):
        inputs = (*CSR, *other, indptr)
        refused("_csr_merge", inputs, {**attrs, "nnz": nnz}, "indptr: does not match")


def test_nonzero_elements():
    dense = np.eye(2, 3, dtype="float32")
    for nnz, indptr in ((3, ints(0, 2, 3)), (1, ints(0, 1, 1)), (2, ints(0, 0, 2))):
        refused("_csr_from_dense", (dense, indptr), {"nnz": nnz}, "indptr")


@pytest.mark.parametrize("kind", BAD_IDS)
def test_row_ids(kind):
    ids = BAD_IDS[kind]
    refused("_row_sparse_to_dense", (ROWS, ids), {"rows": 5}, "indices")
    refused("_row_retain", (ROWS, ids, ints(0, 1)), {}, "indices")
    refused("_csr_dot_row_sparse", (*CSR, ROWS, ids), {}, "indices")
    refused("_row_union", (ids, ints(0, 1)), {"num_args": 2}, "indices")
    weight = np.ones((5, 4), "float32")
    refused("_row_sgd_update", (weight, ROWS, ids), {"lr": 0.1}, "indices")
    standard = {"lr": 0.1, "lazy_update": False}
    refused("_row_sgd_update", (weight, ROWS, ids), standard, "indices")
    history = np.ones((5, 1), "float32")
    refused("_row_group_adagrad_update", (weight, ROWS, ids, history), {"lr": 0.1}, "indices")


def test_row_ids_out_of_bounds():
    for rows, name in ((3, "_row_sgd_update"), (3, "_row_adagrad_update")):
        states = [np.ones((rows, 4), "float32")] * name.count("adagrad")
        weight = np.ones((rows, 4), "float32")
        refused(name, (weight, ROWS, IDS, *states), {"lr": 0.1}, "indices: out of bounds")
    refused("_row_sparse_to_dense", (ROWS, IDS), {"rows": 3}, "indices: out of bounds")
    for name in ("_unique_ids", "_group_ids"):
        attrs = {"extent": 3, "mode": "raise"}
        refused(name, (IDS,), attrs, "out of bounds")
        refused(name, (IDS,), {"extent": 0}, "size 0")


def test_sums_of_rows():
    inputs = (ROWS, ints(0, 1, 1), ints(0, 2, 3))
    refused("_segment_sum", (ROWS, ints(0, 1, 2), ints(0, 2, 3)), {}, "order|indices")
    refused("_segment_sum", (*inputs[:2], ints(0, 3, 2)), {}, "starts|indptr")
    for ids in (ints(0, 1), ints(1, 2), ints(0, 3), ints()):
        refused("_row_sum", (ids, ROWS, IDS), {"num_args": 3}, "missing")
    refused("_row_sum", (ints(1, 3), ROWS, ints(3, 1)), {"num_args": 3}, "indices")


def test_shapes():
    for name, inputs, attrs, text in (
        ("_csr_to_dense", (FLOATS, ints(0, 1), INDPTR), {"columns": 5}, "data"),
        ("_csr_to_dense", (FLOATS, INDICES, ints()), {"columns": 5}, "indptr"),
        ("_csr_to_dense", CSR, {"columns": -1}, "columns"),
        ("_csr_to_dense", (FLOATS, INDICES.astype("int32"), INDPTR), {"columns": 5}, "int64"),
        ("_csr_dot_dense", (*CSR, np.ones((5, 4, 1), "float32")), {}, "rhs"),
        ("_csr_dot_dense", (*CSR, np.ones((5, 4))), {}, "rhs"),
        ("_csr_merge_indptr", (INDICES, INDPTR, ints(), ints(0)), {"operation": "add"}, "rows"),
        ("_row_sparse_to_dense", (ROWS, ints(0)), {"rows": 4}, "data"),
        ("_row_sgd_update", (MATRIX, ROWS[:, :3], IDS), {"lr": 0.1}, "grad"),
        ("_row_sum", (IDS, ROWS), {"num_args": 2}, "odd"),
        ("_csr_slice_indptr", (INDICES, INDPTR), {"begin": (0, 0), "end": (5, 2)}, "end"),
    ):
        record = find(name)
        with pytest.raises(MXNetError, match=text):
            front.execute(record, tuple(array(values) for values in inputs), attrs)
