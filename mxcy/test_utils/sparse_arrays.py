"""Random test arrays of any storage type, drawn from `numpy.random`."""

import numpy as np

from mxcy import ndarray as nd
from mxcy.context import current_context
from mxcy.test_utils.arrays import random_arrays
from mxcy.test_utils.tolerances import default_dtype

__all__ = [
    "create_sparse_array",
    "create_sparse_array_zd",
    "rand_ndarray",
    "rand_sparse_ndarray",
    "shuffle_csr_column_indices",
]


def rand_ndarray(
    shape,
    stype="default",
    density=None,
    dtype=None,
    modifier_func=None,
    shuffle_csr_indices=False,
    distribution=None,
    ctx=None,
):
    """Return a random NDArray: normally distributed if dense, else see `rand_sparse_ndarray`.

    Parameters
    ----------
    shape : tuple of int
        Shape of the array.
    stype : {'default', 'row_sparse', 'csr'}
        Storage type.
    density : float, optional
        Fraction of rows or elements that a sparse array stores; random by default.
    dtype : str or type, optional
        Dtype, float32 by default.
    modifier_func : callable, optional
        Applied to each stored element of a row_sparse array.
    shuffle_csr_indices : bool
        Leave the columns of a csr array's rows unsorted.
    distribution : {'uniform', 'powerlaw'}, optional
        Distribution of the elements of a csr array.
    ctx : Context, optional
        Context of the array.

    Returns
    -------
    NDArray

    Raises
    ------
    AssertionError
        If the storage type or distribution is unknown.
    """
    if stype == "default":
        return nd.array(random_arrays(shape), dtype=dtype, ctx=ctx)
    return rand_sparse_ndarray(
        shape,
        stype,
        density=density,
        dtype=dtype,
        modifier_func=modifier_func,
        shuffle_csr_indices=shuffle_csr_indices,
        distribution=distribution,
        ctx=ctx,
    )[0]


def rand_sparse_ndarray(
    shape,
    stype,
    density=None,
    dtype=None,
    distribution=None,
    data_init=None,
    rsp_indices=None,
    modifier_func=None,
    shuffle_csr_indices=False,
    ctx=None,
):
    """Return a random sparse array and its parts; other parameters as in `rand_ndarray`.

    Parameters
    ----------
    data_init : number, optional
        Value of all stored elements, instead of random values.
    rsp_indices : array_like of int, optional
        Rows that a row_sparse array stores, instead of random ones.

    Returns
    -------
    tuple
        ``(array, (data, indices))`` for row_sparse, ``(array, (indptr, indices, data))`` for csr.

    Raises
    ------
    AssertionError
        If the storage type or distribution is unknown.
    ValueError
        If the density is invalid.
    """
    ctx = current_context() if ctx is None else ctx
    density = np.random.rand() if density is None else density
    dtype = default_dtype() if dtype is None else dtype
    distribution = "uniform" if distribution is None else distribution
    if stype == "row_sparse":
        wrong = f"Distribution {distribution} not supported for row_sparse"
        assert distribution == "uniform", wrong
        return _row_sparse(shape, density, dtype, data_init, rsp_indices, modifier_func, ctx)
    assert stype == "csr", f"unknown storage type {stype!r}"
    assert len(shape) == 2, f"a csr array has 2 dimensions, got the shape {shape}"
    _check_density(shape, density, distribution)
    if distribution == "uniform":
        array = _uniform_csr(shape, density, dtype, data_init, shuffle_csr_indices, ctx)
    else:
        array = _powerlaw_csr(shape, density, dtype, ctx)
    return array, (array.indptr, array.indices, array.data)


def _row_sparse(shape, density, dtype, data_init, rsp_indices, modifier_func, ctx):
    if rsp_indices is None:
        indices = np.flatnonzero(np.random.rand(shape[0]) < density)
    else:
        indices = np.asarray(rsp_indices, "int64")
        assert len(indices) <= shape[0], f"{len(indices)} row indices for {shape[0]} rows"
    if not len(indices):
        array = nd.zeros(shape, stype="row_sparse", dtype=dtype, ctx=ctx)
        return array, (np.array([], dtype), np.array([]))
    values = np.random.rand(len(indices), *shape[1:]).astype(dtype)
    if data_init is not None:
        values.fill(data_init)
    if modifier_func is not None:
        values = np.vectorize(modifier_func)(values)
    array = nd.sparse.row_sparse_array((values, indices), shape=shape, dtype=dtype, ctx=ctx)
    return array, (values, indices)


def _check_density(shape, density, distribution):
    rows, columns = shape
    if not 0 <= density <= 1:
        raise ValueError("density must be between 0 and 1")
    if rows <= 0 or columns <= 0:
        raise ValueError(f"num_rows or num_cols should be greater than 0, got the shape {shape}")
    assert distribution in ("uniform", "powerlaw"), f"Distribution not supported: {distribution}"
    if distribution == "powerlaw" and int(rows * columns * density) < 2 * rows:
        raise ValueError(
            f"not supported for this density: {density} for this shape {shape}: "
            f"num_rows * num_cols * density must be at least 2 * num_rows"
        )


def _uniform_csr(shape, density, dtype, data_init, shuffles, ctx):
    from scipy import sparse

    matrix = sparse.rand(*shape, density=density, dtype=dtype, format="csr")
    if data_init is not None:
        matrix.data.fill(data_init)
    if shuffles:
        shuffle_csr_column_indices(matrix)
    parts = (matrix.data, matrix.indices, matrix.indptr)
    return nd.sparse.csr_matrix(parts, shape=shape, dtype=dtype, ctx=ctx)


def shuffle_csr_column_indices(csr):
    """Shuffle the column indices of each row of a SciPy csr array.

    Values stay in place, so that those of a row change columns.
    """
    for begin, end in zip(csr.indptr, csr.indptr[1:], strict=False):
        np.random.shuffle(csr.indices[begin:end])


def _powerlaw_csr(shape, density, dtype, ctx):
    """Return a csr array whose rows double in stored elements, until all are used up."""
    rows, columns = shape
    left = int(rows * columns * density)
    dense = np.zeros(shape, dtype)

    def draw():
        return 1 + np.random.uniform(0.001, 2)

    for row in range(min(rows, left)):  # no row is empty
        dense[row, 0] = draw()
    left -= rows
    width = 2
    for row in range(rows):
        if left <= 0:
            break
        if width >= columns and left > columns:
            dense[row] = draw()  # one value for a whole row
            left -= columns - 1
            continue
        for column in range(1, min(columns, width, left + 1)):
            dense[row, column] = draw()
        left -= min(columns, width) - 1
        width *= 2
    if left > 0:
        raise ValueError(f"not supported for this density: {density} for this shape {shape}")
    return nd.array(dense, ctx=ctx, dtype=dtype).tostype("csr")


def create_sparse_array(
    shape,
    stype,
    data_init=None,
    rsp_indices=None,
    dtype=None,
    modifier_func=None,
    density=0.5,
    shuffle_csr_indices=False,
):
    """Return a random sparse array; parameters as in `rand_sparse_ndarray`.

    Returns
    -------
    NDArray
        Without rows if `rsp_indices` is empty.

    Raises
    ------
    AssertionError
        If the storage type is unknown.
    """
    assert stype in ("row_sparse", "csr"), f"Unknown storage type: {stype}"
    return rand_sparse_ndarray(
        shape,
        stype,
        density=density,
        dtype=dtype,
        data_init=data_init,
        rsp_indices=rsp_indices,
        modifier_func=modifier_func,
        shuffle_csr_indices=shuffle_csr_indices,
    )[0]


def create_sparse_array_zd(
    shape,
    stype,
    density,
    data_init=None,
    rsp_indices=None,
    dtype=None,
    modifier_func=None,
    shuffle_csr_indices=False,
):
    """Return an array as `create_sparse_array`, but row_sparse ones have only rows `rsp_indices`.

    Without these they have none, whatever the density.
    """
    return create_sparse_array(
        shape,
        stype,
        data_init=data_init,
        rsp_indices=rsp_indices,
        dtype=dtype,
        modifier_func=modifier_func,
        density=0.0 if stype == "row_sparse" else density,
        shuffle_csr_indices=shuffle_csr_indices,
    )
