"""Results do not depend on the number of threads."""

import numpy as np
import pytest

import mxcy as mx
from tests.ops.sparse.parts import F, array, csr, thin

ROWS, COLUMNS = 700, 900


def random(*shape):
    return array(np.random.default_rng(1).random(shape, "float32"))


def sparse(seed=0):
    return csr(thin(ROWS, COLUMNS, 0.1, seed, "float32"))


def merged():
    lhs, rhs = sparse(), sparse(1)
    indptr = F._csr_merge_indptr(*lhs[1:], *rhs[1:], operation="add")
    return [
        indptr,
        *F._csr_merge(*lhs, *rhs, indptr, operation="add", nnz=int(indptr.asnumpy()[-1])),
    ]


def updated(**attrs):
    weight, mean, var = random(ROWS, COLUMNS), random(ROWS, COLUMNS), random(ROWS, COLUMNS)
    rows = array(np.arange(0, ROWS, 2))
    F._row_adam_update(
        weight, random(ROWS // 2, COLUMNS), rows, mean, var, lr=0.1, **attrs, out=weight
    )
    return [weight, mean, var]


def of_dense():
    dense = array(thin(ROWS, COLUMNS, 0.1, dtype="float32"))
    indptr = F._csr_count_nonzero(dense)
    return [indptr, *F._csr_from_dense(dense, indptr, nnz=int(indptr.asnumpy()[-1]))]


def summed():
    rows = [array(np.arange(i, ROWS, i + 2)) for i in range(3)]
    parts = [part for ids in rows for part in (random(ids.shape[0], COLUMNS), ids)]
    return [F._row_sum(array(np.arange(ROWS)), *parts)]


CASES = {
    "csr . dense": lambda: [F._csr_dot_dense(*sparse(), random(COLUMNS, 70))],
    "csr . row_sparse": lambda: [
        F._csr_dot_row_sparse(*sparse(), random(COLUMNS // 3, 70), array(np.arange(0, COLUMNS, 3)))
    ],
    "csr transposed . dense": lambda: [
        F._csr_transpose_dot_dense(*sparse(), random(ROWS, 70), columns=COLUMNS)
    ],
    "transposed": lambda: F._csr_transpose(*sparse(), columns=COLUMNS),
    "compact": lambda: F._csr_transpose_compact(*sparse(), columns=COLUMNS),
    "dense . csr": lambda: [F._dense_dot_csr(random(70, ROWS), *sparse(), columns=COLUMNS)],
    "dense . csr transposed": lambda: [
        F._dense_dot_csr(random(70, COLUMNS), *sparse(), columns=COLUMNS, transpose_b=True)
    ],
    "merged": merged,
    "from dense": of_dense,
    "to dense": lambda: [F._csr_to_dense(*sparse(), columns=COLUMNS)],
    "rows summed": summed,
    "rows retained": lambda: [
        F._row_retain(random(ROWS, COLUMNS), array(np.arange(ROWS)), array(np.arange(0, ROWS, 3)))
    ],
    "segments": lambda: [
        F._segment_sum(random(ROWS, COLUMNS), array(np.arange(ROWS)), array(np.arange(0, 701, 7)))
    ],
    "lazy": updated,
    "standard": lambda: updated(lazy_update=False),
    "summed": lambda: [F._csr_sum(*sparse(), columns=COLUMNS, axis=1)],
}


@pytest.mark.parametrize("case", CASES)
def test_any_number_of_threads(case):
    before = mx.util.set_num_threads(1)
    try:
        alone = [part.asnumpy() for part in CASES[case]()]
        for threads in (2, 5):
            mx.util.set_num_threads(threads)
            for ours, theirs in zip(CASES[case](), alone, strict=True):
                np.testing.assert_array_equal(ours.asnumpy(), theirs)
    finally:
        mx.util.set_num_threads(before)
