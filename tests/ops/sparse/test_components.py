"""Component operators against dense arithmetic, composed as storage types compose them."""

import numpy as np
import pytest

from tests.ops.sparse.parts import F, array, csr, densified, row_sparse, thin

SHAPES = [(6, 9), (40, 300), (1, 1), (5, 0), (0, 5), (300, 40)]
UFUNCS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "hypot": np.hypot,
}


def equal(got, want):
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_dense_to_csr_and_back(shape):
    dense = thin(*shape)
    indptr = F._csr_count_nonzero(array(dense))
    nnz = int(indptr.asnumpy()[-1])
    data, indices = F._csr_from_dense(array(dense), indptr, nnz=nnz)
    np.testing.assert_array_equal(densified(data, indices, indptr, shape[1]), dense)
    equal(F._csr_to_dense(data, indices, indptr, columns=shape[1]), dense)


@pytest.mark.parametrize("shape", [(7, 3), (200, 4, 5), (5,)])
def test_dense_to_row_sparse_and_back(shape):
    dense = np.random.default_rng(1).random(shape)
    dense[::2] = 0
    indices, count = F._nonzero_rows(array(dense))
    indices = indices[: int(count.asnumpy()[0])]
    np.testing.assert_array_equal(indices.asnumpy(), np.arange(1, shape[0], 2))
    data = F.take(array(dense), indices)
    equal(F._row_sparse_to_dense(data, indices, rows=shape[0]), dense)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("inner", [1, 64, 70])
def test_products(shape, inner):
    lhs, rng = thin(*shape), np.random.default_rng(2)
    rhs, tall = rng.random((shape[1], inner)), rng.random((shape[0], inner))
    parts = csr(lhs)
    equal(F._csr_dot_dense(*parts, array(rhs)), lhs @ rhs)
    equal(F._csr_dot_dense(*parts, array(rhs[:, 0])), lhs @ rhs[:, 0])
    transposed = F._csr_transpose(*parts, columns=shape[1])
    np.testing.assert_array_equal(densified(*transposed, shape[0]), lhs.T)
    equal(F._csr_dot_dense(*transposed, array(tall)), lhs.T @ tall)
    equal(F._csr_transpose_dot_dense(*parts, array(tall), columns=shape[1]), lhs.T @ tall)
    equal(F._dense_dot_csr(array(tall.T), *parts, columns=shape[1]), tall.T @ lhs)
    wide = F._dense_dot_csr(array(rhs.T), *parts, columns=shape[1], transpose_b=True)
    equal(wide, rhs.T @ lhs.T)
    rhs[::3] = 0
    equal(F._csr_dot_row_sparse(*parts, *row_sparse(rhs)), lhs @ rhs)


@pytest.mark.parametrize("columns", [50, 10**10])
def test_transposed_product_on_the_columns_in_use(columns):
    lhs, rhs = thin(12, 50, 0.05), np.random.default_rng(2).random((12, 8))
    data, indices, indptr, ids, count = F._csr_transpose_compact(*csr(lhs), columns=columns)
    count = int(count.asnumpy()[0])
    used = np.flatnonzero(lhs.any(0))
    np.testing.assert_array_equal(ids.asnumpy()[:count], used)
    product = F._csr_dot_dense(data, indices, indptr[: count + 1], array(rhs))
    equal(product, (lhs.T @ rhs)[used])


def test_dense_times_csr_on_the_columns_in_use():
    lhs, rhs = np.random.default_rng(2).random((5, 12)), thin(12, 50, 0.05)
    data, indices, indptr = csr(rhs)
    ids, count = F._unique_ids(indices, extent=50)
    ids = ids[: int(count.asnumpy()[0])]
    positions = F._positions(indices, ids)
    product = F._dense_dot_csr(array(lhs), data, positions, indptr, columns=ids.shape[0])
    equal(product, (lhs @ rhs)[:, rhs.any(0)])


@pytest.mark.parametrize("operation", UFUNCS)
@pytest.mark.parametrize("shape", SHAPES)
def test_merging(operation, shape):
    left, right = thin(*shape, 0.3), thin(*shape, 0.1, seed=1)
    lhs, rhs = csr(left), csr(right)
    indptr = F._csr_merge_indptr(*lhs[1:], *rhs[1:], operation=operation)
    nnz = int(indptr.asnumpy()[-1])
    data, indices = F._csr_merge(*lhs, *rhs, indptr, operation=operation, nnz=nnz)
    want = UFUNCS[operation](left, right)
    np.testing.assert_allclose(densified(data, indices, indptr, shape[1]), want)
    both = (left != 0) & (right != 0) if operation == "mul" else (left != 0) | (right != 0)
    assert nnz == both.sum()


@pytest.mark.parametrize("dtype", ["int64", "int32", "float32"])
@pytest.mark.parametrize("extent, size", [(9, 30), (1000, 4000), (10**9, 50), (5, 0)])
def test_groups_of_ids(dtype, extent, size):
    rng = np.random.default_rng(3)
    ids = rng.integers(0, min(extent, 10**6), size).astype(dtype)
    grads = rng.random((size, 6))
    want, inverse = np.unique(ids, return_inverse=True)
    actual, starts, order, count = F._group_ids(array(ids), extent=extent)
    count = int(count.asnumpy()[0])
    np.testing.assert_array_equal(actual.asnumpy()[:count], want)
    assert not actual.asnumpy()[count:].any()
    sums = np.zeros((len(want), 6))
    np.add.at(sums, inverse, grads)
    equal(F._segment_sum(array(grads), order, starts[: count + 1]), sums)
    actual, count = F._unique_ids(array(ids), extent=extent)
    np.testing.assert_array_equal(actual.asnumpy()[: int(count.asnumpy()[0])], want)


def test_rows_of_a_sum():
    terms = [np.random.default_rng(i).random((30, 4)) for i in range(3)]
    for i, term in enumerate(terms):
        term[i :: i + 2] = 0
    parts = [row_sparse(term) for term in terms]
    ids, count = F._row_union(*(indices for _, indices in parts))
    ids = ids[: int(count.asnumpy()[0])]
    want = sum(terms)
    np.testing.assert_array_equal(ids.asnumpy(), np.flatnonzero(want.any(1)))
    equal(F._row_sum(ids, *(part for pair in parts for part in pair)), want[ids.asnumpy()])
    wanted = array(np.array([7, 3, 3, 29, 0, 10**12]))
    kept = F._row_retain(*parts[0], wanted)
    equal(kept, np.vstack([terms[0], np.zeros((1, 4))])[[7, 3, 3, 29, 0, 30]])


@pytest.mark.parametrize("shape", SHAPES)
def test_reductions_and_gathered_values(shape):
    dense = thin(*shape)
    parts = csr(dense)
    for axis in (0, 1):
        equal(F._csr_sum(*parts, columns=shape[1], axis=axis), dense.sum(axis))
        squares = F._csr_sum(*parts, columns=shape[1], axis=axis, squares=True)
        equal(squares, (dense**2).sum(axis))
    rng = np.random.default_rng(4)
    for other in {shape, (1, shape[1]), (shape[0], 1), (1, 1)}:
        values = rng.random(other)
        gathered = F._csr_gather(array(values), *parts[1:])
        equal(gathered, np.broadcast_to(values, shape)[dense != 0])


def test_slices_rows_and_concatenation():
    dense = thin(8, 11, 0.4)
    parts = csr(dense)
    window = {"begin": (1, 2), "end": (7, 9)}
    indptr = F._csr_slice_indptr(*parts[1:], **window)
    data, indices = F._csr_slice(*parts, indptr, nnz=int(indptr.asnumpy()[-1]), **window)
    np.testing.assert_array_equal(densified(data, indices, indptr, 7), dense[1:7, 2:9])
    ids = np.array([3, 3, 0, 7])
    indptr = F._csr_take_indptr(parts[2], array(ids))
    data, indices = F._csr_take(*parts, array(ids), indptr, nnz=int(indptr.asnumpy()[-1]))
    np.testing.assert_array_equal(densified(data, indices, indptr, 11), dense[ids])
    twice = F._csr_concat_indptr(parts[2], parts[2])
    joined = [F.concat(part, part, dim=0) for part in parts[:2]]
    np.testing.assert_array_equal(densified(*joined, twice, 11), np.vstack([dense, dense]))


UPDATES = {
    "sgd": ("", {"wd": 0.1}),
    "sgd_mom": ("mom", {"wd": 0.1, "momentum": 0.9}),
    "adam": ("mean var", {"wd": 0.1}),
    "ftrl": ("z n", {"wd": 0.1}),
    "adagrad": ("history", {}),
}
DENSE = {"adagrad": "_sparse_adagrad_update"}


STANDARD = ("sgd", "sgd_mom", "adam")  # also with lazy_update=False


@pytest.mark.parametrize(
    "name, lazy", [*((name, True) for name in UPDATES), *((name, False) for name in STANDARD)]
)
def test_updates_by_rows_against_the_dense_ones(name, lazy):
    states, attrs = UPDATES[name]
    attrs = {**attrs, "lr": 0.1, "rescale_grad": 0.5, "clip_gradient": 0.4}
    rng = np.random.default_rng(5)
    start = [rng.random((20, 7)) for _ in range(1 + len(states.split()))]
    sparse, dense = ([array(values) for values in start] for _ in range(2))
    by_rows = getattr(F, f"_row_{name}_update")
    whole = getattr(F, DENSE.get(name, f"{name}_update"))
    touched = np.zeros(20, bool)
    for step in range(50):
        rows = np.sort(rng.choice(20 if step % 2 else 9, 5, replace=False))
        touched[rows] = True
        grad = np.zeros((20, 7))
        grad[rows] = rng.normal(size=(5, 7))
        extra = {"lazy_update": lazy} if name in STANDARD else {}
        by_rows(
            sparse[0], array(grad[rows]), array(rows), *sparse[1:], **attrs, **extra, out=sparse[0]
        )
        if not lazy:
            whole(dense[0], array(grad), *dense[1:], **attrs, out=dense[0])
            continue
        moved = [array(part.asnumpy()[rows]) for part in dense]
        whole(moved[0], array(grad[rows]), *moved[1:], **attrs, out=moved[0])
        for part, values in zip(dense, moved, strict=True):
            kept = part.asnumpy()
            kept[rows] = values.asnumpy()
            part[:] = kept
    for ours, theirs, before in zip(sparse, dense, start, strict=True):
        equal(ours, theirs.asnumpy())
        if lazy:
            np.testing.assert_array_equal(ours.asnumpy()[~touched], before[~touched])


#: what real MXNet 1.9.1 makes of weights 1, states .1 and the gradient [.5, -.25] of row 1
NUMBERS = {
    "sgd lazy": ("_row_sgd_update", 0, {"wd": 0.1}, [[1, 1], [0.94, 1.015]]),
    "sgd": ("_row_sgd_update", 0, {"wd": 0.1, "lazy_update": False}, [[0.99, 0.99], [0.94, 1.015]]),
    "momentum lazy": (
        "_row_sgd_mom_update",
        1,
        {"wd": 0.1, "momentum": 0.9},
        [[1, 1], [1.03, 1.105]],
    ),
    "momentum": (
        "_row_sgd_mom_update",
        1,
        {"wd": 0.1, "momentum": 0.9, "lazy_update": False},
        [[1.08, 1.08], [1.03, 1.105]],
    ),
    "adam lazy": ("_row_adam_update", 2, {"wd": 0.1}, [[1, 1], [0.95263, 0.97627]]),
    "adam": (
        "_row_adam_update",
        2,
        {"wd": 0.1, "lazy_update": False},
        [[0.96836, 0.96836], [0.95263, 0.97627]],
    ),
    "ftrl": ("_row_ftrl_update", 2, {"wd": 0.1}, [[1, 1], [0.13385, 0.07139]]),
    "adagrad": ("_row_adagrad_update", 1, {}, [[1, 1], [0.915485, 1.062017]]),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_updates_by_rows_give_the_numbers_of_mxnet(case):
    name, states, attrs, want = NUMBERS[case]
    weight = array(np.ones((2, 2), "float32"))
    kept = [array(np.full((2, 2), 0.1, "float32")) for _ in range(states)]
    grad, indices = array(np.array([[0.5, -0.25]], "float32")), array(np.array([1]))
    got = getattr(F, name)(weight, grad, indices, *kept, lr=0.1, **attrs, out=weight)
    np.testing.assert_allclose(got.asnumpy(), want, rtol=0, atol=6e-6)


def test_group_adagrad_gives_the_numbers_of_mxnet():
    weight, history = (array(np.full((2, n), fill, "float32")) for n, fill in ((2, 1), (1, 0)))
    grad, indices = array(np.array([[0.5, -0.25]], "float32")), array(np.array([1]))
    F._row_group_adagrad_update(weight, grad, indices, history, lr=0.1, out=weight)
    np.testing.assert_allclose(weight.asnumpy(), [[1, 1], [0.873513, 1.063244]], rtol=1e-5)
    np.testing.assert_allclose(history.asnumpy(), [[0], [0.15625]], rtol=1e-5)
