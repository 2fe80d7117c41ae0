"""Test arrays: random ones, drawn from `numpy.random`, and regular ones."""

import numpy as np

from mxcy import ndarray as nd
from mxcy.test_utils.tolerances import default_dtype

__all__ = [
    "assign_each",
    "assign_each2",
    "collapse_sum_like",
    "create_2d_np_tensor",
    "create_2d_tensor",
    "create_vector",
    "get_identity_mat",
    "get_identity_mat_batch",
    "new_matrix_with_real_eigvals_2d",
    "new_matrix_with_real_eigvals_nd",
    "new_orthonormal_matrix_2d",
    "new_sym_matrix_with_real_eigvals_2d",
    "new_sym_matrix_with_real_eigvals_nd",
    "np_reduce",
    "rand_coord_2d",
    "rand_shape_2d",
    "rand_shape_3d",
    "rand_shape_nd",
    "random_arrays",
    "random_sample",
    "random_uniform_arrays",
]


# -- random -----------------------------------------------------------------------------------


def random_arrays(*shapes):
    """Return normally distributed float32 NumPy arrays, or a single array for one shape."""
    arrays = [np.asarray(np.random.randn(*shape)).astype(default_dtype()) for shape in shapes]
    arrays = [array[()] if array.ndim == 0 else array for array in arrays]
    return arrays[0] if len(arrays) == 1 else arrays


def random_uniform_arrays(*shapes, low=0.0, high=1.0, dtype=None):
    """Return a list of uniformly distributed NumPy arrays between `low` and `high`."""
    dtype = default_dtype() if dtype is None else dtype
    return [np.random.uniform(low, high, size=shape).astype(dtype) for shape in shapes]


def random_sample(population, k):
    """Return `k` random items of a list, in random order."""
    shuffled = population[:]
    np.random.shuffle(shuffled)
    return shuffled[:k]


def rand_shape_nd(num_dim, dim=10, allow_zero_size=False):
    """Return a random shape of `num_dim` extents up to `dim`."""
    low = 0 if allow_zero_size else 1
    return tuple(int(n) for n in np.random.randint(low, dim + 1, size=num_dim))


def rand_shape_2d(dim0=10, dim1=10, allow_zero_size=False):
    """Return a random shape of two extents up to `dim0` and `dim1`."""
    low = 0 if allow_zero_size else 1
    return tuple(int(np.random.randint(low, dim + 1)) for dim in (dim0, dim1))


def rand_shape_3d(dim0=10, dim1=10, dim2=10, allow_zero_size=False):
    """Return a random shape of three extents up to `dim0`, `dim1` and `dim2`."""
    low = 0 if allow_zero_size else 1
    return tuple(int(np.random.randint(low, dim + 1)) for dim in (dim0, dim1, dim2))


def rand_coord_2d(x_low, x_high, y_low, y_high):
    """Return two random integers from the two ranges."""
    return (
        int(np.random.randint(x_low, x_high, dtype=np.int64)),
        int(np.random.randint(y_low, y_high, dtype=np.int64)),
    )


# -- regular ----------------------------------------------------------------------------------


def create_vector(size, dtype=np.int64):
    """Return the integers from 0 to `size` - 1."""
    return nd.arange(0, size, dtype=dtype)


def create_2d_tensor(rows, columns, dtype=np.int64):
    """Return an NDArray whose elements are their row indices."""
    return nd.broadcast_to(create_vector(rows, dtype).reshape((rows, 1)), shape=(rows, columns))


def create_2d_np_tensor(rows, columns, dtype=np.int64):
    """Return an `mx.np` array whose elements are their row indices."""
    return create_2d_tensor(rows, columns, dtype).as_np_ndarray()


def get_identity_mat(size):
    """Return a float32 identity matrix."""
    return nd.array(np.identity(size))


def get_identity_mat_batch(size):
    """Return two stacked float32 identity matrices."""
    return nd.array(np.stack([np.identity(size)] * 2))


def assign_each(the_input, function):
    """Apply `function` to each element of an array."""
    if function is None:
        return np.array(the_input)
    return np.vectorize(function, otypes=[the_input.dtype])(the_input)


def assign_each2(input1, input2, function):
    """Apply `function` to each pair of elements of two arrays."""
    if function is None:
        return np.array(input1)
    assert input1.shape == input2.shape, f"shapes differ: {input1.shape} and {input2.shape}"
    return np.vectorize(function, otypes=[input1.dtype])(input1, input2)


def np_reduce(dat, axis, keepdims, numpy_reduce_func):
    """Apply a NumPy reduction along several axes, one after the other.

    Parameters
    ----------
    dat : numpy.ndarray
        The array.
    axis : int, sequence of int or None
        Axes to reduce; all by default.
    keepdims : bool
        Keep the reduced axes with extent 1.
    numpy_reduce_func : callable
        ``numpy_reduce_func(array, axis=n)``.
    """
    axes = range(dat.ndim) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    reduced = dat
    for each_axis in sorted((each_axis % dat.ndim for each_axis in axes), reverse=True):
        reduced = numpy_reduce_func(reduced, axis=each_axis)
        if keepdims:
            reduced = np.expand_dims(reduced, each_axis)
    return reduced


def collapse_sum_like(a, shape):
    """Sum an array to `shape`, over the axes along which that was broadcast."""
    assert len(a.shape) >= len(shape), f"{shape} has more axes than {a.shape}"
    if np.prod(shape) == 0 or a.size == 0:
        return np.zeros(shape, dtype=a.dtype)
    more = a.ndim - len(shape)
    axes = [i for i in range(a.ndim) if i < more or (shape[i - more] == 1 and a.shape[i] != 1)]
    assert all(shape[i - more] == a.shape[i] for i in range(a.ndim) if i not in axes), (
        f"{a.shape} is not {shape} broadcast"
    )
    return np.sum(a, axis=tuple(axes)).reshape(shape)


# -- matrices ---------------------------------------------------------------------------------


def _factors(n):
    """Return well-separated eigenvalues, and a random orthonormal matrix."""
    values = np.arange(1, n + 1) * np.random.uniform(0.5, 1.5)
    return np.diag(values), new_orthonormal_matrix_2d(n)


def new_orthonormal_matrix_2d(n):
    """Return a random orthonormal matrix (n, n)."""
    return np.linalg.qr(np.random.uniform(-1, 1, size=(n, n)))[0]


def new_sym_matrix_with_real_eigvals_2d(n):
    """Return a random symmetric matrix (n, n)."""
    values, columns = _factors(n)
    return columns @ values @ columns.T


def new_matrix_with_real_eigvals_2d(n):
    """Return a random matrix (n, n) with real eigenvalues."""
    values, columns = _factors(n)
    mixed = columns + 0.1 * np.triu(np.ones((n, n)), 1)
    return mixed @ values @ np.linalg.inv(mixed)


def _stacked(make, shape):
    """Return a stack of matrices of the last two extents."""
    *leading, n, m = shape
    assert n == m, f"the last two extents of {shape} must be equal"
    matrices = [make(n) for _ in range(int(np.prod(leading)))]
    return np.array(matrices).reshape(shape)


def new_sym_matrix_with_real_eigvals_nd(shape):
    """Return random symmetric matrices in the last two axes."""
    return _stacked(new_sym_matrix_with_real_eigvals_2d, shape)


def new_matrix_with_real_eigvals_nd(shape):
    """Return random matrices with real eigenvalues in the last two axes."""
    return _stacked(new_matrix_with_real_eigvals_2d, shape)
